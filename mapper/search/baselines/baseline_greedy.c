/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline_greedy.c - greedy: all accelerators are one set; in topological order each layer takes
 * the exclusive shards with the least transfer + compute + reduction, given the layers before it.
 * greedy_rotating: the same, including strategies that rotate. model_parallel: the same as greedy,
 * but a layer splits one of its dimensions K C H W, never the images.
 *   init, per design: its accelerators -> per order of them: walk the layers -> a candidate;
 *     where a layer cannot be shared by all of them, by half of them
 *
 * Times are the estimates of plan.h: compute and reduction of the slowest position alone, and the
 * busiest medium of each transfer. Later layers and memory are ignored; the best design and order
 * of members are those of the best simulation. */
#include <config.h>

#include "base/alloc.h"
#include "mapper/search/baselines/baseline.h"
#include "mapper/search/searches.h"
#include "mapper/search/partition/sets.h"
#include "mapper/strategies.h"

typedef enum { EXCLUSIVE, ROTATING, ONE_DIMENSION } allowed;

/* The allowed strategies of a layer by ascending time, as far as they were asked for. */
typedef struct {
    th_timed_strategy *timed;
    int n;
    size_t capacity;
    th_strategy_ranking *ranking; /* of those that follow; NULL: none do */
} strategies;

typedef struct {
    th_search *search;
    th_initial_generator *generator;
    th_plans *plans;
    th_mapping *mapping;
    th_placed *placed; /* per layer, once it has its strategy */
    strategies *lists; /* per layer: of the first layer of each shape */
    allowed what;
} walk;

/* --- what a layer may take --- */

static int dimensions_split(const th_strategy *s)
{
    int n = 0;
    for (int d = 0; d < TH_N_DIMS; d++)
        n += s->split[d] > 1;
    return n;
}

/* The preference among strategies: the least of a list is taken, and none below 0. */
static int rank_of(const walk *k, const th_strategy *s)
{
    if (k->what == ROTATING)
        return 0;
    if (s->rotate != TH_NO_ROTATION || (k->what == ONE_DIMENSION && s->split[TH_DIM_B] > 1))
        return -1;
    return k->what == ONE_DIMENSION ? dimensions_split(s) : 0;
}

/* Of model parallelism: strategies of several dimensions only where there are none of one. */
static int keep_allowed(const walk *k, th_timed_strategy *all, int n)
{
    int least = TH_N_DIMS, kept = 0;
    for (int i = 0; i < n; i++) {
        int rank = rank_of(k, &all[i].strategy);
        if (rank >= 0 && rank < least)
            least = rank;
    }
    for (int i = 0; i < n; i++)
        if (rank_of(k, &all[i].strategy) == least)
            all[kept++] = all[i];
    return kept;
}

/* Model parallelism needs all of them to tell which to allow. 0 or -1. */
static int list_one_dimension(walk *k, int layer, strategies *list, th_error *err)
{
    int n =
        th_initial_timed_strategies(k->generator, &k->mapping->sets[0], layer, &list->timed, err);
    if (n < 0)
        return -1;
    list->n = keep_allowed(k, list->timed, n);
    return 0;
}

/* Layers of one shape share their list. NULL: error. */
static strategies *list_of(walk *k, int layer, th_error *err)
{
    int same = 0;
    while (th_plans_shape_class(k->plans, same) != th_plans_shape_class(k->plans, layer))
        same++;
    strategies *list = &k->lists[same];
    if (list->timed || list->ranking)
        return list;
    if (k->what == ONE_DIMENSION)
        return list_one_dimension(k, layer, list, err) ? NULL : list;
    list->ranking =
        th_initial_rank(k->generator, &k->mapping->sets[0], layer, k->what == ROTATING, err);
    return list->ranking ? list : NULL;
}

/* The i-th of a list, timed if it is asked for the first time. 1; 0: there are fewer; -1: error. */
static int get(strategies *list, int i, th_timed_strategy *out, th_error *err)
{
    if (i == list->n && list->ranking) {
        size_t n = (size_t)list->n;
        if (th_grow(&list->timed, &list->capacity, n + 1, sizeof *list->timed))
            return th_error_no_memory(err);
        int status = th_ranking_next(list->ranking, &list->timed[n], err);
        if (status <= 0)
            return status;
        list->n++;
    }
    if (i == list->n)
        return 0;
    *out = list->timed[i];
    return 1;
}

/* --- the walk --- */

/* The transfer time of a layer's inputs; above `enough` maybe a lower bound that is above it. -1:
 * out of memory. */
static th_time transfer_time(walk *k, int layer, th_placed *at, th_time enough, th_error *err)
{
    const th_layer *l = &k->search->problem.workload->layers[layer];
    th_time sum = 0;
    for (int i = 0; i < l->n_inputs && sum <= enough; i++) {
        at->input = i;
        const th_placed *from = l->inputs[i] >= 0 ? &k->placed[l->inputs[i]] : NULL;
        th_time time = th_plans_transition_time(k->plans, from, at, th_search_batch(k->search),
                                                enough - sum, err);
        if (time < 0)
            return -1;
        sum += time;
    }
    return sum;
}

/* In ascending order of time alone, so the loop ends when that alone exceeds the least. 0; 1:
 * there is no strategy; -1. */
static int take_least(walk *k, int layer, th_error *err)
{
    th_time least = TH_TIME_MAX;
    th_timed_strategy next;
    int status = 0;
    strategies *list = list_of(k, layer, err);
    for (int i = 0; list && (status = get(list, i, &next, err)) > 0 && next.time < least; i++) {
        th_placed at;
        if (th_plans_place(k->plans, layer, &k->mapping->sets[0], &next.strategy, &at, err))
            return -1;
        th_time transfer = transfer_time(k, layer, &at, least - next.time, err);
        if (transfer < 0)
            return -1;
        if (next.time + transfer < least) {
            least = next.time + transfer;
            k->mapping->strategy[layer] = next.strategy;
        }
    }
    return !list || status < 0 ? -1 : least == TH_TIME_MAX;
}

static int assign_layers(walk *k, th_error *err)
{
    const th_workload *w = k->search->problem.workload;
    for (int l = 0; l < w->n_layers; l++) {
        th_plans_trim(k->plans, TH_PLANS_LIMIT);
        int failed = th_layer_has_macs(&w->layers[l])
                         ? take_least(k, l, err)
                         : !th_mapping_follow_one(k->mapping, w, th_search_batch(k->search), l);
        if (failed)
            return failed;
        if (th_plans_place(k->plans, l, &k->mapping->sets[0], &k->mapping->strategy[l],
                           &k->placed[l], err))
            return -1;
    }
    return 0;
}

/* 0, 1 (a layer cannot be shared by all members) or -1. */
static int add_greedy(th_search *s, th_initial_generator *generator, th_mapping *m, allowed what,
                      th_error *err)
{
    size_t n = (size_t)s->problem.workload->n_layers;
    walk k = {.search = s, .generator = generator, .mapping = m, .what = what};
    k.plans = th_lower_plans(th_evaluator_lower(th_pool_evaluator(s->pool)));
    k.placed = th_alloc_zero(n, sizeof *k.placed);
    k.lists = th_alloc_zero(n, sizeof *k.lists);
    int failed = m && k.placed && k.lists ? assign_layers(&k, err) : th_error_no_memory(err);
    for (size_t l = 0; k.lists && l < n; l++) {
        th_free(k.lists[l].timed);
        th_ranking_free(k.lists[l].ranking);
    }
    th_free(k.placed);
    th_free(k.lists);
    if (!failed)
        return th_candidates_add(s, m, err);
    th_mapping_free(m);
    return failed;
}

/* --- the searches --- */

typedef struct {
    th_search *search;
    th_initial_generator *generator;
    allowed what;
} greedy;

/* Adds a candidate for every order of the members. 0; 1: a layer cannot be shared by all members;
 * or -1. */
static int add_orders(const greedy *k, int32_t design, const int32_t *accels, int32_t n,
                      th_error *err)
{
    int32_t *orders, n_orders = th_set_orders(k->search->problem.system, accels, n, &orders);
    int failed = n_orders < 0 ? th_error_no_memory(err) : 1;
    for (int32_t i = 0; i < n_orders && failed >= 0; i++) {
        th_mapping *m = th_baseline_mapping(k->search, design, orders + (size_t)i * (size_t)n, n);
        int walked = add_greedy(k->search, k->generator, m, k->what, err);
        failed = walked < failed ? walked : failed;
    }
    th_free(orders);
    return failed;
}

static int add_designs(const greedy *k, th_error *err)
{
    const th_system *system = k->search->problem.system;
    int32_t in_group, *accels = th_alloc_zero((size_t)system->n_accels + 1, sizeof *accels);
    int failed = accels ? 0 : th_error_no_memory(err);
    for (int32_t d = 0; failed >= 0 && d < system->n_designs; d++) {
        int32_t n = th_baseline_members(k->search, d, accels, &in_group);
        for (failed = 1; failed > 0 && n > 0; n /= 2)
            failed = add_orders(k, d, accels, n, err);
    }
    th_free(accels);
    return failed < 0 ? -1 : 0;
}

static int init(th_search *s, allowed what, th_error *err)
{
    th_initial_generator *generator = th_initial_new(th_pool_evaluator(s->pool), err);
    int failed = generator ? add_designs(&(greedy){s, generator, what}, err) : -1;
    if (generator)
        th_candidates_note_infeasible(s, th_initial_infeasibility(generator));
    th_initial_free(generator);
    return failed;
}

static int init_greedy(th_search *s, th_error *err)
{
    return init(s, EXCLUSIVE, err);
}

static int init_rotating(th_search *s, th_error *err)
{
    return init(s, ROTATING, err);
}

static int init_model_parallel(th_search *s, th_error *err)
{
    return init(s, ONE_DIMENSION, err);
}

const th_search_type th_search_greedy = {
    "greedy",
    "one set; each layer in turn takes the least transfer + compute + reduction",
    true,
    0,
    TH_INITIAL_RANDOM,
    sizeof(th_candidates),
    init_greedy,
    th_candidates_iterate,
    th_candidates_clear,
};

const th_search_type th_search_greedy_rotating = {
    "greedy_rotating",
    "greedy among strategies that rotate an operand too",
    true,
    0,
    TH_INITIAL_RANDOM,
    sizeof(th_candidates),
    init_rotating,
    th_candidates_iterate,
    th_candidates_clear,
};

const th_search_type th_search_model_parallel = {
    "model_parallel",
    "one set; each layer splits one of K C H W, the fastest in turn",
    true,
    0,
    TH_INITIAL_RANDOM,
    sizeof(th_candidates),
    init_model_parallel,
    th_candidates_iterate,
    th_candidates_clear,
};
