/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_op.c - converts layers to operations on a GPU, as frameworks run them layer by layer.
 *   part_of -> op_of: { by kind } -> check
 *
 * A matmul with weights is a dense layer with the rows of the whole batch; a matmul of two inputs
 * is a batch of products, one per head. Elementwise functions, norms and softmax process rows of
 * channels. A slice is a view of its input and runs nothing; a concat copies; an embedding copies
 * the rows that it selects: a copy moves the bytes of a function of one operand. Batch norm is a
 * scale and a shift with known numbers, so it is such a function too. Dropouts run in training
 * only. An attention runs as its scores, softmax and context; at less than single precision as one
 * fused kernel, which leaves out keys that a causal mask hides where the layer says so: under any
 * other mask all are computed. A convolution of a few groups is that many convolutions. Functions
 * without measurements use similar ones: sigmoid counts as tanh, silu as gelu.
 *
 * Padding is the extent that the outputs need beyond the input, so that a part and the whole agree.
 */
#include <config.h>

#include "predictor/op/layer_op.h"

#include <stddef.h>

#include "predictor/op/make_op.h"

th_layer_part th_layer_part_of(const th_layer *l, int32_t batch)
{
    th_layer_part p = {.kind = l->kind,
                       .function = l->function,
                       .groups = l->groups,
                       .in_h = l->in_h,
                       .in_w = l->in_w,
                       .stride_h = l->stride_h,
                       .stride_w = l->stride_w,
                       .dilation_h = l->dilation_h,
                       .dilation_w = l->dilation_w,
                       .up_h = l->up_h,
                       .up_w = l->up_w,
                       .n_operands = l->input_shapes ? 1 : l->n_inputs,
                       .vocabulary = l->vocabulary,
                       .key_heads = l->kind == TH_LAYER_ATTENTION ? th_layer_key_heads(l) : 0,
                       .causal_rows = l->causal_rows,
                       .window = l->window,
                       .has_bias = l->has_bias || l->has_norm};
    for (int d = 0; d < TH_N_DIMS; d++)
        p.dim[d] = l->dim[d];
    if (batch > 0)
        p.dim[TH_DIM_B] = batch;
    return p;
}

/* A product of two inputs for each head. */
static th_layer_part product_part(const th_layer_part *p, int32_t inner, int32_t columns)
{
    th_layer_part out = *p;
    out.kind = TH_LAYER_MATMUL;
    out.n_operands = 2;
    out.dim[TH_DIM_C] = p->groups * inner;
    out.dim[TH_DIM_K] = p->groups * columns;
    out.dim[TH_DIM_R] = 1;
    return out;
}

void th_layer_attention_parts(const th_layer_part *p, th_layer_part out[TH_ATTENTION_OPS])
{
    int32_t keys = p->dim[TH_DIM_R];
    out[0] = product_part(p, p->dim[TH_DIM_C] / p->groups, keys);
    out[1] = out[0];
    out[1].kind = TH_LAYER_SOFTMAX;
    out[1].n_operands = 1;
    out[1].dim[TH_DIM_C] = out[0].dim[TH_DIM_K];
    out[2] = product_part(p, keys, p->dim[TH_DIM_K] / p->groups);
}

static int32_t product(int64_t a, int64_t b, int64_t c)
{
    double all = (double)a * (double)b * (double)c;
    return all < (double)INT32_MAX ? (int32_t)(a * b * c)
                                   : INT32_MAX; /* th_op_check refuses that */
}

/* Rows of the channels of a pixel. */
static int32_t rows_of(const th_layer_part *p)
{
    return product(p->dim[TH_DIM_B], p->dim[TH_DIM_H], p->dim[TH_DIM_W]);
}

static int32_t zeros(int32_t out, int32_t stride, int32_t kernel, int32_t in)
{
    int64_t n = (int64_t)(out - 1) * stride + kernel - in;
    return n > 0 && n < INT32_MAX ? (int32_t)n : 0;
}

static th_op plane(th_op_kind kind, const th_layer_part *p)
{
    const int32_t *d = p->dim;
    return (th_op){kind,
                   {[TH_OP_BATCH] = d[TH_DIM_B],
                    [TH_OP_IN_H] = p->in_h,
                    [TH_OP_IN_W] = p->in_w,
                    [TH_OP_KERNEL_H] = d[TH_DIM_R],
                    [TH_OP_KERNEL_W] = d[TH_DIM_S],
                    [TH_OP_STRIDE_H] = p->stride_h,
                    [TH_OP_STRIDE_W] = p->stride_w,
                    [TH_OP_PAD_H] = zeros(d[TH_DIM_H], p->stride_h, d[TH_DIM_R], p->in_h),
                    [TH_OP_PAD_W] = zeros(d[TH_DIM_W], p->stride_w, d[TH_DIM_S], p->in_w)}};
}

static int conv(const th_layer_part *p, th_layer_op *out, th_error *err)
{
    const int32_t *d = p->dim;
    if (p->dilation_h > 1 || p->dilation_w > 1 || p->up_h > 1 || p->up_w > 1)
        return th_error_set(err, "PRED-0130",
                            "a conv with dilation or transposed: GPUs were measured without");
    if (p->groups > 1 && d[TH_DIM_C] <= p->groups)
        return th_error_set(err, "PRED-0131",
                            "a depthwise conv (%d groups): GPUs were measured without",
                            (int)p->groups);
    out->op = plane(TH_OP_CONV, p);
    out->op.x[TH_OP_CHANNELS_IN] = d[TH_DIM_C] / p->groups;
    out->op.x[TH_OP_CHANNELS_OUT] = (d[TH_DIM_K] + p->groups - 1) / p->groups;
    out->op.x[TH_OP_BIAS] = p->has_bias;
    out->op.x[TH_OP_ACTIVATION] = (int32_t)p->activation;
    out->times = p->groups;
    return 0;
}

static th_op dense(const th_layer_part *p, int32_t rows, int32_t inner)
{
    return (th_op){TH_OP_DENSE,
                   {[TH_OP_BATCH] = rows,
                    [TH_OP_CHANNELS_IN] = inner,
                    [TH_OP_CHANNELS_OUT] = p->dim[TH_DIM_K],
                    [TH_OP_BIAS] = p->has_bias,
                    [TH_OP_ACTIVATION] = (int32_t)p->activation}};
}

/* A matmul of two inputs: a product for each head. */
static th_op products(const th_layer_part *p)
{
    const int32_t *d = p->dim;
    return (th_op){TH_OP_MATMUL,
                   {[TH_OP_BATCH] = product(d[TH_DIM_B], p->groups, 1),
                    [TH_OP_ROWS] = d[TH_DIM_H],
                    [TH_OP_CHANNELS_IN] = (d[TH_DIM_C] + p->groups - 1) / p->groups,
                    [TH_OP_CHANNELS_OUT] = (d[TH_DIM_K] + p->groups - 1) / p->groups}};
}

static th_op attention(const th_layer_part *p)
{
    const int32_t *d = p->dim;
    int32_t tokens = p->causal_rows > 0 ? p->causal_rows : d[TH_DIM_H];
    th_op op = th_op_attention(d[TH_DIM_B], tokens, d[TH_DIM_R],
                               product(p->groups, d[TH_DIM_H] / tokens, 1), p->key_heads,
                               d[TH_DIM_C] / p->groups, p->precision);
    op.x[TH_OP_CHANNELS_OUT] = d[TH_DIM_K] / p->groups;
    op.x[TH_OP_CAUSAL] = p->causal_rows > 0;
    op.x[TH_OP_WINDOW] = p->window;
    return op;
}

static th_op rows_op(th_op_kind kind, int32_t rows, int32_t columns, th_op_function function)
{
    th_op op = {kind, {[TH_OP_BATCH] = rows, [TH_OP_CHANNELS_IN] = columns}};
    if (kind == TH_OP_ELEMENTWISE)
        op.x[TH_OP_FUNCTION] = (int32_t)function;
    return op;
}

static th_op_function function_of(th_function f)
{
    switch (f) {
    case TH_FUNCTION_ADD:
        return TH_EW_ADD;
    case TH_FUNCTION_MUL:
        return TH_EW_MUL;
    case TH_FUNCTION_RELU:
        return TH_EW_RELU;
    case TH_FUNCTION_SIGMOID:
    case TH_FUNCTION_TANH:
        return TH_EW_TANH;
    case TH_FUNCTION_GELU:
    case TH_FUNCTION_SILU:
    case TH_FUNCTION_GATE:
        return TH_EW_GELU;
    case TH_FUNCTION_SHIFT:
        return TH_EW_ADD_NUMBER;
    case TH_FUNCTION_POWER:
        return TH_EW_POW_NUMBER;
    case TH_FUNCTION_SCALE:
    case TH_FUNCTION_COPY:
    case TH_FUNCTION_REDUCE:
    case TH_FUNCTION_DROPOUT:
    case TH_FUNCTION_ROTARY:
    case TH_FUNCTION_NONE:
    case TH_FUNCTION_BATCH_NORM:
    case TH_FUNCTION_LAYER_NORM:
    case TH_FUNCTION_RMS_NORM:
        break;
    }
    return TH_EW_MUL_NUMBER;
}

static int fill(const th_layer_part *p, th_layer_op *out, th_error *err)
{
    const int32_t *d = p->dim;
    int32_t rows = rows_of(p), k = d[TH_DIM_K];
    const bool is_narrow = p->precision != TH_PRECISION_FP32; /* kernels of that alone */
    switch (p->kind) {
    case TH_LAYER_CONV:
        return conv(p, out, err);
    case TH_LAYER_FC:
        out->op = dense(p, d[TH_DIM_B], product(d[TH_DIM_C], d[TH_DIM_R], d[TH_DIM_S]));
        return 0;
    case TH_LAYER_MATMUL:
        out->op = p->n_operands == 2 || p->groups > 1 ? products(p) : dense(p, rows, d[TH_DIM_C]);
        return 0;
    case TH_LAYER_POOL:
        out->op = plane(TH_OP_POOLING, p);
        out->op.x[TH_OP_CHANNELS_IN] = k;
        return 0;
    case TH_LAYER_ELEMENTWISE:
        if (p->function == TH_FUNCTION_REDUCE) {
            rows = product(d[TH_DIM_B], p->in_h, p->in_w);
            k = d[TH_DIM_C];
        }
        out->op = rows_op(TH_OP_ELEMENTWISE, rows, k, function_of(p->function));
        out->times = p->n_operands > 2 ? p->n_operands - 1 : 1;
        return 0;
    case TH_LAYER_NORM:
        out->op = rows_op(p->function == TH_FUNCTION_BATCH_NORM              ? TH_OP_ELEMENTWISE
                          : p->function == TH_FUNCTION_RMS_NORM && is_narrow ? TH_OP_RMS_NORM
                                                                             : TH_OP_NORM,
                          rows, k, TH_EW_MUL_NUMBER);
        return 0;
    case TH_LAYER_SOFTMAX:
        out->op =
            rows_op(TH_OP_SOFTMAX, product(rows, p->groups, 1), (k + p->groups - 1) / p->groups, 0);
        return 0;
    case TH_LAYER_CONCAT:
    case TH_LAYER_EMBEDDING:
        out->op = rows_op(TH_OP_ELEMENTWISE, rows, k,
                          p->kind == TH_LAYER_EMBEDDING && is_narrow ? TH_EW_EMBEDDING
                                                                     : TH_EW_MUL_NUMBER);
        return 0;
    case TH_LAYER_ATTENTION:
        out->op = attention(p);
        return 0;
    case TH_LAYER_SLICE:
    case TH_LAYER_LSTM:
    case TH_LAYER_GRU:
    case TH_LAYER_RNN:
        break;
    }
    return th_error_set(err, "PRED-0132", "a recurrent layer (%s): GPUs were measured without",
                        p->kind == TH_LAYER_LSTM  ? "lstm"
                        : p->kind == TH_LAYER_GRU ? "gru"
                                                  : "rnn");
}

int th_layer_op_of(const th_layer_part *p, th_layer_op *out, th_error *err)
{
    *out = (th_layer_op){.times = 0};
    bool is_dropout = p->kind == TH_LAYER_ELEMENTWISE && p->function == TH_FUNCTION_DROPOUT;
    if (p->kind == TH_LAYER_SLICE || (is_dropout && !p->is_training))
        return 0;
    out->times = 1;
    if (fill(p, out, err))
        return -1;
    out->op.x[TH_OP_PRECISION] = (int32_t)p->precision;
    return th_op_check(&out->op, err);
}
