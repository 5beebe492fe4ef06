/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_views.c - operators of an ONNX model that compute nothing: constants, and views of the
 * outputs of layers. */
#include <config.h>
#include "workloads/onnx_values.h"

/* ---- constants ------------------------------------------------------------------------------- */

static int read_constant(th_onnx_reader *r, int what)
{
    const th_onnx_tensor *t = th_onnx_tensor_of(r->node, "value");
    th_onnx_value v = {.is_constant = true, .tensor = t};
    (void)what;
    if (!t || t->n_dims > TH_ONNX_RANK_MAX)
        return th_onnx_refuse(r, "WORK-0095",
                              "value: a tensor of at most %d dimensions was expected",
                              TH_ONNX_RANK_MAX);
    for (; v.rank < (int32_t)t->n_dims; v.rank++)
        v.dim[v.rank] = t->dims[v.rank];
    return th_onnx_define_output(r, &v);
}

static int read_constant_of_shape(th_onnx_reader *r, int what)
{
    const th_onnx_value *shape = th_onnx_input(r, 0);
    th_onnx_value v = {.is_constant = true};
    (void)what;
    if (!shape)
        return -1;
    v.rank = shape->is_constant ? th_onnx_integers(shape->tensor, v.dim, TH_ONNX_RANK_MAX) : -1;
    if (v.rank < 0)
        return th_onnx_refuse(r, "WORK-0096", "input 1 \"%.80s\": a constant shape was expected",
                              r->node->input[0]);
    return th_onnx_define_output(r, &v);
}

/* ---- views ----------------------------------------------------------------------------------- */

/* What others read, too, is read by others in whatever way one looks at it. */
static th_onnx_value view_of(const th_onnx_reader *r, const th_onnx_value *in)
{
    th_onnx_value v = *in;
    v.is_shared |= !th_onnx_is_sole_reader(r, 0);
    return v;
}

static int read_same(th_onnx_reader *r, int what)
{
    const th_onnx_value *in = th_onnx_input(r, 0);
    (void)what;
    if (!in)
        return -1;
    th_onnx_value v = view_of(r, in);
    return th_onnx_define_output(r, &v);
}

static int64_t elements_of(const th_onnx_value *v)
{
    int64_t n = 1;
    for (int32_t i = 0; i < v->rank; i++)
        n = v->dim[i] > 0 && n <= INT64_MAX / v->dim[i] ? n * v->dim[i] : 0;
    return n;
}

/* Extents of 0 are those of the input, and one of -1 is what is left. */
static int set_shape(th_onnx_reader *r, th_onnx_value *v, const int64_t *shape, int32_t rank)
{
    int64_t all = elements_of(v);
    int32_t open = -1;
    th_onnx_value out = *v;
    out.rank = rank;
    for (int32_t i = 0; i < rank; i++) {
        out.dim[i] = shape[i] == 0 && i < v->rank ? v->dim[i] : shape[i];
        if (shape[i] == -1) {
            open = i;
            out.dim[i] = 1;
        }
    }
    int64_t known = elements_of(&out);
    if (open >= 0 && known > 0)
        out.dim[open] = all / known;
    if (known == 0 || all == 0 || elements_of(&out) != all || out.dim[0] != r->batch)
        return th_onnx_refuse(r, "WORK-0097",
                              "a shape of %lld elements, the batch of %lld first, was expected",
                              (long long)all, (long long)r->batch);
    return th_onnx_define_output(r, &out);
}

static int read_reshape(th_onnx_reader *r, int what)
{
    int64_t shape[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_tensor_input(r, 0), *to = in ? th_onnx_input(r, 1) : NULL;
    (void)what;
    if (!to)
        return -1;
    int rank = to->is_constant ? th_onnx_integers(to->tensor, shape, TH_ONNX_RANK_MAX) : -1;
    if (rank < 1)
        return th_onnx_refuse(r, "WORK-0103", "input 2 \"%.80s\": a constant shape was expected",
                              r->node->input[1]);
    th_onnx_value v = view_of(r, in);
    return set_shape(r, &v, shape, rank);
}

static int read_flatten(th_onnx_reader *r, int what)
{
    const th_onnx_value *in = th_onnx_tensor_input(r, 0);
    (void)what;
    if (!in)
        return -1;
    if (th_onnx_int(r->node, "axis", 1) != 1)
        return th_onnx_refuse(r, "WORK-0098", "axis: 1, behind the batch, was expected");
    th_onnx_value v = view_of(r, in);
    return set_shape(r, &v, (const int64_t[]){r->batch, -1}, TH_ONNX_FLAT);
}

/* Extents of 1 do not count: elements keep their order where the others do. */
static int read_transpose(th_onnx_reader *r, int what)
{
    int64_t order[TH_ONNX_RANK_MAX], last = -1;
    const th_onnx_value *in = th_onnx_tensor_input(r, 0);
    (void)what;
    if (!in)
        return -1;
    th_onnx_value v = view_of(r, in);
    unsigned seen = 0;
    int n = th_onnx_ints(r->node, "perm", order, TH_ONNX_RANK_MAX);
    for (int i = 0; n == in->rank && i < n; i++)
        seen |= order[i] >= 0 && order[i] < n ? 1u << order[i] : 0;
    if (n != in->rank || seen != (1u << n) - 1 || order[0] != 0)
        return th_onnx_refuse(r, "WORK-0099",
                              "perm: an order of all %d dimensions, the batch first, was expected",
                              (int)in->rank);
    for (int i = 1; i < n; i++) {
        v.dim[i] = in->dim[order[i]];
        if (v.dim[i] == 1)
            continue;
        v.is_permuted |= order[i] < last;
        last = order[i];
    }
    return th_onnx_define_output(r, &v);
}

const th_onnx_operator th_onnx_views[] = {
    {"Cast", read_same, 0},
    {"Constant", read_constant, 0},
    {"ConstantOfShape", read_constant_of_shape, 0},
    {"Dropout", read_same, 0},
    {"Flatten", read_flatten, 0},
    {"Identity", read_same, 0},
    {"Reshape", read_reshape, 0},
    {"Transpose", read_transpose, 0},
    {NULL, NULL, 0},
};
