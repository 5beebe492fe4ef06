/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emit.c - see emit.h. */
#include <config.h>
#include "workloads/onnx/emit.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "workloads/workload_check.h"

enum { NAME_BYTES = 240, N_EXTENTS = 3 };

th_layer th_onnx_layer_over(const th_onnx_reader *r, th_layer_kind kind, const th_onnx_value *v)
{
    return th_layer_over(kind, r->w->batch, v->c, v->h, v->w, r->precision);
}

/* Appends a number to a layer's name if the name is used already. */
static int free_name(th_onnx_reader *r, char *name, size_t size)
{
    enum { TRIES = 16 }; /* then from the last number on, so that names in order cost no more */
    int64_t number = r->w->n_layers + 1;
    th_workload_make_name(NULL, name, (int)number, size);
    size_t n = strlen(name);
    for (int i = 0; th_map_get(r->layer_names, name, strlen(name), &(int64_t){0}); i++) {
        if (i >= TRIES && number <= r->last_number)
            number = r->last_number + 1;
        snprintf(name + n, size - n, ".%lld", (long long)number++);
        r->last_number = i >= TRIES ? number : r->last_number;
    }
    return th_map_put(r->layer_names, name, strlen(name), 1) ? th_error_no_memory(r->err) : 0;
}

int32_t th_onnx_add_layer(th_onnx_reader *r, th_layer *l, int32_t *from, int32_t n,
                          const char *suffix)
{
    char name[NAME_BYTES];
    th_print(name, sizeof name, "%.190s%.20s", th_onnx_node_name(r->node), suffix);
    if (free_name(r, name, sizeof name))
        return -1;
    l->name = name;
    l->inputs = from;
    l->n_inputs = n;
    return th_workload_add_layer(r->w, l, r->err);
}

int th_onnx_tie(th_onnx_reader *r, int32_t layer, const th_onnx_value *w, bool inputs_first,
                int64_t more)
{
    int64_t first, key[] = {!w ? 0 : inputs_first ? -w->source : w->source, more};
    if (key[0] == 0)
        return 0;
    if (!th_map_get(r->weights, key, sizeof key, &first))
        return th_map_put(r->weights, key, sizeof key, layer) ? th_error_no_memory(r->err) : 0;
    th_layer *l = &r->w->layers[layer], *of = &r->w->layers[first];
    const th_loop_box loops = th_layer_loops(l), loops_of = th_layer_loops(of);
    const th_box box = th_layer_weight_box(l, &loops), other = th_layer_weight_box(of, &loops_of);
    l->tied_to = th_box_equal(&box, &other) ? 1 + (int32_t)first : 0;
    return 0;
}

th_onnx_value th_onnx_made(const th_onnx_reader *r, size_t output, int32_t layer)
{
    const int32_t *d = r->w->layers[layer].dim;
    th_onnx_value v = r->out[output];
    v.layer = layer;
    v.b = (int32_t)r->batch;
    v.c = d[TH_DIM_K];
    v.h = d[TH_DIM_H];
    v.w = d[TH_DIM_W];
    v.n_factors = 0;
    return v;
}

int th_onnx_add_same_shape(th_onnx_reader *r, th_layer *l, const th_onnx_value *in)
{
    int32_t from = in->layer;
    th_onnx_value v = *in;
    v.layer = th_onnx_add_layer(r, l, &from, 1, "");
    v.is_activated = v.is_shared = false;
    v.other_layout = NULL;
    if (v.layer < 0)
        return -1;
    v.type = r->out[0].type ? r->out[0].type : in->type;
    return th_onnx_define_output(r, 0, &v);
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* Returns v or the copy of it that has the wanted layout, or NULL. */
static const th_onnx_value *find_layout(const th_onnx_value *v, const th_onnx_value *wanted)
{
    for (; v; v = v->other_layout)
        if (th_onnx_layout_same(v, wanted))
            return v;
    return NULL;
}

static const th_onnx_value *copy_into(th_onnx_reader *r, th_onnx_value *v,
                                      const th_onnx_value *wanted, const char *suffix)
{
    const th_onnx_value *found = find_layout(v, wanted);
    if (found)
        return found;
    int32_t shape[N_EXTENTS] = {v->c, v->h, v->w}, from = v->layer;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, v);
    l.function = TH_FUNCTION_COPY;
    l.dim[TH_DIM_K] = wanted->c;
    l.dim[TH_DIM_H] = wanted->h;
    l.dim[TH_DIM_W] = wanted->w;
    if (v->c != wanted->c || v->h != wanted->h || v->w != wanted->w)
        l.input_shapes = shape;
    th_onnx_value *made = th_onnx_room(r, 1, sizeof *made);
    if (!made)
        return NULL;
    *made = *wanted;
    made->layer = th_onnx_add_layer(r, &l, &from, 1, suffix);
    made->is_shared = true;
    made->is_activated = false;
    made->other_layout = v->other_layout;
    v->other_layout = made;
    return made->layer < 0 ? NULL : made;
}

const th_onnx_value *th_onnx_arrange(th_onnx_reader *r, th_onnx_value *v, const int *coordinates,
                                     const char *suffix)
{
    th_onnx_value wanted = *v;
    if (th_onnx_layout_assign(&wanted, v, coordinates)) {
        th_onnx_refuse_large(r);
        return NULL;
    }
    return copy_into(r, v, &wanted, suffix);
}

void th_onnx_usual_coordinates(const th_onnx_value *v, bool is_image, int *coordinates)
{
    int32_t rows = -1; /* the last axis, except axis rank - 1, with factors besides the batch */
    for (int32_t i = 0; i < v->n_factors; i++)
        if (v->factor[i].coordinate != TH_ONNX_B && v->factor[i].axis < v->rank - 1)
            rows = v->factor[i].axis;
    for (int32_t i = 0; i < v->rank; i++) {
        bool is_width = i > 2 && i == v->rank - 1;
        coordinates[i] = i == rows ? TH_ONNX_H : TH_ONNX_C;
        if (is_image)
            coordinates[i] = i == 1 ? TH_ONNX_C : is_width ? TH_ONNX_W : TH_ONNX_H;
    }
}

const th_onnx_value *th_onnx_arrange_image(th_onnx_reader *r, th_onnx_value *v)
{
    int coordinates[TH_ONNX_RANK_MAX];
    th_onnx_usual_coordinates(v, true, coordinates);
    for (int32_t axis = 1; axis < v->rank; axis++)
        if (th_onnx_axis_has_batch(v, axis)) {
            th_onnx_mixes_batch(r);
            return NULL;
        }
    return th_onnx_arrange(r, v, coordinates, ".input");
}

const th_onnx_value *th_onnx_arrange_like(th_onnx_reader *r, th_onnx_value *v,
                                          const th_onnx_value *like)
{
    th_onnx_value wanted = *v;
    if (th_onnx_has_batch(v) != th_onnx_has_batch(like)) {
        th_onnx_mixes_batch(r);
        return NULL;
    }
    wanted.c = like->c;
    wanted.h = like->h;
    wanted.w = like->w;
    wanted.n_factors = like->n_factors;
    memcpy(wanted.factor, like->factor, sizeof wanted.factor);
    return copy_into(r, v, &wanted, ".input");
}

/* ---- layers that read all inputs of a node -------------------------------------------------- */

/* The batch axis of the node's first input that is a tensor and has one; -1: none has. */
static int32_t batch_axis_of_inputs(const th_onnx_reader *r)
{
    int32_t axis = -1;
    for (size_t i = 0; i < r->node->n_input && axis == -1; i++) {
        const th_onnx_value *v = th_onnx_input_or_none(r, i);
        if (th_onnx_is_tensor(v))
            axis = th_onnx_batch_axis(v);
    }
    return axis;
}

/* True if the first tensor among the inputs has the layout of images. */
static bool looks_like_image(const th_onnx_reader *r)
{
    const th_onnx_value *in = NULL;
    for (size_t i = 0; i < r->node->n_input && !th_onnx_is_tensor(in); i++)
        in = th_onnx_input_or_none(r, i);
    return th_onnx_is_tensor(in) && in->rank >= 3 &&
           th_onnx_layout_is(in, 1, 1, (const int[]){TH_ONNX_C, -1}) && in->c > 1;
}

/* Sets the layout of an output: the batch is on the input's batch axis or, if the batch does not
 * divide that, on axis 0. */
static int lay_out(th_onnx_reader *r, th_onnx_value *v)
{
    int coordinates[TH_ONNX_RANK_MAX];
    int32_t axis = batch_axis_of_inputs(r);
    v->b = (int32_t)r->batch;
    if (axis >= 0 && (axis >= v->rank || v->dim[axis] % v->b != 0))
        axis = v->rank > 0 && v->dim[0] == v->b ? 0 : -2;
    if (axis == -2 || th_onnx_layout_fill(v, axis))
        return th_onnx_mixes_batch(r);
    th_onnx_usual_coordinates(v, v->rank >= 3 && looks_like_image(r), coordinates);
    if (th_onnx_layout_assign(v, v, coordinates))
        return th_onnx_refuse_large(r);
    return 0;
}

/* Lists layers and extents of the inputs that are tensors. Returns their number. */
static int32_t list_inputs(const th_onnx_reader *r, int32_t *from, int32_t *shapes)
{
    int32_t n = 0;
    for (size_t i = 0; i < r->node->n_input; i++) {
        const th_onnx_value *v = th_onnx_input_or_none(r, i);
        if (!th_onnx_is_tensor(v))
            continue;
        from[n] = v->layer;
        memcpy(shapes + (size_t)n++ * N_EXTENTS, (int32_t[]){v->c, v->h, v->w},
               N_EXTENTS * sizeof *shapes);
    }
    return n;
}

int th_onnx_gather_inputs(th_onnx_reader *r, th_function f, size_t output, const char *suffix)
{
    th_onnx_value v = r->out[output];
    int32_t *from = th_alloc_array(r->node->n_input, (1 + N_EXTENTS) * sizeof *from);
    if (!from)
        return th_error_no_memory(r->err);
    int32_t *shapes = from + r->node->n_input, n = list_inputs(r, from, shapes);
    int status = lay_out(r, &v);
    if (status == 0) {
        th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, &v);
        l.function = f;
        l.dim[TH_DIM_C] = shapes[0];
        l.in_h = shapes[1];
        l.in_w = shapes[2];
        l.input_shapes = shapes;
        if (n == 1 && v.c == shapes[0] && v.h == shapes[1] && v.w == shapes[2])
            l.input_shapes = NULL;
        v.layer = th_onnx_add_layer(r, &l, from, n, suffix);
        status = v.layer < 0 ? -1 : th_onnx_define_output(r, output, &v);
    }
    th_free(from);
    return status;
}

th_layer *th_onnx_layer_before(const th_onnx_reader *r, const th_onnx_value *v, size_t input)
{
    bool is_alone =
        v->layer >= 0 && !v->is_activated && !v->is_shared && th_onnx_is_sole_reader(r, input);
    return is_alone ? &r->w->layers[v->layer] : NULL;
}
