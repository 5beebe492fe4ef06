/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capability.c - estimates of which set can run which layers, and how fast.
 *
 *   analyze -> (capability)* -> clear_analysis
 *
 * Accelerators are of one kind when they can take the same designs and have equal memories and
 * vector units. Estimates are made once for each sequence of kinds; links are left to the
 * simulation. A set of heterogeneous accelerators shares in proportion to 1 / (the time that a
 * member alone would take for all layers that every member can run), or equally. */
#include <config.h>

#include "mapper/search/partition/partition_state.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/strategies.h"

enum { FINEST_SHARE = 1000 }; /* of the fastest member */

/* --- the problem --- */

static bool are_same_kind(const th_system *s, const th_compute_cost_cache *costs, int a, int b)
{
    const th_accel *x = &s->nodes[s->accel_node[a]].a, *y = &s->nodes[s->accel_node[b]].a;
    return th_compute_cost_memory_class(costs, a) == th_compute_cost_memory_class(costs, b) &&
           x->n_designs == y->n_designs && x->dram_bytes == y->dram_bytes &&
           (x->n_designs == 0 ||
            memcmp(x->designs, y->designs, (size_t)x->n_designs * sizeof *x->designs) == 0);
}

bool th_has_several_kinds(const th_plans *plans, const th_system *s)
{
    bool several = false;
    for (int a = 1; !several && a < s->n_accels; a++)
        several = !are_same_kind(s, th_plans_costs(plans), 0, a);
    return several;
}

static void find_kinds(th_partitioner *pr)
{
    const th_compute_cost_cache *costs = th_plans_costs(th_initial_plans(pr->generator));
    for (int a = 0; a < pr->problem->system->n_accels; a++) {
        int same = 0;
        while (same < a && !are_same_kind(pr->problem->system, costs, same, a))
            same++;
        pr->kind_of[a] = same;
    }
}

static void find_branches(th_partitioner *pr)
{
    const th_workload *w = pr->problem->workload;
    for (int i = 0; i < w->n_layers; i++) {
        const th_layer *layer = &w->layers[i];
        int32_t branch = -2; /* none yet */
        for (int j = 0; j < layer->n_inputs; j++) {
            if (layer->inputs[j] < 0)
                continue;
            int32_t its = pr->branch_of[layer->inputs[j]];
            branch = branch == -2 || branch == its ? its : -1;
        }
        pr->branch_of[i] = branch == -2 ? pr->n_branches++ : branch;
    }
}

static bool is_ready(const th_workload *w, int layer, const bool *is_placed)
{
    bool ready = !is_placed[layer];
    for (int i = 0; i < w->layers[layer].n_inputs; i++)
        ready &= w->layers[layer].inputs[i] < 0 || is_placed[w->layers[layer].inputs[i]];
    return ready;
}

static bool reads(const th_layer *layer, int producer)
{
    bool does = false;
    for (int i = 0; i < layer->n_inputs; i++)
        does |= layer->inputs[i] == producer;
    return does;
}

/* Orders layers by branch: follows a branch to its end, then takes the first layer that is
 * ready. */
static void order_by_branch(th_partitioner *pr, bool *is_placed)
{
    const th_workload *w = pr->problem->workload;
    int n = 0, first = 0;
    while (n < w->n_layers) {
        while (is_placed[first])
            first++;
        for (int at = first; at < w->n_layers && n < w->n_layers;) {
            int last = at;
            pr->order[n++] = at;
            is_placed[at] = true;
            for (at = last + 1; at < w->n_layers; at++)
                if (reads(&w->layers[at], last) && is_ready(w, at, is_placed))
                    break;
        }
    }
}

/* NULL: out of memory. */
static th_capability_cache *new_cache(void)
{
    th_capability_cache *known = th_alloc_zero(1, sizeof *known);
    if (known && !(known->by_key = th_shared_map_new())) {
        th_free(known);
        return NULL;
    }
    return known;
}

int th_partitioner_analyze(th_partitioner *pr, th_error *err)
{
    size_t layers = (size_t)pr->problem->workload->n_layers + 1,
           accels = (size_t)pr->problem->system->n_accels + 1;
    bool *is_placed = th_alloc_zero(layers, sizeof *is_placed);
    pr->kind_of = th_alloc_zero(accels, sizeof *pr->kind_of);
    pr->leaf_of = th_alloc_zero(accels, sizeof *pr->leaf_of);
    pr->branch_of = th_alloc_zero(layers, sizeof *pr->branch_of);
    pr->order = th_alloc_zero(layers, sizeof *pr->order);
    pr->capabilities = new_cache();
    bool failed = !is_placed || !pr->kind_of || !pr->leaf_of || !pr->branch_of || !pr->order ||
                  !pr->capabilities;
    if (!failed) {
        find_kinds(pr);
        find_branches(pr);
        order_by_branch(pr, is_placed);
        for (size_t i = 0; i < pr->tree.n; i++)
            if (pr->tree.node[i].n == 1)
                pr->leaf_of[pr->tree.node[i].accels[0]] = (int32_t)i;
    }
    th_free(is_placed);
    return failed ? th_error_no_memory(err) : 0;
}

/* --- shares --- */

bool th_partitioner_can_split(const th_partitioner *pr, int layer, int32_t n)
{
    const th_workload *w = pr->problem->workload;
    th_strategy s = th_strategy_single;
    return th_strategy_repair(&s, &w->layers[layer], w->batch / pr->problem->stream.micro_batches,
                              n) &&
           s.copies == 0;
}

bool th_partitioner_is_heterogeneous(const th_partitioner *pr, const int32_t *accels, int32_t n)
{
    bool differs = false;
    for (int32_t i = 1; i < n; i++)
        differs |= pr->kind_of[accels[i]] != pr->kind_of[accels[0]];
    return differs;
}

static const th_capability *capability_alone(th_partitioner *pr, int32_t accel, int32_t design,
                                             th_error *err)
{
    return th_partitioner_capability(pr, &(th_set){design, 1, &accel, NULL}, err);
}

int th_partitioner_runs_alone(th_partitioner *pr, int32_t accel, int layer, th_error *err)
{
    const th_system *s = pr->problem->system;
    const th_accel *a = &s->nodes[s->accel_node[accel]].a;
    for (int d = 0; d < a->n_designs; d++) {
        const th_capability *alone = capability_alone(pr, accel, a->designs[d], err);
        if (!alone)
            return -1;
        if (alone->time[layer] < TH_TIME_MAX)
            return 1;
    }
    return 0;
}

bool th_partitioner_may_run(const th_partitioner *pr, int layer, int32_t node)
{
    const th_set_node *n = &pr->tree.node[node];
    return th_constraints_allows_set(pr->problem->constraints, layer,
                                     &(th_set){TH_DESIGN_OWN, n->n, n->accels, NULL});
}

/* Layers that some member cannot run do not count. */
static int keep_common(th_partitioner *pr, const th_set *set, bool *counts, th_error *err)
{
    for (int r = 0; r < set->n_accels; r++) {
        const th_capability *alone = capability_alone(pr, set->accels[r], set->design, err);
        if (!alone)
            return -1;
        for (int i = 0; i < pr->problem->workload->n_layers; i++)
            counts[i] &= alone->time[i] < TH_TIME_MAX;
    }
    return 0;
}

/* Into set->shares, NULL for equal ones. counts: layers concerned; changed. 0 or -1. */
static int share_by_speed(th_partitioner *pr, th_set *set, bool *counts, th_error *err)
{
    double *sum = th_alloc_zero((size_t)set->n_accels + 1, sizeof *sum), least = 0;
    int32_t *shares = th_alloc_zero((size_t)set->n_accels + 1, sizeof *shares);
    bool is_equal = true;
    int failed = sum && shares ? keep_common(pr, set, counts, err) : th_error_no_memory(err);
    for (int r = 0; !failed && r < set->n_accels; r++) {
        const th_capability *alone = /* known by now */
            capability_alone(pr, set->accels[r], set->design, err);
        for (int i = 0; i < pr->problem->workload->n_layers; i++)
            sum[r] += counts[i] ? (double)alone->time[i] : 0;
        least = r == 0 || sum[r] < least ? sum[r] : least;
    }
    for (int r = 0; !failed && r < set->n_accels; r++) {
        shares[r] = sum[r] > 0 ? (int32_t)(FINEST_SHARE * least / sum[r] + 0.5) : 1;
        shares[r] = shares[r] > 1 ? shares[r] : 1;
        is_equal &= shares[r] == shares[0];
    }
    if (!failed && th_set_share(set, is_equal ? NULL : shares))
        failed = th_error_no_memory(err);
    th_free(sum);
    th_free(shares);
    return failed;
}

int th_partitioner_set_shares(th_partitioner *pr, th_mapping *m, int set, th_error *err)
{
    th_set *s = &m->sets[set];
    const th_set *given = th_constraints_fixed_set(pr->problem->constraints, s);
    if (given)
        return th_set_share(s, given->shares) ? th_error_no_memory(err) : 0;
    if (!th_partitioner_is_heterogeneous(pr, s->accels, s->n_accels)) {
        th_set_share(s, NULL);
        return 0;
    }
    bool *counts = th_alloc_zero((size_t)m->n_layers + 1, sizeof *counts);
    if (!counts)
        return th_error_no_memory(err);
    for (int i = 0; i < m->n_layers; i++)
        counts[i] = m->set_of[i] == set && th_layer_has_macs(&pr->problem->workload->layers[i]);
    int failed = share_by_speed(pr, s, counts, err);
    th_free(counts);
    return failed;
}

/* --- capabilities --- */

static int estimate(th_partitioner *pr, const th_set *set, th_time *time, th_error *err)
{
    const th_workload *w = pr->problem->workload;
    for (int i = 0; i < w->n_layers; i++) {
        if (!th_layer_has_macs(&w->layers[i])) {
            bool can =
                !pr->problem->without_copies || th_partitioner_can_split(pr, i, set->n_accels);
            time[i] = can ? 0 : TH_TIME_MAX;
            continue;
        }
        const th_choices *c = th_initial_choices(pr->generator, set, i, err);
        if (!c)
            return -1;
        time[i] = c->n > 0 ? c->time[0] : TH_TIME_MAX;
    }
    return 0;
}

static int make_capability(th_partitioner *pr, const th_set *of, th_capability *out, th_error *err)
{
    const th_workload *w = pr->problem->workload;
    th_set set = {of->design, of->n_accels, of->accels, NULL};
    bool *counts = th_alloc_zero((size_t)w->n_layers + 1, sizeof *counts);
    out->time = th_alloc_zero((size_t)w->n_layers + 1, sizeof *out->time);
    int failed = out->time && counts ? 0 : th_error_no_memory(err);
    for (int i = 0; !failed && i < w->n_layers; i++)
        counts[i] = th_layer_has_macs(&w->layers[i]);
    if (!failed && th_partitioner_is_heterogeneous(pr, set.accels, set.n_accels))
        failed = share_by_speed(pr, &set, counts, err);
    if (!failed)
        failed = estimate(pr, &set, out->time, err);
    out->shares = set.shares;
    th_free(counts);
    return failed;
}

static void free_capability(th_capability *a)
{
    th_free(a->time);
    th_free(a->shares);
    th_free(a);
}

/* Takes a over. Returns the capability that the key has from now on, a or another thread's. NULL:
 * out of memory. */
static const th_capability *keep(th_capability_cache *known, th_capability *a, const int32_t *key,
                                 size_t bytes)
{
    const th_capability *kept = th_shared_map_add(known->by_key, key, bytes, a);
    if (kept != a) {
        free_capability(a);
        return kept;
    }
    a->next = atomic_load(&known->all);
    while (!atomic_compare_exchange_weak(&known->all, &a->next, a))
        continue;
    return a;
}

static const th_capability *make_and_keep(th_partitioner *pr, const th_set *set, const int32_t *key,
                                          size_t bytes, th_error *err)
{
    th_capability *made = th_alloc_zero(1, sizeof *made);
    if (!made) {
        th_error_no_memory(err);
        return NULL;
    }
    if (make_capability(pr, set, made, err)) {
        free_capability(made);
        return NULL;
    }
    const th_capability *kept = keep(pr->capabilities, made, key, bytes);
    if (!kept)
        th_error_no_memory(err);
    return kept;
}

const th_capability *th_partitioner_capability(th_partitioner *pr, const th_set *set, th_error *err)
{
    size_t n = (size_t)set->n_accels + 1;
    int32_t *key = th_alloc_array(n, sizeof *key);
    if (!key) {
        th_error_no_memory(err);
        return NULL;
    }
    key[0] = set->design;
    for (size_t i = 1; i < n; i++) /* of several, the links between them count, too */
        key[i] = set->n_accels > 1 ? set->accels[i - 1] : pr->kind_of[set->accels[0]];
    const th_capability *known = th_shared_map_find(pr->capabilities->by_key, key, n * sizeof *key);
    if (!known)
        known = make_and_keep(pr, set, key, n * sizeof *key, err);
    th_free(key);
    return known;
}

const th_capability *th_partitioner_node_capability(th_partitioner *pr, int32_t node,
                                                    int32_t design, th_error *err)
{
    const th_set_node *n = &pr->tree.node[node];
    return th_partitioner_capability(pr, &(th_set){design, n->n, n->accels, NULL}, err);
}

static void free_cache(th_capability_cache *known)
{
    if (!known)
        return;
    for (th_capability *a = atomic_load(&known->all), *next; a; a = next) {
        next = a->next;
        free_capability(a);
    }
    th_shared_map_free(known->by_key);
    th_free(known);
}

void th_partitioner_clear_analysis(th_partitioner *pr)
{
    free_cache(pr->capabilities);
    th_free(pr->kind_of);
    th_free(pr->leaf_of);
    th_free(pr->branch_of);
    th_free(pr->order);
}
