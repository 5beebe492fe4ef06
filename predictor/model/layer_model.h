/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_model.h - the times of one kind of operation in one phase, on every GPU.
 *
 * One ensemble of learners (learners/ensemble.h) predicts devices of training, another one all
 * other devices; cross-validation selected both. Under them lies the time law (law.h), with weights
 * for each device of training, and weights that serve all of them for any other. */
#ifndef TH_PREDICTOR_MODEL_LAYER_MODEL_H
#define TH_PREDICTOR_MODEL_LAYER_MODEL_H
#include "predictor/regress/features.h"
#include "predictor/learners/ensemble.h"
#include "predictor/data/measurements.h"
#include "predictor/model/residual_quantiles.h"

/* How good each learner was on rows that it had not seen; INFINITY: it was not tried. */
typedef struct th_scores {
    double error[TH_N_LEARNERS]; /* mean |answer / measured - 1| */
    double chosen;               /* of the ensemble */
    size_t n;                    /* rows; 0: nothing could be held out */
} th_scores;

/* For devices of training, or for others. */
typedef struct th_validated_ensemble {
    th_ensemble ensemble;
    th_scores scores;
    th_residual_quantiles quantiles;
} th_validated_ensemble;

/* ms = host + scale * the uncalibrated prediction; calibration.h */
typedef struct th_scaling {
    double host_ms, scale, share;
} th_scaling;

/* A regressor of the sum: the prediction of a base model, or the part of it that terms of one class
 * have in the law. calibration_sum.h */
typedef struct th_addend {
    int device;
    bool is_law;
    int part; /* th_term_class; -1: the whole prediction */
    double weight;
} th_addend;

enum { TH_ADDENDS_MAX = 64 };

typedef struct th_calibration_sum {
    double host_ms;
    int n;
    th_addend addend[TH_ADDENDS_MAX];
    double share; /* 0: there is no sum */
} th_calibration_sum;

typedef struct th_calibration {
    th_gpu gpu;
    size_t n_rows;
    double uncalibrated_share;
    th_scaling scaling;
    th_calibration_sum sum;
    double gain; /* error to be expected / of other devices */
} th_calibration;

typedef struct th_layer_model {
    th_op_kind kind;
    th_phase phase;
    int n_terms, n_features;
    th_gpu *device; /* that it was trained on */
    int n_devices;
    int32_t least[TH_N_OP_FIELDS], most[TH_N_OP_FIELDS]; /* of each field in training */
    double *weight;                     /* by device and term; behind the last device: of any */
    th_validated_ensemble known, other; /* devices */
    th_calibration *calibration;
    int n_calibrations;
} th_layer_model;

typedef struct th_train_options {
    th_hyper_parameters known, other;
    int learner;   /* of th_learner_choice_of */
    int threads;   /* 0: as many as there are processors; the result does not depend on it */
    uint64_t seed; /* of samples, trees and perceptrons: goes before the learners' own */
} th_train_options;

extern const th_train_options th_train_defaults;

/* layer_train.c: n_models at once, each of the rows of its kind and phase, which are set; the rest
 * is filled. 0; or -1, and all are cleared. */
int th_layer_models_train(th_layer_model *out, int n_models, const th_measured_rows *rows,
                          const th_train_options *o, th_error *err);
void th_layer_model_clear(th_layer_model *m);
/* Sets the numbers of terms and features, which follow from kind and phase. */
void th_layer_model_count(th_layer_model *m);

/* Is the GPU, by its name, one of those of training? */
bool th_layer_model_knows(const th_layer_model *m, const th_gpu *gpu);
/* The first number of op, or else of a gpu that is not known, that lies outside those of training:
 * what it is, and what they were, into text[size]. false: all lie inside. */
bool th_layer_model_is_outside(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                               char *text, size_t size);
/* The number of a device of training by its name, or n_devices: any other. */
int th_layer_model_device(const th_layer_model *m, const char *name);
/* ms; gpu may be any. */
double th_layer_model_predict(const th_layer_model *m, const th_op *op, const th_gpu *gpu);

/* ms, and what a tenth and nine tenths of measurements will be below: by what was held out when
 * learning, the wider the further op or an unknown gpu lies outside of what training had. */
typedef struct th_estimate {
    double ms, low_ms, high_ms;
} th_estimate;
th_estimate th_layer_model_estimate(const th_layer_model *m, const th_op *op, const th_gpu *gpu);

/* Private to calibration and nearest_device: a GPU seen as a device of training. */
typedef struct th_device_view {
    const th_gpu *gpu;
    int device;  /* of training; their number: any other */
    bool is_law; /* by its law alone; else by its ensemble */
} th_device_view;

/* ms[n] of op[n]. */
void th_layer_model_predict_as(const th_layer_model *m, const th_op *op, size_t n, th_device_view v,
                               double *ms);
/* Private to training: the law's prediction by those weights, at least a positive number; and the
 * features into x[n_features], unless it is NULL. */
double th_layer_model_sample(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                             const double *weight, float *x);

#endif
