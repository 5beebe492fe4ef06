/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_user_schedule.c - schedules from files: what they do, how long they take, what is refused.
 */
#include <config.h>
#include "sim/collective/algorithms.h"
#include "sim/collective/schedule_read.h"
#include "tests/unit/refused.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/collective_help.h"
#include "tests/unit/collective_time.h"
#include "tests/unit/generated.h"

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

#define TWO(first, second)                                                                         \
    "ranks = (\n{ threads = ( (" first ") ); },\n{ threads = ( (" second ") ); } );"

static int read_refused(const char *text, th_error *e)
{
    int64_t live = th_alloc_live();
    th_user_schedule *u = th_user_schedule_read_text(text, "s.cfg", e);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    return u ? 0 : -1;
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"schedule", read_refused}, {NULL, NULL}};
    assert_refusals("sim/collective/user_schedule.refused", readers);
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
