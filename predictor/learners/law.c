/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law.c - the additive time law (law.h) by itself. Its weights are the model's, for others build on
 * them. */
#include <config.h>

#include <math.h>

#include "predictor/learners/learners.h"

static int train(const th_lesson *l, const th_effort *o, void **state, th_error *err)
{
    (void)l, (void)o, (void)err;
    *state = NULL;
    return 0;
}

static void run(const void *state, const th_sights *s, double *ln_ms)
{
    (void)state;
    for (size_t i = 0; i < s->n; i++)
        ln_ms[i] = log(s->row[i].law_ms);
}

static void write(const void *state, th_strbuf *out)
{
    (void)state, (void)out;
}

static int read(struct th_text_reader *r, int n_devices, int n_features, int n_plain, void **state)
{
    (void)r, (void)n_devices, (void)n_features, (void)n_plain;
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
    .write = write,
    .read = read,
    .clear = clear,
};
