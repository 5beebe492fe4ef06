/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dp.c - dynamic programming over the layers of each set (initial_mapping.c) on candidate
 * partitions. Exact on its estimates, which leave out overlap and contention: so every candidate is
 * simulated, and the best is kept. Nothing is drawn at random, but vectors of designs where a
 * partition has very many (initial_batch.c). */
#include <config.h>

#include "mapper/search/variation/variation.h"
#include "mapper/search/searches.h"

enum { BATCH = 32 };

static int init(th_search *s, th_error *err)
{
    th_variation *v = s->state;
    s->options.initial = TH_INITIAL_HEURISTIC; /* they are all there is */
    v->cursor.dynamic_programming_only = true;
    return th_variation_init(v, s, "dp", err);
}

static void clear(th_search *s)
{
    th_variation_clear(s->state);
}

/* Batches begin small, for short limits of time: a single mapping of a large system takes long. */
static int iterate(th_search *s, th_error *err)
{
    th_variation *v = s->state;
    th_mapping *batch[BATCH] = {NULL};
    th_fitness fitness[BATCH];
    int wanted = s->n_evaluations + 1 < BATCH ? (int)s->n_evaluations + 1 : BATCH;
    int n = th_variation_initial(v, batch, th_search_left(s, wanted), err);
    if (n < 0)
        return -1;
    int failed = th_search_evaluate(s, batch, n, s->best_fitness.value, fitness, err);
    for (int i = 0; i < n; i++)
        th_mapping_free(batch[i]);
    s->done = !th_variation_has_initial(v);
    return failed;
}

const th_search_type th_search_dp = {
    "dp",
    "dynamic programming over the layers of each set, on candidate partitions",
    false,
    0,
    TH_INITIAL_HEURISTIC,
    sizeof(th_variation),
    init,
    iterate,
    clear,
};
