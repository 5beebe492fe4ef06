/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline.c - mappings that a search has to beat; docs/models/baselines.md.
 *
 * computation_prioritized, in the manner of Herald (H. Kwon et al., HPCA 2021), details ours: the
 * accelerators of each group form a set; each set has the design with the least total compute time;
 * each layer goes to the set whose compute would finish it soonest, split over its two longest
 * dimensions. Communication is ignored while choosing. On a chain of layers all but the first set
 * stay idle.
 *
 * uniform: one set (one accelerator, the first group, or all), one design, one split for all
 * convolutions and one for all fully connected layers: the best of all by simulation. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/searches.h"
#include "mapper/sets.h"
#include "mapper/strategies.h"

/* --- computation_prioritized ------------------------------------------------------------------ */

typedef struct {
    th_mapping *mapping;
    th_strategy *split; /* per set and layer */
    th_time *time;      /* per set and layer */
    th_time *layer_end, *set_end;
} herald;

static const th_dim herald_dims[] = {TH_DIM_K, TH_DIM_C, TH_DIM_H, TH_DIM_W};
enum { N_HERALD_DIMS = 4 };

static int choose_splits(th_search *s, herald *h, int set, th_error *err)
{
    const th_workload *w = s->problem.workload;
    for (int l = 0; l < w->n_layers; l++) {
        th_strategy *split = &h->split[set * w->n_layers + l];
        if (!th_strategy_longest(split, &w->layers[l], th_search_batch(s),
                                 h->mapping->sets[set].n_accels, herald_dims, N_HERALD_DIMS))
            return th_error_set(err, "MAP-0025",
                                "computation_prioritized: layer \"%s\" cannot be split over %d "
                                "accelerators",
                                w->layers[l].name, (int)h->mapping->sets[set].n_accels);
    }
    return 0;
}

/* Times of all layers on a set with a design; returns their sum, or -1: memory, or the design cannot
 * run one. */
static th_time reckon(th_search *s, herald *h, int set, int32_t design, th_time *time,
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

static int choose_design(th_search *s, herald *h, int set, th_error *err)
{
    int n = s->problem.workload->n_layers;
    th_time best = TH_TIME_MAX, *time = &h->time[set * n],
            *trial = th_alloc_array((size_t)n, sizeof *trial);
    th_error reason = {"", ""};
    if (!trial)
        return th_error_no_memory(err);
    for (int32_t d = 0; d < s->problem.system->n_designs; d++) {
        if (!th_set_can_take(s->problem.system, &h->mapping->sets[set], d))
            continue;
        th_time sum = reckon(s, h, set, d, trial, &reason);
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

static void choose_sets(const th_search *s, herald *h)
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

static int allocate(th_search *s, herald *h)
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
    herald h = {0};
    int failed = allocate(s, &h) ? th_error_no_memory(err) : 0;
    for (int set = 0; !failed && set < h.mapping->n_sets; set++)
        failed = choose_splits(s, &h, set, err) || choose_design(s, &h, set, err);
    if (!failed) {
        choose_sets(s, &h);
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
    int failed = th_search_evaluate(s, &m, 1, INFINITY, &fitness, err);
    th_mapping_free(m);
    s->done = true;
    return failed;
}

const th_search_type th_search_computation_prioritized = {
    "computation_prioritized",
    "one set per group, each layer where its compute ends soonest (Herald manner)",
    true,
    0,
    TH_SEEDS_RANDOM,
    0,
    init_nothing,
    iterate_computation_prioritized,
    clear_nothing,
};

/* --- uniform ---------------------------------------------------------------------------------- */

typedef struct {
    th_mapping **mappings;
    size_t n, capacity, next;
} uniform;

/* One split for all convolutions, one for the rest on the array; layers that cannot take it get the
 * nearest. */
static int add_uniform(th_search *s, uniform *u, const th_set *set, const th_strategy *conv,
                       const th_strategy *dense)
{
    const th_workload *w = s->problem.workload;
    int32_t n = set->n_accels;
    th_mapping *m = th_mapping_new(1, &n, w->n_layers);
    if (!m || th_grow(&u->mappings, &u->capacity, u->n + 1, sizeof *u->mappings)) {
        th_mapping_free(m);
        return -1;
    }
    m->sets[0].design = set->design;
    memcpy(m->sets[0].accels, set->accels, (size_t)n * sizeof *set->accels);
    bool fits = true;
    for (int l = 0; l < w->n_layers; l++) {
        m->strategy[l] = w->layers[l].kind == TH_LAYER_CONV ? *conv : *dense;
        if (th_layer_has_macs(&w->layers[l]))
            fits &= th_strategy_repair(&m->strategy[l], &w->layers[l], th_search_batch(s), n);
    }
    if (fits && th_mapping_follow(m, w, th_search_batch(s)))
        u->mappings[u->n++] = m;
    else
        th_mapping_free(m);
    return 0;
}

/* All splits over dims (each n ways in all) as strategies of an imaginary layer that allows
 * them. */
static int list_splits(const th_search *s, int32_t n, bool is_conv, th_strategy **list)
{
    th_layer any = {
        .kind = TH_LAYER_MATMUL, .groups = 1, .dim = {1, UINT8_MAX, UINT8_MAX, 1, 1, 1, 1}};
    th_strategy *all;
    any.dim[TH_DIM_B] = th_search_batch(s);
    if (is_conv)
        any.dim[TH_DIM_H] = any.dim[TH_DIM_W] = UINT8_MAX;
    int count = th_strategies_list(&any, th_search_batch(s), n, &all), kept = 0;
    for (int i = 0; i < count; i++)
        if (all[i].rotate == TH_NO_ROTATION)
            all[kept++] = all[i];
    *list = count < 0 ? NULL : all;
    return count < 0 ? -1 : kept;
}

static int add_set(th_search *s, uniform *u, th_set *set)
{
    th_strategy *conv = NULL, *dense = NULL;
    int n_conv = list_splits(s, set->n_accels, true, &conv),
        n_dense = list_splits(s, set->n_accels, false, &dense);
    int failed = n_conv < 0 || n_dense < 0 ? -1 : 0;
    for (set->design = 0; !failed && set->design < s->problem.system->n_designs; set->design++)
        for (int i = 0; th_set_can_take(s->problem.system, set, set->design) && i < n_conv; i++)
            for (int j = 0; !failed && j < n_dense; j++)
                failed = add_uniform(s, u, set, &conv[i], &dense[j]);
    th_free(conv);
    th_free(dense);
    return failed;
}

/* The first accelerator, the others of its group, all of them where a set may span groups. */
static int init_uniform(th_search *s, th_error *err)
{
    const th_system *system = s->problem.system;
    int32_t all = system->n_accels, group = th_sets_first_group(system);
    th_set set = {.accels = th_alloc_zero((size_t)all, sizeof *set.accels)};
    int failed = set.accels ? 0 : -1;
    for (int32_t own = 1; !failed && own >= 0; own--) /* the group's first, then the rest */
        for (int32_t a = 0; a < all; a++)
            if ((system->nodes[system->accel_node[a]].group ==
                 system->nodes[system->accel_node[0]].group) == own)
                set.accels[set.n_accels++] = a;
    const int32_t sizes[] = {1, group, s->options.sets_inside_groups ? group : all};
    for (int i = 0; !failed && i < 3; i++) {
        set.n_accels = sizes[i];
        if (i == 0 || sizes[i] > sizes[i - 1])
            failed = add_set(s, s->state, &set);
    }
    th_free(set.accels);
    return failed ? th_error_no_memory(err) : 0;
}

static int iterate_uniform(th_search *s, th_error *err)
{
    enum { BATCH = 64 };
    uniform *u = s->state;
    th_fitness fitness[BATCH];
    size_t n = u->n - u->next < BATCH ? u->n - u->next : BATCH;
    int failed =
        th_search_evaluate(s, u->mappings + u->next, (int)n, s->best_fitness.value, fitness, err);
    u->next += n;
    s->done = u->next == u->n;
    return failed;
}

static void clear_uniform(th_search *s)
{
    uniform *u = s->state;
    for (size_t i = 0; i < u->n; i++)
        th_mapping_free(u->mappings[i]);
    th_free(u->mappings);
}

const th_search_type th_search_uniform = {
    "uniform",     "one set, one design, one split per kind of layer: the best of all",
    true,          0,
    TH_SEEDS_RANDOM,
    sizeof(uniform),
    init_uniform,  iterate_uniform,
    clear_uniform,
};
