/* SPDX-License-Identifier: GPL-3.0-or-later */
/* product.c - see product.h.
 *
 * Kinds of axes: group (a head): in both inputs and the output; inner: in both inputs only; rows:
 * in the first input and the output; columns: in the second input and the output. If one input is a
 * constant (weights), the layer reads the inner axes from the channels of the other, or from all of
 * its pixels (fc), and the rows keep their layout. If both are tensors, the first input has groups
 * x inner channels and the rows as rows; the second has groups x columns channels and inner rows
 * or, transposed, groups x inner channels and the columns as rows. */
#include <config.h>
#include "workloads/onnx/product.h"

#include <string.h>

typedef enum { GROUP, ROW, INNER, COLUMN, ALONE } role;

static role role_of(const th_onnx_product *p, int i)
{
    bool a = p->first[i] >= 0, b = p->second[i] >= 0, out = p->out[i] >= 0;
    return a && b ? (out ? GROUP : INNER) : !out ? ALONE : a ? ROW : COLUMN;
}

/* The extent of an axis of the product; of a broadcast axis, that of the input that has more than
 * 1. */
static int64_t extent_of(const th_onnx_product *p, const th_onnx_value *a, const th_onnx_value *b,
                         int i)
{
    int64_t x = p->first[i] >= 0 ? a->dim[p->first[i]] : 1,
            y = p->second[i] >= 0 ? b->dim[p->second[i]] : 1;
    return x == 1 ? y : x;
}

/* Splits an axis of both inputs in which one of them has extent 1 (is broadcast): the axis then
 * belongs to the other input alone. */
static void split_broadcast(th_onnx_product *p, const th_onnx_value *a, const th_onnx_value *b)
{
    for (int i = 0; i < p->n; i++) {
        if (role_of(p, i) != GROUP)
            continue;
        if (a->dim[p->first[i]] == 1 && b->dim[p->second[i]] != 1)
            p->first[i] = -1;
        else if (b->dim[p->second[i]] == 1)
            p->second[i] = -1;
    }
}

static void swap_inputs(th_onnx_product *p)
{
    int32_t first[TH_ONNX_PRODUCT_AXES];
    memcpy(first, p->first, sizeof first);
    memcpy(p->first, p->second, sizeof first);
    memcpy(p->second, first, sizeof first);
}

static int64_t product_of(const th_onnx_product *p, const th_onnx_value *a, const th_onnx_value *b,
                          role kind)
{
    int64_t n = 1;
    for (int i = 0; i < p->n && n <= TH_ONNX_EXTENT_MAX; i++)
        if (role_of(p, i) == kind)
            n *= extent_of(p, a, b, i);
    return n <= TH_ONNX_EXTENT_MAX ? n : -1;
}

/* Returns v with its axes sorted by kind: groups, then kinds[0], then kinds[1]. numbers receives
 * the numbers of the axes in the product, in that order. */
static th_onnx_value sorted(const th_onnx_product *p, const th_onnx_value *v, const int32_t *at,
                            const role *kinds, int32_t *numbers)
{
    th_onnx_value out = *v;
    int32_t order[TH_ONNX_RANK_MAX], n = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < p->n; i++)
            if (at[i] >= 0 && role_of(p, i) == kinds[k]) {
                numbers[n] = i;
                order[n++] = at[i];
            }
    out.rank = n;
    out.other_layout = NULL; /* which has other axes */
    th_onnx_layout_transpose(&out, order);
    return out;
}

static int mixed(th_onnx_reader *r, const th_onnx_product *p, const th_onnx_value *v,
                 const int32_t *at)
{
    for (int i = 0; i < p->n; i++)
        if (at[i] >= 0 && role_of(p, i) == INNER && th_onnx_axis_has_batch(v, at[i]))
            return th_onnx_mixes_batch(r);
    if (r->batch > 1 && !th_onnx_has_batch(v))
        return th_onnx_mixes_batch(r);
    return 0;
}

/* Gives axis i of the product in out the factors that it has in the input `from`. */
static void copy_axis(th_onnx_value *out, const th_onnx_product *p, int i,
                      const th_onnx_value *from, const int32_t *numbers)
{
    for (int32_t k = 0; k < from->rank; k++)
        if (numbers[k] == i)
            th_onnx_layout_copy(out, p->out[i], from, k);
}

/* Sorts the factors by axis. */
static void sort_factors(th_onnx_value *v)
{
    th_onnx_value in = *v;
    v->n_factors = 0;
    for (int32_t axis = 0; axis < in.rank; axis++)
        th_onnx_layout_copy(v, axis, &in, axis);
    th_onnx_layout_merge(v);
}

static int finish(th_onnx_reader *r, th_onnx_value *v)
{
    sort_factors(v);
    return th_onnx_define_output(r, 0, v);
}

/* ---- with weights ---------------------------------------------------------------------------- */

/* Lays out the output of a product with weights: groups and columns are the channels; rows keep the
 * factors of the input. */
static void weighted_axes(th_onnx_value *out, const th_onnx_product *p, const th_onnx_value *in,
                          const int32_t *numbers, const th_onnx_value *a, const th_onnx_value *b)
{
    int64_t stride = 1;
    for (int k = 0; k < 2; k++)
        for (int i = p->n - 1; i >= 0; i--)
            if (role_of(p, i) == (k == 0 ? COLUMN : GROUP)) {
                int64_t extent = extent_of(p, a, b, i);
                th_onnx_layout_add(out, p->out[i], TH_ONNX_C, extent, stride);
                stride *= extent;
            }
    for (int i = 0; i < p->n; i++)
        if (role_of(p, i) == ROW)
            copy_axis(out, p, i, in, numbers);
}

static int add_weighted(th_onnx_reader *r, const th_onnx_product *p, th_onnx_value *a,
                        const th_onnx_value *b, bool has_bias, const char *suffix)
{
    static const role kinds[] = {GROUP, INNER, ROW};
    static const int channels[] = {TH_ONNX_C, -1}, all[] = {TH_ONNX_C, TH_ONNX_H, TH_ONNX_W, -1};
    int32_t numbers[TH_ONNX_RANK_MAX], n_inner = 0;
    int coordinates[TH_ONNX_RANK_MAX];
    th_onnx_value view = sorted(p, a, p->first, kinds, numbers);
    for (int32_t i = 0; i < view.rank; i++) {
        if (role_of(p, numbers[i]) == GROUP && th_onnx_axis_has_batch(&view, i))
            return th_onnx_mixes_batch(r);
        n_inner += role_of(p, numbers[i]) != ROW;
        coordinates[i] = role_of(p, numbers[i]) != ROW ? TH_ONNX_C : TH_ONNX_H;
    }
    const th_onnx_value *in = &view;
    int64_t groups = product_of(p, a, b, GROUP), columns = product_of(p, a, b, COLUMN);
    bool is_flat = groups == 1 && th_onnx_layout_is(&view, 0, n_inner - 1, all);
    if (!is_flat && !th_onnx_layout_is(&view, 0, n_inner - 1, channels))
        in = th_onnx_arrange(r, &view, coordinates, ".input");
    if (!in)
        return -1;
    is_flat = groups == 1 && (is_flat || (in->h == 1 && in->w == 1));
    if (groups < 1 || columns < 1 || groups * columns > TH_ONNX_EXTENT_MAX)
        return th_onnx_refuse_large(r);
    th_layer l = th_onnx_layer_over(r, is_flat ? TH_LAYER_FC : TH_LAYER_MATMUL, in);
    l.dim[TH_DIM_K] = (int32_t)(groups * columns);
    l.groups = (int32_t)groups;
    l.has_bias = has_bias;
    if (is_flat) {
        l.dim[TH_DIM_R] = in->h;
        l.dim[TH_DIM_S] = in->w;
        l.dim[TH_DIM_H] = l.dim[TH_DIM_W] = 1;
    }
    bool inputs_first = false;
    for (int i = 0; i < p->n; i++)
        inputs_first |= role_of(p, i) == COLUMN && p->second[i] == b->rank - 1;
    int32_t from = in->layer, layer = th_onnx_add_layer(r, &l, &from, 1, suffix);
    if (layer < 0 || th_onnx_tie(r, layer, b, inputs_first, 0))
        return -1;
    th_onnx_value v = th_onnx_made(r, 0, layer);
    weighted_axes(&v, p, in, numbers, a, b);
    return finish(r, &v);
}

/* ---- without weights ------------------------------------------------------------------------- */

static void axis_coordinates(const th_onnx_product *p, const int32_t *numbers, int32_t rank,
                             role rows, int *coordinates)
{
    for (int32_t i = 0; i < rank; i++)
        coordinates[i] = role_of(p, numbers[i]) == rows ? TH_ONNX_H : TH_ONNX_C;
}

/* True if v has the layout that these coordinates give. */
static bool is_laid_out(const th_onnx_value *v, const int *coordinates)
{
    th_onnx_value wanted = *v;
    return th_onnx_layout_assign(&wanted, v, coordinates) == 0 && th_onnx_layout_same(v, &wanted);
}

static const th_onnx_value *arrange_second(th_onnx_reader *r, const th_onnx_product *p,
                                           th_onnx_value *b, th_onnx_value *view, int32_t *numbers,
                                           bool *is_transposed)
{
    static const role straight[] = {GROUP, COLUMN, INNER}, turned[] = {GROUP, INNER, COLUMN};
    int coordinates[TH_ONNX_RANK_MAX];
    *view = sorted(p, b, p->second, turned, numbers);
    axis_coordinates(p, numbers, view->rank, COLUMN, coordinates);
    *is_transposed = is_laid_out(view, coordinates);
    if (!*is_transposed) {
        *view = sorted(p, b, p->second, straight, numbers);
        axis_coordinates(p, numbers, view->rank, INNER, coordinates);
    }
    return th_onnx_arrange(r, view, coordinates, ".second");
}

/* Lays out groups and columns along the channels of the output. */
static void channel_axes(th_onnx_value *out, const th_onnx_product *p, const th_onnx_value *a,
                         const th_onnx_value *b)
{
    int64_t stride = 1;
    for (int k = 0; k < 2; k++)
        for (int i = p->n - 1; i >= 0; i--) {
            if (role_of(p, i) != (k == 0 ? COLUMN : GROUP))
                continue;
            bool has_batch = (p->first[i] >= 0 && th_onnx_axis_has_batch(a, p->first[i])) ||
                             (p->second[i] >= 0 && th_onnx_axis_has_batch(b, p->second[i]));
            int64_t extent = extent_of(p, a, b, i) / (has_batch ? out->b : 1);
            if (has_batch)
                th_onnx_layout_add(out, p->out[i], TH_ONNX_B, out->b, 1);
            th_onnx_layout_add(out, p->out[i], TH_ONNX_C, extent, stride);
            stride *= extent;
        }
}

static int64_t without_batch(const th_onnx_product *p, const th_onnx_value *a,
                             const th_onnx_value *b, role kind, int64_t batch)
{
    int64_t n = product_of(p, a, b, kind);
    for (int i = 0; i < p->n && n > 0; i++)
        if (role_of(p, i) == kind &&
            ((p->first[i] >= 0 && th_onnx_axis_has_batch(a, p->first[i])) ||
             (p->second[i] >= 0 && th_onnx_axis_has_batch(b, p->second[i]))))
            n /= batch;
    return n;
}

static int add_unweighted(th_onnx_reader *r, const th_onnx_product *p, th_onnx_value *a,
                          th_onnx_value *b, const char *suffix)
{
    static const role kinds[] = {GROUP, INNER, ROW};
    int32_t first_numbers[TH_ONNX_RANK_MAX], second_numbers[TH_ONNX_RANK_MAX];
    int coordinates[TH_ONNX_RANK_MAX];
    bool is_transposed;
    th_onnx_value view = sorted(p, a, p->first, kinds, first_numbers), second_view;
    axis_coordinates(p, first_numbers, view.rank, ROW, coordinates);
    const th_onnx_value *first = th_onnx_arrange(r, &view, coordinates, ".first");
    const th_onnx_value *second =
        first ? arrange_second(r, p, b, &second_view, second_numbers, &is_transposed) : NULL;
    if (!second)
        return -1;
    int64_t groups = without_batch(p, a, b, GROUP, r->batch),
            columns = without_batch(p, a, b, COLUMN, r->batch);
    if (groups < 1 || columns < 1 || groups * columns > TH_ONNX_EXTENT_MAX)
        return th_onnx_refuse_large(r);
    th_layer l = th_onnx_layer_over(r, TH_LAYER_MATMUL, first);
    l.dim[TH_DIM_K] = (int32_t)(groups * columns);
    l.groups = (int32_t)groups;
    l.is_transposed = is_transposed;
    int32_t from[] = {first->layer, second->layer};
    int32_t layer = th_onnx_add_layer(r, &l, from, 2, suffix);
    if (layer < 0)
        return -1;
    th_onnx_value v = th_onnx_made(r, 0, layer);
    channel_axes(&v, p, a, b);
    for (int i = 0; i < p->n; i++)
        if (role_of(p, i) == ROW)
            copy_axis(&v, p, i, first, first_numbers);
    return finish(r, &v);
}

/* True if the batch is part of different axes of the product in the two inputs. */
static bool has_batch_twice(const th_onnx_product *p, const th_onnx_value *a,
                            const th_onnx_value *b)
{
    int first = -1, second = -1;
    for (int i = 0; i < p->n; i++) {
        first = p->first[i] >= 0 && th_onnx_axis_has_batch(a, p->first[i]) ? i : first;
        second = p->second[i] >= 0 && th_onnx_axis_has_batch(b, p->second[i]) ? i : second;
    }
    return first >= 0 && second >= 0 && first != second;
}

int th_onnx_add_product(th_onnx_reader *r, const th_onnx_product *given, th_onnx_value *first,
                        th_onnx_value *second, bool has_bias, const char *suffix)
{
    th_onnx_product p = *given;
    bool is_swapped = first->is_constant;
    split_broadcast(&p, first, second);
    if (is_swapped)
        swap_inputs(&p);
    th_onnx_value *a = is_swapped ? second : first, *b = is_swapped ? first : second;
    if (th_onnx_elements(&r->out[0]) < 1 || th_onnx_elements(a) < 1)
        return th_onnx_refuse_extent(r, 0, 1, TH_ONNX_EXTENT_MAX);
    if (mixed(r, &p, a, p.first))
        return -1;
    if (b->is_constant)
        return add_weighted(r, &p, a, b, has_bias, suffix);
    if (mixed(r, &p, b, p.second))
        return -1;
    if (has_batch_twice(&p, a, b))
        return th_onnx_mixes_batch(r);
    return add_unweighted(r, &p, a, b, suffix);
}
