/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_perceptron.c - the law, times the exponential of a perceptron of ln(measured / law). */
#include <config.h>

#include "base/alloc.h"
#include "predictor/learners/learners.h"
#include "predictor/regress/predictor_text.h"

static void clear(void *state)
{
    if (state)
        th_mlp_clear(state);
    th_free(state);
}

static int train(const th_training_set *t, const th_hyper_parameters *h, void **state,
                 th_error *err)
{
    const th_samples *s = &t->samples;
    th_mlp *m = th_alloc_zero(1, sizeof *m);
    float *residual = th_law_residuals(t);
    int failed = !m || !residual || th_mlp_train(s->x, residual, s->n, s->n_features, &h->mlp, m)
                     ? th_error_no_memory(err)
                     : 0;
    th_free(residual);
    *state = m;
    if (failed) {
        th_free(m);
        *state = NULL;
    }
    return failed;
}

static void run(const void *state, const th_samples *s, double *ln_ms)
{
    th_mlp_run_many(state, s->x, s->n, ln_ms);
    th_add_law(s, ln_ms);
}

static int text(th_text_io *io, int n_features, void **state)
{
    if (!io->out)
        *state = th_alloc_zero(1, sizeof(th_mlp));
    return *state ? th_mlp_text(io, n_features, *state) : th_error_no_memory(io->err);
}

const th_learner_type th_learner_law_perceptron = {
    .name = "law_perceptron",
    .help = "the law, and a perceptron for its residuals",
    .uses_features = true,
    .train = train,
    .run = run,
    .text = text,
    .clear = clear,
};
