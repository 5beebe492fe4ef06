/* SPDX-License-Identifier: GPL-3.0-or-later */
/* initial_batch.c - the initial mappings of searches, made on demand.
 *   th_variation_initial*, then offspring (offspring.c): th_variation_next_batch does either
 * The first is options.start. Heuristic initial mappings follow in this order: dynamic programming
 * (initial_mapping.h) on candidate partitions, exact and perturbed; the mapping of
 * computation_prioritized; uniform splits. Those of dynamic programming, which take long, are made
 * as an offspring batch. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "base/min_max.h"
#include "mapper/search/variation/variation.h"
#include "mapper/search/searches.h"
#include "mapper/strategies.h"

enum {
    DESIGN_VECTORS = 12,       /* of designs, per partition */
    DESIGN_VECTORS_ALONE = 96, /* the same when dynamic programming is all there is */
    RANDOM_MAPPINGS = 96,
    TRIES_PER_RANDOM_MAPPING = 64
};
static const double JITTERS[] = {
    0, 0.3}; /* perturbation of dynamic programming's estimates, per initial mapping */
enum { N_JITTERS = sizeof JITTERS / sizeof *JITTERS };

bool th_variation_has_initial(const th_variation *v)
{
    return v->cursor.stage != TH_STAGE_END;
}

static int user_start(th_variation *v, th_mapping **out, th_error *err)
{
    const th_search_options *o = &v->search->options;
    v->cursor.stage =
        o->initial == TH_INITIAL_HEURISTIC ? TH_STAGE_DYNAMIC_PROGRAMMING : TH_STAGE_RANDOM;
    *out = o->start ? th_mapping_copy(o->start) : NULL;
    if (*out)
        (*out)->generator = TH_GENERATOR_GIVEN;
    return o->start && !*out ? th_error_no_memory(err) : 0;
}

/* --- dynamic programming on candidate partitions --- */

/* All partitions have been tried. */
static void next_round(th_initial_cursor *c)
{
    c->partition = 0;
    if (c->others)
        c->stage = c->dynamic_programming_only ? TH_STAGE_END : TH_STAGE_COMPUTATION_PRIORITIZED;
    c->others = true;
}

/* Sets and designs on which dynamic programming is run. */
typedef struct {
    const th_partition *partition;
    int32_t design[TH_PARTITION_SETS_MAX];
    double jitter;
    th_time enough; /* th_jitter's */
    int chunks;
} order;

/* Inside a portfolio that has a mapping on a large system, dynamic programming is for those whose
 * estimate is not far above its latency: there it takes longer than all the rest. 0: no limit. */
static th_time worth_solving(const th_variation *v)
{
    const double FAR = 1.3;
    const th_search *portfolio = v->search->parent;
    const th_goal *goal = &v->search->problem.goal;
    if (!portfolio || !portfolio->best || !v->cursor.dynamic_programming_only ||
        !th_search_is_large(portfolio) || goal->objective != TH_OBJECTIVE_LATENCY ||
        goal->n_front > 0 || portfolio->best_fitness.metrics.lateness_ps > 0)
        return 0;
    return (th_time)(FAR * (double)portfolio->best_fitness.metrics.latency_ps);
}

/* Every partition with its fastest designs first, so that a small budget has seen them all; then
 * with the others. 1; 0: none this time; or -1. */
static int next_order(th_variation *v, order *out, th_error *err)
{
    th_initial_cursor *c = &v->cursor;
    if (c->partition == v->partitioner.n) {
        next_round(c);
        return 0;
    }
    const th_partition *p = &v->partitioner.partitions[c->partition];
    if (p->n == 1 && v->partitioner.tree.node[p->node[0]].n <= c->too_few) {
        c->partition++;
        return 0;
    }
    int limit = !c->others                    ? 1
                : c->dynamic_programming_only ? DESIGN_VECTORS_ALONE
                                              : DESIGN_VECTORS;
    if (c->vector == 0 && th_design_vectors_init(&c->designs, &v->partitioner, p, err))
        return -1;
    if (c->vector == 0 && c->others)
        c->vector += th_design_vectors_next(&c->designs, c->design);
    if (c->jitter == 0 &&
        (c->vector++ == limit || !th_design_vectors_next(&c->designs, c->design))) {
        c->partition++;
        c->vector = 0;
        return 0;
    }
    out->partition = p;
    out->jitter = JITTERS[c->jitter];
    out->enough = worth_solving(v);
    /* chunks take long: with the fastest designs alone; other searches of a portfolio begin with
     * what dp found */
    const bool is_worth_chunks = c->jitter == 0 && !c->others && !th_search_is_large(v->search) &&
                                 (c->dynamic_programming_only || !v->search->parent);
    out->chunks = is_worth_chunks ? v->search->options.chunks : 1;
    memcpy(out->design, c->design, sizeof out->design);
    c->jitter = c->dynamic_programming_only ? 0 : (c->jitter + 1) % N_JITTERS;
    return 1;
}

static int by_order(th_variation *v, void *orders, int i, th_mapping **out, th_error *err)
{
    const order *o = (const order *)orders + i;
    return th_partitioner_mapping(&v->partitioner, o->partition, o->design,
                                  (th_jitter){o->jitter, v->random, o->enough, o->chunks}, out,
                                  err);
}

/* Its single set takes too long, unless it cannot run the layers at all: what the set of the best
 * mapping can do, smaller ones can. Of all accelerators something else may be wrong. */
static void note_too_few(th_variation *v, const th_partition *p)
{
    const int32_t n = v->partitioner.tree.node[p->node[0]].n;
    if (p->n == 1 && n < v->partitioner.tree.node[0].n &&
        n <= v->search->parent->best->sets[0].n_accels &&
        !th_partitioner_has_several_kinds(&v->partitioner))
        v->cursor.too_few = th_max(v->cursor.too_few, n);
}

/* As many as are wanted, or as there are; some may be NULL. Their number, or -1. */
static int by_dynamic_programming(th_variation *v, th_mapping **batch, int wanted, th_error *err)
{
    th_initial_cursor *c = &v->cursor;
    order *orders = th_alloc_zero((size_t)wanted, sizeof *orders);
    int n = 0, got = orders ? 0 : th_error_no_memory(err);
    while (got >= 0 && n < wanted && c->stage == TH_STAGE_DYNAMIC_PROGRAMMING) {
        got = next_order(v, &orders[n], err);
        n += got > 0;
    }
    /* A stream of random numbers for initial mappings alone, so that searches of one seed have the
     * same ones. The name of the stream is part of every result. */
    th_offspring_numbers numbers = {"seeds", c->n_jobs};
    c->n_jobs += (uint64_t)n;
    if (got >= 0)
        got = th_variation_make_batch(v, &(th_offspring){by_order, orders, 1}, &numbers, n, batch,
                                      err);
    for (int i = 0; got >= 0 && i < n; i++)
        if (orders[i].enough > 0 && !batch[i])
            note_too_few(v, orders[i].partition);
    th_free(orders);
    return got < 0 ? -1 : n;
}

/* --- the others --- */

/* The baseline's mapping, where it has one. */
static int by_computation(th_variation *v, th_mapping **out, th_error *err)
{
    th_error reason = {"", ""};
    v->cursor.stage = v->partitioner.n > 0 ? TH_STAGE_UNIFORM : TH_STAGE_END;
    if (th_baseline_computation_prioritized(v->search, out, &reason) == 0)
        return 0;
    *out = NULL;
    return th_plans_is_fatal(&reason) ? th_error_set(err, reason.id, "%s", reason.text) : 0;
}

/* Splits that the layer with most work can have, without rotation and partial sums. */
static int list_splits(th_variation *v, int32_t n_accels, th_error *err)
{
    const th_workload *w = v->search->problem.workload;
    th_initial_cursor *c = &v->cursor;
    int widest = 0, kept = 0;
    for (int l = 1; l < w->n_layers; l++)
        if (th_layer_macs(&w->layers[l]) > th_layer_macs(&w->layers[widest]))
            widest = l;
    int n =
        th_strategies_list(&w->layers[widest], th_search_batch(v->search), n_accels, &c->splits);
    for (int i = 0; i < n; i++)
        if (c->splits[i].rotate == TH_NO_ROTATION && c->splits[i].split[TH_DIM_C] == 1)
            c->splits[kept++] = c->splits[i];
    c->n_splits = kept;
    return n < 0 ? th_error_no_memory(err) : 0;
}

/* One split for all layers (the nearest where it does not fit) of a mapping with one set. *out
 * NULL: some layer cannot have any. */
static int uniform_mapping(const th_variation *v, const th_mapping *like, const th_strategy *split,
                           th_mapping **out, th_error *err)
{
    const th_workload *w = v->search->problem.workload;
    th_mapping *m = th_mapping_copy(like);
    bool fits = true;
    if (!m)
        return th_error_no_memory(err);
    for (int l = 0; fits && l < w->n_layers; l++) {
        m->strategy[l] = *split;
        if (th_layer_has_macs(&w->layers[l]))
            fits = th_strategy_repair(&m->strategy[l], &w->layers[l], th_search_batch(v->search),
                                      m->sets[m->set_of[l]].n_accels);
    }
    if (fits && th_mapping_follow(m, w, th_search_batch(v->search))) {
        m->generator = TH_GENERATOR_UNIFORM;
        *out = m;
        return 0;
    }
    th_mapping_free(m);
    return 0;
}

/* Uniform splits on the largest set alone, with every design. Where a partial mapping gives sets,
 * there is none that is alone. */
static int uniform(th_variation *v, th_mapping **out, th_error *err)
{
    th_initial_cursor *c = &v->cursor;
    const th_partition *p = &v->partitioner.partitions[0];
    if (p->n > 1 || c->uniform_design == v->search->problem.system->n_designs) {
        c->stage = TH_STAGE_END;
        return 0;
    }
    if (!c->splits && list_splits(v, v->partitioner.tree.node[p->node[0]].n, err))
        return -1;
    const th_set_node *node = &v->partitioner.tree.node[p->node[0]];
    const th_set set = {c->uniform_design, node->n, node->accels, NULL};
    if (c->split == 0 && th_set_supports_design(v->search->problem.system, &set, set.design) &&
        th_partitioner_mapping(&v->partitioner, p, &set.design, (th_jitter){0, v->random}, &c->like,
                               err))
        return -1;
    if (c->like && c->split < c->n_splits)
        return uniform_mapping(v, c->like, &c->splits[c->split++], out, err);
    th_mapping_free(c->like);
    c->like = NULL;
    c->split = 0;
    c->uniform_design++;
    return 0;
}

static int at_random(th_variation *v, th_mapping **out, th_error *err)
{
    th_initial_cursor *c = &v->cursor;
    if (c->n_drawn == RANDOM_MAPPINGS || c->tries++ == TRIES_PER_RANDOM_MAPPING * RANDOM_MAPPINGS) {
        c->stage = TH_STAGE_END;
        return 0;
    }
    int failed = th_variation_random(v, false, out, err);
    c->n_drawn += !failed && *out;
    return failed;
}

/* Finds why dynamic programming cannot place some layer, with a new generator and partitioner, so
 * that the reason does not depend on earlier calls by other threads. *why stays where every layer
 * can be placed. 0 or -1. */
static int find_infeasibility(th_variation *v, th_error *why, th_error *err)
{
    th_initial_generator *generator = th_initial_new(th_pool_evaluator(v->search->pool), err);
    th_partitioner fresh = {0};
    th_design_vectors designs;
    int32_t design[TH_PARTITION_SETS_MAX];
    th_mapping *made = NULL;
    if (!generator)
        return -1;
    int failed = th_partitioner_init(&fresh, generator, &v->search->problem,
                                     v->search->options.sets_inside_groups, err);
    if (!failed && fresh.n > 0) {
        failed = th_design_vectors_init(&designs, &fresh, &fresh.partitions[0], err);
        if (!failed && th_design_vectors_next(&designs, design))
            failed = th_partitioner_mapping(&fresh, &fresh.partitions[0], design,
                                            (th_jitter){0, v->random}, &made, err);
    }
    if (!failed && th_initial_infeasibility(generator)->id[0])
        *why = *th_initial_infeasibility(generator);
    th_mapping_free(made);
    th_partitioner_clear(&fresh);
    th_initial_free(generator);
    return failed;
}

/* Recorded for the case that no mapping is ever made. 0 or -1. */
static int note_infeasibility(th_variation *v, th_error *err)
{
    th_error why = v->partitioner.infeasibility;
    if (v->search->n_evaluations > 0)
        return 0;
    if (!why.id[0] && find_infeasibility(v, &why, err))
        return -1;
    for (th_search *s = v->search; s; s = s->parent)
        if (s->n_evaluations == 0 && !s->first_infeasibility.text[0])
            s->first_infeasibility = why;
    return 0;
}

/* The next one that is not dynamic programming's; *out NULL: none this time. */
static int next_single(th_variation *v, th_mapping **out, th_error *err)
{
    static int (*const make[])(th_variation *, th_mapping **, th_error *) = {
        [TH_STAGE_START] = user_start,
        [TH_STAGE_COMPUTATION_PRIORITIZED] = by_computation,
        [TH_STAGE_UNIFORM] = uniform,
        [TH_STAGE_RANDOM] = at_random,
    };
    *out = NULL;
    return make[v->cursor.stage](v, out, err) ? -1 : 1;
}

int th_variation_initial(th_variation *v, th_mapping **batch, int wanted, th_error *err)
{
    int n = 0, got = 0;
    while (got >= 0 && n < wanted && th_variation_has_initial(v)) {
        got = v->cursor.stage == TH_STAGE_DYNAMIC_PROGRAMMING
                  ? by_dynamic_programming(v, &batch[n], wanted - n, err)
                  : next_single(v, &batch[n], err);
        if (got > 0)
            n += th_mappings_compact(&batch[n], got);
        if (got >= 0 && n == 0 && !th_variation_has_initial(v) && note_infeasibility(v, err))
            got = -1;
    }
    while (got < 0 && n > 0)
        th_mapping_free(batch[--n]);
    return got < 0 ? -1 : n;
}

int th_variation_next_batch(th_variation *v, const th_offspring *how, th_mapping **batch, int size,
                            th_error *err)
{
    if (th_variation_has_initial(v))
        return th_variation_initial(v, batch, th_search_left(v->search, size), err);
    if (th_variation_offspring(v, how, size, batch, err))
        return -1;
    return th_variation_cut_to_budget(v, batch, th_mappings_compact(batch, size));
}
