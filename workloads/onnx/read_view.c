/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_view.c - operators that rename, select, join or move elements. A view adds no layer; a slice
 * of the slowest factor of the channels becomes a slice layer, a concatenation along it a concat
 * layer; other slices and concatenations become copies. */
#include <config.h>
#include "workloads/onnx/op.h"

#include <string.h>

#include "base/alloc.h"

enum { N_EXTENTS = 3 };

/* ---- views ----------------------------------------------------------------------------------- */

/* The first input as the output of the node; it is shared if the input has other readers. */
static th_onnx_value view_of(const th_onnx_reader *r, const th_onnx_value *in)
{
    th_onnx_value v = *in;
    v.is_shared |= !th_onnx_is_sole_reader(r, 0);
    v.other_layout = NULL;
    return v;
}

int th_onnx_read_same(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    (void)o;
    if (!th_onnx_is_tensor(in))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    th_onnx_value v = view_of(r, in);
    v.type = r->out[0].type;
    return th_onnx_define_output(r, 0, &v);
}

int th_onnx_read_copy(th_onnx_reader *r, const th_onnx_operator *o)
{
    for (size_t i = 0; i < r->n_out; i++)
        if (r->node->output[i][0] &&
            th_onnx_gather_inputs(r, TH_FUNCTION_COPY, i, i > 0 ? ".more" : ""))
            return -1;
    (void)o;
    return 0;
}

int th_onnx_read_reshaped(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    if (!th_onnx_is_tensor(in))
        return th_onnx_read_copy(r, o);
    th_onnx_value v = view_of(r, in);
    if (!th_onnx_layout_reshape(&v, r->out[0].dim, r->out[0].rank))
        return th_onnx_read_copy(r, o);
    return th_onnx_define_output(r, 0, &v);
}

int th_onnx_read_transpose(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t given[TH_ONNX_RANK_MAX];
    int32_t order[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    (void)o;
    int n = th_onnx_ints(r->node, "perm", given, TH_ONNX_RANK_MAX);
    for (int32_t i = 0; i < in->rank; i++)
        order[i] = n < 0 ? in->rank - 1 - i : (int32_t)given[i];
    th_onnx_value v = view_of(r, in);
    th_onnx_layout_transpose(&v, order);
    return th_onnx_define_output(r, 0, &v);
}

/* If no extent changes, the output is a view. */
int th_onnx_read_expand(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    if (th_onnx_is_tensor(in) && th_onnx_elements(in) == th_onnx_elements(&r->out[0]))
        return th_onnx_read_reshaped(r, o);
    return th_onnx_read_copy(r, o);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Sets the coordinate of every axis of v; axes of extent 1 go to the channels. False: an axis lies
 * along several coordinates. */
static bool coordinates_of(const th_onnx_value *v, int *coordinates)
{
    for (int32_t i = 0; i < v->rank; i++)
        coordinates[i] = -1;
    for (int32_t i = 0; i < v->n_factors; i++) {
        const th_onnx_factor *f = &v->factor[i];
        if (f->coordinate == TH_ONNX_B)
            continue;
        if (coordinates[f->axis] >= 0 && coordinates[f->axis] != (int)f->coordinate)
            return false;
        coordinates[f->axis] = (int)f->coordinate;
    }
    for (int32_t i = 0; i < v->rank; i++)
        coordinates[i] = coordinates[i] < 0 ? TH_ONNX_C : coordinates[i];
    return true;
}

/* The factor of an axis that has exactly one; else NULL. */
static th_onnx_factor *sole_factor(th_onnx_value *v, int32_t axis)
{
    th_onnx_factor *found = NULL;
    for (int32_t i = 0; i < v->n_factors; i++)
        if (v->factor[i].axis == axis) {
            if (found)
                return NULL;
            found = &v->factor[i];
        }
    return found;
}

/* Restricts the axes of v to ranges. 1: done; 0: an axis has several factors; -1: a range cuts the
 * batch. */
static int shorten(th_onnx_reader *r, th_onnx_value *v, const th_onnx_range *axes, int *n_cut,
                   th_onnx_factor *cut)
{
    *n_cut = 0;
    for (int32_t axis = 0; axis < v->rank; axis++) {
        if (axes[axis].n == v->dim[axis] && axes[axis].step == 1)
            continue;
        th_onnx_factor *f = sole_factor(v, axis);
        if (th_onnx_axis_has_batch(v, axis))
            return th_onnx_mixes_batch(r);
        if (!f)
            return 0;
        *cut = *f;
        cut->axis = axis;
        f->extent = axes[axis].n;
        v->dim[axis] = axes[axis].n;
        ++*n_cut;
    }
    return 1;
}

/* Defines out[output] as the part of the first input that the ranges select. */
static int add_part(th_onnx_reader *r, const th_onnx_range *axes, size_t output, const char *suffix)
{
    th_onnx_value *given = th_onnx_input_or_none(r, 0), v = *given, view;
    const th_onnx_value *in = given;
    th_onnx_factor cut = {0};
    int coordinates[TH_ONNX_RANK_MAX];
    int n_cut, status = shorten(r, &v, axes, &n_cut, &cut);
    if (status == 0 && coordinates_of(given, coordinates)) {
        in = th_onnx_arrange(r, given, coordinates, ".input");
        v = in ? *in : *given;
        status = in ? shorten(r, &v, axes, &n_cut, &cut) : -1;
    }
    if (status < 0)
        return -1;
    if (status == 0 || th_onnx_elements(&v) <= 0)
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, output, suffix);
    view = view_of(r, in);
    if (n_cut > 0) {
        const th_onnx_range *range = &axes[cut.axis];
        bool is_slice = n_cut == 1 && range->step == 1 && cut.coordinate == TH_ONNX_C &&
                        cut.extent * cut.stride == in->c;
        int32_t from = in->layer, shape[N_EXTENTS] = {in->c, in->h, in->w};
        th_layer l = th_onnx_layer_over(r, is_slice ? TH_LAYER_SLICE : TH_LAYER_ELEMENTWISE, in);
        th_onnx_layout_compact(&v);
        l.dim[TH_DIM_K] = v.c;
        l.dim[TH_DIM_H] = v.h;
        l.dim[TH_DIM_W] = v.w;
        if (is_slice)
            l.first_channel = (int32_t)(range->first * cut.stride);
        else if (v.c != in->c || v.h != in->h || v.w != in->w)
            l.input_shapes = shape;
        if (!is_slice)
            l.function = TH_FUNCTION_COPY;
        v.layer = th_onnx_add_layer(r, &l, &from, 1, suffix);
        if (v.layer < 0)
            return -1;
        v.is_activated = v.is_shared = false;
        v.other_layout = NULL;
        view = v;
    }
    if (!th_onnx_layout_reshape(&view, r->out[output].dim, r->out[output].rank))
        return th_onnx_expected(r, "a shape of as many elements");
    return th_onnx_define_output(r, output, &view);
}

static void whole_axes(const th_onnx_value *in, th_onnx_range *axes)
{
    for (int32_t i = 0; i < in->rank; i++)
        axes[i] = (th_onnx_range){0, in->dim[i], 1};
}

static int read_split(th_onnx_reader *r, const th_onnx_value *in)
{
    th_onnx_range axes[TH_ONNX_RANK_MAX];
    int32_t axis = th_onnx_axis(r, th_onnx_int(r->node, "axis", 0), in->rank);
    whole_axes(in, axes);
    axes[axis].n = 0;
    for (size_t i = 0; i < r->n_out; i++) {
        axes[axis].first += axes[axis].n;
        axes[axis].n = r->out[i].dim[axis];
        bool is_wanted = r->node->output[i][0] && axes[axis].n > 0;
        if (is_wanted && add_part(r, axes, i, i > 0 ? ".more" : ""))
            return -1;
    }
    return 0;
}

/* Slice, and Split, which has several outputs. */
int th_onnx_read_part(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_range axes[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    if (!th_onnx_is_tensor(in))
        return th_onnx_read_copy(r, o);
    if (o->shape == th_onnx_shape_split)
        return read_split(r, in);
    return th_onnx_slices(r, axes) ? -1 : add_part(r, axes, 0, "");
}

/* Adds an embedding layer: the table is its weights, the indices are its input. */
static int add_embedding(th_onnx_reader *r, const th_onnx_value *table, th_onnx_value *at)
{
    int coordinates[TH_ONNX_RANK_MAX];
    int64_t columns = 1;
    for (int32_t i = 1; i < table->rank; i++)
        columns *= table->dim[i];
    for (int32_t i = 0; i < at->rank; i++)
        coordinates[i] = TH_ONNX_H;
    const th_onnx_value *in = th_onnx_arrange(r, at, coordinates, ".indices");
    if (!in)
        return -1;
    if (columns > TH_ONNX_EXTENT_MAX || columns < 1 || table->dim[0] < 1 ||
        table->dim[0] > TH_ONNX_EXTENT_MAX)
        return th_onnx_refuse_large(r);
    th_layer l = th_onnx_layer_over(r, TH_LAYER_EMBEDDING, in);
    int32_t from = in->layer;
    l.dim[TH_DIM_K] = (int32_t)columns;
    l.vocabulary = (int32_t)table->dim[0];
    int32_t layer = th_onnx_add_layer(r, &l, &from, 1, "");
    if (layer < 0 || th_onnx_tie(r, layer, table, false, 0))
        return -1;
    th_onnx_value v = th_onnx_made(r, 0, layer);
    for (int32_t i = 0; i < at->rank; i++)
        th_onnx_layout_copy(&v, i, in, i);
    for (int32_t i = 1; i < table->rank; i++) {
        int64_t inner = 1;
        for (int32_t k = i + 1; k < table->rank; k++)
            inner *= table->dim[k];
        th_onnx_layout_add(&v, at->rank + i - 1, TH_ONNX_C, table->dim[i], inner);
    }
    return th_onnx_define_output(r, 0, &v);
}

/* True if the known indices are *first, *first + 1, ... */
static bool is_range(const th_onnx_value *at, int64_t extent, int64_t *first)
{
    int64_t n = th_onnx_elements(at);
    for (int64_t i = 0; i < n; i++) {
        int64_t place = th_onnx_number(at, i);
        place += place < 0 ? extent : 0;
        if (i == 0)
            *first = place;
        if (place != *first + i || place < 0 || place >= extent)
            return false;
    }
    return n > 0;
}

int th_onnx_read_gather(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_range axes[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    th_onnx_value *at = th_onnx_input_or_none(r, 1);
    int32_t axis = th_onnx_axis(r, th_onnx_int(r->node, "axis", 0), in->rank);
    int64_t first = 0;
    if (in->is_constant && axis == 0)
        return add_embedding(r, in, at);
    bool is_part = th_onnx_is_tensor(in) && th_onnx_is_known(at) &&
                   is_range(at, in->dim[axis], &first) && at->rank <= 1;
    if (!is_part)
        return th_onnx_read_copy(r, o);
    whole_axes(in, axes);
    axes[axis] = (th_onnx_range){first, th_onnx_elements(at), 1};
    return add_part(r, axes, 0, "");
}

/* ---- joins ----------------------------------------------------------------------------------- */

/* True if the axis is the slowest factor of the channels, so that tensors can be concatenated along
 * it. */
static bool is_slowest(const th_onnx_value *v, int32_t axis, const int *coordinates)
{
    for (int32_t i = 0; i < axis; i++)
        if (coordinates[i] == TH_ONNX_C && v->dim[i] > 1)
            for (int32_t k = 0; k < v->n_factors; k++)
                if (v->factor[k].axis == i && v->factor[k].coordinate != TH_ONNX_B)
                    return false;
    return coordinates[axis] == TH_ONNX_C;
}

/* Brings all inputs into the layout of the coordinates and lists their layers and channels. Returns
 * the sum of the channels; -1: refused. */
static int64_t lay_out_inputs(th_onnx_reader *r, const int *coordinates, int32_t *from,
                              int32_t *channels, th_onnx_value *last)
{
    int64_t all = 0;
    bool has_batch = th_onnx_has_batch(th_onnx_input_or_none(r, 0));
    for (size_t i = 0; i < r->node->n_input; i++) {
        th_onnx_value *in = th_onnx_input_or_none(r, i);
        const th_onnx_value *v = th_onnx_arrange(r, in, coordinates, ".input");
        if (!v)
            return -1;
        if (th_onnx_has_batch(in) != has_batch)
            return th_onnx_mixes_batch(r);
        from[i] = v->layer;
        channels[i] = v->c;
        all += v->c;
        *last = *v;
    }
    if (all <= TH_ONNX_EXTENT_MAX)
        return all;
    return th_onnx_refuse_large(r);
}

static int add_concat(th_onnx_reader *r, const int *coordinates, int32_t axis)
{
    size_t n = r->node->n_input;
    th_onnx_value last;
    int32_t *from = th_onnx_room(r, 2 * (int64_t)n, sizeof *from);
    int64_t all = from ? lay_out_inputs(r, coordinates, from, from + n, &last) : -1;
    if (all < 0)
        return -1;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_CONCAT, &last);
    l.dim[TH_DIM_K] = l.dim[TH_DIM_C] = (int32_t)all;
    l.input_channels = from + n;
    int32_t layer = th_onnx_add_layer(r, &l, from, (int32_t)n, "");
    if (layer < 0)
        return -1;
    th_onnx_value v = th_onnx_made(r, 0, layer), whole = last;
    whole.n_factors = 0;
    for (int32_t i = 0; i < last.rank; i++)
        if (i == axis)
            th_onnx_layout_add(&whole, i, TH_ONNX_C, r->out[0].dim[i], 1);
        else
            th_onnx_layout_copy(&whole, i, &last, i);
    return th_onnx_layout_assign(&v, &whole, coordinates) ? -1 : th_onnx_define_output(r, 0, &v);
}

static int read_concat(th_onnx_reader *r, const th_onnx_operator *o)
{
    int coordinates[TH_ONNX_RANK_MAX];
    const th_onnx_value *first = th_onnx_input_or_none(r, 0);
    bool are_tensors = true;
    if (r->node->n_input == 1)
        return th_onnx_read_same(r, o);
    int32_t axis = th_onnx_axis(r, th_onnx_int(r->node, "axis", 1), first->rank);
    for (size_t i = 0; i < r->node->n_input; i++) {
        const th_onnx_value *in = th_onnx_input_or_none(r, i);
        are_tensors &= th_onnx_is_tensor(in);
        if (th_onnx_is_tensor(in) && th_onnx_axis_has_batch(in, axis))
            return th_onnx_mixes_batch(r);
    }
    if (are_tensors && coordinates_of(first, coordinates) && is_slowest(first, axis, coordinates))
        return add_concat(r, coordinates, axis);
    return th_onnx_read_copy(r, o);
}

/* What has no elements, such as an empty cache, is not there. */
int th_onnx_read_concat(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_node *whole = r->node;
    th_onnx_node rest = *whole;
    rest.n_input = 0;
    rest.input = th_onnx_room(r, (int64_t)whole->n_input, sizeof(*rest.input));
    for (size_t i = 0; rest.input && i < whole->n_input; i++)
        if (th_onnx_elements(th_onnx_input_or_none(r, i)) != 0)
            rest.input[rest.n_input++] = whole->input[i];
    r->node = &rest;
    int status = rest.input ? read_concat(r, o) : -1;
    r->node = whole;
    return status;
}
