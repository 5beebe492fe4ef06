/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefix.c - the longest path through the tasks of the first layers, each for itself alone, and what
 * any mapping takes after them.
 *
 *   new -> (push: plan -> arrivals -> phases -> partial sums -> the rest | pop)* -> free
 *
 * A task takes as long as bounds_layer.c says at least, a transfer the latencies of its route and its
 * bytes over the narrowest link: nothing that goes on besides makes either shorter (a flow gets no
 * more than its narrowest link, a task is bounded whatever others draw from its DRAM), and each
 * starts no sooner than what it depends on has ended. So the path holds whatever else is in the
 * program, before or after. Only the order of tasks on an accelerator, and links that are shared, are
 * left out. After a layer follows the tail that bounds.c knows of it.
 * Invariant: final[l] of a decided layer l, and the arrivals of its records, are lower bounds of the
 * ends of those tasks in the first pass. */
#include <config.h>

#include "mapper/search/prefix.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/bounds.h"
#include "mapper/bounds_layer.h"
#include "mapper/lower/plan_state.h"
#include "topology/route.h"

/* One reading of a tensor by a decided layer, in the order of plans (lower.c). */
typedef struct {
    int32_t tensor, part; /* which network of the workload: external inputs are shared inside it */
    const th_edge_plan *plan;
    size_t first; /* of its arrivals */
} record;

struct th_prefix {
    th_problem problem;
    th_plans *plans;
    int32_t batch; /* of the first pass */
    int n;         /* layers decided */
    th_placed *placed;
    const th_layer_plan **plan;
    double *final;  /* by layer and position */
    double *least;  /* by layer: of the prefix up to it */
    double *tail;   /* by layer */
    size_t *records_before, *arrivals_before; /* by layer */
    record *records;
    size_t n_records, record_capacity;
    double *arrival;
    size_t n_arrivals, arrival_capacity;
    th_placed *consumers;        /* scratch */
    double *begin, *end, *piece; /* scratch: by position; by position and phase */
    size_t piece_capacity;
    double *task; /* by work; less than 0: not known yet */
    size_t n_tasks, task_capacity;
    bool has_links; /* transfers take their links' time */
};

/* --- life ------------------------------------------------------------------------------------- */

static int allocate(th_prefix *x)
{
    size_t n = (size_t)x->problem.workload->n_layers + 1,
           accels = (size_t)x->problem.system->n_accels, readings = 1;
    for (int l = 0; l < x->problem.workload->n_layers; l++)
        readings += (size_t)x->problem.workload->layers[l].n_inputs;
    x->placed = th_alloc_zero(n, sizeof *x->placed);
    x->plan = th_alloc_zero(n, sizeof *x->plan);
    x->final = th_alloc_zero(n * accels, sizeof *x->final);
    x->least = th_alloc_zero(n, sizeof *x->least);
    x->tail = th_alloc_zero(n, sizeof *x->tail);
    x->records_before = th_alloc_zero(n, sizeof *x->records_before);
    x->arrivals_before = th_alloc_zero(n, sizeof *x->arrivals_before);
    x->consumers = th_alloc_zero(readings, sizeof *x->consumers);
    x->begin = th_alloc_zero(accels + 1, sizeof *x->begin);
    x->end = th_alloc_zero(accels + 1, sizeof *x->end);
    return x->placed && x->plan && x->final && x->least && x->tail && x->records_before &&
                   x->arrivals_before && x->consumers && x->begin && x->end
               ? 0
               : -1;
}

th_prefix *th_prefix_new(const th_problem *p, th_error *err)
{
    th_prefix *x = th_alloc_zero(1, sizeof *x);
    if (!x) {
        th_error_no_memory(err);
        return NULL;
    }
    x->problem = *p;
    x->batch = p->workload->batch / p->stream.micro_batches;
    x->has_links = strncmp((p->network ? p->network : th_network_types[0])->name, "astra", 5) != 0;
    if (allocate(x))
        th_error_no_memory(err);
    else if (!th_bounds_tails(p, x->tail, err) &&
             (x->plans = th_plans_new(p->system, p->workload, err)))
        return x;
    th_prefix_free(x);
    return NULL;
}

void th_prefix_free(th_prefix *x)
{
    if (!x)
        return;
    th_plans_free(x->plans);
    th_free(x->placed);
    th_free(x->plan);
    th_free(x->final);
    th_free(x->least);
    th_free(x->tail);
    th_free(x->records_before);
    th_free(x->arrivals_before);
    th_free(x->records);
    th_free(x->arrival);
    th_free(x->consumers);
    th_free(x->begin);
    th_free(x->end);
    th_free(x->piece);
    th_free(x->task);
    th_free(x);
}

/* --- single tasks ------------------------------------------------------------------------------- */

/* 0 or -1: memory is out. */
static int task_ps(th_prefix *x, int32_t number, bool with_weights, double *ps)
{
    size_t at = 2 * (size_t)number + with_weights;
    if (th_grow(&x->task, &x->task_capacity, at + 2, sizeof *x->task))
        return -1;
    while (x->n_tasks < at + 2)
        x->task[x->n_tasks++] = -1;
    if (x->task[at] < 0) {
        const th_work *w = th_works_get(th_plans_works(x->plans), number);
        x->task[at] = th_task_least_ps(&w->schedule, &w->port, with_weights);
    }
    *ps = x->task[at];
    return 0;
}

static int node_of(const th_prefix *x, int layer, int r)
{
    return x->problem.system->accel_node[x->placed[layer].set->accels[r]];
}

static bool loads_weights(const th_prefix *x, int layer, int r)
{
    return !x->problem.system->nodes[node_of(x, layer, r)].a.prefetches;
}

/* Of bytes from node to node. 0 or -1: memory is out. */
static int travel_ps(const th_prefix *x, int from, int to, int64_t bytes, double *ps)
{
    static const double ROUNDING_PS = 1e-3; /* of a transfer, sim/fluid_time.h */
    th_route_summary r;
    *ps = 0;
    if (!x->has_links || from == to)
        return 0;
    if (th_route_summarize(x->problem.system, from, to, &r) < 0)
        return -1;
    double moves = r.bits_per_s == TH_UNLIMITED
                       ? 0
                       : (double)bytes * 8 * (double)TH_PS_PER_S / (double)r.bits_per_s;
    *ps = (double)r.latency_ps + fmax(moves - ROUNDING_PS, 0);
    return 0;
}

/* --- what comes in ------------------------------------------------------------------------------ */

static int32_t part_of(const th_prefix *x, int layer)
{
    return th_workload_part_of(x->problem.workload, layer, 0);
}

static const record *record_of(const th_prefix *x, int32_t tensor, int ordinal)
{
    const record *at = x->records;
    for (;; at++)
        if (at->tensor == tensor && at->part == part_of(x, x->n) && ordinal-- == 0)
            return at;
}

/* Those that read the tensor, up to this input of the layer that is being decided; returns their
 * number. */
static int list_consumers(th_prefix *x, int32_t tensor, int last_input)
{
    const th_workload *w = x->problem.workload;
    int n = 0;
    for (int c = 0; c <= x->n; c++) {
        for (int i = 0; i < w->layers[c].n_inputs && (c < x->n || i <= last_input); i++) {
            if (w->layers[c].inputs[i] != tensor || part_of(x, c) != part_of(x, x->n))
                continue;
            x->consumers[n] = x->placed[c];
            x->consumers[n++].input = i;
        }
    }
    return n;
}

static double final_of(const th_prefix *x, int layer, int r)
{
    return x->final[(size_t)layer * (size_t)x->problem.system->n_accels + (size_t)r];
}

static int add_arrivals(th_prefix *x, int32_t tensor, const th_edge_plan *plan)
{
    if (th_grow(&x->records, &x->record_capacity, x->n_records + 1, sizeof *x->records) ||
        th_grow(&x->arrival, &x->arrival_capacity, x->n_arrivals + (size_t)plan->n + 1,
                sizeof *x->arrival))
        return -1;
    x->records[x->n_records++] = (record){tensor, part_of(x, x->n), plan, x->n_arrivals};
    for (int32_t d = 0; d < plan->n; d++) {
        const th_delivery *v = &plan->deliveries[d];
        double travel, ready = v->from < 0 ? 0 : final_of(x, tensor, v->from);
        if (travel_ps(x, v->from_node, v->to_node, v->bytes, &travel))
            return -1;
        x->arrival[x->n_arrivals++] = ready + travel;
    }
    return 0;
}

static void later(double *time, double than)
{
    *time = fmax(*time, than);
}

/* When the positions of the layer have what they need of one input. */
static void wait_for(th_prefix *x, int32_t tensor, const th_edge_plan *plan)
{
    const double *here = &x->arrival[x->records[x->n_records - 1].first];
    for (int32_t d = 0; d < plan->n; d++)
        later(&x->begin[plan->deliveries[d].to], here[d]);
    for (int32_t i = 0; i < plan->n_reuses; i++)
        later(&x->begin[plan->reuses[i].to],
              x->arrival[record_of(x, tensor, plan->reuses[i].edge)->first +
                         (size_t)plan->reuses[i].delivery]);
    for (int r = 0; r < x->placed[x->n].set->n_accels; r++)
        if (plan->local_from[r] >= 0)
            later(&x->begin[r], final_of(x, tensor, plan->local_from[r]));
}

/* 0; 1: a design cannot run it; -1. */
static int status_of(const th_error *reason, th_error *err)
{
    if (!th_plans_is_fatal(reason))
        return 1;
    return th_error_set(err, reason->id, "%s", reason->text);
}

static int find_begins(th_prefix *x, th_error *err)
{
    const th_layer *l = &x->problem.workload->layers[x->n];
    th_error reason = {"", ""};
    for (int r = 0; r < x->placed[x->n].set->n_accels; r++)
        x->begin[r] = 0;
    for (int i = 0; i < l->n_inputs; i++) {
        int32_t tensor = l->inputs[i];
        int n = list_consumers(x, tensor, i);
        const th_edge_plan *plan =
            th_plans_edge(x->plans, tensor < 0 ? NULL : &x->placed[tensor], x->consumers, n,
                          x->batch, &reason);
        if (!plan)
            return status_of(&reason, err);
        if (add_arrivals(x, tensor, plan))
            return th_error_no_memory(err);
        wait_for(x, tensor, plan);
    }
    return 0;
}

/* --- the layer ---------------------------------------------------------------------------------- */

/* When the piece of phase p is at position r (emit.c: emit_arrival). */
static int find_piece(th_prefix *x, const th_layer_plan *plan, int r, int p)
{
    const th_position_plan *at = &plan->at[r];
    int phases = plan->phases, from = at->ring_from;
    double travel, *here = &x->piece[r * phases + p];
    int64_t bytes = plan->piece_bytes[r * phases + p];
    *here = 0;
    if (bytes == 0)
        return 0;
    if (travel_ps(x, node_of(x, x->n, from), node_of(x, x->n, r), bytes, &travel))
        return -1;
    double ready = p == 1 ? fmax(x->begin[r], x->begin[from]) : x->piece[from * phases + p - 1];
    *here = ready + travel;
    return 0;
}

/* All phases of all positions: x->end. */
static int run_phases(th_prefix *x, const th_layer_plan *plan)
{
    if (th_grow(&x->piece, &x->piece_capacity, (size_t)plan->n * (size_t)plan->phases + 1,
                sizeof *x->piece))
        return -1;
    for (int r = 0; r < plan->n; r++)
        x->end[r] = x->begin[r];
    for (int p = 0; p < plan->phases; p++) {
        const int32_t *work = p > 0 ? plan->work_adding : plan->work;
        for (int r = 0; p > 0 && r < plan->n; r++)
            if (find_piece(x, plan, r, p))
                return -1;
        for (int r = 0; r < plan->n; r++) {
            double takes;
            if (task_ps(x, work[r * plan->phases + p], loads_weights(x, x->n, r), &takes))
                return -1;
            if (p > 0)
                later(&x->end[r], x->piece[r * plan->phases + p]);
            x->end[r] += takes;
        }
    }
    return 0;
}

/* When the parts of the output are there: after the exchange of partial sums, if there is one. */
static int exchange_sums(th_prefix *x, const th_layer_plan *plan, double *final)
{
    for (int r = 0; r < plan->n; r++)
        final[r] = x->end[r];
    for (int r = 0; r < plan->n; r++) {
        for (int i = 0; i < plan->at[r].n_sends; i++) {
            const th_partial_send *v = &plan->sends[plan->at[r].first_send + i];
            double travel;
            if (travel_ps(x, node_of(x, x->n, r), node_of(x, x->n, v->to), v->bytes, &travel))
                return -1;
            later(&final[v->to], x->end[r] + travel);
        }
    }
    for (int r = 0; r < plan->n; r++) {
        double takes = 0;
        if (plan->at[r].reduce_work >= 0 &&
            task_ps(x, plan->at[r].reduce_work, loads_weights(x, x->n, r), &takes))
            return -1;
        final[r] += takes;
    }
    return 0;
}

/* To the host, where the layer is an output of the workload. */
static int departure(const th_prefix *x, const th_layer_plan *plan, int r, double *ps)
{
    const th_workload *w = x->problem.workload;
    int host = th_plans_host_of(x->plans, x->placed[x->n].set->accels[r]);
    int64_t bytes = th_tensor_bytes(th_box_elements(&plan->at[r].held),
                                    w->layers[x->n].precision[TH_TENSOR_OUTPUT]);
    *ps = 0;
    if (w->consumer_start[x->n] < w->consumer_start[x->n + 1] || host < 0 || bytes == 0)
        return 0;
    return travel_ps(x, node_of(x, x->n, r), host, bytes, ps);
}

/* What is held nowhere is followed by nothing. */
static int find_least(th_prefix *x, const th_layer_plan *plan, const double *final)
{
    double least = x->n > 0 ? x->least[x->n - 1] : 0;
    for (int r = 0; r < plan->n; r++) {
        double leaves;
        if (departure(x, plan, r, &leaves))
            return -1;
        bool holds = !th_box_is_empty(&plan->at[r].held);
        least = fmax(least, holds ? final[r] + fmax(x->tail[x->n], leaves) : final[r]);
    }
    x->least[x->n] = least;
    return 0;
}

static int decide(th_prefix *x, th_error *err)
{
    th_error reason = {"", ""};
    double *final = &x->final[(size_t)x->n * (size_t)x->problem.system->n_accels];
    const th_layer_plan *plan = th_plans_layer(x->plans, &x->placed[x->n], x->batch, &reason);
    if (!plan)
        return status_of(&reason, err);
    int status = find_begins(x, err);
    if (status != 0)
        return status;
    x->plan[x->n] = plan;
    if (run_phases(x, plan) || exchange_sums(x, plan, final) || find_least(x, plan, final))
        return th_error_no_memory(err);
    return 0;
}

static void forget_layer(th_prefix *x)
{
    x->n_records = x->records_before[x->n];
    x->n_arrivals = x->arrivals_before[x->n];
}

int th_prefix_push(th_prefix *x, const th_set *set, const th_strategy *s, double *least,
                   th_error *err)
{
    x->records_before[x->n] = x->n_records;
    x->arrivals_before[x->n] = x->n_arrivals;
    if (th_plans_place(x->plans, x->n, set, s, &x->placed[x->n], err))
        return -1;
    int status = decide(x, err);
    if (status != 0) {
        forget_layer(x);
        return status;
    }
    *least = x->least[x->n++];
    return 0;
}

void th_prefix_pop(th_prefix *x)
{
    x->n--;
    forget_layer(x);
}

void th_prefix_trim(th_prefix *x)
{
    if (x->n == 0)
        th_plans_trim(x->plans, TH_PLANS_LIMIT);
}
