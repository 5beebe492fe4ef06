/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/refused.h"
#include "tests/unit/design_help.h"

/* --- tiled ------------------------------------------------------------------------------------ */

#define TILED                                                                                      \
    "type = \"tiled\"; clock = \"200MHz\"; tile_k = 8; tile_c = 4; tile_h = 5; tile_w = 4; "       \
    "input_port = 2; weight_port = 3; output_port = 2.5; "

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
    auto_system *s = system_with(keys);
    th_error e = {"", ""};
    const th_design_type *type = NULL;
    th_design_config config = {{42}};
    CU_ASSERT_EQUAL(th_design_configure(&s->designs[0], &type, &config, &e), -1);
    CU_ASSERT_TRUE(type == NULL && config.value[0] == 42);
    TAP_ASSERT_ERROR(e, id, message);
    CU_ASSERT_EQUAL(th_design_check_system(s, &e), -1);
    TAP_ASSERT_TEXT(e.id, id);
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

TEST(refuses_unknown_types)
{
    assert_refused("type = \"tilde\";", "SIM-0001",
                   with_types("test:1: design \"d\": unknown type \"tilde\" (did you mean "
                              "\"tiled\"?)"));
    assert_refused("type = \"quantum\";", "SIM-0001",
                   with_types("test:1: design \"d\": unknown type \"quantum\""));
}

static int configure_refused(const char *keys, th_error *e)
{
    auto_system *s = system_with(keys);
    th_error again = {"", ""};
    const th_design_type *type = NULL;
    th_design_config config = {{42}};
    int failed = th_design_configure(&s->designs[0], &type, &config, e);
    CU_ASSERT_TRUE(!failed || (!type && config.value[0] == 42));
    if (!failed)
        th_design_release(type, &config);
    failed = th_design_check_system(s, failed ? &again : e);
    CU_ASSERT_TRUE(again.id[0] == '\0' || strcmp(again.id, e->id) == 0);
    return failed;
}

static int configure_behind(const char *first, const char *keys, th_error *e)
{
    char all[1000];
    snprintf(all, sizeof all, "%s%s", first, keys);
    return configure_refused(all, e);
}

static int configure_fixed(const char *keys, th_error *e)
{
    return configure_behind(TILED, keys, e);
}

static int configure_tiled(const char *keys, th_error *e)
{
    return configure_behind("type = \"tiled\"; ", keys, e);
}

static int configure_roofline(const char *keys, th_error *e)
{
    return configure_behind("type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 1; ", keys, e);
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"design", configure_refused},
                                              {"fixed tiles", configure_fixed},
                                              {"tiled", configure_tiled},
                                              {"roofline", configure_roofline},
                                              {NULL, NULL}};
    assert_refusals("sim/design/keys.refused", readers);
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
        auto_system *s = shipped_system(names[i]);
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(th_design_check_system(s, &e), 0);
        TAP_ASSERT_TEXT(e.text, "");
    }
}

TAP_MAIN("design")
