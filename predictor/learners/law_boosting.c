/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_boosting.c - the law, times the exponential of boosted trees of ln(measured / law). */
#include <config.h>

#include "base/alloc.h"
#include "predictor/learners/learners.h"
#include "predictor/regress/predictor_text.h"

static void clear(void *state)
{
    if (state)
        th_trees_clear(state);
    th_free(state);
}

static int train(const th_training_set *t, const th_hyper_parameters *h, void **state,
                 th_error *err)
{
    const th_samples *s = &t->samples;
    th_trees *trees = th_alloc_zero(1, sizeof *trees);
    float *residual = th_law_residuals(t);
    int failed = !trees || !residual
                     ? th_error_no_memory(err)
                     : th_boost_train(&(th_boost_data){s->x, residual, s->n, s->n_features},
                                      &h->trees, trees, err);
    th_free(residual);
    *state = trees;
    if (failed) {
        clear(trees);
        *state = NULL;
    }
    return failed;
}

static void run(const void *state, const th_samples *s, double *ln_ms)
{
    th_trees_sum_many(state, s->x, s->n, (size_t)s->n_features, ln_ms);
    th_add_law(s, ln_ms);
}

static int text(th_text_io *io, int n_features, void **state)
{
    if (!io->out)
        *state = th_alloc_zero(1, sizeof(th_trees));
    return *state ? th_trees_text(io, n_features, *state) : th_error_no_memory(io->err);
}

const th_learner_type th_learner_law_boosting = {
    .name = "law_boosting",
    .help = "the law, and boosted trees for its residuals",
    .uses_features = true,
    .is_available = th_boost_is_available,
    .train = train,
    .run = run,
    .text = text,
    .clear = clear,
};
