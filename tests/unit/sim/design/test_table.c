/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <unistd.h>
#include "sim/design/table_read.h"
#include "sim/design/compute_cost.h"
#include "tests/unit/refused.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/design_help.h"

#define HEADER "kind,B,K,C,H,W,R,S,stride,groups,time_us\n"
#define ROWS                                                                                       \
    "# two of a network, one of another\n" HEADER "conv,1,64,3,112,112,7,7,2,1,830.5\n"            \
    "\n"                                                                                           \
    "conv,1,64,64,56,56,3,3,1,1,1210\r\n"                                                          \
    " lstm , 4, 128, 40, 20, 1, 1, 1, 1, 1, 95.25\n"                                               \
    "fc,1,1000,512,1,1,1,1,1,1,77\n"

/* A file of the text, gone after remove_file. */
static char path[] = "/tmp/test_table_XXXXXX";

static void write_file(const char *text)
{
    snprintf(path, sizeof path, "/tmp/test_table_XXXXXX");
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

static th_shard first_conv(void)
{
    th_shard s = conv_shard(1, 64, 3, 112, 112, 7);
    s.stride_h = s.stride_w = 2;
    s.in_h = s.in_w = 224;
    return s;
}

/* A configured design of the file. */
typedef struct {
    th_system *system;
    const th_design_type *type;
    th_design_config config;
} design;

static design new_design(void)
{
    char keys[300];
    design d = {0};
    th_error e = {"", ""};
    snprintf(keys, sizeof keys, "type = \"table\"; file = \"%s\";", path);
    d.system = system_with(keys);
    CU_ASSERT_EQUAL_FATAL(th_design_configure(&d.system->designs[0], &d.type, &d.config, &e), 0);
    return d;
}

static void free_design(design *d)
{
    th_design_release(d->type, &d->config);
    th_system_free(d->system);
}

TEST(a_shape_takes_its_time)
{
    const th_port slow = {.bits_per_s = 8, .latency_ps = 1000000, .burst_bytes = 64};
    write_file(ROWS);
    design d = new_design();
    th_shard conv = first_conv(), lstm = conv_shard(4, 128, 40, 20, 1, 1);
    th_schedule out;
    th_pipeline p;
    CU_ASSERT_EQUAL(d.type->schedule(&d.config, &conv, &slow, &out, NULL), 0);
    th_pipeline_start(&p, &out, &slow, &(th_pipeline_options){.skip = true});
    CU_ASSERT_EQUAL(th_pipeline_finish(&p, &out, &slow), 830500000);
    CU_ASSERT_TRUE(p.stats.busy_ps == 830500000 && th_stats_read(&p.stats) == 0 &&
                   out.macs_per_cycle == 0);
    TAP_ASSERT_TEXT(out.variant, "measured");
    lstm.kind = TH_LAYER_LSTM;
    CU_ASSERT_EQUAL(th_design_schedule(d.type, &d.config, &lstm, &slow, &out, NULL), 0);
    CU_ASSERT_EQUAL(th_schedule_sum(&out).cycles, 95250000);
    free_design(&d);
    remove_file();
}

/* A transposed convolution is looked up as its 4 phases: 3 x 3 at up 2 to 6 x 6, K 2 -> 8, 2 x 2
 * on 3 x 3. */
TEST(phases_are_looked_up)
{
    write_file(HEADER "conv,1,8,3,3,3,2,2,1,1,12\n");
    design d = new_design();
    th_shard s = conv_shard(1, 2, 3, 6, 6, 3);
    th_schedule out;
    s.up_h = s.up_w = 2;
    CU_ASSERT_EQUAL(th_design_schedule(d.type, &d.config, &s, &fast_memory, &out, NULL), 0);
    CU_ASSERT_EQUAL(th_schedule_sum(&out).cycles, 12000000);
    free_design(&d);
    remove_file();
}

static void assert_unknown(const design *d, const th_shard *s, const char *id, const char *message)
{
    th_error e = {"", ""};
    th_schedule out;
    char expected[600];
    snprintf(expected, sizeof expected, "%s: %s", path, message);
    CU_ASSERT_EQUAL(d->type->schedule(&d->config, s, &fast_memory, &out, &e), -1);
    TAP_ASSERT_ERROR(e, id, expected);
}

/* 60 channels of 64 are nearer (ln 64/60) than 64 of 3. */
TEST(unknown_shapes_name_the_nearest)
{
    write_file(ROWS);
    design d = new_design();
    th_shard s = conv_shard(1, 60, 64, 56, 56, 3);
    assert_unknown(&d, &s, "SIM-0083",
                   "no time for conv B 1 K 60 C 64 H 56 W 56 R 3 S 3 stride 1 groups 1: the "
                   "nearest, on line 5, is conv B 1 K 64 C 64 H 56 W 56 R 3 S 3 stride 1 groups 1");
    s.kind = TH_LAYER_MATMUL;
    assert_unknown(&d, &s, "SIM-0083",
                   "no time for matmul B 1 K 60 C 64 H 56 W 56 R 3 S 3 stride 1 groups 1: there is "
                   "no matmul at all");
    s = first_conv();
    s.stride_w = 1;
    assert_unknown(&d, &s, "SIM-0084",
                   "strides 2 x 1, dilation 1 x 1: must be one stride and no dilation");
    free_design(&d);
    remove_file();
}

/* 4 is as far from 8 as from 2. */
TEST(the_first_of_equals_is_the_nearest)
{
    write_file(HEADER "conv,1,8,3,4,5,6,7,8,9,10\nconv,1,2,3,4,5,6,7,8,9,10\n");
    auto_time_table *t = th_time_table_read(path, NULL);
    const th_timed_shape shape = {TH_LAYER_CONV, {1, 4, 3, 4, 5, 6, 7}, 8, 9};
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    CU_ASSERT_EQUAL(th_time_table_nearest(t, &shape)->line, 2);
    CU_ASSERT_PTR_NULL(th_time_table_find(t, &shape));
    remove_file();
}

static int read_refused(const char *text, th_error *e)
{
    write_file(text);
    th_time_table *t = th_time_table_read(path, e);
    th_time_table_free(t);
    memmove(e->text, e->text + strlen(path), strlen(e->text + strlen(path)) + 1);
    remove_file();
    return t ? 0 : -1;
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"table", read_refused}, {NULL, NULL}};
    assert_refusals("sim/design/table.refused", readers);
}

TEST(refuses_files_that_are_too_large_or_not_there)
{
    th_error e = {"", ""};
    write_file("");
    CU_ASSERT_EQUAL(truncate(path, (16 << 20) + 1), 0);
    CU_ASSERT_PTR_NULL(th_time_table_read(path, &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0326");
    CU_ASSERT_PTR_NOT_NULL(strstr(e.text, ": must be 16777216 bytes at most"));
    remove_file();
    auto_system *s = system_with("type = \"table\"; file = \"/nowhere/times.csv\";");
    CU_ASSERT_EQUAL(th_design_check_system(s, &e), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "/nowhere/times.csv"));
}

static int read_table(const void *at, th_error *e)
{
    th_time_table *t = th_time_table_read(at, e);
    th_time_table_free(t);
    return t ? 0 : -1;
}

TEST(any_allocation_may_fail)
{
    write_file(ROWS);
    CU_ASSERT_TRUE(fail_each_allocation(read_table, path) > 3);
    remove_file();
}

/* The shipped example: a system whose table lies beside it. */
TEST(the_example_is_read_from_beside_its_system)
{
    auto_system *s = shipped_system("measured_example");
    th_error e = {"", ""};
    auto_costs *w = th_compute_cost_cache_new(s, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    th_shard conv = conv_shard(1, 32, 16, 28, 28, 3);
    conv.in_h = conv.in_w = 28;
    int32_t work = th_compute_cost_lookup(w, 0, 0, &conv, &e);
    CU_ASSERT_EQUAL_FATAL(work, 0);
    CU_ASSERT_EQUAL(th_compute_cost_get(w, work)->collapsed_ps, 41500000);
}

TAP_MAIN("table")
