/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_read.c - a workload from an ONNX model: node by node, in the order of the file, which is
 * topological.
 *   th_onnx_open -> add_constants -> begin -> count_uses -> read_node* -> finish
 * Nodes that only reshape a tensor create a view of it. Activations, batch norms and biases become
 * part of the layer that they follow if nothing else reads it. All other nodes add a layer. A view
 * whose elements were transposed and that has the shape of its layer again (a shuffle of channels)
 * becomes a copy layer when it is read. */
#include <config.h>
#include "workloads/onnx_read.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/names.h"
#include "workloads/onnx_values.h"

enum { OPERATORS_MAX = 64, NAME_BYTES = 200 };

/* ---- what a graph begins with ---------------------------------------------------------------- */

static int add_constants(th_onnx_reader *r)
{
    for (size_t i = 0; i < r->graph->n_initializer; i++) {
        const th_onnx_tensor *t = r->graph->initializer[i];
        th_onnx_value v = {.is_constant = true, .tensor = t};
        if (t->n_dims > TH_ONNX_RANK_MAX)
            return th_error_set(r->err, "WORK-0100",
                                "%s: initializer \"%.100s\": %zu dimensions: at most %d were "
                                "expected",
                                r->path, t->name, t->n_dims, TH_ONNX_RANK_MAX);
        for (; v.rank < (int32_t)t->n_dims; v.rank++)
            v.dim[v.rank] = t->dims[v.rank];
        if (th_onnx_define(r, t->name, &v))
            return -1;
    }
    return 0;
}

/* The one that is no initializer; NULL: there is none, or another. */
static const ThOnnx__Value *sole_input(const th_onnx_reader *r)
{
    const ThOnnx__Value *found = NULL;
    for (size_t i = 0; i < r->graph->n_input; i++) {
        if (th_onnx_find(r, r->graph->input[i]->name))
            continue;
        if (found)
            return NULL;
        found = r->graph->input[i];
    }
    return found;
}

/* Its extents; those of the batch may be open, which is 1. -1: they are not those of images or
 * vectors. */
static int read_extents(const ThOnnx__Value *input, th_onnx_value *v)
{
    const ThOnnx__Shape *s =
        input->type && input->type->tensor_type ? input->type->tensor_type->shape : NULL;
    if (!s || (s->n_dim != TH_ONNX_FLAT && s->n_dim != TH_ONNX_IMAGE))
        return -1;
    v->rank = (int32_t)s->n_dim;
    for (int32_t i = 0; i < v->rank; i++) {
        v->dim[i] = s->dim[i]->has_dim_value ? s->dim[i]->dim_value : 0;
        v->dim[i] = i == 0 && v->dim[i] < 1 ? 1 : v->dim[i];
        if (v->dim[i] < 1 || v->dim[i] > TH_ONNX_EXTENT_MAX)
            return -1;
    }
    v->c = (int32_t)v->dim[1];
    v->h = v->rank == TH_ONNX_IMAGE ? (int32_t)v->dim[2] : 1;
    v->w = v->rank == TH_ONNX_IMAGE ? (int32_t)v->dim[3] : 1;
    v->layer = TH_EXTERNAL_INPUT;
    return 0;
}

static th_precision precision_of(const ThOnnx__Value *input)
{
    enum { UINT8 = 2, INT8, UINT16, INT16, FLOAT16 = 10, BFLOAT16 = 16 }; /* TensorProto.DataType */
    switch (input->type->tensor_type->elem_type) {
    case UINT8:
    case INT8:
        return TH_INT8;
    case UINT16:
    case INT16:
        return TH_INT16;
    case FLOAT16:
        return TH_FP16;
    case BFLOAT16:
        return TH_BF16;
    default:
        return TH_FP32;
    }
}

/* batch 0: the model's. precision -1: that of its input. */
static int begin(th_onnx_reader *r, int32_t batch, int precision)
{
    const ThOnnx__Value *in = sole_input(r);
    th_onnx_value v = {0};
    if (!in || read_extents(in, &v))
        return th_error_set(r->err, "WORK-0101",
                            "%s: one input of batch x channels x height x width, or of batch x "
                            "features, was expected, all of them known but the batch",
                            r->path);
    char name[NAME_BYTES + 1];
    const char *slash = strrchr(r->path, '/'), *file = slash ? slash + 1 : r->path,
               *dot = strrchr(file, '.');
    snprintf(name, sizeof name, "%.*s", dot && dot > file ? (int)(dot - file) : (int)strlen(file),
             file);
    r->batch = v.dim[0];
    r->precision = precision < 0 ? precision_of(in) : (th_precision)precision;
    r->w = th_workload_new(
        name, r->path,
        &(th_workload_input){batch > 0 ? batch : (int32_t)r->batch, v.c, v.h, v.w, r->precision},
        r->err);
    return r->w ? th_onnx_define(r, in->name, &v) : -1;
}

static int count_uses(th_onnx_reader *r)
{
    for (size_t i = 0; i < r->graph->n_node; i++)
        for (size_t k = 0; k < r->graph->node[i]->n_input; k++) {
            const char *name = r->graph->node[i]->input[k];
            int64_t n = 0;
            th_map_get(r->uses, name, strlen(name), &n);
            if (th_map_put(r->uses, name, strlen(name), n + 1))
                return th_error_no_memory(r->err);
        }
    return 0;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const th_onnx_operator *operator_in(const th_onnx_operator *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

static int names_of(const th_onnx_operator *table, const char **names)
{
    int n = 0;
    for (; table[n].name; n++)
        names[n] = table[n].name;
    return n;
}

static int refuse_operator(th_onnx_reader *r)
{
    const char *names[OPERATORS_MAX];
    int n = names_of(th_onnx_operators, names);
    n += names_of(th_onnx_views, names + n);
    const char *near = th_name_nearest(r->node->op_type, names, (size_t)n);
    return th_onnx_refuse(r, "WORK-0102",
                          "this operator is not read%s%s%s; docs/formats.md has those that are",
                          near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static int read_node(th_onnx_reader *r)
{
    const th_onnx_operator *o = operator_in(th_onnx_operators, r->node->op_type);
    if (!o)
        o = operator_in(th_onnx_views, r->node->op_type);
    bool is_of_onnx =
        !r->node->domain || r->node->domain[0] == '\0' || strcmp(r->node->domain, "ai.onnx") == 0;
    return o && is_of_onnx ? o->read(r, o->what) : refuse_operator(r);
}

static int read_graph(th_onnx_reader *r, int32_t batch, int precision)
{
    if (add_constants(r) || begin(r, batch, precision) || count_uses(r))
        return -1;
    for (size_t i = 0; i < r->graph->n_node; i++) {
        r->node = r->graph->node[i];
        if (read_node(r))
            return -1;
    }
    return th_workload_finish(r->w, r->err);
}

th_workload *th_workload_read_onnx(const char *path, int32_t batch, int precision, th_error *err)
{
    ThOnnx__Model *m = th_onnx_open(path, err);
    if (!m)
        return NULL;
    th_onnx_reader r = {
        .path = path, .graph = m->graph, .number = th_map_new(), .uses = th_map_new(), .err = err};
    int status = r.number && r.uses ? read_graph(&r, batch, precision) : th_error_no_memory(err);
    th_map_free(r.number);
    th_map_free(r.uses);
    th_free(r.values);
    th_onnx_close(m);
    if (status == 0)
        return r.w;
    th_workload_free(r.w);
    return NULL;
}
