/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/design_forms.h"
#include "tests/unit/design_help.h"

#define ARRAY(m, pn, pm)                                                                           \
    "type = \"winograd\"; clock = \"200MHz\"; m = " m "; r = 3; pn = " pn "; pm = " pm             \
    "; input_port = 40; weight_port = 40; output_port = 40; "
#define WINOGRAD(m, buffer) ARRAY(m, "2", "8") "weight_buffer = \"" buffer "\"; "

/* K 20, C 5, 10 x 9, 3 x 3 on F(4,3), Pn 2, Pm 8: t_row = 3*3*3 = 27 (direct: 3*3*ceil(36*9/36) =
 * 81). Stripes of 4, 4, 2 rows: 6, 4, 2 new input rows of 5*11*2 = 110 bytes. Weights 20*5*9*2 =
 * 1800, once. Lines: 6 + 4 rows; array reads 6*6 for every tile, 3 stripes of 3, for 3 blocks of
 * outputs, all of 5 channels; sums in 3 passes. */
TEST(winograd_by_hand)
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
    TAP_ASSERT_TEXT(s.variant, "winograd");
    CU_ASSERT_EQUAL(s.macs_per_cycle, 16 * 36);
    CU_ASSERT_TRUE(s.buffer_bytes[TH_TENSOR_INPUT] == 10 * 110 &&
                   s.buffer_bytes[TH_TENSOR_WEIGHT] == 1800 &&
                   s.buffer_bytes[TH_TENSOR_OUTPUT] == 2 * 20 * 4 * 9 * 2);
    CU_ASSERT_TRUE(s.accesses.input_reads == 3 * 3 * 36 * 3 * 5 &&
                   s.accesses.weight_reads == 3 * 900 && s.accesses.partial_reads == 2 * 1800 &&
                   s.accesses.output_writes == 3 * 1800);
}

/* clip = false: stripes of 4 rows, all of them, the first one with its window. */
TEST(unclipped_stripes_are_all_full)
{
    th_shard shard = conv_shard(1, 20, 5, 10, 9, 3);
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB") "clip = false; slots = 3; ", &shard);
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++)
        assert_step(&s, m, 440, 1800, 27, 20 * 4 * 9 * 2);
    CU_ASSERT_TRUE(s.first_row_extra_bytes == 220 && s.slots_in == 3 && s.slots_out == 3);
}

/* 1700 bytes do not hold 1800: two slots of 850/720 blocks of 8 channels: 8, 8, 4 channels, 3*1*3 =
 * 9 cycles each. Rows outermost: weights for each of 3 stripes, inputs once: 1320 + 5400 bytes;
 * channels outermost: inputs for each of 3 blocks, weights once: 3960 + 1800, which is less. */
TEST(weights_that_do_not_fit_go_in_blocks)
{
    th_shard shard = conv_shard(1, 20, 5, 10, 9, 3);
    th_schedule s = schedule_on(WINOGRAD("4", "1700B") "outermost = \"rows\"; ", &shard);
    assert_counts(&s, 1, 3, 1, 3, 1);
    assert_step(&s, 0, 440, 720, 9, 8 * 36 * 2);
    assert_step(&s, ALL_LAST, 220, 360, 9, 4 * 18 * 2);
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.cycles == 81 && t.input_bytes == 1320 && t.weight_bytes == 5400 &&
                   t.output_bytes == 3600);
    CU_ASSERT_EQUAL(s.buffer_bytes[TH_TENSOR_WEIGHT], 1440);
    s = schedule_on(WINOGRAD("4", "1700B"), &shard);
    CU_ASSERT_TRUE(th_schedule_loop(&s, 0) == TH_LOOP_K && th_schedule_loop(&s, 1) == TH_LOOP_B);
    t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.cycles == 81 && t.input_bytes == 3 * 1320 && t.weight_bytes == 1800 &&
                   t.output_bytes == 3600);
}

/* Weights that stay do so for the whole batch; of several groups, one image each time. */
TEST(weights_that_fit_stay)
{
    th_shard shard = conv_shard(3, 20, 5, 10, 9, 3);
    th_schedule s = schedule_on(WINOGRAD("4", "1800B"), &shard);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 1800);
    s = schedule_on(WINOGRAD("4", "1700B") "outermost = \"channels\"; ", &shard);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 1800);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).input_bytes, 3 * 3 * 1320);
    shard = conv_shard(3, 40, 10, 10, 9, 3);
    shard.groups = 2; /* of 1800 bytes: with 3600 the next one fits beside the one at work */
    s = schedule_on(WINOGRAD("4", "3600B"), &shard);
    assert_counts(&s, 6, 3, 1, 1, 1);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 6 * 1800);
    s = schedule_on(WINOGRAD("4", "3599B") "outermost = \"rows\"; ", &shard);
    assert_counts(&s, 6, 3, 1, 2, 1); /* blocks of 16 channels, 1440 bytes */
    CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 6 * 3 * 1800);
    s = schedule_on(WINOGRAD("4", "3599B") "outermost = \"channels\"; ", &shard);
    CU_ASSERT_TRUE(th_schedule_loop(&s, 0) == TH_LOOP_B && th_schedule_loop(&s, 1) == TH_LOOP_K);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 6 * 1800);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).input_bytes, 6 * 2 * 1320);
}

/* Fully connected, 9216 -> 4096: 576 multipliers, all of them on 2 * 36 input channels at once:
 * 128 * 512 cycles. 64 KiB: two slots of 8 x 2016 weights; 5 blocks of inputs (4 * 2016 + 1152). */
TEST(fully_connected_layers_use_all_multipliers)
{
    th_shard shard = conv_shard(1, 4096, 9216, 1, 1, 1);
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    assert_counts(&s, 1, 1, 1, 512, 5);
    CU_ASSERT_EQUAL(s.step[0].weight_bytes, 8 * 2016 * 2);
    CU_ASSERT_EQUAL(s.step[TH_LAST_H].cycles, 28);
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.cycles == 4096LL * 9216 / 576 && t.weight_bytes == 4096LL * 9216 * 2 &&
                   t.input_bytes == 9216 * 2 && t.output_bytes == 4096 * 2);
    TAP_ASSERT_TEXT(s.variant, "direct");
    s = schedule_on(WINOGRAD("4", "100B"), &shard); /* two slots of 8 x 2 weights and a bit */
    CU_ASSERT_TRUE(s.step[0].weight_bytes == 48 - 16 && s.count[TH_LOOP_C] == 9216 / 2);
}

/* Whole tiles: direct / transformed = (m r / n)^2. K 16, C 4, 8 x 8, 36864 MACs:
 *   F(4,3): 576 multipliers, direct 64, transformed 2 stripes of 2*2*2 = 16;  F(2,3): 256, 144, 4
 *   of 2*2*4 = 64 */
TEST(winograd_saves_as_published)
{
    th_shard shard = conv_shard(1, 16, 4, 8, 8, 3);
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 64 / 4);
    s = schedule_on(WINOGRAD("2", "64KiB"), &shard);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles * 9 / 4, 144);
}

static void assert_way(const th_shard *shard, int64_t cycles, const char *variant)
{
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), shard);
    CU_ASSERT_EQUAL(s.step[ALL_LAST].cycles, cycles);
    TAP_ASSERT_TEXT(s.variant, variant);
}

/* K 20, C 5, stripes of 4 x 9: 3 * 3 blocks of channels. Stride 2 or dilation: ceil(36*9/36) = 9
 * each. Kernel 1 x 1: ceil(36/36) = 1 each, against 3 tiles. 5 x 5: 4 sub-kernels of 3 tiles
 * against ceil(36*25/36) = 25. 1 x 3 is one sub-kernel, 3 tiles: as many as direct, which wins
 * then. */
TEST(other_kernels_run_the_faster_way)
{
    th_shard shard = conv_shard(1, 20, 5, 8, 9, 3);
    shard.stride_h = 2;
    shard.in_h = 17;
    assert_way(&shard, 81, "direct");
    shard = conv_shard(1, 20, 5, 8, 9, 3);
    shard.dilation_w = 2;
    shard.in_w = 13;
    assert_way(&shard, 81, "direct");
    shard = conv_shard(1, 20, 5, 8, 9, 1);
    assert_way(&shard, 9, "direct");
    shard = conv_shard(1, 20, 5, 8, 9, 5);
    assert_way(&shard, 108, "decomposed");
    shard = conv_shard(1, 20, 5, 8, 9, 3);
    shard.dim[TH_DIM_R] = 1;
    shard.in_h = 8;
    assert_way(&shard, 27, "direct");
    shard.dim[TH_DIM_W] = 8; /* 2 tiles, against ceil(32*3/36) = 3 */
    assert_way(&shard, 18, "decomposed");
}

static void assert_accesses(const th_shard *shard, th_accesses expected)
{
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), shard);
    CU_ASSERT_TRUE(s.accesses.input_reads == expected.input_reads &&
                   s.accesses.weight_reads == expected.weight_reads &&
                   s.accesses.partial_reads == expected.partial_reads &&
                   s.accesses.output_writes == expected.output_writes);
}

/* Stride 2, K 20, C 5, 8 x 9, 3 x 3, direct: 648 taps of 5 inputs for 3 blocks of outputs; 2
 * stripes read 900 weights; 3 passes over inputs. 5 x 5: 4 sub-kernels of 2 * 3 tiles of 36, 12
 * passes. Fully connected: 512 blocks of outputs, 128 passes of 72 inputs. */
TEST(accesses_of_the_other_ways)
{
    th_shard shard = conv_shard(1, 20, 5, 8, 9, 3);
    shard.stride_h = 2;
    shard.in_h = 17;
    assert_accesses(&shard, (th_accesses){3 * 5 * 648, 2 * 900, 2 * 1440, 3 * 1440});
    shard = conv_shard(1, 20, 5, 8, 9, 5);
    assert_accesses(&shard, (th_accesses){3 * 5 * 4 * 6 * 36, 2 * 2500, 11 * 1440, 12 * 1440});
    shard = conv_shard(1, 4096, 9216, 1, 1, 1);
    assert_accesses(&shard, (th_accesses){512 * 9216, 4096 * 9216, 4096 * 127, 4096 * 128});
}

/* Depthwise: one channel in, one out, for each of 16 groups: all elements but one idle. */
TEST(groups_leave_elements_idle)
{
    th_shard shard = conv_shard(1, 16, 16, 8, 8, 3);
    shard.groups = 16;
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 16 * 2 * 2);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).weight_bytes, 16 * 9 * 2);
}

/* 13 rows with padding 1: 5, 4, 4 and no new row in the last stripe. */
TEST(padding_takes_rows_from_the_first_stripe)
{
    th_shard shard = conv_shard(1, 20, 5, 13, 9, 3);
    shard.in_h = 13;
    th_schedule s = schedule_on(WINOGRAD("4", "64KiB"), &shard);
    CU_ASSERT_EQUAL(s.step[ALL_LAST & ~TH_LAST_H].input_bytes + s.first_row_extra_bytes, 5 * 110);
    CU_ASSERT_EQUAL(s.step[ALL_LAST & ~TH_LAST_H].input_bytes, 4 * 110);
    CU_ASSERT_EQUAL(s.step[ALL_LAST].input_bytes, 0);
}

/* --- random layers ---------------------------------------------------------------------------- */

typedef struct {
    int m, pn, pm, buffer;
    char keys[600];
} array;

/* Two slots of the buffer hold Pm x Pn kernels of 5 x 5 of 4 bytes at least. */
static array random_array(gsl_rng *r, const char *more)
{
    array a = {(int)pick(r, 1, 6), (int)pick(r, 1, 5), (int)pick(r, 1, 6),
               (int)pick(r, 6, 80) * 1024, ""};
    snprintf(a.keys, sizeof a.keys,
             "type = \"winograd\"; clock = \"200MHz\"; m = %d; r = 3; pn = %d; pm = %d; input_port "
             "= %d; "
             "weight_port = %d; output_port = %d; weight_buffer = \"%dB\"; %s",
             a.m, a.pn, a.pm, (int)pick(r, 1, 40), (int)pick(r, 1, 40), (int)pick(r, 1, 40),
             a.buffer, more);
    return a;
}

/* Cycles of h rows, its own arithmetic. */
static int64_t expected_rows(const array *a, const th_shard *s, const char *variant, int64_t h)
{
    int64_t k = over(s->dim[TH_DIM_K], s->groups), c = over(s->dim[TH_DIM_C], s->groups);
    int64_t n = a->m + 2, w = s->dim[TH_DIM_W], taps = (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    if (strcmp(variant, "direct") != 0)
        return over(s->dim[TH_DIM_R], 3) * over(s->dim[TH_DIM_S], 3) * over(c, a->pn) *
               over(k, a->pm) * over(w, a->m);
    int64_t pixels = over(c, a->pn) * over(k, a->pm) * over(h * w * taps, n * n);
    int64_t channels = over(c, a->pn * n * n) * over(k, a->pm) * h * w * taps;
    return pixels < channels ? pixels : channels;
}

/* Input rows go in once, or once per block of output channels; outputs leave once; weights once per
 * image and group (batch, for one group), or per stripe; the cycles are the formula's whatever the
 * blocks, but for blocks of inputs. */
TEST(random_layers_move_every_byte_as_often_as_they_should)
{
    auto_rng *r = th_random_stream(31, "winograd", 0);
    int wrong = 0, by_channels = 0, decomposed = 0;
    for (int round = 0; round < 1000; round++) {
        th_shard shard = random_shard(r);
        array a = random_array(r, "");
        th_schedule s = schedule_on(a.keys, &shard);
        th_schedule_totals t = th_schedule_sum(&s);
        int64_t images = shard.dim[TH_DIM_B], e = bytes_of(&shard), rounds = images * shard.groups;
        int64_t inputs = images * shard.dim[TH_DIM_C] * shard.in_h * shard.in_w * e;
        int64_t weights = (int64_t)shard.dim[TH_DIM_K] * (shard.dim[TH_DIM_C] / shard.groups) *
                          shard.dim[TH_DIM_R] * shard.dim[TH_DIM_S] * e;
        bool per_block =
            th_schedule_loop(&s, 0) == TH_LOOP_K || th_schedule_loop(&s, 1) == TH_LOOP_K;
        bool once = per_block || s.weight_stays;
        wrong += t.input_bytes != inputs * (per_block ? s.count[TH_LOOP_K] : 1);
        wrong += t.output_bytes !=
                 images * shard.dim[TH_DIM_K] * shard.dim[TH_DIM_H] * shard.dim[TH_DIM_W] * e;
        wrong += t.weight_bytes !=
                 weights * (once ? (shard.groups == 1 ? 1 : images) : images * s.count[TH_LOOP_H]);
        wrong += rounds != s.count[TH_LOOP_B] || s.buffer_bytes[TH_TENSOR_WEIGHT] > a.buffer;
        int64_t full = shard.dim[TH_DIM_H] / a.m, rest = shard.dim[TH_DIM_H] % a.m;
        int64_t cycles = full * expected_rows(&a, &shard, s.variant, a.m) +
                         (rest ? expected_rows(&a, &shard, s.variant, rest) : 0);
        if (s.count[TH_LOOP_C] == 1 && strcmp(s.variant, "direct") != 0)
            wrong += t.cycles != rounds * cycles;
        wrong += t.cycles < rounds * cycles;
        for (int m = 0; m < TH_N_STEP_KINDS; m++)
            wrong += s.step[m].input_bytes < 0 || s.step[m].cycles < 1 ||
                     s.step[m].input_bytes + s.first_row_extra_bytes < 0;
        by_channels += per_block;
        decomposed += strcmp(s.variant, "decomposed") == 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(by_channels > 50 && decomposed > 50);
}

/* At 1 MHz a cycle is 10^6 ps, so that ends that are rounded up to a picosecond do not add up. */
TEST(the_closed_form_is_what_the_pipeline_takes)
{
    static const char *const outermost[] = {"auto", "rows", "channels"};
    auto_rng *r = th_random_stream(47, "winograd", 0);
    int wrong = 0, stays = 0, by_channels = 0, in_blocks = 0;
    for (int round = 0; round < 1000; round++) {
        char more[100];
        snprintf(more, sizeof more, "clip = false; outermost = \"%s\"; ", outermost[pick(r, 0, 2)]);
        th_shard shard = random_shard(r);
        array a = random_array(r, more);
        memcpy(strstr(a.keys, "200MHz"), "001MHz", strlen("001MHz"));
        th_schedule s = schedule_on(a.keys, &shard);
        wrong += fabs(simulated_cycles(&s) - closed_form_of(a.keys, &shard)) > 0.5;
        stays += s.input_stays && s.weight_stays;
        by_channels += !s.input_stays;
        in_blocks += s.count[TH_LOOP_C] > 1;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(stays > 100 && by_channels > 100 && in_blocks > 10);
}

/* One image, weights that stay, N stripes: first load max(A, W), then a, c, o each. The first
 * stripe is 6 rows of 110/2 = 55 elements, weights 900, t_c 27, stores 20*4*9 = 720. Port 40, 40,
 * 40: A 8.25, W 22.5, a 5.5, o 18: the array is the bottleneck, W + 3*27 + 18. Output port 10: o 72
 * is: W + 27 + 3*72. Input port 2: a 110, A 165: A + 2*110 + 27 + 18. */
TEST(the_closed_form_by_hand)
{
    th_shard shard = conv_shard(1, 20, 5, 10, 9, 3);
    CU_ASSERT_DOUBLE_EQUAL(closed_form_of(WINOGRAD("4", "64KiB") "clip = false; ", &shard),
                           22.5 + 81 + 18, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(
        closed_form_of("type = \"winograd\"; clock = \"1MHz\"; m = 4; r = 3; pn = 2; pm = "
                       "8; input_port = 40; weight_port = 40; output_port = 10; "
                       "weight_buffer = \"64KiB\"; ",
                       &shard),
        22.5 + 27 + 3 * 72, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(
        closed_form_of("type = \"winograd\"; clock = \"1MHz\"; m = 4; r = 3; pn = 2; pm = "
                       "8; input_port = 2; weight_port = 40; output_port = 40; "
                       "weight_buffer = \"64KiB\"; ",
                       &shard),
        165 + 2 * 110 + 27 + 18, 1e-9);
    CU_ASSERT_TRUE(isnan(closed_form_of(WINOGRAD("4", "500B"), &shard))); /* does not fit */
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* 10 rows of 110 bytes; weights: 2 slots of 8 x 2 channels of 3 x 3. */
TEST(refuses_layers_that_do_not_fit)
{
    th_shard shard = conv_shard(1, 20, 5, 10, 9, 3);
    assert_unfit(WINOGRAD("4", "64KiB") "line_buffer = \"1099B\"; ", &shard, "SIM-0060",
                 "winograd: inputs: the rows of a stripe, 11 x 5 channels, need 1100 bytes, "
                 "line_buffer has 1099: 1 bytes are missing");
    assert_unfit(WINOGRAD("4", "500B"), &shard, "SIM-0061",
                 "winograd: weights: 2 blocks of 8 x 2 channels need 576 bytes, weight_buffer has "
                 "500: 76 bytes are missing");
    schedule_on(WINOGRAD("4", "576B") "line_buffer = \"1100B\"; ", &shard);
}

TAP_MAIN("winograd")
