/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration_sum.h - private to calibration.c: a device as a sum.
 *   ms = host + sum of weight * addend,        weights never negative
 * Addends are what voices say, and the parts that calls, bytes and operations have in what the
 * model says without calibration: so bytes may be dearer on the device where operations are not.
 * Weights are found by least squares on the relative error, reweighted towards absolute deviations,
 * with a ridge towards the mean of all voices. */
#ifndef TH_PREDICTOR_MODEL_CALIBRATION_SUM_H
#define TH_PREDICTOR_MODEL_CALIBRATION_SUM_H
#include "predictor/model/layer_model.h"

/* Addends of n rows: said[] by addend and row. */
typedef struct th_addends {
    const double *said;
    const th_addend *addend;
    int n, n_base_models; /* voices go first */
} th_addends;

/* The parts of what a device says of n rows, said[], that any of these has: into addend[], and by
 * part and row into out[]. Their number, TH_N_TERM_CLASSES at most. */
int th_sum_parts(const th_layer_model *m, const th_op *op, size_t n, const th_gpu *gpu, int device,
                 const double *said, th_addend *addend, double *out);
/* Into *out, but for its share. 0, or -1: memory is out. */
int th_sum_fit(const th_addends *a, const double *ms, size_t n, th_calibration_sum *out);
/* ms of row i of n, said[] by the addends in their order. */
double th_sum_at(const th_calibration_sum *s, const double *said, size_t n, size_t i);
/* What parts add, in what the device says. */
double th_sum_by_parts(const th_layer_model *m, const th_calibration_sum *s, const th_op *op,
                       const th_gpu *gpu, int device);

#define TH_SUM_LEAST_MS 1e-9 /* a logarithm is taken of it */

#endif
