/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/pipeline.h"
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
static void tiled_clips_remainder_tiles(void)
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

static void tiled_unclipped_tiles_are_all_full(void)
{
    th_shard shard = strided();
    th_schedule s = schedule_on(TILED "clip = false; slots = 5; ", &shard);
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++)
        assert_step(&s, m, 160, 576, 180, 320);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 2 * 2 * 2 * 3 * 3 * 180);
    CU_ASSERT_TRUE(s.slots_in == 5 && s.slots_out == 5);
}

/* Windows: (5-1)2+3 = 11 rows and 9 columns; last 9 and 7. An input of 10 rows has no eleventh. */
static void tiled_halo_loads_real_windows(void)
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
static void tiled_walks_groups_with_the_batch(void)
{
    th_shard shard = strided();
    shard.groups = 5;
    th_schedule s = schedule_on(TILED, &shard);
    assert_counts(&s, 10, 2, 2, 1, 1);
    assert_step(&s, 0xc, 2 * 20 * 2, 4 * 2 * 9 * 2, 180, 4 * 20 * 2);
    assert_step(&s, TH_LAST_K | TH_LAST_C, 2 * 20 * 2, 4 * 2 * 9 * 2, 180, 4 * 20 * 2);
}

/* The published layer through the design: see test_pipeline.c. 1e6-port and 10 THz do not overflow.
 * */
static void tiled_reproduces_the_published_layer(void)
{
    const th_port ideal = {1000000000000000, 0, 1};
    th_shard shard = conv_shard(2, 128, 192, 13, 13, 3);
    th_schedule s = schedule_on(
        "type = \"tiled\"; clock = \"200MHz\"; tile_k = 8; tile_c = 32; tile_h = 13; tile_w = 13; "
        "input_port = 2; weight_port = 2; output_port = 2; clip = false; ",
        &shard);
    th_pipeline p;
    th_pipeline_start(&p, &s, &ideal, 0, true);
    CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &ideal), 521365 * 5000LL);
    s = schedule_on(
        "type = \"tiled\"; clock = \"10000GHz\"; tile_k = 8; tile_c = 4; tile_h = 5; tile_w = 4; "
        "input_port = 1000000; weight_port = 1000; output_port = 1000000; ",
        &shard);
    CU_ASSERT_EQUAL(s.port_bits_per_s[TH_ENGINE_INPUT], INT64_MAX);
    CU_ASSERT_EQUAL(s.port_bits_per_s[TH_ENGINE_WEIGHT], 160000000000000000);
}

/* --- systolic_vec ----------------------------------------------------------------------------- */

#define SYSTOLIC                                                                                   \
    "type = \"systolic_vec\"; clock = \"200MHz\"; rows = %d; cols = %d; vec = %d; input_port = "   \
    "40; "                                                                                         \
    "weight_port = 40; output_port = 40; overlap = %s; "

/* Rounds of ceil(K/rows) ceil(W/cols) passes of H R S ceil(C/vec) cycles, and rows + cols per pass,
 * or once. Weights go in once per round and W block, outputs leave once. */
static void systolic_cycles_are_the_formula(void)
{
    gsl_rng *r = th_random_stream(29, "systolic", 0);
    int wrong = 0;
    for (int round = 0; round < 500; round++) {
        th_shard s = random_shard(r);
        int rows = (int)pick(r, 1, 20), cols = (int)pick(r, 1, 20), vec = (int)pick(r, 1, 12);
        bool overlap = pick(r, 0, 1);
        char keys[500];
        snprintf(keys, sizeof keys, SYSTOLIC, rows, cols, vec, overlap ? "true" : "false");
        th_schedule out = schedule_on(keys, &s);
        th_schedule_totals t = th_schedule_sum(&out);
        int64_t rounds = (int64_t)s.dim[TH_DIM_B] * s.groups, k = s.dim[TH_DIM_K] / s.groups,
                c = s.dim[TH_DIM_C] / s.groups;
        int64_t h = s.dim[TH_DIM_H], w = s.dim[TH_DIM_W],
                rs = (int64_t)s.dim[TH_DIM_R] * s.dim[TH_DIM_S];
        int64_t passes = rounds * over(k, rows) * over(w, cols);
        int64_t fill = (rows + cols) * (overlap ? 1 : passes);
        wrong += t.cycles != passes * h * rs * over(c, vec) + fill;
        wrong += t.output_bytes != rounds * k * h * w * bytes_of(&s);
        wrong += t.weight_bytes != rounds * over(w, cols) * k * c * rs * bytes_of(&s);
        wrong += t.n_stores != passes;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    gsl_rng_free(r);
}

/* strided() on 11 x 4 x 3: W 7 = 4 + 3, K 20 = 11 + 9, C 10 = 3 + 3 + 3 + 1; windows (4-1)2+3 = 9
 * and 7 columns. */
static void systolic_by_hand(void)
{
    char keys[500];
    th_shard shard = strided();
    snprintf(keys, sizeof keys, SYSTOLIC, 11, 4, 3, "false");
    th_schedule s = schedule_on(keys, &shard);
    assert_counts(&s, 2, 1, 2, 2, 4);
    assert_step(&s, TH_LAST_H, 3 * 19 * 9 * 2, 11 * 3 * 9 * 2, 81, 11 * 9 * 4 * 2);
    assert_step(&s, ALL_LAST, 1 * 19 * 7 * 2, 9 * 1 * 9 * 2, 81 + 15, 9 * 9 * 3 * 2);
    CU_ASSERT_EQUAL(s.start_cycles, 0);
    snprintf(keys, sizeof keys, SYSTOLIC, 11, 4, 3, "true");
    s = schedule_on(keys, &shard);
    CU_ASSERT_TRUE(s.start_cycles == 15 && s.step[ALL_LAST].cycles == 81);
}

/* --- winograd --------------------------------------------------------------------------------- */

#define WINOGRAD(m, buffer)                                                                        \
    "type = \"winograd\"; clock = \"200MHz\"; m = " m "; r = 3; pn = 2; pm = 8; input_port = 40; " \
    "weight_port = 40; output_port = 40; weight_buffer = \"" buffer "\"; "

/* K 20, C 5, 10 x 9, 3 x 3 on F(4,3), Pn 2, Pm 8: t_row = 3*3*3 = 27 (direct: 20*5*36*9/576 =
 * 56.25). Stripes of 4, 4, 2 rows: 6, 4, 2 new input rows of 5*11*2 = 110 bytes. Weights 20*5*9*2 =
 * 1800, once. */
static void winograd_by_hand(void)
{
    th_shard shard = conv_shard(1, 20, 5, 10, 9, 3);
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    assert_counts(&s, 1, 3, 1, 1, 1);
    assert_step(&s, ALL_LAST & ~TH_LAST_H, 440, 1800, 27, 20 * 4 * 9 * 2);
    assert_step(&s, ALL_LAST, 220, 1800, 27, 20 * 2 * 9 * 2);
    CU_ASSERT_EQUAL(s.first_row_extra_bytes, 220);
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.cycles == 81 && t.input_bytes == 12 * 110 && t.weight_bytes == 1800 &&
                   t.output_bytes == 3600);
}

/* 1700 bytes do not hold 1800: blocks of 850/90 = 9, in eights: 8, 8, 4 channels, 3*1*3 = 9 cycles
 * each (but 2 rows of the 4 are quicker direct: 4*5*18*9/576 -> 6), so 27 + 27 + 24; loaded for
 * each of 3 stripes; inputs still once. Weights that stay do so for the whole batch. */
static void winograd_loads_weights_per_stripe_when_they_do_not_fit(void)
{
    th_shard shard = conv_shard(1, 20, 5, 10, 9, 3);
    th_schedule s = schedule_on(WINOGRAD("4", "1700B"), &shard);
    assert_counts(&s, 1, 3, 1, 3, 1);
    assert_step(&s, 0, 440, 720, 9, 8 * 36 * 2);
    assert_step(&s, ALL_LAST, 220, 360, 6, 4 * 18 * 2);
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.cycles == 78 && t.input_bytes == 1320 && t.weight_bytes == 5400 &&
                   t.output_bytes == 3600);
    s = schedule_on(WINOGRAD("4", "1800B"), &shard);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 1800);
    shard.dim[TH_DIM_B] = 3;
    s = schedule_on(WINOGRAD("4", "1800B"), &shard);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 1800);
}

/* Whole tiles: direct / transformed = (m r / n)^2. K 16, C 4, 8 x 8, 36864 MACs:
 *   F(4,3): 576 multipliers, direct 64, transformed 2 stripes of 2*2*2 = 16;  F(2,3): 256, 144, 4
 *   of 2*2*4 = 64 */
static void winograd_saves_as_published(void)
{
    th_shard shard = conv_shard(1, 16, 4, 8, 8, 3);
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 64 / 4);
    s = schedule_on(WINOGRAD("2", "64KiB"), &shard);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles * 9 / 4, 144);
}

/* K 20, C 5, stripes of 4 x 9, 576 multipliers. Stride 2: ceil(20*5*36*9/576) = 57. Kernel 1 x 1:
 * direct ceil(20*5*36/576) = 7 against 27. 5 x 5: 4 sub-kernels, 108 against ceil(156.25). */
static void winograd_runs_other_kernels_the_faster_way(void)
{
    th_shard shard = conv_shard(1, 20, 5, 8, 9, 3);
    shard.stride_h = 2;
    shard.in_h = 17;
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    CU_ASSERT_EQUAL(s.step[ALL_LAST].cycles, 57);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).input_bytes, 17 * 110);
    shard = conv_shard(1, 20, 5, 8, 9, 3);
    shard.dilation_w = 2;
    shard.in_w = 13;
    s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    CU_ASSERT_EQUAL(s.step[ALL_LAST].cycles, 57);
    shard = conv_shard(1, 20, 5, 8, 9, 1);
    s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    CU_ASSERT_EQUAL(s.step[ALL_LAST].cycles, 7);
    shard = conv_shard(1, 20, 5, 8, 9, 5);
    s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    CU_ASSERT_EQUAL(s.step[ALL_LAST].cycles, 108);
}

/* 13 rows with padding 1: 5, 4, 4 and no new row in the last stripe; every input row goes in
 * exactly once. */
static void winograd_loads_every_input_row_once(void)
{
    th_shard shard = conv_shard(1, 20, 5, 13, 9, 3);
    shard.in_h = 13;
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    CU_ASSERT_EQUAL(s.step[ALL_LAST & ~TH_LAST_H].input_bytes + s.first_row_extra_bytes, 5 * 110);
    CU_ASSERT_EQUAL(s.step[ALL_LAST & ~TH_LAST_H].input_bytes, 4 * 110);
    CU_ASSERT_EQUAL(s.step[ALL_LAST].input_bytes, 0);
    gsl_rng *r = th_random_stream(31, "winograd", 0);
    int wrong = 0;
    for (int round = 0; round < 1000; round++) {
        shard = random_shard(r);
        s = schedule_on(pick(r, 0, 1) ? WINOGRAD("4", "2KiB") : WINOGRAD("2", "64KiB"), &shard);
        th_schedule_totals t = th_schedule_sum(&s);
        int64_t rounds = (int64_t)shard.dim[TH_DIM_B] * shard.groups, e = bytes_of(&shard);
        wrong += t.input_bytes !=
                 (int64_t)shard.dim[TH_DIM_B] * shard.dim[TH_DIM_C] * shard.in_h * shard.in_w * e;
        wrong += t.output_bytes != (int64_t)shard.dim[TH_DIM_B] * shard.dim[TH_DIM_K] *
                                       shard.dim[TH_DIM_H] * shard.dim[TH_DIM_W] * e;
        wrong += rounds != s.count[TH_LOOP_B];
        for (int m = 0; m < TH_N_STEP_KINDS; m++)
            wrong += s.step[m].input_bytes < 0 || s.step[m].cycles < 1 ||
                     s.step[m].input_bytes + s.first_row_extra_bytes < 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    gsl_rng_free(r);
}

/* --- roofline --------------------------------------------------------------------------------- */

#define ROOFLINE "type = \"roofline\"; clock = \"100MHz\"; macs_per_cycle = 100; efficiency = 0.5; "

/* K 64, C 32, 16 x 16, 3 x 3: weights 36864 bytes outweigh inputs 32*18*18*2 = 20736: 32 pieces of
 * 2 channels, 2*256*288/50 -> 2950 cycles of 10 ns each; outputs 1024 per piece.
 * At 10 GB/s: inputs and both slots of weights come in first (23040 bytes, 2304 ns), 32 * 29500 ns
 * of compute, 102.4 ns for the last store. At 50 MB/s: traffic (36864 + 20736 + 32768) / 0.05 =
 * 1807.36 us; at most the first and last pieces of work and store are not hidden behind it. */
static void roofline_by_hand(void)
{
    th_shard shard = conv_shard(1, 64, 32, 16, 16, 3);
    th_schedule s = schedule_on(ROOFLINE, &shard);
    assert_counts(&s, 1, 1, 1, 32, 1);
    assert_step(&s, ALL_LAST, 20736, 1152, 2950, 1024);
    const th_port fast = {80000000000, 0, 1}, slow = {400000000, 0, 1};
    th_pipeline p;
    th_pipeline_start(&p, &s, &fast, 0, true);
    CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &fast), 2304000 + 32 * 29500000LL + 102400);
    th_pipeline_start(&p, &s, &slow, 0, true);
    th_time end = th_pipeline_finish(&p, &s, &slow);
    CU_ASSERT_TRUE(end >= 1807360000 && end <= 1807360000 + 2 * 29500000);
}

/* Every byte moves once, and the pieces' MACs add up; at most one cycle per piece is lost in
 * rounding. */
static void roofline_moves_every_byte_once(void)
{
    gsl_rng *r = th_random_stream(37, "roofline", 0);
    int wrong = 0;
    for (int round = 0; round < 500; round++) {
        th_shard d = random_shard(r);
        th_schedule s = schedule_on(ROOFLINE, &d);
        th_schedule_totals t = th_schedule_sum(&s);
        int64_t k = d.dim[TH_DIM_K], c = d.dim[TH_DIM_C] / d.groups,
                rs = (int64_t)d.dim[TH_DIM_R] * d.dim[TH_DIM_S];
        int64_t out = (int64_t)d.dim[TH_DIM_B] * k * d.dim[TH_DIM_H] * d.dim[TH_DIM_W];
        wrong += t.weight_bytes != k * c * rs * bytes_of(&d) ||
                 t.output_bytes != out * bytes_of(&d);
        wrong += t.input_bytes !=
                 (int64_t)d.dim[TH_DIM_B] * d.dim[TH_DIM_C] * d.in_h * d.in_w * bytes_of(&d);
        wrong += t.cycles < out * c * rs / 50 || t.cycles > out * c * rs / 50 + 33;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    gsl_rng_free(r);
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

static void refuses_unknown_types_and_keys(void)
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

static void refuses_wrong_kinds(void)
{
    assert_refused(TILED "slots = 2.5;", "SIM-0003",
                   "test:1: design \"d\": slots must be a whole number");
    assert_refused(TILED "slots = \"2\";", "SIM-0003",
                   "test:1: design \"d\": slots must be a whole number");
    assert_refused(TILED "clip = 1;", "SIM-0003",
                   "test:1: design \"d\": clip must be true or false");
    assert_refused("type = \"roofline\"; macs_per_cycle = true; clock = \"1GHz\";", "SIM-0003",
                   "test:1: design \"d\": macs_per_cycle must be a number");
    assert_refused("type = \"roofline\"; macs_per_cycle = 3; clock = 1000000;", "SIM-0003",
                   "test:1: design \"d\": clock must be a frequency such as \"200MHz\"");
    assert_refused("type = \"roofline\"; macs_per_cycle = 3; clock = \"1GB\";", "SIM-0003",
                   "test:1: design \"d\": clock must be a frequency such as \"200MHz\"");
    assert_refused(WINOGRAD("4", "64kHz"), "SIM-0003",
                   "test:1: design \"d\": weight_buffer must be a size such as \"64KiB\"");
}

static void refuses_values_out_of_range_and_missing_keys(void)
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

/* Every row has its keys within the table's bounds, standard values within their own, and is found
 * by name. */
static void the_table_is_in_order(void)
{
    for (int i = 0; th_design_types[i]; i++) {
        const th_design_type *t = th_design_types[i];
        CU_ASSERT_PTR_EQUAL(th_design_find(t->name), t);
        int n = 0;
        for (const th_design_key *k = t->keys; k->name; k++, n++)
            CU_ASSERT_TRUE(
                k->minimum <= k->maximum && k->meaning &&
                (k->required || (k->standard >= k->minimum && k->standard <= k->maximum)));
        CU_ASSERT_TRUE(n > 0 && n <= TH_DESIGN_KEYS_MAX);
    }
    CU_ASSERT_PTR_NULL(th_design_find("tile"));
}

static void shipped_systems_have_valid_designs(void)
{
    const char *const names[] = {"f1_16xlarge", "f1_16xlarge_balanced", "f1_16xlarge_small",
                                 "npu_v1", "ring8"};
    for (int i = 0; i < 5; i++) {
        th_system *s = shipped_system(names[i]);
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(th_design_check_system(s, &e), 0);
        TAP_ASSERT_TEXT(e.text, "");
        th_system_free(s);
    }
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(tiled_clips_remainder_tiles),
        TAP(tiled_unclipped_tiles_are_all_full),
        TAP(tiled_halo_loads_real_windows),
        TAP(tiled_walks_groups_with_the_batch),
        TAP(tiled_reproduces_the_published_layer),
        TAP(systolic_cycles_are_the_formula),
        TAP(systolic_by_hand),
        TAP(winograd_by_hand),
        TAP(winograd_loads_weights_per_stripe_when_they_do_not_fit),
        TAP(winograd_saves_as_published),
        TAP(winograd_runs_other_kernels_the_faster_way),
        TAP(winograd_loads_every_input_row_once),
        TAP(roofline_by_hand),
        TAP(roofline_moves_every_byte_once),
        TAP(refuses_unknown_types_and_keys),
        TAP(refuses_wrong_kinds),
        TAP(refuses_values_out_of_range_and_missing_keys),
        TAP(the_table_is_in_order),
        TAP(shipped_systems_have_valid_designs),
        TAP_END,
    };
    return tap_main("design", tests, argc, argv);
}
