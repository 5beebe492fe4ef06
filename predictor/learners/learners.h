/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learners.h - the table of learners: a line NAME stands for th_learner_NAME, the row in NAME.c. */
#ifndef TH_PREDICTOR_LEARNERS_LEARNERS_H
#define TH_PREDICTOR_LEARNERS_LEARNERS_H
#include "predictor/learners/learner.h"

#define TH_LEARNERS(ROW)                                                                           \
    ROW(roofline)                                                                                  \
    ROW(log_linear)                                                                                \
    ROW(law)                                                                                       \
    ROW(perceptron)                                                                                \
    ROW(boosting)                                                                                  \
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

/* What may be asked for: a learner, or several of which the best blend is taken. */
typedef struct th_learner_choice {
    const char *name, *help;
    unsigned candidates; /* a bit each */
} th_learner_choice;

/* auto, physics, then the learners by themselves. */
enum { TH_CHOICE_AUTO, TH_CHOICE_PHYSICS, TH_CHOICE_SINGLE };
enum { TH_N_LEARNER_CHOICES = TH_CHOICE_SINGLE + TH_N_LEARNERS };
th_learner_choice th_learner_choice_of(int i);

#endif
