/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stated.c - see stated.h. */
#include <config.h>
#include "workloads/onnx/stated.h"

#include <stdio.h>
#include <string.h>

int th_onnx_state_shapes(th_onnx_reader *r, th_onnx_scope *s, const ThOnnx__Graph *g)
{
    size_t inner = g->n_value_info;
    s->graph = g;
    s->stated = th_map_new();
    for (size_t i = 0; s->stated && i < inner + g->n_output; i++) {
        const char *name = (i < inner ? g->value_info[i] : g->output[i - inner])->name;
        if (th_map_put(s->stated, name, strlen(name), (int64_t)i))
            return th_error_no_memory(r->err);
    }
    return s->stated ? 0 : th_error_no_memory(r->err);
}

static const ThOnnx__Shape *shape_of(const ThOnnx__Value *v)
{
    const ThOnnx__TensorType *t = v->type ? v->type->tensor_type : NULL;
    return t && t->shape && t->shape->n_dim <= TH_ONNX_RANK_MAX ? t->shape : NULL;
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

/* The length of an axis: as stated, or that of the axis of an input with the same name; -1: not
 * known. */
static int64_t extent_of(const th_onnx_reader *r, const ThOnnx__Dimension *d)
{
    const ThOnnx__Graph *g = r->model->graph;
    if (d->has_dim_value)
        return d->dim_value > 0 ? d->dim_value : -1;
    for (size_t i = 0; d->dim_param && d->dim_param[0] && i < g->n_input; i++) {
        const ThOnnx__Shape *shape = shape_of(g->input[i]);
        const th_onnx_value *v = th_onnx_find(r, g->input[i]->name);
        for (size_t k = 0; shape && v && k < shape->n_dim && (int32_t)k < v->rank; k++)
            if (shape->dim[k]->dim_param && strcmp(shape->dim[k]->dim_param, d->dim_param) == 0)
                return v->dim[k];
    }
    return -1;
}

/* Makes a doubt last as long as the reader. */
static int set_doubt(th_onnx_reader *r, th_onnx_value *v, const char *text)
{
    char *kept = th_onnx_room(r, (int64_t)strlen(text) + 1, 1);
    if (!kept)
        return -1;
    r->has_doubts = true;
    v->doubt = strcpy(kept, text);
    return 0;
}

const char *th_onnx_doubt(const th_onnx_reader *r)
{
    const th_onnx_value *in = NULL;
    for (size_t i = 0; r->has_doubts && r->node && i < r->node->n_input; i++)
        if ((in = th_onnx_input_or_none(r, i)) && in->doubt)
            return in->doubt;
    return NULL;
}

int th_onnx_set_stated(th_onnx_reader *r, size_t output, const th_onnx_value *like)
{
    char text[TH_ONNX_NOTE_MAX];
    th_onnx_value *out = &r->out[output];
    const char *name = r->node->output[output];
    const ThOnnx__Shape *shape = stated_shape(r, name);
    bool is_sure = shape;
    out->type = like->type;
    out->rank = shape ? (int32_t)shape->n_dim : like->rank;
    for (int32_t i = 0; i < out->rank; i++) {
        int64_t extent = shape ? extent_of(r, shape->dim[i]) : -1;
        if (extent < 0 && out->rank != like->rank)
            return th_onnx_refuse(r, "WORK-0420",
                                  "output %zu \"%.80s\": the file states %d axes, but not the "
                                  "length of axis %d, which no axis of the input gives",
                                  output + 1, name, (int)out->rank, (int)i);
        is_sure &= extent >= 0;
        out->dim[i] = extent >= 0 ? extent : like->dim[i];
    }
    if (is_sure || !name[0])
        return 0;
    r->notes->n_guessed++;
    snprintf(text, sizeof text,
             "the shape of \"%.60s\" was guessed: %s, which makes it, is read as a copy, and the "
             "file states no shape",
             name, th_onnx_kind(r, r->node).text);
    return set_doubt(r, out, text);
}

/* Writes AxBxC, or AxB.. of many axes. */
static void write_shape(char *out, size_t size, const int64_t *dim, int32_t rank)
{
    size_t used = 0;
    snprintf(out, size, "a number");
    for (int32_t i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%lld", i ? "x" : "",
                                 (long long)dim[i]);
}

int th_onnx_check_stated(th_onnx_reader *r, const char *name, th_onnx_value *v)
{
    char text[TH_ONNX_NOTE_MAX], own[64], stated[64];
    int64_t dim[TH_ONNX_RANK_MAX];
    const ThOnnx__Shape *shape = r->node && !v->is_sequence ? stated_shape(r, name) : NULL;
    if (!v->doubt)
        v->doubt = th_onnx_doubt(r);
    bool is_same = !shape || (int32_t)shape->n_dim == v->rank;
    for (size_t i = 0; shape && i < shape->n_dim; i++) {
        const ThOnnx__Dimension *d = shape->dim[i];
        dim[i] = d->has_dim_value ? d->dim_value : -1;
        is_same = is_same && (dim[i] <= 0 || dim[i] == v->dim[i]);
    }
    if (is_same)
        return 0;
    write_shape(own, sizeof own, v->dim, v->rank);
    write_shape(stated, sizeof stated, dim, (int32_t)shape->n_dim);
    snprintf(text, sizeof text, "\"%.60s\" is %s by the rule of %s, and %s as the file states",
             name, own, th_onnx_kind(r, r->node).text, stated);
    if (r->notes->contradicted.n++ == 0)
        memcpy(r->notes->contradicted.first, text, sizeof text);
    return v->doubt ? 0 : set_doubt(r, v, text);
}

/* ---- notes ----------------------------------------------------------------------------------- */

void th_onnx_note_copy(th_onnx_reader *r)
{
    th_onnx_note *kind = r->notes->copied, *end = kind + TH_ONNX_KINDS_MAX;
    th_onnx_words words = th_onnx_kind(r, r->node);
    r->notes->n_copied++;
    while (kind < end && kind->n > 0 && strcmp(kind->first, words.text) != 0)
        kind++;
    if (kind == end)
        return;
    kind->n++;
    memcpy(kind->first, words.text, sizeof words.text);
}

/* Is this value, or a copy of it in another layout, an input of a layer from this number on, or an
 * output of the node? */
static bool is_read(const th_onnx_reader *r, const th_onnx_value *v, int32_t first)
{
    for (; v; v = v->other_layout) {
        for (int32_t i = first; i < r->w->n_layers; i++)
            for (int32_t k = 0; k < r->w->layers[i].n_inputs; k++)
                if (r->w->layers[i].inputs[k] == v->layer)
                    return true;
        for (size_t i = 0; i < r->node->n_output; i++) {
            const th_onnx_value *out = th_onnx_find(r, r->node->output[i]);
            if (th_onnx_is_tensor(out) && out->layer == v->layer)
                return true;
        }
    }
    return false;
}

void th_onnx_note_left_out(th_onnx_reader *r, int32_t first)
{
    for (size_t i = 0; i < r->node->n_input; i++) {
        const th_onnx_value *v = th_onnx_input_or_none(r, i);
        if (th_onnx_is_tensor(v) && !is_read(r, v, first) && r->notes->left_out.n++ == 0)
            snprintf(r->notes->left_out.first, TH_ONNX_NOTE_MAX,
                     "input %zu \"%.60s\" of node \"%.60s\" (%.80s)", i + 1, r->node->input[i],
                     th_onnx_node_name(r->node), th_onnx_kind(r, r->node).text);
    }
}
