/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration_sum.h - private to calibration.c: a device as a sum.
 *   ms = host + sum of weight * addend,        weights never negative
 * Addends are the predictions of the base models, and the parts of calls, bytes and operations in
 * the uncalibrated prediction, so that bytes may cost more on the device while operations do not.
 * Weights are fitted by least squares on the relative error, reweighted towards absolute
 * deviations, with a ridge towards the mean of all base models. */
#ifndef TH_PREDICTOR_MODEL_CALIBRATION_SUM_H
#define TH_PREDICTOR_MODEL_CALIBRATION_SUM_H
#include "predictor/model/layer_model.h"

/* Addends of n rows: predictions[] by addend and row. */
typedef struct th_addends {
    const double *predictions;
    const th_addend *addend;
    int n, n_base_models; /* base models come first */
} th_addends;

/* n operations on a GPU seen as a device, and their predictions in ms. */
typedef struct th_device_rows {
    const th_op *op;
    size_t n;
    const th_gpu *gpu;
    int device;
    const double *predictions;
} th_device_rows;

/* Splits the predictions by class of terms: into addend[], and by part and row into out[]. The
 * number of parts, TH_N_TERM_CLASSES at most. */
int th_sum_parts(const th_layer_model *m, const th_device_rows *r, th_addend *addend, double *out);
/* Into *out, but for its share. 0, or -1: memory is out. */
int th_sum_fit(const th_addends *a, const double *ms, size_t n, th_calibration_sum *out);
/* ms of row i of n, predictions[] by the addends in their order. */
double th_sum_at(const th_calibration_sum *s, const double *predictions, size_t n, size_t i);
/* The weight of the parts, as a factor of the uncalibrated prediction. */
double th_sum_by_parts(const th_layer_model *m, const th_calibration_sum *s, const th_op *op,
                       const th_gpu *gpu, int device);

#define TH_SUM_LEAST_MS 1e-9 /* a logarithm is taken of it */

#endif
