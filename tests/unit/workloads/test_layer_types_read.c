/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "workloads/workload_read.h"
#include "base/strbuf.h"
#include "tests/unit/refused.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/tap.h"

/* Two sequences of 13 rows of 12 channels; layers from line 2 on. */
#define SEQUENCE "batch = 2; input = { channels = 12; height = 13; width = 1; };\n"
#define IMAGE    "batch = 2; input = { channels = 3; height = 5; width = 9; };\n"
#define WORDS    "batch = 2; input = { channels = 1; height = 7; width = 1; };\n"

static th_workload *read_text(const char *head, const char *layers, th_error *err)
{
    auto_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(&text, "%slayers = ( %s );\n", head, layers);
    return th_workload_read_text(text.text, "net.cfg", 0, err);
}

/* The workload, which must be right. */
static th_workload *good(const char *head, const char *layers)
{
    th_error e = {"", ""};
    th_workload *w = read_text(head, layers, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    return w;
}

static const th_layer *layer_of(const th_workload *w, const char *name)
{
    int found = th_workload_find(w, name);
    CU_ASSERT_FATAL(found >= 0);
    return &w->layers[found];
}

static void expect_dims(const th_layer *l, int k, int c, int h, int w)
{
    const int expected[] = {k, c, h, w};
    static const th_dim dims[] = {TH_DIM_K, TH_DIM_C, TH_DIM_H, TH_DIM_W};
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(l->dim[dims[i]], expected[i]);
}

/* ---- shapes ---- */

/* Rows: (5 - 1) 3 - 1 - 2 + 2 * 2 + 1 + 1 = 15, padded by 2 * 2 - 1 = 3 where the zeros are seen;
 * columns: (9 - 1) 2 - 0 + 1 + 0 + 1 = 18, padded by 1. */
TEST(reads_a_transposed_conv)
{
    auto_workload *w = good(
        IMAGE, "{ name = \"a\"; type = \"conv\"; transposed = true; outputs = 4; kernel = [3, 2];"
               " stride = [3, 2]; padding = [1, 0, 2, 0]; dilation = [2, 1];"
               " output_padding = [1, 0]; }");
    const th_layer *l = layer_of(w, "a");
    expect_dims(l, 4, 3, 15, 18);
    CU_ASSERT_TRUE(l->up_h == 3 && l->up_w == 2 && l->stride_h == 1 && l->stride_w == 1);
    CU_ASSERT_TRUE(l->pad_top == 3 && l->pad_left == 1 && l->in_h == 5 && l->in_w == 9);
    CU_ASSERT_EQUAL(th_layer_macs(l), 2 * 4 * 3 * 6 * 45);
}

/* Without up-sampling a transposed conv is a conv again: kernel 3, padding 1 keeps the size. */
TEST(a_transposed_conv_of_stride_1_is_a_conv)
{
    auto_workload *w =
        good(IMAGE, "{ name = \"a\"; type = \"conv\"; transposed = true; outputs = 4; kernel = 3;"
                    " padding = 1; }, { name = \"b\"; type = \"conv\"; outputs = 4; kernel = 3;"
                    " padding = 1; inputs = \"input\"; }");
    const th_layer *a = &w->layers[0], *b = &w->layers[1];
    expect_dims(a, 4, 3, 5, 9);
    CU_ASSERT_TRUE(a->pad_top == b->pad_top && a->pad_left == b->pad_left && a->up_h == 1);
    CU_ASSERT_EQUAL(th_layer_macs(a), th_layer_macs(b));
}

/* 3 heads of 4 channels: scores 13 rows of 3 * 13 columns, context 13 rows of 12. */
TEST(reads_products_of_two_inputs)
{
    auto_workload *w =
        good(SEQUENCE,
             "{ name = \"k\"; type = \"matmul\"; columns = 12; },"
             "{ name = \"s\"; type = \"matmul\"; inputs = [\"input\", \"k\"]; heads = 3;"
             " transposed = true; rows = 13; inner = 4; columns = 13; },"
             "{ name = \"p\"; type = \"softmax\"; heads = 3; },"
             "{ name = \"c\"; type = \"matmul\"; inputs = [\"p\", \"k\"]; heads = 3; inner = 13;"
             " columns = 4; outputs = 12; }");
    const th_layer *s = layer_of(w, "s"), *p = layer_of(w, "p"), *c = layer_of(w, "c");
    expect_dims(s, 39, 12, 13, 1);
    expect_dims(p, 39, 39, 13, 1);
    expect_dims(c, 12, 39, 13, 1);
    CU_ASSERT_TRUE(s->is_transposed && !c->is_transposed && p->groups == 3 && c->groups == 3);
    CU_ASSERT_EQUAL(th_layer_macs(s), 2 * 13 * 13 * 12);
    CU_ASSERT_EQUAL(th_layer_macs(c), 2 * 13 * 13 * 12);
    CU_ASSERT_EQUAL(th_layer_parameters(s), 0);
}

TEST(an_attention_becomes_three_layers)
{
    auto_workload *w = good(
        SEQUENCE, "{ name = \"q\"; type = \"matmul\"; columns = 6; },"
                  "{ name = \"v\"; type = \"matmul\"; columns = 8; },"
                  "{ name = \"a\"; type = \"attention\"; inputs = [\"q\", \"q\", \"v\"]; heads = 2;"
                  " outputs = 8; height = 13; output_density = 0.25; },"
                  "{ name = \"r\"; type = \"relu\"; },"
                  "{ name = \"o\"; type = \"add\"; inputs = [\"a\", \"v\"]; }");
    CU_ASSERT_EQUAL(w->n_layers, 7);
    const th_layer *scores = layer_of(w, "a.scores"), *softmax = layer_of(w, "a.softmax"),
                   *context = layer_of(w, "a.context");
    expect_dims(scores, 26, 6, 13, 1);
    expect_dims(context, 8, 26, 13, 1);
    CU_ASSERT_TRUE(scores->is_transposed && softmax->groups == 2 && scores->line == 2);
    TAP_ASSERT_TEXT(w->layers[scores->inputs[1]].name, "q");
    TAP_ASSERT_TEXT(w->layers[softmax->inputs[0]].name, "a.scores");
    TAP_ASSERT_TEXT(w->layers[context->inputs[0]].name, "a.softmax");
    TAP_ASSERT_TEXT(w->layers[context->inputs[1]].name, "v");
    TAP_ASSERT_TEXT(w->layers[layer_of(w, "r")->inputs[0]].name, "a.context");
    TAP_ASSERT_TEXT(w->layers[layer_of(w, "o")->inputs[0]].name, "a.context");
    CU_ASSERT_TRUE(scores->density[TH_TENSOR_OUTPUT] == 1 &&
                   context->density[TH_TENSOR_OUTPUT] == 0.25);
}

/* 12 channels hold queries, keys and values of 4; the attention is written before what it reads. */
TEST(a_packed_attention_takes_thirds)
{
    auto_workload *w = good(
        SEQUENCE, "{ name = \"a\"; type = \"attention\"; heads = 2; inputs = \"x\"; },"
                  "{ name = \"x\"; type = \"relu\"; inputs = \"input\"; precision = \"int8\"; }");
    static const char *const slices[] = {"a.q", "a.k", "a.v"};
    CU_ASSERT_EQUAL(w->n_layers, 7);
    for (int i = 0; i < 3; i++) {
        const th_layer *l = layer_of(w, slices[i]);
        expect_dims(l, 4, 12, 13, 1);
        CU_ASSERT_EQUAL(l->first_channel, 4 * i);
        TAP_ASSERT_TEXT(w->layers[l->inputs[0]].name, "x");
    }
    TAP_ASSERT_TEXT(w->layers[layer_of(w, "a.scores")->inputs[1]].name, "a.k");
    TAP_ASSERT_TEXT(w->layers[layer_of(w, "a.context")->inputs[1]].name, "a.v");
    CU_ASSERT_EQUAL(layer_of(w, "a.context")->precision[TH_TENSOR_OUTPUT], TH_INT8);
    CU_ASSERT_EQUAL(w->n_outputs, 1);
}

/* 11 words of 6; 4 (5 + 6) 5 weights and 40 biases of an lstm, 3 (5 + 5) 5 of a gru without. */
TEST(reads_sequences)
{
    auto_workload *w = good(
        WORDS, "{ name = \"e\"; type = \"embedding\"; vocabulary = 11; outputs = 6; },"
               "{ name = \"l\"; type = \"lstm\"; outputs = 5; },"
               "{ name = \"g\"; type = \"gru\"; outputs = 5; bias = false; },"
               "{ name = \"n\"; type = \"layer_norm\"; }, { name = \"m\"; type = \"rms_norm\"; }");
    expect_dims(layer_of(w, "e"), 6, 1, 7, 1);
    expect_dims(layer_of(w, "l"), 5, 6, 7, 1);
    CU_ASSERT_EQUAL(th_layer_parameters(layer_of(w, "e")), 66);
    CU_ASSERT_EQUAL(th_layer_parameters(layer_of(w, "l")), 220 + 40);
    CU_ASSERT_EQUAL(th_layer_parameters(layer_of(w, "g")), 150);
    CU_ASSERT_EQUAL(th_layer_macs(layer_of(w, "g")), 150 * 14);
    CU_ASSERT_EQUAL(th_layer_parameters(layer_of(w, "n")), 10);
    CU_ASSERT_EQUAL(th_layer_parameters(layer_of(w, "m")), 5);
}

TEST(reads_what_moves_channels)
{
    auto_workload *w =
        good(IMAGE, "{ name = \"a\"; type = \"conv\"; outputs = 4; output_density = 0.5;"
                    " precision = \"int8\"; },"
                    "{ name = \"b\"; type = \"sigmoid\"; precision = \"int8\"; },"
                    "{ name = \"c\"; type = \"concat\"; inputs = [\"a\", \"b\", \"a\"]; },"
                    "{ name = \"s\"; type = \"slice\"; first = 3; channels = 6; },"
                    "{ name = \"m\"; type = \"mul\"; inputs = [\"s\", \"s\"]; }");
    const th_layer *c = layer_of(w, "c"), *s = layer_of(w, "s");
    expect_dims(c, 12, 12, 5, 9);
    CU_ASSERT_TRUE(c->input_channels[0] == 4 && c->input_channels[2] == 4);
    expect_dims(s, 6, 12, 5, 9);
    CU_ASSERT_EQUAL(s->first_channel, 3);
    CU_ASSERT_TRUE(c->precision[TH_TENSOR_OUTPUT] == TH_INT8 &&
                   s->precision[TH_TENSOR_OUTPUT] == TH_INT8);
    CU_ASSERT_DOUBLE_EQUAL(s->density[TH_TENSOR_OUTPUT], 2.0 / 3, 1e-12); /* (0.5 + 1 + 0.5) / 3 */
    CU_ASSERT_EQUAL(layer_of(w, "m")->precision[TH_TENSOR_OUTPUT], TH_FP16);
    CU_ASSERT_EQUAL(layer_of(w, "m")->precision[TH_TENSOR_INPUT], TH_INT8);
}

/* What an attention states is what it reads and makes as a whole: 12 channels, packed 4 of each, or
 * apart 12 of each. A split is a slice. */
TEST(an_attention_states_what_it_is_as_a_whole)
{
    auto_workload *w = good(
        SEQUENCE, "{ name = \"a\"; type = \"attention\"; heads = 2; in_channels = 12; outputs = 4;"
                  " height = 13; width = 1; },"
                  "{ name = \"b\"; type = \"attention\"; heads = 3; in_channels = 12; outputs = 12;"
                  " height = 13; inputs = [\"input\", \"input\", \"input\"]; },"
                  "{ name = \"s\"; type = \"split\"; first = 8; channels = 4; in_channels = 12; }");
    expect_dims(layer_of(w, "a.context"), 4, 26, 13, 1);
    expect_dims(layer_of(w, "b.context"), 12, 39, 13, 1);
    expect_dims(layer_of(w, "s"), 4, 12, 13, 1);
    CU_ASSERT_TRUE(layer_of(w, "s")->kind == TH_LAYER_SLICE &&
                   layer_of(w, "s")->first_channel == 8);
}

/* Every function has its own word, and a function of its own. */
TEST(reads_every_function)
{
    static const char *const words[] = {"relu",  "sigmoid",    "tanh",    "gelu", "silu",
                                        "scale", "shift",      "power",   "copy", "dropout",
                                        "norm",  "layer_norm", "rms_norm"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char layer[80];
        snprintf(layer, sizeof layer, "{ name = \"a\"; type = \"%s\"; }", words[i]);
        auto_workload *w = good(SEQUENCE, layer);
        TAP_ASSERT_TEXT(th_layer_type_name(&w->layers[0]), words[i]);
    }
}

/* ---- precision and density ---- */

TEST(inputs_are_what_their_makers_made)
{
    auto_workload *w = good(
        "precision = \"bf16\"; input = { channels = 4; height = 13; width = 1; density = 0.75; };",
        "{ name = \"b\"; type = \"matmul\"; columns = 8; weight_precision = \"int4\";"
        " sparsity = [2, 4]; inputs = \"a\"; },"
        "{ name = \"a\"; type = \"matmul\"; columns = 8; precision = \"int8\"; inputs = \"input\";"
        " output_precision = \"fp32\"; weight_density = 0.5; output_density = 0.25; },"
        "{ name = \"p\"; type = \"matmul\"; inputs = [\"c\", \"a\"]; transposed = true; },"
        "{ name = \"c\"; type = \"relu\"; inputs = \"a\"; precision = \"fp32\"; }");
    const th_layer *a = layer_of(w, "a"), *b = layer_of(w, "b"), *p = layer_of(w, "p");
    CU_ASSERT_TRUE(a->precision[TH_TENSOR_INPUT] == TH_BF16 &&
                   a->precision[TH_TENSOR_WEIGHT] == TH_INT8);
    CU_ASSERT_TRUE(a->precision[TH_TENSOR_OUTPUT] == TH_FP32 &&
                   b->precision[TH_TENSOR_INPUT] == TH_FP32);
    CU_ASSERT_TRUE(b->precision[TH_TENSOR_WEIGHT] == TH_INT4 &&
                   b->precision[TH_TENSOR_OUTPUT] == TH_BF16);
    CU_ASSERT_TRUE(a->density[TH_TENSOR_INPUT] == 0.75 && a->density[TH_TENSOR_WEIGHT] == 0.5);
    CU_ASSERT_TRUE(b->density[TH_TENSOR_INPUT] == 0.25 && b->density[TH_TENSOR_WEIGHT] == 1);
    CU_ASSERT_TRUE(b->sparse_n == 2 && b->sparse_m == 4 && a->sparse_m == 0);
    CU_ASSERT_TRUE(p->precision[TH_TENSOR_WEIGHT] == TH_FP32 &&
                   p->density[TH_TENSOR_WEIGHT] == 0.25);
    CU_ASSERT_EQUAL(p->density[TH_TENSOR_INPUT], 1);
}

/* ---- messages ---- */

static int refuse_text(const char *head, const char *layers, th_error *e)
{
    th_workload *w = read_text(head, layers, e);
    th_workload_free(w);
    return w ? 0 : -1;
}

static int refuse_file(const char *text, th_error *e)
{
    th_workload *w = th_workload_read_text(text, "net.cfg", 0, e);
    th_workload_free(w);
    return w ? 0 : -1;
}

static int refuse_sequence(const char *layers, th_error *e)
{
    return refuse_text(SEQUENCE, layers, e);
}

static int refuse_image(const char *layers, th_error *e)
{
    return refuse_text(IMAGE, layers, e);
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"sequence", refuse_sequence},
                                              {"image", refuse_image},
                                              {"file", refuse_file},
                                              {NULL, NULL}};
    assert_refusals("workloads/layer_types_read.refused", readers);
}

/* ---- memory ---- */

static int read_concat(const void *text, th_error *e)
{
    th_workload *w = th_workload_read_text(text, "net.cfg", 0, e);
    th_workload_free(w);
    return w ? 0 : -1;
}

TEST(survives_every_failing_allocation)
{
    CU_ASSERT_TRUE(fail_each_allocation(
                       read_concat, SEQUENCE
                       "layers = ( { name = \"a\"; type = \"attention\"; heads = 2; },"
                       "{ name = \"c\"; type = \"concat\"; inputs = [\"a\", \"input\"]; } );") >
                   20);
}

TAP_MAIN("layer_types_read")
