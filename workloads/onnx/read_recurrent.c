/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_recurrent.c - LSTM, GRU and RNN: a layer for each direction, joined by a concat. The first
 * output has all steps; the states after the last are copies of it. */
#include <config.h>
#include "workloads/onnx/op.h"

enum { N_EXTENTS = 3, DIRECTIONS = 2 };

typedef struct {
    int32_t steps, batch, directions, hidden; /* axes of an output; -1: there is none */
} axes;

static void set_axes(th_onnx_value *v, const th_onnx_value *in, const axes *out, const axes *from,
                     int32_t directions)
{
    int32_t hidden = v->c / directions;
    for (int32_t axis = 0; axis < v->rank; axis++)
        if (axis == out->steps)
            th_onnx_layout_copy(v, axis, in, from->steps);
        else if (axis == out->batch)
            th_onnx_layout_copy(v, axis, in, from->batch);
        else if (axis == out->directions)
            th_onnx_layout_add(v, axis, TH_ONNX_C, directions, hidden);
        else
            th_onnx_layout_add(v, axis, TH_ONNX_C, hidden, 1);
}

/* Adds a layer per direction. Returns the number of the last. */
static int32_t add_directions(th_onnx_reader *r, th_layer_kind kind, const th_onnx_value *in,
                              int32_t directions, int32_t hidden)
{
    static const char *const suffix[DIRECTIONS] = {".forward", ".backward"};
    int32_t made[DIRECTIONS] = {0}, channels[DIRECTIONS] = {hidden, hidden};
    for (int32_t i = 0; i < directions; i++) {
        th_layer l = th_onnx_layer_over(r, kind, in);
        int32_t from = in->layer;
        l.dim[TH_DIM_K] = hidden;
        l.has_bias = th_onnx_input_or_none(r, 3);
        made[i] = th_onnx_add_layer(r, &l, &from, 1, directions > 1 ? suffix[i] : "");
        int64_t other = DIRECTIONS * th_onnx_input_or_none(r, 2)->source + i; /* of its weights */
        if (made[i] < 0 || th_onnx_tie(r, made[i], th_onnx_input_or_none(r, 1), false, other))
            return -1;
    }
    if (directions == 1)
        return made[0];
    th_layer l = th_onnx_layer_over(r, TH_LAYER_CONCAT, in);
    l.dim[TH_DIM_K] = l.dim[TH_DIM_C] = directions * hidden;
    l.input_channels = channels;
    return th_onnx_add_layer(r, &l, made, directions, "");
}

/* Adds a copy of the last step: a state. */
static int add_state(th_onnx_reader *r, size_t output, const th_onnx_value *in,
                     const th_onnx_value *all, const axes *from, int32_t directions)
{
    static const char *const suffix[] = {"", ".state", ".cell"};
    bool is_batch_first = from->batch == 0;
    const axes out = {-1, is_batch_first ? 0 : 1, is_batch_first ? 1 : 0, 2};
    th_onnx_value last = *in;
    last.n_factors = 0;
    th_onnx_layout_copy(&last, from->batch, in, from->batch);
    th_onnx_layout_compact(&last);
    th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, all);
    int32_t producer = all->layer, shape[N_EXTENTS] = {all->c, all->h, all->w};
    l.function = TH_FUNCTION_COPY;
    l.dim[TH_DIM_H] = last.h;
    l.input_shapes = last.h != all->h ? shape : NULL;
    int32_t layer = th_onnx_add_layer(r, &l, &producer, 1, suffix[output]);
    if (layer < 0)
        return -1;
    th_onnx_value v = th_onnx_made(r, output, layer);
    set_axes(&v, &last, &out, from, directions);
    return th_onnx_define_output(r, output, &v);
}

/* variant: the th_layer_kind of the layers. */
int th_onnx_read_recurrent(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *v = th_onnx_input_or_none(r, 0);
    const th_onnx_value *w = th_onnx_input_or_none(r, 2);
    bool is_batch_first = th_onnx_int(r->node, "layout", 0) != 0;
    const axes from = {is_batch_first ? 1 : 0, is_batch_first ? 0 : 1, -1, 2},
               out = {is_batch_first ? 1 : 0, is_batch_first ? 0 : 2, is_batch_first ? 2 : 1, 3};
    if (!th_onnx_is_tensor(v))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    if (th_onnx_axis_has_batch(v, from.steps) || (r->batch > 1 && !th_onnx_has_batch(v)))
        return th_onnx_mixes_batch(r);
    const th_onnx_value *in =
        th_onnx_arrange(r, v, (const int[]){TH_ONNX_H, TH_ONNX_H, TH_ONNX_C}, ".input");
    if (!in)
        return -1;
    int64_t directions = w->dim[0], hidden = w->dim[2];
    if (directions < 1 || directions > DIRECTIONS || hidden < 1 || hidden > TH_ONNX_EXTENT_MAX / 2)
        return th_onnx_refuse_extent(r, hidden, 1, TH_ONNX_EXTENT_MAX / 2);
    int32_t layer =
        add_directions(r, (th_layer_kind)o->variant, in, (int32_t)directions, (int32_t)hidden);
    if (layer < 0)
        return -1;
    th_onnx_value all = th_onnx_made(r, 0, layer);
    set_axes(&all, in, &out, &from, (int32_t)directions);
    if (th_onnx_define_output(r, 0, &all))
        return -1;
    for (size_t i = 1; i < r->n_out && i < 3; i++)
        if (th_onnx_is_used(r, i) && add_state(r, i, in, &all, &from, (int32_t)directions))
            return -1;
    return 0;
}
