/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fold_axes.c - evaluates operators that select, join, move or reduce elements of known
 * constants; see op.h. */
#include <config.h>
#include "workloads/onnx/op.h"

#include <string.h>

#include "workloads/onnx/shape/fold.h"

/* The product of the extents after an axis. */
static int64_t inner_of(const th_onnx_value *v, int32_t axis)
{
    int64_t n = 1;
    for (int32_t i = axis + 1; i < v->rank; i++)
        n *= v->dim[i];
    return n;
}

/* The product of the extents before an axis. */
static int64_t outer_of(const th_onnx_value *v, int32_t axis)
{
    int64_t n = 1;
    for (int32_t i = 0; i < axis; i++)
        n *= v->dim[i];
    return n;
}

static int32_t axis_of(const th_onnx_reader *r, int64_t otherwise, int32_t rank)
{
    int64_t axis = th_onnx_int(r->node, "axis", otherwise);
    return (int32_t)(axis < 0 ? axis + rank : axis);
}

int th_onnx_fold_gather(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0), *at = th_onnx_input_or_none(r, 1);
    (void)o;
    int status = th_onnx_fold_begin(r, out);
    if (status <= 0)
        return status;
    int32_t axis = axis_of(r, 0, in->rank);
    int64_t inner = inner_of(in, axis), outer = outer_of(in, axis), n = th_onnx_elements(at),
            extent = in->dim[axis], to = 0;
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < n; j++) {
            int64_t place = th_onnx_number(at, j);
            place += place < 0 ? extent : 0;
            if (place < 0 || place >= extent)
                return th_onnx_refuse_number(r, "an index", th_onnx_real_number(at, j));
            for (int64_t k = 0; k < inner; k++)
                th_onnx_fold_copy(out, to++, in, (i * extent + place) * inner + k);
        }
    return 1;
}

int th_onnx_fold_concat(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    int32_t axis = axis_of(r, 1, out->rank);
    (void)o;
    int status = th_onnx_fold_begin(r, out);
    int64_t inner = inner_of(out, axis), outer = outer_of(out, axis), before = 0;
    for (size_t i = 0; status > 0 && i < r->node->n_input; i++) {
        const th_onnx_value *in = th_onnx_input_or_none(r, i);
        int64_t run = in->dim[axis] * inner;
        for (int64_t k = 0; k < outer * run; k++)
            th_onnx_fold_copy(out, k / run * out->dim[axis] * inner + before + k % run, in, k);
        before += run;
    }
    return status;
}

/* Copies the ranges of the axes of in to out. */
static int copy_ranges(th_onnx_reader *r, th_onnx_value *out, const th_onnx_value *in,
                       const th_onnx_range *axes)
{
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = 0, rest = i, stride = 1;
        for (int32_t k = out->rank - 1; k >= 0; k--) {
            from += (axes[k].first + rest % out->dim[k] * axes[k].step) * stride;
            rest /= out->dim[k];
            stride *= in->dim[k];
        }
        th_onnx_fold_copy(out, i, in, from);
    }
    return status;
}

int th_onnx_fold_slice(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_range axes[TH_ONNX_RANK_MAX];
    (void)o;
    if (th_onnx_slices(r, axes))
        return -1;
    return copy_ranges(r, &r->out[0], th_onnx_input_or_none(r, 0), axes);
}

int th_onnx_fold_split(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_range axes[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    int32_t axis = axis_of(r, 0, in->rank);
    int status = 1;
    (void)o;
    for (int32_t i = 0; i < in->rank; i++)
        axes[i] = (th_onnx_range){0, in->dim[i], 1};
    for (size_t i = 0; i < r->n_out && status > 0; i++) {
        status = copy_ranges(r, &r->out[i], in, axes);
        axes[axis].first += r->out[i].dim[axis];
    }
    return status;
}

int th_onnx_fold_transpose(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t order[TH_ONNX_RANK_MAX], stride[TH_ONNX_RANK_MAX];
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    (void)o;
    int given = th_onnx_ints(r->node, "perm", order, TH_ONNX_RANK_MAX);
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int32_t k = 0; k < in->rank; k++)
        stride[k] = inner_of(in, (int32_t)(given < 0 ? in->rank - 1 - k : order[k]));
    for (int64_t i = 0; i < n; i++) {
        int64_t from = 0, rest = i;
        for (int32_t k = out->rank - 1; k >= 0; k--) {
            from += rest % out->dim[k] * stride[k];
            rest /= out->dim[k];
        }
        th_onnx_fold_copy(out, i, in, from);
    }
    return status;
}

int th_onnx_fold_expand(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    (void)o;
    if (!th_onnx_is_known(in))
        return 0;
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++)
        th_onnx_fold_copy(out, i, in, th_onnx_fold_place(out, in, i));
    return status;
}

int th_onnx_fold_tile(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    (void)o;
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = 0, rest = i, stride = 1;
        for (int32_t k = out->rank - 1; k >= 0; k--) {
            from += rest % out->dim[k] % in->dim[k] * stride;
            rest /= out->dim[k];
            stride *= in->dim[k];
        }
        th_onnx_fold_copy(out, i, in, from);
    }
    return status;
}

/* ---- reductions ------------------------------------------------------------------------------ */

static double reduce_two(int f, double x, double y)
{
    switch (f) {
    case TH_ONNX_PROD:
        return x * y;
    case TH_ONNX_MIN:
        return x < y ? x : y;
    case TH_ONNX_MAX:
        return x > y ? x : y;
    default:
        return x + y;
    }
}

/* Exact up to 2^53: products beyond are no shapes. */
int th_onnx_fold_reduce(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0], kept;
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    uint32_t mask;
    if (th_onnx_reduced_axes(r, in, &mask))
        return -1;
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(in) : 0,
            parts = status > 0 ? th_onnx_elements(out) : 0;
    double *sums = status > 0 ? th_onnx_room(r, 2 * parts, sizeof *sums) : NULL;
    if (status > 0 && !sums)
        return -1;
    kept = *in;
    for (int32_t i = 0; i < kept.rank; i++)
        kept.dim[i] = mask >> i & 1 ? 1 : kept.dim[i];
    for (int64_t i = 0; i < n; i++) {
        int64_t to = th_onnx_fold_place(in, &kept, i);
        double x = th_onnx_real_number(in, i), *count = &sums[2 * to + 1];
        sums[2 * to] = *count > 0 ? reduce_two(o->variant, sums[2 * to], x) : x;
        *count += 1;
    }
    for (int64_t i = 0; i < parts; i++) {
        double x = sums[2 * i];
        if (o->variant == TH_ONNX_PROD && sums[2 * i + 1] == 0)
            x = 1;
        if (o->variant == TH_ONNX_MEAN)
            x /= sums[2 * i + 1];
        if (out->reals)
            out->reals[i] = x;
        else
            out->ints[i] = th_onnx_whole(x);
    }
    return status;
}

int th_onnx_fold_cumsum(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    int32_t axis = th_onnx_axis(r, th_onnx_number(th_onnx_input_or_none(r, 1), 0), in->rank);
    (void)o;
    if (axis < 0)
        return -1;
    if (th_onnx_int(r->node, "exclusive", 0) || th_onnx_int(r->node, "reverse", 0))
        return 0;
    int64_t inner = inner_of(in, axis);
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(in) : 0;
    for (int64_t i = 0; i < n; i++) {
        bool is_first = i / inner % in->dim[axis] == 0;
        if (out->reals)
            out->reals[i] = in->reals[i] + (is_first ? 0 : out->reals[i - inner]);
        else
            out->ints[i] =
                (int64_t)((uint64_t)in->ints[i] + (is_first ? 0 : (uint64_t)out->ints[i - inner]));
    }
    return status;
}

/* ---- indices --------------------------------------------------------------------------------- */

/* Indices of the elements that are not zero: rank x count. */
int th_onnx_fold_nonzero(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    int64_t n = th_onnx_elements(in), count = 0;
    (void)o;
    for (int64_t i = 0; i < n; i++)
        count += th_onnx_real_number(in, i) != 0;
    out->rank = 2;
    out->dim[0] = in->rank;
    out->dim[1] = count;
    out->type = TH_ONNX_INT64;
    int status = th_onnx_fold_begin(r, out);
    for (int64_t i = 0, found = 0; status > 0 && i < n; i++) {
        int64_t rest = i;
        if (th_onnx_real_number(in, i) == 0)
            continue;
        for (int32_t k = in->rank - 1; k >= 0; k--) {
            out->ints[k * count + found] = rest % in->dim[k];
            rest /= in->dim[k];
        }
        found++;
    }
    return status;
}

int th_onnx_fold_scatter_nd(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0), *at = th_onnx_input_or_none(r, 1),
                        *with = th_onnx_input_or_none(r, 2);
    (void)o;
    int32_t depth = (int32_t)(at->rank > 0 ? at->dim[at->rank - 1] : 0);
    if (depth < 1 || depth > in->rank || th_onnx_has(r->node, "reduction"))
        return 0;
    int64_t run = inner_of(in, depth - 1), n = th_onnx_elements(at) / depth;
    int status = th_onnx_elements(with) == n * run ? th_onnx_fold_begin(r, out) : 0;
    for (int64_t i = 0; status > 0 && i < th_onnx_elements(in); i++)
        th_onnx_fold_copy(out, i, in, i);
    for (int64_t i = 0; status > 0 && i < n; i++) {
        int64_t place = 0;
        for (int32_t k = 0; k < depth; k++) {
            int64_t x = th_onnx_number(at, i * depth + k);
            x += x < 0 ? in->dim[k] : 0;
            if (x < 0 || x >= in->dim[k])
                return th_onnx_refuse_number(r, "an index", (double)x);
            place = place * in->dim[k] + x;
        }
        for (int64_t k = 0; k < run; k++)
            th_onnx_fold_copy(out, place * run + k, with, i * run + k);
    }
    return status;
}
