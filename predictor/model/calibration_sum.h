/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration_sum.h - private to calibration.c: a device as a sum.
 *   ms = host + sum of weight * regressor,        weights never negative
 * Regressors are the predictions of the base models, and the parts of calls, bytes and operations
 * in the uncalibrated prediction, so that bytes may cost more on the device while operations do
 * not. Weights are fitted by least squares on the relative error, reweighted towards absolute
 * deviations, with a ridge towards the mean of all base models. */
#ifndef TH_PREDICTOR_MODEL_CALIBRATION_SUM_H
#define TH_PREDICTOR_MODEL_CALIBRATION_SUM_H
#include "predictor/model/layer_model.h"

/* Regressors of n rows: predictions[] by regressor and row. */
typedef struct th_regressors {
    const double *predictions;
    const th_regressor *regressor;
    int n, n_base_models; /* base models come first */
} th_regressors;

/* n operations on a GPU seen as a device, and their predictions in ms. */
typedef struct th_device_rows {
    const th_op *op;
    size_t n;
    const th_gpu *gpu;
    int device;
    const double *predictions;
} th_device_rows;

/* Splits the predictions by class of terms: into regressor[], and by part and row into out[]. The
 * number of parts, TH_N_TERM_CLASSES at most. */
int th_calibration_sum_split(const th_layer_model *m, const th_device_rows *r,
                             th_regressor *regressor, double *out);
/* Into *out, but for its share. 0, or -1: memory is out. */
int th_calibration_sum_fit(const th_regressors *a, const double *ms, size_t n,
                           th_calibration_sum *out);
/* ms of row i of n, predictions[] by the regressors in their order. */
double th_calibration_sum_at(const th_calibration_sum *s, const double *predictions, size_t n,
                             size_t i);
/* The weight of the parts, as a factor of the uncalibrated prediction. */
double th_calibration_sum_factor(const th_layer_model *m, const th_calibration_sum *s,
                                 const th_op *op, const th_gpu *gpu, int device);

#define TH_CALIBRATION_SUM_MIN_MS 1e-9 /* a logarithm is taken of it */

#endif
