/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learners.c - the learners. The weights of the law belong to the layer model (training_set.c fits
 * them), because all learners start from them. */
#include <config.h>

#include <math.h>

#include "base/alloc.h"
#include "predictor/learners/learners.h"
#include "predictor/regress/predictor_text.h"

const th_learner_type th_learner_law = {
    .name = "law",
    .help = "the additive time law, non-negative least squares",
};

static int train_trees(const th_samples *s, const float *residual, const th_hyper_parameters *h,
                       void *state, th_error *err)
{
    const th_boost_data data = {s->x, residual, s->n, s->n_features};
    return th_boost_train(&data, &h->trees, state, err);
}

static void run_trees(const void *state, const th_samples *s, double *residual)
{
    for (size_t i = 0, width = (size_t)s->n_features; i < s->n; i++)
        residual[i] = th_trees_sum(state, s->x + i * width, width);
}

static int text_of_trees(th_text_io *io, int n_features, void *state)
{
    return th_trees_text(io, n_features, state);
}

static void clear_trees(void *state)
{
    th_trees_clear(state);
}

const th_learner_type th_learner_law_boosting = {
    .name = "law_boosting",
    .help = "the law, and boosted trees for its residuals",
    .state_bytes = sizeof(th_trees),
    .uses_features = true,
    .is_available = th_boost_is_available,
    .train = train_trees,
    .run = run_trees,
    .text = text_of_trees,
    .clear = clear_trees,
};

static int train_perceptron(const th_samples *s, const float *residual,
                            const th_hyper_parameters *h, void *state, th_error *err)
{
    return th_mlp_train(s->x, residual, s->n, s->n_features, &h->mlp, state)
               ? th_error_no_memory(err)
               : 0;
}

static void run_perceptron(const void *state, const th_samples *s, double *residual)
{
    for (size_t i = 0; i < s->n; i++)
        residual[i] = th_mlp_run(state, s->x + i * (size_t)s->n_features);
}

static int text_of_perceptron(th_text_io *io, int n_features, void *state)
{
    return th_mlp_text(io, n_features, state);
}

static void clear_perceptron(void *state)
{
    th_mlp_clear(state);
}

const th_learner_type th_learner_law_perceptron = {
    .name = "law_perceptron",
    .help = "the law, and a perceptron for its residuals",
    .state_bytes = sizeof(th_mlp),
    .uses_features = true,
    .train = train_perceptron,
    .run = run_perceptron,
    .text = text_of_perceptron,
    .clear = clear_perceptron,
};

/* --- all of them ------------------------------------------------------------------------------ */

#define TH_LEARNER_ADDRESS(name) &th_learner_##name,
const th_learner_type *const th_learner_types[TH_N_LEARNERS] = {TH_LEARNERS(TH_LEARNER_ADDRESS)};
#undef TH_LEARNER_ADDRESS

/* ln(ms / law) by sample; NULL: memory is out. */
static float *residuals_of(const th_training_set *t)
{
    float *y = th_alloc_array(t->samples.n + 1, sizeof *y);
    for (size_t i = 0; y && i < t->samples.n; i++)
        y[i] = (float)log(t->ms[i] / t->samples.law_ms[i]);
    return y;
}

int th_learner_train(const th_learner_type *l, const th_training_set *t,
                     const th_hyper_parameters *h, void **state, th_error *err)
{
    *state = NULL;
    if (l->state_bytes == 0)
        return 0;
    float *residual = residuals_of(t);
    *state = th_alloc_zero(1, l->state_bytes);
    int failed = *state && residual ? l->train(&t->samples, residual, h, *state, err)
                                    : th_error_no_memory(err);
    th_free(residual);
    if (failed) {
        th_free(*state);
        *state = NULL;
    }
    return failed;
}

void th_learner_run(const th_learner_type *l, const void *state, const th_samples *s, double *ln_ms)
{
    for (size_t i = 0; l->state_bytes == 0 && i < s->n; i++)
        ln_ms[i] = 0;
    if (l->state_bytes > 0)
        l->run(state, s, ln_ms);
    for (size_t i = 0; i < s->n; i++)
        ln_ms[i] += log(s->law_ms[i]);
}

int th_learner_text(const th_learner_type *l, th_text_io *io, int n_features, void **state)
{
    if (l->state_bytes == 0)
        return 0;
    if (!io->out)
        *state = th_alloc_zero(1, l->state_bytes);
    return *state ? l->text(io, n_features, *state) : th_error_no_memory(io->err);
}

void th_learner_clear(const th_learner_type *l, void *state)
{
    if (state)
        l->clear(state);
    th_free(state);
}

th_learner_choice th_learner_choice_of(int i)
{
    if (i == TH_CHOICE_AUTO)
        return (th_learner_choice){"auto", "the ensemble of learners with the least error",
                                   (1u << TH_N_LEARNERS) - 1};
    const th_learner_type *type = th_learner_types[i - TH_CHOICE_SINGLE];
    return (th_learner_choice){type->name, type->help, 1u << (i - TH_CHOICE_SINGLE)};
}
