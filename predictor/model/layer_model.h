/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_model.h - the times of one kind of operation in one phase, on every GPU.
 *
 * One ensemble of learners (learners/ensemble.h) predicts seen devices (those of the training
 * data), another one unseen devices; cross-validation selected both. Under them lies the time law
 * (law.h), with weights for each seen device, and common weights for unseen devices. */
#ifndef TH_PREDICTOR_MODEL_LAYER_MODEL_H
#define TH_PREDICTOR_MODEL_LAYER_MODEL_H
#include "predictor/regress/features.h"
#include "predictor/learners/ensemble.h"
#include "predictor/data/measurements.h"
#include "predictor/model/families.h"
#include "predictor/model/residual_quantiles.h"

/* Errors of each learner on held-out rows; INFINITY: not a candidate. */
typedef struct th_scores {
    double error[TH_N_LEARNERS]; /* mean |predicted / measured - 1| */
    double chosen;               /* of the ensemble */
    size_t n;                    /* rows; 0: nothing could be held out */
} th_scores;

/* For seen or for unseen devices. */
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
typedef struct th_regressor {
    int device;
    bool is_law;
    int part; /* th_term_class; -1: the whole prediction */
    double weight;
} th_regressor;

enum { TH_REGRESSORS_MAX = 64 };

typedef struct th_calibration_sum {
    double host_ms;
    int n;
    th_regressor regressor[TH_REGRESSORS_MAX];
    double share; /* 0: there is no sum */
} th_calibration_sum;

typedef struct th_calibration {
    th_gpu gpu;
    size_t n_rows;
    double uncalibrated_share;
    th_scaling scaling;
    th_calibration_sum sum;
    double gain; /* expected error / error for unseen devices */
} th_calibration;

typedef struct th_layer_model {
    th_op_kind kind;
    th_phase phase;
    bool is_narrow; /* of operations at less than single precision: th_op_is_narrow */
    int n_terms, n_features;
    th_gpu *device; /* seen in training */
    int n_devices;
    int32_t field_min[TH_N_OP_FIELDS], field_max[TH_N_OP_FIELDS]; /* in the training data */
    double *weight;                       /* by device and term; behind the last device: common */
    th_validated_ensemble seen, unseen;   /* devices */
    th_families families;                 /* of the training data; none: not told apart */
    th_residual_quantiles other_families; /* on seen devices: of families held out whole */
    th_calibration *calibration;
    int n_calibrations;
} th_layer_model;

typedef struct th_train_options {
    th_hyper_parameters seen, unseen;
    th_hyper_parameters narrow_seen; /* devices, of operations at less than single precision */
    int learner;                     /* of th_learner_choice_of */
    int threads;   /* 0: as many as there are processors; the result does not depend on it */
    uint64_t seed; /* of samples, trees and perceptrons: goes before the learners' own */
} th_train_options;

extern const th_train_options th_train_defaults;

/* layer_train.c: n_models at once, each of the rows of its kind, phase and is_narrow, which are
 * set; the rest is filled. 0; or -1, and all are cleared. */
int th_layer_models_train(th_layer_model *out, int n_models, const th_measured_rows *rows,
                          const th_train_options *o, th_error *err);
void th_layer_model_clear(th_layer_model *m);
/* Is a row one of the model's kind, phase and width? */
bool th_layer_model_is_of(const th_layer_model *m, const th_op *op, th_phase phase);
/* Its kind, for people: "dense", "narrow dense". */
const char *th_layer_model_name(const th_layer_model *m);
/* Gives weights of the law for what was not measured: weight[n_terms] of a device. */
void th_layer_model_complete(const th_layer_model *m, double *weight);
/* Sets the numbers of terms and features, which follow from kind, phase and width. */
void th_layer_model_count(th_layer_model *m);

/* Is the GPU, by its name, a device of the training data? */
bool th_layer_model_has_seen(const th_layer_model *m, const th_gpu *gpu);
/* layer_predict.c: or is it calibrated? */
bool th_layer_model_has_measured(const th_layer_model *m, const th_gpu *gpu);
/* layer_predict.c: the first number of op, or else of an unseen gpu, that lies outside the range of
 * the training data: its name, value and range into text[size]; size may be 0. false: all lie
 * inside. */
bool th_layer_model_is_outside(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                               char *text, size_t size);
/* Where a predicted time comes from; the later, the less is known. */
typedef enum { TH_FROM_MEASURED, TH_FROM_SHEET, TH_FROM_OUTSIDE, TH_N_ORIGINS } th_origin;
const char *th_origin_name(th_origin o); /* "measured device" */
/* layer_predict.c: the one rule. m: NULL where the operation has no model. */
th_origin th_layer_model_origin(const th_layer_model *m, const th_op *op, const th_gpu *gpu);
/* The index of a seen device by its name, or n_devices: unseen. */
int th_layer_model_device(const th_layer_model *m, const char *name);
/* layer_predict.c: ms; gpu may be any. */
double th_layer_model_predict(const th_layer_model *m, const th_op *op, const th_gpu *gpu);

/* layer_predict.c: ms, and what a tenth and nine tenths of measurements will be below: by what was
 * held out when learning; the wider the further op lies outside of what training had, and an unseen
 * gpu outside of it than devices did that were left out. */
typedef struct th_estimate {
    double ms, low_ms, high_ms;
    th_origin origin;
} th_estimate;
th_estimate th_layer_model_estimate(const th_layer_model *m, const th_op *op, const th_gpu *gpu);
/* Of a measured row, which may have unequal members. */
th_estimate th_layer_model_estimate_row(const th_layer_model *m, const th_measurements *all,
                                        const th_measurement *row);
/* layer_model.c: what the row would have taken with equal members, by the law: what models learn.
 */
double th_measured_even_ms(const th_measurements *all, const th_measurement *row);

/* Private to calibration and nearest_device: the GPU treated as a seen device. */
typedef struct th_device_view {
    const th_gpu *gpu;
    int device;  /* index of a seen device; n_devices: unseen */
    bool is_law; /* by its law alone; else by its ensemble */
} th_device_view;

/* layer_predict.c: ms[n] of op[n]. */
void th_layer_model_predict_as(const th_layer_model *m, const th_op *op, size_t n, th_device_view v,
                               double *ms);
/* Private to training: the law's prediction by those weights, at least a positive number; and the
 * features into x[n_features], unless it is NULL. */
double th_layer_model_sample(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                             const double *weight, float *x);

#endif
