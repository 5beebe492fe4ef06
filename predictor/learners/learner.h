/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learner.h - a way of learning the times of operations: what each of them has to offer.
 *   a file of this folder and a line of learners.h each
 * A learner answers ln(ms) of the rows that it is shown. Where it will be used makes two things of
 * it: for known devices, which may each have numbers of their own; and for others, whose data
 * sheets alone tell them apart. */
#ifndef TH_PREDICTOR_LEARNERS_LEARNER_H
#define TH_PREDICTOR_LEARNERS_LEARNER_H
#include "base/strbuf.h"
#include "predictor/regress/boost.h"
#include "predictor/regress/features.h"
#include "predictor/learners/plain.h"
#include "predictor/regress/mlp.h"

/* What a learner looks at besides operation, device and law. */
enum { TH_SEES_FEATURES = 1, TH_SEES_PLAIN = 2 };

typedef struct th_sight {
    const th_op *op;
    const th_gpu *gpu;
    int device; /* of training; their number: any other */
    double law_ms;
} th_sight;

/* Rows as learners see them. */
typedef struct th_sights {
    size_t n;
    th_sight *row;
    int n_features, n_plain;
    float *x;     /* by row: features.h; NULL: nobody looks */
    float *plain; /* by row: plain.h; NULL: nobody looks */
} th_sights;

typedef struct th_lesson {
    th_sights sights;
    double *ms;    /* measured */
    int n_devices; /* of the model */
    bool is_known; /* for these devices; else for others */
} th_lesson;

/* How hard to try. */
typedef struct th_effort {
    th_boost_options trees;
    th_mlp_options mlp;        /* over the law */
    th_mlp_options perceptron; /* on its own */
} th_effort;

struct th_text_reader;

typedef struct th_learner_type {
    const char *name, *help;
    unsigned sees;
    bool (*is_there)(void); /* NULL: always */
    /* *state belongs to the caller, who clears it; NULL: nothing to remember. 0 or -1. */
    int (*train)(const th_lesson *l, const th_effort *o, void **state, th_error *err);
    void (*run)(const void *state, const th_sights *s, double *ln_ms);
    void (*write)(const void *state, th_strbuf *out);
    /* What write wrote, of a model with so many devices, features and plain numbers. 0 or -1. */
    int (*read)(struct th_text_reader *r, int n_devices, int n_features, int n_plain, void **state);
    void (*clear)(void *state);
} th_learner_type;

#endif
