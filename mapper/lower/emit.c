/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emit.c - the tasks of one pass, from the plans of a mapping.
 *
 *   th_emit_pass: per part
 *     { release -> per layer { deliveries and needs -> phases -> partial sums } -> outputs }
 *
 * A pass is one micro-batch of one input: a host task that releases it, then layer by layer in
 * topological order the transfers of missing inputs, the computes (one per phase of a
 * rotation), the exchange of partial sums, and last the transfers of the outputs to the host. Task
 * numbers are program order, so earlier passes, models and layers go first wherever a choice is
 * left. Models of a workload (its parts) have releases of their own and do not wait for each other.
 * Invariant: final[] names the task after which a position holds its part of a layer's output.
 * Weights are resident from the start. Not modelled: loading them, and training. */
#include <config.h>

#include "mapper/lower/emit.h"

#include "base/alloc.h"

/* --- the begin and the end of a part --- */

int th_emit_release(th_lower *l, const th_stream *stream, int number, th_error *err)
{
    th_model part = th_workload_part(l->workload, number);
    th_task t = {.kind = TH_TASK_HOST,
                 .node = -1,
                 .peer = -1,
                 .compute_cost = -1,
                 .layer = -1,
                 .input = l->emission.input,
                 .release_ps = part.arrival_ps + l->emission.input * stream->interval_ps};
    int32_t before = l->emission.pass - l->passes.in_flight[number];
    l->emission.release = th_program_add(l->emission.program, &t, err);
    if (l->emission.release < 0)
        return -1;
    if (before < 0)
        return 0;
    size_t at = (size_t)before * (size_t)th_workload_parts(l->workload) + (size_t)number;
    for (size_t i = l->passes.end_start[at]; i < l->passes.end_start[at + 1]; i++)
        if (th_program_depend(l->emission.program, l->emission.release, l->passes.end[i], err))
            return -1;
    return 0;
}

int th_emit_end(th_lower *l, int32_t task)
{
    if (th_grow(&l->passes.end, &l->passes.end_capacity, l->passes.n_ends + 1,
                sizeof *l->passes.end))
        return -1;
    l->passes.end[l->passes.n_ends++] = task;
    return 0;
}

/* --- inputs --- */

static int32_t node_of(const th_lower *l, int layer, int r)
{
    return l->system->accel_node[th_lower_accel(l, layer, r)];
}

static int need(th_lower *l, int32_t task)
{
    if (th_grow(&l->emission.needs, &l->emission.need_capacity, l->emission.n_needs + 1,
                sizeof *l->emission.needs))
        return -1;
    l->emission.needs[l->emission.n_needs++] = task;
    return 0;
}

static int depend_on_needs(th_lower *l, int32_t task, int r, th_error *err)
{
    for (int32_t i = l->emission.first_need[r]; i < l->emission.first_need[r + 1]; i++)
        if (th_program_depend(l->emission.program, task, l->emission.needs[i], err))
            return -1;
    return 0;
}

/* The host's work before the accelerator begins with this pass; -1: none, or not yet. */
static int32_t launch_of(const th_lower *l, int accel)
{
    return l->emission.launched[accel] == l->emission.launch_key ? l->emission.launch_task[accel]
                                                                 : -1;
}

static int32_t emit_host_task(th_lower *l, int layer, int host, th_time takes, th_error *err)
{
    th_task t = {.kind = TH_TASK_HOST,
                 .node = host,
                 .peer = -1,
                 .compute_cost = -1,
                 .layer = layer,
                 .input = l->emission.input,
                 .delay_ps = takes};
    return th_program_add(l->emission.program, &t, err);
}

static int launch(th_lower *l, int layer, int accel, th_time takes, th_error *err)
{
    int host = th_plans_host_of(l->plans, accel);
    if (host < 0)
        return 0;
    l->emission.launched[accel] = l->emission.launch_key;
    l->emission.launch_task[accel] = emit_host_task(l, layer, host, takes, err);
    if (l->emission.launch_task[accel] < 0)
        return -1;
    return l->emission.release >= 0
               ? th_program_depend(l->emission.program, l->emission.launch_task[accel],
                                   l->emission.release, err)
               : 0;
}

/* Of the positions that run something here for the first time in the pass. */
static int emit_launches(th_lower *l, int layer, th_error *err)
{
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    for (int r = 0; r < plan->n; r++) {
        int accel = th_lower_accel(l, layer, r);
        th_time takes = th_compute_cost_get(th_plans_costs(l->plans), plan->cost[r * plan->phases])
                            ->host.before_ps;
        if (takes > 0 && launch_of(l, accel) < 0 && launch(l, layer, accel, takes, err))
            return -1;
    }
    return 0;
}

/* A delivery from the host waits for the release of the input and for the host's launch. */
static int32_t before_delivery(const th_lower *l, int32_t to_node)
{
    int accel = l->system->nodes[to_node].accel;
    int32_t launched = accel >= 0 ? launch_of(l, accel) : -1;
    return launched >= 0 ? launched : l->emission.release;
}

static int emit_deliveries(th_lower *l, int32_t e, th_error *err)
{
    th_edge *edge = &l->graph.edges[e];
    edge->first_task = l->emission.program->n_tasks;
    for (int32_t d = 0; d < edge->plan->n; d++) {
        const th_delivery *x = &edge->plan->deliveries[d];
        int32_t before = x->from < 0
                             ? before_delivery(l, x->to_node)
                             : l->emission.final[l->emission.first_final[edge->tensor] + x->from];
        th_task t = {.kind = TH_TASK_TRANSFER,
                     .node = x->from_node,
                     .peer = x->to_node,
                     .compute_cost = -1,
                     .bytes = x->bytes,
                     .layer = edge->consumer,
                     .input = l->emission.input};
        int32_t task = th_program_add(l->emission.program, &t, err);
        if (task < 0 || th_program_depend(l->emission.program, task, before, err) ||
            (x->after >= 0 &&
             th_program_depend(l->emission.program, task, edge->first_task + x->after, err)))
            return -1;
    }
    return 0;
}

/* The tasks that position r waits for along one edge: transfers to it, those it reuses, and its
 * own part. */
static int needs_of_edge(th_lower *l, int32_t e, int r)
{
    const th_edge *edge = &l->graph.edges[e];
    const th_edge_plan *plan = edge->plan;
    int32_t siblings = edge->first;
    for (int32_t d = plan->first_of[r]; d < plan->first_of[r + 1]; d++)
        if (need(l, edge->first_task + d))
            return -1;
    int32_t reuse = plan->n_reuses > 0 ? plan->first_reuse_of[r] : 0,
            end = plan->n_reuses > 0 ? plan->first_reuse_of[r + 1] : 0;
    for (int32_t i = reuse; i < end; i++)
        if (need(l, l->graph.edges[siblings + plan->reuses[i].edge].first_task +
                        plan->reuses[i].delivery))
            return -1;
    for (int32_t i = plan->first_local_of[r]; i < plan->first_local_of[r + 1]; i++)
        if (need(l, l->emission.final[l->emission.first_final[edge->tensor] + plan->locals[i]]))
            return -1;
    return 0;
}

/* With no other dependency it waits for the release of the pass. */
static int need_release(th_lower *l)
{
    if (l->emission.release >= 0)
        return need(l, l->emission.release);
    l->emission.starts_unreleased = true;
    return 0;
}

static int emit_inputs(th_lower *l, int layer, th_error *err)
{
    const th_layer *x = &l->workload->layers[layer];
    for (int i = 0; i < x->n_inputs; i++)
        if (emit_deliveries(l, th_lower_input_edge(l, layer, i), err))
            return -1;
    l->emission.n_needs = 0;
    if (th_grow(&l->emission.first_need, &l->emission.first_need_capacity,
                (size_t)l->planned.layer_plan[layer]->n + 1, sizeof *l->emission.first_need))
        return th_error_no_memory(err);
    for (int r = 0; r < l->planned.layer_plan[layer]->n; r++) {
        int32_t launched = launch_of(l, th_lower_accel(l, layer, r));
        l->emission.first_need[r] = (int32_t)l->emission.n_needs;
        if (launched >= 0 && need(l, launched))
            return th_error_no_memory(err);
        for (int i = 0; i < x->n_inputs; i++)
            if (needs_of_edge(l, th_lower_input_edge(l, layer, i), r))
                return th_error_no_memory(err);
        if (l->emission.first_need[r] == (int32_t)l->emission.n_needs && need_release(l))
            return th_error_no_memory(err);
    }
    l->emission.first_need[l->planned.layer_plan[layer]->n] = (int32_t)l->emission.n_needs;
    return 0;
}

int32_t th_emit_compute(th_lower *l, int layer, int r, int32_t cost, th_error *err)
{
    th_task t = {.kind = TH_TASK_COMPUTE,
                 .node = node_of(l, layer, r),
                 .peer = -1,
                 .compute_cost = cost,
                 .layer = layer,
                 .input = l->emission.input};
    return th_program_add(l->emission.program, &t, err);
}

int32_t th_emit_transfer(th_lower *l, int layer, int32_t from, int32_t to, int64_t bytes,
                         th_error *err)
{
    th_task t = {.kind = TH_TASK_TRANSFER,
                 .node = from,
                 .peer = to,
                 .compute_cost = -1,
                 .bytes = bytes,
                 .layer = layer,
                 .input = l->emission.input};
    return th_program_add(l->emission.program, &t, err);
}

/* The piece that a position computes with in phase p, see th_layer_plan. Weights stay where they
 * came to last: after a pass everyone has the piece before the one it began with, and begins with
 * it. */
static int piece_of(const th_lower *l, const th_layer_plan *plan, int r, int p)
{
    int began = plan->rotates_input ? 0 : plan->phases - l->emission.pass % plan->phases;
    return r * plan->phases + (began + p) % plan->phases;
}

/* The task of the pass before after which position r has finished with this layer; -1: none. */
static int32_t before_of(const th_lower *l, int layer, int r)
{
    bool keeps =
        l->planned.layer_plan[layer]->phases > 1 && !l->planned.layer_plan[layer]->rotates_input;
    return keeps && l->emission.pass > 0 ? l->emission.kept[r] : -1;
}

static int depend_if_any(th_lower *l, int32_t after, int32_t before, th_error *err)
{
    return before >= 0 ? th_program_depend(l->emission.program, after, before, err) : 0;
}

/* In the first phase the sender passes on its own piece. */
static int depend_on_start(th_lower *l, int layer, int r, int32_t t, th_error *err)
{
    const th_position_plan *at = &l->planned.layer_plan[layer]->at[r];
    const int who[] = {r, at->ring_from, at->ring_to};
    for (int i = 0; i < 3; i++) {
        bool again = (i > 0 && who[i] == who[0]) || (i > 1 && who[i] == who[1]);
        if (!again && depend_if_any(l, t, before_of(l, layer, who[i]), err))
            return -1;
    }
    return depend_on_needs(l, t, r, err) || depend_on_needs(l, t, at->ring_from, err) ? -1 : 0;
}

/* The transfer of the piece for phase p of position r from its ring neighbour, which had it one
 * phase earlier. It needs a free buffer: with two pieces per position, the piece of phase p - 2
 * must have been used and passed on. */
static int emit_arrival(th_lower *l, int layer, int r, int p, th_error *err)
{
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    const th_position_plan *at = &plan->at[r];
    int32_t *here = &l->emission.arrivals[r * plan->phases];
    int32_t sent = l->emission.arrivals[at->ring_from * plan->phases + p - 1];
    int64_t bytes = plan->piece_bytes[piece_of(l, plan, r, p)];
    here[p] = -1;
    if (bytes == 0)
        return 0;
    int32_t t = th_emit_transfer(l, layer, node_of(l, layer, at->ring_from), node_of(l, layer, r),
                                 bytes, err);
    if (t < 0)
        return -1;
    here[p] = t;
    if (p == 1)
        return depend_on_start(l, layer, r, t, err);
    int32_t passed_on = l->emission.arrivals[at->ring_to * plan->phases + p - 1];
    if (depend_if_any(l, t, sent, err) ||
        (passed_on != sent && depend_if_any(l, t, passed_on, err)))
        return -1;
    return th_program_depend(l->emission.program, t,
                             l->emission.phase_task[r * plan->phases + p - 2], err);
}

static int emit_phase(th_lower *l, int layer, int r, int p, th_error *err)
{
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    const int32_t *cost = p > 0 ? plan->cost_adding : plan->cost;
    int32_t at = r * plan->phases + p;
    int32_t t = th_emit_compute(l, layer, r, cost[piece_of(l, plan, r, p)], err);
    if (t < 0)
        return -1;
    l->emission.phase_task[at] = t;
    l->emission.final[l->emission.first_final[layer] + r] = t;
    if (p == 0)
        return depend_if_any(l, t, before_of(l, layer, r), err) || depend_on_needs(l, t, r, err)
                   ? -1
                   : 0;
    if (depend_if_any(l, t, l->emission.arrivals[at], err))
        return -1;
    return th_program_depend(l->emission.program, t, l->emission.phase_task[at - 1], err);
}

/* Of the positions from .. to - 1, here and below. */
static int emit_phases(th_lower *l, int layer, int from, int to, th_error *err)
{
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    size_t all = (size_t)plan->n * (size_t)plan->phases;
    if (th_grow(&l->emission.kept, &l->emission.kept_capacity, (size_t)plan->n,
                sizeof *l->emission.kept) ||
        th_grow(&l->emission.arrivals, &l->emission.arrival_capacity, all,
                sizeof *l->emission.arrivals) ||
        th_grow(&l->emission.phase_task, &l->emission.phase_capacity, all,
                sizeof *l->emission.phase_task))
        return th_error_no_memory(err);
    for (int r = from; r < to; r++) {
        l->emission.arrivals[r * plan->phases] = -1;
        l->emission.kept[r] = l->emission.final[l->emission.first_final[layer] + r];
    }
    for (int p = 0; p < plan->phases; p++) {
        for (int r = from; p > 0 && r < to; r++)
            if (emit_arrival(l, layer, r, p, err))
                return -1;
        for (int r = from; r < to; r++)
            if (emit_phase(l, layer, r, p, err))
                return -1;
    }
    return 0;
}

/* Every position sends its partial sums of the others' pieces, and sums what it gets for its
 * own. */
static int emit_partial_sends(th_lower *l, int layer, int from, int to, th_error *err)
{
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    for (int r = from; r < to; r++) {
        for (int i = 0; i < plan->at[r].n_sends; i++) {
            const th_partial_send *x = &plan->sends[plan->at[r].first_send + i];
            int32_t t = th_emit_transfer(l, layer, node_of(l, layer, r), node_of(l, layer, x->to),
                                         x->bytes, err);
            if (t < 0 ||
                th_program_depend(l->emission.program, t,
                                  l->emission.final[l->emission.first_final[layer] + r], err))
                return -1;
        }
    }
    return 0;
}

static int emit_sums(th_lower *l, int layer, int from, int to, int32_t first_send, th_error *err)
{
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    int32_t *final = &l->emission.final[l->emission.first_final[layer]], send = first_send;
    for (int r = from; r < to; r++) {
        if (plan->at[r].reduce_cost < 0)
            continue;
        int32_t sum = th_emit_compute(l, layer, r, plan->at[r].reduce_cost, err);
        if (sum < 0 || th_program_depend(l->emission.program, sum, final[r], err))
            return -1;
        final[r] = sum;
    }
    for (int r = from; r < to; r++)
        for (int i = 0; i < plan->at[r].n_sends; i++)
            if (th_program_depend(l->emission.program,
                                  final[plan->sends[plan->at[r].first_send + i].to], send++, err))
                return -1;
    return 0;
}

static int emit_reduction(th_lower *l, int layer, int from, int to, th_error *err)
{
    int32_t first = l->emission.program->n_tasks;
    if (emit_partial_sends(l, layer, from, to, err))
        return -1;
    return l->emission.program->n_tasks == first ? 0 : emit_sums(l, layer, from, to, first, err);
}

/* --- passes --- */

/* What the host does once it has an output. The task after which it is done, or -1. */
static int32_t emit_relayout(th_lower *l, int layer, int r, int32_t after, th_error *err)
{
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    th_time takes =
        th_compute_cost_get(th_plans_costs(l->plans), plan->cost[r * plan->phases])->host.after_ps;
    int host = th_plans_host_of(l->plans, th_lower_accel(l, layer, r));
    if (takes == 0 || host < 0)
        return after;
    int32_t task = emit_host_task(l, layer, host, takes, err);
    return task < 0 || th_program_depend(l->emission.program, task, after, err) ? -1 : task;
}

/* Of several copies of a part one leaves for the host, the next of them from part to part. */
static int emit_output(th_lower *l, int layer, int r, th_error *err)
{
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    const int place = r % plan->n_accels, copy = place % plan->copies;
    int32_t task = l->emission.final[l->emission.first_final[layer] + r];
    int host = th_plans_host_of(l->plans, th_lower_accel(l, layer, r));
    int64_t bytes = th_tensor_bytes(th_box_elements(&plan->at[r].held),
                                    l->workload->layers[layer].precision[TH_TENSOR_OUTPUT]);
    if (copy != place / plan->copies % plan->copies)
        return th_emit_end(l, task) ? th_error_no_memory(err) : 0;
    if (host >= 0 && bytes > 0) {
        int32_t sent = th_emit_transfer(l, layer, node_of(l, layer, r), host, bytes, err);
        if (sent < 0 || th_program_depend(l->emission.program, sent, task, err))
            return -1;
        task = sent;
    }
    task = emit_relayout(l, layer, r, task, err);
    if (task < 0)
        return -1;
    return th_emit_end(l, task) ? th_error_no_memory(err) : 0;
}

static int emit_outputs(th_lower *l, const th_model *part, th_error *err)
{
    for (int i = 0; i < l->workload->n_outputs; i++) {
        int32_t layer = l->workload->outputs[i];
        bool is_of_part = layer >= part->first_layer && layer < part->first_layer + part->n_layers;
        for (int r = 0; is_of_part && r < l->planned.layer_plan[layer]->n; r++)
            if (emit_output(l, layer, r, err))
                return -1;
    }
    return 0;
}

/* Sums of a chunk come before later chunks: an accelerator that has both runs the sums. */
static int emit_chunks(th_lower *l, int layer, th_error *err)
{
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    for (int from = 0; from < plan->n; from += plan->n_accels)
        if (emit_phases(l, layer, from, from + plan->n_accels, err) ||
            emit_reduction(l, layer, from, from + plan->n_accels, err))
            return -1;
    return 0;
}

static int emit_layers(th_lower *l, int first, int last, th_error *err)
{
    for (int layer = first; layer <= last; layer++)
        if (emit_launches(l, layer, err) || emit_inputs(l, layer, err) ||
            emit_chunks(l, layer, err))
            return -1;
    return 0;
}

static void forget_launches(th_lower *l)
{
    for (int i = 0; i < l->system->n_accels; i++)
        l->emission.launched[i] = -1;
}

static int emit_part(th_lower *l, const th_stream *stream, int number, th_error *err)
{
    th_model part = th_workload_part(l->workload, number);
    l->emission.launch_key = (int64_t)l->emission.pass * th_workload_parts(l->workload) + number;
    if (th_emit_release(l, stream, number, err) ||
        emit_layers(l, part.first_layer, part.first_layer + part.n_layers - 1, err))
        return -1;
    return emit_outputs(l, &part, err);
}

int th_emit_pass(th_lower *l, const th_stream *stream, int32_t pass, th_error *err)
{
    int parts = th_workload_parts(l->workload);
    l->emission.pass = pass;
    if (pass == 0)
        forget_launches(l);
    l->emission.input = pass / stream->micro_batches;
    for (int i = 0; i < parts; i++) {
        if (emit_part(l, stream, i, err))
            return -1;
        l->passes.end_start[(size_t)pass * (size_t)parts + (size_t)i + 1] = l->passes.n_ends;
    }
    return 0;
}

/* The pending tasks and their remaining dependencies; the last tasks of the layer are among
 * them. */
static int emit_remains(th_lower *l, int layer, const th_pending_tasks *x, th_error *err)
{
    for (int32_t t = 0; t < x->n_tasks; t++) {
        const th_pending_task *from = &x->task[t];
        th_task task = {.kind = from->peer < 0 ? TH_TASK_COMPUTE : TH_TASK_TRANSFER,
                        .node = from->node,
                        .peer = from->peer,
                        .compute_cost = from->compute_cost,
                        .bytes = from->bytes,
                        .layer = layer};
        if (th_program_add(l->emission.program, &task, err) < 0)
            return -1;
    }
    for (int32_t i = 0; i < x->n_waits; i++)
        if (th_program_depend(l->emission.program, x->wait[i].after, x->wait[i].before, err))
            return -1;
    for (int r = 0; r < l->planned.layer_plan[layer]->n; r++)
        l->emission.final[l->emission.first_final[layer] + r] = x->final[r];
    return 0;
}

int th_emit_segment(th_lower *l, int first, int last, const th_pending_tasks *before, th_error *err)
{
    th_model part = th_workload_part(l->workload, 0);
    l->emission.pass = l->emission.input = 0;
    l->passes.in_flight[0] = 1;
    l->emission.release = -1;
    l->emission.launch_key = 0;
    forget_launches(l);
    l->emission.starts_unreleased = false;
    l->passes.n_ends = 0;
    if (first == 0 ? th_emit_release(l, &th_stream_single, 0, err)
                   : emit_remains(l, first - 1, before, err))
        return -1;
    if (emit_layers(l, first, last, err))
        return -1;
    return last == l->workload->n_layers - 1 ? emit_outputs(l, &part, err) : 0;
}
