/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random_search.c - random search: the control experiment, with as many evaluations as the others
 * and no learning.
 *
 * Draws a partition, designs, contiguous ranges of layers and a strategy per layer on the array
 * (all that it can run equally likely; the others follow). With heuristic initial mappings it
 * evaluates those first, and then takes the strategies of every second mapping from perturbed
 * dynamic programming. */
#include <config.h>

#include "mapper/search/variation/variation.h"
#include "mapper/search/searches.h"

enum { BATCH = 32, TRIES_PER_DRAW = 64 };

static int init(th_search *s, th_error *err)
{
    return th_variation_init(s->state, s, "random", err);
}

static void clear(th_search *s)
{
    th_variation_clear(s->state);
}

static int draw(th_variation *v, void *state, int i, th_mapping **out, th_error *err)
{
    const th_search *s = state;
    bool by_dynamic_programming =
        s->options.initial == TH_INITIAL_HEURISTIC && (s->n_evaluations + i) % 2 == 0;
    return th_variation_random(v, by_dynamic_programming, out, err);
}

static int iterate(th_search *s, th_error *err)
{
    th_mapping *batch[BATCH] = {NULL};
    th_fitness fitness[BATCH];
    bool starting = th_variation_has_initial(s->state);
    const th_offspring how = {draw, s, TRIES_PER_DRAW};
    int n = th_variation_next_batch(s->state, &how, batch, BATCH, err);
    if (n < 0)
        return -1;
    int failed = th_search_evaluate(s, batch, n, s->best_fitness.value, fitness, err);
    for (int i = 0; i < n; i++)
        th_mapping_free(batch[i]);
    s->done = n == 0 && !starting;
    return failed;
}

const th_search_type th_search_random = {
    "random",
    "mappings drawn at random: the control with as many evaluations",
    false,
    4000,
    TH_INITIAL_RANDOM,
    sizeof(th_variation),
    init,
    iterate,
    clear,
};
