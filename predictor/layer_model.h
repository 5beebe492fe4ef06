/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_model.h - the times of one kind of operation in one phase, on every GPU.
 *
 *   ms(op, gpu) = law(op, gpu) * exp(residual(op, gpu))
 * The law (law.h) has weights for each device it was trained on, and weights that serve all of them for a
 * device that it has not met. The residual is learned from ln(ms / law): for known devices on their own
 * laws, for others on the common one, as those would be met in use. */
#ifndef TH_PREDICTOR_LAYER_MODEL_H
#define TH_PREDICTOR_LAYER_MODEL_H
#include "predictor/features.h"
#include "predictor/measurements.h"
#include "predictor/residual.h"

typedef struct th_layer_model {
    th_op_kind kind;
    th_phase phase;
    int n_terms, n_features;
    th_gpu *device; /* that it was trained on */
    int n_devices;
    int32_t least[TH_N_OP_FIELDS], most[TH_N_OP_FIELDS]; /* of each field in training */
    double *weight;           /* by device and term; behind the last device: of any */
    th_residual known, other; /* devices */
} th_layer_model;

typedef struct th_train_options {
    th_residual_options known, other;
    uint64_t seed; /* of samples, trees and perceptrons: goes before the learners' own */
} th_train_options;

extern const th_train_options th_train_defaults;

/* layer_train.c: of the n rows of m that are listed and are of this kind and phase. 0, or -1. */
int th_layer_model_train(th_layer_model *out, const th_measurements *m, const size_t *rows,
                         size_t n, th_op_kind kind, th_phase phase, const th_train_options *o,
                         th_error *err);
void th_layer_model_clear(th_layer_model *m);
/* Sets the numbers of terms and features, which follow from kind and phase. */
void th_layer_model_count(th_layer_model *m);

/* Is the GPU, by its name, one of those of training? */
bool th_layer_model_knows(const th_layer_model *m, const th_gpu *gpu);
/* The first number of op, or else of a gpu that is not known, that lies outside those of training: what
 * it is, and what they were, into text[size]. false: all lie inside. */
bool th_layer_model_is_outside(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                               char *text, size_t size);
/* The number of a device of training by its name, or n_devices: any other. */
int th_layer_model_device(const th_layer_model *m, const char *name);
/* ms; gpu may be any. */
double th_layer_model_predict(const th_layer_model *m, const th_op *op, const th_gpu *gpu);

#endif
