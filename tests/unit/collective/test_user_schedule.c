/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_user_schedule.c - schedules from files: what they do, how long they take, what is refused.
 */
#include <config.h>
#include "sim/collective/algorithms.h"
#include "sim/collective/schedule_read.h"
#include "sim/machine/machine.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/collective_help.h"
#include "tests/unit/collective_time.h"
#include "tests/unit/generated.h"
#include "tests/unit/tap.h"
#include "topology/generate/generate.h"

static th_user_schedule *schedule_of(const char *text)
{
    th_error e = {"", ""};
    th_user_schedule *u = th_user_schedule_read_text(text, "s.cfg", &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    return u;
}

static th_user_schedule *shipped_schedule(void)
{
    char path[4096];
    th_error e = {"", ""};
    const char *top = getenv("srcdir");
    snprintf(path, sizeof path, "%s/scripts/schedules/all_reduce_4.cfg", top ? top : ".");
    th_user_schedule *u = th_user_schedule_read(path, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    return u;
}

static th_collective collective(const th_system *s, const th_user_schedule *u, int64_t bytes)
{
    return (th_collective){.kind = TH_USER_SCHEDULE,
                           .algorithm = &th_algorithm_schedule,
                           .rank_node = s->accel_node,
                           .n_ranks = u->n_ranks,
                           .bytes = bytes,
                           .chunks = 1,
                           .schedule = u};
}

/* The shipped example is an all_reduce, whatever S and the order of messages; 240,000 bytes take
 * 2 (500 + 6000) ns, as every pair of ranks has a link. */
TEST(the_shipped_schedule_is_an_all_reduce)
{
    auto_system *s = of_size("fully_connected", 4);
    auto_user_schedule *u = shipped_schedule();
    th_algorithm as_all_reduce = th_algorithm_schedule;
    th_collective c = collective(s, u, 240000);
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 13000);
    as_all_reduce.kinds = 1u << TH_ALL_REDUCE;
    c.algorithm = &as_all_reduce;
    c.kind = TH_ALL_REDUCE;
    for (uint64_t seed = 0; seed < 40; seed++) {
        c.bytes = (int64_t)seed;
        const char *wrong = collective_wrong(&c, s, seed, NULL);
        TAP_ASSERT_TEXT(wrong ? wrong : "", "");
    }
}

/* Two threads and two channels between one pair go side by side: 1000 and 3000 bytes share 10 bytes
 * per ns, and the first is passed on at once: 500 + 200, 500 + 100 later. */
TEST(threads_go_side_by_side)
{
    auto_system *s = of_size("fully_connected", 3);
    auto_user_schedule *u = schedule_of("ranks = ( { threads = ( ( { send = 1; size = \"1kB\"; } ),"
                                        " ( { send = 1; size = \"3kB\"; channel = 1; } ) ); },"
                                        "{ threads = ( ( { recv = 0; size = \"1000B\"; },"
                                        " { send = 2; size = \"1kB\"; } ),"
                                        " ( { recv = 0; size = \"3kB\"; channel = 1; } ) ); },"
                                        "{ threads = ( ( { recv = 1; size = \"1kB\"; } ) ); } );");
    th_collective c = collective(s, u, 0);
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 1300);
}

/* The example of docs/formats.md, of 80,000 bytes: 65,536 one way, 40,000 there, 40,000 back; the
 * first two go to one rank one after the other. */
TEST(the_documented_schedule_works)
{
    auto_system *s = of_size("fully_connected", 2);
    auto_user_schedule *u = schedule_of(
        "ranks = (\n"
        "    { threads = ( ( { send = 1; size = \"64KiB\"; }, { send = 1; size = \"1/2\"; at = "
        "\"1/2\"; } ),\n"
        "                  ( { recv = 1; size = \"1/2\"; channel = 1; } ) ); },\n"
        "    { threads = ( ( { recv = 0; size = \"64KiB\"; }, { recv = 0; size = \"1/2\"; reduce = "
        "true; },\n"
        "                    { send = 0; size = \"1/2\"; at = \"1/2\"; channel = 1; } ) ); }\n"
        ");");
    th_collective c = collective(s, u, 80000);
    CU_ASSERT_EQUAL(time_of(s, "fluid", &c), 500 + 6553.6 + 500 + 4000 + 500 + 4000);
}

typedef struct {
    const char *id, *text, *schedule;
} refusal;

#define TWO(first, second)                                                                         \
    "ranks = (\n{ threads = ( (" first ") ); },\n{ threads = ( (" second ") ); } );"

TEST(bad_schedules_are_refused)
{
    static const refusal cases[] = {
        {"COLL-0030", "s.cfg:2: send = 7 of rank 0: ranks are 0 .. 1",
         TWO("{ send = 7; size = \"1/2\"; }", "")},
        {"COLL-0031", "s.cfg:2: recv = 0 of rank 0: must be another rank",
         TWO("{ recv = 0; size = \"1/2\"; }", "")},
        {"COLL-0032", NULL,
         "ranks = ( { threads = ( ( { send = 1; size = \"1/2\"; } ), ( { send = 1; size = \"1/2\"; "
         "} ) "
         "); }, { threads = ( ( { recv = 0; size = \"1/2\"; } ) ); } );"},
        {"COLL-0033", "s.cfg:2: rank 0 sends to rank 1, which never receives on channel 0",
         TWO("{ send = 1; size = \"1/2\"; }", "")},
        {"COLL-0033", "s.cfg:3: rank 1 receives from rank 0, which never sends on channel 0",
         TWO("", "{ recv = 0; size = \"1/2\"; }")},
        {"COLL-0034",
         "s.cfg:2: rank 0 sends to rank 1 for the 2. time; rank 1 receives 1 times "
         "(last at line 3)",
         TWO("{ send = 1; size = \"1/2\"; }, { send = 1; size = \"1/2\"; }",
             "{ recv = 0; size = \"1/2\"; }")},
        {"COLL-0035", "s.cfg:2: rank 0 sends 1/2 to rank 1, which receives 2/3 (line 3)",
         TWO("{ send = 1; size = \"1/2\"; }", "{ recv = 0; size = \"2/3\"; }")},
        {"COLL-0035", "s.cfg:2: rank 0 sends 1/2 to rank 1, which receives 64 B (line 3)",
         TWO("{ send = 1; size = \"1/2\"; }", "{ recv = 0; size = \"64B\"; }")},
        {"COLL-0036",
         "s.cfg:2: rank 0 waits for rank 1, which would send at line 3 but waits at line "
         "3: nobody can go on",
         TWO("{ recv = 1; size = \"1/2\"; }, { send = 1; size = \"1/2\"; }",
             "{ recv = 0; size = \"1/2\"; }, { send = 0; size = \"1/2\"; }")},
        {"COLL-0038", NULL, TWO("{ send = 1; size = \"3/2\"; }", "")},
        {"COLL-0038", NULL, TWO("{ send = 1; size = \"1/0\"; }", "")},
        {"COLL-0038", NULL, TWO("{ send = 1; size = \"1/2x\"; }", "")},
        {"COLL-0038", NULL, TWO("{ send = 1; size = \"12\"; }", "")},
        {"COLL-0039", NULL, TWO("7", "")},
        {"COLL-0040", NULL, TWO("{ size = \"1/2\"; }", "")},
        {"COLL-0040", NULL, TWO("{ send = 1; recv = 1; size = \"1/2\"; }", "")},
        {"COLL-0046", "s.cfg:2: rank 0 sends 1/2 from 3/4 on: beyond the end of the vector",
         TWO("{ send = 1; size = \"1/2\"; at = \"3/4\"; }", "{ recv = 0; size = \"1/2\"; }")},
        {"COLL-0041", NULL, TWO("{ send = 1; size = \"1/2\"; reduce = true; }", "")},
        {"COLL-0041", NULL, TWO("{ recv = 1; size = \"1/2\"; at = \"1/2\"; }", "")},
        {"COLL-0042", NULL, "ranks = ( { threads = ( 3 ); } );"},
        {"COLL-0043", NULL, "ranks = ( 3 );"},
        {"COLL-0044", NULL, "ranks = ( );"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        th_error e = {"", ""};
        int64_t live = th_alloc_live();
        CU_ASSERT_PTR_NULL(th_user_schedule_read_text(cases[i].schedule, "s.cfg", &e));
        TAP_ASSERT_TEXT(e.id, cases[i].id);
        if (cases[i].text)
            TAP_ASSERT_TEXT(e.text, cases[i].text);
        CU_ASSERT_TRUE(strncmp(e.text, "s.cfg:", 6) == 0);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
}

TEST(a_schedule_fits_its_group)
{
    auto_system *s = of_size("fully_connected", 5);
    auto_user_schedule *u = shipped_schedule();
    th_collective c = collective(s, u, 100);
    th_collective_schedule x;
    th_error e = {"", ""};
    c.n_ranks = 5;
    CU_ASSERT_EQUAL(th_collective_schedule_init(&x, &c, s, &e), -1);
    TAP_ASSERT_TEXT(e.id, "COLL-0037");
    c.schedule = NULL;
    CU_ASSERT_EQUAL(th_collective_schedule_init(&x, &c, s, &e), -1);
    TAP_ASSERT_TEXT(e.id, "COLL-0045");
}

static int read_two(const void *unused, th_error *e)
{
    (void)unused;
    th_user_schedule *u = th_user_schedule_read_text(
        TWO("{ send = 1; size = \"1/2\"; }", "{ recv = 0; size = \"1/2\"; }"), "s.cfg", e);
    th_user_schedule_free(u);
    return u ? 0 : -1;
}

TEST(reading_survives_lack_of_memory)
{
    CU_ASSERT_TRUE(fail_each_allocation(read_two, NULL) > 10);
}

TAP_MAIN("user_schedule")
