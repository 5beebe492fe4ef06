/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learners.c - the table of learners, and residuals of the law, which they are trained on. */
#include <config.h>

#include <math.h>

#include "base/alloc.h"
#include "predictor/learners/learners.h"

#define TH_LEARNER_ADDRESS(name) &th_learner_##name,
const th_learner_type *const th_learner_types[TH_N_LEARNERS] = {TH_LEARNERS(TH_LEARNER_ADDRESS)};
#undef TH_LEARNER_ADDRESS

th_learner_choice th_learner_choice_of(int i)
{
    if (i == TH_CHOICE_AUTO)
        return (th_learner_choice){"auto", "the ensemble of learners with the least error",
                                   (1u << TH_N_LEARNERS) - 1};
    const th_learner_type *type = th_learner_types[i - TH_CHOICE_SINGLE];
    return (th_learner_choice){type->name, type->help, 1u << (i - TH_CHOICE_SINGLE)};
}

float *th_law_residuals(const th_training_set *t)
{
    float *y = th_alloc_array(t->samples.n + 1, sizeof *y);
    for (size_t i = 0; y && i < t->samples.n; i++)
        y[i] = (float)log(t->ms[i] / t->samples.law_ms[i]);
    return y;
}

void th_add_law(const th_samples *s, double *ln_ms)
{
    for (size_t i = 0; i < s->n; i++)
        ln_ms[i] += log(s->law_ms[i]);
}
