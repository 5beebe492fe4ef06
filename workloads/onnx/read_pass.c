/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_pass.c - passes over data: elementwise functions, sums and products of tensors, norms,
 * softmax and reductions. Activations, batch norms and biases are fused into the layer before them
 * if no other node reads its output. */
#include <config.h>
#include "workloads/onnx/body.h"
#include "workloads/onnx/op.h"

#include <string.h>

enum { N_EXTENTS = 3 };

/* ---- of every element ------------------------------------------------------------------------ */

static int add_elementwise(th_onnx_reader *r, th_function f, const th_onnx_value *in)
{
    th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, in);
    l.function = f;
    return th_onnx_add_same_shape(r, &l, in);
}

int th_onnx_read_unary(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    if (!th_onnx_is_tensor(in))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    return add_elementwise(r, o->function, in);
}

int th_onnx_read_activation(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    if (!th_onnx_is_tensor(in))
        return th_onnx_read_unary(r, o);
    const th_layer *before = th_onnx_layer_before(r, in, 0);
    bool takes_it =
        before && (before->kind == TH_LAYER_CONV || before->kind == TH_LAYER_FC ||
                   before->kind == TH_LAYER_NORM || before->function == TH_FUNCTION_ADD);
    if (!takes_it)
        return add_elementwise(r, o->function, in);
    th_onnx_value v = *in;
    v.is_activated = true;
    return th_onnx_define_output(r, 0, &v);
}

/* ---- sums and products of tensors ------------------------------------------------------------ */

/* Combines a tensor and a constant: as the bias of the product before it, or else elementwise. */
static int with_constant(th_onnx_reader *r, th_function f, size_t tensor, size_t constant)
{
    const th_onnx_value *in = th_onnx_input_or_none(r, tensor);
    int64_t n = th_onnx_elements(th_onnx_input_or_none(r, constant));
    th_layer *before = f == TH_FUNCTION_ADD ? th_onnx_layer_before(r, in, tensor) : NULL;
    bool takes_it = before && th_layer_has_macs(before) && th_layer_has_weights(before) &&
                    !before->has_bias && !before->has_norm && n == before->dim[TH_DIM_K];
    if (!takes_it)
        return add_elementwise(r,
                               f == TH_FUNCTION_ADD   ? TH_FUNCTION_SHIFT
                               : f == TH_FUNCTION_MUL ? TH_FUNCTION_SCALE
                                                      : f,
                               in);
    before->has_bias = true;
    th_onnx_value v = *in;
    return th_onnx_define_output(r, 0, &v);
}

/* Gives v the axes of the output: prepends axes of extent 1. */
static void widen(const th_onnx_reader *r, th_onnx_value *v)
{
    const th_onnx_value *out = &r->out[0];
    int64_t dim[TH_ONNX_RANK_MAX];
    for (int32_t i = 0; i < out->rank; i++) {
        int32_t own = i - (out->rank - v->rank);
        dim[i] = own < 0 ? 1 : v->dim[own];
    }
    th_onnx_layout_reshape(v, dim, out->rank);
}

static bool is_full(const th_onnx_reader *r, const th_onnx_value *v)
{
    return th_onnx_elements(v) == th_onnx_elements(&r->out[0]);
}

/* Combines the inputs that have the shape of the output, all in the layout of the first of them. */
static int join_full(th_onnx_reader *r, th_function f, th_onnx_value *out)
{
    int32_t n = 0, *from = th_onnx_room(r, (int64_t)r->node->n_input, sizeof *from);
    if (!from)
        return -1;
    for (size_t i = 0; i < r->node->n_input; i++) {
        th_onnx_value *in = th_onnx_input_or_none(r, i);
        if (!th_onnx_is_tensor(in) || !is_full(r, in))
            continue;
        th_onnx_value wide = *in;
        if (in->rank != r->out[0].rank) {
            wide.other_layout = NULL; /* which has other axes */
            widen(r, &wide);
            in = &wide;
        }
        const th_onnx_value *v = n == 0 ? in : th_onnx_arrange_like(r, in, out);
        if (!v)
            return -1;
        if (n == 0)
            *out = *in;
        from[n++] = v->layer;
    }
    if (n < 2)
        return 0;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, out);
    l.function = f;
    out->layer = th_onnx_add_layer(r, &l, from, n, "");
    out->is_activated = out->is_shared = false;
    out->other_layout = NULL;
    return out->layer < 0 ? -1 : 0;
}

/* Then combines the inputs that are broadcast, one after the other. */
static int join_small(th_onnx_reader *r, th_function f, th_onnx_value *out)
{
    for (size_t i = 0; i < r->node->n_input; i++) {
        const th_onnx_value *in = th_onnx_input_or_none(r, i);
        if (!th_onnx_is_tensor(in) || is_full(r, in))
            continue;
        int32_t from[] = {out->layer, in->layer};
        int32_t shapes[] = {out->c, out->h, out->w, in->c, in->h, in->w};
        th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, out);
        l.function = f == TH_FUNCTION_ADD ? TH_FUNCTION_SHIFT : TH_FUNCTION_SCALE;
        l.input_shapes = shapes;
        out->layer = th_onnx_add_layer(r, &l, from, 2, "");
        out->is_activated = out->is_shared = false;
        out->other_layout = NULL;
        if (out->layer < 0)
            return -1;
    }
    return 0;
}

int th_onnx_read_binary(th_onnx_reader *r, const th_onnx_operator *o)
{
    size_t n_full = 0, n_tensors = 0, tensor = 0, constant = r->node->n_input;
    bool has_batch = false, is_batch_full = false;
    for (size_t i = 0; i < r->node->n_input; i++) {
        const th_onnx_value *in = th_onnx_input_or_none(r, i);
        if (!th_onnx_is_tensor(in)) {
            constant = i;
            continue;
        }
        n_tensors++;
        has_batch |= th_onnx_has_batch(in);
        if (is_full(r, in)) {
            is_batch_full |= n_full++ == 0 && th_onnx_has_batch(in);
            tensor = i;
        }
    }
    if (n_full == 0 || has_batch != is_batch_full)
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    if (n_tensors == 1 && r->node->n_input == 2) {
        th_onnx_value *in = th_onnx_input_or_none(r, tensor);
        if (in->rank == r->out[0].rank)
            return with_constant(r, o->function, tensor, constant);
    }
    th_function f = o->function == TH_FUNCTION_ADD ? TH_FUNCTION_ADD : TH_FUNCTION_MUL;
    th_onnx_value out = {0};
    if (join_full(r, f, &out) || join_small(r, f, &out))
        return -1;
    if (n_tensors == 1) { /* with constants alone */
        out.is_shared = out.is_activated = false;
        out.other_layout = NULL;
        th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, &out);
        int32_t from = out.layer;
        l.function = f == TH_FUNCTION_ADD ? TH_FUNCTION_SHIFT : TH_FUNCTION_SCALE;
        out.layer = th_onnx_add_layer(r, &l, &from, 1, "");
        if (out.layer < 0)
            return -1;
    }
    out.type = r->out[0].type;
    return th_onnx_define_output(r, 0, &out);
}

/* ---- norms ----------------------------------------------------------------------------------- */

/* Normalises the channels of an image or the features of a vector. */
int th_onnx_read_batch_norm(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *v = th_onnx_input_or_none(r, 0);
    (void)o;
    if (!th_onnx_is_tensor(v))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    bool has_channels = th_onnx_layout_is(v, 1, 1, (const int[]){TH_ONNX_C, -1});
    const th_onnx_value *in = has_channels ? v : th_onnx_arrange_image(r, v);
    if (!in)
        return -1;
    th_layer *before = th_onnx_layer_before(r, in, 0);
    if (before && before->kind == TH_LAYER_CONV && !before->has_norm) {
        before->has_norm = true;
        th_onnx_value same = *in;
        return th_onnx_define_output(r, 0, &same);
    }
    th_layer l = th_onnx_layer_over(r, TH_LAYER_NORM, in);
    l.function = TH_FUNCTION_BATCH_NORM;
    return th_onnx_add_same_shape(r, &l, in);
}

/* Normalises each image over its pixels, with parameters per channel; variant: 1 if the channels
 * are the last axis. */
int th_onnx_read_image_norm(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *v = th_onnx_input_or_none(r, 0);
    if (!th_onnx_is_tensor(v))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    const th_onnx_value *in = v;
    if (!th_onnx_layout_is(v, o->variant ? v->rank - 1 : 1, o->variant ? v->rank - 1 : 1,
                           (const int[]){TH_ONNX_C, -1}))
        in = th_onnx_arrange_image(r, v);
    if (!in)
        return -1;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_NORM, in);
    l.function = o->function;
    return th_onnx_add_same_shape(r, &l, in);
}

/* Returns v with the axes first .. last as channels and the others as rows. */
static const th_onnx_value *arrange_rows(th_onnx_reader *r, th_onnx_value *v, int32_t first,
                                         int32_t last)
{
    int coordinates[TH_ONNX_RANK_MAX];
    for (int32_t i = 0; i < v->rank; i++) {
        bool is_inner = i >= first && i <= last;
        coordinates[i] = is_inner ? TH_ONNX_C : TH_ONNX_H;
        if (is_inner && th_onnx_axis_has_batch(v, i)) {
            th_onnx_mixes_batch(r);
            return NULL;
        }
    }
    return th_onnx_arrange(r, v, coordinates, ".input");
}

/* variant: the number of the input that is added before the norm, 0 for none; the sum is the last
 * output. */
int th_onnx_read_norm(th_onnx_reader *r, const th_onnx_operator *o)
{
    static const int all[] = {TH_ONNX_C, TH_ONNX_H, TH_ONNX_W, -1}, channels[] = {TH_ONNX_C, -1};
    th_onnx_value *v = th_onnx_input_or_none(r, 0), *skip = NULL;
    if (o->variant)
        skip = th_onnx_input_or_none(r, (size_t)o->variant);
    if (!th_onnx_is_tensor(v))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    int32_t axis = th_onnx_axis(r, th_onnx_int(r->node, "axis", -1), v->rank), last = v->rank - 1;
    const th_onnx_value *in = v;
    if (!th_onnx_layout_is(v, axis, last, channels) && !th_onnx_layout_is(v, axis, last, all))
        in = arrange_rows(r, v, axis, last);
    if (!in)
        return -1;
    th_onnx_value sum = *in;
    if (th_onnx_is_tensor(skip)) {
        const th_onnx_value *other =
            skip->rank == v->rank ? th_onnx_arrange_like(r, skip, in) : NULL;
        if (!other)
            return skip->rank == v->rank ? -1 : th_onnx_expected(r, "inputs of equally many axes");
        int32_t from[] = {in->layer, other->layer};
        th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, in);
        l.function = TH_FUNCTION_ADD;
        sum.layer = th_onnx_add_layer(r, &l, from, 2, ".sum");
        sum.is_activated = sum.is_shared = false;
        sum.other_layout = NULL;
        if (sum.layer < 0 || th_onnx_define_output(r, 3, &sum))
            return -1;
    }
    th_layer l = th_onnx_layer_over(r, TH_LAYER_NORM, in);
    l.function = o->function;
    return th_onnx_add_same_shape(r, &l, &sum);
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* If the axes are the fastest factors of the channels, the number of groups into which they divide
 * the channels; else 0. */
static int32_t groups_of(const th_onnx_value *v, int32_t first, int32_t last)
{
    int64_t extent = 1;
    bool is_good = true;
    th_onnx_value part = *v;
    part.n_factors = 0;
    for (int32_t axis = first; axis <= last; axis++) {
        th_onnx_layout_copy(&part, 0, v, axis);
        extent *= v->dim[axis];
    }
    th_onnx_layout_merge(&part);
    if (extent > 1)
        is_good = part.n_factors == 1 && part.factor[0].coordinate == TH_ONNX_C &&
                  part.factor[0].stride == 1 && v->c % extent == 0;
    return is_good ? (int32_t)(v->c / extent) : 0;
}

/* Before version 13, softmax normalises over the axis and all axes after it; variant: always. */
int th_onnx_read_softmax(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *v = th_onnx_input_or_none(r, 0);
    bool is_old = r->opset < 13 || o->variant;
    int32_t axis = th_onnx_axis(r, th_onnx_int(r->node, "axis", is_old ? 1 : -1), v->rank);
    if (axis < 0)
        return -1;
    int32_t last = is_old ? v->rank - 1 : axis;
    const th_onnx_value *in = v;
    if (groups_of(v, axis, last) == 0)
        in = arrange_rows(r, v, axis, last);
    if (!in)
        return -1;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_SOFTMAX, in);
    l.groups = groups_of(in, axis, last);
    l.causal_rows = (int32_t)th_onnx_int(r->node, TH_ONNX_CAUSAL_ROWS, 0);
    l.window = (int32_t)th_onnx_int(r->node, TH_ONNX_WINDOW, 0);
    return th_onnx_add_same_shape(r, &l, in);
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Removes the axes of the mask from v; keeps: they stay with extent 1. */
static void drop_axes(th_onnx_value *v, uint32_t mask, bool keeps)
{
    int32_t n = 0, at[TH_ONNX_RANK_MAX], n_factors = 0;
    for (int32_t i = 0; i < v->rank; i++) {
        at[i] = n;
        n += keeps || !(mask >> i & 1);
    }
    for (int32_t i = 0; i < v->n_factors; i++)
        if (!(mask >> v->factor[i].axis & 1)) {
            v->factor[n_factors] = v->factor[i];
            v->factor[n_factors++].axis = at[v->factor[i].axis];
        }
    v->n_factors = n_factors;
}

static bool is_pool(const th_onnx_value *in, const th_onnx_value *out)
{
    return in->c == out->c && out->h == 1 && out->w == 1 && (in->h > 1 || in->w > 1);
}

/* Adds a reduction: a pool if it reduces all pixels of each channel; variant: a th_onnx_arithmetic.
 */
int th_onnx_read_reduce(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    uint32_t mask = 0;
    bool is_arg = o->shape == th_onnx_shape_arg;
    if (is_arg)
        mask = 1u << th_onnx_axis(r, th_onnx_int(r->node, "axis", 0), in->rank);
    else if (th_onnx_reduced_axes(r, in, &mask))
        return -1;
    for (int32_t i = 0; i < in->rank; i++)
        if ((mask >> i & 1) && th_onnx_axis_has_batch(in, i))
            return th_onnx_mixes_batch(r);
    th_onnx_value out = *in;
    drop_axes(&out, mask, th_onnx_int(r->node, "keepdims", 1) != 0);
    th_onnx_layout_compact(&out);
    th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, in);
    int32_t from = in->layer, shape[N_EXTENTS] = {in->c, in->h, in->w};
    l.dim[TH_DIM_K] = out.c;
    l.dim[TH_DIM_H] = out.h;
    l.dim[TH_DIM_W] = out.w;
    if (is_pool(in, &out)) {
        l.kind = TH_LAYER_POOL;
        l.is_mean_pool = o->variant == TH_ONNX_MEAN;
        l.dim[TH_DIM_R] = in->h;
        l.dim[TH_DIM_S] = in->w;
    } else {
        l.function = TH_FUNCTION_REDUCE;
        l.input_shapes = in->c != out.c || in->h != out.h || in->w != out.w ? shape : NULL;
    }
    out.layer = th_onnx_add_layer(r, &l, &from, 1, "");
    out.rank = r->out[0].rank;
    memcpy(out.dim, r->out[0].dim, sizeof out.dim);
    out.type = r->out[0].type;
    out.is_activated = out.is_shared = false;
    out.other_layout = NULL;
    return out.layer < 0 ? -1 : th_onnx_define_output(r, 0, &out);
}
