/* SPDX-License-Identifier: GPL-3.0-or-later */
/* backward.c - the operations of the backward pass and the update of a layer, by rule, if they were
 * not measured.
 *
 * With the gradient G of the output given,
 *   dense  Y = X W    dX = G W', dW = X' G: two products of as many operations each; a bias sums
 *                     the rows of G
 *   matmul Y = A B    dA = G B', dB = A' G
 *   conv              the gradients of input and weights, each as long as forward
 *   functions         of one operand: G times a slope (two operands); a sum copies G, also with a
 *                     number; mul: two products; a power: two more of one operand
 *   softmax           one pass over Y, G and dX: two operands
 *   norm              one pass over X, G and dX, and one over X and G for its parameters
 *   pooling           as long as forward
 *   embedding         the table's gradient: as large as the table, and the rows that are added
 *                     to it
 * Passes that only read count half. The gradients of a tensor with several readers are summed
 * (network_prediction.c). Sources: the definitions of the operations, and PyTorch's kernels. */
#include <config.h>

#include "predictor/model/network_prediction.h"

#include "predictor/op/make_op.h"

static th_layer_op rows(int64_t n, int32_t columns, th_op_function function)
{
    int32_t some = n < 1 ? 1 : n < INT32_MAX ? (int32_t)n : INT32_MAX;
    return (th_layer_op){th_op_pass(function, some, columns, TH_PRECISION_FP32), 1};
}

static int of_product(const th_op *op, th_layer_op *out)
{
    th_op bare = *op;
    bare.x[TH_OP_BIAS] = bare.x[TH_OP_ACTIVATION] = bare.x[TH_OP_OPTIMIZER] = 0;
    int n = 0;
    out[n++] = (th_layer_op){th_op_first_gradient(&bare), 1};
    out[n++] = (th_layer_op){th_op_second_gradient(&bare), 1};
    if (op->x[TH_OP_BIAS])
        out[n++] = rows(op->x[TH_OP_BATCH] / 2, op->x[TH_OP_CHANNELS_OUT], TH_EW_MUL_NUMBER);
    return n;
}

static int of_elementwise(const th_layer_part *part, const th_layer_op *forward, th_layer_op *out)
{
    const int32_t *x = forward->op.x;
    th_op_function f = (th_op_function)x[TH_OP_FUNCTION];
    if (part->kind == TH_LAYER_EMBEDDING) {
        out[0] = rows(part->vocabulary, x[TH_OP_CHANNELS_IN], TH_EW_MUL_NUMBER);
        out[1] = rows(x[TH_OP_BATCH], x[TH_OP_CHANNELS_IN], TH_EW_MUL_NUMBER);
        return 2;
    }
    if (f == TH_EW_ADD || f == TH_EW_ADD_NUMBER)
        return 0;
    bool keeps_number = f == TH_EW_MUL_NUMBER;
    if (f == TH_EW_POW_NUMBER) { /* a (x^(a - 1)) G */
        out[1] = rows(x[TH_OP_BATCH], x[TH_OP_CHANNELS_IN], TH_EW_POW_NUMBER);
        out[2] = rows(x[TH_OP_BATCH], x[TH_OP_CHANNELS_IN], TH_EW_MUL_NUMBER);
    }
    out[0] =
        rows(x[TH_OP_BATCH], x[TH_OP_CHANNELS_IN], keeps_number ? TH_EW_MUL_NUMBER : TH_EW_MUL);
    out[0].times = f == TH_EW_MUL ? 2 * forward->times : forward->times;
    return f == TH_EW_POW_NUMBER ? 3 : 1;
}

int th_backward_ops(const th_layer_part *part, const th_layer_op *forward, th_layer_op *out)
{
    const int32_t *x = forward->op.x;
    switch (forward->op.kind) {
    case TH_OP_DENSE:
    case TH_OP_MATMUL:
        return of_product(&forward->op, out);
    case TH_OP_CONV:
        out[0] = *forward;
        out[0].times *= 2;
        return 1;
    case TH_OP_POOLING:
        out[0] = *forward;
        return 1;
    case TH_OP_ELEMENTWISE:
        return of_elementwise(part, forward, out);
    case TH_OP_NORM:
    case TH_OP_RMS_NORM:
        out[0] = rows(x[TH_OP_BATCH], x[TH_OP_CHANNELS_IN], TH_EW_MUL);
        out[1] = rows(x[TH_OP_BATCH], x[TH_OP_CHANNELS_IN], TH_EW_MUL_NUMBER);
        return 2;
    case TH_OP_SOFTMAX:
    case TH_OP_CROSS_ENTROPY:
    case TH_OP_ROUTER:
        out[0] = rows(x[TH_OP_BATCH], x[TH_OP_CHANNELS_IN], TH_EW_MUL);
        return 1;
    case TH_OP_ATTENTION: /* a phase of its own: operator_time.h */
    case TH_OP_EXPERTS:   /* likewise */
    case TH_N_OP_KINDS:
        break;
    }
    return 0;
}

/* Passes over the weights, their gradients and what the optimiser keeps of them, each as one of
 * three tensors: SGD one, momentum two, those that keep squares four, Adam six. */
int th_update_ops(th_op_optimizer optimizer, int64_t weights, th_layer_op *out)
{
    enum { COLUMNS = 1024 };
    static const int passes[TH_N_OPTIMIZERS] = {
        [TH_OPTIMIZER_NONE] = 0,    [TH_OPTIMIZER_SGD] = 1,      [TH_OPTIMIZER_ADADELTA] = 6,
        [TH_OPTIMIZER_ADAGRAD] = 4, [TH_OPTIMIZER_MOMENTUM] = 2, [TH_OPTIMIZER_ADAM] = 6,
        [TH_OPTIMIZER_RMSPROP] = 4};
    if (weights == 0 || passes[optimizer] == 0)
        return 0;
    out[0] = rows((weights + COLUMNS - 1) / COLUMNS, COLUMNS, TH_EW_ADD);
    out[0].times = passes[optimizer];
    return 1;
}
