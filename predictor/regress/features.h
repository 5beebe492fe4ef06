/* SPDX-License-Identifier: GPL-3.0-or-later */
/* features.h - the features of an operation on a GPU: its numbers, mostly as logarithms; how they
 * fill tiles; the prediction of the time law and the share of each of its parts; the balance of the
 * GPU. No feature identifies a device, so that a model learned on some devices holds for others. */
#ifndef TH_PREDICTOR_REGRESS_FEATURES_H
#define TH_PREDICTOR_REGRESS_FEATURES_H
#include "predictor/law/law.h"

enum { TH_FEATURES_MAX = 128 };

/* Into x[], whose room is for TH_FEATURES_MAX or for as many as there are; their number. That and
 * their order depend on kind and phase alone. weight: of the law's terms; its answer is law_ms. */
int th_features_fill(const th_op *op, const th_gpu *gpu, const th_terms *terms,
                     const double *weight, double law_ms, float *x);

#endif
