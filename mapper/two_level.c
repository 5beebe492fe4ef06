/* SPDX-License-Identifier: GPL-3.0-or-later */
/* two_level.c - the two-level genetic search, in the manner of MARS (DAC 2023).
 *
 *   init -> iterate: seeds first, batch by batch -> then generations until the budget is spent
 *   -> clear
 *
 * Level 1 is a table of configurations: sets, designs, and the layers of each set. Every
 * configuration has a population of its own, whose genes are level 2: the strategies of the layers
 * on the array (the others follow). A generation picks configurations by rank, makes offspring from
 * their populations (crossover of contiguous segments; mutation of one layer, a run, or all layers
 * of one shape), and now and then makes a new configuration from an old one (another design, a
 * moved boundary, another partition), which replaces the worst if it is better. Fitness is the
 * simulated objective. Seeds: the dynamic programme on every candidate of level 1 (seed.c), uniform
 * splits, and the computation-prioritised baseline. Deterministic: all draws come from one stream
 * on the searching thread; evaluation alone is parallel. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/level1.h"
#include "mapper/searches.h"
#include "mapper/strategies.h"

enum {
    BATCH = 32, /* evaluations between two looks at the clock */
    CONFIGURATIONS = 8,
    POPULATION = 12,          /* per configuration */
    SEEDS_PER_PARTITION = 12, /* vectors of designs tried at most */
    DEFAULT_EVALUATIONS = 4000
};
static const double SLACK = 1.3; /* offspring slower than this many times the best are stopped */
static const double LEVEL1_RATE = 0.08;   /* offspring that change level 1 */
static const double JITTERS[] = {0, 0.3}; /* blur of the dynamic programme's estimates, per seed */

typedef struct {
    th_mapping *mapping;
    th_time fitness;
} individual;

typedef struct {
    individual member[POPULATION]; /* by ascending fitness */
    int n;
} configuration;

typedef struct {
    th_level1 level1;
    th_seeder *seeder;
    gsl_rng *random;
    th_mapping **seeds;
    size_t n_seeds, seed_capacity, next_seed;
    configuration table[CONFIGURATIONS]; /* by ascending best fitness */
    int n;
    int64_t budget;
} two_level;

static bool chance(two_level *t, double p)
{
    return th_random_unit(t->random) < p;
}

static int below(two_level *t, int n)
{
    return (int)th_random_below(t->random, (uint64_t)n);
}

/* --- seeds ------------------------------------------------------------------------------------ */

static int add_seed(two_level *t, th_mapping *m)
{
    if (!m)
        return 0;
    if (th_grow(&t->seeds, &t->seed_capacity, t->n_seeds + 1, sizeof *t->seeds)) {
        th_mapping_free(m);
        return -1;
    }
    t->seeds[t->n_seeds++] = m;
    return 0;
}

static int seed_by_programme(two_level *t, const th_partition *p, const int32_t *design,
                             th_error *err)
{
    for (size_t j = 0; j < sizeof JITTERS / sizeof *JITTERS; j++) {
        th_mapping *m;
        if (th_level1_mapping(&t->level1, t->seeder, p, design, JITTERS[j], t->random, &m, err))
            return -1;
        if (add_seed(t, m))
            return th_error_no_memory(err);
    }
    return 0;
}

static int seed_partition(two_level *t, const th_partition *p, th_error *err)
{
    int32_t design[TH_LEVEL1_SETS_MAX] = {-1};
    for (int i = 0; i < SEEDS_PER_PARTITION && th_level1_next_designs(&t->level1, p, design); i++)
        if (seed_by_programme(t, p, design, err))
            return -1;
    return 0;
}

/* One split for all layers (the nearest where it does not fit), on every set of a mapping. */
static int seed_uniform(const th_search *s, two_level *t, const th_mapping *like,
                        const th_strategy *split)
{
    const th_workload *w = s->problem.workload;
    th_mapping *m = th_mapping_copy(like);
    bool fits = m != NULL;
    for (int l = 0; fits && l < w->n_layers; l++) {
        m->strategy[l] = *split;
        if (th_layer_has_macs(&w->layers[l]))
            fits = th_strategy_repair(&m->strategy[l], &w->layers[l], th_search_batch(s),
                                      m->sets[m->set_of[l]].n_accels);
    }
    if (fits && th_mapping_follow(m, w, th_search_batch(s)))
        return add_seed(t, m);
    th_mapping_free(m);
    return like && !m ? -1 : 0;
}

static const th_mapping *programme_seed_of(const two_level *t, int32_t n_accels, int32_t design)
{
    for (size_t i = 0; i < t->n_seeds; i++)
        if (t->seeds[i]->n_sets == 1 && t->seeds[i]->sets[0].n_accels == n_accels &&
            t->seeds[i]->sets[0].design == design)
            return t->seeds[i];
    return NULL;
}

/* Uniform splits on the largest set alone, with every design. */
static int seed_uniforms(th_search *s, two_level *t, th_error *err)
{
    const th_workload *w = s->problem.workload;
    int32_t n = t->level1.tree.node[t->level1.partitions[0].node[0]].n;
    th_strategy *list = NULL;
    int widest = 0, failed = 0;
    for (int l = 1; l < w->n_layers; l++)
        if (th_layer_macs(&w->layers[l]) > th_layer_macs(&w->layers[widest]))
            widest = l;
    int count = th_strategies_list(&w->layers[widest], th_search_batch(s), n, &list);
    for (int32_t d = 0; d < s->problem.system->n_designs; d++) {
        const th_mapping *like = programme_seed_of(t, n, d);
        for (int i = 0; like && !failed && i < count; i++)
            if (list[i].rotate == TH_NO_ROTATION && list[i].split[TH_DIM_C] == 1)
                failed = seed_uniform(s, t, like, &list[i]);
    }
    th_free(list);
    return failed || count < 0 ? th_error_no_memory(err) : 0;
}

/* The baseline's mapping, where it has one. */
static int seed_herald(th_search *s, two_level *t, th_error *err)
{
    th_mapping *m;
    th_error reason = {"", ""};
    if (th_baseline_computation_prioritized(s, &m, &reason) == 0)
        return add_seed(t, m) ? th_error_no_memory(err) : 0;
    return th_plans_is_fatal(&reason) ? th_error_set(err, reason.id, "%s", reason.text) : 0;
}

static int make_seeds(th_search *s, two_level *t, th_error *err)
{
    for (size_t i = 0; i < t->level1.n; i++)
        if (seed_partition(t, &t->level1.partitions[i], err))
            return -1;
    if (seed_herald(s, t, err))
        return -1;
    return t->level1.n > 0 ? seed_uniforms(s, t, err) : 0;
}

static int init(th_search *s, th_error *err)
{
    two_level *t = s->state;
    t->budget = s->options.evaluations > 0 ? s->options.evaluations : DEFAULT_EVALUATIONS;
    t->random = th_random_stream(s->options.seed, "two_level", 0);
    t->seeder = th_seeder_new(th_pool_evaluator(s->pool), err);
    if (!t->random || !t->seeder ||
        th_level1_init(&t->level1, &s->problem, s->options.sets_inside_groups))
        return th_error_no_memory(err);
    if (make_seeds(s, t, err))
        return -1;
    s->first_misfit = *th_seeder_misfit(t->seeder); /* of interest when nothing fits */
    return 0;
}

static void clear(th_search *s)
{
    two_level *t = s->state;
    for (size_t i = t->next_seed; i < t->n_seeds; i++)
        th_mapping_free(t->seeds[i]);
    for (int c = 0; c < t->n; c++)
        for (int i = 0; i < t->table[c].n; i++)
            th_mapping_free(t->table[c].member[i].mapping);
    th_free(t->seeds);
    th_level1_clear(&t->level1);
    th_seeder_free(t->seeder);
    if (t->random)
        gsl_rng_free(t->random);
}

/* --- the table -------------------------------------------------------------------------------- */

static bool same_level1(const th_mapping *a, const th_mapping *b)
{
    if (a->n_sets != b->n_sets ||
        memcmp(a->set_of, b->set_of, (size_t)a->n_layers * sizeof *a->set_of) != 0)
        return false;
    for (int i = 0; i < a->n_sets; i++) {
        const th_set *x = &a->sets[i], *y = &b->sets[i];
        if (x->design != y->design || x->n_accels != y->n_accels ||
            memcmp(x->accels, y->accels, (size_t)x->n_accels * sizeof *x->accels) != 0)
            return false;
    }
    return true;
}

static void free_configuration(configuration *c)
{
    for (int i = 0; i < c->n; i++)
        th_mapping_free(c->member[i].mapping);
    c->n = 0;
}

/* Takes m over (or frees it): into the population, in order, if it is new and good enough. */
static void insert_member(configuration *c, th_mapping *m, th_time fitness)
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
static void insert(two_level *t, th_mapping *m, th_time fitness)
{
    int c = 0;
    if (fitness >= TH_TIME_MAX - 1) {
        th_mapping_free(m);
        return;
    }
    while (c < t->n && !same_level1(t->table[c].member[0].mapping, m))
        c++;
    if (c == CONFIGURATIONS) {
        if (fitness >= t->table[c - 1].member[0].fitness) {
            th_mapping_free(m);
            return;
        }
        free_configuration(&t->table[--c]);
    } else if (c == t->n) {
        t->table[t->n++].n = 0;
    }
    insert_member(&t->table[c], m, fitness);
    move_up(t, c);
}

/* --- offspring -------------------------------------------------------------------------------- */

/* Rank 0 with probability 1/2, rank 1 with 1/4, ... */
static int by_rank(two_level *t, int n)
{
    int rank = 0;
    while (rank < n - 1 && chance(t, 0.5))
        rank++;
    return rank;
}

static void cross(two_level *t, th_mapping *child, const th_mapping *other)
{
    int n = child->n_layers, from = below(t, n), to = from + 1 + below(t, n - from);
    memcpy(child->strategy + from, other->strategy + from,
           (size_t)(to - from) * sizeof *child->strategy);
}

static int random_weighted_layer(two_level *t, const th_workload *w)
{
    int l = below(t, w->n_layers);
    for (int i = 0; i < w->n_layers && !th_layer_has_macs(&w->layers[l]); i++)
        l = (l + 1) % w->n_layers;
    return l;
}

/* A strategy for layer l: from its choices (the quick ones more often), or any that the layer can
 * run. */
static int draw_strategy(two_level *t, th_mapping *m, int l, th_strategy *out, th_error *err)
{
    const th_choices *c = th_seeder_choices(t->seeder, &m->sets[m->set_of[l]], l, err);
    if (!c)
        return -1;
    if (c->n > 0) {
        double u = th_random_unit(t->random);
        *out = c->strategy[(int)(u * u * c->n)];
    }
    return 0;
}

static bool same_shape(const th_search *s, int a, int b)
{
    const th_plans *plans = th_lower_plans(th_evaluator_lower(th_pool_evaluator(s->pool)));
    return th_plans_class(plans, a) == th_plans_class(plans, b);
}

/* One layer, a run of layers, or all layers of a shape get a strategy. */
static int mutate(th_search *s, two_level *t, th_mapping *m, th_error *err)
{
    const th_workload *w = s->problem.workload;
    int l = random_weighted_layer(t, w), kind = below(t, 4), run = kind == 1 ? 1 + below(t, 8) : 1;
    th_strategy drawn = m->strategy[l];
    if (!th_layer_has_macs(&w->layers[l]))
        return 0;
    if (chance(t, 0.25))
        drawn = m->strategy[random_weighted_layer(t, w)];
    else if (draw_strategy(t, m, l, &drawn, err))
        return -1;
    for (int i = 0; i < w->n_layers; i++) {
        bool is_meant = kind >= 2 ? same_shape(s, i, l) : i >= l && i < l + run;
        th_strategy repaired = drawn;
        if (is_meant && th_layer_has_macs(&w->layers[i]) &&
            th_strategy_repair(&repaired, &w->layers[i], th_search_batch(s),
                               m->sets[m->set_of[i]].n_accels))
            m->strategy[i] = repaired;
    }
    return 0;
}

static int level2_offspring(th_search *s, two_level *t, th_mapping **out, th_error *err)
{
    const configuration *c = &t->table[by_rank(t, t->n)];
    const individual *mother = &c->member[by_rank(t, c->n)], *father = &c->member[below(t, c->n)];
    th_mapping *m = th_mapping_copy(mother->mapping);
    if (!m)
        return th_error_no_memory(err);
    if (father != mother && chance(t, 0.4))
        cross(t, m, father->mapping);
    do {
        if (mutate(s, t, m, err)) {
            th_mapping_free(m);
            return -1;
        }
    } while (chance(t, 0.5));
    if (!th_mapping_follow(m, s->problem.workload, th_search_batch(s))) {
        th_mapping_free(m);
        m = NULL;
    }
    *out = m;
    return 0;
}

/* The boundary of two neighbouring ranges moves by a few layers. */
static void move_boundary(two_level *t, th_mapping *m)
{
    if (m->n_layers < 2)
        return;
    int l = 1 + below(t, m->n_layers - 1), by = 1 + below(t, 4);
    while (l < m->n_layers && m->set_of[l] == m->set_of[l - 1])
        l++;
    if (l == m->n_layers)
        return;
    int32_t lower = m->set_of[l - 1], upper = m->set_of[l];
    bool up = chance(t, 0.5);
    for (int i = 0; i < by; i++) {
        if (up && l + i < m->n_layers && m->set_of[l + i] == upper)
            m->set_of[l + i] = lower;
        else if (!up && l - 1 - i >= 0 && m->set_of[l - 1 - i] == lower)
            m->set_of[l - 1 - i] = upper;
    }
}

/* A run of layers, up to where branches meet, goes to another set: how a branch finds accelerators of
 * its own. */
static void move_run(const th_search *s, two_level *t, th_mapping *m)
{
    const th_workload *w = s->problem.workload;
    int l = below(t, m->n_layers), length = 1 + below(t, 8);
    int32_t set = (int32_t)below(t, m->n_sets);
    for (int i = l; i < m->n_layers && i < l + length; i++) {
        if (i > l && (w->layers[i].n_inputs > 1 || w->layers[i].inputs[0] != i - 1))
            break;
        m->set_of[i] = set;
    }
}

static void change_design(th_search *s, two_level *t, th_mapping *m)
{
    th_set *set = &m->sets[below(t, m->n_sets)];
    int32_t d = (int32_t)below(t, s->problem.system->n_designs);
    if (th_set_can_take(s->problem.system, set, d))
        set->design = d;
}

/* New strategies for all sets, since what is best depends on design and range. */
static int reseed(two_level *t, th_mapping *m, double jitter, th_error *err)
{
    for (int set = 0; set < m->n_sets; set++) {
        th_time estimate;
        int failed = th_seeder_run(t->seeder, m, set, jitter, t->random, &estimate, err);
        if (failed)
            return failed;
    }
    return 0;
}

static int another_partition(th_search *s, two_level *t, th_mapping **out, th_error *err)
{
    const th_partition *p = &t->level1.partitions[below(t, (int)t->level1.n)];
    int32_t design[TH_LEVEL1_SETS_MAX];
    for (int32_t i = 0; i < p->n; i++) {
        const th_set_node *node = &t->level1.tree.node[p->node[i]];
        th_set set = {0, node->n, node->accels};
        do
            design[i] = (int32_t)below(t, s->problem.system->n_designs);
        while (!th_set_can_take(s->problem.system, &set, design[i]));
    }
    return th_level1_mapping(&t->level1, t->seeder, p, design, th_random_unit(t->random), t->random,
                             out, err);
}

static int level1_offspring(th_search *s, two_level *t, th_mapping **out, th_error *err)
{
    const configuration *c = &t->table[by_rank(t, t->n)];
    if (c->member[0].mapping->n_sets == 1 || chance(t, 0.3))
        return another_partition(s, t, out, err);
    th_mapping *m = th_mapping_copy(c->member[0].mapping);
    if (!m)
        return th_error_no_memory(err);
    switch (below(t, 3)) {
    case 0:
        move_boundary(t, m);
        break;
    case 1:
        move_run(s, t, m);
        break;
    default:
        change_design(s, t, m);
    }
    int failed = reseed(t, m, chance(t, 0.5) ? 0.3 : 0, err);
    *out = failed ? NULL : m;
    if (failed)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}

/* --- generations ------------------------------------------------------------------------------ */

static int next_mapping(th_search *s, two_level *t, th_mapping **out, th_error *err)
{
    *out = NULL;
    if (t->next_seed < t->n_seeds) {
        *out = t->seeds[t->next_seed++];
        return 0;
    }
    if (t->n == 0 || (t->level1.n > 0 && chance(t, LEVEL1_RATE)))
        return level1_offspring(s, t, out, err);
    return level2_offspring(s, t, out, err);
}

static int fill_batch(th_search *s, two_level *t, th_mapping **batch, int wanted, th_error *err)
{
    int n = 0;
    bool seeding = t->next_seed < t->n_seeds;
    for (int tries = 0; n < wanted && tries < 8 * BATCH; tries++) {
        if (seeding && t->next_seed == t->n_seeds)
            break; /* offspring of seeds come when the seeds have been judged */
        if (next_mapping(s, t, &batch[n], err)) {
            while (n > 0)
                th_mapping_free(batch[--n]);
            return -1;
        }
        n += batch[n] != NULL;
    }
    return n;
}

static th_time bound_of(const th_search *s, const two_level *t)
{
    if (t->n < CONFIGURATIONS || s->best_fitness > TH_TIME_MAX / 2)
        return TH_TIME_MAX;
    return (th_time)((double)s->best_fitness * SLACK);
}

static int iterate(th_search *s, th_error *err)
{
    two_level *t = s->state;
    th_mapping *batch[BATCH] = {NULL};
    th_time fitness[BATCH];
    int64_t left = t->budget - s->n_evaluations;
    if (t->next_seed == t->n_seeds && t->n == 0) {
        s->done = true; /* no seed fits: there is nothing to breed from */
        return 0;
    }
    int n = fill_batch(s, t, batch, left < BATCH ? (int)left : BATCH, err);
    if (n < 0)
        return -1;
    int failed = th_search_evaluate(s, batch, n, bound_of(s, t), fitness, err);
    for (int i = 0; i < n; i++) {
        if (failed)
            th_mapping_free(batch[i]);
        else
            insert(t, batch[i], fitness[i]);
    }
    s->done = s->n_evaluations >= t->budget || n == 0;
    return failed;
}

const th_search_type th_search_two_level = {
    "two_level", "two-level genetic search over sets, designs and layers (1), and strategies (2)",
    false,       sizeof(two_level),
    init,        iterate,
    clear,
};
