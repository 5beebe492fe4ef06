/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_rate.c - the least time of a whole layer on a class of accelerators, in shards of any
 * size.
 *
 *   rate_layer: class by class { design by design: operations at its peak rate | even cuts }
 *     -> bound
 *
 * Let R be the most multiply-accumulates per second of any shard of the layer on an accelerator
 * (design.h: peak), and w, o the least bytes of weights and outputs that the whole layer moves
 * through a DRAM of B bytes per second. Shards with the fraction x of the operations then occupy
 * accelerators of the class for
 *     x max(macs / R, (w + o) / B)
 * in sum: a shard is a box, so its fraction of weights and outputs is at least its fraction of the
 * operations. Inputs depend on borders and strides and are left out. A design without R (learned
 * times, scripts) is bounded by single shards alone. Not modelled: latencies, fill, drain. */
#include <config.h>

#include "mapper/evaluate/bounds_layer.h"
#include "base/integer.h"

#include <math.h>

#include "mapper/shard.h"

/* The most by which the bytes of a whole tensor exceed those of its elements: compressed data have
 * whole non-zero elements and whole bytes. */
enum { ROUNDING_BYTES = 16 };

int th_bound_design_without_rate(const th_floors *f, int class, const th_shard *whole)
{
    const th_accel *a = th_floors_accel(f, class);
    double cycles;
    int64_t hz;
    for (int i = 0; i < a->n_designs; i++)
        if (!th_compute_cost_min_cycles(f->costs, f->first_of[class], a->designs[i], whole, &cycles,
                                        &hz))
            return a->designs[i];
    return -1;
}

static double tensor_bytes(const th_shard *s, th_tensor tensor, int64_t elements, int64_t moved)
{
    double bytes = (double)th_shard_bytes(s, tensor, elements) - ROUNDING_BYTES;
    return fmax(fmin(bytes, (double)moved), 0);
}

/* Weights and outputs that shards of all of the layer move at least; 0 where its schedule as a
 * whole is not known, or parts of the operations are not parts of the tensors (zeros between
 * inputs, hidden scores). */
static void find_bytes(const th_floors *f, int class, int design, const th_shard *s,
                       double *weights, double *outputs)
{
    const int32_t *d = s->dim;
    th_schedule schedule;
    *weights = *outputs = 0;
    bool has_hidden = s->scores < (int64_t)d[TH_DIM_H] * d[TH_DIM_R];
    if (s->up_h > 1 || s->up_w > 1 || (s->kind == TH_LAYER_ATTENTION && has_hidden) ||
        th_compute_cost_schedule(f->costs, f->first_of[class], design, s, &schedule, NULL))
        return;
    th_schedule_totals t = th_schedule_sum(&schedule);
    *outputs = tensor_bytes(s, TH_TENSOR_OUTPUT,
                            (int64_t)d[TH_DIM_B] * d[TH_DIM_K] * d[TH_DIM_H] * d[TH_DIM_W],
                            t.output_bytes);
    if (th_shard_is_for_arrays(s) && th_layer_gates((th_layer_kind)s->kind) == 0 &&
        !th_shard_multiplies_activations(s))
        *weights = tensor_bytes(s, TH_TENSOR_WEIGHT,
                                (int64_t)d[TH_DIM_K] * th_ceil_div(d[TH_DIM_C], s->groups) *
                                    d[TH_DIM_R] * d[TH_DIM_S],
                                t.weight_bytes);
}

/* Of a class with a design that has a rate; INFINITY: no shard can run. */
static double ps_with(const th_floors *f, int class, int design, const th_shard *s, double *bytes)
{
    const th_accel *a = th_floors_accel(f, class);
    double cycles, weights, outputs, clock = th_floors_clock(f, class);
    int64_t hz;
    *bytes = INFINITY;
    if (clock == 0 ||
        !th_compute_cost_min_cycles_at(
            f->costs, (th_compute_unit){f->first_of[class], design, clock}, s, &cycles, &hz) ||
        cycles == INFINITY)
        return INFINITY;
    find_bytes(f, class, design, s, &weights, &outputs);
    *bytes = weights + outputs;
    double memory = 0;
    if (a->dram_bits_per_s != TH_UNLIMITED)
        memory = *bytes * 8 * (double)TH_PS_PER_S / (double)a->dram_bits_per_s;
    return fmax(cycles * (double)TH_PS_PER_S / (double)hz, memory);
}

/* The designs of a class that have a rate. */
static double ps_by_rates(const th_floors *f, int class, const th_shard *s, double *bytes)
{
    const th_accel *a = th_floors_accel(f, class);
    double least = INFINITY, moved, cycles;
    int64_t hz;
    *bytes = INFINITY;
    for (int i = 0; i < a->n_designs; i++) {
        if (!th_compute_cost_min_cycles(f->costs, f->first_of[class], a->designs[i], s, &cycles,
                                        &hz))
            continue;
        least = fmin(least, ps_with(f, class, a->designs[i], s, &moved));
        *bytes = fmin(*bytes, moved);
    }
    return least;
}

/* A class with a design that has no peak rate: the bound of single shards, or none. */
static double ps_by_shards(int design, bool are_known, double known, th_layer_floor *out)
{
    if (out->unknown == TH_UNKNOWN_NONE || !are_known) {
        out->unknown = are_known ? TH_UNKNOWN_PARTIAL : TH_UNKNOWN_NO_PEAK_RATE;
        out->unknown_design = design;
    }
    return are_known ? known : 0;
}

void th_bound_layer_by_rate(th_floors *f, const th_shard *shard, bool are_even, th_layer_floor *out,
                            double *whole)
{
    th_layer_floor found = {
        .is_by_rate = true, .unknown = out->unknown, .unknown_design = out->unknown_design};
    found.occupied = found.dram_bytes = INFINITY;
    for (int c = 0; c < f->n_classes; c++) {
        double bytes, ps = ps_by_rates(f, c, shard, &bytes);
        int unknown = th_floors_clock(f, c) > 0 ? th_bound_design_without_rate(f, c, shard) : -1;
        if (unknown >= 0) {
            ps = fmin(ps, ps_by_shards(unknown, are_even, whole[c], &found));
            bytes = 0;
        }
        whole[c] = ps;
        found.occupied = fmin(found.occupied, ps);
        found.dram_bytes = fmin(found.dram_bytes, bytes);
    }
    th_floors_update_speed(f, whole, found.occupied);
    if (found.occupied == INFINITY) {
        found.occupied = found.dram_bytes = 0;
        found.unknown = TH_UNKNOWN_NO_ACCELERATOR;
    }
    *out = found;
}
