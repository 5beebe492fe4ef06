/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shape_axes.c - shapes of operators that select, join, move or reduce axes; see op.h. */
#include <config.h>
#include "workloads/onnx/op.h"
#include "base/integer.h"

#include <string.h>

/* ---- reductions ------------------------------------------------------------------------------ */

int th_onnx_reduced_axes(th_onnx_reader *r, const th_onnx_value *in, uint32_t *mask)
{
    int64_t axes[TH_ONNX_RANK_MAX];
    int n = th_onnx_list(r, 1, "axes", axes, TH_ONNX_RANK_MAX);
    *mask = 0;
    if (n == -2)
        return -1;
    for (int i = 0; i < n; i++) {
        int32_t axis = th_onnx_axis(r, axes[i], in->rank);
        if (axis < 0)
            return -1;
        *mask |= 1u << axis;
    }
    if (n <= 0 && th_onnx_int(r->node, "noop_with_empty_axes", 0) == 0)
        *mask = (1u << in->rank) - 1;
    return 0;
}

static void drop_axes(th_onnx_value *out, uint32_t mask, bool keeps)
{
    int32_t n = 0;
    for (int32_t i = 0; i < out->rank; i++)
        if (!(mask >> i & 1))
            out->dim[n++] = out->dim[i];
        else if (keeps)
            out->dim[n++] = 1;
    out->rank = n;
}

int th_onnx_shape_reduce(th_onnx_reader *r, const th_onnx_operator *o)
{
    uint32_t mask;
    const th_onnx_value *in = th_onnx_begin(r);
    (void)o;
    if (!in || th_onnx_reduced_axes(r, in, &mask))
        return -1;
    drop_axes(&r->out[0], mask, th_onnx_int(r->node, "keepdims", 1) != 0);
    return 0;
}

/* Of the matrices in the last two axes. */
int th_onnx_shape_det(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r);
    (void)o;
    if (!in)
        return -1;
    if (in->rank < 2)
        return th_onnx_expected(r, "at least two axes");
    r->out[0].rank -= 2;
    return 0;
}

int th_onnx_shape_arg(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r);
    int32_t axis = in ? th_onnx_axis(r, th_onnx_int(r->node, "axis", 0), in->rank) : -1;
    (void)o;
    if (axis < 0)
        return -1;
    drop_axes(&r->out[0], 1u << axis, th_onnx_int(r->node, "keepdims", 1) != 0);
    r->out[0].type = TH_ONNX_INT64;
    return 0;
}

int th_onnx_shape_top_k(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t k = -1;
    const th_onnx_value *in = th_onnx_begin(r);
    int32_t axis = in ? th_onnx_axis(r, th_onnx_int(r->node, "axis", -1), in->rank) : -1;
    (void)o;
    if (axis < 0 || th_onnx_scalar(r, 1, "k", &k))
        return -1;
    if (k < 0 || k > in->dim[axis])
        return th_onnx_refuse_extent(r, k, 0, in->dim[axis]);
    for (size_t i = 0; i < r->n_out; i++)
        r->out[i].dim[axis] = k;
    return 0;
}

/* ---- parts and joins ------------------------------------------------------------------------- */

int th_onnx_shape_concat(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r);
    int32_t axis = in ? th_onnx_axis(r, th_onnx_int(r->node, "axis", 1), in->rank) : -1;
    (void)o;
    if (axis < 0)
        return -1;
    for (size_t i = 1; i < r->node->n_input; i++) {
        const th_onnx_value *v = th_onnx_input(r, i);
        if (!v)
            return -1;
        bool fits = v->rank == in->rank;
        for (int32_t k = 0; fits && k < in->rank; k++)
            fits = k == axis || v->dim[k] == in->dim[k];
        if (!fits)
            return th_onnx_refuse(r, "WORK-0092",
                                  "input %zu \"%.80s\" has other extents than the first, and not "
                                  "along axis %d alone",
                                  i + 1, r->node->input[i], (int)axis);
        r->out[0].dim[axis] += v->dim[axis];
    }
    return 0;
}

int th_onnx_shape_split(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r);
    int64_t parts = (int64_t)r->n_out, *sizes = th_onnx_room(r, parts, sizeof *sizes), sum = 0;
    int32_t axis = in ? th_onnx_axis(r, th_onnx_int(r->node, "axis", 0), in->rank) : -1;
    int n = axis < 0 || !sizes ? -2 : th_onnx_list(r, 1, "split", sizes, (int)parts);
    (void)o;
    if (n == -2)
        return -1;
    int64_t all = in->dim[axis], even = th_ceil_div(all, parts);
    for (int64_t i = 0; i < parts; i++) {
        int64_t left = all - i * even;
        int64_t size = n > 0 ? (i < n ? sizes[i] : 0) : left < 0 ? 0 : left < even ? left : even;
        if (size < 0 || size > all)
            return th_onnx_refuse_extent(r, size, 0, all);
        r->out[i].dim[axis] = size;
        sum += size;
    }
    return sum == all ? 0 : th_onnx_refuse_extent(r, sum, all, all);
}

static th_onnx_range range_of(int64_t start, int64_t end, int64_t step, int64_t extent)
{
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    start += start < 0 ? extent : 0;
    end += end < 0 ? extent : 0;
    start = start < (step > 0 ? 0 : low + 1) ? (step > 0 ? 0 : low) : start > high ? high : start;
    end = end < low ? low : end > extent ? extent : end;
    int64_t reach = step > 0 ? end - start : start - end, by = step > 0 ? step : -step;
    return (th_onnx_range){start, reach > 0 ? (reach - 1) / by + 1 : 0, step};
}

int th_onnx_slices(th_onnx_reader *r, th_onnx_range *axes)
{
    int64_t start[TH_ONNX_RANK_MAX], end[TH_ONNX_RANK_MAX], axis[TH_ONNX_RANK_MAX],
        step[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_input(r, 0);
    if (!in)
        return -1;
    int n = th_onnx_list(r, 1, "starts", start, TH_ONNX_RANK_MAX);
    int n_ends = n < 0 ? -2 : th_onnx_list(r, 2, "ends", end, TH_ONNX_RANK_MAX);
    int n_axes = n_ends < 0 ? -2 : th_onnx_list(r, 3, "axes", axis, TH_ONNX_RANK_MAX);
    int n_steps = n_axes == -2 ? -2 : th_onnx_list(r, 4, NULL, step, TH_ONNX_RANK_MAX);
    if (n_steps == -2)
        return n == -1 || n_ends == -1 ? th_onnx_expected(r, "starts and ends") : -1;
    if (n_ends != n || (n_axes >= 0 && n_axes != n) || (n_steps >= 0 && n_steps != n))
        return th_onnx_expected(r, "as many ends, axes and steps as starts");
    for (int32_t i = 0; i < in->rank; i++)
        axes[i] = (th_onnx_range){0, in->dim[i], 1};
    for (int i = 0; i < n; i++) {
        int32_t k = th_onnx_axis(r, n_axes >= 0 ? axis[i] : i, in->rank);
        int64_t by = n_steps >= 0 ? step[i] : 1;
        if (k < 0)
            return -1;
        if (by == 0 || by == INT64_MIN)
            return th_onnx_refuse_number(r, "a step", (double)by);
        axes[k] = range_of(start[i], end[i], by, in->dim[k]);
    }
    return 0;
}

int th_onnx_shape_slice(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_range axes[TH_ONNX_RANK_MAX];
    (void)o;
    if (!th_onnx_begin(r) || th_onnx_slices(r, axes))
        return -1;
    for (int32_t i = 0; i < r->out[0].rank; i++)
        r->out[0].dim[i] = axes[i].n;
    return 0;
}

/* The axes of the indices replace the axis. */
int th_onnx_shape_gather(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r), *at = in ? th_onnx_input(r, 1) : NULL;
    int32_t axis = at ? th_onnx_axis(r, th_onnx_int(r->node, "axis", 0), in->rank) : -1;
    th_onnx_value *out = &r->out[0];
    (void)o;
    if (axis < 0)
        return -1;
    if (in->rank - 1 + at->rank > TH_ONNX_RANK_MAX)
        return th_onnx_refuse_rank(r, in->rank - 1 + at->rank);
    out->rank = axis;
    for (int32_t i = 0; i < at->rank; i++)
        out->dim[out->rank++] = at->dim[i];
    for (int32_t i = axis + 1; i < in->rank; i++)
        out->dim[out->rank++] = in->dim[i];
    return 0;
}

int th_onnx_shape_gather_elements(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r), *at = in ? th_onnx_input(r, 1) : NULL;
    (void)o;
    if (!at)
        return -1;
    r->out[0].rank = at->rank;
    memcpy(r->out[0].dim, at->dim, sizeof at->dim);
    return 0;
}

int th_onnx_shape_gather_nd(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r), *at = in ? th_onnx_input(r, 1) : NULL;
    int64_t shared = th_onnx_int(r->node, "batch_dims", 0);
    (void)o;
    if (!at)
        return -1;
    int64_t depth = at->rank > 0 ? at->dim[at->rank - 1] : 0, first = shared + depth;
    if (at->rank < 1 || shared < 0 || depth < 0 || depth > in->rank || first > in->rank ||
        at->rank - 1 + in->rank - first > TH_ONNX_RANK_MAX)
        return th_onnx_expected(r, "indices of at most all axes");
    th_onnx_value *out = &r->out[0];
    out->rank = 0;
    for (int32_t i = 0; i < at->rank - 1; i++)
        out->dim[out->rank++] = at->dim[i];
    for (int32_t i = (int32_t)first; i < in->rank; i++)
        out->dim[out->rank++] = in->dim[i];
    return 0;
}

/* ---- other axes ------------------------------------------------------------------------------ */

int th_onnx_shape_transpose(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t order[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_begin(r);
    uint32_t seen = 0;
    (void)o;
    if (!in)
        return -1;
    int n = th_onnx_ints(r->node, "perm", order, TH_ONNX_RANK_MAX);
    for (int32_t i = 0; i < in->rank; i++) {
        int64_t axis = n < 0 ? in->rank - 1 - i : i < n ? order[i] : -1;
        if (axis < 0 || axis >= in->rank)
            break;
        seen |= 1u << axis;
        r->out[0].dim[i] = in->dim[axis];
    }
    if (seen != (1u << in->rank) - 1 || n > in->rank)
        return th_onnx_refuse(r, "WORK-0101", "perm: must be an order of all %d axes",
                              (int)in->rank);
    return 0;
}

/* In the list of extents, 0 stands for the extent of the input, and -1 for the rest. */
int th_onnx_shape_reshape(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    int64_t shape[TH_ONNX_RANK_MAX + 1], known = 1;
    const th_onnx_value *in = th_onnx_begin(r);
    int32_t open = -1;
    (void)o;
    int n = in ? th_onnx_list(r, 1, "shape", shape, TH_ONNX_RANK_MAX + 1) : -2;
    if (n < 0)
        return n == -1 ? th_onnx_expected(r, "a shape") : -1;
    if (n > TH_ONNX_RANK_MAX)
        return th_onnx_refuse_rank(r, n);
    int64_t all = th_onnx_elements(in);
    bool keeps_zero = th_onnx_int(r->node, "allowzero", 0) != 0, is_good = all >= 0;
    out->rank = n;
    for (int32_t i = 0; i < n && is_good; i++) {
        out->dim[i] = shape[i] == 0 && !keeps_zero && i < in->rank ? in->dim[i] : shape[i];
        if (out->dim[i] == -1 && open < 0)
            open = i;
        else if (out->dim[i] < 0 || (out->dim[i] > 0 && known > INT64_MAX / out->dim[i]))
            is_good = false;
        else
            known *= out->dim[i];
    }
    if (is_good && open >= 0)
        out->dim[open] = known > 0 ? all / known : 0;
    if (!is_good || (open >= 0 && known > 0 && all % known != 0) || th_onnx_elements(out) != all)
        return th_onnx_refuse(r, "WORK-0104", "the shape must have %lld elements", (long long)all);
    return 0;
}

int th_onnx_shape_flatten(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r);
    int64_t axis = th_onnx_int(r->node, "axis", 1), front = 1, back = 1;
    (void)o;
    if (!in)
        return -1;
    if (axis < -in->rank || axis > in->rank || th_onnx_elements(in) < 0)
        return th_onnx_refuse_number(r, "an axis", (double)axis);
    axis += axis < 0 ? in->rank : 0;
    for (int32_t i = 0; i < in->rank; i++)
        *(i < axis ? &front : &back) *= in->dim[i];
    r->out[0].rank = 2;
    r->out[0].dim[0] = front;
    r->out[0].dim[1] = back;
    return 0;
}

int th_onnx_shape_squeeze(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t axes[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_begin(r);
    int n = in ? th_onnx_list(r, 1, "axes", axes, TH_ONNX_RANK_MAX) : -2;
    uint32_t mask = 0;
    (void)o;
    if (n == -2)
        return -1;
    for (int32_t i = 0; n < 0 && i < in->rank; i++)
        mask |= in->dim[i] == 1 ? 1u << i : 0;
    for (int i = 0; i < n; i++) {
        int32_t axis = th_onnx_axis(r, axes[i], in->rank);
        if (axis < 0)
            return -1;
        if (in->dim[axis] != 1)
            return th_onnx_refuse_extent(r, in->dim[axis], 1, 1);
        mask |= 1u << axis;
    }
    drop_axes(&r->out[0], mask, false);
    return 0;
}

int th_onnx_shape_unsqueeze(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t axes[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_begin(r);
    int n = in ? th_onnx_list(r, 1, "axes", axes, TH_ONNX_RANK_MAX) : -2;
    uint32_t mask = 0;
    (void)o;
    if (n < 0)
        return n == -1 ? th_onnx_expected(r, "axes") : -1;
    if (in->rank + n > TH_ONNX_RANK_MAX)
        return th_onnx_refuse_rank(r, in->rank + n);
    for (int i = 0; i < n; i++) {
        int32_t axis = th_onnx_axis(r, axes[i], in->rank + n);
        if (axis < 0)
            return -1;
        mask |= 1u << axis;
    }
    th_onnx_value *out = &r->out[0];
    out->rank = 0;
    for (int32_t i = 0, from = 0; from < in->rank || mask >> i; i++)
        out->dim[out->rank++] = mask >> i & 1 ? 1 : in->dim[from++];
    return 0;
}

int th_onnx_shape_expand(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value to = {0};
    const th_onnx_value *in = th_onnx_begin(r);
    (void)o;
    int n = in ? th_onnx_list(r, 1, NULL, to.dim, TH_ONNX_RANK_MAX) : -2;
    if (n < 0)
        return n == -1 ? th_onnx_expected(r, "a shape") : -1;
    to.rank = n;
    for (int i = 0; i < n; i++)
        if (to.dim[i] < 0)
            return th_onnx_refuse_extent(r, to.dim[i], 0, TH_ONNX_EXTENT_MAX);
    return th_onnx_broadcast(r, &r->out[0], &to);
}

/* Multiplies the extents of the output; sizes stay below 2^53 (th_onnx_elements). */
static int multiply_extents(th_onnx_reader *r, const int64_t *by, int n)
{
    for (int i = 0; i < n; i++) {
        if (by[i] < 0 || by[i] > TH_ONNX_EXTENT_MAX || r->out[0].dim[i] > TH_ONNX_EXTENT_MAX)
            return th_onnx_refuse_extent(r, by[i], 0, TH_ONNX_EXTENT_MAX);
        r->out[0].dim[i] *= by[i];
    }
    return 0;
}

/* Before version 6, the inputs are one repeat count and one axis. */
int th_onnx_shape_tile(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t repeats[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_begin(r);
    (void)o;
    int n = in ? th_onnx_list(r, 1, NULL, repeats, TH_ONNX_RANK_MAX) : -2;
    if (n >= 0 && r->opset < 6 && r->node->n_input == 3) {
        int64_t times = n > 0 ? repeats[0] : 1, axis = 0;
        if (th_onnx_scalar(r, 2, NULL, &axis) || (axis = th_onnx_axis(r, axis, in->rank)) < 0)
            return -1;
        for (n = 0; n < in->rank; n++)
            repeats[n] = n == axis ? times : 1;
    }
    if (n == -2 || (n >= 0 && n == in->rank && multiply_extents(r, repeats, n)))
        return -1;
    return n == in->rank ? 0 : th_onnx_expected(r, "a number of repeats for every axis");
}

int th_onnx_shape_pad(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t pads[2 * TH_ONNX_RANK_MAX], axes[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_begin(r);
    const char *name = th_onnx_has(r->node, "paddings") ? "paddings" : "pads";
    int n = in ? th_onnx_list(r, 1, name, pads, 2 * TH_ONNX_RANK_MAX) : -2;
    int n_axes = n == -2 ? -2 : th_onnx_list(r, 3, NULL, axes, TH_ONNX_RANK_MAX);
    (void)o;
    if (n_axes == -2)
        return -1;
    int sides = n_axes >= 0 ? n_axes : in->rank;
    if (n != 2 * sides)
        return th_onnx_expected(r, "two pads for every axis");
    for (int i = 0; i < sides; i++) {
        int32_t axis = n_axes >= 0 ? th_onnx_axis(r, axes[i], in->rank) : i;
        if (axis < 0)
            return -1;
        int64_t most = TH_ONNX_EXTENT_MAX, extent = in->dim[axis];
        bool is_good = pads[i] >= -most && pads[i] <= most && pads[i + sides] >= -most &&
                       pads[i + sides] <= most;
        if (is_good)
            r->out[0].dim[axis] = extent += pads[i] + pads[i + sides];
        if (!is_good || extent < 0)
            return th_onnx_refuse_extent(r, (is_good ? extent : pads[i]), 0, TH_ONNX_EXTENT_MAX);
    }
    return 0;
}

int th_onnx_shape_center_crop_pad(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t size[TH_ONNX_RANK_MAX], axes[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_begin(r);
    int n = in ? th_onnx_list(r, 1, NULL, size, TH_ONNX_RANK_MAX) : -2;
    int n_axes = th_onnx_ints(r->node, "axes", axes, TH_ONNX_RANK_MAX);
    (void)o;
    if (n == -2)
        return -1;
    if (n != (n_axes >= 0 ? n_axes : in->rank))
        return th_onnx_expected(r, "a size of every axis");
    for (int i = 0; i < n; i++) {
        int32_t axis = n_axes >= 0 ? th_onnx_axis(r, axes[i], in->rank) : i;
        if (axis < 0)
            return -1;
        if (size[i] < 0)
            return th_onnx_refuse_extent(r, size[i], 0, TH_ONNX_EXTENT_MAX);
        r->out[0].dim[axis] = size[i];
    }
    return 0;
}

int th_onnx_shape_multinomial(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r);
    (void)o;
    if (!in)
        return -1;
    r->out[0].rank = 2;
    r->out[0].dim[1] = th_onnx_int(r->node, "sample_size", 1);
    return 0;
}

/* Without reduction, the output has no axis of channels. */
int th_onnx_shape_loss(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r);
    (void)o;
    if (!in)
        return -1;
    drop_axes(&r->out[0], th_onnx_is(r->node, "reduction", "none") ? 1u << 1 : (1u << in->rank) - 1,
              false);
    return 0;
}

int th_onnx_shape_quantize(th_onnx_reader *r, const th_onnx_operator *o)
{
    (void)o;
    if (!th_onnx_begin(r))
        return -1;
    for (size_t i = 1; i < r->n_out; i++)
        r->out[i].rank = 0;
    return 0;
}
