/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_perceptron.c - a perceptron of ln(measured / law). */
#include <config.h>

#include "base/alloc.h"
#include "predictor/learners/over_law.h"
#include "predictor/regress/predictor_text.h"

static void clear(void *state)
{
    if (state)
        th_mlp_clear(state);
    th_free(state);
}

static int train(const th_lesson *l, const th_effort *o, void **state, th_error *err)
{
    th_mlp *m = th_alloc_zero(1, sizeof *m);
    float *y = th_new_targets(l, true);
    int failed =
        !m || !y || th_mlp_train(l->sights.x, y, l->sights.n, l->sights.n_features, &o->mlp, m)
            ? th_error_no_memory(err)
            : 0;
    th_free(y);
    *state = m;
    if (failed) {
        th_free(m);
        *state = NULL;
    }
    return failed;
}

static void run(const void *state, const th_sights *s, double *ln_ms)
{
    th_mlp_run_many(state, s->x, s->n, ln_ms);
    th_add_law(s, ln_ms);
}

static void write(const void *state, th_strbuf *out)
{
    th_mlp_write(state, out);
}

static int read(struct th_text_reader *r, int n_devices, int n_features, int n_plain, void **state)
{
    th_mlp *m = *state = th_alloc_zero(1, sizeof *m);
    (void)n_devices, (void)n_plain;
    return m ? th_mlp_read(r, n_features, m) : th_error_no_memory(r->err);
}

const th_learner_type th_learner_law_perceptron = {
    .name = "law_perceptron",
    .help = "the law, and a perceptron for what it leaves",
    .sees = TH_SEES_FEATURES,
    .train = train,
    .run = run,
    .write = write,
    .read = read,
    .clear = clear,
};
