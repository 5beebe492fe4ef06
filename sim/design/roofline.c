/* SPDX-License-Identifier: GPL-3.0-or-later */
/* roofline.c - peak, efficiency and memory bandwidth, and nothing else.
 *
 * Source: S. Williams et al., "Roofline", CACM 2009. A layer takes max(MACs / (peak efficiency),
 * bytes / bandwidth) plus the fill and drain of a pipeline of PIECES pieces, cut along the operand
 * that weighs more: output channels when weights do, rows when inputs do. Each byte moves once. Not
 * modelled: any shape dependence of the efficiency. */
#include <config.h>

#include <math.h>

#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum { CLOCK, MACS_PER_CYCLE, EFFICIENCY, SLOTS };
enum { PIECES = 32 }; /* of a layer: fill and drain are 1/32 of the operand that is cut */

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the array", NULL},
    [MACS_PER_CYCLE] = {"macs_per_cycle", TH_KEY_NUMBER, true, 1, 1e12, 0, "peak multiply-accumulates per cycle", NULL},
    [EFFICIENCY] = {"efficiency", TH_KEY_NUMBER, false, 1e-3, 1, 1, "share of the peak that layers reach", NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2, "pieces that each on-chip buffer holds", NULL},
    {.name = NULL},
};

static int64_t cycles_of(const th_design_config *d, double macs)
{
    double cycles = ceil(macs / (d->value[MACS_PER_CYCLE] * d->value[EFFICIENCY]));
    return cycles < 1 ? 1 : (int64_t)cycles;
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    (void)err;
    (void)memory;
    int64_t b = s->dim[TH_DIM_B], k = s->dim[TH_DIM_K], h = s->dim[TH_DIM_H], w = s->dim[TH_DIM_W];
    int64_t window = th_group_inputs(s) * s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    int64_t weights = th_shard_bytes(s, TH_TENSOR_WEIGHT, k * window);
    int64_t inputs =
        th_shard_bytes(s, TH_TENSOR_INPUT, b * s->dim[TH_DIM_C] * s->in_h * s->in_w);
    bool by_channel = weights > inputs;
    int64_t extent = by_channel ? k : b * h, piece = th_ceil_div(extent, PIECES),
            n = th_ceil_div(extent, piece);
    *out = (th_schedule){.hz = (int64_t)d->value[CLOCK], .count = {1, 1, 1, 1, 1}};
    out->count[by_channel ? TH_LOOP_K : TH_LOOP_H] = (int32_t)n;
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        bool is_last = mask & (by_channel ? TH_LAST_K : TH_LAST_H);
        int64_t part = th_tile_extent(extent, piece, is_last);
        int64_t share = is_last ? inputs - inputs / n * (n - 1) : inputs / n;
        double macs = (double)part * (double)(by_channel ? b * h : k) * (double)w * (double)window;
        out->step[mask] =
            (th_step){by_channel ? inputs : share,
                      by_channel ? th_shard_bytes(s, TH_TENSOR_WEIGHT, part * window) : weights, cycles_of(d, macs)};
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] =
            th_shard_bytes(s, TH_TENSOR_OUTPUT, part * (by_channel ? b * h : k) * w);
    }
    out->input_stays = by_channel ? 1u << TH_LOOP_K : 0;
    out->weight_stays = by_channel ? 0 : 1u << TH_LOOP_H;
    out->macs_per_cycle = d->value[MACS_PER_CYCLE];
    out->slots_in = out->slots_out = (int32_t)d->value[SLOTS];
    return 0;
}

const th_design_type th_design_roofline = {
    .name = "roofline",
    .synopsis = "peak, efficiency and bandwidth",
    .keys = keys,
    .schedule = schedule,
};
