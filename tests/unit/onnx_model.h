/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_model.h - ONNX models for tests, node by node. The test that includes it names the file that
 * it writes, ONNX_MODEL_FILE.
 *   begin -> (input | weights | integers | node | body)* -> read_model | expect */
#ifndef TH_TESTS_UNIT_ONNX_MODEL_H
#define TH_TESTS_UNIT_ONNX_MODEL_H
#include "tests/unit/tap.h"
#include "workloads/onnx/onnx.pb-c.h"
#include "workloads/onnx/read.h"

#include <unistd.h>

static const char path[] = ONNX_MODEL_FILE;

/* ---- a model in the making ------------------------------------------------------------------- */

enum { MOST = 80, WORDS = 16, TEXT = 16384, BODIES = 4 };

static struct {
    char text[TEXT];
    size_t n_text;
    ThOnnx__Node node[MOST], *nodes[MOST];
    ThOnnx__Attribute attribute[MOST * WORDS], *attributes[MOST][WORDS];
    ThOnnx__Tensor tensor[MOST], *tensors[MOST];
    ThOnnx__Value value[MOST], *values[MOST], *infos[MOST];
    ThOnnx__Type type[MOST];
    ThOnnx__TensorType tensor_type[MOST];
    ThOnnx__Shape shape[MOST];
    ThOnnx__Dimension dimension[MOST][WORDS], *dimensions[MOST][WORDS];
    char *inputs[MOST][WORDS], *outputs[MOST][WORDS];
    int64_t number[MOST][WORDS], attribute_number[MOST * WORDS][WORDS];
    int64_t extent[MOST]; /* of lists of integers */
    size_t n_attributes, n_nodes;
    ThOnnx__Graph graph, body[BODIES];
    ThOnnx__Node *body_nodes[BODIES][MOST];
    ThOnnx__Value body_value[BODIES][WORDS], *body_values[BODIES][WORDS];
    size_t n_bodies;
} m;

static inline char *keep(const char *text, size_t n)
{
    char *kept = m.text + m.n_text;
    CU_ASSERT_FATAL(m.n_text + n < TEXT);
    memcpy(kept, text, n);
    kept[n] = '\0';
    m.n_text += n + 1;
    return kept;
}

/* The words of a text; "-" is an empty one. */
static inline size_t split(const char *text, char **words)
{
    size_t n = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        words[n++] = *text == '-' ? keep("", 0) : keep(text, length);
        text += length;
    }
    return n;
}

static inline size_t split_numbers(const char *text, int64_t *numbers)
{
    size_t n = 0;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        numbers[n++] = strtoll(text, &end, 10);
        CU_ASSERT_FATAL(end > text && n <= WORDS);
    }
    return n;
}

static inline void tensor_init(ThOnnx__Tensor *t, const char *name, int32_t type, const char *dims,
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
static inline void weights(const char *name, const char *dims)
{
    size_t i = m.graph.n_initializer++;
    tensor_init(&m.tensor[i], name, 1, dims, m.number[i]);
}

static inline void integers(const char *name, const char *numbers, bool is_raw)
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
static inline void value(size_t i, const char *name, int32_t type, const char *dims)
{
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

static inline void input(const char *name, int32_t type, const char *dims)
{
    value(m.graph.n_input++, name, type, dims);
}

/* The shape that the file states for a tensor; 0 is an extent that it does not. */
static inline void stated(const char *name, const char *dims)
{
    size_t i = MOST - ++m.graph.n_value_info;
    CU_ASSERT_FATAL(i >= m.graph.n_input);
    value(i, name, 1, dims);
    m.infos[m.graph.n_value_info - 1] = m.values[i];
}

/* name=NUMBER, name=NUMBER,NUMBER (one with a comma behind it is a list, too) or name=WORD */
static inline ThOnnx__Attribute *attribute(const char *text)
{
    size_t i = m.n_attributes++, length = strcspn(text, "=");
    ThOnnx__Attribute *a = &m.attribute[i];
    const char *what = text + length + 1;
    th_onnx__attribute__init(a);
    a->name = keep(text, length);
    if (strchr(what, ',') && strspn(what, "-0123456789,") == strlen(what)) {
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

static inline ThOnnx__Node *node(const char *op, const char *inputs, const char *output,
                                 const char *attributes)
{
    size_t i = m.n_nodes++;
    ThOnnx__Node *n = &m.node[i];
    char *words[WORDS];
    CU_ASSERT_FATAL(i < MOST);
    m.nodes[m.graph.n_node++] = n;
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

/* The nodes from number `first` on become a graph of their own, with these inputs and outputs: an
 * attribute of the node that is made next. */
static inline ThOnnx__Graph *body(size_t first, const char *inputs, const char *outputs)
{
    size_t i = m.n_bodies++, n = 0;
    ThOnnx__Graph *g = &m.body[i];
    char *words[2][WORDS];
    CU_ASSERT_FATAL(i < BODIES);
    th_onnx__graph__init(g);
    g->node = m.body_nodes[i];
    g->n_node = m.graph.n_node - first;
    memcpy(g->node, m.nodes + first, g->n_node * sizeof *g->node);
    m.graph.n_node = first;
    g->n_input = split(inputs, words[0]);
    g->n_output = split(outputs, words[1]);
    g->input = m.body_values[i];
    g->output = m.body_values[i] + g->n_input;
    for (size_t k = 0; k < 2; k++)
        for (size_t w = 0; w < (k ? g->n_output : g->n_input); w++, n++) {
            th_onnx__value__init(&m.body_value[i][n]);
            m.body_value[i][n].name = words[k][w];
            m.body_values[i][n] = &m.body_value[i][n];
        }
    return g;
}

static inline void give_body(ThOnnx__Node *n, const char *name, ThOnnx__Graph *g)
{
    size_t i = m.n_attributes++;
    th_onnx__attribute__init(&m.attribute[i]);
    m.attribute[i].name = keep(name, strlen(name));
    m.attribute[i].g = g;
    n->attribute[n->n_attribute++] = &m.attribute[i];
}

static inline void begin(const char *dims)
{
    memset(&m, 0, sizeof m);
    th_onnx__graph__init(&m.graph);
    m.graph.node = m.nodes;
    m.graph.initializer = m.tensors;
    m.graph.input = m.values;
    m.graph.value_info = m.infos;
    for (int i = 0; i < MOST; i++) {
        m.tensors[i] = &m.tensor[i];
        m.values[i] = &m.value[i];
        for (int k = 0; k < WORDS; k++)
            m.dimensions[i][k] = &m.dimension[i][k];
    }
    if (dims)
        input("x", 1, dims);
}

static inline void write_file(const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static inline void write_model(void)
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

static inline th_workload *read_at(int32_t batch, int precision, th_error *e)
{
    const th_onnx_options o = {.batch = batch, .precision = precision};
    return th_workload_read_onnx(path, &o, NULL, e);
}

/* Also what has no rule; notes receives what is told. */
static inline th_workload *read_noting(th_onnx_notes *notes, th_error *e)
{
    const th_onnx_options o = {.precision = -1, .copies_unknown = true};
    write_model();
    th_workload *w = th_workload_read_onnx(path, &o, notes, e);
    unlink(path);
    return w;
}

static inline th_workload *read_model(void)
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
static inline void expect(const char *id, const char *text)
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

static inline int64_t macs_of(const th_workload *w)
{
    int64_t n = 0;
    for (int i = 0; i < w->n_layers; i++)
        n += th_layer_macs(&w->layers[i]);
    return n;
}

/* The extents of the tensor "y" of the model that was read last. */
static char shape_of_y[128];

static inline void keep_y(void *context, const char *name, const int64_t *dim, int rank)
{
    size_t n = 0;
    (void)context;
    if (strcmp(name, "y") != 0)
        return;
    shape_of_y[0] = '\0';
    for (int i = 0; i < rank; i++)
        n += (size_t)snprintf(shape_of_y + n, sizeof shape_of_y - n, "%s%lld", i ? "," : "",
                              (long long)dim[i]);
}

static inline th_workload *read_y(bool copies, th_onnx_notes *notes, th_error *e)
{
    const th_onnx_options o = {.precision = -1, .copies_unknown = copies, .on_value = keep_y};
    shape_of_y[0] = '\0';
    *e = (th_error){"", ""};
    write_model();
    th_workload *w = th_workload_read_onnx(path, &o, notes, e);
    unlink(path);
    return w;
}

typedef struct expected_layer {
    const char *name, *type;
    int k, h, w;
} expected_layer;

static inline bool is_layer(const th_workload *w, int i, expected_layer x)
{
    const th_layer *l = &w->layers[i];
    return i < w->n_layers && strcmp(l->name, x.name) == 0 &&
           strcmp(th_layer_type_name(l), x.type) == 0 && l->dim[TH_DIM_K] == x.k &&
           l->dim[TH_DIM_H] == x.h && l->dim[TH_DIM_W] == x.w;
}

#endif
