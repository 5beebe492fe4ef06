/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_assignment.c - assigns layers to the sets of a partition.
 *
 *   mapping: capabilities of the sets -> by ranges | by earliest finish | uneven -> layers
 *     that a set cannot run move -> shares -> strategies
 *
 * By ranges: contiguous in the order of whole branches. Sets that are equally fast get near-equal
 * sums of time; for heterogeneous sets bisection finds the ranges whose longest time is least. By
 * branches: whole branches to disjoint sets by work, what joins them to a set of all. By
 * earliest finish, in the manner of HEFT (Topcuoglu et al., 2002): a layer's rank is its mean time
 * over the sets that can run it, plus the longest path of ranks and mean transfers from it to an
 * output. In order of falling rank every layer goes to the set where it ends earliest, given where
 * its producers end and the transfer times on an idle network. Layers that no other feeds or reads
 * (jobs side by side) are then moved and exchanged as long as the sum of squares of the sets' ends
 * decreases. Layers of the vector unit cost nothing. All times are estimates (capability.c) that
 * may be perturbed; the search simulates the resulting mappings. */
#include <config.h>

#include "mapper/search/partition/partition_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "topology/routing/route.h"

enum { BISECTIONS = 40, JOBS_MAX = 128 /* layers that are exchanged one by one */ };

typedef struct {
    const th_partitioner *partitioner;
    const th_partition *p;
    const th_workload *workload;
    th_time *time;   /* per set and layer, perturbed; TH_TIME_MAX: cannot */
    bool is_uniform; /* all sets are equally fast */
    int32_t *set_of;
    /* by earliest finish */
    double *rank;
    int32_t *order;
    double *end;
    double set_end[TH_PARTITION_SETS_MAX];
    double *seconds_per_byte, *latency; /* n x n, in ps */
} assigner;

static th_time time_on(const assigner *g, int32_t set, int layer)
{
    return g->time[(size_t)set * (size_t)g->workload->n_layers + (size_t)layer];
}

/* --- what sets can do --- */

static int32_t design_of(const th_partition *p, const int32_t *design, int32_t set)
{
    return design[p->assignment == TH_ASSIGN_BRANCHES ? 0 : set];
}

static int get_times(assigner *g, th_partitioner *pr, const int32_t *design, th_jitter jitter,
                     th_error *err)
{
    int n = g->workload->n_layers;
    g->is_uniform = true;
    for (int32_t set = 0; set < g->p->n; set++) {
        const th_capability *a =
            th_partitioner_node_capability(pr, g->p->node[set], design_of(g->p, design, set), err);
        if (!a)
            return -1;
        for (int i = 0; i < n; i++) {
            th_time *own = &g->time[(size_t)set * (size_t)n + (size_t)i];
            *own = th_partitioner_may_run(pr, i, g->p->node[set]) ? a->time[i] : TH_TIME_MAX;
            g->is_uniform &= *own == g->time[i];
            if (*own < TH_TIME_MAX)
                *own = (th_time)((double)*own * th_jitter_factor(jitter));
        }
    }
    return 0;
}

/* Where the layer is fastest, or -1; off the array where its first producer is, if that can run
 * it. */
static int32_t fastest(const assigner *g, int layer)
{
    const th_layer *at = &g->workload->layers[layer];
    int32_t best = -1;
    for (int32_t set = 0; set < g->p->n; set++)
        if (time_on(g, set, layer) < TH_TIME_MAX &&
            (best < 0 || time_on(g, set, layer) < time_on(g, best, layer)))
            best = set;
    for (int i = at->n_inputs - 1; i >= 0 && !th_layer_has_macs(at); i--)
        if (at->inputs[i] >= 0 && time_on(g, g->set_of[at->inputs[i]], layer) < TH_TIME_MAX)
            best = g->set_of[at->inputs[i]];
    return best;
}

/* Layers on sets that cannot run them move. 0, or 1: some layer has no place. */
static int move_unsupported(assigner *g)
{
    for (int i = 0; i < g->workload->n_layers; i++) {
        if (time_on(g, g->set_of[i], i) < TH_TIME_MAX)
            continue;
        int32_t to = fastest(g, i);
        if (to < 0)
            return 1;
        g->set_of[i] = to;
    }
    return 0;
}

/* --- by ranges --- */

static void cut_evenly(assigner *g)
{
    th_time all = 0, so_far = 0;
    int32_t n = g->p->n;
    for (int i = 0; i < g->workload->n_layers; i++)
        all += time_on(g, 0, i) < TH_TIME_MAX ? time_on(g, 0, i) : 0;
    for (int i = 0; i < g->workload->n_layers; i++) {
        int layer = g->partitioner->order[i];
        int32_t set = (int32_t)((double)so_far * n / ((double)all + 1));
        g->set_of[layer] = set < n ? set : n - 1;
        so_far += time_on(g, 0, layer) < TH_TIME_MAX ? time_on(g, 0, layer) : 0;
    }
}

/* Fills the sets in order, each up to the limit. Do all layers find a place? */
static bool fill(assigner *g, double limit)
{
    double used = 0;
    int32_t set = 0;
    for (int i = 0; i < g->workload->n_layers; i++) {
        int layer = g->partitioner->order[i];
        for (; set < g->p->n; set++, used = 0) {
            th_time own = time_on(g, set, layer);
            if (own == TH_TIME_MAX) /* move_unsupported moves it */
                break;
            if (used + (double)own <= limit) {
                used += (double)own;
                break;
            }
        }
        if (set == g->p->n)
            return false;
        g->set_of[layer] = set;
    }
    return true;
}

static void cut_heterogeneous(assigner *g)
{
    double low = 0, high = 1;
    while (!fill(g, high))
        high *= 2;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (fill(g, middle))
            high = middle;
        else
            low = middle;
    }
    fill(g, high);
}

/* --- by finish --- */

static double bytes_of(const assigner *g, int tensor)
{
    const th_layer *at = &g->workload->layers[tensor];
    return (double)th_tensor_bytes(th_layer_output_elements(at), at->precision[TH_TENSOR_OUTPUT]) /
           g->partitioner->problem->stream.micro_batches;
}

static double transfer(const assigner *g, int32_t from, int32_t to, int tensor)
{
    size_t at = (size_t)from * (size_t)g->p->n + (size_t)to;
    return from == to ? 0 : g->latency[at] + bytes_of(g, tensor) * g->seconds_per_byte[at];
}

/* Between the first accelerators of the sets. 0, or -1: out of memory. */
static int find_transfer_costs(assigner *g)
{
    const double ps_bits_per_byte = 8e12;
    const th_system *s = g->partitioner->problem->system;
    for (int32_t i = 0; i < g->p->n; i++) {
        for (int32_t j = 0; j < g->p->n; j++) {
            th_route_summary route = {0};
            int from = s->accel_node[g->partitioner->tree.node[g->p->node[i]].accels[0]],
                to = s->accel_node[g->partitioner->tree.node[g->p->node[j]].accels[0]];
            size_t at = (size_t)i * (size_t)g->p->n + (size_t)j;
            int status = i == j ? 0 : th_route_of_message(s, from, to, TH_ANY_BYTES, &route);
            if (status == TH_NO_MEMORY)
                return -1;
            g->latency[at] = (double)route.latency_ps;
            g->seconds_per_byte[at] =
                i != j && route.bits_per_s > 0 ? ps_bits_per_byte / (double)route.bits_per_s : 0;
        }
    }
    return 0;
}

static double mean_time(const assigner *g, int layer)
{
    double sum = 0;
    int n = 0;
    for (int32_t set = 0; set < g->p->n; set++) {
        if (time_on(g, set, layer) == TH_TIME_MAX)
            continue;
        sum += (double)time_on(g, set, layer);
        n++;
    }
    return n > 0 ? sum / n : 0;
}

static double mean_transfer(const assigner *g, int tensor)
{
    double sum = 0;
    for (int32_t i = 0; i < g->p->n; i++)
        for (int32_t j = 0; j < g->p->n; j++)
            sum += transfer(g, i, j, tensor);
    return sum / ((double)g->p->n * g->p->n);
}

/* Producers stand before their readers, so from the last layer back every rank is known. */
static void find_ranks(assigner *g)
{
    int n = g->workload->n_layers;
    for (int i = n - 1; i >= 0; i--) {
        const th_layer *at = &g->workload->layers[i];
        g->rank[i] += mean_time(g, i);
        for (int j = 0; j < at->n_inputs; j++) {
            int from = at->inputs[j];
            if (from < 0)
                continue;
            double through = g->rank[i] + mean_transfer(g, from);
            g->rank[from] = through > g->rank[from] ? through : g->rank[from];
        }
    }
}

static void order_by_rank(assigner *g)
{
    for (int i = 0; i < g->workload->n_layers; i++) {
        int at = i;
        for (; at > 0 && g->rank[g->order[at - 1]] < g->rank[i]; at--)
            g->order[at] = g->order[at - 1];
        g->order[at] = i;
    }
}

/* Off the array a layer stays with one of its producers where it can. */
static bool may_take(const assigner *g, int32_t set, int layer)
{
    const th_layer *at = &g->workload->layers[layer];
    bool is_there = th_layer_has_macs(at), is_possible = is_there;
    for (int i = 0; i < at->n_inputs && !th_layer_has_macs(at); i++) {
        if (at->inputs[i] < 0)
            continue;
        is_there |= g->set_of[at->inputs[i]] == set;
        is_possible |= time_on(g, g->set_of[at->inputs[i]], layer) < TH_TIME_MAX;
    }
    return time_on(g, set, layer) < TH_TIME_MAX && (is_there || !is_possible);
}

static int place(assigner *g, int layer)
{
    const th_layer *at = &g->workload->layers[layer];
    int32_t best = -1;
    double best_end = 0;
    for (int32_t set = 0; set < g->p->n; set++) {
        double start = th_layer_has_macs(at) ? g->set_end[set] : 0;
        if (!may_take(g, set, layer))
            continue;
        for (int i = 0; i < at->n_inputs; i++) {
            int from = at->inputs[i];
            double there = from < 0 ? 0 : g->end[from] + transfer(g, g->set_of[from], set, from);
            start = there > start ? there : start;
        }
        double end = start + (double)time_on(g, set, layer);
        if (best < 0 || end < best_end) {
            best = set;
            best_end = end;
        }
    }
    if (best < 0)
        return 1;
    g->set_of[layer] = best;
    g->end[layer] = best_end;
    if (th_layer_has_macs(at))
        g->set_end[best] = best_end;
    return 0;
}

static bool is_job(const assigner *g, int layer)
{
    const th_workload *w = g->workload;
    bool is_fed = false;
    for (int i = 0; i < w->layers[layer].n_inputs; i++)
        is_fed |= w->layers[layer].inputs[i] >= 0;
    return !is_fed && w->consumer_start[layer] == w->consumer_start[layer + 1] &&
           th_layer_has_macs(&w->layers[layer]);
}

/* Job a goes to another set, and job b of that set (-1: none) to a's, if this is an improvement. */
static bool exchange(assigner *g, int a, int32_t to, int b)
{
    int32_t from = g->set_of[a];
    th_time there = time_on(g, to, a), back = b < 0 ? 0 : time_on(g, from, b);
    if (there == TH_TIME_MAX || back == TH_TIME_MAX)
        return false;
    double x = g->set_end[from], y = g->set_end[to];
    double next_x = x - (double)time_on(g, from, a) + (double)back,
           next_y = y + (double)there - (b < 0 ? 0 : (double)time_on(g, to, b));
    if (next_x * next_x + next_y * next_y > (x * x + y * y) * (1 - 1e-9))
        return false;
    g->set_end[from] = next_x;
    g->set_end[to] = next_y;
    g->set_of[a] = to;
    if (b >= 0)
        g->set_of[b] = from;
    return true;
}

static bool improve_job(assigner *g, const int *job, int n, int a)
{
    bool improved = false;
    for (int32_t to = 0; to < g->p->n; to++) {
        improved |= g->set_of[a] != to && exchange(g, a, to, -1);
        for (int i = 0; i < n; i++)
            improved |= g->set_of[a] != to && g->set_of[job[i]] == to && exchange(g, a, to, job[i]);
    }
    return improved;
}

static void balance_jobs(assigner *g)
{
    int job[JOBS_MAX], n = 0;
    for (int i = 0; i < g->workload->n_layers && n < JOBS_MAX; i++)
        if (is_job(g, i))
            job[n++] = i;
    for (bool improved = true; improved;) {
        improved = false;
        for (int i = 0; i < n; i++)
            improved |= improve_job(g, job, n, job[i]);
    }
}

static int by_finish(assigner *g, th_error *err)
{
    size_t layers = (size_t)g->workload->n_layers + 1, pairs = (size_t)g->p->n * (size_t)g->p->n;
    g->rank = th_alloc_zero(layers, sizeof *g->rank);
    g->order = th_alloc_zero(layers, sizeof *g->order);
    g->end = th_alloc_zero(layers, sizeof *g->end);
    g->seconds_per_byte = th_alloc_zero(pairs, sizeof *g->seconds_per_byte);
    g->latency = th_alloc_zero(pairs, sizeof *g->latency);
    if (!g->rank || !g->order || !g->end || !g->seconds_per_byte || !g->latency ||
        find_transfer_costs(g))
        return th_error_no_memory(err);
    find_ranks(g);
    order_by_rank(g);
    for (int i = 0; i < g->workload->n_layers; i++)
        if (place(g, g->order[i]))
            return 1;
    balance_jobs(g);
    return 0;
}

/* --- branches --- */

typedef struct {
    int32_t branch;
    double macs;
} branch_work;

static int by_falling_work(const void *a, const void *b)
{
    const branch_work *x = a, *y = b;
    if (x->macs != y->macs)
        return x->macs > y->macs ? -1 : 1;
    return x->branch - y->branch;
}

/* A branch to the set where it leaves least work per accelerator; of equal ones the emptier. */
static int32_t place_branch(const assigner *g, double macs, double *load)
{
    int32_t best = 1;
    for (int32_t set = 2; set < g->p->n; set++) {
        double there = (load[set] + macs) / g->partitioner->tree.node[g->p->node[set]].n,
               at_best = (load[best] + macs) / g->partitioner->tree.node[g->p->node[best]].n;
        if (there < at_best || (there == at_best && load[set] < load[best]))
            best = set;
    }
    load[best] += macs;
    return best;
}

static int by_branches(assigner *g, th_error *err)
{
    const th_partitioner *pr = g->partitioner;
    int32_t n = pr->n_branches;
    double load[TH_PARTITION_SETS_MAX] = {0};
    branch_work *work = th_alloc_zero((size_t)n + 1, sizeof *work);
    if (!work)
        return th_error_no_memory(err);
    for (int32_t b = 0; b < n; b++)
        work[b].branch = b;
    for (int l = 0; l < g->workload->n_layers; l++)
        if (pr->branch_of[l] >= 0)
            work[pr->branch_of[l]].macs += (double)th_layer_macs(&g->workload->layers[l]);
    qsort(work, (size_t)n, sizeof *work, by_falling_work);
    for (int32_t i = 0; i < n; i++) {
        const branch_work *next = &work[(i + g->p->first_branch) % n];
        int32_t set = place_branch(g, next->macs, load);
        for (int l = 0; l < g->workload->n_layers; l++)
            if (pr->branch_of[l] == next->branch)
                g->set_of[l] = set;
    }
    th_free(work);
    return move_unsupported(g);
}

/* --- all together --- */

static int assign(assigner *g, th_error *err)
{
    switch (g->p->assignment) {
    case TH_ASSIGN_EARLIEST_FINISH:
        return by_finish(g, err);
    case TH_ASSIGN_BRANCHES:
        return by_branches(g, err);
    case TH_ASSIGN_UNEVEN:
        for (int i = 0; i < g->workload->n_layers; i++)
            g->set_of[i] = time_on(g, 1, i) < TH_TIME_MAX &&
                           th_partitioner_can_split(g->partitioner, i,
                                                    g->partitioner->tree.node[g->p->node[1]].n);
        break;
    case TH_ASSIGN_RANGES:
        if (g->is_uniform)
            cut_evenly(g);
        else
            cut_heterogeneous(g);
        break;
    }
    return move_unsupported(g);
}

int th_partitioner_assign_layers(th_partitioner *pr, const th_partition *p, const int32_t *design,
                                 th_jitter jitter, int32_t *set_of, th_error *err)
{
    assigner g = {.partitioner = pr, .p = p, .workload = pr->problem->workload, .set_of = set_of};
    const th_jitter jitter_of_times =
        p->assignment == TH_ASSIGN_EARLIEST_FINISH ? jitter : (th_jitter){0};
    g.time = th_alloc_zero((size_t)p->n * (size_t)g.workload->n_layers + 1, sizeof *g.time);
    int failed = g.time ? get_times(&g, pr, design, jitter_of_times, err) : th_error_no_memory(err);
    if (!failed)
        failed = assign(&g, err);
    th_free(g.time);
    th_free(g.rank);
    th_free(g.order);
    th_free(g.end);
    th_free(g.seconds_per_byte);
    th_free(g.latency);
    return failed;
}

static th_mapping *empty_mapping(const th_partitioner *pr, const th_partition *p,
                                 const int32_t *design)
{
    int32_t sizes[TH_PARTITION_SETS_MAX];
    for (int32_t i = 0; i < p->n; i++)
        sizes[i] = pr->tree.node[p->node[i]].n;
    th_mapping *m = th_mapping_new(p->n, sizes, pr->problem->workload->n_layers);
    for (int32_t i = 0; m && i < p->n; i++) {
        m->sets[i].design = design_of(p, design, i);
        th_set_tree_interleave(&pr->tree, p->node[i], p->block, m->sets[i].accels);
    }
    return m;
}

int th_partitioner_mapping(th_partitioner *pr, const th_partition *p, const int32_t *design,
                           th_jitter jitter, th_mapping **out, th_error *err)
{
    const th_problem *problem = pr->problem;
    th_mapping *m = empty_mapping(pr, p, design);
    int failed = m ? th_partitioner_assign_layers(pr, p, design, jitter, m->set_of, err)
                   : th_error_no_memory(err);
    if (!failed && p->assignment == TH_ASSIGN_BRANCHES)
        th_mapping_drop_idle_sets(m);
    for (int32_t set = 0; !failed && set < m->n_sets; set++) {
        th_time estimate;
        failed =
            p->equal_shares && set >= pr->n_given ? 0 : th_partitioner_set_shares(pr, m, set, err);
        if (!failed)
            failed = th_initial_solve(pr->generator, m, set, jitter, &estimate, err);
    }
    if (!failed && th_constraints_apply(problem->constraints, m, problem->workload,
                                        problem->workload->batch / problem->stream.micro_batches))
        failed = th_error_no_memory(err);
    if (m)
        m->generator = jitter.most > 0 ? TH_GENERATOR_PERTURBED : TH_GENERATOR_DYNAMIC_PROGRAMMING;
    *out = failed ? NULL : m;
    if (failed)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}
