/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/pipeline/pipeline.h"
#include "tests/unit/design_help.h"
#include <string.h>

/* --- tiled ------------------------------------------------------------------------------------ */

#define TILED                                                                                      \
    "type = \"tiled\"; clock = \"200MHz\"; tile_k = 8; tile_c = 4; tile_h = 5; tile_w = 4; "       \
    "input_port = 2; weight_port = 3; output_port = 2.5; "

/* B 2, K 20, C 10, 9 x 7, 3 x 3, stride 2. Last tiles: 4 of K, 2 of C, 4 of H, 3 of W. */
static th_shard strided(void)
{
    th_shard s = conv_shard(2, 20, 10, 9, 7, 3);
    s.stride_h = s.stride_w = 2;
    s.in_h = 19;
    s.in_w = 15;
    return s;
}

/* full: in 4*5*4, weights 8*4*9, 9*20 cycles, out 8*5*4; last: 2*4*3, 4*2*9, 9*12, 4*4*3; 2 bytes
 * each all: cycles 2*3*3*9*63 = 10206, in 2*3*10*63*2 = 7560, weights 2*4*20*10*9*2 = 28800, out
 * 2*20*63*2 = 5040 */
TEST(tiled_clips_remainder_tiles)
{
    th_shard shard = strided();
    th_schedule s = schedule_on(TILED, &shard);
    assert_counts(&s, 2, 2, 2, 3, 3);
    assert_step(&s, 0, 160, 576, 180, 320);
    assert_step(&s, ALL_LAST, 48, 144, 108, 96);
    assert_step(&s, TH_LAST_W | TH_LAST_C, 60, 288, 135, 240);
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.cycles == 10206 && t.input_bytes == 7560 && t.weight_bytes == 28800 &&
                   t.output_bytes == 5040);
    CU_ASSERT_TRUE(s.hz == 200000000 && s.slots_in == 2 && s.slots_out == 2 && s.start_cycles == 0);
    /* elements per cycle * 16 bits * 200 MHz */
    CU_ASSERT_TRUE(s.port_bits_per_s[TH_ENGINE_INPUT] == 6400000000 &&
                   s.port_bits_per_s[TH_ENGINE_WEIGHT] == 9600000000 &&
                   s.port_bits_per_s[TH_ENGINE_OUTPUT] == 8000000000);
}

TEST(tiled_unclipped_tiles_are_all_full)
{
    th_shard shard = strided();
    th_schedule s = schedule_on(TILED "clip = false; slots = 5; ", &shard);
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++)
        assert_step(&s, m, 160, 576, 180, 320);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 2 * 2 * 2 * 3 * 3 * 180);
    CU_ASSERT_TRUE(s.slots_in == 5 && s.slots_out == 5);
}

/* Windows: (5-1)2+3 = 11 rows and 9 columns; last 9 and 7. An input of 10 rows has no eleventh. */
TEST(tiled_halo_loads_real_windows)
{
    th_shard shard = strided();
    th_schedule s = schedule_on(TILED "halo = true; ", &shard);
    assert_step(&s, 0, 4 * 11 * 9 * 2, 576, 180, 320);
    assert_step(&s, ALL_LAST, 2 * 9 * 7 * 2, 144, 108, 96);
    shard.in_h = 10;
    s = schedule_on(TILED "halo = true; ", &shard);
    assert_step(&s, 0, 4 * 10 * 9 * 2, 576, 180, 320);
    shard.dilation_w = 3; /* 3*2 + 2*3 + 1 = 13 columns */
    s = schedule_on(TILED "halo = true; clip = false; ", &shard);
    assert_step(&s, ALL_LAST, 4 * 10 * 13 * 2, 576, 180, 320);
}

/* 5 groups of 4 -> 2 channels: 10 rounds of 1 x 1 blocks of channels, 4*20*9 weights each. */
TEST(tiled_walks_groups_with_the_batch)
{
    th_shard shard = strided();
    shard.groups = 5;
    th_schedule s = schedule_on(TILED, &shard);
    assert_counts(&s, 10, 2, 2, 1, 1);
    assert_step(&s, 0xc, 2 * 20 * 2, 4 * 2 * 9 * 2, 180, 4 * 20 * 2);
    assert_step(&s, TH_LAST_K | TH_LAST_C, 2 * 20 * 2, 4 * 2 * 9 * 2, 180, 4 * 20 * 2);
}

/* The published layer through the design: see test_pipeline.c. 1e6-port and 10 THz do not overflow.
 */
TEST(tiled_reproduces_the_published_layer)
{
    const th_port ideal = {1000000000000000, 0, 1};
    th_shard shard = conv_shard(2, 128, 192, 13, 13, 3);
    th_schedule s = schedule_on(
        "type = \"tiled\"; clock = \"200MHz\"; tile_k = 8; tile_c = 32; tile_h = 13; tile_w = 13; "
        "input_port = 2; weight_port = 2; output_port = 2; clip = false; ",
        &shard);
    th_pipeline p;
    th_pipeline_start(&p, &s, &ideal, &(th_pipeline_options){.skip = true});
    CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &ideal), 521365 * 5000LL);
    s = schedule_on(
        "type = \"tiled\"; clock = \"10000GHz\"; tile_k = 8; tile_c = 4; tile_h = 5; tile_w = 4; "
        "input_port = 1000000; weight_port = 1000; output_port = 1000000; ",
        &shard);
    CU_ASSERT_EQUAL(s.port_bits_per_s[TH_ENGINE_INPUT], INT64_MAX);
    CU_ASSERT_EQUAL(s.port_bits_per_s[TH_ENGINE_WEIGHT], 160000000000000000);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void assert_refused(const char *keys, const char *id, const char *message)
{
    th_system *s = system_with(keys);
    th_error e = {"", ""};
    const th_design_type *type = NULL;
    th_design_config config = {{42}};
    CU_ASSERT_EQUAL(th_design_configure(&s->designs[0], &type, &config, &e), -1);
    CU_ASSERT_TRUE(type == NULL && config.value[0] == 42);
    TAP_ASSERT_TEXT(e.id, id);
    TAP_ASSERT_TEXT(e.text, message);
    CU_ASSERT_EQUAL(th_design_check_system(s, &e), -1);
    TAP_ASSERT_TEXT(e.id, id);
    th_system_free(s);
}

/* The names of the table, as messages list them, behind a text. */
static const char *with_types(const char *text)
{
    static char line[1000];
    int n = snprintf(line, sizeof line, "%s: must be one of ", text);
    for (int i = 0; th_design_types[i]; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%s", i ? ", " : "",
                      th_design_types[i]->name);
    return line;
}

TEST(refuses_unknown_types_and_keys)
{
    assert_refused("type = \"tilde\";", "SIM-0001",
                   with_types("test:1: design \"d\": unknown type \"tilde\" (did you mean "
                              "\"tiled\"?)"));
    assert_refused("type = \"quantum\";", "SIM-0001",
                   with_types("test:1: design \"d\": unknown type \"quantum\""));
    assert_refused(
        TILED "\nsolts = 3;", "SIM-0002",
        "test:2: design \"d\": unknown key \"solts\" of a tiled design, did you mean \"slots\"?");
    assert_refused(TILED "weather = 3;", "SIM-0002",
                   "test:1: design \"d\": unknown key \"weather\" of a tiled design");
}

TEST(refuses_wrong_kinds)
{
    assert_refused(TILED "slots = 2.5;", "SIM-0003",
                   "test:1: design \"d\": slots is 2.5, must be a whole number");
    assert_refused(TILED "slots = \"2\";", "SIM-0003",
                   "test:1: design \"d\": slots is \"2\", must be a whole number");
    assert_refused(TILED "clip = 1;", "SIM-0003",
                   "test:1: design \"d\": clip is 1, must be true or false");
    assert_refused("type = \"roofline\"; macs_per_cycle = true; clock = \"1GHz\";", "SIM-0003",
                   "test:1: design \"d\": macs_per_cycle is true, must be a number");
    assert_refused(
        "type = \"roofline\"; macs_per_cycle = 3; clock = 1000000;", "SIM-0003",
        "test:1: design \"d\": clock is 1000000, must be a frequency such as \"200MHz\"");
    assert_refused(
        "type = \"roofline\"; macs_per_cycle = 3; clock = \"1GB\";", "SIM-0003",
        "test:1: design \"d\": clock is \"1GB\", must be a frequency such as \"200MHz\"");
    assert_refused(
        "type = \"winograd\"; clock = \"200MHz\"; m = 4; r = 3; pn = 2; pm = 8; "
        "input_port = 40; weight_port = 40; output_port = 40; "
        "weight_buffer = \"64kHz\";",
        "SIM-0003",
        "test:1: design \"d\": weight_buffer is \"64kHz\", must be a size such as \"64KiB\"");
}

TEST(refuses_values_out_of_range_and_missing_keys)
{
    assert_refused(TILED "slots = 9;", "SIM-0004",
                   "test:1: design \"d\": slots is 9, must be in 1 .. 8");
    assert_refused(TILED "slots = 0;", "SIM-0004",
                   "test:1: design \"d\": slots is 0, must be in 1 .. 8");
    assert_refused("type = \"roofline\"; macs_per_cycle = 3; clock = \"1GHz\"; efficiency = 1.01;",
                   "SIM-0004", "test:1: design \"d\": efficiency is 1.01, must be in 0.001 .. 1");
    assert_refused("type = \"roofline\"; macs_per_cycle = 3; clock = \"999Hz\";", "SIM-0004",
                   "test:1: design \"d\": clock is 999, must be in 1000 .. 10000000000000");
    assert_refused("type = \"roofline\"; clock = \"1GHz\";", "SIM-0005",
                   "test:1: design \"d\": key \"macs_per_cycle\" is missing: peak "
                   "multiply-accumulates per cycle");
}

/* A key that is left out may mean no limit; one that is 0 means nothing. */
TEST(refuses_rates_and_sizes_of_nothing)
{
#define SYSTOLIC "type = \"systolic\"; clock = \"1GHz\"; rows = 4; cols = 4; dataflow = \"os\"; "
    assert_refused(SYSTOLIC "input_port = 0;", "SIM-0004",
                   "test:1: design \"d\": input_port is 0, must be in 0.001 .. 1000000");
    assert_refused(SYSTOLIC "buffer = \"0B\";", "SIM-0004",
                   "test:1: design \"d\": buffer is 0, must be in 1 .. 1e+15");
    assert_refused(TILED "weight_buffer = \"0B\";", "SIM-0004",
                   "test:1: design \"d\": weight_buffer is 0, must be in 1 .. 1e+15");
    assert_refused("type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 3; "
                   "bandwidth = \"0bps\";",
                   "SIM-0003",
                   "test:1: design \"d\": bandwidth is \"0bps\", must be a bandwidth such as "
                   "\"16GB/s\"");
    assert_refused("type = \"serial_tiled\"; clock = \"1GHz\"; bus_bits = 8; throughput = 0;",
                   "SIM-0004", "test:1: design \"d\": throughput is 0, must be in 1 .. 1e+16");
    assert_refused("type = \"script\"; clock = \"1GHz\"; procedure = \"p\"; output_port = 0;",
                   "SIM-0004",
                   "test:1: design \"d\": output_port is 0, must be in 0.001 .. 1000000");
}

/* Every row has its keys within the table's bounds, standard values within their own (or 0, which
 * stands for a key that is left out), and is found by name. */
TEST(the_table_is_in_order)
{
    for (int i = 0; th_design_types[i]; i++) {
        const th_design_type *t = th_design_types[i];
        CU_ASSERT_PTR_EQUAL(th_design_find(t->name), t);
        int n = 0;
        for (const th_design_key *k = t->keys; k->name; k++, n++)
            CU_ASSERT_TRUE(k->minimum <= k->maximum && k->meaning &&
                           (k->required || k->default_value == 0 ||
                            (k->default_value >= k->minimum && k->default_value <= k->maximum)));
        CU_ASSERT_TRUE(n > 0 && n <= TH_DESIGN_KEYS_MAX);
    }
    CU_ASSERT_PTR_NULL(th_design_find("tile"));
}

TEST(shipped_systems_have_valid_designs)
{
    const char *const names[] = {
        "f1_16xlarge", "f1_16xlarge_balanced", "f1_16xlarge_energy", "f1_16xlarge_small", "npu_v1",
        "ring8",       "vc707_fpga15",         "zcu102_fccm17"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        th_system *s = shipped_system(names[i]);
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(th_design_check_system(s, &e), 0);
        TAP_ASSERT_TEXT(e.text, "");
        th_system_free(s);
    }
}

TAP_MAIN("design")
