/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefix_path.c - the longest path through the tasks of one layer on its set, each task alone.
 *
 *   run: phases -> partial sums
 *
 * A task takes at least the time of bounds_task.c, a transfer the latency of its route plus its
 * bytes over the slowest link. Nothing else in the program shortens either (a flow never exceeds
 * its slowest link, and a task's bound holds for any DRAM contention), and each starts no sooner
 * than its predecessors end. */
#include <config.h>

#include "mapper/search/algorithms/prefix_path.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/evaluate/bounds_task.h"
#include "mapper/lower/plan_state.h"
#include "topology/routing/route.h"

int th_path_init(th_path *p, const th_problem *problem, th_error *err)
{
    size_t accels = (size_t)problem->system->n_accels + 1;
    const th_network_type *network = problem->network ? problem->network : th_network_types[0];
    *p = (th_path){.problem = problem,
                   .batch = problem->workload->batch / problem->stream.micro_batches,
                   .has_links = strncmp(network->name, "astra", 5) != 0};
    p->begin = th_alloc_zero(accels, sizeof *p->begin);
    p->end = th_alloc_zero(accels, sizeof *p->end);
    if (!p->begin || !p->end)
        return th_error_no_memory(err);
    p->plans = th_plans_new(problem->system, problem->workload, err);
    return p->plans ? 0 : -1;
}

void th_path_clear(th_path *p)
{
    th_plans_free(p->plans);
    th_free(p->begin);
    th_free(p->end);
    th_free(p->piece);
    th_free(p->task);
}

/* --- single tasks --- */

/* 0 or -1: out of memory. */
static int task_ps(th_path *x, int32_t number, double *ps)
{
    const size_t at = (size_t)number;
    if (th_grow(&x->task, &x->task_capacity, at + 1, sizeof *x->task))
        return -1;
    while (x->n_tasks < at + 1)
        x->task[x->n_tasks++] = -1;
    if (x->task[at] < 0) {
        const th_compute_cost *w = th_compute_cost_get(th_plans_costs(x->plans), number);
        x->task[at] = th_task_least_ps(&w->schedule, &w->port);
    }
    *ps = x->task[at];
    return 0;
}

static int node_of(const th_path *x, const th_placed *at, int r)
{
    return x->problem->system->accel_node[at->set->accels[r]];
}

/* Of bytes from node to node. 0 or -1: out of memory. */
int th_path_travel(const th_path *x, int from, int to, int64_t bytes, double *ps)
{
    static const double ROUNDING_PS = 1e-3; /* of a transfer, sim/kernel/fluid_time.h */
    th_route_summary r;
    *ps = 0;
    if (!x->has_links || from == to)
        return 0;
    if (th_route_summarize(x->problem->system, from, to, &r) < 0)
        return -1;
    double moves = r.bits_per_s == TH_UNLIMITED
                       ? 0
                       : (double)bytes * 8 * (double)TH_PS_PER_S / (double)r.bits_per_s;
    *ps = (double)r.latency_ps + fmax(moves - ROUNDING_PS, 0);
    return 0;
}

/* --- a layer --- */

static void later(double *time, double than)
{
    *time = fmax(*time, than);
}

/* When the piece of phase p is at position r (emit.c: emit_arrival). */
static int find_piece(th_path *x, const th_placed *at, const th_layer_plan *plan, int r, int p)
{
    int phases = plan->phases, from = plan->at[r].ring_from;
    double travel, *here = &x->piece[r * phases + p];
    int64_t bytes = plan->piece_bytes[r * phases + p];
    *here = 0;
    if (bytes == 0)
        return 0;
    if (th_path_travel(x, node_of(x, at, from), node_of(x, at, r), bytes, &travel))
        return -1;
    double ready = p == 1 ? fmax(x->begin[r], x->begin[from]) : x->piece[from * phases + p - 1];
    *here = ready + travel;
    return 0;
}

/* All phases of all positions: x->end. */
static int run_phases(th_path *x, const th_placed *at, const th_layer_plan *plan)
{
    if (th_grow(&x->piece, &x->piece_capacity, (size_t)plan->n * (size_t)plan->phases + 1,
                sizeof *x->piece))
        return -1;
    for (int r = 0; r < plan->n; r++)
        x->end[r] = x->begin[r];
    for (int p = 0; p < plan->phases; p++) {
        const int32_t *cost = p > 0 ? plan->cost_adding : plan->cost;
        for (int r = 0; p > 0 && r < plan->n; r++)
            if (find_piece(x, at, plan, r, p))
                return -1;
        for (int r = 0; r < plan->n; r++) {
            double takes;
            if (task_ps(x, cost[r * plan->phases + p], &takes))
                return -1;
            if (p > 0)
                later(&x->end[r], x->piece[r * plan->phases + p]);
            x->end[r] += takes;
        }
    }
    return 0;
}

/* When the parts of the output are there: after the exchange of partial sums, if there is one. */
static int exchange_sums(th_path *x, const th_placed *at, const th_layer_plan *plan, double *final)
{
    for (int r = 0; r < plan->n; r++)
        final[r] = x->end[r];
    for (int r = 0; r < plan->n; r++) {
        for (int i = 0; i < plan->at[r].n_sends; i++) {
            const th_partial_send *v = &plan->sends[plan->at[r].first_send + i];
            double travel;
            if (th_path_travel(x, node_of(x, at, r), node_of(x, at, v->to), v->bytes, &travel))
                return -1;
            later(&final[v->to], x->end[r] + travel);
        }
    }
    for (int r = 0; r < plan->n; r++) {
        double takes = 0;
        if (plan->at[r].reduce_cost >= 0 && task_ps(x, plan->at[r].reduce_cost, &takes))
            return -1;
        final[r] += takes;
    }
    return 0;
}

int th_path_run(th_path *x, const th_placed *at, const th_layer_plan *plan, double *final)
{
    return run_phases(x, at, plan) || exchange_sums(x, at, plan, final) ? -1 : 0;
}

int th_path_departure(const th_path *x, const th_placed *at, const th_layer_plan *plan, int r,
                      double *ps)
{
    const th_workload *w = x->problem->workload;
    int host = th_plans_host_of(x->plans, at->set->accels[r]);
    int64_t bytes = th_tensor_bytes(th_box_elements(&plan->at[r].held),
                                    w->layers[at->layer].precision[TH_TENSOR_OUTPUT]);
    *ps = 0;
    if (w->consumer_start[at->layer] < w->consumer_start[at->layer + 1] || host < 0 || bytes == 0)
        return 0;
    return th_path_travel(x, node_of(x, at, r), host, bytes, ps);
}
