/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ga.c - the flat genetic search: one population, and every choice a gene.
 *
 *   init -> iterate: the initial mappings, batch by batch -> generations until the budget is spent
 *   -> clear
 *
 * An individual is a whole mapping: sets, designs, the set of every layer, its strategy. No level
 * is above another, and no dynamic programming repairs strategies when sets change; that is what
 * two_level is to be compared with. Parents win tournaments; a child that is better than the worst
 * takes its place, so that the best always stay (elitism). */
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
    th_variation variation;
    individual member[POPULATION]; /* by ascending value */
    int n;
} population;

static int init(th_search *s, th_error *err)
{
    population *p = s->state;
    return th_variation_init(&p->variation, s, "ga", err);
}

static void clear(th_search *s)
{
    population *p = s->state;
    for (int i = 0; i < p->n; i++)
        th_mapping_free(p->member[i].mapping);
    th_variation_clear(&p->variation);
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
static const th_mapping *tournament(const population *p, th_variation *v)
{
    int winner = p->n - 1;
    for (int i = 0; i < TOURNAMENT; i++) {
        int rival = th_variation_below(v, p->n);
        winner = rival < winner ? rival : winner;
    }
    return p->member[winner].mapping;
}

static int offspring(th_variation *v, void *state, int i, th_mapping **out, th_error *err)
{
    const population *p = state;
    const th_mapping *mother = tournament(p, v), *father = tournament(p, v);
    (void)i;
    return th_variation_flat(v, mother, father == mother ? NULL : father, out, err);
}

static int iterate(th_search *s, th_error *err)
{
    population *p = s->state;
    th_mapping *batch[BATCH] = {NULL};
    th_fitness fitness[BATCH];
    bool starting = th_variation_has_initial(&p->variation);
    if (!starting && p->n == 0) {
        s->done = true; /* no initial mapping is feasible: there is no parent */
        return 0;
    }
    const th_offspring how = {offspring, p, TH_VARIATION_TRIES};
    int n = th_variation_next_batch(&p->variation, &how, batch, BATCH, err);
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
    s->done = n == 0 && !starting;
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
