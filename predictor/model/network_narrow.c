/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network_narrow.c - times of a network's layers at less than single precision: kernels alone, each
 * by its model or by the data sheet (operator_time.h).
 *   layer: operator_of -> execution -> backward -> update
 *
 * Attention is one fused kernel, which leaves out keys that a causal mask hides where the layer
 * says so; under any other mask all are computed. An embedding selects rows. Adam keeps two
 * moments, other optimisers one.
 */
#include <config.h>

#include "predictor/model/network_prediction.h"

#include "predictor/model/operator_time.h"

static th_op attention(const th_layer *x, const th_layer_part *p)
{
    const int32_t *d = p->dim;
    int32_t tokens = x->causal_rows > 0 ? x->causal_rows : d[TH_DIM_H];
    int64_t heads = (int64_t)p->groups * (d[TH_DIM_H] / tokens); /* too many: th_op_check */
    th_op op = th_op_attention(d[TH_DIM_B], tokens, d[TH_DIM_R],
                               (int32_t)(heads < INT32_MAX ? heads : INT32_MAX),
                               th_layer_key_heads(x), d[TH_DIM_C] / p->groups, TH_PRECISION_FP32);
    op.x[TH_OP_CHANNELS_OUT] = d[TH_DIM_K] / p->groups;
    op.x[TH_OP_CAUSAL] = x->causal_rows > 0;
    op.x[TH_OP_WINDOW] = x->window;
    return op;
}

/* 0, or -1; times 0: nothing runs. */
static int operator_of(const th_layer *x, const th_layer_part *p, th_op_precision precision,
                       th_layer_op *out, th_error *err)
{
    if (x->kind == TH_LAYER_ATTENTION) {
        *out = (th_layer_op){attention(x, p), 1};
        if (th_op_check(&out->op, err))
            return -1;
    } else if (th_layer_op_of(p, out, err)) {
        return -1;
    }
    if (x->kind == TH_LAYER_NORM && x->function == TH_FUNCTION_RMS_NORM)
        out->op.kind = TH_OP_RMS_NORM;
    if (x->kind == TH_LAYER_EMBEDDING)
        out->op.x[TH_OP_FUNCTION] = TH_EW_EMBEDDING;
    out->op.x[TH_OP_PRECISION] = (int32_t)precision;
    return 0;
}

static int time_of(const th_predictor *p, const th_layer_op *op, th_phase phase, const th_gpu *gpu,
                   th_operator_time *out, th_error *err)
{
    const th_operator o = {op->op, phase, NULL};
    return th_operator_predict(out, p, &o, gpu, err);
}

/* A step of the optimiser over a number of weights. */
static int update(const th_predictor *p, int64_t weights, const th_network_prediction_options *o,
                  th_time *out, th_error *err)
{
    th_operator_time t;
    *out = 0;
    if (weights == 0 || o->optimizer == TH_OPTIMIZER_NONE)
        return 0;
    bool is_adam = o->optimizer == TH_OPTIMIZER_ADAM;
    const th_layer_op op = {th_op_update(is_adam ? TH_EW_ADAM : TH_EW_SGD, weights, o->precision),
                            1};
    if (time_of(p, &op, TH_PHASE_EXECUTION, o->gpu, &t, err))
        return -1;
    *out = th_phases_ps(t.ms);
    return 0;
}

int th_network_narrow_layer(const th_predictor *p, const th_layer *x, const th_layer_part *part,
                            const th_network_prediction_options *o, th_layer_prediction *l,
                            th_error *err)
{
    th_operator_time t;
    if (operator_of(x, part, o->precision, &l->op, err))
        return -1;
    if (l->op.times == 0)
        return 0;
    if (time_of(p, &l->op, TH_PHASE_EXECUTION, o->gpu, &t, err))
        return -1;
    l->is_by_rule = !t.model;
    l->origin = t.origin;
    l->launch = th_phases_ps(o->gpu->extra[TH_GPU_LAUNCH] * 1e-3);
    l->execution = l->op.times * th_phases_ps(t.ms);
    if (!o->is_training)
        return 0;
    if (time_of(p, &l->op, TH_PHASE_BACKWARD, o->gpu, &t, err))
        return -1;
    l->backward = l->op.times * th_phases_ps(t.ms);
    return update(p, th_layer_has_weights(x) ? th_layer_parameters(x) : 0, o, &l->update, err);
}
