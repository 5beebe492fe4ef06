/* SPDX-License-Identifier: GPL-3.0-or-later */
/* systolic_vec.c - a rows x cols x vec systolic array: rows of elements work on output channels,
 * columns on output columns, and each element multiplies a vector of input channels.
 *
 * Source: the FPGA form of X. Wei et al., "Automated Systolic Array Architecture Synthesis for High
 * Throughput CNN Inference on FPGAs", DAC 2017; the equation is ours. Per image and group
 *   cycles = ceil(K/rows) ceil(W/cols) H R S ceil(C/vec) + fill
 * A pass is one (K block, W block); fill = rows + cols per pass, or once per layer with overlap. A
 * step is one vector of channels of a pass; the partial sums of a pass (rows x cols x H) stay in
 * the array's accumulators. Inputs are loaded as the windows that the outputs read.
 *   schedule: tile_of and set_step for every kind of step -> check_buffers */
#include <config.h>

#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum {
    CLOCK,
    ROWS,
    COLS,
    VEC,
    INPUT_PORT,
    WEIGHT_PORT,
    OUTPUT_PORT,
    OVERLAP,
    SLOTS,
    CLIP,
    INPUT_BUFFER,
    WEIGHT_BUFFER,
    OUTPUT_BUFFER
};

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the array", NULL},
    [ROWS] = {"rows", TH_KEY_INTEGER, true, 1, 65536, 0,
              "rows of the array, one output channel each", NULL},
    [COLS] = {"cols", TH_KEY_INTEGER, true, 1, 65536, 0,
              "columns of the array, one output column each", NULL},
    [VEC] = {"vec", TH_KEY_INTEGER, true, 1, 65536, 0, "input channels per element and cycle",
             NULL},
    [INPUT_PORT] = {"input_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [WEIGHT_PORT] = {"weight_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [OUTPUT_PORT] = {"output_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [OVERLAP] = {"overlap", TH_KEY_BOOL, false, 0, 1, 1, "a pass fills while the one before drains",
                 NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2,
               "steps that each on-chip buffer holds", NULL},
    [CLIP] = {"clip", TH_KEY_BOOL, false, 0, 1, 1,
              "remainder blocks move what they hold, not a full block", NULL},
    [INPUT_BUFFER] = {"input_buffer", TH_KEY_BYTES, false, 1, 1e15, 0,
                      "on-chip bytes for inputs, all slots; absent: any step fits", NULL},
    [WEIGHT_BUFFER] = {"weight_buffer", TH_KEY_BYTES, false, 1, 1e15, 0,
                       "on-chip bytes for weights, all slots; absent: any step fits", NULL},
    [OUTPUT_BUFFER] = {"output_buffer", TH_KEY_BYTES, false, 1, 1e15, 0,
                       "on-chip bytes for outputs, all slots; absent: any pass fits", NULL},
    {.name = NULL},
};

typedef struct {
    int64_t k, c, w;
} tile;

static tile tile_of(const th_design_config *d, const th_shard *s, unsigned mask)
{
    tile full = {(int64_t)d->value[ROWS], (int64_t)d->value[VEC], (int64_t)d->value[COLS]};
    if (d->value[CLIP] == 0)
        return full;
    return (tile){th_tile_extent(th_group_outputs(s), full.k, mask & TH_LAST_K),
                  th_tile_extent(th_group_inputs(s), full.c, mask & TH_LAST_C),
                  th_tile_extent(s->dim[TH_DIM_W], full.w, mask & TH_LAST_W)};
}

static int64_t fill_cycles(const th_design_config *d)
{
    return (int64_t)(d->value[ROWS] + d->value[COLS]);
}

static void set_step(const th_design_config *d, const th_shard *s, unsigned mask, th_schedule *out)
{
    tile t = tile_of(d, s, mask);
    int64_t h = s->dim[TH_DIM_H], kernel = (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    int64_t columns = th_window(t.w, s->stride_w, s->dim[TH_DIM_S], s->dilation_w, s->in_w);
    bool fills_again = d->value[OVERLAP] == 0 && (mask & TH_LAST_C);
    out->step[mask] = (th_step){th_shard_bytes(s, TH_TENSOR_INPUT, t.c * s->in_h * columns),
                                th_shard_bytes(s, TH_TENSOR_WEIGHT, t.k * t.c * kernel),
                                h * kernel + (fills_again ? fill_cycles(d) : 0)};
    out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] =
        th_shard_bytes(s, TH_TENSOR_OUTPUT, t.k * h * t.w);
}

/* The bytes that the largest of the steps that occur needs, in all slots. */
static void set_buffers(const th_schedule *s, int64_t bytes[TH_N_TENSORS])
{
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        bool occurs = th_steps_of_kind(s->count, mask) > 0;
        int64_t has[] = {s->step[mask].input_bytes, s->step[mask].weight_bytes,
                         s->output_bytes[mask & (TH_N_STORE_KINDS - 1)]};
        for (int t = 0; occurs && t < TH_N_TENSORS; t++)
            if (has[t] * s->slots_in > bytes[t])
                bytes[t] = has[t] * s->slots_in;
    }
}

static int check_buffers(const th_design_config *d, const th_schedule *s, th_error *err)
{
    static const char *const names[] = {"input", "weight", "output"};
    for (int t = 0; t < TH_N_TENSORS; t++) {
        int64_t has = (int64_t)d->value[INPUT_BUFFER + t], needs = s->buffer_bytes[t];
        if (has > 0 && needs > has)
            return th_error_set(err, "SIM-0062",
                                "systolic_vec: %ss: %d slots need %lld bytes, %s_buffer has %lld: "
                                "%lld bytes are missing",
                                names[t], s->slots_in, (long long)needs, names[t], (long long)has,
                                (long long)(needs - has));
    }
    return 0;
}

/* Inputs are read again for every K block. Weights are read once per W block and then held for all
 * rows. Sums stay in the array. */
static th_accesses accesses_of(const th_shard *s, const th_schedule *out)
{
    int64_t rounds = out->count[TH_LOOP_B], k = th_group_outputs(s), c = th_group_inputs(s);
    int64_t kernel = (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    int64_t pixels = (int64_t)s->dim[TH_DIM_H] * s->dim[TH_DIM_W];
    return (th_accesses){
        .input_reads = rounds * out->count[TH_LOOP_K] * c * pixels * kernel,
        .weight_reads = rounds * out->count[TH_LOOP_W] * k * c * kernel,
        .output_writes = rounds * k * pixels,
    };
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    (void)memory;
    *out = (th_schedule){.hz = (int64_t)d->value[CLOCK]};
    out->count[TH_LOOP_B] = s->dim[TH_DIM_B] * s->groups;
    out->count[TH_LOOP_H] = 1;
    out->count[TH_LOOP_W] = (int32_t)th_ceil_div(s->dim[TH_DIM_W], (int64_t)d->value[COLS]);
    out->count[TH_LOOP_K] = (int32_t)th_ceil_div(th_group_outputs(s), (int64_t)d->value[ROWS]);
    out->count[TH_LOOP_C] = (int32_t)th_ceil_div(th_group_inputs(s), (int64_t)d->value[VEC]);
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++)
        set_step(d, s, mask, out);
    out->start_cycles = d->value[OVERLAP] != 0 ? fill_cycles(d) : 0;
    out->slots_in = out->slots_out = (int32_t)d->value[SLOTS];
    th_set_ports(out, s, &d->value[INPUT_PORT]);
    out->accesses = accesses_of(s, out);
    out->macs_per_cycle = d->value[ROWS] * d->value[COLS] * d->value[VEC];
    set_buffers(out, out->buffer_bytes);
    return check_buffers(d, out, err);
}

static th_design_peak peak_of(const th_design_config *d, const th_shard *s)
{
    (void)s;
    return (th_design_peak){d->value[ROWS] * d->value[COLS] * d->value[VEC],
                            (int64_t)d->value[CLOCK]};
}

const th_design_type th_design_systolic_vec = {
    .name = "systolic_vec",
    .synopsis = "rows x cols x vec systolic array (DAC'17)",
    .keys = keys,
    .schedule = schedule,
    .peak = peak_of,
};
