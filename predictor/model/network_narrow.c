/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network_narrow.c - times of a network's layers at less than single precision: kernels alone, each
 * by its model or by the data sheet (operator_time.h).
 *   layer: execution -> backward -> update
 *
 * Adam keeps two moments, other optimisers one. */
#include <config.h>

#include "predictor/model/network_prediction.h"

#include "predictor/model/operator_time.h"

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
    th_phases phases;
    if (th_layer_op_of(part, &l->op, err))
        return -1;
    if (l->op.times == 0)
        return 0;
    if (th_phases_predict(p, &l->op.op, o->gpu, &phases, err))
        return -1;
    l->is_by_rule = phases.is_by_rule;
    l->origin = phases.origin;
    l->launch = th_phases_ps(phases.launch_ms);
    l->execution = l->op.times * th_phases_ps(phases.execution_ms);
    if (!o->is_training)
        return 0;
    if (time_of(p, &l->op, TH_PHASE_BACKWARD, o->gpu, &t, err))
        return -1;
    l->backward = l->op.times * th_phases_ps(t.ms);
    return update(p, th_layer_has_weights(x) ? th_layer_parameters(x) : 0, o, &l->update, err);
}
