/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alternatives.c - the other designs and strategies of each layer of a mapping, and what they
 * would cost.
 *   find: per layer on the array: times alone -> if it rotates, the whole run with every
 *     strategy that does not -> clear
 * Layers of the vector unit follow the layer that is changed, as in a search; all others stay, so
 * the result is the price of one layer's choice given the others. */
#include <config.h>

#include "mapper/search/alternatives.h"

#include <math.h>

#include "base/alloc.h"
#include "mapper/search/initial/initial_mapping.h"
#include "mapper/search/partition/sets.h"
#include "mapper/strategies.h"

typedef struct {
    const th_problem *problem;
    const th_mapping *mapping;
    th_evaluator *evaluator;
    th_initial_generator *generator;
    int32_t batch;
} finder;

/* --- alone --- */

static const th_set *set_of(const finder *f, int layer)
{
    return &f->mapping->sets[f->mapping->set_of[layer]];
}

/* The layer as it is: time alone, and what travels in a phase. */
static int describe_chosen(finder *f, th_alternative *a, th_error *err)
{
    th_plans *plans = th_lower_plans(th_evaluator_lower(f->evaluator));
    const th_strategy *s = &f->mapping->strategy[a->layer];
    th_placed at;
    if (th_plans_place(plans, a->layer, set_of(f, a->layer), s, &at, err))
        return -1;
    const th_layer_plan *plan = th_plans_layer(plans, &at, f->batch, err);
    if (!plan)
        return -1;
    a->alone_ps = th_plans_layer_time(plans, &at, plan, NULL, err);
    a->rotating = th_shard_rotating(&f->problem->workload->layers[a->layer], s);
    for (int i = 0; i < plan->n * plan->phases; i++)
        if (plan->piece_bytes[i] > a->phase_bytes)
            a->phase_bytes = plan->piece_bytes[i];
    return a->alone_ps < 0 ? -1 : 0;
}

static int time_designs(finder *f, th_alternative *a, th_error *err)
{
    for (int32_t d = 0; d < f->problem->system->n_designs; d++) {
        th_set set = *set_of(f, a->layer);
        set.design = d;
        a->by_design[d] = -1;
        if (!th_set_supports_design(f->problem->system, &set, d))
            continue;
        const th_choices *c = th_initial_choices(f->generator, &set, a->layer, err);
        if (!c)
            return -1;
        if (c->n > 0)
            a->by_design[d] = c->time[0];
    }
    return 0;
}

/* --- instead --- */

static int try_strategy(finder *f, th_alternative *a, th_mapping *trial,
                        const th_timed_strategy *other, th_error *err)
{
    th_fitness fitness;
    trial->strategy[a->layer] = other->strategy;
    if (!th_mapping_follow(trial, f->problem->workload, f->batch))
        return 0;
    if (th_evaluator_run(f->evaluator, trial, a->instead.value, &fitness, err))
        return -1;
    if (fitness.fit != TH_FIT || fitness.value >= a->instead.value) {
        if (fitness.fit == TH_FIT_INFEASIBLE && !a->why.id[0])
            th_evaluator_explain(f->evaluator, trial, &a->why);
        return 0;
    }
    a->instead = fitness;
    a->exclusive = other->strategy;
    a->exclusive_ps = other->time;
    return 0;
}

/* The whole run with each of these strategies, the first of which is the fastest alone. */
static int simulate_exclusive(finder *f, th_alternative *a, const th_timed_strategy *all, int n,
                              th_error *err)
{
    th_mapping *trial = th_mapping_copy(f->mapping);
    int failed = trial ? 0 : th_error_no_memory(err);
    a->is_simulated = true;
    a->instead = (th_fitness){.fit = TH_FIT_INFEASIBLE, .value = INFINITY};
    for (int i = 0; !failed && i < n; i++)
        if (all[i].strategy.rotate == TH_NO_ROTATION)
            failed = try_strategy(f, a, trial, &all[i], err);
    th_mapping_free(trial);
    return failed;
}

static int evaluate_exclusive(finder *f, th_alternative *a, th_error *err)
{
    th_timed_strategy *all;
    int first = 0, failed = 0,
        n = th_initial_timed_strategies(f->generator, set_of(f, a->layer), a->layer, &all, err);
    if (n < 0)
        return -1;
    while (first < n && all[first].strategy.rotate != TH_NO_ROTATION)
        first++;
    a->has_exclusive = first < n;
    if (a->has_exclusive) {
        a->exclusive = all[first].strategy;
        a->exclusive_ps = all[first].time;
        if (a->rotating != TH_OPERAND_NONE)
            failed = simulate_exclusive(f, a, all, n, err);
    }
    th_free(all);
    return failed;
}

/* --- all layers --- */

static int evaluate_layers(finder *f, th_alternatives *out, th_error *err)
{
    const th_workload *w = f->problem->workload;
    if (th_evaluator_run(f->evaluator, f->mapping, INFINITY, &out->whole, err))
        return -1;
    for (int l = 0; l < w->n_layers; l++) {
        if (!th_layer_has_macs(&w->layers[l]))
            continue;
        th_alternative *a = &out->at[out->n];
        a->layer = l;
        a->by_design = out->times + (size_t)out->n++ * (size_t)f->problem->system->n_designs;
        if (describe_chosen(f, a, err) || time_designs(f, a, err) || evaluate_exclusive(f, a, err))
            return -1;
    }
    return 0;
}

int th_alternatives_find(th_alternatives *a, const th_problem *p, const th_mapping *m,
                         th_error *err)
{
    finder f = {.problem = p, .mapping = m, .batch = p->workload->batch / p->stream.micro_batches};
    size_t n = (size_t)p->workload->n_layers;
    *a = (th_alternatives){
        .at = th_alloc_zero(n, sizeof *a->at),
        .times = th_alloc_zero(n * (size_t)p->system->n_designs + 1, sizeof *a->times)};
    int failed = a->at && a->times ? 0 : th_error_no_memory(err);
    if (!failed)
        f.evaluator = th_evaluator_new(p, err);
    if (f.evaluator)
        f.generator = th_initial_new(f.evaluator, err);
    failed = f.generator ? evaluate_layers(&f, a, err) : -1;
    th_initial_free(f.generator);
    th_evaluator_free(f.evaluator);
    return failed;
}

void th_alternatives_clear(th_alternatives *a)
{
    th_free(a->at);
    th_free(a->times);
    *a = (th_alternatives){0};
}
