/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_learner.c - the additive time law (law/law.h) alone as a learner. It has nothing to train:
 * the weights of the law belong to the layer model (training_set.c fits them), because the other
 * learners start from them. */
#include <config.h>

#include <math.h>

#include "predictor/learners/learners.h"

static int train(const th_training_set *t, const th_hyper_parameters *h, void **state,
                 th_error *err)
{
    (void)t, (void)h, (void)err;
    *state = NULL;
    return 0;
}

static void run(const void *state, const th_samples *s, double *ln_ms)
{
    (void)state;
    for (size_t i = 0; i < s->n; i++)
        ln_ms[i] = log(s->law_ms[i]);
}

static int text(struct th_text_io *io, int n_features, void **state)
{
    (void)io, (void)n_features;
    *state = NULL;
    return 0;
}

static void clear(void *state)
{
    (void)state;
}

const th_learner_type th_learner_law = {
    .name = "law",
    .help = "the additive time law, non-negative least squares",
    .train = train,
    .run = run,
    .text = text,
    .clear = clear,
};
