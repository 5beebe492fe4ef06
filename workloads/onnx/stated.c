/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stated.c - the shapes that an ONNX file states for the tensors of its graphs, and notes of what
 * is not read as the file has it; see value.h. */
#include <config.h>
#include "workloads/onnx/shape/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void tell(th_onnx_note *note, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (note->n++ == 0)
        vsnprintf(note->first, sizeof note->first, format, arguments);
    va_end(arguments);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static const ThOnnx__Shape *shape_of(const ThOnnx__Value *v)
{
    const ThOnnx__TensorType *t = v->type ? v->type->tensor_type : NULL;
    return t && t->shape && t->shape->n_dim <= TH_ONNX_RANK_MAX ? t->shape : NULL;
}

int th_onnx_state_shapes(th_onnx_reader *r, th_onnx_scope *s, const ThOnnx__Graph *g)
{
    size_t inner = g->n_value_info;
    s->graph = g;
    s->stated = th_map_new();
    for (size_t i = 0; s->stated && i < inner + g->n_output; i++) {
        const ThOnnx__Value *v = i < inner ? g->value_info[i] : g->output[i - inner];
        if (shape_of(v) && th_map_put(s->stated, v->name, strlen(v->name), (int64_t)i))
            return th_error_no_memory(r->err);
    }
    return s->stated ? 0 : th_error_no_memory(r->err);
}

/* The shape that the file states for a tensor; NULL: none. */
static const ThOnnx__Shape *stated_shape(const th_onnx_reader *r, const char *name)
{
    int64_t i;
    for (const th_onnx_scope *s = r->scope; s; s = s->outer)
        if (s->stated && th_map_get(s->stated, name, strlen(name), &i)) {
            int64_t inner = (int64_t)s->graph->n_value_info;
            return shape_of(i < inner ? s->graph->value_info[i] : s->graph->output[i - inner]);
        }
    return NULL;
}

/* The length of an axis; -1: it is open. */
static int64_t extent_of(const ThOnnx__Shape *shape, int32_t axis)
{
    const ThOnnx__Dimension *d = shape->dim[axis];
    return d->has_dim_value && d->dim_value > 0 ? d->dim_value : -1;
}

void th_onnx_set_stated(th_onnx_reader *r, size_t output, const th_onnx_value *like)
{
    th_onnx_value *out = &r->out[output];
    const char *name = r->node->output[output];
    const ThOnnx__Shape *shape = stated_shape(r, name);
    bool is_stated = shape || !name[0];
    out->type = like->type;
    out->rank = shape ? (int32_t)shape->n_dim : like->rank;
    for (int32_t i = 0; i < out->rank; i++) {
        out->dim[i] = shape ? extent_of(shape, i) : -1;
        is_stated = is_stated && out->dim[i] >= 0;
        if (out->dim[i] < 0)
            out->dim[i] = i < like->rank ? like->dim[i] : 1;
    }
    if (!is_stated)
        tell(&r->notes->guessed,
             "%s, which makes \"%.60s\", is read as a copy, and the file states no whole shape",
             th_onnx_kind(r, r->node).text, name);
}

void th_onnx_check_stated(th_onnx_reader *r, const char *name, const th_onnx_value *v)
{
    const ThOnnx__Shape *shape = r->node && !v->is_sequence ? stated_shape(r, name) : NULL;
    int32_t rank = shape ? (int32_t)shape->n_dim : v->rank, axis = 0;
    while (shape && rank == v->rank && axis < rank &&
           (extent_of(shape, axis) < 0 || extent_of(shape, axis) == v->dim[axis]))
        axis++;
    if (rank != v->rank)
        tell(&r->notes->contradicted, "\"%.60s\" of %d axes (%d as %s makes it)", name, (int)rank,
             (int)v->rank, th_onnx_kind(r, r->node).text);
    else if (shape && axis < rank)
        tell(&r->notes->contradicted, "axis %d of \"%.60s\" of %lld (%lld as %s makes it)",
             (int)axis, name, (long long)extent_of(shape, axis), (long long)v->dim[axis],
             th_onnx_kind(r, r->node).text);
}

/* ---- what is left out ------------------------------------------------------------------------ */

static void note_copy(th_onnx_reader *r)
{
    th_onnx_note *kind = r->notes->copied, *end = kind + TH_ONNX_KINDS_MAX;
    th_onnx_words words = th_onnx_kind(r, r->node);
    r->notes->n_copied++;
    while (kind < end && kind->n > 0 && strcmp(kind->first, words.text) != 0)
        kind++;
    if (kind < end)
        tell(kind, "%s", words.text);
}

/* Is it, or a copy of it in another layout, an input of a layer from this number on, or an output
 * of the node? */
static bool is_read(const th_onnx_reader *r, const th_onnx_value *v, int32_t first)
{
    bool is_found = false;
    for (; v && !is_found; v = v->other_layout) {
        for (int32_t i = first; i < r->w->n_layers; i++)
            for (int32_t k = 0; k < r->w->layers[i].n_inputs; k++)
                is_found |= r->w->layers[i].inputs[k] == v->layer;
        for (size_t i = 0; i < r->node->n_output; i++) {
            const th_onnx_value *out = th_onnx_find(r, r->node->output[i]);
            is_found |= th_onnx_is_tensor(out) && out->layer == v->layer;
        }
    }
    return is_found;
}

void th_onnx_note_left_out(th_onnx_reader *r, int32_t first, bool has_products)
{
    for (int32_t i = first; i < r->w->n_layers && has_products; i++)
        has_products = r->w->layers[i].kind == TH_LAYER_ELEMENTWISE &&
                       r->w->layers[i].function == TH_FUNCTION_COPY;
    if (has_products)
        note_copy(r);
    for (size_t i = 0; i < r->node->n_input; i++) {
        const th_onnx_value *v = th_onnx_input_or_none(r, i);
        if (th_onnx_is_tensor(v) && th_onnx_elements(v) > 0 && !is_read(r, v, first))
            tell(&r->notes->left_out, "input %zu \"%.60s\" of node \"%.60s\" (%s)", i + 1,
                 r->node->input[i], th_onnx_node_name(r->node), th_onnx_kind(r, r->node).text);
    }
}

void th_onnx_note_empty(th_onnx_reader *r)
{
    const th_onnx_value *out = r->n_out > 0 ? th_onnx_find(r, r->node->output[0]) : NULL;
    if (out && out->is_of_data)
        tell(&r->notes->empty, "node \"%.60s\" (%s)", th_onnx_node_name(r->node),
             th_onnx_kind(r, r->node).text);
}
