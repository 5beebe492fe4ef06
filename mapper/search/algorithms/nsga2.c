/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nsga2.c - a Pareto front by NSGA-II (Deb et al. 2002, see front.h).
 *
 *   init -> iterate: initial mappings first, batch by batch -> then generations until the
 *     budget is spent -> th_nsga2_front -> clear
 *
 * One population of mappings. A generation makes BATCH offspring, whose parents win tournaments of
 * two (lower rank, then greater crowding distance), with the operators of variation.h; of parents
 * and offspring together the best POPULATION survive, so that the ends of the front are never
 * lost. Late mappings are dominated by all that are in time (constrained domination). Of mappings
 * with equal values only the first is kept. With a single objective it is an elitist genetic
 * search. No run is stopped early, as a bound on one objective does not bound the others.
 * Deterministic: parents are drawn from one stream, every child from its own (offspring.c); ties go
 * to the lower index. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/search/variation/variation.h"
#include "mapper/search/searches.h"

enum { POPULATION = 64, BATCH = 32 };
static const double ONE_KIND_PARTITIONING_RATE = 0.15; /* offspring with another partitioning */

typedef struct {
    th_variation variation;
    th_mapping *mapping[POPULATION + BATCH];
    th_metrics metrics[POPULATION + BATCH];
    th_point point[POPULATION + BATCH];
    int n;
} nsga2;

static int init(th_search *s, th_error *err)
{
    nsga2 *t = s->state;
    return th_variation_init(&t->variation, s, "nsga2", err);
}

static void clear(th_search *s)
{
    nsga2 *t = s->state;
    for (int i = 0; i < t->n; i++)
        th_mapping_free(t->mapping[i]);
    th_variation_clear(&t->variation);
}

/* --- selection --- */

/* Does a point go before another one? The order among equals is left alone. */
static bool is_before(const th_point *a, const th_point *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->crowding > b->crowding;
}

static void swap(nsga2 *t, int i, int j)
{
    th_mapping *mapping = t->mapping[i];
    th_metrics metrics = t->metrics[i];
    th_point point = t->point[i];
    t->mapping[i] = t->mapping[j];
    t->metrics[i] = t->metrics[j];
    t->point[i] = t->point[j];
    t->mapping[j] = mapping;
    t->metrics[j] = metrics;
    t->point[j] = point;
}

/* Ranks all, best first, and frees those beyond POPULATION. */
static int select_survivors(nsga2 *t, int n, th_error *err)
{
    if (th_points_rank(t->point, t->n, n))
        return th_error_no_memory(err);
    for (int i = 1; i < t->n; i++) /* insertion: stable, and nearly in order */
        for (int j = i; j > 0 && is_before(&t->point[j], &t->point[j - 1]); j--)
            swap(t, j, j - 1);
    while (t->n > POPULATION)
        th_mapping_free(t->mapping[--t->n]);
    return 0;
}

static int n_values(const th_goal *g)
{
    return g->n_front > 0 ? g->n_front : 1;
}

static bool is_known(const nsga2 *t, const th_point *p, int n)
{
    for (int i = 0; i < t->n; i++)
        if (t->point[i].lateness_ps == p->lateness_ps &&
            memcmp(t->point[i].value, p->value, (size_t)n * sizeof *p->value) == 0)
            return true;
    return false;
}

/* Takes m over. */
static void insert(nsga2 *t, th_mapping *m, const th_fitness *f, const th_goal *g)
{
    th_point p = {.lateness_ps = f->metrics.lateness_ps, .value = {th_goal_value(g, &f->metrics)}};
    for (int i = 0; i < g->n_front; i++)
        p.value[i] = th_objective_value(g->front[i], &f->metrics);
    if (f->fit != TH_FIT || is_known(t, &p, n_values(g))) {
        th_mapping_free(m);
        return;
    }
    t->mapping[t->n] = m;
    t->metrics[t->n] = f->metrics;
    t->point[t->n++] = p;
}

/* --- offspring --- */

static int tournament(const nsga2 *t, th_variation *v)
{
    int one = th_variation_below(v, t->n), other = th_variation_below(v, t->n);
    return is_before(&t->point[other], &t->point[one]) ? other : one;
}

/* A random member with the same sets, designs and layers of each set as mother; NULL: none. */
static const th_mapping *father_for(const nsga2 *t, th_variation *v, const th_mapping *mother)
{
    for (int tries = 0; tries < 4; tries++) {
        const th_mapping *m = t->mapping[tournament(t, v)];
        if (m != mother && th_mapping_same_sets(m, mother))
            return m;
    }
    return NULL;
}

static int offspring(th_variation *v, void *state, int i, th_mapping **out, th_error *err)
{
    const nsga2 *t = state;
    const th_mapping *mother = t->mapping[tournament(t, v)];
    (void)i;
    if (th_variation_chance(v,
                            th_variation_partitioning_rate(v, mother, ONE_KIND_PARTITIONING_RATE)))
        return th_variation_partitioning(v, mother, out, err);
    return th_variation_sharding(v, mother, father_for(t, v, mother), out, err);
}

static int iterate(th_search *s, th_error *err)
{
    nsga2 *t = s->state;
    th_mapping *batch[BATCH] = {NULL};
    th_fitness fitness[BATCH];
    bool starting = th_variation_has_initial(&t->variation);
    if (!starting && t->n == 0) {
        s->done = true; /* no initial mapping is feasible: there is no parent */
        return 0;
    }
    const th_offspring how = {offspring, t, TH_VARIATION_TRIES};
    int n = th_variation_next_batch(&t->variation, &how, batch, BATCH, err);
    if (n < 0)
        return -1;
    int failed = th_search_evaluate(s, batch, n, INFINITY, fitness, err);
    for (int i = 0; i < n; i++) {
        if (failed)
            th_mapping_free(batch[i]);
        else
            insert(t, batch[i], &fitness[i], &s->problem.goal);
    }
    s->done = n == 0 && !starting;
    return failed ? -1 : select_survivors(t, n_values(&s->problem.goal), err);
}

/* --- the front --- */

static bool is_on_front(const nsga2 *t, int i)
{
    return t->point[i].rank == 0;
}

/* The next member of the front after *last by the first objective (then by place); -1: none. */
static int next_on_front(const nsga2 *t, int last)
{
    int next = -1;
    for (int i = 0; i < t->n; i++) {
        double value = t->point[i].value[0];
        bool is_after = last < 0 || value > t->point[last].value[0] ||
                        (value == t->point[last].value[0] && i > last);
        if (is_on_front(t, i) && is_after && (next < 0 || value < t->point[next].value[0]))
            next = i;
    }
    return next;
}

th_front *th_nsga2_front(const th_search *s, th_error *err)
{
    const nsga2 *t = s->state;
    th_front *f = th_alloc_zero(1, sizeof *f);
    if (f) {
        f->mapping = th_alloc_zero(POPULATION, sizeof *f->mapping);
        f->metrics = th_alloc_zero(POPULATION, sizeof *f->metrics);
    }
    bool failed = !f || !f->mapping || !f->metrics;
    for (int i = next_on_front(t, -1); !failed && i >= 0; i = next_on_front(t, i)) {
        f->metrics[f->n] = t->metrics[i];
        f->mapping[f->n] = th_mapping_copy(t->mapping[i]);
        failed = !f->mapping[f->n];
        f->n += !failed;
    }
    if (!failed)
        return f;
    th_front_free(f);
    th_error_no_memory(err);
    return NULL;
}

const th_search_type th_search_nsga2 = {
    .name = "nsga2",
    .synopsis = "a Pareto front of several objectives by non-dominated sorting",
    .default_evaluations = 4000,
    .initial = TH_INITIAL_HEURISTIC,
    .state_size = sizeof(nsga2),
    .init = init,
    .iterate = iterate,
    .clear = clear,
    .finds_front = true,
};
