/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefix.c - the longest path through the tasks of the decided layers, each task alone, and a
 * lower bound on what follows them.
 *
 *   new -> (push: plan -> arrivals -> the layer -> the rest | pop)* -> free
 *
 * Times of tasks and transfers are lower bounds (prefix_path.c) that hold whatever else is in the
 * program. Only the order of tasks on an accelerator, and the sharing of links, are left out.
 * After a layer follows its tail (bounds.c) or the remaining time given its placement
 * (prefix_remaining.c), whichever is longer. Invariant: final[l] of a decided layer l, and the
 * arrivals of its records, are lower bounds of the ends of those tasks in the first pass. */
#include <config.h>

#include "mapper/search/algorithms/prefix.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/evaluate/bounds.h"
#include "mapper/search/algorithms/prefix_path.h"
#include "mapper/search/algorithms/prefix_remaining.h"

/* One reading of a tensor by a decided layer, in the order of plans (lower.c). */
typedef struct {
    int32_t tensor, part; /* which network of the workload: external inputs are shared inside it */
    const th_edge_plan *plan;
    size_t first; /* of its arrivals */
} record;

struct th_prefix {
    th_problem problem;
    int n; /* layers decided */
    th_placed *placed;
    const th_layer_plan **plan;
    double *final;                            /* by layer and position */
    double *least;                            /* by layer: of the prefix up to it */
    double *tail;                             /* by layer */
    size_t *records_before, *arrivals_before; /* by layer */
    record *records;
    size_t n_records, record_capacity;
    double *arrival;
    size_t n_arrivals, arrival_capacity;
    th_placed *consumers;    /* scratch */
    th_path path;            /* of the layer that is being decided */
    th_remaining_time *rest; /* what follows a layer as it is placed */
};

/* --- life --- */

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
    return x->placed && x->plan && x->final && x->least && x->tail && x->records_before &&
                   x->arrivals_before && x->consumers
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
    if (allocate(x))
        th_error_no_memory(err);
    else if (!th_path_init(&x->path, &x->problem, err) && !th_bounds_tails(p, x->tail, err) &&
             (x->rest = th_remaining_time_new(&x->problem, x->tail, err)))
        return x;
    th_prefix_free(x);
    return NULL;
}

void th_prefix_free(th_prefix *x)
{
    if (!x)
        return;
    th_path_clear(&x->path);
    th_remaining_time_free(x->rest);
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
    th_free(x);
}

/* --- inputs --- */

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
        if (th_path_travel(&x->path, v->from_node, v->to_node, v->bytes, &travel))
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
        later(&x->path.begin[plan->deliveries[d].to], here[d]);
    for (int32_t i = 0; i < plan->n_reuses; i++)
        later(&x->path.begin[plan->reuses[i].to],
              x->arrival[record_of(x, tensor, plan->reuses[i].edge)->first +
                         (size_t)plan->reuses[i].delivery]);
    for (int r = 0; r < x->placed[x->n].set->n_accels; r++)
        for (int32_t i = plan->first_local_of[r]; i < plan->first_local_of[r + 1]; i++)
            later(&x->path.begin[r], final_of(x, tensor, plan->locals[i]));
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
        x->path.begin[r] = 0;
    for (int i = 0; i < l->n_inputs; i++) {
        int32_t tensor = l->inputs[i];
        int n = list_consumers(x, tensor, i);
        const th_edge_plan *plan =
            th_plans_edge(x->path.plans, tensor < 0 ? NULL : &x->placed[tensor], x->consumers, n,
                          x->path.batch, &reason);
        if (!plan)
            return status_of(&reason, err);
        if (add_arrivals(x, tensor, plan))
            return th_error_no_memory(err);
        wait_for(x, tensor, plan);
    }
    return 0;
}

/* --- the layer --- */

/* A position that holds nothing of the output has no successors. */
static int find_least(th_prefix *x, const th_layer_plan *plan, const double *final, th_error *err)
{
    const th_placed *at = &x->placed[x->n];
    double least = x->n > 0 ? x->least[x->n - 1] : 0;
    const double *rest;
    if (th_remaining_time_after(x->rest, x->n, at->set, &at->strategy, &rest, err))
        return -1;
    for (int r = 0; r < plan->n; r++) {
        double leaves;
        if (th_path_departure(&x->path, at, plan, r, &leaves))
            return th_error_no_memory(err);
        bool holds = !th_box_is_empty(&plan->at[r].held);
        double follows = fmax(x->tail[x->n], leaves);
        if (rest)
            follows = fmax(follows, rest[r]);
        least = fmax(least, holds ? final[r] + follows : final[r]);
    }
    x->least[x->n] = least;
    return 0;
}

static int decide(th_prefix *x, th_error *err)
{
    th_error reason = {"", ""};
    double *final = &x->final[(size_t)x->n * (size_t)x->problem.system->n_accels];
    const th_placed *at = &x->placed[x->n];
    const th_layer_plan *plan = th_plans_layer(x->path.plans, at, x->path.batch, &reason);
    if (!plan)
        return status_of(&reason, err);
    int status = find_begins(x, err);
    if (status != 0)
        return status;
    x->plan[x->n] = plan;
    if (th_path_run(&x->path, at, plan, final))
        return th_error_no_memory(err);
    return find_least(x, plan, final, err);
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
    if (th_plans_place(x->path.plans, x->n, set, s, &x->placed[x->n], err))
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
        th_plans_trim(x->path.plans, TH_PLANS_LIMIT);
}
