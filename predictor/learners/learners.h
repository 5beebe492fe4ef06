/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learners.h - the table of learners: a line NAME stands for th_learner_NAME, the row in NAME.c
 * (law: law_learner.c). */
#ifndef TH_PREDICTOR_LEARNERS_LEARNERS_H
#define TH_PREDICTOR_LEARNERS_LEARNERS_H
#include "predictor/learners/learner.h"

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

/* Private to learners. */
float *th_law_residuals(const th_training_set *t);   /* ln(ms / law) by sample; NULL: no memory */
void th_add_law(const th_samples *s, double *ln_ms); /* ln_ms += ln(law) */

#endif
