/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline_pipeline.c - pipeline_parallel: every accelerator is a stage, or every group is one;
 * stages have contiguous ranges of layers, and each the design that is fastest on its range. The
 * better of the two by simulation.
 *   init, per kind of stage: time of every (stage, design, layer) -> the least time that, given to
 *   every stage in turn, gets all layers done -> ranges and designs -> strategies
 *   (initial_mapping.c)
 *
 * Times are those of layers alone; transfers are ignored. A stage takes as many
 * layers as it can do in the time, so the last stages may have none. Stages are in the order of
 * accelerators and groups. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/search/baselines/baseline.h"
#include "mapper/search/searches.h"
#include "mapper/search/partition/sets.h"
#include "mapper/strategies.h"

typedef struct {
    th_search *search;
    th_initial_generator *generator;
    th_mapping *mapping; /* a set per stage */
    th_time *time;       /* by stage, design and layer; -1: cannot be */
} stages;

static th_time *times_of(const stages *k, int stage, int design)
{
    const th_problem *p = &k->search->problem;
    return k->time + ((size_t)stage * (size_t)p->system->n_designs + (size_t)design) *
                         (size_t)p->workload->n_layers;
}

/* --- times --- */

/* 0; *time -1: the set cannot run it. */
static int time_layer(stages *k, const th_set *set, int layer, th_time *time, th_error *err)
{
    const th_layer *l = &k->search->problem.workload->layers[layer];
    th_strategy s;
    th_error reason;
    *time = -1;
    if (th_layer_has_macs(l)) {
        const th_choices *c = th_initial_choices(k->generator, set, layer, err);
        if (c && c->n > 0)
            *time = c->time[0];
        return c ? 0 : -1;
    }
    if (!th_strategy_follow(&s, l, th_search_batch(k->search), set->n_accels, NULL))
        return 0;
    *time = th_evaluator_shard_time(th_pool_evaluator(k->search->pool), set, layer, &s, &reason);
    if (*time < 0 && th_plans_is_fatal(&reason))
        return th_error_set(err, reason.id, "%s", reason.text);
    if (*time < 0)
        th_candidates_note_infeasible(k->search, &reason);
    return 0;
}

static int time_stages(stages *k, th_error *err)
{
    const th_problem *p = &k->search->problem;
    for (int i = 0; i < k->mapping->n_sets; i++) {
        for (int d = 0; d < p->system->n_designs; d++) {
            th_time *time = times_of(k, i, d);
            th_set set = k->mapping->sets[i];
            bool can_be = th_set_supports_design(p->system, &set, d);
            set.design = d;
            for (int l = 0; l < p->workload->n_layers; l++) {
                time[l] = -1;
                if (can_be && time_layer(k, &set, l, &time[l], err))
                    return -1;
            }
        }
    }
    return 0;
}

/* --- ranges --- */

/* Where the range of a stage ends that begins at a layer and takes at most so long, with the design
 * that gets furthest, the fastest of equals. */
static int furthest(const stages *k, int stage, int from, th_time most, int *design)
{
    int end = from, n_layers = k->search->problem.workload->n_layers;
    th_time least = TH_TIME_MAX;
    for (int d = 0; d < k->search->problem.system->n_designs; d++) {
        const th_time *time = times_of(k, stage, d);
        th_time sum = 0;
        int l = from;
        for (; l < n_layers && time[l] >= 0 && sum + time[l] <= most; l++)
            sum += time[l];
        if (l > end || (l == end && l > from && sum < least)) {
            end = l;
            least = sum;
            *design = d;
        }
    }
    return end;
}

static bool covers(const stages *k, th_time most)
{
    int at = 0, design;
    for (int i = 0; i < k->mapping->n_sets; i++)
        at = furthest(k, i, at, most, &design);
    return at == k->search->problem.workload->n_layers;
}

/* The least time of the longest stage; -1: no assignment in this order of stages exists. */
static th_time least_time(const stages *k)
{
    size_t n = (size_t)k->mapping->n_sets * (size_t)k->search->problem.system->n_designs *
               (size_t)k->search->problem.workload->n_layers;
    th_time low = 0, high = 0;
    for (size_t i = 0; i < n; i++)
        if (k->time[i] > 0)
            high += k->time[i];
    if (!covers(k, high))
        return -1;
    while (low < high) {
        th_time middle = low + (high - low) / 2;
        if (covers(k, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static void give_ranges(stages *k, th_time most)
{
    int at = 0;
    for (int i = 0; i < k->mapping->n_sets; i++) {
        int design = k->mapping->sets[i].design, end = furthest(k, i, at, most, &design);
        k->mapping->sets[i].design = design;
        while (at < end)
            k->mapping->set_of[at++] = i;
    }
}

/* Stages without layers are left out. */
static th_mapping *without_idle_sets(const th_mapping *m)
{
    int32_t used = m->set_of[m->n_layers - 1] + 1;
    int32_t *sizes = th_alloc_zero((size_t)m->n_sets, sizeof *sizes), *to = NULL;
    th_mapping *out = NULL;
    int32_t n = 0;
    if (sizes)
        to = th_alloc_zero((size_t)m->n_sets, sizeof *to);
    for (int32_t i = 0, l = 0; to && i < used; i++) {
        bool has_layers = l < m->n_layers && m->set_of[l] == i;
        while (l < m->n_layers && m->set_of[l] == i)
            l++;
        to[i] = has_layers ? n : -1;
        if (has_layers)
            sizes[n++] = m->sets[i].n_accels;
    }
    if (to)
        out = th_mapping_new(n, sizes, m->n_layers);
    for (int32_t i = 0; out && i < used; i++) {
        if (to[i] < 0)
            continue;
        out->sets[to[i]].design = m->sets[i].design;
        memcpy(out->sets[to[i]].accels, m->sets[i].accels,
               (size_t)m->sets[i].n_accels * sizeof *m->sets[i].accels);
    }
    for (int l = 0; out && l < m->n_layers; l++)
        out->set_of[l] = to[m->set_of[l]];
    th_free(sizes);
    th_free(to);
    return out;
}

/* --- the search --- */

/* 0; 1: some layer cannot run where it falls; -1. */
static int choose_strategies(stages *k, th_error *err)
{
    int failed = 0;
    for (int32_t i = 0; !failed && i < k->mapping->n_sets; i++) {
        th_time estimate;
        failed = th_initial_solve(k->generator, k->mapping, i, (th_jitter){0}, &estimate, err);
    }
    return failed;
}

static int balance(stages *k, th_error *err)
{
    const th_problem *p = &k->search->problem;
    size_t n = (size_t)k->mapping->n_sets * (size_t)p->system->n_designs;
    k->time = th_alloc_array(n * (size_t)p->workload->n_layers + 1, sizeof *k->time);
    if (!k->time)
        return th_error_no_memory(err);
    if (time_stages(k, err))
        return -1;
    th_time most = least_time(k);
    if (most < 0)
        return 1;
    give_ranges(k, most);
    th_mapping *all = k->mapping;
    k->mapping = without_idle_sets(all);
    th_mapping_free(all);
    return k->mapping ? choose_strategies(k, err) : th_error_no_memory(err);
}

/* Takes m, which has the stages as sets. */
static int add_stages(th_search *s, th_initial_generator *generator, th_mapping *m, th_error *err)
{
    stages k = {s, generator, m, NULL};
    int failed = m ? balance(&k, err) : th_error_no_memory(err);
    th_free(k.time);
    if (!failed)
        return th_candidates_add(s, k.mapping, err);
    th_mapping_free(k.mapping);
    return failed < 0 ? -1 : 0;
}

static th_mapping *one_by_one(const th_problem *p)
{
    int32_t n = p->system->n_accels, *sizes = th_alloc_array((size_t)n + 1, sizeof *sizes);
    for (int32_t i = 0; sizes && i < n; i++)
        sizes[i] = 1;
    th_mapping *m = sizes ? th_mapping_new(n, sizes, p->workload->n_layers) : NULL;
    for (int32_t i = 0; m && i < n; i++)
        m->sets[i].accels[0] = i;
    th_free(sizes);
    return m;
}

static int init(th_search *s, th_error *err)
{
    th_initial_generator *generator = th_initial_new(th_pool_evaluator(s->pool), err);
    int failed = generator ? add_stages(s, generator, one_by_one(&s->problem), err) : -1;
    if (!failed)
        failed = add_stages(
            s, generator, th_sets_by_group(s->problem.system, s->problem.workload->n_layers), err);
    if (generator)
        th_candidates_note_infeasible(s, th_initial_infeasibility(generator));
    th_initial_free(generator);
    return failed;
}

const th_search_type th_search_pipeline_parallel = {
    "pipeline_parallel",
    "accelerators, or groups, are stages with contiguous layers, balanced by time",
    true,
    0,
    TH_INITIAL_RANDOM,
    sizeof(th_candidates),
    init,
    th_candidates_iterate,
    th_candidates_clear,
};
