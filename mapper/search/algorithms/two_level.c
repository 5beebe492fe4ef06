/* SPDX-License-Identifier: GPL-3.0-or-later */
/* two_level.c - the two-level genetic search, in the manner of MARS (DAC 2023).
 *
 *   init -> iterate: all mappings of a space where they are few (th_search_try_all) -> initial
 *   mappings, batch by batch -> then generations until the budget is spent -> clear
 *
 * The partitioning is a table of configurations: sets, designs, and the layers of each set. Every
 * configuration has a population of its own, whose genes are the sharding: the strategies of the
 * layers on the array (the others follow). A generation picks configurations by rank, makes
 * offspring from their populations (crossover of contiguous segments; mutation of one layer, a run,
 * or all layers of one shape; a run of layers anew by dynamic programming, perturbed), and now and
 * then makes a new configuration from an old one (another design, a moved boundary, another
 * partition), which replaces the worst if it is better. Fitness is the simulated objective. Initial
 * mappings: dynamic programming on every candidate partition (initial_mapping.c), uniform splits,
 * and the computation-prioritised baseline; inside another search, the best that that one has
 * found. Deterministic: every child draws from a stream of its own, so that the threads that
 * evaluate the children also make them (offspring.c). */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/search/variation/variation.h"
#include "mapper/search/searches.h"

enum {
    BATCH = 32, /* evaluations between two checks of the time limit */
    CONFIGURATIONS = 8,
    POPULATION = 12 /* per configuration */
};
static const double SLACK = 1.3; /* offspring slower than this many times the best are stopped */
static const double ONE_KIND_PARTITIONING_RATE = 0.08; /* offspring that change the partitioning */
static const double PERTURBED_RATE =
    0.3; /* that take a run of layers from dynamic programming, perturbed */
static const double ANY_RATE = 0.3; /* whose configuration is any, not by rank */

typedef struct {
    th_mapping *mapping;
    double fitness;
} individual;

typedef struct {
    individual member[POPULATION]; /* by ascending fitness */
    int n;
} configuration;

typedef struct {
    th_variation variation;
    configuration table[CONFIGURATIONS]; /* by ascending best fitness */
    int n;
    double adopted; /* the value of the last mapping taken from elsewhere */
    bool is_tried;  /* th_search_try_all */
} two_level;

static int init(th_search *s, th_error *err)
{
    two_level *t = s->state;
    t->adopted = INFINITY;
    return th_variation_init(&t->variation, s, "two_level", err);
}

static void clear(th_search *s)
{
    two_level *t = s->state;
    for (int c = 0; c < t->n; c++)
        for (int i = 0; i < t->table[c].n; i++)
            th_mapping_free(t->table[c].member[i].mapping);
    th_variation_clear(&t->variation);
}

/* --- the table --- */

static void free_configuration(configuration *c)
{
    for (int i = 0; i < c->n; i++)
        th_mapping_free(c->member[i].mapping);
    c->n = 0;
}

/* Takes m over (or frees it): into the population, in order, if it is new and good enough. */
static void insert_member(configuration *c, th_mapping *m, double fitness)
{
    int at = c->n;
    while (at > 0 && fitness < c->member[at - 1].fitness)
        at--;
    for (int i = 0; i < c->n; i++) {
        if (c->member[i].fitness == fitness && th_mapping_equal(c->member[i].mapping, m)) {
            th_mapping_free(m);
            return;
        }
    }
    if (at == POPULATION) {
        th_mapping_free(m);
        return;
    }
    if (c->n == POPULATION)
        th_mapping_free(c->member[--c->n].mapping);
    memmove(&c->member[at + 1], &c->member[at], (size_t)(c->n - at) * sizeof *c->member);
    c->member[at] = (individual){m, fitness};
    c->n++;
}

static void move_up(two_level *t, int c)
{
    while (c > 0 && t->table[c].member[0].fitness < t->table[c - 1].member[0].fitness) {
        configuration swap = t->table[c];
        t->table[c] = t->table[c - 1];
        t->table[--c] = swap;
    }
}

/* Takes m over: to its configuration, to a new one, or nowhere. */
static void insert(two_level *t, th_mapping *m, const th_fitness *fitness)
{
    int c = 0;
    if (fitness->fit != TH_FIT) {
        th_mapping_free(m);
        return;
    }
    while (c < t->n && !th_mapping_same_sets(t->table[c].member[0].mapping, m))
        c++;
    if (c == CONFIGURATIONS) {
        if (fitness->value >= t->table[c - 1].member[0].fitness) {
            th_mapping_free(m);
            return;
        }
        free_configuration(&t->table[--c]);
    } else if (c == t->n) {
        t->table[t->n++].n = 0;
    }
    insert_member(&t->table[c], m, fitness->value);
    move_up(t, c);
}

/* --- generations --- */

/* By rank; now and then any, since those that are good only after much work would never get it. */
static const configuration *choose(const two_level *t, th_variation *v)
{
    if (th_variation_chance(v, ANY_RATE))
        return &t->table[th_variation_below(v, t->n)];
    return &t->table[th_variation_rank(v, t->n)];
}

static int offspring(th_variation *v, void *state, int i, th_mapping **out, th_error *err)
{
    const two_level *t = state;
    const configuration *c = choose(t, v);
    (void)i;
    if (th_variation_chance(
            v, th_variation_partitioning_rate(v, c->member[0].mapping, ONE_KIND_PARTITIONING_RATE)))
        return th_variation_partitioning(v, c->member[0].mapping, out, err);
    const individual *mother = &c->member[th_variation_rank(v, c->n)],
                     *father = &c->member[th_variation_below(v, c->n)];
    if (th_variation_chance(v, PERTURBED_RATE))
        return th_variation_perturbed(v, mother->mapping, out, err);
    return th_variation_sharding(v, mother->mapping, father == mother ? NULL : father->mapping, out,
                                 err);
}

/* What the searches around this one, or its enumeration, have found. */
static int adopt_best(th_search *s, two_level *t, th_error *err)
{
    const th_search *from = s->parent ? s->parent : s;
    if (!from->best || from->best_fitness.value >= t->adopted)
        return 0;
    th_mapping *m = th_mapping_copy(from->best);
    if (!m)
        return th_error_no_memory(err);
    t->adopted = from->best_fitness.value;
    insert(t, m, &from->best_fitness);
    return 0;
}

static double bound_of(const th_search *s, const two_level *t)
{
    return t->n < CONFIGURATIONS ? INFINITY : s->best_fitness.value * SLACK;
}

static int iterate(th_search *s, th_error *err)
{
    two_level *t = s->state;
    th_mapping *batch[BATCH] = {NULL};
    th_fitness fitness[BATCH];
    if (th_search_try_all(s, &t->is_tried, err) || adopt_best(s, t, err))
        return -1;
    if (s->done)
        return 0;
    bool starting = th_variation_has_initial(&t->variation);
    if (!starting && t->n == 0) {
        s->done = true; /* no initial mapping is feasible: there is no parent */
        return 0;
    }
    const th_offspring how = {offspring, t, TH_VARIATION_TRIES};
    int n = th_variation_next_batch(&t->variation, &how, batch, BATCH, err);
    if (n < 0)
        return -1;
    int failed = th_search_evaluate(s, batch, n, bound_of(s, t), fitness, err);
    for (int i = 0; i < n; i++) {
        if (failed)
            th_mapping_free(batch[i]);
        else
            insert(t, batch[i], &fitness[i]);
    }
    s->done = n == 0 && !starting;
    return failed;
}

const th_search_type th_search_two_level = {
    "two_level",
    "two-level genetic search over sets, designs and layers (1), and strategies (2)",
    false,
    4000,
    TH_INITIAL_HEURISTIC,
    sizeof(two_level),
    init,
    iterate,
    clear,
};
