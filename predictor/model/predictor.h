/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor.h - times of layers on GPUs, learned from measurements: a model per kind and phase.
 *   th_predictor_train | th_predictor_read -> th_predictor_find -> th_layer_model_estimate ...
 *   -> th_predictor_free
 * docs/models/learned.md describes the method and its errors. */
#ifndef TH_PREDICTOR_MODEL_PREDICTOR_H
#define TH_PREDICTOR_MODEL_PREDICTOR_H
#include "base/strbuf.h"
#include "predictor/model/layer_model.h"

typedef struct th_predictor {
    th_layer_model *model;
    int n_models;
    size_t n_rows;   /* it was trained on */
    uint64_t digest; /* of those rows, in their order */
} th_predictor;

/* A model for every kind, phase and width (single precision or less) among the n rows of m that
 * are listed. NULL: err says why. */
th_predictor *th_predictor_train(const th_measurements *m, const size_t *rows, size_t n,
                                 const th_train_options *o, th_error *err);
/* Calibrates every model with the rows of its kind and phase (calibration.h). 0; or -1, and p is
 * good for nothing but th_predictor_free. */
int th_predictor_calibrate(th_predictor *p, const th_measurements *rows, th_error *err);
void th_predictor_free(th_predictor *p); /* accepts NULL */

/* Of single precision. NULL: there is none. */
const th_layer_model *th_predictor_find(const th_predictor *p, th_op_kind kind, th_phase phase);
/* Of the operation's kind and precision. NULL: there is none. */
const th_layer_model *th_predictor_find_op(const th_predictor *p, const th_op *op, th_phase phase);
/* The GPU of that name that some model was trained on or calibrated for; NULL: none was. */
const th_gpu *th_predictor_gpu(const th_predictor *p, const char *name);

/* Adds the versioned text of p: units, ranges, weights, trees, and a digest of itself. */
void th_predictor_write(const th_predictor *p, th_strbuf *out);
/* NULL: the file cannot be read, is of another version, or was changed by hand. */
th_predictor *th_predictor_read(const char *path, th_error *err);

/* How far predictions are from measurements: of a device, a kind and a phase. */
typedef struct th_accuracy {
    int32_t device; /* of the measurements; -1: all */
    th_op_kind kind;
    th_phase phase;
    bool is_narrow; /* at less than single precision */
    size_t n;
    double mape, median, p95; /* of |predicted / measured - 1|: mean, middle, 95th percentile */
    double rmse_ms, r2;       /* r2: NAN where the times are all the same */
    double inside; /* share of rows between the 10th and the 90th percentile that p tells: 0.8 is
                      expected */
} th_accuracy;

/* Of the n rows of m that are listed and that p has a model for, by kind, phase and device; the
 * last of a kind and phase is of all devices, and the mean of theirs. *out is the caller's to free.
 * The number of lines, or -1. */
int th_predictor_evaluate(const th_predictor *p, const th_measurements *m, const size_t *rows,
                          size_t n, th_accuracy **out, th_error *err);

#endif
