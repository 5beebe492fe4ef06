/* SPDX-License-Identifier: GPL-3.0-or-later */
/* h2h.c - the search of the H2H comparison, a baseline.
 *
 *   iterate: list what layers take -> place them (step 1) -> as one mapping, simulated (steps 1 ..
 *   3); then, a layer at a time: move it to its neighbours, each move simulated (step 4)
 *
 * Source: X. Zhang et al., "H2H: Heterogeneous Model to Heterogeneous System Mapping with
 * Computation and Communication Awareness", DAC 2022, as its public mapper does it
 * (docs/models/h2h.md). Every accelerator is a set of its own. Step 1 computation-prioritised: all
 * activations and weights cross the network. Step 2 weight locality: a knapsack per accelerator
 * pins weights. Step 3 activation fusion: what an accelerator makes for the next layer of its queue
 * stays. Step 4 remapping: layers move beside their producers and consumers, where that shortens
 * the run. On a system whose transfers are not serial weights are where they run and an accelerator
 * keeps what it made anyway, so steps 1 to 3 are one mapping there, and queues are in the order of
 * the layers. Lowering does steps 2 and 3 unless the mapping says otherwise,
 * so each step is a mapping whose time is simulated. Step 1 alone estimates ends
 * by itself. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/lower/plan_state.h"
#include "mapper/search/searches.h"

enum { N_STEPS = 4, WALKS = 2, TRIALS_MAX = 1 << 14 };

/* Layers are placed kind by kind. */
typedef enum { CONVOLUTIONS, RECURRENT, DENSE, OTHERS, N_KINDS } kind;

typedef struct {
    th_search *search;
    const th_system *system;
    const th_workload *workload;
    th_time *time; /* per layer and accelerator, all over the network; -1: it cannot run there */
    th_time *layer_end; /* -1: not placed */
    th_time *free_at;   /* per accelerator */
    int32_t *where;     /* per layer */
    int32_t *queue;     /* per accelerator and place: layers */
    int32_t *n_queued;
    int32_t *done;    /* scratch, per accelerator: layers of its queue that are in the order */
    bool *is_done;    /* scratch, per layer */
    int32_t *scratch; /* an order of the layers */
    th_mapping *mapping;
    bool is_placed;
    int32_t walked; /* layers that remapping has tried, over all walks */
} h2h;

static kind kind_of(const th_layer *l)
{
    if (l->kind == TH_LAYER_CONV)
        return CONVOLUTIONS;
    if (th_layer_gates(l->kind) > 0)
        return RECURRENT;
    return th_layer_has_macs(l) ? DENSE : OTHERS;
}

static th_time *time_of(const h2h *h, int32_t layer, int32_t accel)
{
    return &h->time[layer * h->system->n_accels + accel];
}

/* --- what layers take --- */

static int estimate(h2h *h, int32_t layer, int32_t accel, th_error *err)
{
    th_plans *plans = th_lower_plans(th_evaluator_lower(th_pool_evaluator(h->search->pool)));
    th_set set = {.design = h->system->nodes[h->system->accel_node[accel]].a.designs[0],
                  .n_accels = 1,
                  .accels = &accel};
    th_placed at;
    th_error reason = {"", ""};
    if (th_plans_place(plans, layer, &set, &th_strategy_single, &at, err))
        return -1;
    const th_layer_plan *plan = th_plans_layer(plans, &at, th_search_batch(h->search), &reason);
    th_time time = plan ? th_plan_serial_whole_time(plans, &at, plan) : -1;
    if (plan && time < 0)
        return th_error_no_memory(err);
    if (!plan && th_plans_is_fatal(&reason))
        return th_error_set(err, reason.id, "%s", reason.text);
    if (!plan && !h->search->first_infeasibility.text[0])
        h->search->first_infeasibility = reason;
    *time_of(h, layer, accel) = time;
    return 0;
}

static int estimate_all(h2h *h, th_error *err)
{
    for (int32_t l = 0; l < h->workload->n_layers; l++)
        for (int32_t a = 0; a < h->system->n_accels; a++)
            if (estimate(h, l, a, err))
                return -1;
    return 0;
}

/* --- step 1: placing --- */

/* A round: layers that are ready, and accelerators that can run all of them. */
typedef struct {
    int32_t *layer, *accel;
    int n_layers, n_accels;
    int32_t *choice, *best; /* per layer: an index in accel */
    int32_t *taken;         /* per accelerator: an index in layer */
    th_time *free_at, best_end;
    bool found;
} round_;

static th_time ready_at(const h2h *h, int32_t layer)
{
    const th_layer *l = &h->workload->layers[layer];
    th_time ready = 0;
    for (int i = 0; i < l->n_inputs; i++)
        if (l->inputs[i] >= 0 && h->layer_end[l->inputs[i]] > ready)
            ready = h->layer_end[l->inputs[i]];
    return ready;
}

static bool is_ready(const h2h *h, int32_t layer)
{
    const th_layer *l = &h->workload->layers[layer];
    if (h->layer_end[layer] >= 0)
        return false;
    for (int i = 0; i < l->n_inputs; i++)
        if (l->inputs[i] >= 0 && h->layer_end[l->inputs[i]] < 0)
            return false;
    return true;
}

/* The layers of a kind that are ready and run on the same accelerators as the first of them. */
static void find_ready(const h2h *h, kind k, round_ *r)
{
    r->n_layers = r->n_accels = 0;
    for (int32_t l = 0; l < h->workload->n_layers; l++) {
        if (kind_of(&h->workload->layers[l]) != k || !is_ready(h, l))
            continue;
        bool same = true;
        for (int32_t a = 0; r->n_layers > 0 && a < h->system->n_accels; a++)
            same &= (*time_of(h, l, a) < 0) == (*time_of(h, r->layer[0], a) < 0);
        if (same)
            r->layer[r->n_layers++] = l;
    }
    for (int32_t a = 0; r->n_layers > 0 && a < h->system->n_accels; a++)
        if (*time_of(h, r->layer[0], a) >= 0)
            r->accel[r->n_accels++] = a;
}

/* Layer layer[i] goes to accelerator accel[choice[i]], in order; a choice of -1 stays unplaced. */
static th_time end_of(const h2h *h, const round_ *r, const int32_t *choice, th_time *layer_end)
{
    th_time last = 0;
    memcpy(r->free_at, h->free_at, (size_t)h->system->n_accels * sizeof *r->free_at);
    for (int i = 0; i < r->n_layers; i++) {
        if (choice[i] < 0)
            continue;
        int32_t a = r->accel[choice[i]], l = r->layer[i];
        th_time ready = ready_at(h, l), start = r->free_at[a] > ready ? r->free_at[a] : ready;
        r->free_at[a] = th_time_add(start, *time_of(h, l, a));
        if (layer_end)
            layer_end[l] = r->free_at[a];
    }
    for (int32_t a = 0; a < h->system->n_accels; a++)
        last = r->free_at[a] > last ? r->free_at[a] : last;
    return last;
}

static void try_choice(const h2h *h, round_ *r)
{
    th_time end = end_of(h, r, r->choice, NULL);
    if (r->found && end >= r->best_end)
        return;
    r->found = true;
    r->best_end = end;
    memcpy(r->best, r->choice, (size_t)r->n_layers * sizeof *r->best);
}

/* Every accelerator for every layer, the last layer's fastest. */
static void try_all_assignments(const h2h *h, round_ *r)
{
    double trials = 1;
    for (int i = 0; i < r->n_layers; i++)
        trials *= r->n_accels;
    while (trials > TRIALS_MAX && r->n_layers > 1) {
        trials /= r->n_accels;
        r->n_layers--; /* the others wait for the next round */
    }
    memset(r->choice, 0, (size_t)r->n_layers * sizeof *r->choice);
    for (int i = 0; i >= 0;) {
        try_choice(h, r);
        for (i = r->n_layers - 1; i >= 0 && ++r->choice[i] == r->n_accels; i--)
            r->choice[i] = 0;
    }
}

/* As many layers as there are accelerators, in order; every such choice. */
static void try_all_choices(const h2h *h, round_ *r)
{
    int n = r->n_accels;
    int32_t trials = 0;
    for (int i = 0; i < n; i++)
        r->taken[i] = i;
    for (int i = 0; i >= 0 && trials < TRIALS_MAX; trials++) {
        for (int j = 0; j < r->n_layers; j++)
            r->choice[j] = -1;
        for (int j = 0; j < n; j++)
            r->choice[r->taken[j]] = j;
        try_choice(h, r);
        for (i = n - 1; i >= 0 && r->taken[i] == r->n_layers - n + i; i--)
            ;
        for (int j = i; j >= 0 && j < n; j++)
            r->taken[j] = j == i ? r->taken[i] + 1 : r->taken[j - 1] + 1;
    }
}

static int place_round(h2h *h, round_ *r, th_error *err)
{
    r->found = false;
    if (r->n_accels == 0)
        return th_error_set(err, "MAP-0191", "h2h: no accelerator can run layer \"%s\": %s",
                            h->workload->layers[r->layer[0]].name,
                            h->search->first_infeasibility.text);
    if (r->n_layers < r->n_accels)
        try_all_assignments(h, r);
    else
        try_all_choices(h, r);
    end_of(h, r, r->best, h->layer_end);
    memcpy(h->free_at, r->free_at, (size_t)h->system->n_accels * sizeof *h->free_at);
    for (int i = 0; i < r->n_layers; i++) {
        if (r->best[i] < 0)
            continue;
        int32_t a = r->accel[r->best[i]], l = r->layer[i];
        h->where[l] = a;
        h->queue[a * h->workload->n_layers + h->n_queued[a]++] = l;
    }
    return 0;
}

static int place_all(h2h *h, th_error *err)
{
    size_t layers = (size_t)h->workload->n_layers, accels = (size_t)h->system->n_accels;
    round_ r = {.layer = th_alloc_zero(layers, sizeof *r.layer),
                .accel = th_alloc_zero(accels, sizeof *r.accel),
                .choice = th_alloc_zero(layers, sizeof *r.choice),
                .best = th_alloc_zero(layers, sizeof *r.best),
                .taken = th_alloc_zero(accels, sizeof *r.taken),
                .free_at = th_alloc_zero(accels, sizeof *r.free_at)};
    int failed = r.layer && r.accel && r.choice && r.best && r.taken && r.free_at
                     ? 0
                     : th_error_no_memory(err);
    for (bool placed = true; !failed && placed;) {
        placed = false;
        for (int k = 0; !failed && k < N_KINDS; k++) {
            find_ready(h, (kind)k, &r);
            if (r.n_layers == 0)
                continue;
            placed = true;
            failed = place_round(h, &r, err);
        }
    }
    th_free(r.layer);
    th_free(r.accel);
    th_free(r.choice);
    th_free(r.best);
    th_free(r.taken);
    th_free(r.free_at);
    return failed;
}

/* --- queues as a mapping --- */

static bool producers_are_done(const h2h *h, int32_t layer)
{
    const th_layer *l = &h->workload->layers[layer];
    for (int i = 0; i < l->n_inputs; i++)
        if (l->inputs[i] >= 0 && !h->is_done[l->inputs[i]])
            return false;
    return true;
}

/* An order of all layers in which the queues and the graph are kept. False: there is none. */
static bool find_order(h2h *h, int32_t *order)
{
    int n = h->workload->n_layers, placed = 0, before = -1;
    memset(h->done, 0, (size_t)h->system->n_accels * sizeof *h->done);
    memset(h->is_done, 0, (size_t)n * sizeof *h->is_done);
    while (placed > before) {
        before = placed;
        for (int32_t a = 0; a < h->system->n_accels; a++)
            while (h->done[a] < h->n_queued[a] &&
                   producers_are_done(h, h->queue[a * n + h->done[a]])) {
                int32_t l = h->queue[a * n + h->done[a]++];
                h->is_done[l] = true;
                order[placed++] = l;
            }
    }
    return placed == n;
}

/* Into h->mapping. False: the queues contradict the graph. */
static bool fill_mapping(h2h *h, int step)
{
    th_mapping *m = h->mapping;
    memcpy(m->set_of, h->where, (size_t)m->n_layers * sizeof *m->set_of);
    if (!h->system->transfers_serially)
        return find_order(h, h->scratch);
    memset(m->weights, step >= 2 ? TH_WEIGHTS_AUTO : TH_WEIGHTS_STREAMED, (size_t)m->n_layers);
    m->activations_cross = step < 3;
    return find_order(h, m->order);
}

static th_mapping *new_mapping(const th_system *s, int n_layers)
{
    int32_t *sizes = th_alloc_array((size_t)s->n_accels, sizeof *sizes);
    for (int a = 0; sizes && a < s->n_accels; a++)
        sizes[a] = 1;
    th_mapping *m = sizes ? th_mapping_new(s->n_accels, sizes, n_layers) : NULL;
    th_free(sizes);
    for (int a = 0; m && a < s->n_accels; a++) {
        m->sets[a].design = s->nodes[s->accel_node[a]].a.designs[0];
        m->sets[a].accels[0] = a;
    }
    if (m && (!s->transfers_serially || th_mapping_add_queues(m) == 0))
        return m;
    th_mapping_free(m);
    return NULL;
}

/* --- step 4: remapping --- */

static int place_in_queue(const h2h *h, int32_t layer)
{
    const int32_t *queue = &h->queue[h->where[layer] * h->workload->n_layers];
    int i = 0;
    while (queue[i] != layer)
        i++;
    return i;
}

static void take_out(h2h *h, int32_t layer)
{
    int32_t a = h->where[layer], *queue = &h->queue[a * h->workload->n_layers];
    int i = place_in_queue(h, layer);
    h->n_queued[a]--;
    memmove(queue + i, queue + i + 1, (size_t)(h->n_queued[a] - i) * sizeof *queue);
}

static void put_in(h2h *h, int32_t layer, int32_t accel, int at)
{
    int32_t *queue = &h->queue[accel * h->workload->n_layers];
    memmove(queue + at + 1, queue + at, (size_t)(h->n_queued[accel] - at) * sizeof *queue);
    queue[at] = layer;
    h->n_queued[accel]++;
    h->where[layer] = accel;
}

/* Beside a neighbour on another accelerator, if that shortens the run. */
static int try_move(h2h *h, int32_t layer, int32_t neighbour, bool after, th_error *err)
{
    const th_layer *layers = h->workload->layers;
    int32_t from = h->where[layer], to = h->where[neighbour];
    th_fitness fitness;
    if (from == to || kind_of(&layers[layer]) != kind_of(&layers[neighbour]) ||
        *time_of(h, layer, to) < 0 || th_search_left(h->search, 1) == 0)
        return 0;
    int was = place_in_queue(h, layer);
    double best = h->search->best_fitness.value;
    take_out(h, layer);
    put_in(h, layer, to, place_in_queue(h, neighbour) + after);
    fitness.fit = TH_FIT_INFEASIBLE;
    if (fill_mapping(h, N_STEPS) &&
        th_search_evaluate(h->search, &h->mapping, 1, best, &fitness, err))
        return -1;
    if (fitness.fit == TH_FIT && fitness.value < best)
        return 0;
    take_out(h, layer);
    put_in(h, layer, from, was);
    return 0;
}

static int remap_layer(h2h *h, int32_t layer, th_error *err)
{
    const th_workload *w = h->workload;
    for (int i = 0; i < w->layers[layer].n_inputs; i++)
        if (w->layers[layer].inputs[i] >= 0 &&
            try_move(h, layer, w->layers[layer].inputs[i], true, err))
            return -1;
    for (int32_t i = w->consumer_start[layer]; i < w->consumer_start[layer + 1]; i++)
        if (try_move(h, layer, w->consumers[i], false, err))
            return -1;
    return 0;
}

/* --- the search --- */

static int init(th_search *s, th_error *err)
{
    h2h *h = s->state;
    size_t layers = (size_t)s->problem.workload->n_layers,
           accels = (size_t)s->problem.system->n_accels;
    *h = (h2h){.search = s,
               .system = s->problem.system,
               .workload = s->problem.workload,
               .time = th_alloc_zero(layers * accels, sizeof *h->time),
               .layer_end = th_alloc_zero(layers, sizeof *h->layer_end),
               .free_at = th_alloc_zero(accels, sizeof *h->free_at),
               .where = th_alloc_zero(layers, sizeof *h->where),
               .queue = th_alloc_zero(layers * accels + 1, sizeof *h->queue),
               .n_queued = th_alloc_zero(accels, sizeof *h->n_queued),
               .done = th_alloc_zero(accels, sizeof *h->done),
               .is_done = th_alloc_zero(layers, sizeof *h->is_done),
               .scratch = th_alloc_zero(layers, sizeof *h->scratch),
               .mapping = new_mapping(s->problem.system, s->problem.workload->n_layers)};
    if (!h->time || !h->layer_end || !h->free_at || !h->where || !h->queue || !h->n_queued ||
        !h->done || !h->is_done || !h->scratch || !h->mapping)
        return th_error_no_memory(err);
    for (size_t l = 0; l < layers; l++)
        h->layer_end[l] = -1;
    return 0;
}

static int step_of(const th_search *s)
{
    return s->options.steps > 0 ? s->options.steps : N_STEPS;
}

static int place_and_run(h2h *h, th_error *err)
{
    th_fitness fitness;
    if (estimate_all(h, err) || place_all(h, err))
        return -1;
    fill_mapping(h, step_of(h->search)); /* placed in an order of the graph */
    if (th_search_evaluate(h->search, &h->mapping, 1, INFINITY, &fitness, err))
        return -1;
    h->is_placed = true;
    h->search->done = step_of(h->search) < N_STEPS || fitness.fit != TH_FIT;
    return 0;
}

static int iterate(th_search *s, th_error *err)
{
    h2h *h = s->state;
    int32_t n = h->workload->n_layers;
    if (!h->is_placed)
        return place_and_run(h, err);
    if (remap_layer(h, h->walked++ % n, err))
        return -1;
    s->done = h->walked == WALKS * n;
    return 0;
}

static void clear(th_search *s)
{
    h2h *h = s->state;
    th_free(h->time);
    th_free(h->layer_end);
    th_free(h->free_at);
    th_free(h->where);
    th_free(h->queue);
    th_free(h->n_queued);
    th_free(h->done);
    th_free(h->is_done);
    th_free(h->scratch);
    th_mapping_free(h->mapping);
}

const th_search_type th_search_h2h = {
    .name = "h2h",
    .synopsis = "whole layers on accelerators in four steps (H2H, DAC'22)",
    .is_baseline = true,
    .initial = TH_INITIAL_RANDOM,
    .state_size = sizeof(h2h),
    .init = init,
    .iterate = iterate,
    .clear = clear,
};
