/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.c - see graph.h. */
#include <config.h>
#include "workloads/onnx/graph.h"

#include <math.h>
#include <string.h>

#include "base/files/text_file.h"

static bool are_whole_extents(const int64_t *dims, size_t n_dims)
{
    int64_t n = 1;
    for (size_t i = 0; i < n_dims; i++) {
        if (dims[i] < 0 || (dims[i] > 0 && n > INT64_MAX / dims[i]))
            return false;
        n *= dims[i] > 0 ? dims[i] : 1;
    }
    return true;
}

static bool is_whole_tensor(const th_onnx_tensor *t)
{
    return are_whole_extents(t->dims, t->n_dims);
}

static bool is_whole_graph(const ThOnnx__Graph *g);

static bool are_whole_nodes(th_onnx_node *const *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!nodes[i]->op_type || nodes[i]->n_output == 0)
            return false;
        for (size_t k = 0; k < nodes[i]->n_attribute; k++) {
            const th_onnx_attribute *a = nodes[i]->attribute[k];
            if (!a->name || (a->t && !is_whole_tensor(a->t)) || (a->g && !is_whole_graph(a->g)))
                return false;
        }
    }
    return true;
}

static bool are_named(ThOnnx__Value *const *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!values[i]->name)
            return false;
    return true;
}

static bool is_whole_graph(const ThOnnx__Graph *g)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!g->initializer[i]->name || !is_whole_tensor(g->initializer[i]))
            return false;
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        const ThOnnx__SparseTensor *t = g->sparse_initializer[i];
        if (!t->values || !t->values->name || !are_whole_extents(t->dims, t->n_dims))
            return false;
    }
    return are_whole_nodes(g->node, g->n_node) && are_named(g->input, g->n_input) &&
           are_named(g->output, g->n_output) && are_named(g->value_info, g->n_value_info);
}

static bool is_whole(const ThOnnx__Model *m)
{
    if (!m->graph || m->graph->n_node == 0)
        return false;
    for (size_t i = 0; i < m->n_functions; i++)
        if (!m->functions[i]->name ||
            !are_whole_nodes(m->functions[i]->node, m->functions[i]->n_node))
            return false;
    return is_whole_graph(m->graph);
}

/* How deep messages may lie in one another: a branch within a branch is four levels. */
enum { DEEPEST = 64 };

/* Whether the nested graphs lie deeper than DEEPEST, so that protoc-c's reader, which calls itself,
 * may not be given them. A walk over lengths alone: an attribute's field 6 is its graph. */
typedef struct {
    const uint8_t *at, *end;
} span;

static bool read_varint(span *s, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; s->at < s->end && shift < 64; shift += 7) {
        uint8_t byte = *s->at++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* The next field that is a message with this number; false: there is none. */
static bool next_message(span *s, unsigned number, span *out)
{
    enum { VARINT, FIXED64, BYTES, FIXED32 = 5, KIND_BITS = 3, KIND_MASK = 7 };
    uint64_t key, n = 0;
    while (s->at < s->end && read_varint(s, &key)) {
        uint64_t kind = key & KIND_MASK, left;
        bool is_good = kind == VARINT ? read_varint(s, &left) : true;
        if (kind == BYTES)
            is_good = read_varint(s, &n);
        else
            n = kind == FIXED64 ? 8 : kind == FIXED32 ? 4 : 0;
        if (!is_good || n > (uint64_t)(s->end - s->at))
            return false;
        *out = (span){s->at, s->at + n};
        s->at += n;
        if (kind == BYTES && key >> KIND_BITS == number)
            return true;
    }
    return false;
}

typedef enum { MODEL, FUNCTION, GRAPH, NODE, ATTRIBUTE } message;

/* By its fields, does the message lie more than this many graphs deep? */
static bool is_deeper(span s, message kind, int levels)
{
    static const struct {
        message kind;
        unsigned field;
        message inner;
    } fields[] = {{MODEL, 7, GRAPH},         {MODEL, 25, FUNCTION}, {FUNCTION, 7, NODE},
                  {FUNCTION, 11, ATTRIBUTE}, {GRAPH, 1, NODE},      {NODE, 5, ATTRIBUTE},
                  {ATTRIBUTE, 6, GRAPH},     {ATTRIBUTE, 11, GRAPH}};
    if (kind == GRAPH && levels-- == 0)
        return true;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        span rest = s, inner;
        while (fields[i].kind == kind && next_message(&rest, fields[i].field, &inner))
            if (is_deeper(inner, fields[i].inner, levels))
                return true;
    }
    return false;
}

ThOnnx__Model *th_onnx_open(const char *path, th_error *err)
{
    th_strbuf bytes = TH_STRBUF_INIT;
    ThOnnx__Model *m = NULL;
    if (th_file_bytes_read(path, TH_ONNX_FILE_MAX, &bytes, err) == 0) {
        const uint8_t *text = (const uint8_t *)bytes.text;
        bool is_deep = is_deeper((span){text, text + bytes.length}, MODEL, DEEPEST + 1);
        if (!is_deep)
            m = th_onnx__model__unpack(NULL, bytes.length, text);
        if (is_deep) {
            th_error_set(err, "WORK-0088", "%s: graphs inside graphs: at most %d levels are read",
                         path, DEEPEST);
        } else if (!m || !is_whole(m)) {
            th_onnx_close(m);
            m = NULL;
            th_error_set(err, "WORK-0080",
                         "%s: must be an ONNX model: a graph of nodes in protobuf", path);
        }
    }
    th_strbuf_clear(&bytes);
    return m;
}

void th_onnx_close(ThOnnx__Model *m)
{
    if (m)
        th_onnx__model__free_unpacked(m, NULL);
}

/* ---- attributes ---- */

const char *th_onnx_node_name(const th_onnx_node *n)
{
    if (n->name && n->name[0])
        return n->name;
    for (size_t i = 0; i < n->n_output; i++)
        if (n->output[i][0])
            return n->output[i];
    return n->op_type;
}

const th_onnx_attribute *th_onnx_attribute_of(const th_onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(n->attribute[i]->name, name) == 0)
            return n->attribute[i];
    return NULL;
}

bool th_onnx_has(const th_onnx_node *n, const char *attribute)
{
    return th_onnx_attribute_of(n, attribute);
}

int64_t th_onnx_int(const th_onnx_node *n, const char *attribute, int64_t otherwise)
{
    const th_onnx_attribute *a = th_onnx_attribute_of(n, attribute);
    return a && a->has_i ? a->i : otherwise;
}

bool th_onnx_is(const th_onnx_node *n, const char *attribute, const char *text)
{
    const th_onnx_attribute *a = th_onnx_attribute_of(n, attribute);
    return a && a->has_s && a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

int th_onnx_ints(const th_onnx_node *n, const char *attribute, int64_t *out, int max)
{
    const th_onnx_attribute *a = th_onnx_attribute_of(n, attribute);
    if (!a)
        return -1;
    int count = a->n_ints < (size_t)max ? (int)a->n_ints : max;
    for (int i = 0; i < count; i++)
        out[i] = a->ints[i];
    return count;
}

/* ---- tensors ---- */

bool th_onnx_is_real(int32_t type)
{
    return type == TH_ONNX_FLOAT || type == TH_ONNX_DOUBLE || type == TH_ONNX_FLOAT16 ||
           type == TH_ONNX_BFLOAT16;
}

size_t th_onnx_bytes_of_type(int32_t type)
{
    switch (type) {
    case TH_ONNX_UINT8:
    case TH_ONNX_INT8:
    case TH_ONNX_BOOL:
        return 1;
    case TH_ONNX_UINT16:
    case TH_ONNX_INT16:
    case TH_ONNX_FLOAT16:
    case TH_ONNX_BFLOAT16:
        return 2;
    case TH_ONNX_FLOAT:
    case TH_ONNX_INT32:
    case TH_ONNX_UINT32:
        return 4;
    case TH_ONNX_INT64:
    case TH_ONNX_UINT64:
    case TH_ONNX_DOUBLE:
        return 8;
    default:
        return 0;
    }
}

static uint64_t little_endian(const uint8_t *bytes, size_t n)
{
    uint64_t value = 0;
    for (size_t i = n; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

static double half_of(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 0x1f);
    double fraction = (double)(bits & 0x3ff) / 1024, sign = bits >> 15 ? -1 : 1;
    if (exponent == 0x1f)
        return fraction > 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? ldexp(fraction, -14) : ldexp(1 + fraction, exponent - 15));
}

static double real_of(int32_t type, uint64_t bits)
{
    float single;
    double twice;
    uint32_t word = (uint32_t)(type == TH_ONNX_BFLOAT16 ? bits << 16 : bits);
    if (type == TH_ONNX_FLOAT16)
        return half_of(bits);
    if (type == TH_ONNX_DOUBLE) {
        memcpy(&twice, &bits, sizeof twice);
        return twice;
    }
    memcpy(&single, &word, sizeof single);
    return (double)single;
}

static int64_t int_of(int32_t type, uint64_t bits)
{
    switch (type) {
    case TH_ONNX_INT8:
        return (int8_t)bits;
    case TH_ONNX_INT16:
        return (int16_t)bits;
    case TH_ONNX_INT32:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

static void set_number(int32_t type, int64_t i, uint64_t bits, int64_t *ints, double *reals)
{
    if (th_onnx_is_real(type))
        reals[i] = real_of(type, bits);
    else
        ints[i] = int_of(type, bits);
}

/* The element in the field of its type; types of 16 bits and less lie in int32_data as bits. */
static void copy_typed(const th_onnx_tensor *t, int64_t i, int64_t *ints, double *reals)
{
    switch (t->data_type) {
    case TH_ONNX_FLOAT:
        reals[i] = (double)t->float_data[i];
        break;
    case TH_ONNX_DOUBLE:
        reals[i] = t->double_data[i];
        break;
    case TH_ONNX_INT64:
        ints[i] = t->int64_data[i];
        break;
    case TH_ONNX_UINT32:
    case TH_ONNX_UINT64:
        ints[i] = (int64_t)t->uint64_data[i];
        break;
    default:
        set_number(t->data_type, i, (uint64_t)(int64_t)t->int32_data[i], ints, reals);
    }
}

static size_t count_typed(const th_onnx_tensor *t)
{
    switch (t->data_type) {
    case TH_ONNX_FLOAT:
        return t->n_float_data;
    case TH_ONNX_DOUBLE:
        return t->n_double_data;
    case TH_ONNX_INT64:
        return t->n_int64_data;
    case TH_ONNX_UINT32:
    case TH_ONNX_UINT64:
        return t->n_uint64_data;
    default:
        return t->n_int32_data;
    }
}

int64_t th_onnx_tensor_numbers(const th_onnx_tensor *t, int64_t max, int64_t *ints, double *reals)
{
    int64_t n = 1;
    size_t size = th_onnx_bytes_of_type(t->data_type);
    for (size_t i = 0; i < t->n_dims; i++)
        n = t->dims[i] > max && n > 0 ? max + 1 : n * t->dims[i] > max ? max + 1 : n * t->dims[i];
    if (size == 0 || n > max)
        return -1;
    if (t->has_raw_data && t->raw_data.len == (size_t)n * size) {
        for (int64_t i = 0; i < n; i++)
            set_number(t->data_type, i, little_endian(t->raw_data.data + (size_t)i * size, size),
                       ints, reals);
        return n;
    }
    if (count_typed(t) != (size_t)n)
        return -1;
    for (int64_t i = 0; i < n; i++)
        copy_typed(t, i, ints, reals);
    return n;
}

const char *th_onnx_external(const th_onnx_tensor *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++)
        if (t->external_data[i]->key && strcmp(t->external_data[i]->key, key) == 0)
            return t->external_data[i]->value;
    return NULL;
}
