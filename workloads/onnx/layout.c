/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.c - see layout.h. */
#include <config.h>
#include "workloads/onnx/layout.h"

#include <string.h>

int th_onnx_layout_add(th_onnx_value *v, int32_t axis, th_onnx_coordinate c, int64_t extent,
                       int64_t stride)
{
    if (extent == 1)
        return 0;
    if (v->n_factors == TH_ONNX_FACTORS_MAX)
        return -1;
    v->factor[v->n_factors++] =
        (th_onnx_factor){.axis = axis, .coordinate = c, .extent = extent, .stride = stride};
    return 0;
}

void th_onnx_layout_merge(th_onnx_value *v)
{
    int32_t n = 0;
    for (int32_t i = 0; i < v->n_factors; i++) {
        th_onnx_factor f = v->factor[i], *last = n > 0 ? &v->factor[n - 1] : NULL;
        if (f.extent == 1)
            continue;
        if (last && last->axis == f.axis && last->coordinate == f.coordinate &&
            last->stride == f.stride * f.extent) {
            last->extent *= f.extent;
            last->stride = f.stride;
        } else {
            v->factor[n++] = f;
        }
    }
    v->n_factors = n;
}

/* Removes an extent from the fastest of the factors [0, *n) and appends it to the factors of out,
 * as factors of the axis. False: the extent does not divide them. */
static bool take(th_onnx_factor *from, int32_t *n, int64_t extent, int32_t axis, th_onnx_value *out)
{
    while (extent > 1) {
        th_onnx_factor *f = *n > 0 ? &from[*n - 1] : NULL;
        if (!f || out->n_factors == TH_ONNX_FACTORS_MAX)
            return false;
        int64_t part = f->extent <= extent ? f->extent : extent;
        if (f->extent % part != 0 || extent % part != 0)
            return false;
        out->factor[out->n_factors++] = (th_onnx_factor){axis, f->coordinate, part, f->stride};
        extent /= part;
        f->extent /= part;
        f->stride *= part;
        if (f->extent == 1)
            --*n;
    }
    return true;
}

bool th_onnx_layout_reshape(th_onnx_value *v, const int64_t *dim, int32_t rank)
{
    th_onnx_value in = *v, out = *v;
    int32_t n;
    for (int32_t i = 0; i < in.n_factors; i++)
        in.factor[i].axis = 0;
    th_onnx_layout_merge(&in);
    n = in.n_factors;
    out.n_factors = 0;
    for (int32_t axis = rank - 1; axis >= 0; axis--)
        if (!take(in.factor, &n, dim[axis], axis, &out))
            return false;
    if (n > 0)
        return false;
    for (int32_t i = 0; i < out.n_factors / 2; i++) {
        th_onnx_factor f = out.factor[i];
        out.factor[i] = out.factor[out.n_factors - 1 - i];
        out.factor[out.n_factors - 1 - i] = f;
    }
    out.rank = rank;
    for (int32_t i = 0; i < rank; i++)
        out.dim[i] = dim[i];
    th_onnx_layout_merge(&out);
    *v = out;
    return true;
}

void th_onnx_layout_transpose(th_onnx_value *v, const int32_t *order)
{
    th_onnx_value in = *v;
    v->n_factors = 0;
    for (int32_t axis = 0; axis < in.rank; axis++) {
        v->dim[axis] = in.dim[order[axis]];
        for (int32_t i = 0; i < in.n_factors; i++)
            if (in.factor[i].axis == order[axis]) {
                v->factor[v->n_factors] = in.factor[i];
                v->factor[v->n_factors++].axis = axis;
            }
    }
}

static int64_t extent_of(const th_onnx_value *v, th_onnx_coordinate c)
{
    return c == TH_ONNX_C ? v->c : c == TH_ONNX_H ? v->h : c == TH_ONNX_W ? v->w : v->b;
}

bool th_onnx_layout_is(const th_onnx_value *v, int32_t first, int32_t last, const int *coordinates)
{
    int32_t i = 0;
    while (i < v->n_factors && v->factor[i].axis < first)
        i++;
    for (; *coordinates >= 0; coordinates++) {
        int64_t left = extent_of(v, (th_onnx_coordinate)*coordinates);
        for (; left > 1; i++) {
            const th_onnx_factor *f = i < v->n_factors ? &v->factor[i] : NULL;
            if (!f || f->axis > last || (int)f->coordinate != *coordinates ||
                f->stride * f->extent != left)
                return false;
            left = f->stride;
        }
    }
    return i == v->n_factors || v->factor[i].axis > last;
}

bool th_onnx_layout_same(const th_onnx_value *a, const th_onnx_value *b)
{
    if (a->n_factors != b->n_factors || a->c != b->c || a->h != b->h || a->w != b->w)
        return false;
    for (int32_t i = 0; i < a->n_factors; i++) {
        const th_onnx_factor *f = &a->factor[i], *g = &b->factor[i];
        if (f->axis != g->axis || f->coordinate != g->coordinate || f->extent != g->extent ||
            f->stride != g->stride)
            return false;
    }
    return true;
}

void th_onnx_layout_copy(th_onnx_value *v, int32_t axis, const th_onnx_value *from,
                         int32_t from_axis)
{
    for (int32_t i = 0; i < from->n_factors; i++)
        if (from->factor[i].axis == from_axis && v->n_factors < TH_ONNX_FACTORS_MAX) {
            v->factor[v->n_factors] = from->factor[i];
            v->factor[v->n_factors++].axis = axis;
        }
}

int th_onnx_layout_assign(th_onnx_value *v, const th_onnx_value *like, const int *coordinates)
{
    const th_onnx_value from = *like;
    int64_t extent[] = {v->b, 1, 1, 1};
    v->n_factors = from.n_factors;
    for (int32_t i = from.n_factors; i-- > 0;) { /* the fastest first */
        th_onnx_factor f = from.factor[i];
        if (f.coordinate != TH_ONNX_B) {
            f.coordinate = (th_onnx_coordinate)coordinates[f.axis];
            f.stride = extent[f.coordinate];
            extent[f.coordinate] *= f.extent;
            if (extent[f.coordinate] > TH_ONNX_EXTENT_MAX)
                return -1;
        }
        v->factor[i] = f;
    }
    v->c = (int32_t)extent[TH_ONNX_C];
    v->h = (int32_t)extent[TH_ONNX_H];
    v->w = (int32_t)extent[TH_ONNX_W];
    th_onnx_layout_merge(v);
    return 0;
}

/* The factor along a coordinate with the smallest stride >= least; NULL: none. */
static th_onnx_factor *next_factor(th_onnx_value *v, th_onnx_coordinate c, int64_t least)
{
    th_onnx_factor *found = NULL;
    for (int32_t i = 0; i < v->n_factors; i++) {
        th_onnx_factor *f = &v->factor[i];
        if (f->coordinate == c && f->stride >= least && (!found || f->stride < found->stride))
            found = f;
    }
    return found;
}

void th_onnx_layout_compact(th_onnx_value *v)
{
    th_onnx_value old = *v;
    int32_t *const extents[] = {NULL, &v->c, &v->h, &v->w};
    for (int c = TH_ONNX_C; c <= TH_ONNX_W; c++) {
        int64_t extent = 1;
        const th_onnx_factor *f = next_factor(&old, (th_onnx_coordinate)c, 1);
        for (; f; f = next_factor(&old, (th_onnx_coordinate)c, f->stride + 1)) {
            v->factor[f - old.factor].stride = extent;
            extent *= f->extent;
        }
        *extents[c] = (int32_t)extent;
    }
    th_onnx_layout_merge(v);
}

int th_onnx_layout_fill(th_onnx_value *v, int32_t batch_axis)
{
    v->n_factors = 0;
    for (int32_t axis = 0; axis < v->rank; axis++) {
        int64_t rest = v->dim[axis];
        if (axis == batch_axis) {
            if (rest % v->b != 0)
                return -1;
            rest /= v->b;
            if (th_onnx_layout_add(v, axis, TH_ONNX_B, v->b, 1))
                return -1;
        }
        if (th_onnx_layout_add(v, axis, TH_ONNX_C, rest, 1))
            return -1;
    }
    return 0;
}

int32_t th_onnx_batch_axis(const th_onnx_value *v)
{
    int32_t found = -1;
    for (int32_t i = 0; i < v->n_factors; i++) {
        if (v->factor[i].coordinate != TH_ONNX_B)
            continue;
        bool is_first = i == 0 || v->factor[i - 1].axis != v->factor[i].axis;
        if (found >= 0 || !is_first || v->factor[i].extent != v->b)
            return -2;
        found = v->factor[i].axis;
    }
    return found;
}

bool th_onnx_axis_has_batch(const th_onnx_value *v, int32_t axis)
{
    for (int32_t i = 0; i < v->n_factors; i++)
        if (v->factor[i].coordinate == TH_ONNX_B && v->factor[i].axis == axis)
            return true;
    return false;
}

bool th_onnx_has_batch(const th_onnx_value *v)
{
    for (int32_t i = 0; i < v->n_factors; i++)
        if (v->factor[i].coordinate == TH_ONNX_B)
            return true;
    return false;
}
