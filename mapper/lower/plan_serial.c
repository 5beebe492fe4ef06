/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_serial.c - the transfers of an edge on a system with serial transfers (docs/models/h2h.md).
 *
 *   th_plan_make_serial_edge: per position of the consumer { the region that it reads -> the
 *     part of it that each position of the producer holds }
 *
 * Every tensor is scaled, axis by axis, to the extents that its consumer reads: parts are ranges
 * of rational numbers, compared by cross-multiplication. A position reads the input that belongs
 * to its own outputs: rows in proportion, without halo. bytes of a delivery count what the
 * consumer reads, sent_bytes what the producer made: the volumes may differ. A position's own
 * output is a delivery too, from and to one node; whether it has to be transferred depends on what
 * the accelerator runs in between, which lower_serial.c knows. A layer that multiplies and has n >
 * 1 inputs reads an equal share of its channels from each. */
#include <config.h>

#include <math.h>

#include "base/alloc.h"
#include "mapper/lower/plan_state.h"

/* [lo, hi) of an axis that is extent long; size: whole elements of the reader's in it. */
typedef struct {
    int64_t lo, hi, extent, size;
} range;

typedef struct {
    range axis[TH_TENSOR_DIMS];
    int64_t bytes; /* of the reader's input */
} region;

static int64_t scaled(int64_t at, int64_t from, int64_t to)
{
    return at * (to / from) + at * (to % from) / from;
}

static range rows_of(const th_layer *l, const th_loop_box *loops, th_dim d, int32_t in)
{
    int64_t lo = loops->lo[d], hi = loops->hi[d], extent = l->dim[d];
    return (range){lo, hi, extent, scaled(hi, extent, in) - scaled(lo, extent, in)};
}

/* Of the channels that the part reads, those of one of several inputs. */
static range channels_of_input(const th_layer *l, range all, int input)
{
    int64_t n = l->n_inputs, first = input * all.extent, lo = all.lo * n - first,
            hi = all.hi * n - first;
    lo = lo > 0 ? lo : 0;
    hi = hi < all.extent ? hi : all.extent;
    hi = hi > lo ? hi : lo;
    return (range){lo, hi, all.extent, (hi - lo + n - 1) / n};
}

static region region_read(const th_layer *l, const th_position_plan *at, int input)
{
    const th_box whole = th_layer_input_box(l, input), *need = &at->need[input];
    bool slides = l->kind == TH_LAYER_CONV || l->kind == TH_LAYER_POOL;
    region x = {.bytes = 0};
    int64_t elements = 1;
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        x.axis[d] = (range){need->lo[d], need->hi[d], whole.hi[d], need->hi[d] - need->lo[d]};
    if (slides && !th_box_is_empty(need)) {
        x.axis[2] = rows_of(l, &at->loops, TH_DIM_H, l->in_h);
        x.axis[3] = rows_of(l, &at->loops, TH_DIM_W, l->in_w);
    }
    if (l->n_inputs > 1 && th_layer_has_macs(l) && !th_layer_multiplies_activations(l))
        x.axis[1] = channels_of_input(l, x.axis[1], input);
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        elements *= x.axis[d].size;
    x.bytes = th_tensor_bytes(elements, l->precision[TH_TENSOR_INPUT]);
    return x;
}

/* The parts of the region and of the box (of a tensor of extents full) that are the same. */
static void overlap(const region *x, const th_box *held, const th_box *full, double *of_region,
                    double *of_box)
{
    *of_region = *of_box = 1;
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        const range *a = &x->axis[d];
        int64_t extent = full->hi[d], lo = held->lo[d] * a->extent, hi = held->hi[d] * a->extent;
        int64_t from = a->lo * extent > lo ? a->lo * extent : lo,
                to = a->hi * extent < hi ? a->hi * extent : hi;
        double common = to > from ? (double)(to - from) : 0;
        *of_region *= common > 0 ? common / (double)((a->hi - a->lo) * extent) : 0;
        *of_box *= common > 0 ? common / (double)(hi - lo) : 0;
    }
}

/* A part of a number of bytes, in whole bytes; rounding errors of the part itself are ignored. */
static int64_t part_of(int64_t bytes, double part)
{
    const double slack = 1e-6;
    int64_t whole = (int64_t)ceil((double)bytes * part - slack);
    return whole < bytes ? whole : bytes;
}

typedef struct {
    th_plans *plans;
    const th_edge_ends *ends;
    const th_placed *consumer;
    th_edge_plan *out;
} maker;

static void add(maker *k, int from, int from_node, int to, int64_t bytes, int64_t sent)
{
    int node = k->plans->system->accel_node[k->consumer->set->accels[to]];
    k->out->deliveries[k->out->n++] = (th_delivery){.from = from,
                                                    .from_node = from_node,
                                                    .to = to,
                                                    .to_node = node,
                                                    .bytes = bytes,
                                                    .sent_bytes = sent};
}

static void add_from_positions(maker *k, const region *x, int to)
{
    const th_layer *l = &k->plans->workload->layers[k->ends->producer->layer];
    th_box full = th_layer_output_box(l);
    full.hi[0] = (int32_t)x->axis[0].extent; /* the images of this pass */
    for (int a = 0; a < k->ends->made->n; a++) {
        const th_box *held = &k->ends->made->at[a].held;
        double of_region, of_box;
        if (th_box_is_empty(held))
            continue;
        overlap(x, held, &full, &of_region, &of_box);
        if (of_region > 0)
            add(k, a, k->plans->system->accel_node[k->ends->producer->set->accels[a]], to,
                part_of(x->bytes, of_region),
                part_of(th_tensor_bytes(th_box_elements(held), l->precision[TH_TENSOR_OUTPUT]),
                        of_box));
    }
}

static th_edge_plan *new_edge(maker *k)
{
    size_t positions = (size_t)k->ends->reads->n,
           from = k->ends->made ? (size_t)k->ends->made->n : 1;
    th_edge_plan *e = th_plans_alloc(k->plans, 1, sizeof *e);
    if (!e)
        return NULL;
    e->deliveries = th_plans_alloc(k->plans, positions * from, sizeof *e->deliveries);
    e->first_of = th_plans_alloc(k->plans, positions + 1, sizeof *e->first_of);
    e->first_local_of = th_plans_alloc(k->plans, positions + 1, sizeof *e->first_local_of);
    return e->deliveries && e->first_of && e->first_local_of ? e : NULL;
}

th_edge_plan *th_plan_make_serial_edge(th_plans *p, const th_edge_ends *ends, th_error *err)
{
    const th_placed *consumer = &ends->consumers[ends->n - 1];
    const th_layer *l = &p->workload->layers[consumer->layer];
    maker k = {.plans = p, .ends = ends, .consumer = consumer};
    if (!(k.out = new_edge(&k))) {
        th_error_no_memory(err);
        return NULL;
    }
    for (int r = 0; r < ends->reads->n; r++) {
        region x = region_read(l, &ends->reads->at[r], consumer->input);
        x.axis[0].extent = ends->batch;
        k.out->first_of[r] = k.out->n;
        if (x.bytes > 0 && ends->producer)
            add_from_positions(&k, &x, r);
        else if (x.bytes > 0)
            add(&k, -1, p->facts.host_of[consumer->set->accels[r]], r, x.bytes, x.bytes);
    }
    k.out->first_of[ends->reads->n] = k.out->n;
    return k.out;
}

/* --- estimates --- */

/* Without a host there are no routes, and transfers take no time. */
static th_time moves_time(const th_plans *p, int accel, int64_t in, int64_t out)
{
    const th_moves *path = &p->facts.host_path[accel];
    if (path->in_bits_per_s == 0)
        return 0;
    return (in > 0 ? th_time_add(path->latency_ps, th_duration_ps(in, path->in_bits_per_s)) : 0) +
           (out > 0 ? th_time_add(path->latency_ps, th_duration_ps(out, path->out_bits_per_s)) : 0);
}

/* The consumer follows the producer at once: what an accelerator has made itself it has. The
 * busiest receiver and the busiest sender. */
th_time th_plan_serial_edge_time(th_plans *p, const th_edge_plan *e, th_error *err)
{
    const th_system *s = p->system;
    int64_t *sent = th_alloc_zero((size_t)s->n_accels + 1, sizeof *sent);
    th_time longest_in = 0, longest_out = 0;
    if (!sent)
        return th_error_no_memory(err);
    for (int d = 0; d < e->n;) {
        int to = e->deliveries[d].to, node = e->deliveries[d].to_node;
        int64_t got = 0;
        for (; d < e->n && e->deliveries[d].to == to; d++) {
            const th_delivery *x = &e->deliveries[d];
            if (x->from_node == node)
                continue;
            got += x->bytes;
            if (x->from >= 0)
                sent[s->nodes[x->from_node].accel] += x->sent_bytes;
        }
        th_time in = moves_time(p, s->nodes[node].accel, got, 0);
        longest_in = in > longest_in ? in : longest_in;
    }
    for (int a = 0; a < s->n_accels; a++) {
        th_time out = moves_time(p, a, 0, sent[a]);
        longest_out = out > longest_out ? out : longest_out;
    }
    th_free(sent);
    return th_time_add(longest_in, longest_out);
}

/* The slowest position's compute, its partial sums out and in, and their sum. Weights are taken to
 * be pinned. */
th_time th_plan_serial_layer_time(th_plans *p, const th_placed *at, const th_layer_plan *plan,
                                  th_error *err)
{
    int64_t *got = th_alloc_zero((size_t)plan->n + 1, sizeof *got);
    th_time longest = 0;
    if (!got)
        return th_error_no_memory(err);
    for (int r = 0; r < plan->n; r++)
        for (int i = 0; i < plan->at[r].n_sends; i++) {
            const th_partial_send *x = &plan->sends[plan->at[r].first_send + i];
            got[x->to] += x->bytes;
        }
    for (int r = 0; r < plan->n; r++) {
        const th_position_plan *x = &plan->at[r];
        int64_t sent = 0;
        for (int i = 0; i < x->n_sends; i++)
            sent += plan->sends[x->first_send + i].bytes;
        th_time time = moves_time(p, at->set->accels[r], got[r], sent);
        time += th_compute_cost_get(p->costs, plan->cost[r * plan->phases])->collapsed_ps;
        if (x->reduce_cost >= 0)
            time += th_compute_cost_get(p->costs, x->reduce_cost)->collapsed_ps;
        longest = time > longest ? time : longest;
    }
    th_free(got);
    return longest;
}

th_time th_plan_serial_whole_time(th_plans *p, const th_placed *at, const th_layer_plan *plan)
{
    const th_layer *l = &p->workload->layers[at->layer];
    int64_t in = plan->at[0].weight_bytes, out = th_tensor_bytes(th_box_elements(&plan->at[0].held),
                                                                 l->precision[TH_TENSOR_OUTPUT]);
    for (int i = 0; i < l->n_inputs; i++)
        in += region_read(l, &plan->at[0], i).bytes;
    return th_time_add(moves_time(p, at->set->accels[0], in, out),
                       th_compute_cost_get(p->costs, plan->cost[0])->collapsed_ps);
}
