/* SPDX-License-Identifier: GPL-3.0-or-later */
/* variation.c - variation operators: random mappings, and new mappings made from old ones.
 * initial_batch.c makes the initial mappings, offspring.c whole batches. */
#include <config.h>

#include "mapper/search/variation/variation.h"

#include <string.h>

#include "base/alloc.h"
#include "mapper/strategies.h"

static const double CHUNK_RATE = 0.4; /* mutations that change chunks and no split */
/* Offspring with another partitioning, where that decides more than splits do. */
static const double DECISIVE_PARTITIONING_RATE = 0.85;
static const double OVERLAPPING_PARTITIONING_RATE = 0.15;
static const double MEMBERS_RATE = 0.5; /* changes of the partitioning that change members alone */
static const double OVER_TIME_RATE = 0.5; /* changes of the partitioning by sets that overlap */
static const double CROSS_RATE = 0.4;     /* offspring that take a run of layers from father */

bool th_variation_chance(th_variation *v, double p)
{
    return th_random_unit(v->random) < p;
}

int th_variation_below(th_variation *v, int n)
{
    return (int)th_random_below(v->random, (uint64_t)n);
}

int th_variation_rank(th_variation *v, int n)
{
    int rank = 0;
    while (rank < n - 1 && th_variation_chance(v, 0.5))
        rank++;
    return rank;
}

int th_variation_init(th_variation *v, th_search *s, const char *stream, th_error *err)
{
    v->search = s;
    v->stream = stream;
    v->random = th_random_stream(s->options.seed, stream, 0);
    v->generator = th_search_initial_generator(s, err);
    if (!v->random)
        return th_error_no_memory(err);
    if (!v->generator || th_partitioner_init(&v->partitioner, v->generator, &s->problem,
                                             s->options.sets_inside_groups, err))
        return -1;
    return th_search_sets_overlap(s) && th_partitioner_add_branches(&v->partitioner)
               ? th_error_no_memory(err)
               : 0;
}

void th_variation_clear(th_variation *v)
{
    th_free(v->cursor.splits);
    th_mapping_free(v->cursor.like);
    th_partitioner_clear(&v->partitioner);
    if (v->random)
        gsl_rng_free(v->random);
}

/* --- strategies --- */

static void cross(th_variation *v, th_mapping *child, const th_mapping *other)
{
    int n = child->n_layers, from = th_variation_below(v, n),
        to = from + 1 + th_variation_below(v, n - from);
    th_mapping_take_strategies(child, other, from, to);
}

/* One that follows no other. */
static int random_free_layer(th_variation *v, const th_mapping *m)
{
    const th_workload *w = v->search->problem.workload;
    int l = th_variation_below(v, w->n_layers);
    for (int i = 0; i < w->n_layers && !th_mapping_is_free(m, w, l); i++)
        l = (l + 1) % w->n_layers;
    return l;
}

/* A strategy for layer l: from its choices (the fast ones more often), or any that the layer can
 * run. */
static int draw_strategy(th_variation *v, th_mapping *m, int l, th_strategy *out, th_error *err)
{
    const th_choices *c = th_initial_choices(v->generator, &m->sets[m->set_of[l]], l, err);
    if (!c)
        return -1;
    if (c->n > 0) {
        double u = th_random_unit(v->random);
        *out = c->strategy[(int)(u * u * c->n)];
    }
    return 0;
}

void th_variation_draw_chunks(th_variation *v, th_strategy *s)
{
    static const th_dim dims[] = {TH_DIM_H, TH_DIM_W, TH_DIM_K, TH_DIM_B};
    const bool had_some = s->chunks > 0;
    const int chunks = 1 + th_variation_rank(v, v->search->options.chunks);
    const th_dim d = dims[th_variation_rank(v, sizeof dims / sizeof *dims)];
    s->rotate = TH_NO_ROTATION;
    th_strategy_set_chunks(s, chunks == 1 && !had_some ? 2 : chunks, (int32_t)d);
}

static bool same_shape(const th_variation *v, int one, int other)
{
    const th_plans *plans = th_lower_plans(th_evaluator_lower(th_pool_evaluator(v->search->pool)));
    return th_plans_shape_class(plans, one) == th_plans_shape_class(plans, other);
}

/* One layer, a run of layers, or all layers of a shape get a strategy, or other chunks. */
static int mutate(th_variation *v, th_mapping *m, th_error *err)
{
    const th_workload *w = v->search->problem.workload;
    int l = random_free_layer(v, m), kind = th_variation_below(v, 4),
        run = kind == 1 ? 1 + th_variation_below(v, 8) : 1;
    th_strategy drawn = m->strategy[l];
    if (v->search->options.chunks > 1 && th_variation_chance(v, CHUNK_RATE))
        th_variation_draw_chunks(v, &drawn);
    else if (th_variation_chance(v, 0.25))
        drawn = m->strategy[random_free_layer(v, m)];
    else if (draw_strategy(v, m, l, &drawn, err))
        return -1;
    else
        th_strategy_take_chunks(&drawn, &m->strategy[l]);
    for (int i = 0; i < w->n_layers; i++) {
        bool is_meant = kind >= 2 ? same_shape(v, i, l) : i >= l && i < l + run;
        th_strategy repaired = drawn;
        if (is_meant && th_mapping_is_free(m, w, i) &&
            th_strategy_repair(&repaired, &w->layers[i], th_search_batch(v->search),
                               m->sets[m->set_of[i]].n_accels))
            m->strategy[i] = repaired;
    }
    return 0;
}

int th_variation_sharding(th_variation *v, const th_mapping *mother, const th_mapping *father,
                          th_mapping **out, th_error *err)
{
    th_mapping *m = th_mapping_copy(mother);
    if (!m)
        return th_error_no_memory(err);
    m->generator = TH_GENERATOR_MUTATION;
    if (father && th_variation_chance(v, CROSS_RATE)) {
        cross(v, m, father);
        m->generator = TH_GENERATOR_CROSSOVER;
    }
    do {
        if (mutate(v, m, err)) {
            th_mapping_free(m);
            return -1;
        }
    } while (th_variation_chance(v, 0.5));
    if (!th_mapping_follow(m, v->search->problem.workload, th_search_batch(v->search))) {
        th_mapping_free(m);
        m = NULL;
    }
    *out = m;
    return 0;
}

/* --- constraints --- */

/* Applies the partial mapping; frees a mapping that violates a constraint. */
static int drop_disallowed(const th_variation *v, th_mapping **m, th_error *err)
{
    const th_problem *p = &v->search->problem;
    if (!*m || !p->constraints)
        return 0;
    if (th_search_apply_constraints(v->search, *m, err))
        return -1;
    if (th_constraints_check(p->constraints, *m, p->system, p->workload, NULL)) {
        th_mapping_free(*m);
        *m = NULL;
    }
    return 0;
}

/* --- sets, designs and ranges --- */

double th_variation_partitioning_rate(const th_variation *v, const th_mapping *mother,
                                      double one_kind_rate)
{
    bool is_decisive = true;
    for (int i = 0; i < mother->n_sets; i++)
        is_decisive &= mother->sets[i].n_accels == 1;
    is_decisive |= th_partitioner_has_several_kinds(&v->partitioner);
    if (!is_decisive && th_mapping_sets_overlap(mother))
        return OVERLAPPING_PARTITIONING_RATE;
    return is_decisive ? DECISIVE_PARTITIONING_RATE : one_kind_rate;
}

/* The boundary of two neighbouring ranges moves by a few layers. */
static void move_boundary(th_variation *v, th_mapping *m)
{
    if (m->n_layers < 2)
        return;
    int l = 1 + th_variation_below(v, m->n_layers - 1), by = 1 + th_variation_below(v, 4);
    while (l < m->n_layers && m->set_of[l] == m->set_of[l - 1])
        l++;
    if (l == m->n_layers)
        return;
    int32_t lower = m->set_of[l - 1], upper = m->set_of[l];
    bool up = th_variation_chance(v, 0.5);
    for (int i = 0; i < by; i++) {
        if (up && l + i < m->n_layers && m->set_of[l + i] == upper)
            m->set_of[l + i] = lower;
        else if (!up && l - 1 - i >= 0 && m->set_of[l - 1 - i] == lower)
            m->set_of[l - 1 - i] = upper;
    }
}

/* A run of layers, up to where branches meet, goes to another set: how a branch finds accelerators
 * of its own. */
static void move_run(th_variation *v, th_mapping *m)
{
    const th_workload *w = v->search->problem.workload;
    int l = th_variation_below(v, m->n_layers), length = 1 + th_variation_below(v, 8);
    int32_t set = (int32_t)th_variation_below(v, m->n_sets);
    for (int i = l; i < m->n_layers && i < l + length; i++) {
        if (i > l && (w->layers[i].n_inputs > 1 || w->layers[i].inputs[0] != i - 1))
            break;
        m->set_of[i] = set;
    }
}

/* Two layers of different sets change places, which keeps the loads of both nearly as they are. */
static void exchange_layers(th_variation *v, th_mapping *m)
{
    int a = th_variation_below(v, m->n_layers), b = th_variation_below(v, m->n_layers);
    int32_t set = m->set_of[a];
    for (int i = 0; i < m->n_layers && m->set_of[b] == set; i++)
        b = (b + 1) % m->n_layers;
    m->set_of[a] = m->set_of[b];
    m->set_of[b] = set;
}

/* 0, or 1: a set that shares accelerators cannot take it. */
static int change_design(th_variation *v, th_mapping *m)
{
    const th_system *s = v->search->problem.system;
    int32_t set = (int32_t)th_variation_below(v, m->n_sets),
            d = (int32_t)th_variation_below(v, s->n_designs);
    if (!th_set_supports_design(s, &m->sets[set], d))
        return 0;
    m->sets[set].design = d;
    return !th_mapping_spread_design(m, s, set);
}

int th_variation_reoptimise(th_variation *v, th_mapping *m, int set, double jitter, th_error *err)
{
    th_time estimate;
    int failed = th_partitioner_set_shares(&v->partitioner, m, set, err);
    return failed ? failed
                  : th_initial_solve(v->generator, m, set, (th_jitter){jitter, v->random},
                                     &estimate, err);
}

/* New strategies for all sets, since the best ones depend on designs and ranges. */
static int reoptimise_all(th_variation *v, th_mapping *m, double jitter, th_error *err)
{
    int failed = 0;
    for (int set = 0; !failed && set < m->n_sets; set++)
        failed = th_variation_reoptimise(v, m, set, jitter, err);
    return failed;
}

/* Dynamic programming knows nothing of chunks. */
int th_variation_take_chunks(th_variation *v, th_mapping *m, const th_mapping *from)
{
    const th_workload *w = v->search->problem.workload;
    for (int l = 0; l < m->n_layers; l++) {
        th_strategy s = m->strategy[l];
        th_strategy_take_chunks(&s, &from->strategy[l]);
        if (th_strategy_fits(&s, &w->layers[l], th_search_batch(v->search),
                             m->sets[m->set_of[l]].n_accels))
            m->strategy[l] = s;
    }
    return th_mapping_follow(m, w, th_search_batch(v->search)) ? 0 : 1;
}

/* Mother's strategies everywhere but in a run of layers. */
static void keep_all_but_a_run(th_variation *v, th_mapping *m, const th_mapping *mother)
{
    int n = m->n_layers, from = th_variation_below(v, n),
        to = from + 1 + th_variation_below(v, n - from);
    th_mapping_take_strategies(m, mother, 0, from);
    th_mapping_take_strategies(m, mother, to, n);
}

int th_variation_perturbed(th_variation *v, const th_mapping *mother, th_mapping **out,
                           th_error *err)
{
    const double WHOLE_RATE = 0.5;
    th_mapping *m = th_mapping_copy(mother);
    if (!m)
        return th_error_no_memory(err);
    m->generator = TH_GENERATOR_PERTURBED;
    int failed = reoptimise_all(v, m, th_random_unit(v->random), err);
    if (!failed)
        failed = th_variation_take_chunks(v, m, mother);
    if (!failed && !th_variation_chance(v, WHOLE_RATE)) {
        keep_all_but_a_run(v, m, mother);
        failed = !th_mapping_follow(m, v->search->problem.workload, th_search_batch(v->search));
    }
    *out = failed ? NULL : m;
    if (failed)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}

/* NULL on failure. */
static const th_partition *draw_partition(th_variation *v, int32_t *design, th_error *err)
{
    th_design_vectors designs;
    const th_partition *p =
        &v->partitioner.partitions[th_variation_below(v, (int)v->partitioner.n)];
    if (th_design_vectors_init(&designs, &v->partitioner, p, err))
        return NULL;
    th_design_vectors_draw(&designs, v->random, design);
    return p;
}

static int another_partition(th_variation *v, th_mapping **out, th_error *err)
{
    int32_t design[TH_PARTITION_SETS_MAX];
    const th_partition *p = draw_partition(v, design, err);
    if (!p || th_partitioner_mapping(&v->partitioner, p, design,
                                     (th_jitter){th_random_unit(v->random), v->random}, out, err))
        return -1;
    if (*out)
        (*out)->generator = TH_GENERATOR_PARTITIONING;
    return 0;
}

int th_variation_partitioning(th_variation *v, const th_mapping *mother, th_mapping **out,
                              th_error *err)
{
    if (th_search_sets_overlap(v->search) && th_variation_chance(v, OVER_TIME_RATE))
        return th_variation_over_time(v, mother, out, err);
    if (th_variation_has_members(v, mother) && th_variation_chance(v, MEMBERS_RATE))
        return th_variation_members(v, mother, out, err);
    if (mother->n_sets == 1 || th_variation_chance(v, 0.3))
        return another_partition(v, out, err);
    th_mapping *m = th_mapping_copy(mother);
    if (!m)
        return th_error_no_memory(err);
    m->generator = TH_GENERATOR_PARTITIONING;
    int failed = 0;
    switch (th_variation_below(v, 4)) {
    case 0:
        move_boundary(v, m);
        break;
    case 1:
        move_run(v, m);
        break;
    case 2:
        exchange_layers(v, m);
        break;
    default:
        failed = change_design(v, m);
    }
    if (!failed)
        failed = drop_disallowed(v, &m, err);
    if (!failed && m)
        failed = reoptimise_all(v, m, th_variation_chance(v, 0.5) ? 0.3 : 0, err);
    *out = failed ? NULL : m;
    if (failed)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}

/* --- at random --- */

static int randomize(th_variation *v, th_mapping *m, th_error *err)
{
    const th_workload *w = v->search->problem.workload;
    for (int l = 0; l < w->n_layers; l++) {
        th_strategy *list = NULL;
        if (!th_mapping_is_free(m, w, l))
            continue;
        int n = th_strategies_list_copied(&w->layers[l], th_search_batch(v->search),
                                          m->sets[m->set_of[l]].n_accels, false, &list);
        if (n > 0)
            m->strategy[l] = list[th_random_below(v->random, (uint64_t)n)];
        th_free(list);
        if (n < 0)
            return th_error_no_memory(err);
    }
    return th_mapping_follow(m, w, th_search_batch(v->search)) ? 0 : 1;
}

int th_variation_random(th_variation *v, bool by_dynamic_programming, th_mapping **out,
                        th_error *err)
{
    int32_t design[TH_PARTITION_SETS_MAX];
    *out = NULL;
    if (v->partitioner.n == 0)
        return 0;
    const th_partition *p = draw_partition(v, design, err);
    if (!p ||
        th_partitioner_mapping(&v->partitioner, p, design, (th_jitter){1.0, v->random}, out, err))
        return -1;
    if (*out)
        (*out)->generator = TH_GENERATOR_RANDOM;
    if (!*out || by_dynamic_programming)
        return 0;
    int failed = randomize(v, *out, err);
    if (failed) {
        th_mapping_free(*out);
        *out = NULL;
    }
    return failed < 0 ? -1 : 0;
}
