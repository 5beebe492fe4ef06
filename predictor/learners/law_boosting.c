/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_boosting.c - boosted trees of ln(measured / law). */
#include <config.h>

#include "predictor/learners/over_law.h"

static int train(const th_lesson *l, const th_effort *o, void **state, th_error *err)
{
    return th_boosting_train(l->sights.x, l->sights.n_features, l, true, &o->trees, state, err);
}

static void run(const void *state, const th_sights *s, double *ln_ms)
{
    th_trees_sum_many(state, s->x, s->n, (size_t)s->n_features, ln_ms);
    th_add_law(s, ln_ms);
}

static int read(struct th_text_reader *r, int n_devices, int n_features, int n_plain, void **state)
{
    (void)n_devices, (void)n_plain;
    return th_boosting_read(r, n_features, state);
}

const th_learner_type th_learner_law_boosting = {
    .name = "law_boosting",
    .help = "the law, and boosted trees for what it leaves",
    .sees = TH_SEES_FEATURES,
    .is_there = th_boost_is_there,
    .train = train,
    .run = run,
    .write = th_boosting_write,
    .read = read,
    .clear = th_boosting_clear,
};
