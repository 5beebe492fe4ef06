/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX models: what their nodes become. */
#include <config.h>
#define ONNX_MODEL_FILE "test_onnx_read.tmp.onnx"
#include "tests/unit/draw.h"
#include "tests/unit/onnx_model.h"
#include "tests/unit/workload_help.h"

/* ---- what nodes become ----------------------------------------------------------------------- */

/* Bias, batch norm and activation become part of the product before them. */
TEST(a_network_is_read)
{
    begin("2,3,32,24");
    weights("w1", "16,3,3,3");
    weights("b1", "16");
    weights("w2", "16,4,3,5");
    weights("w3", "10,1536");
    weights("b3", "10");
    node("Conv", "x w1 b1", "a", "kernel_shape=3,3 pads=1,1,1,1 strides=2,2");
    node("BatchNormalization", "a - - - -", "b", "");
    node("Relu", "b", "c", "");
    node("Conv", "c w2", "d", "group=4 dilations=2,1 auto_pad=SAME_LOWER");
    node("Sum", "c d", "e", "");
    node("LeakyRelu", "e", "f", "");
    node("MaxPool", "f", "g", "kernel_shape=2,2 strides=2,2 ceil_mode=1");
    node("Dropout", "g", "h", "");
    node("Flatten", "h", "i", "")->name = keep("flat one", 8);
    weights("w4", "768,768");
    node("MatMul", "i w4", "i2", "")->name = keep("all of [it]", 11);
    weights("b4", "768");
    node("Add", "i2 b4", "i3", "");
    node("Tanh", "i3", "i4", "");
    weights("w5", "10,768");
    node("Gemm", "i4 w5 b3", "j", "transB=1");
    node("Softmax", "j", "k", "");
    auto_workload *w = read_model();
    CU_ASSERT_TRUE(w->n_layers == 7 && w->batch == 2 && w->precision == TH_FP32);
    TAP_ASSERT_TEXT(w->name, "test_onnx_read.tmp");
    CU_ASSERT_TRUE(is_layer(w, 0, (expected_layer){"a", "conv", 16, 16, 12}) &&
                   is_layer(w, 1, (expected_layer){"d", "conv", 16, 16, 12}));
    CU_ASSERT_TRUE(is_layer(w, 2, (expected_layer){"e", "add", 16, 16, 12}) &&
                   is_layer(w, 3, (expected_layer){"g", "max_pool", 16, 8, 6}));
    CU_ASSERT_TRUE(is_layer(w, 4, (expected_layer){"all_of__it_", "fc", 768, 1, 1}) &&
                   is_layer(w, 5, (expected_layer){"j", "fc", 10, 1, 1}));
    CU_ASSERT_TRUE(is_layer(w, 6, (expected_layer){"k", "softmax", 10, 1, 1}));
    const th_layer *a = &w->layers[0], *d = &w->layers[1], *fc = &w->layers[4];
    CU_ASSERT_TRUE(a->has_bias && a->has_norm && !d->has_bias && !d->has_norm && fc->has_bias);
    CU_ASSERT_TRUE(a->pad_top == 1 && a->stride_w == 2 && d->groups == 4 && d->dilation_h == 2 &&
                   d->dilation_w == 1);
    CU_ASSERT_TRUE(d->dim[TH_DIM_R] == 3 && d->dim[TH_DIM_S] == 5 && d->pad_top == 2 &&
                   d->pad_left == 2);
    CU_ASSERT_TRUE(fc->dim[TH_DIM_C] == 16 && fc->dim[TH_DIM_R] == 8 && fc->dim[TH_DIM_S] == 6);
    CU_ASSERT_TRUE(w->layers[2].inputs[0] == 0 && w->layers[2].inputs[1] == 1);
    CU_ASSERT_EQUAL(th_layer_macs(a), (int64_t)2 * 16 * 3 * 9 * 16 * 12);
}

/* ... but not where something else reads that as well, and not behind an activation. */
TEST(what_is_read_twice_stays)
{
    begin("1,4,8,8");
    weights("w", "4,4,1,1");
    node("Conv", "x w", "a", "");
    node("Relu", "a", "b", "");
    node("BatchNormalization", "b - - - -", "c", "");
    node("Sigmoid", "c", "d", "");
    node("Mul", "d c", "e", "");
    weights("s", "4,1,1");
    node("Mul", "e s", "f", "");
    node("Add", "f s", "g", "");
    node("HardSwish", "g", "h", "");
    node("LRN", "h", "i", "size=5");
    node("Concat", "i d", "j", "axis=-3");
    node("GlobalAveragePool", "j", "k", "");
    node("Identity", "k", "l", "");
    auto_workload *w = read_model();
    static const char *const types[] = {"conv",  "norm", "sigmoid", "mul",    "scale",
                                        "shift", "silu", "power",   "concat", "mean_pool"};
    CU_ASSERT_EQUAL_FATAL(w->n_layers, (int)(sizeof types / sizeof *types));
    for (int i = 0; i < w->n_layers; i++)
        TAP_ASSERT_TEXT(th_layer_type_name(&w->layers[i]), types[i]);
    CU_ASSERT_TRUE(w->layers[8].dim[TH_DIM_K] == 8 && w->layers[8].input_channels[1] == 4);
    CU_ASSERT_TRUE(w->layers[9].dim[TH_DIM_R] == 8 && w->layers[9].dim[TH_DIM_H] == 1);
}

/* A shuffle of channels is laid out anew, once; a transposition of extents of 1 and a reshaping are
 * not. */
TEST(views_cost_nothing_but_shuffles)
{
    begin("0,6,4,4");
    integers("grouped", "1,2,3,4,4", true);
    integers("image", "0,6,-1,4", false);
    integers("vector", "1,-1", false);
    integers("shape", "6,6,1,1", false);
    weights("w2", "96,5");
    node("ConstantOfShape", "shape", "w", "");
    node("Reshape", "x grouped", "a", "");
    node("Transpose", "a", "b", "perm=0,2,1,3,4");
    node("Reshape", "b image", "c", "");
    node("Conv", "c w", "d", "");
    node("Conv", "c w", "e", "");
    node("Sum", "d e", "f", "");
    node("Reshape", "f vector", "g", "");
    node("MatMul", "g w2", "h", "");
    auto_workload *w = read_model();
    CU_ASSERT_TRUE(w->batch == 1 && w->n_layers == 5);
    CU_ASSERT_TRUE(is_layer(w, 0, (expected_layer){"d.input", "copy", 6, 4, 4}) &&
                   is_layer(w, 1, (expected_layer){"d", "conv", 6, 4, 4}));
    CU_ASSERT_TRUE(w->layers[1].inputs[0] == 0 && w->layers[2].inputs[0] == 0);
    CU_ASSERT_TRUE(is_layer(w, 4, (expected_layer){"h", "fc", 5, 1, 1}));
}

/* Of a perceptron: features have norms of their own, unlike the channels of what was flattened. */
TEST(features_are_normed)
{
    begin("1,12");
    weights("w", "12,6");
    node("MatMul", "x w", "a", "");
    node("BatchNormalization", "a - - - -", "b", "");
    node("Elu", "b", "c", "");
    node("Gemm", "c v", "d", "");
    weights("v", "6,3");
    auto_workload *w = read_model();
    CU_ASSERT_TRUE(w->n_layers == 3 && is_layer(w, 1, (expected_layer){"b", "norm", 6, 1, 1}) &&
                   is_layer(w, 2, (expected_layer){"d", "fc", 3, 1, 1}));
}

/* Whoever reads a tensor under another name reads it as well. */
TEST(views_share_what_they_look_at)
{
    begin("1,4,8,8");
    weights("w", "4,4,1,1");
    node("Conv", "x w", "a", "");
    node("Identity", "a", "b", "");
    node("Dropout", "b", "c", "");
    node("Relu", "c", "d", "");
    node("Sum", "a d", "e", "");
    auto_workload *w = read_model();
    CU_ASSERT_TRUE(w->n_layers == 3 && is_layer(w, 1, (expected_layer){"d", "relu", 4, 8, 8}) &&
                   is_layer(w, 2, (expected_layer){"e", "add", 4, 8, 8}));
}

TEST(pools_round_up_within_their_input)
{
    begin("1,1,6,7");
    node("AveragePool", "x", "a", "kernel_shape=1,2 strides=4,2 pads=0,0,0,1 ceil_mode=1");
    node("MaxPool", "x", "b", "kernel_shape=3,3 strides=2,2 auto_pad=SAME_UPPER");
    auto_workload *w = read_model();
    CU_ASSERT_TRUE(is_layer(w, 0, (expected_layer){"a", "mean_pool", 1, 2, 4}) &&
                   is_layer(w, 1, (expected_layer){"b", "max_pool", 1, 3, 4}));
    CU_ASSERT_TRUE(w->layers[1].pad_top == 0 && w->layers[1].pad_left == 1);
}

TEST(batch_and_precision_are_the_callers)
{
    th_error e = {"", ""};
    begin(NULL);
    input("x", 10, "8,20");
    weights("w", "20,30");
    input("w", 1, "20,30");
    node("Gemm", "x w", "y", "");
    write_model();
    auto_workload *w = read_at(0, -1, &e), *v = read_at(3, TH_INT8, &e);
    CU_ASSERT_FATAL(w && v);
    CU_ASSERT_TRUE(w->batch == 8 && w->precision == TH_FP16 &&
                   w->layers[0].precision[TH_TENSOR_WEIGHT] == TH_FP16);
    CU_ASSERT_TRUE(v->batch == 3 && v->precision == TH_INT8 && v->layers[0].dim[TH_DIM_B] == 3);
    unlink(path);
}

/* ---- weights that several nodes read --------------------------------------------------------- */

/* A node that looks at a matrix of rows x columns, and what its output is called. */
static void look_at(gsl_rng *r, char *name, int number, int rows, int columns)
{
    char from[16], shape[32], flat[64];
    snprintf(from, sizeof from, "%s", name);
    snprintf(name, 16, "v%d", number);
    switch (draw(r, 0, 3)) {
    case 0:
        node("Identity", from, name, "");
        break;
    case 1: /* turned and back */
        snprintf(shape, sizeof shape, "t%d", number);
        node("Transpose", from, shape, "perm=1,0");
        node("Transpose", shape, name, "perm=1,0");
        break;
    default: /* a row, and back */
        snprintf(shape, sizeof shape, "s%d", number);
        snprintf(flat, sizeof flat, "%d,1,%d", rows, columns);
        integers(shape, flat, false);
        snprintf(flat, sizeof flat, "%s %s", from, shape);
        snprintf(shape, sizeof shape, "u%d", number);
        node("Reshape", flat, shape, "");
        snprintf(flat, sizeof flat, "a%d", number);
        integers(flat, "1", false);
        snprintf(flat, sizeof flat, "%s a%d", shape, number);
        node("Squeeze", flat, name, "");
    }
}

/* Words, products between widths with weights of a pool, and logits: each initializer that is read
 * counts once, whichever way its readers look at it. */
TEST(weights_that_several_nodes_read_count_once)
{
    static const int widths[] = {8, 12, 20};
    auto_rng *r = th_random_stream(11, "onnx ties", 0);
    int n_wrong = 0, n_tied = 0, n_free = 0;
    for (int i = 0; i < 200; i++) {
        bool is_read[3][3][2] = {{{false}}};
        char at[16] = "x0", name[16], text[64];
        int from = draw(r, 0, 2), n = draw(r, 1, 6), first = from, wanted = 0;
        th_onnx_notes notes;
        th_error e;
        begin(NULL);
        input("ids", 7, "1,5");
        snprintf(text, sizeof text, "50,%d", widths[from]);
        weights("words", text);
        node("Gather", "words ids", at, "");
        for (int k = 1; k <= n; k++) {
            int to = k == n ? first : draw(r, 0, 2), which = draw(r, 0, 1);
            bool is_turned = which == 1; /* as it is stored */
            to = to == from ? (to + 1) % 3 : to;
            snprintf(name, sizeof name, "w%d%d%d", from, to, which);
            int rows = widths[is_turned ? to : from], columns = widths[is_turned ? from : to];
            snprintf(text, sizeof text, "%d,%d", rows, columns);
            if (!is_read[from][to][which]) {
                weights(name, text);
                wanted += rows * columns;
            } else
                n_tied++;
            is_read[from][to][which] = true;
            if (draw(r, 0, 1))
                look_at(r, name, k, rows, columns);
            if (is_turned) {
                snprintf(text, sizeof text, "q%d", k);
                node("Transpose", name, text, "");
                snprintf(name, sizeof name, "%.14s", text);
            }
            snprintf(text, sizeof text, "%s %s", at, name);
            snprintf(at, sizeof at, "x%d", k);
            node("MatMul", text, at, "");
            from = to;
        }
        bool has_words = from == first; /* the logits are the words */
        snprintf(text, sizeof text, "%s %s", at, has_words ? "turned" : "head");
        if (has_words)
            node("Transpose", "words", "turned", "perm=1,0");
        snprintf(name, sizeof name, "%d,50", widths[from]);
        weights("head", name);
        node("MatMul", text, "y", "");
        wanted += 50 * (widths[first] + (has_words ? 0 : widths[from]));
        n_free += !has_words;
        auto_workload *w = read_y(false, &notes, &e);
        n_wrong += !w || parameters_of(w) != wanted;
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_tied > 50 && n_free > 20);
}

/* What must not be taken for the same: a square matrix and its transpose, parts, computed weights,
 * and weights of another shape. */
TEST(weights_that_differ_count_each)
{
    static const char *const second[][2] = {{"Transpose", ""}, {"Neg", ""}, {"Sqrt", ""}};
    th_onnx_notes notes;
    th_error e;
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        begin("1,4,8");
        weights("w", "8,8");
        node("MatMul", "x w", "a", "");
        node(second[i][0], "w", "v", second[i][1]);
        node("MatMul", "a v", "y", "");
        auto_workload *w = read_y(false, &notes, &e);
        CU_ASSERT_TRUE(w && parameters_of(w) == 2 * 64);
    }
    begin("1,4,8");
    weights("w", "8,12");
    node("MatMul", "x w", "a", "");
    node("Transpose", "w", "v", "");
    node("MatMul", "a v", "y", "");
    auto_workload *w = read_y(false, &notes, &e);
    CU_ASSERT_TRUE(w && parameters_of(w) == 2 * 96);
}

/* Convolutions of two levels of a pyramid, and both directions of a recurrent layer, with one
 * kernel. */
TEST(kernels_and_gates_are_shared)
{
    th_onnx_notes notes;
    th_error e;
    begin("1,8,6,6");
    weights("w", "8,8,3,3");
    weights("v", "8,8,1,1");
    node("Conv", "x w", "a", "pads=1,1,1,1");
    node("Conv", "a w", "b", "pads=1,1,1,1");
    node("Conv", "b v", "c", "");
    node("Conv", "c v", "y", "");
    auto_workload *w = read_y(false, &notes, &e);
    CU_ASSERT_TRUE(w && parameters_of(w) == 9 * 64 + 64);
    th_workload_free(w);
    begin("1,8,6,6"); /* kernels as another framework has them, of which one lies otherwise */
    weights("w", "3,3,8,8");
    node("Transpose", "w", "p", "perm=3,2,0,1");
    node("Transpose", "w", "q", "perm=3,2,0,1");
    node("Transpose", "w", "r", "perm=2,3,0,1");
    node("Conv", "x p", "a", "pads=1,1,1,1");
    node("Conv", "a q", "b", "pads=1,1,1,1");
    node("Conv", "b r", "y", "pads=1,1,1,1");
    w = read_y(false, &notes, &e);
    CU_ASSERT_TRUE(w && parameters_of(w) == 2 * 9 * 64);
    th_workload_free(w);
    begin("5,1,8");
    weights("w", "1,32,8");
    weights("r", "1,32,8");
    weights("q", "1,32,8");
    integers("shape", "5,1,8", false);
    node("LSTM", "x w r", "a", "hidden_size=8");
    node("Reshape", "a shape", "b", "");
    node("LSTM", "b w r", "c", "hidden_size=8");
    node("Reshape", "c shape", "d", "");
    node("LSTM", "d w q", "y", "hidden_size=8");
    w = read_y(false, &notes, &e);
    CU_ASSERT_TRUE(w && parameters_of(w) == 2 * 2 * 32 * 8);
}

TAP_MAIN("onnx_read")
