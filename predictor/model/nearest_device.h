/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nearest_device.h - a device of training that a GPU resembles so much that what was learned of it
 * holds for both.
 *
 *   ms(op, gpu) = ms(op, twin) * law(op, gpu) / law(op, twin)
 * with the law's weights of the twin: the operation strays from its law on the GPU as it does on
 * the twin. */
#ifndef TH_PREDICTOR_MODEL_NEAREST_DEVICE_H
#define TH_PREDICTOR_MODEL_NEAREST_DEVICE_H
#include "predictor/model/layer_model.h"

/* Which of n devices resembles the GPU most, and how much: *share is 0 (not at all) to 1 (it is the
 * same). -1: there are none. */
int th_twin_of(const th_gpu *device, int n, const th_gpu *gpu, double *share);
/* Moves ms[n], which were predicted of operations on a GPU that is not known, towards what its twin
 * says. */
void th_twin_blend(const th_layer_model *m, const th_op *op, size_t n, const th_gpu *gpu,
                   double *ms);

#endif
