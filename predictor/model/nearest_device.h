/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nearest_device.h - correction of a prediction for a GPU outside the training data by the most
 * similar device of the training data.
 *
 *   ms(op, gpu) = ms(op, nearest) * law(op, gpu) / law(op, nearest)
 * with the weights of the nearest device in the law: its ratio of time to law is transferred. */
#ifndef TH_PREDICTOR_MODEL_NEAREST_DEVICE_H
#define TH_PREDICTOR_MODEL_NEAREST_DEVICE_H
#include "predictor/model/layer_model.h"

/* The device of n most similar to the GPU; *share is the similarity, 0 .. 1 (equal). -1: n is 0. */
int th_nearest_device_find(const th_gpu *device, int n, const th_gpu *gpu, double *share);
/* Moves ms[n], predicted for a GPU outside training, towards this correction, by its similarity. */
void th_nearest_device_adjust(const th_layer_model *m, const th_op *op, size_t n, const th_gpu *gpu,
                              double *ms);

#endif
