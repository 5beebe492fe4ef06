/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_serial.c - lowers a mapping for a system with serial transfers.
 *
 *   new { queues -> pin weights } -> check memory
 *   emit_pass { releases -> per layer, in order { per position: in -> compute -> partial sums out,
 *     in, summed -> out } }
 *
 * Source: the cost model of X. Zhang et al., "H2H", DAC 2022; how shards of a layer enter it is
 * ours (docs/models/h2h.md). An accelerator runs its layers in the order of the mapping, one after
 * the other; a layer begins when its producers have ended. Missing inputs of a position are
 * transferred from the accelerator's host, then it computes, then what other positions miss is
 * transferred to the host. These tasks are a chain on each accelerator, so they do not overlap
 * there. An activation stays local only between a layer and the one that its
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
#include "mapper/lower/emit.h"
#include "mapper/lower/footprint.h"
#include "mapper/lower/knapsack.h"

enum { UNIT_BYTES = 4000 }; /* of the knapsack: 1,000 elements of 32 bits */

struct th_serial {
    th_lower *l;
    const th_mapping *m;
    bool *pinned;       /* by l->emission.first_final[layer] + position */
    int64_t *weights;   /* likewise: bytes that no other pinned layer has */
    int32_t *after;     /* likewise: the layer that the accelerator runs next, -1 */
    int32_t *next_tied; /* by layer: another one with the same weights, in a circle */
    int32_t *queue_end; /* by accelerator: a task, -1: none yet */
    int64_t *down;      /* by position, scratch: bytes of partial sums to receive */
    int32_t *sums_sent; /* by position, scratch: the task that sends its partial sums */
};

static size_t place_of(const th_serial *s, int layer, int r)
{
    return (size_t)(s->l->emission.first_final[layer] + r);
}

/* The i-th layer that runs. */
static int32_t layer_at(const th_serial *s, int i)
{
    return s->m->order ? s->m->order[i] : i;
}

/* --- weights --- */

static int64_t units_of(int64_t bytes)
{
    return th_ceil_div(bytes, UNIT_BYTES);
}

static void link_tied(const th_serial *s)
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

/* Sets the weights of a position. Returns the place that has most of them pinned on its
 * accelerator, too, or -1. */
static int64_t set_weights(const th_serial *s, int layer, int r)
{
    const int accel = th_lower_accel(s->l, layer, r);
    int64_t most = 0, with = -1;
    for (int i = s->next_tied[layer]; i != layer; i = s->next_tied[i]) {
        int there = th_set_place(s->l->planned.placed[i].set, accel);
        if (there < 0 || !s->pinned[place_of(s, i, there)])
            continue;
        int64_t common = th_mapping_common_weight_bytes(s->m, s->l->workload, layer, i, r);
        with = common > most ? (int64_t)place_of(s, i, there) : with;
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
static void pin_position(const th_serial *s, int layer, int r, bool is_free, items *list)
{
    size_t place = place_of(s, layer, r);
    int64_t with = set_weights(s, layer, r);
    int item = is_free && with >= 0 ? list->item[with] : 0;
    if (is_free && item == 0)
        list->size[item = list->n++] = 0;
    list->size[item] += units_of(s->weights[place]);
    list->item[place] = item;
    s->pinned[place] = true;
}

static int pin(const th_serial *s, int accel, items *list, th_error *err)
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
                if (th_lower_accel(s->l, layer, r) == accel &&
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

static int pin_all(const th_serial *s, th_error *err)
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

static void link_queues(th_serial *s)
{
    int32_t *next = s->queue_end; /* there are no tasks yet */
    for (int a = 0; a < s->l->system->n_accels; a++)
        next[a] = -1;
    for (int i = s->m->n_layers - 1; i >= 0; i--)
        for (int r = 0; r < s->l->planned.layer_plan[layer_at(s, i)]->n; r++) {
            int a = th_lower_accel(s->l, layer_at(s, i), r);
            s->after[place_of(s, layer_at(s, i), r)] = next[a];
            next[a] = layer_at(s, i);
        }
    for (int a = 0; a < s->l->system->n_accels; a++)
        s->queue_end[a] = -1;
}

/* Does it stay where it was made? */
static bool stays(const th_serial *s, const th_edge *e, const th_delivery *x)
{
    return !s->m->activations_cross && x->from >= 0 && x->from_node == x->to_node &&
           s->after[place_of(s, e->tensor, x->from)] == e->consumer;
}

static int64_t bytes_in(const th_serial *s, int layer, int r)
{
    size_t place = place_of(s, layer, r);
    int64_t bytes = s->pinned[place] ? 0 : s->weights[place];
    for (int i = 0; i < s->l->workload->layers[layer].n_inputs; i++) {
        const th_edge *e = &s->l->graph.edges[th_lower_input_edge(s->l, layer, i)];
        for (int32_t d = e->plan->first_of[r]; d < e->plan->first_of[r + 1]; d++)
            if (!stays(s, e, &e->plan->deliveries[d]))
                bytes += e->plan->deliveries[d].bytes;
    }
    return bytes;
}

static int64_t held_bytes(const th_serial *s, int layer, int r)
{
    return th_tensor_bytes(th_box_elements(&s->l->planned.layer_plan[layer]->at[r].held),
                           s->l->workload->layers[layer].precision[TH_TENSOR_OUTPUT]);
}

/* Bytes that other positions miss, each part once as long as it has one consumer; of a result,
 * all. */
static int64_t bytes_out(const th_serial *s, int layer, int r)
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

int th_serial_check(const th_serial *s, th_error *err)
{
    th_lower *l = s->l;
    size_t accels = (size_t)l->system->n_accels;
    memset(l->memory.weight_bytes, 0, accels * sizeof *l->memory.weight_bytes);
    memset(l->memory.peak_bytes, 0, accels * sizeof *l->memory.peak_bytes);
    memset(l->memory.peak_layer, -1, accels * sizeof *l->memory.peak_layer);
    for (int layer = 0; layer < s->m->n_layers; layer++)
        for (int r = 0; r < l->planned.layer_plan[layer]->n; r++) {
            int a = th_lower_accel(s->l, layer, r);
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

/* A new task of a position (-1: there is none) follows the accelerator's last one. It, or -1. */
static int32_t chain(th_serial *s, int layer, int r, int32_t task, th_error *err)
{
    int32_t *end = &s->queue_end[th_lower_accel(s->l, layer, r)], before = *end;
    *end = task;
    return task >= 0 && before >= 0 && th_program_depend(s->l->emission.program, task, before, err)
               ? -1
               : task;
}

static int32_t add_compute(th_serial *s, int layer, int r, int32_t cost, th_error *err)
{
    return chain(s, layer, r, th_emit_compute(s->l, layer, r, cost, err), err);
}

/* From the accelerator's host, or to it. */
static int32_t add_transfer(th_serial *s, int layer, int r, bool is_in, int64_t bytes,
                            th_error *err)
{
    int accel = th_lower_accel(s->l, layer, r), node = s->l->system->accel_node[accel],
        host = th_plans_host_of(s->l->plans, accel);
    int32_t task =
        th_emit_transfer(s->l, layer, is_in ? host : node, is_in ? node : host, bytes, err);
    return chain(s, layer, r, task, err);
}

/* After the producers of the position's inputs, and the release. */
static int wait_for_producers(th_serial *s, int layer, int r, int32_t task, th_error *err)
{
    th_lower *l = s->l;
    for (int i = 0; i < l->workload->layers[layer].n_inputs; i++) {
        const th_edge *e = &l->graph.edges[th_lower_input_edge(l, layer, i)];
        for (int32_t d = e->plan->first_of[r]; d < e->plan->first_of[r + 1]; d++) {
            int32_t from = e->plan->deliveries[d].from;
            if (from >= 0 &&
                th_program_depend(l->emission.program, task,
                                  l->emission.final[place_of(s, e->tensor, from)], err))
                return -1;
        }
    }
    int32_t releases = l->passes.start[l->emission.pass]; /* the first tasks of the pass */
    return th_program_depend(l->emission.program, task,
                             releases + th_workload_part_of(l->workload, layer, 0), err);
}

static int add_position(th_serial *s, int layer, int r, th_error *err)
{
    int64_t in = bytes_in(s, layer, r);
    int32_t loads = in > 0 ? add_transfer(s, layer, r, true, in, err) : -1;
    if (in > 0 && loads < 0)
        return -1;
    int32_t computes = add_compute(s, layer, r, s->l->planned.layer_plan[layer]->cost[r], err);
    if (computes < 0)
        return -1;
    s->l->emission.final[place_of(s, layer, r)] = computes;
    return wait_for_producers(s, layer, r, in > 0 ? loads : computes, err);
}

/* Sends the partial sums of other positions' pieces; those of the own piece are received and
 * summed. */
static int send_sums(th_serial *s, int layer, th_error *err)
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
        s->sums_sent[r] = up > 0 ? add_transfer(s, layer, r, false, up, err) : -1;
        if (up > 0 && s->sums_sent[r] < 0)
            return -1;
    }
    return 0;
}

static int receive_sums(th_serial *s, int layer, int r, th_error *err)
{
    const th_layer_plan *plan = s->l->planned.layer_plan[layer];
    int32_t task = add_transfer(s, layer, r, true, s->down[r], err);
    if (task < 0)
        return -1;
    for (int from = 0; from < plan->n; from++)
        for (int i = 0; i < plan->at[from].n_sends; i++)
            if (plan->sends[plan->at[from].first_send + i].to == r && from != r &&
                th_program_depend(s->l->emission.program, task, s->sums_sent[from], err))
                return -1;
    return 0;
}

static int add_sums(th_serial *s, int layer, th_error *err)
{
    const th_layer_plan *plan = s->l->planned.layer_plan[layer];
    if (send_sums(s, layer, err))
        return -1;
    for (int r = 0; r < plan->n; r++)
        if ((s->down[r] > 0 && receive_sums(s, layer, r, err)) ||
            (plan->at[r].reduce_cost >= 0 &&
             add_compute(s, layer, r, plan->at[r].reduce_cost, err) < 0))
            return -1;
    return 0;
}

static int add_layer(th_serial *s, int layer, th_error *err)
{
    const th_layer_plan *plan = s->l->planned.layer_plan[layer];
    bool reduces = false;
    for (int r = 0; r < plan->n; r++) {
        reduces |= plan->at[r].n_sends > 0;
        if (add_position(s, layer, r, err))
            return -1;
    }
    if (reduces && add_sums(s, layer, err))
        return -1;
    for (int r = 0; r < plan->n; r++) {
        int64_t out = bytes_out(s, layer, r);
        if (out > 0 && add_transfer(s, layer, r, false, out, err) < 0)
            return -1;
        s->l->emission.final[place_of(s, layer, r)] = s->queue_end[th_lower_accel(s->l, layer, r)];
    }
    return 0;
}

/* The tasks after which the results of a part have left. */
static int end_part(const th_serial *s, int number, th_error *err)
{
    th_lower *l = s->l;
    for (int i = 0; i < l->workload->n_outputs; i++) {
        int32_t layer = l->workload->outputs[i];
        bool is_of_part = th_workload_part_of(l->workload, layer, 0) == number;
        for (int r = 0; is_of_part && r < l->planned.layer_plan[layer]->n; r++)
            if (th_emit_end(l, l->emission.final[place_of(s, layer, r)]))
                return th_error_no_memory(err);
    }
    return 0;
}

int th_serial_emit_pass(th_serial *s, const th_stream *stream, int32_t pass, th_error *err)
{
    th_lower *l = s->l;
    int parts = th_workload_parts(l->workload);
    l->emission.pass = pass;
    l->emission.input = pass / stream->micro_batches;
    for (int i = 0; i < parts; i++)
        if (th_emit_release(l, stream, i, err))
            return -1;
    for (int i = 0; i < s->m->n_layers; i++)
        if (add_layer(s, layer_at(s, i), err))
            return -1;
    for (int i = 0; i < parts; i++) {
        if (end_part(s, i, err))
            return -1;
        l->passes.end_start[(size_t)pass * (size_t)parts + (size_t)i + 1] = l->passes.n_ends;
    }
    return 0;
}

/* --- life --- */

th_serial *th_serial_new(th_lower *l, const th_mapping *m, th_error *err)
{
    size_t accels = (size_t)l->system->n_accels + 1,
           places = (size_t)l->emission.first_final[m->n_layers] + 1;
    th_serial *s = th_alloc_zero(1, sizeof *s);
    if (s) {
        s->l = l;
        s->m = m;
        s->pinned = th_alloc_zero(places, sizeof *s->pinned);
        s->weights = th_alloc_zero(places, sizeof *s->weights);
        s->next_tied = th_alloc_zero((size_t)m->n_layers + 1, sizeof *s->next_tied);
        s->after = th_alloc_zero(places, sizeof *s->after);
        s->queue_end = th_alloc_zero(accels, sizeof *s->queue_end);
        s->down = th_alloc_zero(accels, sizeof *s->down);
        s->sums_sent = th_alloc_zero(accels, sizeof *s->sums_sent);
    }
    if (!s || !s->pinned || !s->weights || !s->next_tied || !s->after || !s->queue_end ||
        !s->down || !s->sums_sent) {
        th_error_no_memory(err);
        goto fail;
    }
    link_queues(s);
    if (pin_all(s, err) == 0)
        return s;
fail:
    th_serial_free(s);
    return NULL;
}

void th_serial_free(th_serial *s)
{
    if (!s)
        return;
    th_free(s->pinned);
    th_free(s->weights);
    th_free(s->next_tied);
    th_free(s->after);
    th_free(s->queue_end);
    th_free(s->down);
    th_free(s->sums_sent);
    th_free(s);
}

/* --- what fills memory --- */

/* What th_serial_check adds up: the pinned weights of all layers, and what the run of one moves and
 * makes. */
static void list_layer(const th_serial *s, int layer, int r, bool is_peak, th_memory_peak *out)
{
    bool is_pinned = s->pinned[place_of(s, layer, r)];
    int64_t weights = s->weights[place_of(s, layer, r)];
    if (is_pinned || is_peak)
        th_memory_peak_add(out, (th_held){TH_HELD_WEIGHTS, layer, weights});
    if (!is_peak)
        return;
    int64_t in = bytes_in(s, layer, r) - (is_pinned ? 0 : weights);
    th_memory_peak_add(out, (th_held){TH_HELD_INPUT, layer, in});
    th_memory_peak_add(
        out, (th_held){TH_HELD_OUTPUT, layer, s->l->planned.layer_plan[layer]->at[r].output_bytes});
}

void th_serial_list(const th_serial *s, int accel, th_memory_peak *out)
{
    for (int layer = 0; layer < s->m->n_layers; layer++)
        for (int r = 0; r < s->l->planned.layer_plan[layer]->n; r++)
            if (th_lower_accel(s->l, layer, r) == accel)
                list_layer(s, layer, r, layer == s->l->memory.peak_layer[accel], out);
}
