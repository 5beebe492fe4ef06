/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "workloads/layer.h"
#include "tests/unit/tap.h"
#include "tests/unit/workload_help.h"

/* A conv of 6 -> 4 channels over 13 x 9 pixels: kernel 3 x 2, stride 2 x 3, padding 2 x 1 (top,
 * left), dilation 2 x 1. Bottom and right padding 2 and 1, so
 *   H = floor((13 + 4 - 2 * 2 - 1) / 2) + 1 = 7,   W = floor((9 + 2 - 1 * 1 - 1) / 3) + 1 = 4. */
static th_layer small_conv(void)
{
    th_layer l = th_layer_over(TH_LAYER_CONV, 2, 4, 7, 4, TH_FP16);
    l.dim[TH_DIM_C] = 6;
    l.dim[TH_DIM_R] = 3;
    l.dim[TH_DIM_S] = 2;
    l.in_h = 13, l.in_w = 9;
    l.stride_h = 2, l.stride_w = 3;
    l.pad_top = 2, l.pad_left = 1;
    l.dilation_h = 2;
    return l;
}

static void expect_box(th_box got, th_box expected, int line)
{
    if (!th_box_equal(&got, &expected))
        CU_assertImplementation(CU_FALSE, (unsigned)line, "box differs", __FILE__, "", CU_FALSE);
}
#define EXPECT_BOX(got, ...) expect_box((got), (th_box){__VA_ARGS__}, __LINE__)

/* weights = 4 * 6 * 3 * 2 = 144; MACs = 144 * B * H * W = 144 * 2 * 7 * 4 = 8064;
 * parameters = 144 + 4 (bias) + 2 * 4 (norm) = 156; input 2 * 6 * 13 * 9 = 1404; output 2 * 4 * 28
 * = 224. */
TEST(counts_what_a_conv_needs)
{
    th_layer l = small_conv();
    l.has_bias = l.has_norm = true;
    CU_ASSERT_EQUAL(th_layer_weights(&l), 144);
    CU_ASSERT_EQUAL(th_layer_macs(&l), 8064);
    CU_ASSERT_EQUAL(th_layer_parameters(&l), 156);
    CU_ASSERT_EQUAL(first_input_elements(&l), 1404);
    CU_ASSERT_EQUAL(th_layer_output_elements(&l), 224);
}

/* Two groups: each output channel sees 3 of 6 inputs: 4 * 3 * 3 * 2 = 72 weights, 72 * 56 = 4032
 * MACs. */
TEST(counts_groups_once)
{
    th_layer l = small_conv();
    l.groups = 2;
    CU_ASSERT_EQUAL(th_layer_weights(&l), 72);
    CU_ASSERT_EQUAL(th_layer_macs(&l), 4032);
}

/* M x N x K = 5 x 7 x 3 for a batch of 2: 7 * 3 = 21 weights, 2 * 5 * 21 = 210 MACs, 7 biases. */
TEST(counts_a_matmul)
{
    th_layer l = th_layer_over(TH_LAYER_MATMUL, 2, 7, 5, 1, TH_FP16);
    l.dim[TH_DIM_C] = 3;
    l.has_bias = true;
    CU_ASSERT_EQUAL(th_layer_weights(&l), 21);
    CU_ASSERT_EQUAL(th_layer_macs(&l), 210);
    CU_ASSERT_EQUAL(th_layer_parameters(&l), 28);
    th_loop_box part = {{1, 2, 1, 2, 0, 0, 0}, {2, 5, 3, 4, 1, 1, 1}};
    EXPECT_BOX(th_layer_input_of(&l, 0, &part), {1, 1, 2, 0}, {2, 3, 4, 1});
    EXPECT_BOX(th_layer_output_of(&l, &part), {1, 2, 2, 0}, {2, 5, 4, 1});
}

TEST(knows_what_is_summed_over)
{
    th_layer conv = small_conv(), pool = small_conv();
    pool.kind = TH_LAYER_POOL;
    CU_ASSERT_TRUE(th_layer_is_reduction(&conv, TH_DIM_C) &&
                   th_layer_is_reduction(&conv, TH_DIM_S));
    CU_ASSERT_FALSE(th_layer_is_reduction(&conv, TH_DIM_K) ||
                    th_layer_is_reduction(&conv, TH_DIM_B));
    CU_ASSERT_FALSE(th_layer_is_reduction(&pool, TH_DIM_R));
    CU_ASSERT_TRUE(th_layer_is_channelwise(&pool) && !th_layer_is_channelwise(&conv));
    CU_ASSERT_EQUAL(th_layer_macs(&pool), 0);
    CU_ASSERT_EQUAL(th_layer_weights(&pool), 0);
}

/* A norm layer has scale and shift without any flag: 2 * 6. */
TEST(counts_a_norm_layer)
{
    th_layer l = {.kind = TH_LAYER_NORM,
                  .function = TH_FUNCTION_BATCH_NORM,
                  .dim = {2, 6, 6, 3, 3, 1, 1},
                  .in_h = 3,
                  .in_w = 3,
                  .groups = 1};
    CU_ASSERT_EQUAL(th_layer_parameters(&l), 12);
}

/* Rows: h in [2, 5), r in [1, 3): from 2 * 2 - 2 + 1 * 2 = 4 to 4 * 2 - 2 + 2 * 2 = 10.
 * Columns: w in [1, 3), s in [0, 2): from 1 * 3 - 1 = 2 to 2 * 3 - 1 + 1 = 6. */
TEST(reads_halos_of_stride_and_dilation)
{
    th_layer l = small_conv();
    th_loop_box part = {{1, 1, 2, 2, 1, 1, 0}, {2, 3, 5, 5, 3, 3, 2}};
    EXPECT_BOX(th_layer_input_of(&l, 0, &part), {1, 2, 4, 2}, {2, 5, 11, 7});
    EXPECT_BOX(th_layer_output_of(&l, &part), {1, 1, 2, 1}, {2, 3, 5, 3});
}

TEST(whole_loops_write_the_whole_output)
{
    th_layer l = small_conv();
    th_loop_box all = th_layer_loops(&l);
    th_box out = th_layer_output_box(&l), in = th_layer_input_box(&l, 0);
    EXPECT_BOX(th_layer_output_of(&l, &all), {0, 0, 0, 0}, {2, 4, 7, 4});
    EXPECT_BOX(out, {0, 0, 0, 0}, {2, 4, 7, 4});
    EXPECT_BOX(in, {0, 0, 0, 0}, {2, 6, 13, 9});
    all.hi[TH_DIM_S] = 0;
    EXPECT_BOX(th_layer_input_of(&l, 0, &all), {0}, {0});
    EXPECT_BOX(th_layer_output_of(&l, &all), {0}, {0});
}

/* ---- boxes ---- */

TEST(boxes_are_half_open)
{
    th_box a = {{0, 2, 3, 4}, {2, 5, 7, 9}}, b = {{1, 4, 6, 0}, {9, 9, 9, 5}},
           c = {{0, 5, 0, 0}, {9, 9, 9, 9}};
    CU_ASSERT_EQUAL(th_box_elements(&a), 2 * 3 * 4 * 5);
    EXPECT_BOX(th_box_intersect(&a, &b), {1, 4, 6, 4}, {2, 5, 7, 5});
    EXPECT_BOX(th_box_intersect(&a, &c), {0}, {0});
    th_box inner = th_box_intersect(&a, &b), nothing = th_box_intersect(&a, &c);
    CU_ASSERT_TRUE(contains(&a, &inner) && contains(&b, &inner));
    CU_ASSERT_FALSE(contains(&inner, &a));
    CU_ASSERT_TRUE(contains(&inner, &nothing));
    CU_ASSERT_FALSE(th_box_is_empty(&a));
    CU_ASSERT_FALSE(th_box_equal(&a, &b));
}

TAP_MAIN("layer")
