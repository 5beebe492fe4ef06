/* SPDX-License-Identifier: GPL-3.0-or-later */
/* computation_prioritized.c - computation_prioritized; docs/models/baselines.md.
 *
 * In the manner of Herald (H. Kwon et al., HPCA 2021), details ours: the accelerators of each group
 * form a set; each set has the design with the least total compute time; each layer goes to the set
 * whose compute would finish it soonest, split over its two longest dimensions. Communication is
 * ignored while choosing. On a chain of layers all but the first set stay idle. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/search/baselines/baseline.h"
#include "mapper/search/searches.h"
#include "mapper/search/partition/sets.h"
#include "mapper/strategies.h"

typedef struct {
    th_mapping *mapping;
    th_strategy *split; /* per set and layer */
    th_time *time;      /* per set and layer */
    th_time *layer_end, *set_end;
} state;

static const th_dim split_dims[] = {TH_DIM_K, TH_DIM_C, TH_DIM_H, TH_DIM_W};
enum { N_SPLIT_DIMS = 4 };

static int choose_splits(th_search *s, state *h, int set, th_error *err)
{
    const th_workload *w = s->problem.workload;
    for (int l = 0; l < w->n_layers; l++) {
        th_strategy *split = &h->split[set * w->n_layers + l];
        if (!th_strategy_longest(split, &w->layers[l], th_search_batch(s),
                                 h->mapping->sets[set].n_accels, split_dims, N_SPLIT_DIMS) ||
            (split->copies > 0 && s->problem.without_copies))
            return th_error_set(err, "MAP-0025",
                                "computation_prioritized: layer \"%s\" cannot be split over %d "
                                "accelerators",
                                w->layers[l].name, (int)h->mapping->sets[set].n_accels);
    }
    return 0;
}

/* Times of all layers on a set with a design; returns their sum, or -1: memory, or the design
 * cannot run one. */
static th_time estimate(th_search *s, state *h, int set, int32_t design, th_time *time,
                        th_error *err)
{
    int n = s->problem.workload->n_layers;
    th_time sum = 0;
    th_set as = h->mapping->sets[set];
    as.design = design;
    for (int l = 0; l < n; l++) {
        time[l] = th_evaluator_shard_time(th_pool_evaluator(s->pool), &as, l,
                                          &h->split[set * n + l], err);
        if (time[l] < 0)
            return -1;
        sum += time[l];
    }
    return sum;
}

static int choose_design(th_search *s, state *h, int set, th_error *err)
{
    int n = s->problem.workload->n_layers;
    th_time best = TH_TIME_MAX, *time = &h->time[set * n],
            *trial = th_alloc_array((size_t)n, sizeof *trial);
    th_error reason = {"", ""};
    if (!trial)
        return th_error_no_memory(err);
    for (int32_t d = 0; d < s->problem.system->n_designs; d++) {
        if (!th_set_supports_design(s->problem.system, &h->mapping->sets[set], d))
            continue;
        th_time sum = estimate(s, h, set, d, trial, &reason);
        if (sum < 0 && th_plans_is_fatal(&reason)) {
            th_free(trial);
            return th_error_set(err, reason.id, "%s", reason.text);
        }
        if (sum >= 0 && sum < best) {
            best = sum;
            h->mapping->sets[set].design = d;
            memcpy(time, trial, (size_t)n * sizeof *time);
        }
    }
    th_free(trial);
    if (best < TH_TIME_MAX)
        return 0;
    if (reason.id[0])
        return th_error_set(err, "MAP-0041",
                            "computation_prioritized: no design of group %d can run all layers: %s",
                            set, reason.text);
    return th_error_set(
        err, "MAP-0026",
        "computation_prioritized: no design that all %d accelerators of group %d can "
        "be configured with",
        (int)h->mapping->sets[set].n_accels, set);
}

static void choose_sets(const th_search *s, state *h)
{
    const th_workload *w = s->problem.workload;
    for (int l = 0; l < w->n_layers; l++) {
        th_time ready = 0, best = TH_TIME_MAX;
        for (int i = 0; i < w->layers[l].n_inputs; i++) {
            int32_t p = w->layers[l].inputs[i];
            if (p >= 0 && h->layer_end[p] > ready)
                ready = h->layer_end[p];
        }
        for (int set = 0; set < h->mapping->n_sets; set++) {
            th_time start = h->set_end[set] > ready ? h->set_end[set] : ready;
            th_time end = start + h->time[set * w->n_layers + l];
            if (end < best) {
                best = end;
                h->mapping->set_of[l] = set;
            }
        }
        int set = h->mapping->set_of[l];
        h->layer_end[l] = h->set_end[set] = best;
        h->mapping->strategy[l] = h->split[set * w->n_layers + l];
    }
}

static int allocate(th_search *s, state *h)
{
    size_t layers = (size_t)s->problem.workload->n_layers, sets;
    h->mapping = th_sets_by_group(s->problem.system, s->problem.workload->n_layers);
    if (!h->mapping)
        return -1;
    sets = (size_t)h->mapping->n_sets;
    h->split = th_alloc_zero(layers * sets, sizeof *h->split);
    h->time = th_alloc_zero(layers * sets, sizeof *h->time);
    h->layer_end = th_alloc_zero(layers, sizeof *h->layer_end);
    h->set_end = th_alloc_zero(sets, sizeof *h->set_end);
    return h->split && h->time && h->layer_end && h->set_end ? 0 : -1;
}

int th_baseline_computation_prioritized(th_search *s, th_mapping **out, th_error *err)
{
    state h = {0};
    int failed = allocate(s, &h) ? th_error_no_memory(err) : 0;
    for (int set = 0; !failed && set < h.mapping->n_sets; set++)
        failed = choose_splits(s, &h, set, err) || choose_design(s, &h, set, err);
    if (!failed) {
        choose_sets(s, &h);
        h.mapping->generator = TH_GENERATOR_BASELINE;
        *out = h.mapping;
        h.mapping = NULL;
    }
    th_mapping_free(h.mapping);
    th_free(h.split);
    th_free(h.time);
    th_free(h.layer_end);
    th_free(h.set_end);
    return failed ? -1 : 0;
}

static int init_nothing(th_search *s, th_error *err)
{
    (void)s;
    (void)err;
    return 0;
}

static void clear_nothing(th_search *s)
{
    (void)s;
}

static int iterate_computation_prioritized(th_search *s, th_error *err)
{
    th_mapping *m;
    th_fitness fitness;
    if (th_baseline_computation_prioritized(s, &m, err))
        return -1;
    int failed = th_search_evaluate(s, &m, 1, th_baseline_bound(s), &fitness, err);
    th_mapping_free(m);
    s->done = true;
    return failed;
}

const th_search_type th_search_computation_prioritized = {
    "computation_prioritized",
    "one set per group, each layer where its compute ends soonest (Herald manner)",
    true,
    0,
    TH_INITIAL_RANDOM,
    0,
    init_nothing,
    iterate_computation_prioritized,
    clear_nothing,
};
