/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network_prediction.h - predicted time of a network on a GPU behind a host, from those of its
 * layers.
 *   th_predict_network -> (layer[] ...) -> th_network_prediction_clear
 *
 *   inference   launch, layout(first) + transfer in + sum of execution + relayout(last) + transfer
 *               out
 *   training    launch, layout(first) + transfer in + sum of forward + sum of backward +
 *               loss(last) + update
 *   calls       sum over layers, each called alone, its output returned to the host
 * docs/models/gpu_system.md names the sources of the parts. */
#ifndef TH_PREDICTOR_MODEL_NETWORK_PREDICTION_H
#define TH_PREDICTOR_MODEL_NETWORK_PREDICTION_H
#include "base/units.h"
#include "predictor/op/layer_op.h"
#include "predictor/model/phases.h"
#include "workloads/workload.h"

typedef struct th_network_prediction_options {
    const th_gpu *gpu;
    int32_t batch; /* 0: the workload's */
    bool is_training;
    th_op_precision precision;   /* of every layer */
    th_op_optimizer optimizer;   /* of training; none: without update */
    th_op_activation activation; /* of every conv and fc */
    int64_t link_bits_per_s; /* of the link between host and GPU; 0: the measured rate of outputs */
    th_time link_latency_ps;
} th_network_prediction_options;

/* Times of a layer in ps; backward and update: in training. */
typedef struct th_layer_prediction {
    th_layer_op op;      /* times 0: nothing runs */
    bool is_estimated;   /* phases estimated from the law of a call */
    bool is_in_producer; /* an activation that is fused into the layer before it */
    bool is_by_rule;     /* backward or update by rule, not measured */
    th_origin origin;    /* of the execution */
    th_time launch, layout, execution, relayout, returned, backward, update;
    th_time throttled,
        /* of execution and backward: what throttling added when measured alone */
        backward_throttled;
} th_layer_prediction;

typedef struct th_network_prediction {
    th_layer_prediction *layer; /* as many as the workload has */
    int32_t n_layers;
    th_time pre, execution, post, backward, loss, update; /* post: 0 in training */
    th_time total;                                        /* of these */
    th_time calls;     /* inference: the sum of every layer alone */
    char outside[200]; /* the first layer with a number outside those of training, and that; "":
                          none */
    int32_t n_outside; /* such layers */
} th_network_prediction;

/* 0; or -1 with the layer's name in err, and nothing to clear. */
int th_predict_network(th_network_prediction *out, const th_predictor *p, const th_workload *w,
                       const th_network_prediction_options *o, th_error *err);
void th_network_prediction_clear(th_network_prediction *f);

/* Private to network_prediction.c, in network_narrow.c: backward and update of a layer at less than
 * single precision, which runs. 0, or -1. */
int th_network_narrow_training(const th_predictor *p, const th_layer *x,
                               const th_network_prediction_options *o, th_layer_prediction *l,
                               th_error *err);

/* The rule for backward passes that were not measured: fills out[] with their operations and
 * returns their number. docs/models/gpu_system.md has the table. */
enum { TH_BACKWARD_OPS_MAX = 4 };
int th_backward_ops(const th_layer_part *part, const th_layer_op *forward, th_layer_op *out);
/* The same of an optimiser's step over a number of weights. */
int th_update_ops(th_op_optimizer optimizer, int64_t weights, th_layer_op *out);

#endif
