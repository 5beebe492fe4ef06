/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX models: what their nodes become, and what is said about those that become nothing. */
#include <config.h>
#include "base/alloc.h"
#include "tests/unit/tap.h"
#include "workloads/onnx/onnx.pb-c.h"
#include "workloads/onnx/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "test_onnx_read.tmp.onnx";

/* ---- a model in the making ------------------------------------------------------------------- */

enum { MOST = 32, WORDS = 16, TEXT = 8192 };

static struct {
    char text[TEXT];
    size_t n_text;
    ThOnnx__Node node[MOST], *nodes[MOST];
    ThOnnx__Attribute attribute[MOST * WORDS], *attributes[MOST][WORDS];
    ThOnnx__Tensor tensor[MOST], *tensors[MOST];
    ThOnnx__Value value[MOST], *values[MOST];
    ThOnnx__Type type[MOST];
    ThOnnx__TensorType tensor_type[MOST];
    ThOnnx__Shape shape[MOST];
    ThOnnx__Dimension dimension[MOST][WORDS], *dimensions[MOST][WORDS];
    char *inputs[MOST][WORDS], *outputs[MOST][WORDS];
    int64_t number[MOST][WORDS], attribute_number[MOST * WORDS][WORDS];
    int64_t extent[MOST]; /* of lists of integers */
    size_t n_attributes;
    ThOnnx__Graph graph;
} m;

static char *keep(const char *text, size_t n)
{
    char *kept = m.text + m.n_text;
    CU_ASSERT_FATAL(m.n_text + n < TEXT);
    memcpy(kept, text, n);
    kept[n] = '\0';
    m.n_text += n + 1;
    return kept;
}

/* The words of a text; "-" is an empty one. */
static size_t split(const char *text, char **words)
{
    size_t n = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        words[n++] = *text == '-' ? keep("", 0) : keep(text, length);
        text += length;
    }
    return n;
}

static size_t split_numbers(const char *text, int64_t *numbers)
{
    size_t n = 0;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        numbers[n++] = strtoll(text, &end, 10);
        CU_ASSERT_FATAL(end > text && n <= WORDS);
    }
    return n;
}

static void tensor_init(ThOnnx__Tensor *t, const char *name, int32_t type, const char *dims,
                        int64_t *numbers)
{
    th_onnx__tensor__init(t);
    t->name = keep(name, strlen(name));
    t->has_data_type = true;
    t->data_type = type;
    t->dims = numbers;
    t->n_dims = split_numbers(dims, numbers);
}

/* Numbers that matter by their extents alone. */
static void weights(const char *name, const char *dims)
{
    size_t i = m.graph.n_initializer++;
    tensor_init(&m.tensor[i], name, 1, dims, m.number[i]);
}

static void integers(const char *name, const char *numbers, bool is_raw)
{
    size_t i = m.graph.n_initializer++;
    ThOnnx__Tensor *t = &m.tensor[i];
    tensor_init(t, name, 7, "", m.number[i]);
    t->n_int64_data = split_numbers(numbers, m.number[i]);
    t->int64_data = m.number[i];
    m.extent[i] = (int64_t)t->n_int64_data;
    t->dims = &m.extent[i];
    t->n_dims = 1;
    if (!is_raw)
        return;
    t->raw_data = (ProtobufCBinaryData){t->n_int64_data * sizeof(int64_t), (uint8_t *)m.number[i]};
    t->has_raw_data = true;
    t->n_int64_data = 0;
}

/* type: of its elements; dims: 0 is one that is not known. */
static void input(const char *name, int32_t type, const char *dims)
{
    size_t i = m.graph.n_input++;
    int64_t numbers[WORDS];
    th_onnx__value__init(&m.value[i]);
    th_onnx__type__init(&m.type[i]);
    th_onnx__tensor_type__init(&m.tensor_type[i]);
    th_onnx__shape__init(&m.shape[i]);
    m.value[i].name = keep(name, strlen(name));
    m.value[i].type = &m.type[i];
    m.type[i].tensor_type = &m.tensor_type[i];
    m.tensor_type[i].has_elem_type = true;
    m.tensor_type[i].elem_type = type;
    m.tensor_type[i].shape = &m.shape[i];
    m.shape[i].n_dim = split_numbers(dims, numbers);
    m.shape[i].dim = m.dimensions[i];
    for (size_t k = 0; k < m.shape[i].n_dim; k++) {
        th_onnx__dimension__init(&m.dimension[i][k]);
        m.dimension[i][k].has_dim_value = numbers[k] > 0;
        m.dimension[i][k].dim_value = numbers[k];
    }
}

/* name=NUMBER, name=NUMBER,NUMBER (one with a comma behind it is a list, too) or name=WORD */
static ThOnnx__Attribute *attribute(const char *text)
{
    size_t i = m.n_attributes++, length = strcspn(text, "=");
    ThOnnx__Attribute *a = &m.attribute[i];
    const char *what = text + length + 1;
    th_onnx__attribute__init(a);
    a->name = keep(text, length);
    if (strchr(what, ',')) {
        a->ints = m.attribute_number[i];
        a->n_ints = split_numbers(what, a->ints);
    } else if (strspn(what, "-0123456789") == strlen(what)) {
        a->has_i = true;
        a->i = strtoll(what, NULL, 10);
    } else {
        a->has_s = true;
        a->s = (ProtobufCBinaryData){strlen(what), (uint8_t *)keep(what, strlen(what))};
    }
    return a;
}

static ThOnnx__Node *node(const char *op, const char *inputs, const char *output,
                          const char *attributes)
{
    size_t i = m.graph.n_node++;
    ThOnnx__Node *n = &m.node[i];
    char *words[WORDS];
    th_onnx__node__init(n);
    n->op_type = keep(op, strlen(op));
    n->input = m.inputs[i];
    n->n_input = split(inputs, n->input);
    n->output = m.outputs[i];
    n->n_output = split(output, n->output);
    n->attribute = m.attributes[i];
    n->n_attribute = split(attributes, words);
    for (size_t k = 0; k < n->n_attribute; k++)
        n->attribute[k] = attribute(words[k]);
    return n;
}

static void begin(const char *dims)
{
    memset(&m, 0, sizeof m);
    th_onnx__graph__init(&m.graph);
    m.graph.node = m.nodes;
    m.graph.initializer = m.tensors;
    m.graph.input = m.values;
    for (int i = 0; i < MOST; i++) {
        m.nodes[i] = &m.node[i];
        m.tensors[i] = &m.tensor[i];
        m.values[i] = &m.value[i];
        for (int k = 0; k < WORDS; k++)
            m.dimensions[i][k] = &m.dimension[i][k];
    }
    if (dims)
        input("x", 1, dims);
}

static void write_file(const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void write_model(void)
{
    ThOnnx__Model model;
    th_onnx__model__init(&model);
    model.graph = &m.graph;
    size_t n = th_onnx__model__get_packed_size(&model);
    uint8_t *bytes = malloc(n);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL(th_onnx__model__pack(&model, bytes), n);
    write_file(bytes, n);
    free(bytes);
}

static th_workload *read_at(int32_t batch, int precision, th_error *e)
{
    const th_onnx_options o = {.batch = batch, .precision = precision};
    return th_workload_read_onnx(path, &o, NULL, e);
}

static th_workload *read_model(void)
{
    th_error e = {"", ""};
    write_model();
    th_workload *w = read_at(0, -1, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    unlink(path);
    return w;
}

/* It is refused with this id, and this text behind the file's name. */
static void expect(const char *id, const char *text)
{
    th_error e = {"", ""};
    char whole[TH_ERROR_TEXT_MAX];
    snprintf(whole, sizeof whole, "%s: %s", path, text);
    write_model();
    CU_ASSERT_PTR_NULL(read_at(0, -1, &e));
    TAP_ASSERT_TEXT(e.text, whole);
    TAP_ASSERT_TEXT(e.id, id);
    unlink(path);
}

typedef struct expected_layer {
    const char *name, *type;
    int k, h, w;
} expected_layer;

static bool is_layer(const th_workload *w, int i, expected_layer x)
{
    const th_layer *l = &w->layers[i];
    return i < w->n_layers && strcmp(l->name, x.name) == 0 &&
           strcmp(th_layer_type_name(l), x.type) == 0 && l->dim[TH_DIM_K] == x.k &&
           l->dim[TH_DIM_H] == x.h && l->dim[TH_DIM_W] == x.w;
}

/* One node that is refused, of an image "x" of 4 x 8 x 8, a vector "v", weights "w" and integers
 * "n". */
static void refused(const char *id, const char *op, const char *inputs, const char *attributes,
                    const char *text)
{
    char whole[TH_ERROR_TEXT_MAX];
    begin("1,4,8,8");
    weights("w", "4,4,3,3");
    weights("w2", "9,9");
    integers("n", "1,5,-1", false);
    integers("one", "1,1,1,-1", false);
    integers("true", "1", false);
    integers("huge", "4503599627370496,4,8,8", false);
    node("Flatten", "x", "v", "");
    integers("wide", "1,8,4,8", false);
    integers("tall", "268435456,4,8,8", false);
    node("Reshape", "x wide", "t", "");
    node(op, inputs, "y", attributes);
    snprintf(whole, sizeof whole, "node \"y\" (%s): %s", op, text);
    expect(id, whole);
}

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
    th_workload *w = read_model();
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
    th_workload_free(w);
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
    th_workload *w = read_model();
    static const char *const types[] = {"conv",  "norm", "sigmoid", "mul",    "scale",
                                        "shift", "silu", "power",   "concat", "mean_pool"};
    CU_ASSERT_EQUAL_FATAL(w->n_layers, (int)(sizeof types / sizeof *types));
    for (int i = 0; i < w->n_layers; i++)
        TAP_ASSERT_TEXT(th_layer_type_name(&w->layers[i]), types[i]);
    CU_ASSERT_TRUE(w->layers[8].dim[TH_DIM_K] == 8 && w->layers[8].input_channels[1] == 4);
    CU_ASSERT_TRUE(w->layers[9].dim[TH_DIM_R] == 8 && w->layers[9].dim[TH_DIM_H] == 1);
    th_workload_free(w);
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
    th_workload *w = read_model();
    CU_ASSERT_TRUE(w->batch == 1 && w->n_layers == 5);
    CU_ASSERT_TRUE(is_layer(w, 0, (expected_layer){"d.input", "copy", 6, 4, 4}) &&
                   is_layer(w, 1, (expected_layer){"d", "conv", 6, 4, 4}));
    CU_ASSERT_TRUE(w->layers[1].inputs[0] == 0 && w->layers[2].inputs[0] == 0);
    CU_ASSERT_TRUE(is_layer(w, 4, (expected_layer){"h", "fc", 5, 1, 1}));
    th_workload_free(w);
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
    th_workload *w = read_model();
    CU_ASSERT_TRUE(w->n_layers == 3 && is_layer(w, 1, (expected_layer){"b", "norm", 6, 1, 1}) &&
                   is_layer(w, 2, (expected_layer){"d", "fc", 3, 1, 1}));
    th_workload_free(w);
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
    th_workload *w = read_model();
    CU_ASSERT_TRUE(w->n_layers == 3 && is_layer(w, 1, (expected_layer){"d", "relu", 4, 8, 8}) &&
                   is_layer(w, 2, (expected_layer){"e", "add", 4, 8, 8}));
    th_workload_free(w);
}

TEST(pools_round_up_within_their_input)
{
    begin("1,1,6,7");
    node("AveragePool", "x", "a", "kernel_shape=1,2 strides=4,2 pads=0,0,0,1 ceil_mode=1");
    node("MaxPool", "x", "b", "kernel_shape=3,3 strides=2,2 auto_pad=SAME_UPPER");
    th_workload *w = read_model();
    CU_ASSERT_TRUE(is_layer(w, 0, (expected_layer){"a", "mean_pool", 1, 2, 4}) &&
                   is_layer(w, 1, (expected_layer){"b", "max_pool", 1, 3, 4}));
    CU_ASSERT_TRUE(w->layers[1].pad_top == 0 && w->layers[1].pad_left == 1);
    th_workload_free(w);
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
    th_workload *w = read_at(0, -1, &e), *v = read_at(3, TH_INT8, &e);
    CU_ASSERT_FATAL(w && v);
    CU_ASSERT_TRUE(w->batch == 8 && w->precision == TH_FP16 &&
                   w->layers[0].precision[TH_TENSOR_WEIGHT] == TH_FP16);
    CU_ASSERT_TRUE(v->batch == 3 && v->precision == TH_INT8 && v->layers[0].dim[TH_DIM_B] == 3);
    th_workload_free(w);
    th_workload_free(v);
    unlink(path);
}

/* ---- what is refused ------------------------------------------------------------------------- */

TEST(bad_files_are_refused)
{
    th_error e = {"", ""};
    write_file("no model", 8);
    CU_ASSERT_PTR_NULL(read_at(0, -1, &e));
    TAP_ASSERT_TEXT(e.text,
                    "test_onnx_read.tmp.onnx: must be an ONNX model: a graph of nodes in protobuf");
    unlink(path);
    CU_ASSERT_PTR_NULL(read_at(0, -1, &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0031");
    begin("1,1,1,1");
    expect("WORK-0080", "must be an ONNX model: a graph of nodes in protobuf");
    begin("1,-2");
    m.dimension[0][1].has_dim_value = true;
    node("Relu", "x", "y", "");
    expect("WORK-0105", "input \"x\": axis 1 is -2 long: from 1 to 268435456 was expected");
    begin("1,0,8,8");
    node("Relu", "x", "y", "");
    expect("WORK-0106", "input \"x\": axis 1 has no length: -dim {x.1 N} was expected");
    m.dimension[0][1].dim_param = (char *)"features";
    expect("WORK-0106", "input \"x\": axis 1 has no length: -dim {features N} was expected");
    begin("1,2");
    m.type[0].tensor_type = NULL;
    node("Relu", "x", "y", "");
    expect("WORK-0107", "input \"x\": a tensor with a shape was expected");
    begin("1,2");
    m.shape[0].n_dim = 13;
    ThOnnx__Dimension *many[13];
    for (int i = 0; i < 13; i++)
        many[i] = &m.dimension[0][0];
    m.shape[0].dim = many;
    node("Relu", "x", "y", "");
    expect("WORK-0108", "input \"x\": 13 axes: at most 12 were expected");
    begin("1,2,268435456,2,2");
    node("Relu", "x", "y", "");
    expect("WORK-0110", "input \"x\": more than 268435456 channels, rows or columns");
    begin("1,2");
    int64_t extents[13] = {0};
    weights("w", "1");
    m.tensor[0].n_dims = 13;
    m.tensor[0].dims = extents;
    node("Relu", "x", "y", "");
    expect("WORK-0112", "initializer \"w\": 13 axes: at most 12 were expected");
    begin("1,2");
    weights("w", "1");
    weights("w", "1");
    node("Relu", "x", "y", "");
    expect("WORK-0113", "initializer \"w\": another tensor has the name");
}

TEST(graphs_that_are_none_are_refused)
{
    begin("1,2");
    node("Add", "x c", "a", "");
    node("Relu", "a", "b", "");
    node("Neg", "b", "c", "");
    expect("WORK-0119", "node \"b\" (Relu): it lies on a cycle: it reads what \"a\" makes");
    begin("1,2");
    node("Relu", "x", "a", "");
    node("Neg", "x", "a", "");
    expect("WORK-0083", "node \"a\" (Neg): output 1 \"a\": another tensor has the name");
    begin("2,3");
    integers("one", "1,-1", false);
    node("Reshape", "x one", "a", "");
    weights("w", "6,4");
    node("MatMul", "a w", "b", "");
    th_error e = {"", ""};
    write_model();
    CU_ASSERT_PTR_NULL(read_at(3, -1, &e));
    TAP_ASSERT_TEXT(e.id, "WORK-0111");
    unlink(path);
}

TEST(bad_nodes_are_refused)
{
    refused("WORK-0081", "Relu", "q", "", "input 1 \"q\" is not there");
    refused("WORK-0089", "Slice", "x", "", "must have starts and ends");
    refused("WORK-0085", "Conv", "x w", "strides=2,0",
            "strides: 2 numbers from 1 to 268435456 were expected");
    refused("WORK-0085", "MaxPool", "x", "",
            "kernel_shape: 2 numbers from 1 to 268435456 were expected");
    refused("WORK-0085", "Conv", "x w", "pads=1,1,1",
            "pads: 4 numbers from 0 to 268435456 were expected");
    refused("WORK-0086", "MaxPool", "x", "kernel_shape=9,2",
            "a kernel of 9 (dilation 1) is larger than its input of 8 with padding");
    refused("WORK-0087", "ConvTranspose", "x w", "pads=5,5,5,5",
            "the padding crops all 10 elements of an axis");
    refused("WORK-0145", "Conv", "x w", "group=2", "2 groups of 4 channels: the input has 4");
    refused("WORK-0091", "Add", "x t", "",
            "extents 8 and 4 of axis 2: equal ones, or 1, were expected");
    refused("WORK-0092", "Concat", "x v", "",
            "input 2 \"v\" has other extents than the first, and not along axis 1 alone");
    refused("WORK-0094", "Upsample", "x one", "", "a scale of -1: out of range");
    refused("WORK-0095", "Constant", "", "", "value: a tensor of at most 12 axes was expected");
    refused("WORK-0096", "Reshape", "x w", "",
            "input 2 \"w\" is not known without running the model, and a shape depends on it");
    refused("WORK-0097", "ConstantOfShape", "n", "", "extent -1: from 0 to 268435456 was expected");
    refused("WORK-0098", "Concat", "x x", "axis=4", "axis 4: from -4 to 3 was expected");
    refused("WORK-0099", "NonZero", "x", "",
            "the shape of its output depends on the data; only models whose shapes follow from "
            "their inputs' can be read");
    refused("WORK-0100", "Unsqueeze", "x", "axes=0,1,2,3,4,5,6,7,8",
            "13 axes: at most 12 are read");
    refused("WORK-0101", "Transpose", "x", "perm=1,0,2,2",
            "perm: an order of all 4 axes was expected");
    refused("WORK-0103", "MatMul", "x w2", "", "the first input has 8 columns, the second 9 rows");
    refused("WORK-0104", "Reshape", "x n", "", "a shape of 256 elements was expected");
    refused("WORK-0114", "Expand", "x huge", "",
            "output 1 has more than 2^53 elements, or a negative extent");
    refused("WORK-0084", "Expand", "x tall", "",
            "an extent of more than 268435456 in batch x channels x height x width");
    refused("WORK-0117", "If", "x", "",
            "its condition \"x\" is not known without running the model");
    refused("WORK-0118", "If", "true", "", "then_branch: a graph was expected");
    refused("WORK-0146", "Einsum", "x", "equation=ab->ba",
            "equation: one that fits the extents of up to 8 inputs was expected");
    refused("WORK-0102", "Relo", "x", "",
            "no rule for this operator (did you mean Relu?); docs/onnx.md has those that are read, "
            "and -unknown copy reads others as copies");
}

/* A chain of branches, each the only node of the one around it. */
static void nest_branches(ThOnnx__Graph *graphs, ThOnnx__Node *nodes, ThOnnx__Attribute *a, int n)
{
    static char *inputs[] = {(char *)"true"}, *outputs[] = {(char *)"y"};
    static ThOnnx__Node *node_lists[80];
    static ThOnnx__Attribute *attribute_lists[80];
    for (int i = 0; i < n; i++) {
        th_onnx__graph__init(&graphs[i]);
        th_onnx__node__init(&nodes[i]);
        th_onnx__attribute__init(&a[i]);
        node_lists[i] = &nodes[i];
        attribute_lists[i] = &a[i];
        graphs[i].node = &node_lists[i];
        graphs[i].n_node = 1;
        nodes[i].op_type = (char *)"If";
        nodes[i].input = inputs;
        nodes[i].output = outputs;
        nodes[i].n_input = nodes[i].n_output = 1;
        nodes[i].attribute = &attribute_lists[i];
        nodes[i].n_attribute = i + 1 < n;
        a[i].name = (char *)"then_branch";
        a[i].g = i + 1 < n ? &graphs[i + 1] : NULL;
    }
}

TEST(deep_branches_are_refused)
{
    static ThOnnx__Graph graphs[80];
    static ThOnnx__Node nodes[80];
    static ThOnnx__Attribute a[80];
    begin("1,2");
    integers("true", "1", false);
    nest_branches(graphs, nodes, a, 40);
    m.nodes[m.graph.n_node++] = &nodes[0];
    expect("WORK-0116", "node \"y\" (If): branches or functions deeper than 32 levels");
    nest_branches(graphs, nodes, a, 80);
    expect("WORK-0088", "graphs inside graphs: at most 64 levels are read");
    nest_branches(graphs, nodes, a, 2);
    nodes[1].op_type = (char *)"Not";
    ThOnnx__Value result, *results[] = {&result};
    th_onnx__value__init(&result);
    result.name = (char *)"z";
    graphs[1].output = results;
    graphs[1].n_output = 1;
    expect("WORK-0115", "node \"y\" (If): \"z\", which it returns, is not there");
}

/* Cut off anywhere, and with any byte changed, it is a model or an error. */
TEST(any_bytes_are_read_or_refused)
{
    begin("1,4,8,8");
    weights("w", "4,4,3,3");
    integers("n", "1,-1", true);
    node("Conv", "x w", "a", "pads=1,1,1,1");
    node("Reshape", "a n", "b", "");
    write_model();
    unsigned char bytes[1024];
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    int read = 0;
    for (size_t i = 0; i < n; i++)
        for (int change = 0; change < 9; change++) {
            th_error e = {"", ""};
            bytes[i] ^= change > 0 ? 1u << (change - 1) : 0;
            write_file(bytes, change > 0 ? n : i);
            bytes[i] ^= change > 0 ? 1u << (change - 1) : 0;
            th_workload *w = read_at(0, -1, &e);
            CU_ASSERT_TRUE((w != NULL) == (e.id[0] == '\0'));
            read += w != NULL;
            th_workload_free(w);
        }
    CU_ASSERT(read > 0 && (size_t)read < 9 * n);
    unlink(path);
}

TEST(any_allocation_may_fail)
{
    begin("1,4,8,8");
    weights("w", "4,4,3,3");
    node("Conv", "x w", "a", "");
    node("Concat", "a a", "b", "");
    write_model();
    th_error e = {"", ""};
    int64_t live = th_alloc_live();
    th_workload *w = NULL;
    int k = 0;
    while (!w && k < 1000) {
        e = (th_error){"", ""};
        th_alloc_fail_at(++k);
        w = read_at(0, -1, &e);
        CU_ASSERT_TRUE(w || th_error_is_no_memory(&e));
        CU_ASSERT_TRUE(w || th_alloc_live() == live);
    }
    th_alloc_fail_at(0);
    CU_ASSERT(w && k > 10);
    th_workload_free(w);
    unlink(path);
}

TAP_MAIN("onnx_read")
