/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "workloads/layer.h"
#include "base/random.h"
#include "tests/unit/draw.h"
#include "tests/unit/tap.h"
#include "tests/unit/workload_help.h"
#include <string.h>

/* A conv of 6 -> 4 channels over 13 x 9 pixels: kernel 3 x 2, stride 2 x 3, padding 2 x 1 (top,
 * left), dilation 2 x 1. Bottom and right padding 2 and 1, so
 *   H = floor((13 + 4 - 2 * 2 - 1) / 2) + 1 = 7,   W = floor((9 + 2 - 1 * 1 - 1) / 3) + 1 = 4. */
static int64_t first_input_elements(const th_layer *l)
{
    const th_box box = th_layer_input_box(l, 0);
    return th_box_elements(&box);
}

static th_layer small_conv(void)
{
    return (th_layer){.name = "c",
                      .kind = TH_LAYER_CONV,
                      .dim = {2, 4, 6, 7, 4, 3, 2},
                      .in_h = 13,
                      .in_w = 9,
                      .stride_h = 2,
                      .stride_w = 3,
                      .pad_top = 2,
                      .pad_left = 1,
                      .dilation_h = 2,
                      .dilation_w = 1,
                      .groups = 1,
                      .precision = {TH_FP16, TH_FP16, TH_FP16},
                      .density = {1, 1, 1},
                      .up_h = 1,
                      .up_w = 1};
}

static void expect_box(th_box got, th_box expected, int line)
{
    if (!th_box_equal(&got, &expected))
        CU_assertImplementation(CU_FALSE, (unsigned)line, "box differs", __FILE__, "", CU_FALSE);
}
#define EXPECT_BOX(got, ...) expect_box((got), (th_box){__VA_ARGS__}, __LINE__)

TEST(names_kinds_and_dimensions)
{
    TAP_ASSERT_TEXT(th_layer_type_name(&(th_layer){.kind = TH_LAYER_CONV}), "conv");
    TAP_ASSERT_TEXT(th_layer_type_name(&(th_layer){.kind = TH_LAYER_MATMUL}), "matmul");
    TAP_ASSERT_TEXT(
        th_layer_type_name(&(th_layer){.kind = TH_LAYER_NORM, .function = TH_FUNCTION_BATCH_NORM}),
        "norm");
    TAP_ASSERT_TEXT(th_dim_letters, "BKCHWRS");
}

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
    th_layer l = {.kind = TH_LAYER_MATMUL,
                  .dim = {2, 7, 3, 5, 1, 1, 1},
                  .in_h = 5,
                  .in_w = 1,
                  .stride_h = 1,
                  .stride_w = 1,
                  .dilation_h = 1,
                  .dilation_w = 1,
                  .up_h = 1,
                  .up_w = 1,
                  .groups = 1,
                  .has_bias = true};
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

/* Row 0 reads -2, 0, 2: padding clipped off leaves [0, 3). Row 6 reads 10, 12, 14: [10, 13). */
TEST(clips_padding)
{
    th_layer l = small_conv();
    th_loop_box top = th_layer_loops(&l), bottom = top;
    top.hi[TH_DIM_H] = 1;
    bottom.lo[TH_DIM_H] = 6;
    EXPECT_BOX(th_layer_input_of(&l, 0, &top), {0, 0, 0, 0}, {2, 6, 3, 9});
    EXPECT_BOX(th_layer_input_of(&l, 0, &bottom), {0, 0, 10, 0}, {2, 6, 13, 9});
}

/* Stride 2, padding 1, kernel 1 over 6 rows: outputs 0 .. 3 read -1, 1, 3, 5. So outputs [0, 3)
 * read rows 1 and 3, not row 0 that the clipped hull [-1, 4) would hold, and output 0 alone reads
 * nothing. */
TEST(leaves_out_rows_that_only_the_hull_holds)
{
    th_layer l = {.kind = TH_LAYER_CONV,
                  .dim = {1, 2, 3, 4, 5, 1, 1},
                  .in_h = 6,
                  .in_w = 5,
                  .stride_h = 2,
                  .stride_w = 1,
                  .pad_top = 1,
                  .dilation_h = 1,
                  .dilation_w = 1,
                  .up_h = 1,
                  .up_w = 1,
                  .groups = 1};
    th_loop_box part = th_layer_loops(&l);
    part.hi[TH_DIM_H] = 3;
    EXPECT_BOX(th_layer_input_of(&l, 0, &part), {0, 0, 1, 0}, {1, 3, 4, 5});
    part.hi[TH_DIM_H] = 1;
    th_box nothing = th_layer_input_of(&l, 0, &part);
    CU_ASSERT_TRUE(th_box_is_empty(&nothing));
    CU_ASSERT_EQUAL(th_box_elements(&nothing), 0);
}

/* 6 inputs and 9 outputs in 3 groups: outputs [2, 5) lie in groups 0 and 1, which read inputs [0,
 * 4). */
TEST(reads_the_channels_of_the_groups_it_touches)
{
    th_layer l = small_conv();
    l.dim[TH_DIM_K] = 9;
    l.groups = 3;
    th_loop_box part = th_layer_loops(&l);
    part.lo[TH_DIM_K] = 2;
    part.hi[TH_DIM_K] = 5;
    EXPECT_BOX(th_layer_input_of(&l, 0, &part), {0, 0, 0, 0}, {2, 4, 13, 9});
    part.lo[TH_DIM_K] = 6;
    part.hi[TH_DIM_K] = 7;
    EXPECT_BOX(th_layer_input_of(&l, 0, &part), {0, 4, 0, 0}, {2, 6, 13, 9});
}

/* A pool reads its own channels. 3 x 3, stride 2 over 7 x 7: row 1 reads [2, 5). */
TEST(pools_channel_by_channel)
{
    th_layer l = {.kind = TH_LAYER_POOL,
                  .dim = {1, 8, 8, 3, 3, 3, 3},
                  .in_h = 7,
                  .in_w = 7,
                  .stride_h = 2,
                  .stride_w = 2,
                  .dilation_h = 1,
                  .dilation_w = 1,
                  .up_h = 1,
                  .up_w = 1,
                  .groups = 1};
    th_loop_box part = th_layer_loops(&l);
    part.lo[TH_DIM_K] = 3;
    part.hi[TH_DIM_K] = 5;
    part.lo[TH_DIM_H] = 1;
    part.hi[TH_DIM_H] = 2;
    EXPECT_BOX(th_layer_input_of(&l, 0, &part), {0, 3, 2, 0}, {1, 5, 5, 7});
}

/* An fc over 5 x 6 x 4: half of its kernel rows reads half of the input rows. */
TEST(reads_an_fc_through_its_kernel)
{
    th_layer l = {.kind = TH_LAYER_FC,
                  .dim = {2, 10, 5, 1, 1, 6, 4},
                  .in_h = 6,
                  .in_w = 4,
                  .stride_h = 1,
                  .stride_w = 1,
                  .dilation_h = 1,
                  .dilation_w = 1,
                  .up_h = 1,
                  .up_w = 1,
                  .groups = 1};
    th_loop_box part = th_layer_loops(&l);
    part.lo[TH_DIM_R] = 3;
    EXPECT_BOX(th_layer_input_of(&l, 0, &part), {0, 0, 3, 0}, {2, 5, 6, 4});
    CU_ASSERT_EQUAL(th_layer_macs(&l), 2 * 10 * 5 * 24);
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

/* ---- against enumeration ---- */

typedef struct axis_case {
    int size, stride, pad, dilation, h0, h1, r0, r1;
} axis_case;

/* lo and hi of all rows that are not padding, by trying every pair; both 0 when there is none. */
static void enumerate_rows(const axis_case *a, int *lo, int *hi)
{
    *lo = a->size;
    *hi = 0;
    for (int h = a->h0; h < a->h1; h++)
        for (int r = a->r0; r < a->r1; r++) {
            int y = h * a->stride - a->pad + r * a->dilation;
            if (y >= 0 && y < a->size && y < *lo)
                *lo = y;
            if (y >= 0 && y < a->size && y + 1 > *hi)
                *hi = y + 1;
        }
    if (*hi == 0)
        *lo = 0;
}

static axis_case draw_axis(gsl_rng *r, int *n_out, int *kernel)
{
    axis_case a = {.size = draw(r, 1, 12),
                   .stride = draw(r, 1, 4),
                   .pad = draw(r, 0, 9),
                   .dilation = draw(r, 1, 4)};
    *n_out = draw(r, 1, 9);
    *kernel = draw(r, 1, 6);
    a.h0 = draw(r, 0, *n_out - 1);
    a.h1 = draw(r, a.h0 + 1, *n_out);
    a.r0 = draw(r, 0, *kernel - 1);
    a.r1 = draw(r, a.r0 + 1, *kernel);
    return a;
}

static int agrees_with_enumeration(gsl_rng *r)
{
    int h, kernel_h, w, kernel_w, lo[2], hi[2];
    axis_case y = draw_axis(r, &h, &kernel_h), x = draw_axis(r, &w, &kernel_w);
    th_layer l = {.kind = TH_LAYER_CONV,
                  .dim = {1, 1, 1, h, w, kernel_h, kernel_w},
                  .in_h = y.size,
                  .in_w = x.size,
                  .stride_h = y.stride,
                  .stride_w = x.stride,
                  .pad_top = y.pad,
                  .pad_left = x.pad,
                  .dilation_h = y.dilation,
                  .dilation_w = x.dilation,
                  .up_h = 1,
                  .up_w = 1,
                  .groups = 1};
    th_loop_box part = {{0, 0, 0, y.h0, x.h0, y.r0, x.r0}, {1, 1, 1, y.h1, x.h1, y.r1, x.r1}};
    th_box got = th_layer_input_of(&l, 0, &part);
    enumerate_rows(&y, &lo[0], &hi[0]);
    enumerate_rows(&x, &lo[1], &hi[1]);
    if (hi[0] == 0 || hi[1] == 0)
        return th_box_is_empty(&got);
    th_box expected = {{0, 0, lo[0], lo[1]}, {1, 1, hi[0], hi[1]}};
    return th_box_equal(&got, &expected);
}

TEST(reads_what_enumeration_says)
{
    gsl_rng *r = th_random_stream(5, "layer geometry", 0);
    int n_wrong = 0;
    for (int i = 0; i < 200000; i++)
        n_wrong += !agrees_with_enumeration(r);
    CU_ASSERT_EQUAL(n_wrong, 0);
    gsl_rng_free(r);
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
