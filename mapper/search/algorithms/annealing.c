/* SPDX-License-Identifier: GPL-3.0-or-later */
/* annealing.c - simulated annealing with the operators of the two-level search.
 *
 *   init -> iterate: the initial mappings; the best, at most two of each partitioning, begin the
 *     chains -> inside another search polish for some -> one neighbour of every chain at a time,
 *     cycle after cycle, until the budget is spent -> clear
 *
 * A neighbour that is slower by d is accepted with probability exp(-d / T). The random number is
 * drawn before the simulation, which gives each chain an acceptance limit; the highest limit stops
 * the batch. T falls geometrically within a cycle, as a share of the best value; cycles double in
 * length, and each begins at a high T, every second chain at the best mapping so far; the others
 * stay where they are, perhaps with other sets, unless they are far worse. So the schedule does
 * not depend on the budget, and a run that is stopped early is the start of a longer one. Chains
 * are independent within a batch, and every neighbour draws from a stream of its own
 * (offspring.c), so results do not depend on the number of threads. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/elementary.h"
#include "mapper/search/variation/variation.h"
#include "mapper/search/searches.h"

enum {
    CHAINS = 8,
    CHAINS_PER_SETS = 2, /* that begin with the same sets, designs and layers on them */
    FIRST_CYCLE = 32,    /* steps of all chains */
    INITIAL_BATCH = 32,
    IMPROVEMENTS = 200 /* evaluations of polish for a chain */
};
static const double HOT = 0.01, COLD = 0.0001;         /* T over the best value */
static const double ONE_KIND_PARTITIONING_RATE = 0.08; /* neighbours with another partitioning */
static const double PERTURBED_RATE =
    0.1;                       /* that take a run of layers from dynamic programming, perturbed */
static const double FAR = 1.1; /* a chain is given up when its value is this multiple of the best */

typedef struct {
    th_mapping *mapping;
    double value;
} state;

typedef struct {
    th_variation variation;
    state chain[CHAINS]; /* while there are initial mappings: by ascending value */
    int n;
    int64_t step, cycle; /* in the cycle; its length */
    int improved;        /* chains before this one need no local search any more */
    th_search *polish;   /* of that chain; NULL: it has not begun */
} annealing;

static int init(th_search *s, th_error *err)
{
    annealing *a = s->state;
    a->cycle = FIRST_CYCLE;
    return th_variation_init(&a->variation, s, "annealing", err);
}

static void clear(th_search *s)
{
    annealing *a = s->state;
    for (int i = 0; i < a->n; i++)
        th_mapping_free(a->chain[i].mapping);
    th_search_free(a->polish);
    th_variation_clear(&a->variation);
}

/* --- initial mappings --- */

/* The chain that gives way to a mapping: the worst of those with its sets where there are
 * CHAINS_PER_SETS, else of all where there are CHAINS; -1: none has to. */
static int to_replace(const annealing *a, const th_mapping *m)
{
    int n = 0, worst = -1;
    for (int i = 0; i < a->n; i++) {
        bool same = th_mapping_same_sets(a->chain[i].mapping, m);
        n += same;
        worst = same ? i : worst;
    }
    return n == CHAINS_PER_SETS ? worst : a->n == CHAINS ? CHAINS - 1 : -1;
}

/* Takes m over: inserts it among the best chains, or frees it. */
static void insert(annealing *a, th_mapping *m, const th_fitness *f)
{
    const int out = to_replace(a, m);
    if (f->fit != TH_FIT || (out >= 0 && f->value >= a->chain[out].value)) {
        th_mapping_free(m);
        return;
    }
    int at = out >= 0 ? out : a->n++;
    th_mapping_free(a->chain[at].mapping);
    for (; at > 0 && f->value < a->chain[at - 1].value; at--)
        a->chain[at] = a->chain[at - 1];
    a->chain[at] = (state){m, f->value};
}

static int evaluate_initial(th_search *s, th_error *err)
{
    annealing *a = s->state;
    th_mapping *batch[INITIAL_BATCH] = {NULL};
    th_fitness fitness[INITIAL_BATCH];
    int n = th_variation_initial(&a->variation, batch, th_search_left(s, INITIAL_BATCH), err);
    if (n < 0)
        return -1;
    double bound = a->n < CHAINS ? INFINITY : a->chain[CHAINS - 1].value;
    int failed = th_search_evaluate(s, batch, n, bound, fitness, err);
    for (int i = 0; i < n; i++) {
        if (failed)
            th_mapping_free(batch[i]);
        else
            insert(a, batch[i], &fitness[i]);
    }
    return failed;
}

/* --- steps --- */

static int start_at(state *c, const th_mapping *m, double value, th_error *err)
{
    th_mapping *copy = th_mapping_copy(m);
    if (!copy)
        return th_error_no_memory(err);
    th_mapping_free(c->mapping);
    *c = (state){copy, value};
    return 0;
}

/* Is it near the best of the searches around, and the first with its sets, which that has not? */
static bool deserves_polish(const th_search *s, int chain)
{
    const annealing *a = s->state;
    const state *c = &a->chain[chain];
    bool deserves = c->value <= FAR * s->parent->best_fitness.value &&
                    !th_mapping_same_sets(c->mapping, s->parent->best);
    for (int i = 0; i < chain; i++)
        deserves &= !th_mapping_same_sets(c->mapping, a->chain[i].mapping);
    return deserves;
}

/* A batch of polish for a chain: which sets are best shows only after a local search. */
static int improve_chain(th_search *s, th_error *err)
{
    annealing *a = s->state;
    th_fitness fitness;
    while (!a->polish && a->improved < a->n && !deserves_polish(s, a->improved))
        a->improved++;
    if (a->improved == a->n)
        return 0;
    state *c = &a->chain[a->improved];
    if (!a->polish) {
        a->polish = th_search_new_inner(s, &th_search_polish, IMPROVEMENTS, s->options.seed, err);
        if (!a->polish || th_search_evaluate(a->polish, &c->mapping, 1, INFINITY, &fitness, err))
            return -1;
    }
    int failed = th_search_iterate(a->polish, err);
    if (failed || !a->polish->done)
        return failed;
    failed = start_at(c, a->polish->best, a->polish->best_fitness.value, err);
    th_search_free(a->polish);
    a->polish = NULL;
    a->improved++;
    return failed;
}

/* Starts every second chain, and those far worse than the best, at the best mapping, of this
 * search or of its parent. */
static int reheat(th_search *s, th_error *err)
{
    annealing *a = s->state;
    const th_search *from = s->parent && s->parent->best ? s->parent : s;
    for (int i = 0; i < a->n; i++)
        if ((i % 2 == 0 || a->chain[i].value > FAR * from->best_fitness.value) &&
            start_at(&a->chain[i], from->best, from->best_fitness.value, err))
            return -1;
    return 0;
}

static double temperature(const th_search *s)
{
    const annealing *a = s->state;
    double progress = (double)a->step / (double)a->cycle;
    return s->best_fitness.value * HOT * th_pow(COLD / HOT, progress);
}

/* The neighbours of a step, one per chain, and the greatest value at which each is accepted. */
typedef struct {
    const annealing *of;
    double temperature, limit[CHAINS];
} neighbours;

static int neighbour(th_variation *v, void *all, int i, th_mapping **out, th_error *err)
{
    neighbours *n = all;
    const state *c = &n->of->chain[i];
    n->limit[i] = c->value - n->temperature * th_log(1 - th_random_unit(v->random));
    if (th_variation_chance(
            v, th_variation_partitioning_rate(v, c->mapping, ONE_KIND_PARTITIONING_RATE)))
        return th_variation_partitioning(v, c->mapping, out, err);
    if (th_variation_chance(v, PERTURBED_RATE))
        return th_variation_perturbed(v, c->mapping, out, err);
    return th_variation_sharding(v, c->mapping, NULL, out, err);
}

/* A neighbour of each chain that has one, as many as the budget allows, their chains and limits.
 * The number of neighbours, or -1. */
static int make_neighbours(th_search *s, th_mapping **next, int *chain, double *limit,
                           th_error *err)
{
    annealing *a = s->state;
    neighbours all = {.of = a, .temperature = temperature(s)};
    const th_offspring how = {neighbour, &all, TH_VARIATION_TRIES};
    int n = 0;
    if (th_variation_offspring(&a->variation, &how, a->n, next, err))
        return -1;
    for (int i = 0; i < a->n; i++) {
        if (!next[i])
            continue;
        next[n] = next[i];
        chain[n] = i;
        limit[n++] = all.limit[i];
    }
    return th_variation_cut_to_budget(&a->variation, next, n);
}

static int step(th_search *s, th_error *err)
{
    annealing *a = s->state;
    th_mapping *next[CHAINS] = {NULL};
    th_fitness fitness[CHAINS];
    int chain[CHAINS];
    double limit[CHAINS], bound = 0;
    int n = make_neighbours(s, next, chain, limit, err);
    if (n < 0)
        return -1;
    for (int i = 0; i < n; i++)
        bound = limit[i] > bound ? limit[i] : bound;
    int failed = th_search_evaluate(s, next, n, bound, fitness, err);
    for (int i = 0; i < n; i++) {
        if (!failed && fitness[i].fit == TH_FIT && fitness[i].value <= limit[i]) {
            th_mapping *old = a->chain[chain[i]].mapping;
            a->chain[chain[i]] = (state){next[i], fitness[i].value};
            next[i] = old;
        }
        th_mapping_free(next[i]);
    }
    s->done = n == 0;
    return failed;
}

static int iterate(th_search *s, th_error *err)
{
    annealing *a = s->state;
    if (th_variation_has_initial(&a->variation))
        return evaluate_initial(s, err);
    if (a->n == 0) {
        s->done = true; /* no initial mapping is feasible: there is nothing to start from */
        return 0;
    }
    if (s->parent && s->parent->best && a->improved < a->n)
        return improve_chain(s, err);
    if (a->step == 0 && reheat(s, err))
        return -1;
    if (step(s, err))
        return -1;
    if (++a->step == a->cycle) {
        a->step = 0;
        a->cycle *= 2;
    }
    return 0;
}

const th_search_type th_search_annealing = {
    "annealing",
    "simulated annealing over the moves of two_level, in cycles of growing length",
    false,
    4000,
    TH_INITIAL_HEURISTIC,
    sizeof(annealing),
    init,
    iterate,
    clear,
};
