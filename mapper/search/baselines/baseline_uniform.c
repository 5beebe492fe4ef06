/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline_uniform.c - uniform: one set (one accelerator, the first group, or all), one design, one
 * split for all convolutions and one for all other layers on the array: the best of all by
 * simulation; docs/models/baselines.md.
 *   init, per set and order of its members: designs x splits -> combinations -> where there are
 *   very many, those of least estimated time -> candidates
 *
 * Estimates add up times of layers alone and of their inputs' transfers (plan.h),
 * apart for convolutions and what follows them, and for the others: so they cost a sum of splits,
 * where the combinations are a product. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/search/baselines/baseline.h"
#include "mapper/search/searches.h"
#include "mapper/search/partition/sets.h"
#include "mapper/strategies.h"

/* Pairs of accelerators times simulated combinations of one set in one order: 512 of eight
 * accelerators, 8 of 64. */
enum { SIMULATED = 32768 };

typedef struct {
    th_strategy *split;
    th_time *time; /* by design and split, where it is needed */
    int n;
} splits;

typedef struct {
    int32_t design;
    int conv, dense;
    th_time time;
    int order;
} combination;

/* Of one set, its members in one order. */
typedef struct {
    th_search *search;
    th_set set;
    splits conv, dense;
    combination *all;
    size_t n, capacity;
} combinations;

/* --- mappings --- */

/* One split for all convolutions, one for the rest on the array; layers that cannot take it get the
 * nearest. *out NULL: one cannot be split at all. 0 or -1. */
static int make(const combinations *k, int32_t design, int conv, int dense, th_mapping **out)
{
    const th_workload *w = k->search->problem.workload;
    th_mapping *m = th_baseline_mapping(k->search, design, k->set.accels, k->set.n_accels);
    bool fits = true;
    *out = m;
    if (!m)
        return -1;
    for (int l = 0; l < w->n_layers; l++) {
        m->strategy[l] =
            w->layers[l].kind == TH_LAYER_CONV ? k->conv.split[conv] : k->dense.split[dense];
        if (!th_layer_has_macs(&w->layers[l]))
            m->strategy[l] = th_strategy_single; /* it follows, or takes the most room */
        else
            fits &= th_strategy_repair(&m->strategy[l], &w->layers[l], th_search_batch(k->search),
                                       k->set.n_accels);
    }
    if (fits && th_mapping_follow(m, w, th_search_batch(k->search)))
        return 0;
    th_mapping_free(m);
    *out = NULL;
    return 0;
}

/* All splits over dims (each n ways in all) as strategies of an imaginary layer that allows them.
 */
static int list_splits(const th_search *s, int32_t n, bool is_conv, splits *out)
{
    th_layer any = {.kind = TH_LAYER_MATMUL, .groups = 1, .dim = {1, n, n, 1, 1, 1, 1}};
    any.dim[TH_DIM_B] = th_search_batch(s);
    if (is_conv)
        any.dim[TH_DIM_H] = any.dim[TH_DIM_W] = n;
    int count = th_strategies_list(&any, th_search_batch(s), n, &out->split);
    for (int i = 0; i < count; i++)
        if (out->split[i].rotate == TH_NO_ROTATION)
            out->split[out->n++] = out->split[i];
    out->time =
        th_alloc_zero((size_t)out->n * (size_t)s->problem.system->n_designs + 1, sizeof *out->time);
    return count < 0 || !out->time ? -1 : 0;
}

/* --- estimates --- */

/* Does a layer take the split of the convolutions: a convolution, or a layer after one? Known of
 * those before it. */
static bool is_with_conv(const th_workload *w, int layer, const bool *with_conv)
{
    const th_layer *l = &w->layers[layer];
    if (th_layer_has_macs(l))
        return l->kind == TH_LAYER_CONV;
    return l->inputs[0] < 0 || with_conv[l->inputs[0]];
}

/* The time of a layer alone plus that of its inputs' transfers. 0; 1: the design cannot run it;
 * -1. */
static int layer_time(const combinations *k, th_plans *plans, const th_placed *placed, int layer,
                      th_time *time, th_error *err)
{
    const th_layer *l = &k->search->problem.workload->layers[layer];
    int32_t batch = th_search_batch(k->search);
    th_error reason = {"", ""};
    th_placed at = placed[layer];
    const th_layer_plan *plan = th_plans_layer(plans, &at, batch, &reason);
    if (!plan)
        return th_plans_is_fatal(&reason) ? th_error_set(err, reason.id, "%s", reason.text) : 1;
    *time = th_plans_layer_time(plans, &at, plan, NULL, err);
    for (int i = 0; *time >= 0 && i < l->n_inputs; i++) {
        at.input = i;
        const th_placed *from = l->inputs[i] >= 0 ? &placed[l->inputs[i]] : NULL;
        th_time edge = th_plans_transition_time(plans, from, &at, batch, TH_TIME_MAX, err);
        *time = edge < 0 ? -1 : *time + edge;
    }
    return *time < 0 ? -1 : 0;
}

/* Scratch, by layer. */
typedef struct {
    th_placed *placed;
    bool *with_conv;
} layers;

/* Sums the times of the layers that take the split of the convolutions, or of the others. As
 * layer_time. */
static int sum_layers(const combinations *k, const th_mapping *m, bool of_convs, const layers *x,
                      th_time *sum, th_error *err)
{
    const th_workload *w = k->search->problem.workload;
    th_plans *plans = th_lower_plans(th_evaluator_lower(th_pool_evaluator(k->search->pool)));
    th_plans_trim(plans, TH_PLANS_LIMIT);
    *sum = 0;
    for (int l = 0; l < w->n_layers; l++) {
        th_time time = 0;
        if (th_plans_place(plans, l, &m->sets[0], &m->strategy[l], &x->placed[l], err))
            return -1;
        x->with_conv[l] = is_with_conv(w, l, x->with_conv);
        int failed =
            x->with_conv[l] == of_convs ? layer_time(k, plans, x->placed, l, &time, err) : 0;
        if (failed)
            return failed;
        *sum += time;
    }
    return 0;
}

/* TH_TIME_MAX: it cannot be. -1: failure. */
static th_time estimate(const combinations *k, int32_t design, int conv, int dense, bool of_convs,
                        th_error *err)
{
    size_t n = (size_t)k->search->problem.workload->n_layers;
    th_time sum = TH_TIME_MAX;
    th_mapping *m = NULL;
    const layers x = {th_alloc_zero(n, sizeof *x.placed), th_alloc_zero(n, sizeof *x.with_conv)};
    int failed = x.placed && x.with_conv && make(k, design, conv, dense, &m) == 0
                     ? 0
                     : th_error_no_memory(err);
    if (m) {
        failed = sum_layers(k, m, of_convs, &x, &sum, err);
        if (failed > 0)
            sum = TH_TIME_MAX;
    }
    th_mapping_free(m);
    th_free(x.placed);
    th_free(x.with_conv);
    return failed < 0 ? -1 : sum;
}

/* Of each design: splits of convolutions beside the first of the others, then the others beside the
 * best of those. */
static int estimate_splits(combinations *k, int32_t design, th_error *err)
{
    th_time *conv = k->conv.time + (size_t)design * (size_t)k->conv.n,
            *dense = k->dense.time + (size_t)design * (size_t)k->dense.n;
    int best = 0;
    for (int i = 0; i < k->conv.n; i++) {
        conv[i] = estimate(k, design, i, 0, true, err);
        if (conv[i] < 0)
            return -1;
        if (conv[i] < conv[best])
            best = i;
    }
    for (int i = 0; i < k->dense.n; i++) {
        dense[i] = estimate(k, design, best, i, false, err);
        if (dense[i] < 0)
            return -1;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const combination *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order - y->order;
}

/* The fastest come first. */
static int sort(combinations *k, th_error *err)
{
    int32_t estimated = -1;
    for (size_t i = 0; i < k->n; i++) {
        combination *c = &k->all[i];
        if (c->design != estimated && estimate_splits(k, c->design, err))
            return -1;
        estimated = c->design;
        th_time conv = k->conv.time[c->design * k->conv.n + c->conv],
                dense = k->dense.time[c->design * k->dense.n + c->dense];
        c->time = conv == TH_TIME_MAX || dense == TH_TIME_MAX ? TH_TIME_MAX : conv + dense;
    }
    qsort(k->all, k->n, sizeof *k->all, by_time);
    return 0;
}

/* --- the search --- */

static int list_combinations(combinations *k)
{
    const th_search *s = k->search;
    for (int32_t d = 0; d < s->problem.system->n_designs; d++) {
        if (!th_set_supports_design(s->problem.system, &k->set, d))
            continue;
        size_t more = (size_t)k->conv.n * (size_t)k->dense.n;
        if (th_grow(&k->all, &k->capacity, k->n + more, sizeof *k->all))
            return -1;
        for (int i = 0; i < k->conv.n; i++)
            for (int j = 0; j < k->dense.n; j++, k->n++)
                k->all[k->n] = (combination){d, i, j, 0, (int)k->n};
    }
    return 0;
}

static int add_combinations(combinations *k, th_error *err)
{
    if (list_splits(k->search, k->set.n_accels, true, &k->conv) ||
        list_splits(k->search, k->set.n_accels, false, &k->dense) || list_combinations(k))
        return th_error_no_memory(err);
    int64_t pairs = (int64_t)k->set.n_accels * k->set.n_accels;
    size_t most = (size_t)(SIMULATED / pairs + 1);
    if (k->n > most && sort(k, err))
        return -1;
    for (size_t i = 0, added = 0; i < k->n && added < most; i++) {
        th_mapping *m;
        const combination *c = &k->all[i];
        if (make(k, c->design, c->conv, c->dense, &m))
            return th_error_no_memory(err);
        if (m && th_candidates_add(k->search, m, err))
            return -1;
        added += !!m;
    }
    return 0;
}

static int add_set(th_search *s, int32_t *accels, int32_t n, th_error *err)
{
    combinations k = {.search = s, .set = {.n_accels = n, .accels = accels}};
    int failed = add_combinations(&k, err);
    th_free(k.conv.split);
    th_free(k.conv.time);
    th_free(k.dense.split);
    th_free(k.dense.time);
    th_free(k.all);
    return failed;
}

/* The set of these accelerators in every order of its members. */
static int add_orders(th_search *s, const int32_t *accels, int32_t n, th_error *err)
{
    int32_t *orders, n_orders = th_set_orders(s->problem.system, accels, n, &orders);
    int failed = n_orders < 0 ? th_error_no_memory(err) : 0;
    for (int32_t i = 0; !failed && i < n_orders; i++)
        failed = add_set(s, orders + (size_t)i * (size_t)n, n, err);
    th_free(orders);
    return failed;
}

/* All accelerators where a set may span groups; the first group; the first accelerator. The large
 * sets come first: mostly they are fast, and then what runs on few accelerators is soon stopped.
 */
static int init(th_search *s, th_error *err)
{
    const th_system *system = s->problem.system;
    int32_t all = system->n_accels, group = th_sets_first_group_size(system);
    int32_t n = 0, *accels = th_alloc_zero((size_t)all, sizeof *accels);
    int failed = accels ? 0 : th_error_no_memory(err);
    for (int32_t own = 1; !failed && own >= 0; own--) /* the group's first, then the rest */
        for (int32_t a = 0; a < all; a++)
            if ((system->nodes[system->accel_node[a]].group ==
                 system->nodes[system->accel_node[0]].group) == own)
                accels[n++] = a;
    const int32_t sizes[] = {s->options.sets_inside_groups ? group : all, group, 1};
    for (int i = 0; i < 3; i++)
        if (!failed && (i == 0 || sizes[i] < sizes[i - 1]))
            failed = add_orders(s, accels, sizes[i], err);
    th_free(accels);
    return failed;
}

const th_search_type th_search_uniform = {
    "uniform",
    "one set, one design, one split per kind of layer: the best of all",
    true,
    0,
    TH_INITIAL_RANDOM,
    sizeof(th_candidates),
    init,
    th_candidates_iterate,
    th_candidates_clear,
};
