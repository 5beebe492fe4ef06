/* SPDX-License-Identifier: GPL-3.0-or-later */
/* systolic_vec.c - a rows x cols x vec systolic array: rows work on output channels, columns on
 * output columns, each element multiplies a vector of input channels.
 *
 * Source: the FPGA form of X. Wei et al., "Automated Systolic Array Architecture Synthesis for High
 * Throughput CNN Inference on FPGAs", DAC 2017; equation ours. Per image and group
 *   cycles = ceil(K/rows) ceil(W/cols) H R S ceil(C/vec) + fill
 * where a pass is one (K block, W block); fill = rows + cols per pass, once per layer with overlap.
 * A step is one vector of channels of a pass; partial sums of a pass (rows x cols x H) stay in the
 * array's accumulators. Inputs are loaded as real windows. */
#include <config.h>

#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum { CLOCK, ROWS, COLS, VEC, INPUT_PORT, WEIGHT_PORT, OUTPUT_PORT, OVERLAP, SLOTS };

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the array", NULL},
    [ROWS] = {"rows", TH_KEY_INTEGER, true, 1, 65536, 0, "rows of the array, one output channel each", NULL},
    [COLS] = {"cols", TH_KEY_INTEGER, true, 1, 65536, 0, "columns of the array, one output column each", NULL},
    [VEC] = {"vec", TH_KEY_INTEGER, true, 1, 65536, 0, "input channels per element and cycle", NULL},
    [INPUT_PORT] = {"input_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [WEIGHT_PORT] = {"weight_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [OUTPUT_PORT] = {"output_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [OVERLAP] = {"overlap", TH_KEY_BOOL, false, 0, 1, 1, "a pass fills while the one before drains", NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2, "steps that each on-chip buffer holds", NULL},
    {.name = NULL},
};

static void set_step(const th_design_config *d, const th_shard *s, unsigned mask, th_schedule *out)
{
    int64_t k = th_tile_extent(th_group_outputs(s), (int64_t)d->value[ROWS], mask & TH_LAST_K);
    int64_t c = th_tile_extent(th_group_inputs(s), (int64_t)d->value[VEC], mask & TH_LAST_C);
    int64_t w = th_tile_extent(s->dim[TH_DIM_W], (int64_t)d->value[COLS], mask & TH_LAST_W);
    int64_t h = s->dim[TH_DIM_H], kernel = (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    int64_t columns = th_window(w, s->stride_w, s->dim[TH_DIM_S], s->dilation_w, s->in_w);
    int64_t fill = (int64_t)(d->value[ROWS] + d->value[COLS]);
    bool fills_again = d->value[OVERLAP] == 0 && (mask & TH_LAST_C);
    out->step[mask] =
        (th_step){th_shard_bytes(s, TH_TENSOR_INPUT, c * s->in_h * columns),
                  th_shard_bytes(s, TH_TENSOR_WEIGHT, k * c * kernel),
                  h * kernel + (fills_again ? fill : 0)};
    out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] = th_shard_bytes(s, TH_TENSOR_OUTPUT, k * h * w);
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    (void)err;
    (void)memory;
    *out = (th_schedule){.hz = (int64_t)d->value[CLOCK]};
    out->count[TH_LOOP_B] = s->dim[TH_DIM_B] * s->groups;
    out->count[TH_LOOP_H] = 1;
    out->count[TH_LOOP_W] = (int32_t)th_ceil_div(s->dim[TH_DIM_W], (int64_t)d->value[COLS]);
    out->count[TH_LOOP_K] = (int32_t)th_ceil_div(th_group_outputs(s), (int64_t)d->value[ROWS]);
    out->count[TH_LOOP_C] = (int32_t)th_ceil_div(th_group_inputs(s), (int64_t)d->value[VEC]);
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++)
        set_step(d, s, mask, out);
    out->start_cycles = d->value[OVERLAP] != 0 ? (int64_t)(d->value[ROWS] + d->value[COLS]) : 0;
    out->slots_in = out->slots_out = (int32_t)d->value[SLOTS];
    th_set_ports(out, s, &d->value[INPUT_PORT]);
    return 0;
}

const th_design_type th_design_systolic_vec = {
    .name = "systolic_vec",
    .synopsis = "rows x cols x vec systolic array (DAC'17)",
    .keys = keys,
    .schedule = schedule,
};
