/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ga.c - the flat genetic search: one population, and every choice a gene.
 *
 *   init -> iterate: the seeds, batch by batch -> generations until the budget is spent -> clear
 *
 * An individual is a whole mapping: sets, designs, the set of every layer, its strategy. No level
 * is above another, and no programme mends strategies when sets change; that is what two_level is
 * to be compared with. Parents win tournaments; a child that is better than the worst takes its
 * place, so that the best always stay (elitism). */
#include <config.h>

#include <math.h>

#include "base/alloc.h"
#include "mapper/search/variation/variation.h"
#include "mapper/search/searches.h"

enum { BATCH = 32, POPULATION = 96, TOURNAMENT = 3 };

typedef struct {
    th_mapping *mapping;
    double value;
} individual;

typedef struct {
    th_variation breed;
    individual member[POPULATION]; /* by ascending value */
    int n;
} population;

static int init(th_search *s, th_error *err)
{
    population *p = s->state;
    return th_variation_init(&p->breed, s, "ga", err);
}

static void clear(th_search *s)
{
    population *p = s->state;
    for (int i = 0; i < p->n; i++)
        th_mapping_free(p->member[i].mapping);
    th_variation_clear(&p->breed);
}

static bool is_known(const population *p, const th_mapping *m, double value)
{
    for (int i = 0; i < p->n; i++)
        if (p->member[i].value == value && th_mapping_equal(p->member[i].mapping, m))
            return true;
    return false;
}

/* Takes m over: in its place, or nowhere. */
static void insert(population *p, th_mapping *m, const th_fitness *f)
{
    bool is_full = p->n == POPULATION;
    if (f->fit != TH_FIT || is_known(p, m, f->value) ||
        (is_full && f->value >= p->member[p->n - 1].value)) {
        th_mapping_free(m);
        return;
    }
    if (is_full)
        th_mapping_free(p->member[--p->n].mapping);
    int at = p->n++;
    for (; at > 0 && f->value < p->member[at - 1].value; at--)
        p->member[at] = p->member[at - 1];
    p->member[at] = (individual){m, f->value};
}

/* The best of a few; they are in order. */
static const th_mapping *tournament(const population *p, th_variation *b)
{
    int winner = p->n - 1;
    for (int i = 0; i < TOURNAMENT; i++) {
        int rival = th_variation_below(b, p->n);
        winner = rival < winner ? rival : winner;
    }
    return p->member[winner].mapping;
}

static int offspring(th_variation *b, void *state, int i, th_mapping **out, th_error *err)
{
    const population *p = state;
    const th_mapping *mother = tournament(p, b), *father = tournament(p, b);
    (void)i;
    return th_variation_flat(b, mother, father == mother ? NULL : father, out, err);
}

static int iterate(th_search *s, th_error *err)
{
    population *p = s->state;
    th_mapping *batch[BATCH] = {NULL};
    th_fitness fitness[BATCH];
    bool seeding = th_variation_has_initial(&p->breed);
    if (!seeding && p->n == 0) {
        s->done = true; /* no seed fits: there is nothing to breed from */
        return 0;
    }
    int n = th_variation_next_batch(&p->breed, offspring, p, TH_VARIATION_TRIES, batch, BATCH, err);
    if (n < 0)
        return -1;
    double bound = p->n < POPULATION ? INFINITY : p->member[p->n - 1].value;
    int failed = th_search_evaluate(s, batch, n, bound, fitness, err);
    for (int i = 0; i < n; i++) {
        if (failed)
            th_mapping_free(batch[i]);
        else
            insert(p, batch[i], &fitness[i]);
    }
    s->done = n == 0 && !seeding;
    return failed;
}

const th_search_type th_search_ga = {
    "ga",
    "flat genetic search: one population, all choices genes of one individual",
    false,
    4000,
    TH_INITIAL_HEURISTIC,
    sizeof(population),
    init,
    iterate,
    clear,
};
