/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.h - an operation's time by phase: launch by the host, transfers over the host's link,
 * changes of layout, execution. */
#ifndef TH_PREDICTOR_MODEL_PHASES_H
#define TH_PREDICTOR_MODEL_PHASES_H
#include "base/units.h"
#include "predictor/model/predictor.h"

typedef struct th_phases {
    double launch_ms; /* of the host, before the device begins */
    double
        layout_ms; /* the input's change of layout: of an operation alone, or the first of many */
    double execution_ms; /* of the device */
    double throttled_ms; /* of it: what throttling added while the operation ran repeatedly */
    double relayout_ms;  /* the output's change of layout: of an operation alone, or the last */
    double return_ms;    /* transfer of the output to the host */
    double send_ms;      /* transfer of the input from the host, at the output's rate */
    bool is_estimated;   /* all but execution are estimated from the law's terms of a call */
    bool is_by_rule;     /* no model of the kind: bytes over the memory's bandwidth */
    th_origin origin;    /* of the execution */
} th_phases;

/* By the models of the phases, or else by splitting the prediction of a call by its law. A model
 * that was trained on the GPU is preferred, then that of the execution alone. A choice (bias,
 * activation) with one value in all measurements has that value. Without a model of the kind a
 * memory-bound operation takes its bytes over the memory's bandwidth; 0, or -1 for other kinds. At
 * less than single precision: the kernel of operator_time.h and its launch. */
int th_phases_predict(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out,
                      th_error *err);
/* The model that gives a kind's execution on a GPU: that of the execution, or else of a call. NULL:
 * there is none. */
const th_layer_model *th_phases_model(const th_predictor *p, th_op_kind kind, const th_gpu *gpu);

/* A training step of an operation that was measured as a whole, as launch and execution. 0, or -1
 * without an error where the predictor has no such model. */
int th_phases_step(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out);
/* ms of everything: the operation called alone. */
double th_phases_sum(const th_phases *x);

/* op with the choices (bias, activation) of the measurements, where these had one value. */
th_op th_phases_as_measured(const th_layer_model *m, const th_op *op);
/* ms of a model at that. */
double th_phases_ms(const th_layer_model *m, const th_op *op, const th_gpu *gpu);

/* Rounded to the picosecond once, so that sums of times are exact. */
th_time th_phases_ps(double ms);

#endif
