/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ensemble.h - one learner, or several whose predictions are combined:
 *   ln(ms) = sum of share * ln(ms) of a member
 * (select -> train of every member) | read -> predict ... -> clear */
#ifndef TH_PREDICTOR_LEARNERS_ENSEMBLE_H
#define TH_PREDICTOR_LEARNERS_ENSEMBLE_H
#include "predictor/learners/learners.h"

typedef struct th_ensemble_member {
    const th_learner_type *type;
    void *state;
    double share;
} th_ensemble_member;

typedef struct th_ensemble {
    th_ensemble_member member[TH_N_LEARNERS];
    int n;
    bool uses_features; /* some member does */
} th_ensemble;

/* Out-of-fold predictions of the candidates, and the measured times: ln(ms). */
typedef struct th_fold_predictions {
    double *predicted[TH_N_LEARNERS]; /* by row; NULL: no candidate */
    double *measured;
    size_t n;
} th_fold_predictions;

/* The mean |exp(predicted - measured) - 1| of a learner; INFINITY: no candidate. */
double th_fold_predictions_error(const th_fold_predictions *b, int learner);
/* Sets members and shares: the best candidate, and others where the ensemble is clearly better.
 * Returns its error, or -1: no memory. Without rows: the law, or else the first candidate. */
double th_ensemble_select(th_ensemble *out, const th_fold_predictions *b);

/* The ensemble's out-of-fold predictions. */
void th_ensemble_combine(const th_ensemble *p, const th_fold_predictions *b, double *ln_ms);

enum { TH_ENSEMBLE_ROWS_MAX = 64 }; /* of samples at once */
void th_ensemble_predict(const th_ensemble *p, const th_samples *s, double *ln_ms);
/* Writes the ensemble of that name, or reads it (regress/predictor_text.h). 0 or -1. */
int th_ensemble_text(struct th_text_io *io, const char *name, int n_features, th_ensemble *p);
void th_ensemble_clear(th_ensemble *p);

#endif
