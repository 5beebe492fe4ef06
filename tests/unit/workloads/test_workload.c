/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "workloads/workload.h"
#include "base/alloc.h"
#include "tests/unit/tap.h"
#include "tests/unit/workload_help.h"

/* A workload of 3 x 8 x 6 inputs, batch 2. */
static th_workload *new_workload(void)
{
    return th_workload_new("net", "net.cfg", &(th_workload_input){2, 3, 8, 6, TH_FP16}, NULL);
}

/* A 1 x 1 conv of c -> k channels that keeps 8 x 6 pixels; line 10 + its index. */
static th_layer conv_of(char *name, int c, int k, int32_t *input)
{
    th_layer l = th_layer_over(TH_LAYER_CONV, 2, c, 8, 6, TH_FP16);
    l.name = name;
    l.dim[TH_DIM_K] = k;
    l.inputs = input;
    l.n_inputs = 1;
    l.line = 10;
    return l;
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
    auto_workload *w = new_diamond();
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
}

/* MACs: 48 pixels * batch 2 * (3 * 5 + 5 * 5 + 5 * 5 + 3 * 4) = 96 * 77 = 7392; parameters 77. */
TEST(sums_over_layers)
{
    auto_workload *w = new_diamond();
    CU_ASSERT_EQUAL(th_workload_macs(w), 7392);
    CU_ASSERT_EQUAL(parameters_of(w), 77);
    CU_ASSERT_EQUAL(th_workload_find(w, "sum"), 3);
    CU_ASSERT_EQUAL(th_workload_find(w, "nobody"), -1);
}

/* "last" is written first, its producer third: the producer moves in front of it, nothing else
 * does. */
TEST(sorts_but_keeps_the_order_where_it_can)
{
    auto_workload *w = new_workload();
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
}

TEST(sorts_a_long_chain_written_backwards)
{
    enum { LENGTH = 20000 };
    char name[16];
    auto_workload *w = new_workload();
    for (int i = 0; i < LENGTH; i++) {
        snprintf(name, sizeof name, "l%d", i);
        add_conv(w, name, 3, 3, i + 1 < LENGTH ? i + 1 : TH_EXTERNAL_INPUT);
    }
    CU_ASSERT_EQUAL(th_workload_finish(w, NULL), 0);
    TAP_ASSERT_TEXT(w->layers[0].name, "l19999");
    TAP_ASSERT_TEXT(w->layers[LENGTH - 1].name, "l0");
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
    expect_refusal(new_workload(), "WORK-0005", "net.cfg: no layers: must have at least one");
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

/* One conv of 3 -> 4 channels after these changes. */
#define REFUSED(ID, TEXT, ...)                                                                     \
    do {                                                                                           \
        th_workload *w = new_workload();                                                           \
        add_conv(w, "a", 3, 4, TH_EXTERNAL_INPUT);                                                 \
        th_layer *l = &w->layers[0];                                                               \
        __VA_ARGS__;                                                                               \
        expect_refusal(w, ID, "net.cfg:10: layer \"a\": " TEXT);                                   \
    } while (0)
#define KIND(KIND_OF, CHANNELS) l->kind = KIND_OF, l->dim[TH_DIM_K] = CHANNELS
#define POOL                    KIND(TH_LAYER_POOL, 3)

TEST(refuses_numbers)
{
    REFUSED("WORK-0008", "S = 0: must be from 1 to 268435456", l->dim[TH_DIM_S] = 0);
    REFUSED("WORK-0009", "input of -3 x 6: must be from 1 to 268435456", l->in_h = -3);
    REFUSED("WORK-0010",
            "stride 1 x 0, dilation 1 x 1, padding 0 x 0: stride and dilation must be at least 1, "
            "padding at least 0",
            l->stride_w = 0);
    REFUSED("WORK-0011", "2.08e+19 loop steps over 288 inputs: at most 2^53 of each are supported",
            l->dim[TH_DIM_K] = l->dim[TH_DIM_R] = 1 << 28);
    REFUSED("WORK-0012",
            "2 groups do not divide 3 input and 4 output channels of a layer of kind conv",
            l->groups = 2);
    REFUSED("WORK-0012",
            "3 groups do not divide 3 input and 3 output channels of a layer of kind max_pool",
            POOL, l->groups = 3);
    REFUSED("WORK-0014", "batch 7: the workload has 2", l->dim[TH_DIM_B] = 7);
    REFUSED("WORK-0015",
            "reads 9 x 8 x 6 (channels x height x width), but \"input\" makes 3 x 8 x 6",
            l->dim[TH_DIM_C] = 9);
    REFUSED("WORK-0030", "up-sampling of 0 x 1: must be from 1 to 268435456", l->up_h = 0);
    REFUSED("WORK-0031", "weight density 0: must be above 0 and at most 1",
            l->density[TH_TENSOR_WEIGHT] = 0);
    REFUSED("WORK-0032",
            "sparsity 1 of 2: must be of a layer that multiplies with weights and says no other "
            "weight density",
            POOL, l->sparse_n = 1, l->sparse_m = 2);
    REFUSED("WORK-0033",
            "sparsity 4 of 2: must be n of m weights that are not zero, 1 <= n <= m <= 256",
            l->sparse_n = 4, l->sparse_m = 2);
    REFUSED("WORK-0034", "precision 9: there are 9 of them",
            l->precision[TH_TENSOR_OUTPUT] = (th_precision)9);
    REFUSED("WORK-0036", "reads int4, but \"input\" makes fp16",
            l->precision[TH_TENSOR_INPUT] = TH_INT4);
}

TEST(refuses_what_a_kind_does_not_have)
{
#define NOT_OF_KIND(TEXT, ...) REFUSED("WORK-0013", "a layer of kind " TEXT, __VA_ARGS__)
    NOT_OF_KIND("fc has one output pixel and a kernel that covers the input", KIND(TH_LAYER_FC, 4));
    NOT_OF_KIND("lstm has W = R = S = 1 and as many input as output rows", KIND(TH_LAYER_LSTM, 4));
    NOT_OF_KIND("max_pool has as many output as input channels", KIND(TH_LAYER_POOL, 4));
    NOT_OF_KIND("relu has R = S = 1 and an output of the size of its input",
                KIND(TH_LAYER_ELEMENTWISE, 3), l->function = TH_FUNCTION_RELU,
                l->dim[TH_DIM_H] = 4);
    NOT_OF_KIND("conv has no zeros in its input; a conv that has them has a stride of 1",
                l->up_w = 2, l->stride_w = 3);
    NOT_OF_KIND("max_pool has no zeros in its input; a conv that has them has a stride of 1", POOL,
                l->up_h = 2);
    NOT_OF_KIND("softmax has a stride of 1 and no padding", KIND(TH_LAYER_SOFTMAX, 3),
                l->pad_left = 1);
    NOT_OF_KIND("embedding reads one channel and has a vocabulary", KIND(TH_LAYER_EMBEDDING, 4),
                l->vocabulary = 7);
    NOT_OF_KIND("slice takes channels that its input has", KIND(TH_LAYER_SLICE, 2),
                l->first_channel = 2);
    NOT_OF_KIND("conv has a function of its kind", l->function = TH_FUNCTION_RELU);
    NOT_OF_KIND("silu has a function of its kind", KIND(TH_LAYER_NORM, 3),
                l->function = TH_FUNCTION_SILU);
    NOT_OF_KIND("max_pool has no bias", POOL, l->has_bias = true);
    NOT_OF_KIND("max_pool has no norm of its own", POOL, l->has_norm = true);
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
    expect_refusal(new_concat(4, 4), "WORK-0015",
                   "net.cfg:10: layer \"c\": reads 4 x 8 x 6 (channels x height x width), but "
                   "\"input\" makes 3 x 8 x 6");
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
    expect_refusal(new_product(21, true, TH_FP16), "WORK-0015",
                   "net.cfg:10: layer \"p\": reads 6 x 7 x 1 (channels x height x width), but "
                   "\"q\" makes 6 x 8 x 1");
    expect_refusal(new_product(6, false, TH_FP16), "WORK-0015",
                   "net.cfg:10: layer \"p\": reads 6 x 2 x 1 (channels x height x width), but "
                   "\"q\" makes 6 x 8 x 1");
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
    expect_refusal(
        w, "WORK-0016",
        "net: 1.35e+16 multiply-accumulates and 1.41e+14 parameters: at most 2^53 are supported");
}

TAP_MAIN("workload")
