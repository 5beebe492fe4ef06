/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forecast.h - what a network takes on a GPU behind a host, from what its layers take.
 *   th_forecast_make -> (layer[] ...) -> th_forecast_clear
 *
 *   inference   launch, layout(first) + way in + sum of execution + relayout(last) + way out
 *   training    launch, layout(first) + way in + sum of forward + sum of backward + loss(last) +
 *               update
 *   calls       sum of calls: every layer alone, its output returned to the host
 * docs/models/gpu_system.md says what is summed and where from. */
#ifndef TH_PREDICTOR_MODEL_FORECAST_H
#define TH_PREDICTOR_MODEL_FORECAST_H
#include "base/units.h"
#include "predictor/op/layer_op.h"
#include "predictor/model/phases.h"
#include "workloads/workload.h"

typedef struct th_forecast_options {
    const th_gpu *gpu;
    int32_t batch; /* 0: the workload's */
    bool is_training;
    th_op_optimizer optimizer;   /* of training; none: without update */
    th_op_activation activation; /* of every conv and fc */
    int64_t link_bits_per_s; /* of the way between host and GPU; 0: as the output's was measured */
    th_time link_latency_ps;
} th_forecast_options;

/* What of a layer; all ps. backward and update: in training. */
typedef struct th_forecast_layer {
    th_layer_op op;      /* times 0: nothing runs */
    bool is_fit;         /* phases from the terms of a call */
    bool is_in_producer; /* an activation that the layer before it has as a part */
    bool is_rule;        /* backward or update by a rule, not measured */
    th_time launch, layout, execution, relayout, returned, backward, update;
    th_time slowed,
        backward_slowed; /* of execution and backward, measured alone: added by a fallen clock */
} th_forecast_layer;

typedef struct th_forecast {
    th_forecast_layer *layer; /* as many as the workload has */
    int32_t n_layers;
    th_time pre, execution, post, backward, loss, update; /* post: 0 in training */
    th_time total;                                        /* of these */
    th_time calls;     /* inference: the sum of every layer alone */
    char outside[200]; /* the first layer with a number outside those of training, and that; "":
                          none */
    int32_t n_outside; /* such layers */
} th_forecast;

/* 0; or -1 with the layer's name in err, and nothing to clear. */
int th_forecast_make(th_forecast *out, const th_predictor *p, const th_workload *w,
                     const th_forecast_options *o, th_error *err);
void th_forecast_clear(th_forecast *f);

/* The rule for what was not measured: the operations of the backward pass of op, into out[]; their
 * number. docs/models/gpu_system.md has them as a table. */
enum { TH_BACKWARD_OPS_MAX = 4 };
int th_backward_ops(const th_layer_part *part, const th_layer_op *forward, th_layer_op *out);
/* Those of an optimiser's step over so many weights. */
int th_update_ops(th_op_optimizer optimizer, int64_t weights, th_layer_op *out);

#endif
