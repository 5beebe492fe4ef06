/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_graph.c - see onnx_graph.h. */
#include <config.h>
#include "workloads/onnx_graph.h"

#include <string.h>

#include "base/text_file.h"

static bool is_whole(const ThOnnx__Model *m)
{
    if (!m->graph || m->graph->n_node == 0)
        return false;
    for (size_t i = 0; i < m->graph->n_node; i++) {
        const th_onnx_node *n = m->graph->node[i];
        if (!n->op_type || n->n_output == 0)
            return false;
        for (size_t k = 0; k < n->n_attribute; k++)
            if (!n->attribute[k]->name)
                return false;
    }
    for (size_t i = 0; i < m->graph->n_initializer; i++)
        if (!m->graph->initializer[i]->name)
            return false;
    for (size_t i = 0; i < m->graph->n_input; i++)
        if (!m->graph->input[i]->name)
            return false;
    return true;
}

ThOnnx__Model *th_onnx_open(const char *path, th_error *err)
{
    th_strbuf bytes = TH_STRBUF_INIT;
    ThOnnx__Model *m = NULL;
    if (th_text_file_read(path, TH_ONNX_FILE_MAX, &bytes, err) == 0) {
        m = th_onnx__model__unpack(NULL, bytes.length, (const uint8_t *)bytes.text);
        if (!m || !is_whole(m)) {
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
    return n->name && n->name[0] ? n->name : n->output[0];
}

static const ThOnnx__Attribute *attribute_of(const th_onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(n->attribute[i]->name, name) == 0)
            return n->attribute[i];
    return NULL;
}

bool th_onnx_has(const th_onnx_node *n, const char *attribute)
{
    return attribute_of(n, attribute);
}

int64_t th_onnx_int(const th_onnx_node *n, const char *attribute, int64_t otherwise)
{
    const ThOnnx__Attribute *a = attribute_of(n, attribute);
    return a && a->has_i ? a->i : otherwise;
}

bool th_onnx_is(const th_onnx_node *n, const char *attribute, const char *text)
{
    const ThOnnx__Attribute *a = attribute_of(n, attribute);
    return a && a->has_s && a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

const th_onnx_tensor *th_onnx_tensor_of(const th_onnx_node *n, const char *attribute)
{
    const ThOnnx__Attribute *a = attribute_of(n, attribute);
    return a ? a->t : NULL;
}

static int copy_integers(const int64_t *from, size_t n, int64_t *out, int max)
{
    for (size_t i = 0; i < n && i < (size_t)max; i++)
        out[i] = from[i];
    return n < (size_t)max ? (int)n : max;
}

int th_onnx_ints(const th_onnx_node *n, const char *attribute, int64_t *out, int max)
{
    const ThOnnx__Attribute *a = attribute_of(n, attribute);
    return a ? copy_integers(a->ints, a->n_ints, out, max) : 0;
}

/* ---- tensors ---- */

static int64_t little_endian(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = (int)sizeof value - 1; i >= 0; i--)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}

int th_onnx_integers(const th_onnx_tensor *t, int64_t *out, int max)
{
    if (!t || t->data_type != TH_ONNX_INT64)
        return -1;
    if (t->n_int64_data > 0 || !t->has_raw_data)
        return copy_integers(t->int64_data, t->n_int64_data, out, max);
    size_t n = t->raw_data.len / sizeof *out;
    for (size_t i = 0; i < n && i < (size_t)max; i++)
        out[i] = little_endian(t->raw_data.data + i * sizeof *out);
    return n < (size_t)max ? (int)n : max;
}
