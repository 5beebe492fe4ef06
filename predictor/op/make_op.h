/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_op.h - the kernels that a layer of a transformer consists of, as operations.
 *
 *   projection, feed-forward, head of the vocabulary   th_op_product
 *   attention                                          th_op_attention
 *   norm, loss, router                                 th_op_rows
 *   residual, gate, rotary, embedding, permute, casts  th_op_pass
 *   optimizer                                          th_op_update
 * Their times, forward and backward: predictor/model/operator_time.h. Numbers must be those that
 * th_op_check allows. */
#ifndef TH_PREDICTOR_OP_MAKE_OP_H
#define TH_PREDICTOR_OP_MAKE_OP_H
#include "predictor/op/op.h"

/* rows x inner by inner x columns. */
static inline th_op th_op_product(int32_t rows, int32_t inner, int32_t columns, th_op_precision p)
{
    return (th_op){TH_OP_DENSE,
                   {[TH_OP_BATCH] = rows,
                    [TH_OP_CHANNELS_IN] = inner,
                    [TH_OP_CHANNELS_OUT] = columns,
                    [TH_OP_PRECISION] = (int32_t)p}};
}

/* The two products of a product's backward pass: the gradients of the first factor (dX = dY W') and
 * of the second (dW = X' dY), as schedules that tell them apart need them. */
static inline th_op th_op_first_gradient(const th_op *product)
{
    th_op op = *product;
    op.x[TH_OP_CHANNELS_IN] = product->x[TH_OP_CHANNELS_OUT];
    op.x[TH_OP_CHANNELS_OUT] = product->x[TH_OP_CHANNELS_IN];
    return op;
}

static inline th_op th_op_second_gradient(const th_op *product)
{
    th_op_field rows = product->kind == TH_OP_DENSE ? TH_OP_BATCH : TH_OP_ROWS;
    th_op op = *product;
    op.x[TH_OP_CHANNELS_IN] = product->x[rows];
    op.x[rows] = product->x[TH_OP_CHANNELS_IN];
    return op;
}

/* norm, rms_norm, softmax, cross_entropy, router: along rows of width numbers. */
static inline th_op th_op_rows(th_op_kind kind, int32_t rows, int32_t width, th_op_precision p)
{
    return (th_op){
        kind, {[TH_OP_BATCH] = rows, [TH_OP_CHANNELS_IN] = width, [TH_OP_PRECISION] = (int32_t)p}};
}

/* A function of rows x width numbers (of its result). */
static inline th_op th_op_pass(th_op_function f, int32_t rows, int32_t width, th_op_precision p)
{
    th_op op = th_op_rows(TH_OP_ELEMENTWISE, rows, width, p);
    op.x[TH_OP_FUNCTION] = (int32_t)f;
    return op;
}

/* An optimizer's step (adam, sgd) over so many weights of precision p, in rows of 1024. */
static inline th_op th_op_update(th_op_function f, int64_t weights, th_op_precision p)
{
    enum { WIDTH = 1024 };
    return th_op_pass(f, (int32_t)((weights + WIDTH - 1) / WIDTH), WIDTH, p);
}

/* batch sequences, each of rows queries against keys (its own among them: prefill keys = rows, a
 * chunk keys > rows, decode rows = 1), causal, of heads (kv_heads of keys and values) of width
 * numbers. The caller sets what differs: TH_OP_WINDOW; TH_OP_CHANNELS_IN and TH_OP_CHANNELS_OUT of
 * latent attention, which is one key head of the latent's width. */
static inline th_op th_op_attention(int32_t batch, int32_t rows, int32_t keys, int32_t heads,
                                    int32_t kv_heads, int32_t width, th_op_precision p)
{
    return (th_op){TH_OP_ATTENTION,
                   {[TH_OP_BATCH] = batch,
                    [TH_OP_ROWS] = rows,
                    [TH_OP_KEYS] = keys,
                    [TH_OP_HEADS] = heads,
                    [TH_OP_KV_HEADS] = kv_heads,
                    [TH_OP_CHANNELS_IN] = width,
                    [TH_OP_CHANNELS_OUT] = width,
                    [TH_OP_CAUSAL] = 1,
                    [TH_OP_PRECISION] = (int32_t)p}};
}

#endif
