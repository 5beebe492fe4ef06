/* SPDX-License-Identifier: GPL-3.0-or-later */
/* operator_time.c - the time of one operation, by its model or by the law of the data sheet.
 *   predict: check -> even (model -> law -> backward by forward) -> uneven members */
#include <config.h>

#include "predictor/model/operator_time.h"

#include <math.h>

#include "predictor/op/members.h"

/* Measured over the law's, either way. Memory-bound kernels differ from library to library
 * (docs/models/operators.md has what lies inside on cards that no constant saw). */
static const double FACTOR = 1.5, FACTOR_OF_ROWS = 2;

static bool is_product(const th_op *op)
{
    return op->kind == TH_OP_DENSE || op->kind == TH_OP_MATMUL;
}

static th_operator_time times(th_operator_time t, double by)
{
    t.ms *= by;
    t.low_ms *= by;
    t.high_ms *= by;
    return t;
}

/* Nothing below what the data sheet allows. */
static th_operator_time at_least(th_operator_time t, double least)
{
    t.ms = fmax(t.ms, least);
    t.low_ms = fmax(t.low_ms, least);
    t.high_ms = fmax(t.high_ms, least);
    return t;
}

static th_operator_time around(const th_op *op, double ms)
{
    double by = is_product(op) || op->kind == TH_OP_ATTENTION ? FACTOR : FACTOR_OF_ROWS;
    bool is_plane = th_op_has(op->kind, TH_OP_IN_H); /* no row measures one of these precisions */
    return (th_operator_time){ms, ms / by, ms * by, NULL,
                              is_plane ? TH_FROM_OUTSIDE : TH_FROM_SHEET};
}

/* --- models ----------------------------------------------------------------------------------- */

/* Whom operations are predicted for. */
typedef struct {
    const th_predictor *predictor; /* NULL: the data sheet alone */
    const th_gpu *gpu;
} asker;

/* By the model of exactly this, or the law's knowledge of the data sheet. -1: neither. */
static int forward(th_operator_time *out, const asker *a, const th_op *op, th_phase phase)
{
    const th_gpu *gpu = a->gpu;
    const th_layer_model *m = a->predictor ? th_predictor_find_op(a->predictor, op, phase) : NULL;
    if (m) {
        th_estimate e = th_layer_model_estimate(m, op, a->gpu);
        *out = (th_operator_time){e.ms, e.low_ms, e.high_ms, m, e.origin};
        return 0;
    }
    if (phase != TH_PHASE_EXECUTION && phase != TH_PHASE_BACKWARD)
        return -1;
    double ms = th_law_sheet_ms(op, phase, gpu);
    if (!(ms > 0))
        return -1;
    *out = at_least(around(op, ms), th_law_least_ms(op, phase, gpu));
    return 0;
}

/* The gradients of both factors: rows x columns by columns x inner, inner x rows by rows x columns.
 */
static int product_backward(th_operator_time *out, const asker *who, const th_op *op)
{
    th_op of_input = th_op_first_gradient(op), of_weights = th_op_second_gradient(op);
    th_operator_time a, b;
    if (forward(&a, who, &of_input, TH_PHASE_EXECUTION) ||
        forward(&b, who, &of_weights, TH_PHASE_EXECUTION))
        return -1;
    *out = (th_operator_time){a.ms + b.ms, a.low_ms + b.low_ms, a.high_ms + b.high_ms, a.model,
                              a.origin > b.origin ? a.origin : b.origin};
    return 0;
}

static int backward(th_operator_time *out, const asker *a, const th_op *op)
{
    static const double PASSES = 2;
    if (a->predictor && th_predictor_find_op(a->predictor, op, TH_PHASE_BACKWARD))
        return forward(out, a, op, TH_PHASE_BACKWARD);
    if (is_product(op))
        return product_backward(out, a, op);
    if (forward(out, a, op, TH_PHASE_EXECUTION))
        return -1;
    if (op->kind == TH_OP_ATTENTION) {
        *out = times(*out, th_law_sheet_ms(op, TH_PHASE_BACKWARD, a->gpu) /
                               th_law_sheet_ms(op, TH_PHASE_EXECUTION, a->gpu));
        return 0;
    }
    bool is_copy = op->kind == TH_OP_ELEMENTWISE && (op->x[TH_OP_FUNCTION] == TH_EW_EMBEDDING ||
                                                     op->x[TH_OP_FUNCTION] == TH_EW_PERMUTE);
    *out = times(*out, is_copy ? 1 : PASSES);
    return 0;
}

static int equal(th_operator_time *out, const asker *a, const th_op *op, th_phase phase)
{
    return phase == TH_PHASE_BACKWARD ? backward(out, a, op) : forward(out, a, op, phase);
}

static int fail_untrained(const th_operator *o, th_error *err)
{
    bool is_narrow = th_op_is_narrow(&o->op);
    bool has_kernels = o->phase == TH_PHASE_EXECUTION || o->phase == TH_PHASE_BACKWARD;
    return th_error_set(err, "PRED-0164", "%s, %s: the predictor was not trained for it%s",
                        th_op_kind_title(o->op.kind, is_narrow), th_phase_name(o->phase),
                        is_narrow && !has_kernels ? "; of its kernels alone: phase execution" : "");
}

/* --- unequal members -------------------------------------------------------------------------- */

/* What the members' rows take at least, as if all had the same weights. */
static double least_of_members(const th_operator *o, const th_gpu *gpu)
{
    double rows = 0;
    if (o->op.kind != TH_OP_MATMUL)
        return 0;
    for (int32_t i = 0; i < o->op.x[TH_OP_BATCH]; i++)
        rows += o->rows[i];
    th_op all = o->op;
    all.x[TH_OP_BATCH] = 1;
    all.x[TH_OP_ROWS] = (int32_t)fmin(rows, TH_OP_EXTENT_MAX);
    return th_law_least_ms(&all, o->phase, gpu);
}

/* Equal members of the mean, times the law's ratio of unequal to equal. */
static int unequal(th_operator_time *out, const asker *a, const th_operator *o, th_error *err)
{
    th_op mean = o->op;
    if (th_op_set_members(&mean, o->rows, mean.x[TH_OP_BATCH], err))
        return -1;
    if (equal(out, a, &mean, o->phase))
        return fail_untrained(o, err);
    *out = at_least(times(*out, th_law_unequal(&mean, o->rows, o->phase, a->gpu)),
                    least_of_members(o, a->gpu));
    return 0;
}

int th_operator_predict(th_operator_time *out, const th_predictor *p, const th_operator *o,
                        const th_gpu *gpu, th_error *err)
{
    const asker a = {p, gpu};
    if (th_gpu_check_precision(gpu, (th_op_precision)o->op.x[TH_OP_PRECISION], err) ||
        th_law_check_kernel(&o->op, gpu, err))
        return -1;
    if (o->rows && th_op_member_field(o->op.kind) >= 0)
        return unequal(out, &a, o, err);
    return equal(out, &a, &o->op, o->phase) ? fail_untrained(o, err) : 0;
}
