/* SPDX-License-Identifier: GPL-3.0-or-later */
/* operator_time.c - the time of one operation, by its model or by the law of the data sheet.
 *   predict: check -> even (model -> law -> backward by forward) -> uneven members */
#include <config.h>

#include "predictor/model/operator_time.h"

#include <math.h>

/* Measured over the law's: nine tenths lie within this factor on the two cards, their precisions
 * and their kinds, that the laws were held against (docs/models/operators.md). */
static const double SHEET_FACTOR = 1.5;

static bool is_product(const th_op *op)
{
    return op->kind == TH_OP_DENSE || op->kind == TH_OP_MATMUL;
}

static th_operator_time times(th_operator_time t, double by)
{
    return (th_operator_time){t.ms * by, t.low_ms * by, t.high_ms * by, t.model};
}

static th_operator_time around(double ms)
{
    return (th_operator_time){ms, ms / SHEET_FACTOR, ms * SHEET_FACTOR, NULL};
}

/* By the model of exactly this, or the law's knowledge of the data sheet. -1: neither. */
static int forward(th_operator_time *out, const th_predictor *p, const th_op *op, th_phase phase,
                   const th_gpu *gpu)
{
    const th_layer_model *m = p ? th_predictor_find_op(p, op, phase) : NULL;
    if (m) {
        th_estimate e = th_layer_model_estimate(m, op, gpu);
        *out = (th_operator_time){e.ms, e.low_ms, e.high_ms, m};
        return 0;
    }
    if (phase != TH_PHASE_EXECUTION && phase != TH_PHASE_BACKWARD)
        return -1;
    double ms = th_law_sheet_ms(op, phase, gpu);
    if (!(ms > 0))
        return -1;
    *out = around(ms);
    return 0;
}

/* The gradients of both factors: rows x columns by columns x inner, inner x rows by rows x columns.
 */
static int product_backward(th_operator_time *out, const th_predictor *p, const th_op *op,
                            const th_gpu *gpu)
{
    th_op_field rows = op->kind == TH_OP_DENSE ? TH_OP_BATCH : TH_OP_ROWS;
    th_op of_input = *op, of_weights = *op;
    th_operator_time a, b;
    of_input.x[TH_OP_CHANNELS_IN] = op->x[TH_OP_CHANNELS_OUT];
    of_input.x[TH_OP_CHANNELS_OUT] = op->x[TH_OP_CHANNELS_IN];
    of_weights.x[TH_OP_CHANNELS_IN] = op->x[rows];
    of_weights.x[rows] = op->x[TH_OP_CHANNELS_IN];
    if (forward(&a, p, &of_input, TH_PHASE_EXECUTION, gpu) ||
        forward(&b, p, &of_weights, TH_PHASE_EXECUTION, gpu))
        return -1;
    *out = (th_operator_time){a.ms + b.ms, a.low_ms + b.low_ms, a.high_ms + b.high_ms, a.model};
    return 0;
}

static int backward(th_operator_time *out, const th_predictor *p, const th_op *op,
                    const th_gpu *gpu)
{
    static const double PASSES = 2;
    if (p && th_predictor_find_op(p, op, TH_PHASE_BACKWARD))
        return forward(out, p, op, TH_PHASE_BACKWARD, gpu);
    if (is_product(op))
        return product_backward(out, p, op, gpu);
    if (forward(out, p, op, TH_PHASE_EXECUTION, gpu))
        return -1;
    if (op->kind == TH_OP_ATTENTION) {
        *out = times(*out, th_law_sheet_ms(op, TH_PHASE_BACKWARD, gpu) /
                               th_law_sheet_ms(op, TH_PHASE_EXECUTION, gpu));
        return 0;
    }
    bool is_copy = op->kind == TH_OP_ELEMENTWISE && (op->x[TH_OP_FUNCTION] == TH_EW_EMBEDDING ||
                                                     op->x[TH_OP_FUNCTION] == TH_EW_PERMUTE);
    *out = times(*out, is_copy ? 1 : PASSES);
    return 0;
}

static int equal(th_operator_time *out, const th_predictor *p, const th_op *op, th_phase phase,
                 const th_gpu *gpu)
{
    return phase == TH_PHASE_BACKWARD ? backward(out, p, op, gpu) : forward(out, p, op, phase, gpu);
}

/* --- unequal members -------------------------------------------------------------------------- */

static int64_t sum_of(const int32_t *n, int32_t count, int32_t *most)
{
    int64_t sum = 0;
    *most = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += n[i];
        *most = n[i] > *most ? n[i] : *most;
    }
    return sum;
}

/* Equal members of the mean, times the law's ratio of unequal to equal. Attention: all blocks take
 * the mean, but the longest sequence is the least. */
static int unequal(th_operator_time *out, const th_predictor *p, const th_operator *o,
                   const th_gpu *gpu)
{
    th_op mean = o->op;
    int32_t count = mean.x[TH_OP_BATCH], most;
    int64_t sum = sum_of(o->rows, count, &most);
    bool is_attention = mean.kind == TH_OP_ATTENTION;
    th_op_field f = is_attention ? TH_OP_KEYS : TH_OP_ROWS;
    if (sum == 0)
        sum = 1;
    mean.x[f] = (int32_t)((sum + count - 1) / count);
    if (equal(out, p, &mean, o->phase, gpu))
        return -1;
    if (!is_attention) {
        double even = th_law_sheet_ms(&mean, TH_PHASE_EXECUTION, gpu);
        *out = times(*out, even > 0 ? th_law_grouped_ms(&mean, o->rows, gpu) / even : 1);
        return 0;
    }
    th_op longest = mean;
    th_operator_time alone;
    longest.x[TH_OP_BATCH] = 1;
    longest.x[f] = most;
    if (equal(&alone, p, &longest, o->phase, gpu))
        return -1;
    if (alone.ms > out->ms)
        *out = alone;
    return 0;
}

int th_operator_predict(th_operator_time *out, const th_predictor *p, const th_operator *o,
                        const th_gpu *gpu, th_error *err)
{
    bool is_uneven = o->rows && (o->op.kind == TH_OP_MATMUL || o->op.kind == TH_OP_ATTENTION);
    if (th_gpu_check_precision(gpu, (th_op_precision)o->op.x[TH_OP_PRECISION], err))
        return -1;
    if ((is_uneven ? unequal(out, p, o, gpu) : equal(out, p, &o->op, o->phase, gpu)) == 0)
        return 0;
    return th_error_set(err, "PRED-0164", "%s, %s: the predictor was not trained for it",
                        th_op_kind_title(o->op.kind, th_op_is_narrow(&o->op)),
                        th_phase_name(o->phase));
}
