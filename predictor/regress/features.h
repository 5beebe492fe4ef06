/* SPDX-License-Identifier: GPL-3.0-or-later */
/* features.h - what learners see of an operation on a GPU: its numbers, mostly as logarithms; how
 * they fill tiles; the time law's answer, and which share of it each part has; the GPU's balance.
 * Nothing names a device, so that what is learned on some holds for others. */
#ifndef TH_PREDICTOR_REGRESS_FEATURES_H
#define TH_PREDICTOR_REGRESS_FEATURES_H
#include "predictor/law/law.h"

enum { TH_FEATURES_MAX = 128 };

/* Into x[], whose room is for TH_FEATURES_MAX or for as many as there are; their number. That and
 * their order depend on kind and phase alone. weight: of the law's terms; its answer is law_ms. */
int th_features_fill(const th_op *op, const th_gpu *gpu, const th_terms *terms,
                     const double *weight, double law_ms, float *x);

#endif
