/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learners.h - regressions of ln(ms) on the samples of one kind and phase, each on top of the time
 * law: ln(law) plus what it learned of ln(measured / law).
 *   train -> run ... | text;  text -> run ...;  clear
 * A learner is trained twice: for seen devices, each of which has a law, and for unseen devices,
 * which share one law and differ in their data sheets only. A line NAME of the table stands for
 * th_learner_NAME. */
#ifndef TH_PREDICTOR_LEARNERS_LEARNERS_H
#define TH_PREDICTOR_LEARNERS_LEARNERS_H
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

/* What a learner does with its state, of state_bytes zeros at first; a state of 0 bytes is NULL,
 * and then there are no functions: the law alone has nothing to learn. 0 or -1. */
typedef struct th_learner_type {
    const char *name, *help;
    size_t state_bytes;
    bool uses_features;
    bool (*is_available)(void); /* NULL: always */
    int (*train)(const th_samples *s, const float *residual, const th_hyper_parameters *h,
                 void *state, th_error *err);
    void (*run)(const void *state, const th_samples *s, double *residual);
    int (*text)(struct th_text_io *io, int n_features, void *state);
    void (*clear)(void *state);
} th_learner_type;

/* *state belongs to the caller, who clears it. 0, or -1 and it is NULL. */
int th_learner_train(const th_learner_type *l, const th_training_set *t,
                     const th_hyper_parameters *h, void **state, th_error *err);
void th_learner_run(const th_learner_type *l, const void *state, const th_samples *s,
                    double *ln_ms);
/* Writes *state as text, or reads it (regress/predictor_text.h). 0 or -1. */
int th_learner_text(const th_learner_type *l, struct th_text_io *io, int n_features, void **state);
void th_learner_clear(const th_learner_type *l, void *state);

#define TH_LEARNERS(ROW)                                                                           \
    ROW(law)                                                                                       \
    ROW(law_boosting)                                                                              \
    ROW(law_perceptron)

#define TH_DECLARE_LEARNER(name) extern const th_learner_type th_learner_##name;
TH_LEARNERS(TH_DECLARE_LEARNER)
#undef TH_DECLARE_LEARNER

#define TH_LEARNER_NUMBER(name) TH_LEARNER_##name,
enum { TH_LEARNERS(TH_LEARNER_NUMBER) TH_N_LEARNERS };
#undef TH_LEARNER_NUMBER

/* In the order of the table. */
extern const th_learner_type *const th_learner_types[TH_N_LEARNERS];

/* Values of -learner: one learner, or all of them as candidates of an ensemble. */
typedef struct th_learner_choice {
    const char *name, *help;
    unsigned candidates; /* a bit each */
} th_learner_choice;

/* auto, then the learners by themselves. */
enum { TH_CHOICE_AUTO, TH_CHOICE_SINGLE };
enum { TH_N_LEARNER_CHOICES = TH_CHOICE_SINGLE + TH_N_LEARNERS };
th_learner_choice th_learner_choice_of(int i);

#endif
