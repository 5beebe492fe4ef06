/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.h - what of an operation's time is the host's, the way over the host's link, and
 * execution. */
#ifndef TH_PREDICTOR_MODEL_PHASES_H
#define TH_PREDICTOR_MODEL_PHASES_H
#include "base/units.h"
#include "predictor/model/predictor.h"

typedef struct th_phases {
    double launch_ms; /* the host's, before anything runs */
    double layout_ms; /* the input laid out anew, as the device's kernels want it: alone, or first
                         of many */
    double execution_ms; /* of the device */
    double slowed_ms;    /* of it: added by a clock that fell while the operation was measured, over
                            and over */
    double relayout_ms;  /* the output laid out as it was asked for: alone, or last of many */
    double return_ms;    /* the output's way to the host */
    double send_ms;      /* what the input's way from the host would take at the output's rate */
    bool is_fit;  /* all but execution follow from the terms of a call, and were not measured */
    bool is_rule; /* there is no model of the kind: its bytes at the memory's bandwidth */
} th_phases;

/* From models of the phases, or else by splitting that of a call by its law: the model that was
 * trained on the GPU goes first, then that of the execution alone. Numbers that the measurements
 * did not tell apart (whether there is a bias) are those of the measurements. Where there is no
 * model of the kind, what does little but move its operands takes their way through memory; 0, or
 * -1 for others. */
int th_phases_predict(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out,
                      th_error *err);
/* The model that speaks of the execution of a kind on a GPU: of the execution, or else of a call.
 * NULL: there is none. */
const th_layer_model *th_phases_model(const th_predictor *p, th_op_kind kind, const th_gpu *gpu);

/* A training step of an operation that was measured as a whole, as launch and execution. 0, or -1
 * without an error where the predictor has no such model. */
int th_phases_step(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out);
/* ms of everything: the operation called alone. */
double th_phases_sum(const th_phases *x);

/* op with the choices (bias, activation) of a model's training, where these had one value. */
th_op th_phases_as_measured(const th_layer_model *m, const th_op *op);
/* ms of a model at that. */
double th_phases_ms(const th_layer_model *m, const th_op *op, const th_gpu *gpu);

/* Rounded to the picosecond; as rounded once and for all, sums of times are exact. */
th_time th_phases_ps(double ms);

#endif
