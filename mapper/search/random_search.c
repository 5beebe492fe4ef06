/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random_search.c - the honest control: as many evaluations as any other, no learning.
 *
 * Draws a partition, designs, contiguous ranges of layers and a strategy per layer on the array
 * (all those that it can run, equally likely; the others follow). With heuristic seeds it evaluates
 * those first, and then has the strategies of every second mapping from the blurred dynamic
 * programme. */
#include <config.h>

#include "mapper/search/breed.h"
#include "mapper/search/searches.h"

enum { BATCH = 32 };

static int init(th_search *s, th_error *err)
{
    return th_breed_init(s->state, s, "random", err);
}

static void clear(th_search *s)
{
    th_breed_clear(s->state);
}

static int draw(th_search *s, int64_t number, th_mapping **out, th_error *err)
{
    th_breed *b = s->state;
    bool by_programme = s->options.seeds == TH_SEEDS_HEURISTIC && number % 2 == 0;
    if (th_breed_next_seed(b, out, err))
        return -1;
    return *out ? 0 : th_breed_draw(b, by_programme, out, err);
}

static int iterate(th_search *s, th_error *err)
{
    th_mapping *batch[BATCH] = {NULL};
    th_fitness fitness[BATCH];
    int n = 0, failed = 0, wanted = th_search_left(s, BATCH);
    for (int tries = 0; !failed && n < wanted && tries < 64 * BATCH; tries++) {
        failed = draw(s, s->n_evaluations + n, &batch[n], err);
        n += !failed && batch[n];
    }
    if (!failed)
        failed = th_search_evaluate(s, batch, n, s->best_fitness.value, fitness, err);
    for (int i = 0; i < n; i++)
        th_mapping_free(batch[i]);
    s->done = n == 0;
    return failed;
}

const th_search_type th_search_random = {
    "random", "mappings drawn at random: the control with as many evaluations",
    false,    4000,
    TH_SEEDS_RANDOM,
    sizeof(th_breed),
    init,     iterate,
    clear,
};
