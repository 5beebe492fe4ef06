/* SPDX-License-Identifier: GPL-3.0-or-later */
/* winograd.c - F(m x m, r x r) transforms on Pn input-channel x Pm output-channel processing
 * elements, line buffers of n + m rows, n = m + r - 1.
 *
 * Source: L. Lu et al., "Evaluating Fast Algorithms for Convolutional Neural Networks on FPGAs",
 * FCCM 2017; equations ours. A stripe is m output rows:
 *   t_row = ceil(C/Pn) ceil(K/Pm) ceil(W/m) cycles,   multipliers = Pm Pn n^2
 * Raw weights are loaded once when the weight buffer holds them, else once per stripe, in blocks of
 * output channels that fill half the buffer. The first stripe needs n rows of input, each further
 * one m. A kernel that is not r x r is cut into ceil(R/r) ceil(S/r) sub-kernels where that is exact
 * (stride 1, no dilation), or is computed directly on the same multipliers, ceil(MACs /
 * multipliers) per block, whichever takes fewer cycles; strided and dilated kernels are always
 * direct. Not modelled: the latency of the transforms (a few cycles per layer). */
#include <config.h>

#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum { CLOCK, M, RR, PN, PM, INPUT_PORT, WEIGHT_PORT, OUTPUT_PORT, WEIGHT_BUFFER, SLOTS };

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the array", NULL},
    [M] = {"m", TH_KEY_INTEGER, true, 1, 16, 0, "output tile of the transform, m x m", NULL},
    [RR] = {"r", TH_KEY_INTEGER, true, 1, 16, 0, "kernel of the transform, r x r", NULL},
    [PN] = {"pn", TH_KEY_INTEGER, true, 1, 4096, 0, "input channels at once", NULL},
    [PM] = {"pm", TH_KEY_INTEGER, true, 1, 4096, 0, "output channels at once", NULL},
    [INPUT_PORT] = {"input_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [WEIGHT_PORT] = {"weight_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [OUTPUT_PORT] = {"output_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [WEIGHT_BUFFER] = {"weight_buffer", TH_KEY_BYTES, true, 1, 1e15, 0, "on-chip bytes for raw weights", NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2, "blocks that each on-chip buffer holds", NULL},
    {.name = NULL},
};

/* What the blocks of one layer shard have in common. */
typedef struct {
    int64_t k, c, h, w, r, s; /* per group */
    int64_t m, n, block; /* output rows of a stripe; transform size; output channels of a block */
    bool weights_stay;
} plan;

static int64_t block_channels(const th_design_config *d, const th_shard *s, const plan *p)
{
    int64_t pm = (int64_t)d->value[PM], per_channel = th_shard_bytes(s, TH_TENSOR_WEIGHT, p->c * p->r * p->s);
    int64_t fit = (int64_t)d->value[WEIGHT_BUFFER] / 2 / per_channel / pm * pm;
    return fit < pm ? pm : fit;
}

static plan make_plan(const th_design_config *d, const th_shard *s)
{
    plan p = {th_group_outputs(s),
              th_group_inputs(s),
              s->dim[TH_DIM_H],
              s->dim[TH_DIM_W],
              s->dim[TH_DIM_R],
              s->dim[TH_DIM_S],
              (int64_t)d->value[M],
              (int64_t)(d->value[M] + d->value[RR]) - 1,
              0,
              false};
    int64_t weights = th_shard_bytes(s, TH_TENSOR_WEIGHT, p.k * p.c * p.r * p.s);
    p.weights_stay = weights <= (int64_t)d->value[WEIGHT_BUFFER];
    p.block = p.weights_stay ? p.k : block_channels(d, s, &p);
    return p;
}

static int64_t transformed_cycles(const th_design_config *d, const plan *p, int64_t k)
{
    int64_t r = (int64_t)d->value[RR];
    return th_ceil_div(p->r, r) * th_ceil_div(p->s, r) * th_ceil_div(p->c, (int64_t)d->value[PN]) *
           th_ceil_div(k, (int64_t)d->value[PM]) * th_ceil_div(p->w, p->m);
}

static int64_t direct_cycles(const th_design_config *d, const plan *p, int64_t k, int64_t h)
{
    int64_t multipliers = (int64_t)(d->value[PM] * d->value[PN]) * p->n * p->n;
    return th_ceil_div(k * p->c * h * p->w * p->r * p->s, multipliers);
}

static int64_t block_cycles(const th_design_config *d, const th_shard *s, const plan *p, int64_t k,
                            int64_t h)
{
    bool is_exact =
        s->stride_h == 1 && s->stride_w == 1 && s->dilation_h == 1 && s->dilation_w == 1;
    int64_t direct = direct_cycles(d, p, k, h), transformed = transformed_cycles(d, p, k);
    return is_exact && transformed < direct ? transformed : direct;
}

/* New input rows of a stripe: the first one reads its window, all together in_h rows. Where padding
 * makes the windows reach beyond the input, the first has that much less, or all there is. */
static void set_input_rows(const th_shard *s, const plan *p, int32_t stripes, int64_t row_bytes,
                           th_schedule *out)
{
    int64_t first = th_window(p->m, s->stride_h, p->r, s->dilation_h, s->in_h);
    int64_t middle = p->m * s->stride_h, last = s->in_h - first - (stripes - 2) * middle;
    if (stripes == 1) {
        first = middle = 0;
        last = s->in_h;
    }
    if (last < 0) {
        first += last;
        last = 0;
    }
    if (first < 0) {
        first = s->in_h;
        middle = 0;
    }
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++)
        out->step[mask].input_bytes = (mask & TH_LAST_H ? last : middle) * row_bytes;
    out->first_row_extra_bytes = (first - middle) * row_bytes;
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    (void)err;
    (void)memory;
    plan p = make_plan(d, s);
    *out = (th_schedule){.hz = (int64_t)d->value[CLOCK]};
    out->count[TH_LOOP_B] = s->dim[TH_DIM_B] * s->groups;
    out->count[TH_LOOP_H] = (int32_t)th_ceil_div(p.h, p.m);
    out->count[TH_LOOP_W] = out->count[TH_LOOP_C] = 1;
    out->count[TH_LOOP_K] = (int32_t)th_ceil_div(p.k, p.block);
    set_input_rows(s, &p, out->count[TH_LOOP_H], th_shard_bytes(s, TH_TENSOR_INPUT, p.c * s->in_w), out);
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        int64_t k = th_tile_extent(p.k, p.block, mask & TH_LAST_K),
                h = th_tile_extent(p.h, p.m, mask & TH_LAST_H);
        out->step[mask].weight_bytes = th_shard_bytes(s, TH_TENSOR_WEIGHT, k * p.c * p.r * p.s);
        out->step[mask].cycles = block_cycles(d, s, &p, k, h);
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] = th_shard_bytes(s, TH_TENSOR_OUTPUT, k * h * p.w);
    }
    out->input_stays = 1u << TH_LOOP_K;
    out->weight_stays =
        p.weights_stay ? 1u << TH_LOOP_H | (s->groups == 1 ? 1u << TH_LOOP_B : 0u) : 0u;
    out->slots_in = out->slots_out = (int32_t)d->value[SLOTS];
    th_set_ports(out, s, &d->value[INPUT_PORT]);
    return 0;
}

const th_design_type th_design_winograd = {
    .name = "winograd",
    .synopsis = "F(m x m, r x r) fast convolution (FCCM'17)",
    .keys = keys,
    .schedule = schedule,
};
