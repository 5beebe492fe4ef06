/* SPDX-License-Identifier: GPL-3.0-or-later */
/* boosting.c - boosted trees of ln(measured) on plain numbers, without a law; and what they share
 * with those over a law. */
#include <config.h>

#include <math.h>

#include "base/alloc.h"
#include "predictor/learners/over_law.h"
#include "predictor/regress/predictor_text.h"

/* --- shared ----------------------------------------------------------------------------------- */

void th_add_law(const th_sights *s, double *ln_ms)
{
    for (size_t i = 0; i < s->n; i++)
        ln_ms[i] += log(s->row[i].law_ms);
}

float *th_new_targets(const th_lesson *l, bool over_law)
{
    float *y = th_alloc_array(l->sights.n + 1, sizeof *y);
    for (size_t i = 0; y && i < l->sights.n; i++)
        y[i] = (float)log(l->ms[i] / (over_law ? l->sights.row[i].law_ms : 1));
    return y;
}

int th_boosting_train(const float *x, int width, const th_lesson *l, bool over_law,
                      const th_boost_options *o, void **state, th_error *err)
{
    th_trees *trees = th_alloc_zero(1, sizeof *trees);
    float *y = th_new_targets(l, over_law);
    int failed = !trees || !y ? th_error_no_memory(err)
                              : th_boost_train(x, y, l->sights.n, width, o, trees, err);
    th_free(y);
    *state = trees;
    if (failed) {
        th_boosting_clear(trees);
        *state = NULL;
    }
    return failed;
}

void th_boosting_write(const void *state, th_strbuf *out)
{
    th_trees_write(state, out);
}

int th_boosting_read(struct th_text_reader *r, int width, void **state)
{
    th_trees *trees = *state = th_alloc_zero(1, sizeof *trees);
    return trees ? th_trees_read(r, width, trees) : th_error_no_memory(r->err);
}

void th_boosting_clear(void *state)
{
    if (state)
        th_trees_clear(state);
    th_free(state);
}

/* --- on plain numbers ------------------------------------------------------------------------- */

static int train(const th_lesson *l, const th_effort *o, void **state, th_error *err)
{
    th_boost_options squared = o->trees; /* times are far wider than what a law leaves of them */
    squared.slope = 0;
    return th_boosting_train(l->sights.plain, l->sights.n_plain, l, false, &squared, state, err);
}

static void run(const void *state, const th_sights *s, double *ln_ms)
{
    th_trees_sum_many(state, s->plain, s->n, (size_t)s->n_plain, ln_ms);
}

static int read(struct th_text_reader *r, int n_devices, int n_features, int n_plain, void **state)
{
    (void)n_devices, (void)n_features;
    return th_boosting_read(r, n_plain, state);
}

const th_learner_type th_learner_boosting = {
    .name = "boosting",
    .help = "boosted trees on plain numbers, without a law",
    .sees = TH_SEES_PLAIN,
    .is_there = th_boost_is_there,
    .train = train,
    .run = run,
    .write = th_boosting_write,
    .read = read,
    .clear = th_boosting_clear,
};
