/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiled.c - loop tiling Tm x Tn x Tr x Tc with double-buffered tiles.
 *
 * Source: C. Zhang et al., "Optimizing FPGA-based Accelerator Design for Deep Convolutional Neural
 * Networks", FPGA 2015; ports as in W. Jiang et al., "Achieving Super-Linear Speedup across
 * Multi-FPGA", 2019. Per step: t_I = Tn Tr Tc / Ip, t_W = Tm Tn R S / Wp, t_C = R S Tr Tc; per tile
 * t_O = Tm Tr Tc / Op. Overlap, fill and drain come from the pipeline. docs/models/tiled.md has the
 * closed forms. Not modelled: on-chip reuse between tiles (each step loads its operands anew, as
 * published). */
#include <config.h>

#include <math.h>

#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum {
    CLOCK,
    TILE_K,
    TILE_C,
    TILE_H,
    TILE_W,
    INPUT_PORT,
    WEIGHT_PORT,
    OUTPUT_PORT,
    SLOTS,
    CLIP,
    HALO
};

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the array", NULL},
    [TILE_K] = {"tile_k", TH_KEY_INTEGER, true, 1, 65536, 0, "Tm, output channels of a tile", NULL},
    [TILE_C] = {"tile_c", TH_KEY_INTEGER, true, 1, 65536, 0, "Tn, input channels of a step", NULL},
    [TILE_H] = {"tile_h", TH_KEY_INTEGER, true, 1, 65536, 0, "Tr, output rows of a tile", NULL},
    [TILE_W] = {"tile_w", TH_KEY_INTEGER, true, 1, 65536, 0, "Tc, output columns of a tile", NULL},
    [INPUT_PORT] = {"input_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "Ip, elements per cycle", NULL},
    [WEIGHT_PORT] = {"weight_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "Wp, elements per cycle", NULL},
    [OUTPUT_PORT] = {"output_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "Op, elements per cycle", NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2, "tiles that each on-chip buffer holds", NULL},
    [CLIP] = {"clip", TH_KEY_BOOL, false, 0, 1, 1, "remainder tiles cost what they hold, not a full tile", NULL},
    [HALO] = {"halo", TH_KEY_BOOL, false, 0, 1, 0, "load the real input window (stride, kernel), not Tr x Tc", NULL},
    {.name = NULL},
};

typedef struct {
    int64_t k, c, h, w;
} tile;

static tile tile_of(const th_design_config *d, const th_shard *s, unsigned mask)
{
    tile full = {(int64_t)d->value[TILE_K], (int64_t)d->value[TILE_C], (int64_t)d->value[TILE_H],
                 (int64_t)d->value[TILE_W]};
    if (d->value[CLIP] == 0)
        return full;
    return (tile){th_tile_extent(th_group_outputs(s), full.k, mask & TH_LAST_K),
                  th_tile_extent(th_group_inputs(s), full.c, mask & TH_LAST_C),
                  th_tile_extent(s->dim[TH_DIM_H], full.h, mask & TH_LAST_H),
                  th_tile_extent(s->dim[TH_DIM_W], full.w, mask & TH_LAST_W)};
}

static int64_t input_elements(const th_design_config *d, const th_shard *s, const tile *t)
{
    if (d->value[HALO] == 0)
        return t->c * t->h * t->w;
    return t->c * th_window(t->h, s->stride_h, s->dim[TH_DIM_R], s->dilation_h, s->in_h) *
           th_window(t->w, s->stride_w, s->dim[TH_DIM_S], s->dilation_w, s->in_w);
}

static void set_loops(const th_design_config *d, const th_shard *s, th_schedule *out)
{
    out->count[TH_LOOP_B] = s->dim[TH_DIM_B] * s->groups;
    out->count[TH_LOOP_H] = (int32_t)th_ceil_div(s->dim[TH_DIM_H], (int64_t)d->value[TILE_H]);
    out->count[TH_LOOP_W] = (int32_t)th_ceil_div(s->dim[TH_DIM_W], (int64_t)d->value[TILE_W]);
    out->count[TH_LOOP_K] = (int32_t)th_ceil_div(th_group_outputs(s), (int64_t)d->value[TILE_K]);
    out->count[TH_LOOP_C] = (int32_t)th_ceil_div(th_group_inputs(s), (int64_t)d->value[TILE_C]);
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    (void)err;
    (void)memory;
    int64_t kernel = (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    *out = (th_schedule){.hz = (int64_t)d->value[CLOCK]};
    set_loops(d, s, out);
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        tile t = tile_of(d, s, mask);
        out->step[mask] = (th_step){th_shard_bytes(s, TH_TENSOR_INPUT, input_elements(d, s, &t)),
                                    th_shard_bytes(s, TH_TENSOR_WEIGHT, t.k * t.c * kernel), kernel * t.h * t.w};
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] = th_shard_bytes(s, TH_TENSOR_OUTPUT, t.k * t.h * t.w);
    }
    out->slots_in = out->slots_out = (int32_t)d->value[SLOTS];
    th_set_ports(out, s, &d->value[INPUT_PORT]);
    return 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Of full tiles in two slots: P max(q L1, t_O) + min(max(t_I, t_W), t_C) + min(t_O, q L1). */
static double closed_form(const th_design_config *d, const th_shard *s)
{
    const double *v = d->value;
    if (v[CLIP] != 0 || v[SLOTS] != 2)
        return NAN;
    double kernel = (double)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    double t_c = kernel * v[TILE_H] * v[TILE_W];
    double t_i = v[TILE_C] * v[TILE_H] * v[TILE_W] / v[INPUT_PORT];
    double t_w = v[TILE_K] * v[TILE_C] * kernel / v[WEIGHT_PORT];
    double t_o = v[TILE_K] * v[TILE_H] * v[TILE_W] / v[OUTPUT_PORT];
    double q = ceil((double)th_group_inputs(s) / v[TILE_C]);
    double tiles = (double)s->dim[TH_DIM_B] * s->groups * ceil(s->dim[TH_DIM_H] / v[TILE_H]) *
                   ceil(s->dim[TH_DIM_W] / v[TILE_W]) * ceil((double)th_group_outputs(s) / v[TILE_K]);
    double t_l = larger(t_i, t_w), per_tile = q * larger(t_l, t_c);
    return tiles * larger(per_tile, t_o) + smaller(t_l, t_c) + smaller(t_o, per_tile);
}

const th_design_type th_design_tiled = {
    .name = "tiled",
    .synopsis = "loop tiling Tm x Tn x Tr x Tc (FPGA'15)",
    .keys = keys,
    .schedule = schedule,
    .closed_form = closed_form,
};
