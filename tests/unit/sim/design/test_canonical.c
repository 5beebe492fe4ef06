/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/design/compute_cost.h"
#include "tests/unit/design_help.h"

#define WINOGRAD                                                                                   \
    "type = \"winograd\"; clock = \"200MHz\"; m = 4; r = 3; pn = 2; pm = 8; input_port = 40; "     \
    "weight_port = 40; output_port = 40; weight_buffer = \"1MiB\"; "
#define SYSTOLIC                                                                                   \
    "type = \"systolic_vec\"; clock = \"200MHz\"; rows = 8; cols = 4; vec = 4; input_port = 40; "  \
    "weight_port = 40; output_port = 40; "
#define TILED                                                                                      \
    "type = \"tiled\"; clock = \"200MHz\"; tile_k = 8; tile_c = 4; tile_h = 5; tile_w = 4; "       \
    "input_port = 2; weight_port = 3; output_port = 2.5; "

static th_schedule planned(const char *keys, const th_shard *shard)
{
    auto_system *s = system_with(keys);
    const th_design_type *type = NULL;
    th_design_config config;
    th_error e = {"", ""};
    th_schedule out = {0};
    CU_ASSERT_EQUAL_FATAL(th_design_configure(&s->designs[0], &type, &config, &e), 0);
    CU_ASSERT_EQUAL(th_design_schedule(type, &config, shard, &fast_memory, &out, &e), 0);
    th_design_release(type, &config);
    return out;
}

/* 6 -> 5 channels, 4 x 4 at up 2, 7 x 7 to 14 x 14: 4 phases of 2 x 2 on 7 x 7. */
static th_shard transposed(void)
{
    th_shard s = conv_shard(3, 5, 6, 14, 14, 4);
    s.up_h = s.up_w = 2;
    s.in_h = s.in_w = 7;
    s.products_h = s.products_w = 7 * 4;
    return s;
}

/* expected: B, K, C, H, W, R, S */
static void assert_dims(const th_shard *s, const int32_t *expected)
{
    CU_ASSERT_EQUAL(memcmp(s->dim, expected, sizeof s->dim), 0);
}

TEST(phases_become_output_channels)
{
    th_shard s = transposed(), out;
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 0, &out, NULL), 0);
    assert_dims(&out, (const int32_t[]){3, 20, 6, 7, 7, 2, 2});
    CU_ASSERT_TRUE(out.up_h == 1 && out.up_w == 1 && out.in_h == 7 && out.stride_h == 1);
    CU_ASSERT_EQUAL(th_shard_macs(&out), th_shard_macs(&s)); /* 3*5*6*7*7*16 */
    CU_ASSERT_EQUAL(th_shard_macs(&s), 70560);
    /* 3 x 2 kernel, up 2 x 3, 13 x 14: 6 phases of ceil(3/2) x ceil(2/3) on 7 x 5, and 36 products
     * per channel and pixel of a phase pair where 36/6 * 13*14/35 are real. */
    s.dim[TH_DIM_R] = 3;
    s.dim[TH_DIM_S] = 2;
    s.dim[TH_DIM_H] = 13;
    s.up_w = 3;
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 0, &out, NULL), 0);
    assert_dims(&out, (const int32_t[]){3, 30, 6, 7, 5, 2, 1});
    /* no shard of these: nothing changes */
    th_shard plain = conv_shard(1, 2, 3, 4, 5, 3);
    CU_ASSERT_EQUAL(th_canonical_shard(&plain, 0, &out, NULL), 0);
    CU_ASSERT_EQUAL(memcmp(&plain, &out, sizeof out), 0);
}

/* Dilation 3 at up 2 visits both phases, every 2nd tap 3 input rows on; dilation 2 meets inputs in
 * one of two phases only and is left whole; dilation 2 at up 4 has 2 phases, dilated by 1. */
TEST(dilated_kernels_have_fewer_phases)
{
    th_shard s = transposed(), out;
    s.dilation_h = 3;
    s.dilation_w = 2;
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 0, &out, NULL), 0);
    assert_dims(&out, (const int32_t[]){3, 10, 6, 7, 14, 2, 4});
    CU_ASSERT_TRUE(out.dilation_h == 3 && out.dilation_w == 1);
    s.up_w = 4;
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 0, &out, NULL), 0);
    assert_dims(&out, (const int32_t[]){3, 20, 6, 7, 7, 2, 2});
    s.up_h = 6; /* 3 divides both */
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 0, &out, NULL), 0);
    assert_dims(&out, (const int32_t[]){3, 20, 6, 7, 7, 2, 2});
    CU_ASSERT_EQUAL(out.dilation_h, 1);
}

/* Every real product is counted by the phases, over 2,000 kernels: rows of output h, kernel row r
 * meet the input where h - pad + r dilation is a multiple of up. */
TEST(no_product_is_lost)
{
    auto_rng *r = th_random_stream(41, "plain", 0);
    int lost = 0;
    for (int round = 0; round < 2000; round++) {
        int up = (int)pick(r, 1, 5), kernel = (int)pick(r, 1, 6), dilation = (int)pick(r, 1, 4);
        int h = (int)pick(r, 1, 20), pad = (int)pick(r, 0, 5), real = 0;
        for (int y = 0; y < h; y++)
            for (int k = 0; k < kernel; k++)
                real += (y - pad + k * dilation) % up == 0;
        th_shard s = conv_shard(1, 1, 1, h, 1, 1), out;
        s.dim[TH_DIM_R] = kernel;
        s.up_h = up;
        s.dilation_h = dilation;
        CU_ASSERT_EQUAL(th_canonical_shard(&s, 0, &out, NULL), 0);
        lost += (int64_t)out.dim[TH_DIM_K] * out.dim[TH_DIM_H] * out.dim[TH_DIM_R] < real;
        lost += out.dim[TH_DIM_K] * out.dim[TH_DIM_H] < h;
    }
    CU_ASSERT_EQUAL(lost, 0);
}

/* LSTM of 12 inputs, 10 units, 7 steps, 2 rows: 7 "images" of 2 rows of 22 elements, 40 columns. On
 * winograd, direct, 2 * 36 input channels and 8 output channels at once: ceil(22/72)*ceil(40/8)
 * = 5 cycles for each of 2 rows; weights 40*22*2 bytes, once. A GRU has 3 gates. */
TEST(time_steps_become_images)
{
    th_shard s = conv_shard(2, 10, 12, 7, 1, 1), out;
    s.kind = TH_LAYER_LSTM;
    s.in_h = 7;
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 1u << TH_LAYER_GRU, &out, NULL), 0);
    assert_dims(&out, (const int32_t[]){7, 40, 22, 2, 1, 1, 1});
    CU_ASSERT_TRUE(out.kind == TH_LAYER_MATMUL && out.in_h == 2 && out.in_w == 1);
    CU_ASSERT_EQUAL(th_shard_macs(&out), th_shard_macs(&s));
    CU_ASSERT_EQUAL(th_shard_macs(&s), 7 * 2 * 40 * 22);
    th_schedule schedule = planned(WINOGRAD, &s);
    th_schedule_totals t = th_schedule_sum(&schedule);
    CU_ASSERT_TRUE(t.cycles == 7 * 2 * 5 && t.weight_bytes == 1760 &&
                   t.input_bytes == 7 * 2 * 22 * 2 && t.output_bytes == 7 * 2 * 40 * 2);
    s.kind = TH_LAYER_GRU;
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 1u << TH_LAYER_GRU, &out, NULL), 0);
    CU_ASSERT_EQUAL(memcmp(&s, &out, sizeof out), 0);
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 0, &out, NULL), 0);
    assert_dims(&out, (const int32_t[]){7, 30, 22, 2, 1, 1, 1});
}

TEST(refuses_what_does_not_fit_an_extent)
{
    th_shard s = transposed(), out;
    th_error e = {"", ""};
    s.dim[TH_DIM_K] = 600000000;
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 0, &out, &e), -1);
    TAP_ASSERT_ERROR(e, "SIM-0070",
                     "a transposed convolution of 600000000 channels and 2 x 2 phases: must be "
                     "2147483647 at most together");
    s.kind = TH_LAYER_LSTM;
    CU_ASSERT_EQUAL(th_canonical_shard(&s, 0, &out, &e), -1);
    TAP_ASSERT_ERROR(e, "SIM-0071",
                     "a recurrent layer of 6 inputs and 600000000 units: its gates and its "
                     "inputs must be 2147483647 at most each");
}

/* 4 images of 6 x 8 times 8 x 16 in 2 heads: with weights one matrix of 16*4 elements serves all, a
 * second input is another one in every image. */
TEST(a_second_input_is_loaded_for_every_image)
{
    const char *const keys[] = {WINOGRAD, SYSTOLIC, TILED};
    for (int i = 0; i < 3; i++) {
        th_shard s = conv_shard(4, 16, 8, 6, 1, 1);
        s.kind = TH_LAYER_MATMUL;
        th_schedule once = planned(keys[i], &s);
        s.n_operands = 2;
        th_schedule each = planned(keys[i], &s);
        CU_ASSERT_TRUE(th_schedule_sum(&each).weight_bytes >= 4 * 16 * 8 * 2);
        CU_ASSERT_EQUAL(each.weight_stays & 1u << TH_LOOP_B, 0);
        if (i == 0)
            CU_ASSERT_EQUAL(th_schedule_sum(&once).weight_bytes, 16 * 8 * 2);
    }
}

/* 32 channels, 9 x 8, 3 x 3. Depthwise, an 8 x 4 x 4 array has one row and one lane of vec at
 * work: 32 passes of ceil(8/4) W blocks, 9*9 cycles each; dense with the same channels takes 4 *
 * 2 * 8 * 81, for 32 times the products. In groups of 2 channels, 16 passes of the same length.
 */
TEST(narrow_groups_leave_the_array_idle)
{
    th_shard s = conv_shard(1, 32, 32, 9, 8, 3);
    th_schedule dense = planned(SYSTOLIC, &s);
    s.groups = 32;
    th_schedule depthwise = planned(SYSTOLIC, &s);
    s.groups = 16;
    th_schedule pairs = planned(SYSTOLIC, &s);
    int64_t fills = 12;
    CU_ASSERT_EQUAL(th_schedule_sum(&dense).cycles - th_schedule_sum(&depthwise).cycles,
                    4 * 2 * 8 * 81 - 32 * 2 * 81 + (dense.start_cycles ? 0 : fills * (8 - 64)));
    CU_ASSERT_EQUAL(2 * (th_schedule_sum(&pairs).cycles - pairs.start_cycles),
                    th_schedule_sum(&depthwise).cycles - depthwise.start_cycles);
    s.groups = 32; /* tiled: 32 rounds of one 1-channel tile each, 5 x 4 pixels */
    th_schedule tiles = planned(TILED, &s);
    CU_ASSERT_EQUAL(th_schedule_sum(&tiles).cycles, 32 * 9 * 9 * 8);
}

/* Through the memo: a transposed convolution costs what its phases cost, and stays what it is. */
TEST(the_memo_asks_for_plain_shards)
{
    auto_system *system = system_with(TILED);
    auto_costs *w = th_compute_cost_cache_new(system, NULL);
    th_shard s = transposed(), phases = conv_shard(3, 20, 6, 7, 7, 2);
    phases.in_h = phases.in_w = 7;
    int32_t a = th_compute_cost_lookup(w, 0, 0, &s, NULL),
            b = th_compute_cost_lookup(w, 0, 0, &phases, NULL);
    CU_ASSERT_TRUE(a == 0 && b == 1);
    CU_ASSERT_EQUAL(th_compute_cost_get(w, 0)->collapsed_ps,
                    th_compute_cost_get(w, 1)->collapsed_ps);
    CU_ASSERT_EQUAL(th_compute_cost_get(w, 0)->shard.up_h, 2);
    s.dim[TH_DIM_K] = 600000000;
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 0, 0, &s, NULL), -1);
}

TAP_MAIN("canonical")
