/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shape.c - shapes of elementwise operators, products, norms and constants; see op.h. */
#include <config.h>
#include "workloads/onnx/op.h"

#include <math.h>
#include <string.h>

static void set_shape(th_onnx_value *out, const int64_t *dim, int32_t rank)
{
    out->rank = rank;
    for (int32_t i = 0; i < rank; i++)
        out->dim[i] = dim[i];
}

static void set_like(th_onnx_value *out, const th_onnx_value *v)
{
    set_shape(out, v->dim, v->rank);
    out->type = v->type;
}

const th_onnx_value *th_onnx_begin(th_onnx_reader *r)
{
    const th_onnx_value *in = th_onnx_input(r, 0);
    for (size_t i = 0; in && i < r->n_out; i++)
        set_like(&r->out[i], in);
    return in;
}

int th_onnx_shape_same(th_onnx_reader *r, const th_onnx_operator *o)
{
    (void)o;
    return th_onnx_begin(r) ? 0 : -1;
}

int th_onnx_broadcast(th_onnx_reader *r, th_onnx_value *out, const th_onnx_value *b)
{
    th_onnx_value a = *out;
    out->rank = a.rank > b->rank ? a.rank : b->rank;
    for (int32_t i = 1; i <= out->rank; i++) {
        int64_t x = i <= a.rank ? a.dim[a.rank - i] : 1, y = i <= b->rank ? b->dim[b->rank - i] : 1;
        if (x != y && x != 1 && y != 1)
            return th_onnx_refuse(r, "WORK-0091",
                                  "extents %lld and %lld of axis %d: must be equal, or 1",
                                  (long long)x, (long long)y, (int)(out->rank - i));
        out->dim[out->rank - i] = x == 1 ? y : x;
    }
    return 0;
}

/* Before version 7, the second input's axes begin at the attribute axis of the first. */
static bool is_old_broadcast(const th_onnx_reader *r)
{
    return r->opset < 7 && th_onnx_int(r->node, "broadcast", 0) != 0;
}

int th_onnx_shape_broadcast(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input(r, 0);
    (void)o;
    if (!in)
        return -1;
    set_like(&r->out[0], in);
    for (size_t i = 1; i < r->node->n_input && !is_old_broadcast(r); i++) {
        if (!(in = th_onnx_input(r, i)) || th_onnx_broadcast(r, &r->out[0], in))
            return -1;
        if (r->out[0].type == TH_ONNX_BOOL)
            r->out[0].type = in->type;
    }
    return 0;
}

int th_onnx_shape_boolean(th_onnx_reader *r, const th_onnx_operator *o)
{
    int status = th_onnx_shape_broadcast(r, o);
    r->out[0].type = TH_ONNX_BOOL;
    return status;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Vectors are matrices with one row or one column. */
static int multiply(th_onnx_reader *r, th_onnx_value a, th_onnx_value b)
{
    bool is_row = a.rank == 1, is_column = b.rank == 1;
    th_onnx_value *out = &r->out[0];
    if (a.rank < 1 || b.rank < 1)
        return th_onnx_expected(r, "inputs of at least one axis");
    if (is_row) {
        a.dim[1] = a.dim[0];
        a.dim[0] = 1;
        a.rank = 2;
    }
    if (is_column) {
        b.dim[1] = 1;
        b.rank = 2;
    }
    int64_t rows = a.dim[a.rank - 2], inner = a.dim[a.rank - 1], columns = b.dim[b.rank - 1];
    if (inner != b.dim[b.rank - 2])
        return th_onnx_refuse(r, "WORK-0103",
                              "the first input has %lld columns, the second %lld rows",
                              (long long)inner, (long long)b.dim[b.rank - 2]);
    set_shape(out, a.dim, a.rank - 2);
    out->type = a.type;
    b.rank -= 2;
    if (th_onnx_broadcast(r, out, &b))
        return -1;
    if (!is_row)
        out->dim[out->rank++] = rows;
    if (!is_column)
        out->dim[out->rank++] = columns;
    return 0;
}

/* variant: the number of the second input. */
int th_onnx_shape_matmul(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *a = th_onnx_input(r, 0),
                        *b = a ? th_onnx_input(r, (size_t)(o->variant > 0 ? o->variant : 1)) : NULL;
    if (!b)
        return -1;
    th_onnx_value x = *a, y = *b;
    if (th_onnx_int(r->node, "transBatchA", 0) || th_onnx_int(r->node, "transBatchB", 0))
        return th_onnx_expected(r, "transBatchA and transBatchB 0: others are not read");
    if (th_onnx_int(r->node, "transA", 0) && x.rank >= 2) {
        x.dim[x.rank - 1] = a->dim[a->rank - 2];
        x.dim[x.rank - 2] = a->dim[a->rank - 1];
    }
    if (th_onnx_int(r->node, "transB", 0) && y.rank >= 2) {
        y.dim[y.rank - 1] = b->dim[b->rank - 2];
        y.dim[y.rank - 2] = b->dim[b->rank - 1];
    }
    if (th_onnx_has(r->node, "K") && th_onnx_has(r->node, "N")) { /* packed into few bits */
        y.rank = 2;
        y.dim[0] = th_onnx_int(r->node, "K", 0);
        y.dim[1] = th_onnx_int(r->node, "N", 0);
    }
    return multiply(r, x, y);
}

int th_onnx_shape_gemm(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *a = th_onnx_input(r, 0), *b = a ? th_onnx_input(r, 1) : NULL;
    (void)o;
    if (!b)
        return -1;
    th_onnx_value x = *a, y = *b;
    if (x.rank != 2 || y.rank != 2)
        return th_onnx_expected(r, "inputs of two axes");
    if (th_onnx_int(r->node, "transA", 0)) {
        int64_t rows = x.dim[0];
        x.dim[0] = x.dim[1];
        x.dim[1] = rows;
    }
    if (th_onnx_int(r->node, "transB", 0)) {
        int64_t rows = y.dim[0];
        y.dim[0] = y.dim[1];
        y.dim[1] = rows;
    }
    return multiply(r, x, y);
}

/* ---- norms ----------------------------------------------------------------------------------- */

/* Outputs after the first are statistics, with extent 1 along the normalised axes; the fourth
 * output of com.microsoft's operators is the sum of the inputs. */
int th_onnx_shape_norm(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input(r, 0);
    if (!in)
        return -1;
    int32_t axis = th_onnx_axis(r, th_onnx_int(r->node, "axis", -1), in->rank);
    if (axis < 0)
        return -1;
    for (size_t i = 0; i < r->n_out; i++) {
        set_like(&r->out[i], in);
        bool is_sum = o->is_microsoft && i == 3;
        for (int32_t k = axis; i > 0 && !is_sum && k < in->rank; k++)
            r->out[i].dim[k] = 1;
    }
    return 0;
}

int th_onnx_shape_batch_norm(th_onnx_reader *r, const th_onnx_operator *o)
{
    if (th_onnx_shape_same(r, o))
        return -1;
    for (size_t i = 1; i < r->n_out; i++)
        set_shape(&r->out[i], r->out[0].dim + 1, r->out[0].rank > 1);
    return 0;
}

/* ---- constants ------------------------------------------------------------------------------- */

int th_onnx_shape_cast(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *to = o->variant ? th_onnx_input(r, 1) : NULL;
    if ((o->variant && !to) || th_onnx_shape_same(r, o))
        return -1;
    r->out[0].type = to ? to->type : (int32_t)th_onnx_int(r->node, "to", 0);
    return 0;
}

int th_onnx_shape_constant(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_attribute *a = r->node->n_attribute > 0 ? r->node->attribute[0] : NULL;
    th_onnx_value *out = &r->out[0];
    (void)o;
    if (!a || (a->t && a->t->n_dims > TH_ONNX_RANK_MAX) ||
        (a->sparse_tensor && a->sparse_tensor->n_dims > TH_ONNX_RANK_MAX))
        return th_onnx_refuse(r, "WORK-0095", "value: must be a tensor of at most %d axes",
                              TH_ONNX_RANK_MAX);
    if (a->t) {
        set_shape(out, a->t->dims, (int32_t)a->t->n_dims);
        out->type = a->t->data_type;
    } else if (a->sparse_tensor) {
        set_shape(out, a->sparse_tensor->dims, (int32_t)a->sparse_tensor->n_dims);
    } else {
        bool is_list = strcmp(a->name, "value_ints") == 0 || strcmp(a->name, "value_floats") == 0;
        bool is_real = strcmp(a->name, "value_floats") == 0 || strcmp(a->name, "value_float") == 0;
        set_shape(out, (int64_t[]){(int64_t)(is_real ? a->n_floats : a->n_ints)}, is_list);
        out->type = is_real ? TH_ONNX_FLOAT : TH_ONNX_INT64;
    }
    return 0;
}

/* Sets the extents of out; negative ones are refused. */
static int set_listed(th_onnx_reader *r, th_onnx_value *out, const int64_t *dim, int n)
{
    for (int i = 0; i < n; i++)
        if (dim[i] < 0)
            return th_onnx_refuse_extent(r, dim[i], 0, TH_ONNX_EXTENT_MAX);
    set_shape(out, dim, n);
    return 0;
}

/* variant: 0: the first input lists the extents; 1: the output has the shape of the first input. */
int th_onnx_shape_filled(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t dim[TH_ONNX_RANK_MAX];
    const th_onnx_attribute *value = th_onnx_attribute_of(r->node, "value");
    if (o->variant) {
        if (th_onnx_shape_same(r, o))
            return -1;
    } else {
        int n = th_onnx_list(r, 0, "shape", dim, TH_ONNX_RANK_MAX);
        if (n == -1)
            return th_onnx_input(r, 0) ? 0 : -1;
        if (n < 0 || set_listed(r, &r->out[0], dim, n))
            return -1;
    }
    r->out[0].type = value && value->t ? value->t->data_type : TH_ONNX_FLOAT;
    r->out[0].type = (int32_t)th_onnx_int(r->node, "dtype", r->out[0].type);
    return 0;
}

int th_onnx_shape_shape(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input(r, 0);
    (void)o;
    if (!in)
        return -1;
    int64_t start = th_onnx_int(r->node, "start", 0), end = th_onnx_int(r->node, "end", in->rank);
    start += start < 0 ? in->rank : 0;
    end += end < 0 ? in->rank : 0;
    start = start < 0 ? 0 : start > in->rank ? in->rank : start;
    end = end < start ? start : end > in->rank ? in->rank : end;
    set_shape(&r->out[0], (int64_t[]){end - start}, 1);
    r->out[0].type = TH_ONNX_INT64;
    return 0;
}

/* variant: the type of the output. */
int th_onnx_shape_scalar(th_onnx_reader *r, const th_onnx_operator *o)
{
    r->out[0].rank = 0;
    r->out[0].type = o->variant;
    return 0;
}

int th_onnx_shape_range(th_onnx_reader *r, const th_onnx_operator *o)
{
    double x[3];
    (void)o;
    for (size_t i = 0; i < 3; i++) {
        const th_onnx_value *v = th_onnx_input(r, i);
        if (!v)
            return -1;
        if (th_onnx_elements(v) != 1)
            return th_onnx_expected(r, "a start, an end and a step of one number each");
        if (!th_onnx_is_known(v))
            return th_onnx_refuse_unknown(r, i);
        x[i] = th_onnx_real_number(v, 0);
        r->out[0].type = v->type;
    }
    double n = x[2] != 0 ? ceil((x[1] - x[0]) / x[2]) : -1;
    if (!(n < (double)TH_ONNX_EXTENT_MAX) || x[2] == 0)
        return th_onnx_refuse_number(r, "a step", x[2]);
    set_shape(&r->out[0], (int64_t[]){n > 0 ? (int64_t)n : 0}, 1);
    return 0;
}

int th_onnx_shape_one_hot(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input(r, 0);
    int64_t depth = -1;
    (void)o;
    if (!in || th_onnx_scalar(r, 1, NULL, &depth))
        return -1;
    int32_t axis = th_onnx_axis(r, th_onnx_int(r->node, "axis", -1), in->rank + 1);
    if (axis < 0)
        return -1;
    if (depth < 0 || in->rank == TH_ONNX_RANK_MAX)
        return th_onnx_refuse_extent(r, depth, 0, TH_ONNX_EXTENT_MAX);
    set_like(&r->out[0], in);
    for (int32_t i = in->rank; i > axis; i--)
        r->out[0].dim[i] = r->out[0].dim[i - 1];
    r->out[0].rank = in->rank + 1;
    r->out[0].dim[axis] = depth;
    return 0;
}

int th_onnx_shape_data(th_onnx_reader *r, const th_onnx_operator *o)
{
    (void)o;
    return th_onnx_refuse(r, "WORK-0099",
                          "the shape of its output depends on the data; only models whose shapes "
                          "follow from their inputs' can be read");
}
