/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network_narrow.c - training of a network's layers at less than single precision: kernels alone,
 * each by its model or by the data sheet (operator_time.h). Adam keeps two moments, other
 * optimisers one. */
#include <config.h>

#include "predictor/model/network_prediction.h"

#include "predictor/model/operator_time.h"

static int time_of(const th_predictor *p, const th_op *op, th_phase phase, const th_gpu *gpu,
                   th_time *out, th_error *err)
{
    th_operator_time t;
    if (th_operator_predict(&t, p, &(th_operator){*op, phase, NULL}, gpu, err))
        return -1;
    *out = th_phases_ps(t.ms);
    return 0;
}

int th_network_narrow_training(const th_predictor *p, const th_layer *x,
                               const th_network_prediction_options *o, th_layer_prediction *l,
                               th_error *err)
{
    const th_op_function step = o->optimizer == TH_OPTIMIZER_ADAM ? TH_EW_ADAM : TH_EW_SGD;
    const int64_t weights = th_layer_has_weights(x) ? th_layer_parameters(x) : 0;
    if (time_of(p, &l->op.op, TH_PHASE_BACKWARD, o->gpu, &l->backward, err))
        return -1;
    l->backward *= l->op.times;
    if (weights == 0 || o->optimizer == TH_OPTIMIZER_NONE)
        return 0;
    const th_op update = th_op_update(step, weights, o->precision);
    return time_of(p, &update, TH_PHASE_EXECUTION, o->gpu, &l->update, err);
}
