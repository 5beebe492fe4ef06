/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_values.c - see onnx_values.h. */
#include <config.h>
#include "workloads/onnx_values.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "workloads/workload_check.h"

enum { NAME_BYTES = 240 };

int th_onnx_refuse(th_onnx_reader *r, const char *id, const char *format, ...)
{
    char text[TH_ERROR_TEXT_MAX / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return th_error_set(r->err, id, "%s: node \"%.100s\" (%.40s): %s", r->path,
                        th_onnx_node_name(r->node), r->node->op_type, text);
}

/* ---- values ---------------------------------------------------------------------------------- */

int th_onnx_define(th_onnx_reader *r, const char *name, const th_onnx_value *v)
{
    if (th_grow(&r->values, &r->room, r->n_values + 1, sizeof *r->values) ||
        th_map_put(r->number, name, strlen(name), (int64_t)r->n_values))
        return th_error_no_memory(r->err);
    r->values[r->n_values++] = *v;
    return 0;
}

int th_onnx_define_output(th_onnx_reader *r, const th_onnx_value *v)
{
    return th_onnx_define(r, r->node->output[0], v);
}

th_onnx_value *th_onnx_find(const th_onnx_reader *r, const char *name)
{
    int64_t i;
    return th_map_get(r->number, name, strlen(name), &i) ? &r->values[i] : NULL;
}

const th_onnx_value *th_onnx_input_or_none(const th_onnx_reader *r, size_t i)
{
    return i < r->node->n_input && r->node->input[i][0] ? th_onnx_find(r, r->node->input[i]) : NULL;
}

const th_onnx_value *th_onnx_input(th_onnx_reader *r, size_t i)
{
    const th_onnx_value *v = th_onnx_input_or_none(r, i);
    if (!v)
        th_onnx_refuse(r, "WORK-0081", "input %zu%s%.80s%s is not there", i + 1,
                       i < r->node->n_input ? " \"" : "",
                       i < r->node->n_input ? r->node->input[i] : "",
                       i < r->node->n_input ? "\"" : "");
    return v;
}

const th_onnx_value *th_onnx_tensor_input(th_onnx_reader *r, size_t i)
{
    const th_onnx_value *v = th_onnx_input(r, i);
    if (v && v->is_constant)
        th_onnx_refuse(
            r, "WORK-0082",
            "input %zu \"%.80s\" is a constant; a tensor that depends on the network's input was "
            "expected",
            i + 1, r->node->input[i]);
    return v && !v->is_constant ? v : NULL;
}

bool th_onnx_is_sole_reader(const th_onnx_reader *r, size_t i)
{
    int64_t n = 0;
    th_map_get(r->uses, r->node->input[i], strlen(r->node->input[i]), &n);
    return n == 1;
}

th_onnx_value th_onnx_value_of_layer(const th_onnx_reader *r, int32_t layer)
{
    const int32_t *d = r->w->layers[layer].dim;
    return (th_onnx_value){.rank = TH_ONNX_IMAGE,
                           .dim = {r->batch, d[TH_DIM_K], d[TH_DIM_H], d[TH_DIM_W]},
                           .layer = layer,
                           .c = d[TH_DIM_K],
                           .h = d[TH_DIM_H],
                           .w = d[TH_DIM_W]};
}

static bool has_shape_of_layer(const th_onnx_value *v)
{
    return v->rank == TH_ONNX_IMAGE && v->dim[1] == v->c && v->dim[2] == v->h && v->dim[3] == v->w;
}

bool th_onnx_is_flat(const th_onnx_value *v)
{
    return v->rank == TH_ONNX_FLAT && v->dim[1] == (int64_t)v->c * v->h * v->w && !v->is_permuted;
}

/* ---- layers ---------------------------------------------------------------------------------- */

th_layer th_onnx_layer_over(const th_onnx_reader *r, th_layer_kind kind, const th_onnx_value *in)
{
    return th_layer_over(kind, r->w->batch, in->c, in->h, in->w, r->precision);
}

int32_t th_onnx_add_layer(th_onnx_reader *r, th_layer *l, int32_t *from, int32_t n,
                          const char *suffix)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.200s%s", th_onnx_node_name(r->node), suffix);
    th_workload_make_name(r->w, name, r->w->n_layers + 1, sizeof name);
    l->name = name;
    l->inputs = from;
    l->n_inputs = n;
    return th_workload_add_layer(r->w, l, r->err);
}

int th_onnx_add_output_of(th_onnx_reader *r, th_layer *l, const th_onnx_value *in)
{
    int32_t from = in->layer, layer = th_onnx_add_layer(r, l, &from, 1, "");
    if (layer < 0)
        return -1;
    th_onnx_value v = th_onnx_value_of_layer(r, layer);
    return th_onnx_define_output(r, &v);
}

const th_onnx_value *th_onnx_image_input(th_onnx_reader *r, size_t i)
{
    const th_onnx_value *v = th_onnx_tensor_input(r, i);
    if (!v || (has_shape_of_layer(v) && !v->is_permuted))
        return v;
    if (!has_shape_of_layer(v)) {
        th_onnx_refuse(r, "WORK-0083",
                       "input %zu \"%.80s\" was reshaped to other extents than %d x %d x %d "
                       "(channels x height x "
                       "width), which this operator cannot read here",
                       i + 1, r->node->input[i], (int)v->c, (int)v->h, (int)v->w);
        return NULL;
    }
    th_layer copy = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, v);
    int32_t from = v->layer;
    copy.function = TH_FUNCTION_COPY;
    int32_t layer = th_onnx_add_layer(r, &copy, &from, 1, ".input");
    if (layer < 0)
        return NULL;
    th_onnx_value *again = th_onnx_find(r, r->node->input[i]);
    *again = th_onnx_value_of_layer(r, layer);
    return again;
}

int th_onnx_add_alike(th_onnx_reader *r, th_layer *l, const th_onnx_value *in)
{
    int32_t from = in->layer;
    th_onnx_value v = *in;
    v.layer = th_onnx_add_layer(r, l, &from, 1, "");
    v.is_activated = v.is_shared = false;
    return v.layer < 0 ? -1 : th_onnx_define_output(r, &v);
}
