/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.h - calibration of a device outside training, or of one behind another host, by a few
 * rows.
 *   ms = uncalibrated ^ share * (host + scale * uncalibrated) ^ share * sum ^ share
 * Shares are the stacking weights of the three methods; they add up to 1. The sum
 * (calibration_sum.h) is over base models: a base model is the layer model's prediction as if the
 * GPU were one of the devices of training, by its ensemble or by its law alone, or as for any other
 * device. The uncalibrated prediction keeps the share that its error on rows held out justifies.
 */
#ifndef TH_PREDICTOR_MODEL_CALIBRATION_H
#define TH_PREDICTOR_MODEL_CALIBRATION_H
#include "predictor/model/layer_model.h"

enum { TH_CALIBRATION_ROWS_MIN = 8 };

/* Adds, or replaces, a calibration of every device that the measurements have enough rows of this
 * kind and phase of. The number of devices, or -1: too few rows of one, memory is out; the model is
 * as it was. */
int th_layer_model_calibrate(th_layer_model *m, const th_measurements *rows, th_error *err);

/* Private to layer_predict.c: ms on the GPU that it is of. */
double th_calibration_run(const th_layer_model *m, const th_calibration *c, const th_op *op);

#endif
