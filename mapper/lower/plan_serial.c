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

/* Without a host there are no routes, and transfers take no time. */
th_time th_plan_serial_whole_time(th_plans *p, const th_placed *at, const th_layer_plan *plan)
{
    const th_layer *l = &p->workload->layers[at->layer];
    const int node = p->system->accel_node[at->set->accels[0]],
              host = p->facts.host_of[at->set->accels[0]];
    int64_t in = plan->at[0].weight_bytes, out = th_tensor_bytes(th_box_elements(&plan->at[0].held),
                                                                 l->precision[TH_TENSOR_OUTPUT]);
    for (int i = 0; i < l->n_inputs; i++)
        in += region_read(l, &plan->at[0], i).bytes;
    th_time down = host >= 0 && in > 0 ? th_plan_route_bound(p, host, node, in) : 0,
            up = host >= 0 && out > 0 ? th_plan_route_bound(p, node, host, out) : 0;
    if (down < 0 || up < 0)
        return -1;
    return th_time_add(th_time_add(down, up),
                       th_compute_cost_get(p->costs, plan->cost[0])->collapsed_ps);
}
