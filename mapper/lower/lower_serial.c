/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_serial.c - lowers a mapping for a system with serial transfers.
 *
 *   th_lower_serial: plan layers and edges -> pin weights -> per pass { release -> per layer,
 *     in order { per position: in -> compute -> partial sums out, in, summed -> out } }
 *
 * Source: the cost model of X. Zhang et al., "H2H", DAC 2022; how shards of a layer enter it is
 * ours (docs/models/h2h.md). An accelerator runs its layers in the order of the mapping, one after
 * the other; a layer begins when its producers have ended. Missing inputs of a position are
 * transferred over the accelerator's own route to the host, then it computes, then what other
 * positions miss is transferred out. These steps do not overlap on one accelerator, and
 * accelerators do not contend. An activation stays local only between a layer and the one that its
 * accelerator runs next. Weights that are not pinned are transferred for every run. Invariants:
 * queue_end[a] is the last task of accelerator a so far, and every first task of a position
 * depends on it.
 *
 * What an accelerator has pinned of weights that several layers share, it neither pins again nor
 * transfers. */
#include <config.h>

#include "mapper/lower/lower_serial.h"

#include <string.h>

#include "base/alloc.h"
#include "base/integer.h"
#include "base/min_max.h"
#include "mapper/lower/knapsack.h"

enum { UNIT_BYTES = 4000 }; /* of the knapsack: 1,000 elements of 32 bits */

typedef struct {
    th_lower *l;
    const th_mapping *m;
    const th_stream *stream;
    const int32_t *order;
    int32_t *as_written; /* the workload's order, if the mapping has none; else NULL */
    bool *pinned;        /* by l->emission.first_final[layer] + position */
    int64_t *weights;    /* likewise: bytes that no other pinned layer has */
    int32_t *next_tied;  /* by layer: another one with the same weights, in a circle */
    int32_t *queue_end;  /* by accelerator: a task, -1: none yet */
    int32_t *before;     /* by accelerator: the layer that it ran last in this pass, -1 */
    int32_t *after;      /* by first_final[layer] + position: what the accelerator runs next, -1 */
    int64_t *down;       /* by position, scratch: bytes of partial sums to receive */
    int32_t *sums_sent;  /* by position, scratch: the task that sends its partial sums */
    int32_t *release;    /* by part of the workload: the task that lets this pass begin */
    int32_t last;        /* the last task of the current position */
} serial;

static int accel_of(const serial *s, int layer, int r)
{
    return s->l->planned.placed[layer].set->accels[r];
}

static size_t place_of(const serial *s, int layer, int r)
{
    return (size_t)(s->l->emission.first_final[layer] + r);
}

/* --- weights --- */

static int64_t units_of(int64_t bytes)
{
    return th_ceil_div(bytes, UNIT_BYTES);
}

static void link_tied(const serial *s)
{
    for (int i = 0; i < s->m->n_layers; i++)
        s->next_tied[i] = i;
    for (int i = 0; i < s->m->n_layers; i++) {
        int32_t owner = s->l->workload->layers[i].tied_to - 1;
        if (owner >= 0) {
            s->next_tied[i] = s->next_tied[owner];
            s->next_tied[owner] = i;
        }
    }
}

/* Sets the weights of a position. Returns the pinned layer that has most of them, too, or -1. */
static int set_weights(const serial *s, int layer, int r)
{
    int with = -1;
    int64_t most = 0;
    for (int i = s->next_tied[layer]; i != layer; i = s->next_tied[i]) {
        if (s->m->set_of[i] != s->m->set_of[layer] || !s->pinned[place_of(s, i, r)])
            continue;
        int64_t common = th_mapping_common_weight_bytes(s->m, s->l->workload, layer, i, r);
        with = common > most ? i : with;
        most = th_max(most, common);
    }
    s->weights[place_of(s, layer, r)] = s->l->planned.layer_plan[layer]->at[r].weight_bytes - most;
    return with;
}

/* Positions that share weights are one item; item 0 is what must be pinned on an accelerator. */
typedef struct {
    int64_t *size;
    int32_t *item; /* by place */
    bool *is_in;
    int n;
} items;

/* Pins a position, a free one as if there was space. */
static void pin_position(const serial *s, int layer, int r, bool is_free, items *list)
{
    size_t place = place_of(s, layer, r);
    int with = set_weights(s, layer, r);
    int item = is_free && with >= 0 ? list->item[place_of(s, with, r)] : 0;
    if (is_free && item == 0)
        list->size[item = list->n++] = 0;
    list->size[item] += units_of(s->weights[place]);
    list->item[place] = item;
    s->pinned[place] = true;
}

static int pin(const serial *s, int accel, items *list, th_error *err)
{
    const th_system *system = s->l->system;
    const th_node *node = &system->nodes[system->accel_node[accel]];
    int64_t space = (int64_t)((double)node->a.dram_bytes * system->weight_memory) / UNIT_BYTES;
    int first = list->n;
    list->size[0] = 0;
    for (int is_free = 0; is_free < 2; is_free++)
        for (int layer = 0; layer < s->m->n_layers; layer++) {
            int where = s->m->weights ? s->m->weights[layer] : TH_WEIGHTS_AUTO;
            for (int r = 0; r < s->l->planned.layer_plan[layer]->n; r++)
                if (accel_of(s, layer, r) == accel &&
                    where == (is_free ? TH_WEIGHTS_AUTO : TH_WEIGHTS_PINNED))
                    pin_position(s, layer, r, is_free, list);
        }
    space -= list->size[0];
    if (space < 0)
        return th_error_set(
            err, "MAP-0085",
            "accel/%s: pinned weights need %lld bytes more than the %g of its memory "
            "that is for weights",
            node->name, (long long)-space * UNIT_BYTES, system->weight_memory);
    if (th_knapsack(list->size + first, list->n - first, space, list->is_in + first))
        return th_error_no_memory(err);
    return 0;
}

static int pin_all(const serial *s, th_error *err)
{
    size_t n = (size_t)s->l->emission.first_final[s->m->n_layers] + 1;
    items list = {th_alloc_array(n, sizeof *list.size), th_alloc_zero(n, sizeof *list.item),
                  th_alloc_array(n, sizeof *list.is_in), 1};
    int failed = list.size && list.item && list.is_in ? 0 : th_error_no_memory(err);
    link_tied(s);
    for (int a = 0; !failed && a < s->l->system->n_accels; a++)
        failed = pin(s, a, &list, err);
    for (size_t i = 0; !failed && i < n; i++)
        if (list.item[i] > 0)
            s->pinned[i] = list.is_in[list.item[i]];
    for (int layer = 0; !failed && layer < s->m->n_layers; layer++)
        for (int r = 0; r < s->l->planned.layer_plan[layer]->n; r++)
            if (!s->pinned[place_of(s, layer, r)])
                set_weights(s, layer, r);
    th_free(list.size);
    th_free(list.item);
    th_free(list.is_in);
    return failed;
}

/* --- queues --- */

static void link_queues(serial *s)
{
    for (int a = 0; a < s->l->system->n_accels; a++)
        s->before[a] = -1;
    for (int i = s->m->n_layers - 1; i >= 0; i--)
        for (int r = 0; r < s->l->planned.layer_plan[s->order[i]]->n; r++) {
            int a = accel_of(s, s->order[i], r);
            s->after[place_of(s, s->order[i], r)] = s->before[a];
            s->before[a] = s->order[i];
        }
}

static int32_t edge_of_input(const th_lower *l, int layer, int input)
{
    return l->graph.input_edge[l->graph.first_input[layer] + input];
}

/* Does it stay where it was made? */
static bool stays(const serial *s, const th_edge *e, const th_delivery *x)
{
    return !s->m->activations_cross && x->from >= 0 && x->from_node == x->to_node &&
           s->after[place_of(s, e->tensor, x->from)] == e->consumer;
}

static int64_t bytes_in(const serial *s, int layer, int r)
{
    size_t place = place_of(s, layer, r);
    int64_t bytes = s->pinned[place] ? 0 : s->weights[place];
    for (int i = 0; i < s->l->workload->layers[layer].n_inputs; i++) {
        const th_edge *e = &s->l->graph.edges[edge_of_input(s->l, layer, i)];
        for (int32_t d = e->plan->first_of[r]; d < e->plan->first_of[r + 1]; d++)
            if (!stays(s, e, &e->plan->deliveries[d]))
                bytes += e->plan->deliveries[d].bytes;
    }
    return bytes;
}

static int64_t held_bytes(const serial *s, int layer, int r)
{
    return th_tensor_bytes(th_box_elements(&s->l->planned.layer_plan[layer]->at[r].held),
                           s->l->workload->layers[layer].precision[TH_TENSOR_OUTPUT]);
}

/* Bytes that other positions miss, each part once as long as it has one consumer; of a result,
 * all. */
static int64_t bytes_out(const serial *s, int layer, int r)
{
    const th_lower *l = s->l;
    int64_t held = held_bytes(s, layer, r), bytes = 0;
    int32_t first = l->graph.edge_start[layer + 1], end = l->graph.edge_start[layer + 2];
    if (first == end)
        return held;
    for (int32_t e = first; e < end; e++)
        for (int32_t d = 0; d < l->graph.edges[e].plan->n; d++) {
            const th_delivery *x = &l->graph.edges[e].plan->deliveries[d];
            if (x->from == r && !stays(s, &l->graph.edges[e], x))
                bytes += x->sent_bytes;
        }
    return bytes < held ? bytes : held;
}

/* --- memory --- */

static int check_memory(serial *s, th_error *err)
{
    th_lower *l = s->l;
    size_t accels = (size_t)l->system->n_accels;
    memset(l->memory.weight_bytes, 0, accels * sizeof *l->memory.weight_bytes);
    memset(l->memory.peak_bytes, 0, accels * sizeof *l->memory.peak_bytes);
    memset(l->memory.peak_layer, -1, accels * sizeof *l->memory.peak_layer);
    for (int layer = 0; layer < s->m->n_layers; layer++)
        for (int r = 0; r < l->planned.layer_plan[layer]->n; r++) {
            int a = accel_of(s, layer, r);
            int64_t weights = s->weights[place_of(s, layer, r)], run = bytes_in(s, layer, r);
            run += l->planned.layer_plan[layer]->at[r].output_bytes;
            if (s->pinned[place_of(s, layer, r)])
                l->memory.weight_bytes[a] += weights;
            if (run > l->memory.peak_bytes[a]) {
                l->memory.peak_bytes[a] = run;
                l->memory.peak_layer[a] = layer;
            }
        }
    for (int a = 0; a < l->system->n_accels; a++) {
        const th_node *node = &l->system->nodes[l->system->accel_node[a]];
        l->memory.peak_bytes[a] += l->memory.weight_bytes[a];
        if (l->memory.peak_bytes[a] > node->a.dram_bytes)
            return th_error_set(
                err, "MAP-0086",
                "accel/%s: %lld bytes too few: %lld pinned weights and %lld for one "
                "layer's run needed, %lld there",
                node->name, (long long)(l->memory.peak_bytes[a] - node->a.dram_bytes),
                (long long)l->memory.weight_bytes[a],
                (long long)(l->memory.peak_bytes[a] - l->memory.weight_bytes[a]),
                (long long)node->a.dram_bytes);
    }
    return 0;
}

/* --- tasks --- */

/* The next task of a position; it follows the accelerator's last one. */
static int add_task(serial *s, int layer, int r, int32_t cost, th_error *err)
{
    int a = accel_of(s, layer, r);
    th_task t = {.kind = TH_TASK_COMPUTE,
                 .node = s->l->system->accel_node[a],
                 .peer = -1,
                 .compute_cost = cost,
                 .layer = layer,
                 .input = s->l->emission.input};
    int32_t before = s->queue_end[a];
    s->last = cost < 0 ? -1 : th_program_add(s->l->emission.program, &t, err);
    if (s->last < 0 ||
        (before >= 0 && th_program_depend(s->l->emission.program, s->last, before, err)))
        return -1;
    s->queue_end[a] = s->last;
    return 0;
}

static int add_moves(serial *s, int layer, int r, int64_t in, int64_t out, th_error *err)
{
    th_moves moves = *th_plans_host_path(s->l->plans, accel_of(s, layer, r));
    moves.in_bytes = in;
    moves.out_bytes = out;
    int32_t cost = th_compute_cost_lookup_moves(th_plans_costs(s->l->plans), &moves, err);
    return cost < 0 ? -1 : add_task(s, layer, r, cost, err);
}

/* The first task of a position waits for the producers of its inputs. */
static int wait_for_producers(serial *s, int layer, int r, th_error *err)
{
    th_lower *l = s->l;
    for (int i = 0; i < l->workload->layers[layer].n_inputs; i++) {
        const th_edge *e = &l->graph.edges[edge_of_input(l, layer, i)];
        for (int32_t d = e->plan->first_of[r]; d < e->plan->first_of[r + 1]; d++) {
            int32_t from = e->plan->deliveries[d].from;
            if (from >= 0 && th_program_depend(
                                 l->emission.program, s->last,
                                 l->emission.final[l->emission.first_final[e->tensor] + from], err))
                return -1;
        }
    }
    int32_t release = s->release[th_workload_part_of(l->workload, layer, 0)];
    return th_program_depend(l->emission.program, s->last, release, err);
}

static int add_position(serial *s, int layer, int r, th_error *err)
{
    const th_layer_plan *plan = s->l->planned.layer_plan[layer];
    int64_t in = bytes_in(s, layer, r);
    if (in > 0 && (add_moves(s, layer, r, in, 0, err) || wait_for_producers(s, layer, r, err)))
        return -1;
    if (add_task(s, layer, r, plan->cost[r], err) ||
        (in == 0 && wait_for_producers(s, layer, r, err)))
        return -1;
    s->l->emission.final[place_of(s, layer, r)] = s->last;
    return 0;
}

/* Sends the partial sums of other positions' pieces; those of the own piece are received and
 * summed. */
static int send_sums(serial *s, int layer, th_error *err)
{
    const th_layer_plan *plan = s->l->planned.layer_plan[layer];
    memset(s->down, 0, (size_t)plan->n * sizeof *s->down);
    for (int r = 0; r < plan->n; r++) {
        int64_t up = 0;
        for (int i = 0; i < plan->at[r].n_sends; i++) {
            const th_partial_send *x = &plan->sends[plan->at[r].first_send + i];
            up += x->bytes;
            s->down[x->to] += x->bytes;
        }
        if (up > 0 && add_moves(s, layer, r, 0, up, err))
            return -1;
        s->sums_sent[r] = up > 0 ? s->last : -1;
    }
    return 0;
}

static int wait_for_sums(serial *s, int layer, int r, th_error *err)
{
    const th_layer_plan *plan = s->l->planned.layer_plan[layer];
    for (int from = 0; from < plan->n; from++)
        for (int i = 0; i < plan->at[from].n_sends; i++)
            if (plan->sends[plan->at[from].first_send + i].to == r && from != r &&
                th_program_depend(s->l->emission.program, s->last, s->sums_sent[from], err))
                return -1;
    return 0;
}

static int add_sums(serial *s, int layer, th_error *err)
{
    const th_layer_plan *plan = s->l->planned.layer_plan[layer];
    if (send_sums(s, layer, err))
        return -1;
    for (int r = 0; r < plan->n; r++) {
        if (s->down[r] > 0 &&
            (add_moves(s, layer, r, s->down[r], 0, err) || wait_for_sums(s, layer, r, err)))
            return -1;
        if (plan->at[r].reduce_cost >= 0 && add_task(s, layer, r, plan->at[r].reduce_cost, err))
            return -1;
        s->l->emission.final[place_of(s, layer, r)] = s->queue_end[accel_of(s, layer, r)];
    }
    return 0;
}

static int add_outputs(serial *s, int layer, th_error *err)
{
    for (int r = 0; r < s->l->planned.layer_plan[layer]->n; r++) {
        int64_t out = bytes_out(s, layer, r);
        if (out > 0 && add_moves(s, layer, r, 0, out, err))
            return -1;
        s->l->emission.final[place_of(s, layer, r)] = s->queue_end[accel_of(s, layer, r)];
    }
    return 0;
}

static int add_layer(serial *s, int layer, th_error *err)
{
    bool reduces = false;
    for (int r = 0; r < s->l->planned.layer_plan[layer]->n; r++) {
        reduces |= s->l->planned.layer_plan[layer]->at[r].n_sends > 0;
        if (add_position(s, layer, r, err))
            return -1;
    }
    if (reduces && add_sums(s, layer, err))
        return -1;
    return add_outputs(s, layer, err);
}

/* --- passes --- */

/* The part's input arrives, and as many passes of the part are in the system as may be. */
static int add_release(serial *s, int number, th_error *err)
{
    th_lower *l = s->l;
    th_model part = th_workload_part(l->workload, number);
    th_task t = {.kind = TH_TASK_HOST,
                 .node = -1,
                 .peer = -1,
                 .compute_cost = -1,
                 .layer = -1,
                 .input = l->emission.input,
                 .release_ps = part.arrival_ps + l->emission.input * s->stream->interval_ps};
    int32_t before = l->emission.pass - l->passes.in_flight[number];
    s->release[number] = th_program_add(l->emission.program, &t, err);
    if (s->release[number] < 0)
        return -1;
    if (before < 0)
        return 0;
    size_t at = (size_t)before * (size_t)th_workload_parts(l->workload) + (size_t)number;
    for (size_t i = l->passes.end_start[at]; i < l->passes.end_start[at + 1]; i++)
        if (th_program_depend(l->emission.program, s->release[number], l->passes.end[i], err))
            return -1;
    return 0;
}

/* The tasks after which the results of a part have left. */
static int end_part(serial *s, int number, th_error *err)
{
    th_lower *l = s->l;
    for (int i = 0; i < l->workload->n_outputs; i++) {
        int32_t layer = l->workload->outputs[i];
        if (th_workload_part_of(l->workload, layer, 0) != number)
            continue;
        for (int r = 0; r < l->planned.layer_plan[layer]->n; r++) {
            if (th_grow(&l->passes.end, &l->passes.end_capacity, l->passes.n_ends + 1,
                        sizeof *l->passes.end))
                return th_error_no_memory(err);
            l->passes.end[l->passes.n_ends++] = l->emission.final[place_of(s, layer, r)];
        }
    }
    return 0;
}

static int add_pass(serial *s, int32_t pass, th_error *err)
{
    int parts = th_workload_parts(s->l->workload);
    s->l->emission.pass = pass;
    s->l->emission.input = pass / s->stream->micro_batches;
    for (int i = 0; i < parts; i++)
        if (add_release(s, i, err))
            return -1;
    for (int i = 0; i < s->m->n_layers; i++)
        if (add_layer(s, s->order[i], err))
            return -1;
    for (int i = 0; i < parts; i++) {
        if (end_part(s, i, err))
            return -1;
        s->l->passes.end_start[(size_t)pass * (size_t)parts + (size_t)i + 1] = s->l->passes.n_ends;
    }
    return 0;
}

/* Micro-batches of the largest size are planned first; the others in turn. */
static int add_passes(serial *s, th_error *err)
{
    th_lower *l = s->l;
    int32_t parts = s->stream->micro_batches, passes = s->stream->n_inputs * parts, planned = -1;
    int64_t all = l->workload->batch;
    l->passes.n_ends = 0;
    l->passes.end_start[0] = 0;
    for (int a = 0; a < l->system->n_accels; a++)
        s->queue_end[a] = -1;
    for (int32_t pass = -1; pass < passes; pass++) {
        int64_t part = pass < 0 ? parts - 1 : pass % parts; /* the last is the largest */
        int32_t batch = (int32_t)((part + 1) * all / parts - part * all / parts);
        if (batch != planned && th_lower_plan(l, s->m, 0, s->m->n_layers - 1, batch, err))
            return -1;
        planned = batch;
        if (pass < 0)
            link_queues(s);
        if (pass < 0 ? pin_all(s, err) || check_memory(s, err)
                     : th_lower_begin_pass(l, pass, err) || add_pass(s, pass, err))
            return -1;
    }
    l->passes.start[passes] = l->emission.program->n_tasks;
    return 0;
}

static int allocate(serial *s, th_error *err)
{
    th_lower *l = s->l;
    size_t accels = (size_t)l->system->n_accels + 1, layers = (size_t)s->m->n_layers,
           places = (size_t)l->emission.first_final[layers] + 1;
    size_t parts = (size_t)th_workload_parts(l->workload),
           passes = (size_t)s->stream->n_inputs * (size_t)s->stream->micro_batches,
           ends = passes * parts;
    s->release = th_alloc_zero(parts, sizeof *s->release);
    s->pinned = th_alloc_zero(places, sizeof *s->pinned);
    s->weights = th_alloc_zero(places, sizeof *s->weights);
    s->next_tied = th_alloc_zero(layers + 1, sizeof *s->next_tied);
    s->after = th_alloc_zero(places, sizeof *s->after);
    s->queue_end = th_alloc_zero(accels, sizeof *s->queue_end);
    s->before = th_alloc_zero(accels, sizeof *s->before);
    s->down = th_alloc_zero(accels, sizeof *s->down);
    s->sums_sent = th_alloc_zero(accels, sizeof *s->sums_sent);
    bool has_all = s->pinned && s->after && s->queue_end && s->before && s->down && s->sums_sent &&
                   s->release && s->weights && s->next_tied &&
                   th_grow(&l->passes.start, &l->passes.start_capacity, passes + 1,
                           sizeof *l->passes.start) == 0 &&
                   th_grow(&l->passes.end_start, &l->passes.end_start_capacity, ends + 1,
                           sizeof *l->passes.end_start) == 0;
    return has_all ? 0 : th_error_no_memory(err);
}

static void clear(serial *s)
{
    th_free(s->as_written);
    th_free(s->release);
    th_free(s->pinned);
    th_free(s->weights);
    th_free(s->next_tied);
    th_free(s->after);
    th_free(s->queue_end);
    th_free(s->before);
    th_free(s->down);
    th_free(s->sums_sent);
}

/* 0, or -1 and nothing to clear. */
static int set_out(serial *s, th_lower *l, const th_mapping *m, const th_stream *stream,
                   th_error *err)
{
    *s = (serial){.l = l, .m = m, .stream = stream};
    int failed = allocate(s, err);
    if (!failed && !m->order &&
        !(s->as_written = th_alloc_array((size_t)m->n_layers + 1, sizeof *s->as_written)))
        failed = th_error_no_memory(err);
    for (int i = 0; s->as_written && i < m->n_layers; i++)
        s->as_written[i] = i;
    s->order = m->order ? m->order : s->as_written;
    if (failed)
        clear(s);
    return failed ? -1 : 0;
}

int th_lower_serial(th_lower *l, const th_mapping *m, const th_stream *stream, th_error *err)
{
    serial s;
    if (set_out(&s, l, m, stream, err))
        return -1;
    int failed = add_passes(&s, err);
    clear(&s);
    return failed ? -1 : 0;
}

/* --- what fills memory --- */

static void list(th_memory_peak *p, int32_t kind, int32_t layer, int64_t bytes)
{
    if (bytes == 0)
        return;
    if (th_grow(&p->held, &p->capacity, p->n + 1, sizeof *p->held))
        p->failed = true;
    else
        p->held[p->n++] = (th_held){kind, layer, bytes};
}

/* What check_memory adds up: the pinned weights of all layers, and what the run of one moves and
 * makes. */
static void list_layer(const serial *s, int layer, int r, bool is_peak, th_memory_peak *out)
{
    bool is_pinned = s->pinned[place_of(s, layer, r)];
    int64_t weights = s->weights[place_of(s, layer, r)];
    if (is_pinned || is_peak)
        list(out, TH_HELD_WEIGHTS, layer, weights);
    if (!is_peak)
        return;
    list(out, TH_HELD_INPUT, layer, bytes_in(s, layer, r) - (is_pinned ? 0 : weights));
    list(out, TH_HELD_OUTPUT, layer, s->l->planned.layer_plan[layer]->at[r].output_bytes);
}

int th_lower_serial_held(th_lower *l, const th_mapping *m, const th_stream *stream, int accel,
                         th_memory_peak *out, th_error *err)
{
    serial s;
    if (set_out(&s, l, m, stream, err))
        return -1;
    link_queues(&s);
    int failed = pin_all(&s, err);
    for (int layer = 0; !failed && layer < m->n_layers; layer++)
        for (int r = 0; r < l->planned.layer_plan[layer]->n; r++)
            if (accel_of(&s, layer, r) == accel)
                list_layer(&s, layer, r, layer == l->memory.peak_layer[accel], out);
    clear(&s);
    return failed ? -1 : out->failed ? th_error_no_memory(err) : 0;
}
