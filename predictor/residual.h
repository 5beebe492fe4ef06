/* SPDX-License-Identifier: GPL-3.0-or-later */
/* residual.h - what is learned over a law: trees and a perceptron, each with its share.
 *   th_residual_train -> th_residual_weigh -> th_residual_run ... -> th_residual_clear */
#ifndef TH_PREDICTOR_RESIDUAL_H
#define TH_PREDICTOR_RESIDUAL_H
#include "predictor/boost.h"
#include "predictor/mlp.h"

typedef struct th_residual {
    th_trees trees;
    th_mlp mlp;
    double tree_share, mlp_share; /* 0 .. 1 together */
} th_residual;

typedef struct th_residual_options {
    th_boost_options trees;
    th_mlp_options mlp;
} th_residual_options;

/* Rows to learn from: features, and ln(measured / law). */
typedef struct th_lesson {
    float *x, *y;
    size_t n;
    int n_features;
} th_lesson;

int th_lesson_init(th_lesson *l, size_t n, int n_features); /* -1: memory is out */
void th_lesson_clear(th_lesson *l);

/* Both parts, or only those that out->tree_share and out->mlp_share are not 0 of. 0 or -1. */
int th_residual_train(th_residual *out, const th_lesson *l, const th_residual_options *o,
                      th_error *err);
void th_residual_clear(th_residual *r);
double th_residual_run(const th_residual *r, const float *x);

/* What each part says of a row that neither has seen, and what is right. */
typedef struct th_verdict {
    double trees, mlp, y;
} th_verdict;
void th_residual_judge(const th_residual *r, const th_lesson *l,
                       th_verdict *out); /* of l->n rows */
/* Sets the shares that have the least mean |exp(said - y) - 1|, in steps of a quarter. */
void th_residual_weigh(th_residual *r, const th_verdict *v, size_t n);

#endif
