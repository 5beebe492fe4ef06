/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learner.h - the interface of a learner: a regression of ln(ms) on the samples of one kind and
 * phase.
 *   train -> run ... | text;  text -> run ...;  clear
 * A learner is trained twice: for seen devices, each of which has a law, and for unseen devices,
 * which share one law and differ in their data sheets only. */
#ifndef TH_PREDICTOR_LEARNERS_LEARNER_H
#define TH_PREDICTOR_LEARNERS_LEARNER_H
#include "base/strbuf.h"
#include "predictor/regress/boost.h"
#include "predictor/regress/features.h"
#include "predictor/regress/mlp.h"

typedef struct th_samples {
    size_t n;
    double *law_ms; /* by sample: the time law's prediction */
    int n_features;
    float *x; /* by sample: features.h; NULL: no learner uses features */
} th_samples;

typedef struct th_training_set {
    th_samples samples;
    double *ms; /* measured */
} th_training_set;

typedef struct th_hyper_parameters {
    th_boost_options trees;
    th_mlp_options mlp;
} th_hyper_parameters;

struct th_text_io;

typedef struct th_learner_type {
    const char *name, *help;
    bool uses_features;
    bool (*is_available)(void); /* NULL: always */
    /* *state belongs to the caller, who clears it; NULL: the learner has no state. 0 or -1. */
    int (*train)(const th_training_set *t, const th_hyper_parameters *h, void **state,
                 th_error *err);
    void (*run)(const void *state, const th_samples *s, double *ln_ms);
    /* Writes *state as text, or reads it (regress/predictor_text.h). 0 or -1. */
    int (*text)(struct th_text_io *io, int n_features, void **state);
    void (*clear)(void *state);
} th_learner_type;

#endif
