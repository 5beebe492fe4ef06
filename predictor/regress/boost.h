/* SPDX-License-Identifier: GPL-3.0-or-later */
/* boost.h - gradient boosting of decision trees, by the library XGBoost where it was there at
 * configure time (HAVE_XGBOOST). Source: Chen, Guestrin, XGBoost (KDD 2016). The loss is the
 * pseudo-Huber error. */
#ifndef TH_PREDICTOR_REGRESS_BOOST_H
#define TH_PREDICTOR_REGRESS_BOOST_H
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "predictor/regress/trees.h"

typedef struct th_boost_options {
    int rounds, depth;
    double learning_rate;
    double huber_slope;          /* of the loss: quadratic for errors below it, linear above */
    double min_child_weight;     /* of a leaf, in rows */
    double subsample, colsample; /* that a tree sees, 0 .. 1 */
    uint64_t seed;
} th_boost_options;

bool th_boost_is_available(void);
typedef struct th_boost_data {
    const float *x; /* by row and feature */
    const float *y; /* by row */
    size_t n;
    int n_features;
} th_boost_data;

/* Fits the sum of *out to y. 0, or -1: no memory, or the error of the library. */
int th_boost_train(const th_boost_data *d, const th_boost_options *o, th_trees *out, th_error *err);

/* private, where XGBoost is there: tree number `tree` of t from the text that the library gives of
 * one. 0 or -1. */
int th_boost_read_tree(th_trees *t, int tree, const char *text, th_error *err);

#endif
