/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "workloads/workload.h"
#include "base/alloc.h"
#include "tests/unit/tap.h"
#include "tests/unit/workload_help.h"
#include <stdio.h>
#include <string.h>

/* A workload of 3 x 8 x 6 inputs, batch 2. */
static th_workload *new_workload(void)
{
    return th_workload_new("net", "net.cfg", &(th_workload_input){2, 3, 8, 6, TH_FP16}, NULL);
}

/* A 1 x 1 conv of c -> k channels that keeps 8 x 6 pixels; line 10 + its index. */
static th_layer conv_of(char *name, int c, int k, int32_t *input)
{
    return (th_layer){.name = name,
                      .kind = TH_LAYER_CONV,
                      .dim = {2, k, c, 8, 6, 1, 1},
                      .in_h = 8,
                      .in_w = 6,
                      .stride_h = 1,
                      .stride_w = 1,
                      .dilation_h = 1,
                      .dilation_w = 1,
                      .groups = 1,
                      .precision = {TH_FP16, TH_FP16, TH_FP16},
                      .density = {1, 1, 1},
                      .up_h = 1,
                      .up_w = 1,
                      .inputs = input,
                      .n_inputs = 1,
                      .line = 10};
}

static int add_conv(th_workload *w, const char *name, int c, int k, int input)
{
    char copy[40];
    int32_t inputs[] = {input};
    snprintf(copy, sizeof copy, "%s", name);
    th_layer l = conv_of(copy, c, k, inputs);
    l.line = 10 + w->n_layers;
    return th_workload_add_layer(w, &l, NULL);
}

static int add_sum(th_workload *w, const char *name, int c, int first, int second)
{
    char copy[40];
    int32_t inputs[] = {first, second};
    snprintf(copy, sizeof copy, "%s", name);
    th_layer l = conv_of(copy, c, c, inputs);
    l.kind = TH_LAYER_ELEMENTWISE;
    l.function = TH_FUNCTION_ADD;
    l.n_inputs = 2;
    l.line = 10 + w->n_layers;
    return th_workload_add_layer(w, &l, NULL);
}

/* in -> a -> (b, c) -> sum, and sum of sum with a twice. */
static th_workload *new_diamond(void)
{
    th_workload *w = new_workload();
    add_conv(w, "a", 3, 5, TH_EXTERNAL_INPUT);
    add_conv(w, "b", 5, 5, 0);
    add_conv(w, "c", 5, 5, 0);
    add_sum(w, "sum", 5, 1, 2);
    add_sum(w, "twice", 5, 3, 3);
    add_conv(w, "side", 3, 4, TH_EXTERNAL_INPUT);
    return w;
}

TEST(links_consumers_and_outputs)
{
    th_workload *w = new_diamond();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_workload_finish(w, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_EQUAL(w->consumer_start[1] - w->consumer_start[0], 2);
    CU_ASSERT_EQUAL(w->consumers[0], 1);
    CU_ASSERT_EQUAL(w->consumers[1], 2);
    CU_ASSERT_EQUAL(w->consumer_start[4] - w->consumer_start[3], 1); /* "twice" counts once */
    CU_ASSERT_EQUAL(w->n_outputs, 2);
    CU_ASSERT_EQUAL(w->outputs[0], 4);
    CU_ASSERT_EQUAL(w->outputs[1], 5);
    th_workload_free(w);
}

/* MACs: 48 pixels * batch 2 * (3 * 5 + 5 * 5 + 5 * 5 + 3 * 4) = 96 * 77 = 7392; parameters 77. */
TEST(sums_over_layers)
{
    th_workload *w = new_diamond();
    CU_ASSERT_EQUAL(th_workload_macs(w), 7392);
    CU_ASSERT_EQUAL(parameters_of(w), 77);
    CU_ASSERT_EQUAL(th_workload_find(w, "sum"), 3);
    CU_ASSERT_EQUAL(th_workload_find(w, "nobody"), -1);
    th_workload_free(w);
}

/* "last" is written first, its producer third: the producer moves in front of it, nothing else
 * does. */
TEST(sorts_but_keeps_the_order_where_it_can)
{
    th_workload *w = new_workload();
    add_conv(w, "last", 7, 2, 2);
    add_conv(w, "first", 3, 5, TH_EXTERNAL_INPUT);
    add_conv(w, "middle", 5, 7, 1);
    add_conv(w, "other", 3, 3, TH_EXTERNAL_INPUT);
    CU_ASSERT_EQUAL(th_workload_finish(w, NULL), 0);
    static const char *const expected[] = {"first", "middle", "last", "other"};
    for (int i = 0; i < 4; i++)
        TAP_ASSERT_TEXT(w->layers[i].name, expected[i]);
    CU_ASSERT_EQUAL(w->layers[1].inputs[0], 0);
    CU_ASSERT_EQUAL(w->layers[2].inputs[0], 1);
    CU_ASSERT_EQUAL(w->layers[3].inputs[0], TH_EXTERNAL_INPUT);
    th_workload_free(w);
}

TEST(sorts_a_long_chain_written_backwards)
{
    enum { LENGTH = 20000 };
    char name[16];
    th_workload *w = new_workload();
    for (int i = 0; i < LENGTH; i++) {
        snprintf(name, sizeof name, "l%d", i);
        add_conv(w, name, 3, 3, i + 1 < LENGTH ? i + 1 : TH_EXTERNAL_INPUT);
    }
    CU_ASSERT_EQUAL(th_workload_finish(w, NULL), 0);
    TAP_ASSERT_TEXT(w->layers[0].name, "l19999");
    TAP_ASSERT_TEXT(w->layers[LENGTH - 1].name, "l0");
    th_workload_free(w);
}

/* ---- messages ---- */

/* Finishes w, which must fail as said, and frees it. */
static void expect_refusal(th_workload *w, const char *id, const char *text)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_workload_finish(w, &e), -1);
    TAP_ASSERT_ERROR(e, id, text);
    th_workload_free(w);
}

TEST(refuses_extents_of_the_input)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_workload_new("net", NULL, &(th_workload_input){0, 3, 8, 6, TH_FP16}, &e));
    TAP_ASSERT_ERROR(e, "WORK-0001",
                     "net: batch 0, input 3 x 8 x 6: extents must be from 1 to 268435456");
}

TEST(refuses_bad_names)
{
    th_workload *w = new_workload();
    add_conv(w, "a b", 3, 3, TH_EXTERNAL_INPUT);
    expect_refusal(w, "WORK-0002",
                   "net.cfg:10: layer \"a b\": a layer's name must be printable, at most "
                   "2000 bytes, without blanks or any of \" \\ [ ] { } * ? $ ;");
    w = new_workload();
    add_conv(w, "a", 3, 3, TH_EXTERNAL_INPUT);
    add_conv(w, "a", 3, 3, 0);
    expect_refusal(
        w, "WORK-0003",
        "net.cfg:11: layer \"a\": the name is taken by the layer of line 10; names must be unique");
}

TEST(names_a_cycle)
{
    th_workload *w = new_workload();
    add_conv(w, "stem", 3, 5, TH_EXTERNAL_INPUT);
    add_sum(w, "a", 5, 0, 3);
    add_conv(w, "b", 5, 5, 1);
    add_conv(w, "c", 5, 5, 2);
    expect_refusal(w, "WORK-0004",
                   "net.cfg:11: layer \"a\": the layers form a cycle: a <- c <- b <- a");
}

TEST(refuses_an_empty_workload)
{
    expect_refusal(new_workload(), "WORK-0005", "net.cfg: no layers: at least one was expected");
}

TEST(refuses_a_wrong_number_of_inputs)
{
    th_workload *w = new_workload();
    add_sum(w, "a", 3, TH_EXTERNAL_INPUT, TH_EXTERNAL_INPUT);
    w->layers[0].n_inputs = 1;
    expect_refusal(w, "WORK-0006",
                   "net.cfg:10: layer \"a\": 1 inputs: a layer of kind add takes two or more");
    w = new_workload();
    add_conv(w, "a", 3, 3, 4);
    expect_refusal(
        w, "WORK-0007",
        "net.cfg:10: layer \"a\": input 0 is layer 4, which does not exist (there are 1)");
}

/* A workload of one conv that change() spoils. */
static th_workload *spoilt(void (*change)(th_layer *l))
{
    th_workload *w = new_workload();
    add_conv(w, "a", 3, 4, TH_EXTERNAL_INPUT);
    change(&w->layers[0]);
    return w;
}

static void no_columns(th_layer *l)
{
    l->dim[TH_DIM_S] = 0;
}

static void no_input_rows(th_layer *l)
{
    l->in_h = -3;
}

static void no_stride(th_layer *l)
{
    l->stride_w = 0;
}

static void huge(th_layer *l)
{
    l->dim[TH_DIM_K] = l->dim[TH_DIM_R] = 1 << 28;
}

static void odd_groups(th_layer *l)
{
    l->groups = 2;
}

static void fc_with_pixels(th_layer *l)
{
    l->kind = TH_LAYER_FC;
}

static void wide_lstm(th_layer *l)
{
    l->kind = TH_LAYER_LSTM;
}

static void unequal_pool(th_layer *l)
{
    l->kind = TH_LAYER_POOL;
}

static void shrinking_relu(th_layer *l)
{
    l->kind = TH_LAYER_ELEMENTWISE;
    l->function = TH_FUNCTION_RELU;
    l->dim[TH_DIM_K] = 3;
    l->dim[TH_DIM_H] = 4;
}

static void other_batch(th_layer *l)
{
    l->dim[TH_DIM_B] = 7;
}

static void more_channels(th_layer *l)
{
    l->dim[TH_DIM_C] = 9;
}

static void no_up_sampling(th_layer *l)
{
    l->up_h = 0;
}

static void wide_stuffed(th_layer *l)
{
    l->up_w = 2;
    l->stride_w = 3;
}

static void stuffed_pool(th_layer *l)
{
    l->kind = TH_LAYER_POOL;
    l->dim[TH_DIM_K] = 3;
    l->up_h = 2;
}

static void striding_softmax(th_layer *l)
{
    l->kind = TH_LAYER_SOFTMAX;
    l->dim[TH_DIM_K] = 3;
    l->pad_left = 1;
}

static void wide_embedding(th_layer *l)
{
    l->kind = TH_LAYER_EMBEDDING;
    l->vocabulary = 7;
}

static void slice_from_nowhere(th_layer *l)
{
    l->kind = TH_LAYER_SLICE;
    l->dim[TH_DIM_K] = 2;
    l->first_channel = 2;
}

static void conv_that_adds(th_layer *l)
{
    l->function = TH_FUNCTION_RELU;
}

static void norm_that_adds(th_layer *l)
{
    l->kind = TH_LAYER_NORM;
    l->function = TH_FUNCTION_SILU;
    l->dim[TH_DIM_K] = 3;
}

static void pool_with_bias(th_layer *l)
{
    l->kind = TH_LAYER_POOL;
    l->dim[TH_DIM_K] = 3;
    l->has_bias = true;
}

static void pool_with_norm(th_layer *l)
{
    l->kind = TH_LAYER_POOL;
    l->dim[TH_DIM_K] = 3;
    l->has_norm = true;
}

static void empty_weights(th_layer *l)
{
    l->density[TH_TENSOR_WEIGHT] = 0;
}

static void sparse_pool(th_layer *l)
{
    l->kind = TH_LAYER_POOL;
    l->dim[TH_DIM_K] = 3;
    l->sparse_n = 1;
    l->sparse_m = 2;
}

static void sparse_backwards(th_layer *l)
{
    l->sparse_n = 4;
    l->sparse_m = 2;
}

static void unknown_precision(th_layer *l)
{
    l->precision[TH_TENSOR_OUTPUT] = (th_precision)9;
}

static void other_precision(th_layer *l)
{
    l->precision[TH_TENSOR_INPUT] = TH_INT4;
}

static void grouped_pool(th_layer *l)
{
    l->kind = TH_LAYER_POOL;
    l->dim[TH_DIM_K] = 3;
    l->groups = 3;
}

TEST(refuses_shapes)
{
    static const struct {
        void (*change)(th_layer *l);
        const char *id, *text;
    } cases[] = {
        {no_columns, "WORK-0008", "S = 0: must be from 1 to 268435456"},
        {no_input_rows, "WORK-0009", "input of -3 x 6: must be from 1 to 268435456"},
        {no_stride, "WORK-0010",
         "stride 1 x 0, dilation 1 x 1, padding 0 x 0: stride and dilation must be at "
         "least 1, padding at least 0"},
        {huge, "WORK-0011",
         "2.08e+19 loop steps over 288 inputs: at most 2^53 of each are supported"},
        {odd_groups, "WORK-0012",
         "2 groups do not divide 3 input and 4 output channels of a layer of kind conv"},
        {fc_with_pixels, "WORK-0013",
         "a layer of kind fc has one output pixel and a kernel that covers the input"},
        {wide_lstm, "WORK-0013",
         "a layer of kind lstm has W = R = S = 1 and as many input as output rows"},
        {unequal_pool, "WORK-0013",
         "a layer of kind max_pool has as many output as input channels"},
        {shrinking_relu, "WORK-0013",
         "a layer of kind relu has R = S = 1 and an output of the size of its input"},
        {other_batch, "WORK-0014", "batch 7: the workload has 2"},
        {more_channels, "WORK-0015",
         "reads 9 x 8 x 6 (channels x height x width), but \"input\" makes 3 x 8 x 6"},
        {no_up_sampling, "WORK-0030", "up-sampling of 0 x 1: must be from 1 to 268435456"},
        {wide_stuffed, "WORK-0013",
         "a layer of kind conv has no zeros in its input; a conv that has them has a stride of 1"},
        {stuffed_pool, "WORK-0013",
         "a layer of kind max_pool has no zeros in its input; a conv that has them has a stride of "
         "1"},
        {striding_softmax, "WORK-0013", "a layer of kind softmax has a stride of 1 and no padding"},
        {wide_embedding, "WORK-0013",
         "a layer of kind embedding reads one channel and has a vocabulary"},
        {slice_from_nowhere, "WORK-0013",
         "a layer of kind slice takes channels that its input has"},
        {conv_that_adds, "WORK-0013", "a layer of kind conv has a function of its kind"},
        {norm_that_adds, "WORK-0013", "a layer of kind silu has a function of its kind"},
        {pool_with_bias, "WORK-0013", "a layer of kind max_pool has no bias"},
        {pool_with_norm, "WORK-0013", "a layer of kind max_pool has no norm of its own"},
        {empty_weights, "WORK-0031", "weight density 0: must be above 0 and at most 1"},
        {sparse_pool, "WORK-0032",
         "sparsity 1 of 2: must be of a layer that multiplies with weights and says "
         "no other weight density"},
        {sparse_backwards, "WORK-0033",
         "sparsity 4 of 2: must be n of m weights that are not zero, 1 <= n <= m <= 256"},
        {unknown_precision, "WORK-0034", "precision 9: there are 6 of them"},
        {other_precision, "WORK-0036", "reads int4, but \"input\" makes fp16"},
        {grouped_pool, "WORK-0012",
         "3 groups do not divide 3 input and 3 output channels of a layer of kind max_pool"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TH_ERROR_TEXT_MAX];
        snprintf(text, sizeof text, "net.cfg:10: layer \"a\": %s", cases[i].text);
        expect_refusal(spoilt(cases[i].change), cases[i].id, text);
    }
}

TEST(refuses_an_edge_that_does_not_fit)
{
    th_workload *w = new_workload();
    add_conv(w, "a", 3, 5, TH_EXTERNAL_INPUT);
    add_conv(w, "b", 4, 5, 0);
    expect_refusal(w, "WORK-0015",
                   "net.cfg:11: layer \"b\": reads 4 x 8 x 6 (channels x height x width), but "
                   "\"a\" makes 5 x 8 x 6");
}

/* A concat of the input, 3 channels, and "a", 5 of them. */
static th_workload *new_concat(int32_t first, int32_t second)
{
    static int32_t inputs[] = {TH_EXTERNAL_INPUT, 0};
    int32_t channels[] = {first, second};
    th_workload *w = new_workload();
    add_conv(w, "a", 3, 5, TH_EXTERNAL_INPUT);
    th_layer l = conv_of("c", 8, 8, inputs);
    l.kind = TH_LAYER_CONCAT;
    l.n_inputs = 2;
    l.input_channels = channels;
    th_workload_add_layer(w, &l, NULL);
    return w;
}

TEST(checks_every_input_of_a_concat)
{
    th_workload *w = new_concat(3, 5);
    CU_ASSERT_EQUAL(th_workload_finish(w, NULL), 0);
    th_workload_free(w);
    expect_refusal(
        new_concat(4, 4), "WORK-0015",
        "net.cfg:10: layer \"c\": reads 4 x 8 x 6 (channels x height x width), but \"input\" makes "
        "3 x 8 x 6");
    static const char *const text = "net.cfg:10: layer \"c\": a layer of kind concat has as many "
                                    "channels as its inputs together";
    expect_refusal(new_concat(3, 4), "WORK-0013", text);
    expect_refusal(new_concat(9, -1), "WORK-0013", text);
    w = new_concat(3, 5);
    th_free(w->layers[1].input_channels);
    w->layers[1].input_channels = NULL;
    expect_refusal(w, "WORK-0013", text);
}

/* Queries of 6 channels in 3 heads over 8 rows, keys of as many: 3 * 8 columns; "v" holds 8 rows.
 */
static th_workload *new_product(int32_t columns, bool is_transposed, th_precision second)
{
    static int32_t inputs[] = {0, 0};
    th_workload *w =
        th_workload_new("net", "net.cfg", &(th_workload_input){2, 6, 8, 1, TH_FP16}, NULL);
    th_layer q = conv_of("q", 6, 6, inputs), l = conv_of("p", 6, columns, inputs);
    q.dim[TH_DIM_W] = q.in_w = l.dim[TH_DIM_W] = l.in_w = 1;
    q.inputs = (int32_t[]){TH_EXTERNAL_INPUT};
    l.kind = TH_LAYER_MATMUL;
    l.n_inputs = 2;
    l.groups = 3;
    l.is_transposed = is_transposed;
    l.precision[TH_TENSOR_WEIGHT] = second;
    th_workload_add_layer(w, &q, NULL);
    th_workload_add_layer(w, &l, NULL);
    return w;
}

TEST(checks_both_inputs_of_a_matmul)
{
    th_workload *w = new_product(24, true, TH_FP16);
    CU_ASSERT_EQUAL(th_workload_finish(w, NULL), 0);
    th_workload_free(w);
    expect_refusal(
        new_product(21, true, TH_FP16), "WORK-0015",
        "net.cfg:10: layer \"p\": reads 6 x 7 x 1 (channels x height x width), but \"q\" makes "
        "6 x 8 x 1");
    expect_refusal(
        new_product(6, false, TH_FP16), "WORK-0015",
        "net.cfg:10: layer \"p\": reads 6 x 2 x 1 (channels x height x width), but \"q\" makes "
        "6 x 8 x 1");
    expect_refusal(
        new_product(24, true, TH_INT8), "WORK-0035",
        "net.cfg:10: layer \"p\": multiplies fp16 with int8: its inputs must have one precision");
}

/* Each layer is 2^25 * 2^21 * 96 loop steps = 2^51 * 3, below 2^53; three of them are not. */
TEST(refuses_totals_that_no_double_holds)
{
    th_workload *w =
        th_workload_new("net", NULL, &(th_workload_input){2, 1 << 21, 8, 6, TH_FP16}, NULL);
    for (int i = 0; i < 2; i++) {
        add_conv(w, i ? "b" : "a", 1 << 21, 1 << 25, TH_EXTERNAL_INPUT);
    }
    expect_refusal(w, "WORK-0016",
                   "net: 1.35e+16 multiply-accumulates and 1.41e+14 parameters: at most 2^53 "
                   "are supported");
}

/* ---- memory ---- */

static int build(void)
{
    th_workload *w =
        th_workload_new("net", "net.cfg", &(th_workload_input){2, 3, 8, 6, TH_FP16}, NULL);
    int status = w && add_conv(w, "a", 3, 5, TH_EXTERNAL_INPUT) >= 0 &&
                         add_conv(w, "b", 5, 5, 0) >= 0 && add_sum(w, "c", 5, 1, 0) >= 0
                     ? th_workload_finish(w, NULL)
                     : -1;
    th_workload_free(w);
    return status;
}

TAP_MAIN("workload")
