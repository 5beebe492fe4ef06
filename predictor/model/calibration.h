/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.h - a device that training did not meet, or met behind another host, known by a few
 * rows. ms = product of (host + scale * answer) ^ share  over voices A voice is what the model says
 * of an operation as if the device were one of those of training, by its law and its learners or by
 * its law alone; or as it says of any other. Each gets a host cost and a scale of its own, and
 * shares tell which of them the device resembles; what the model says without any rows keeps the
 * share that it deserves by rows which were held out. */
#ifndef TH_PREDICTOR_MODEL_CALIBRATION_H
#define TH_PREDICTOR_MODEL_CALIBRATION_H
#include "predictor/model/layer_model.h"

enum { TH_CALIBRATION_ROWS_MIN = 8 };

/* Adds, or replaces, a calibration of every device that the measurements have enough rows of this
 * kind and phase of. The number of devices, or -1: too few rows of one, memory is out; the model is
 * as it was. */
int th_layer_model_calibrate(th_layer_model *m, const th_measurements *rows, th_error *err);

/* Private to layer_model.c: ms[n] of op[n] on the GPU that it is of. */
void th_calibration_run(const th_layer_model *m, const th_calibration *c, const th_op *op, size_t n,
                        double *ms);

#endif
