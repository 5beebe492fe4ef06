/* SPDX-License-Identifier: GPL-3.0-or-later */
/* serial_tiled.c - tiles without overlap on a local bus: the cost model of the H2H comparison.
 *
 * Source: X. Zhang et al., "H2H: Heterogeneous Model to Heterogeneous System Mapping with
 * Computation and Communication Awareness", DAC 2022. The paper's symbols: Th operations per second
 * (two per MAC), BWl bits per second, b bits per element, a convolution of M x N x R x C x K^2, an
 * input tile of Tr_ x Tc_:
 *   t_comp = 2 Tr Tc Tm Tn K^2 / Th          t_in = (Tm Tn K^2 + Tn Tr_ Tc_) b / BWl
 *   t_out = Tm Tr Tc b / BWl
 *   conv   ceil(R/Tr) ceil(C/Tc) ceil(M/Tm) (ceil(N/Tn) (t_in + t_comp) + t_out)
 *   fc     max(t_in, 2 M N K / Th, t_out)       t_in = (M N + N K) b / BWl, t_out = M K b / BWl
 *   lstm   Iter max(t_in, 8 H (D + H) / Th, t_out)
 *          t_in = (4 H (D + H) + D) b / BWl, t_out = H b / BWl
 * All tiles are full. Our extensions: images and groups run one after the other; a recurrent layer
 * may have B rows (a step loads its weights once for all of them); a GRU has 3 gates instead of 4.
 *
 * In the schedule one operation is one cycle of a clock of Th, so nothing is rounded. Weights and
 * inputs share the bus in proportion to their bytes, so both arrive after t_in. Tiles have one
 * slot, and nothing is loaded while a tile is computed or stored. The maxima of fc and lstm are a
 * perfect overlap without fill or drain, which no order of steps gives. Loading, computing and
 * storing are therefore three steps (of two H by two K iterations; the fourth is idle) with slots
 * for all of them, which start together. The maxima hold if the DRAM has twice the bandwidth of the
 * bus and no latency. */
#include <config.h>

#include <math.h>

#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum {
    CLOCK,
    BUS_BITS,
    THROUGHPUT,
    TILE_K,
    TILE_C,
    TILE_H,
    TILE_W,
    INPUT_TILE_H,
    INPUT_TILE_W,
    ONLY
};
enum { OPERATIONS_PER_MAC = 2, STREAM_SLOTS = 4 };
enum { TILE_MAX = 4096, ROWS_MAX = 1024 };

enum { ONLY_ANY, ONLY_CONV, ONLY_DENSE, ONLY_RECURRENT };
static const char *const kinds_of_layers[] = {"any", "conv", "dense", "recurrent", NULL};

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0,
               "clock of the bus, and of the array without throughput", NULL},
    [BUS_BITS] = {"bus_bits", TH_KEY_NUMBER, true, 1e-3, 1e9, 0,
                  "bits per cycle that the local bus moves each way", NULL},
    [THROUGHPUT] = {"throughput", TH_KEY_NUMBER, false, 1, 1e16, 0,
                    "Th, operations per second; absent: 2 tile_k tile_c per cycle", NULL},
    [TILE_K] = {"tile_k", TH_KEY_INTEGER, false, 1, TILE_MAX, 0,
                "Tm, output channels of a tile; convolutions need tiles", NULL},
    [TILE_C] = {"tile_c", TH_KEY_INTEGER, false, 1, TILE_MAX, 0, "Tn, input channels of a step",
                NULL},
    [TILE_H] = {"tile_h", TH_KEY_INTEGER, false, 1, ROWS_MAX, 0, "Tr, output rows of a tile", NULL},
    [TILE_W] = {"tile_w", TH_KEY_INTEGER, false, 1, ROWS_MAX, 0, "Tc, output columns of a tile",
                NULL},
    [INPUT_TILE_H] = {"input_tile_h", TH_KEY_INTEGER, false, 1, ROWS_MAX, 0,
                      "Tr_, input rows of a step; absent: tile_h", NULL},
    [INPUT_TILE_W] = {"input_tile_w", TH_KEY_INTEGER, false, 1, ROWS_MAX, 0,
                      "Tc_, input columns of a step; absent: tile_w", NULL},
    [ONLY] = {"only", TH_KEY_CHOICE, false, 0, 0, ONLY_ANY,
              "the kind of layers that it runs: conv, dense (fc, matmul), recurrent (lstm, gru)",
              kinds_of_layers},
    {.name = NULL},
};

static bool has_tiles(const th_design_config *d)
{
    return d->value[TILE_K] > 0 && d->value[TILE_C] > 0 && d->value[TILE_H] > 0 &&
           d->value[TILE_W] > 0;
}

static int prepare(th_design_config *d, const th_design_block *b, th_error *err)
{
    if (has_tiles(d) || d->value[THROUGHPUT] > 0)
        return 0;
    return th_error_set(
        err, "SIM-0072",
        "%s:%d: design \"%s\": must have throughput, or all of tile_k, tile_c, tile_h "
        "and tile_w",
        b->file, b->line, b->name);
}

static int64_t to_int64(double x)
{
    return x < 0x1p62 ? (int64_t)x : (int64_t)1 << 62;
}

static int64_t operations_per_s(const th_design_config *d)
{
    if (d->value[THROUGHPUT] > 0)
        return to_int64(ceil(d->value[THROUGHPUT]));
    return to_int64(OPERATIONS_PER_MAC * d->value[TILE_K] * d->value[TILE_C] * d->value[CLOCK]);
}

/* Inputs and weights of a step share the bus, so together they take as long as one after the other.
 * Ports have whole bits per second: the rate of the larger operand is rounded to the nearest, that
 * of the smaller one up, so that it does not finish later. */
static int64_t part_of(double bits, int64_t part, int64_t other)
{
    double rate = bits * (double)part / ((double)part + (double)other);
    return to_int64(part >= other ? round(rate) : ceil(rate));
}

static void set_bus(const th_design_config *d, int64_t inputs, int64_t weights, th_schedule *out)
{
    double bits = d->value[BUS_BITS] * d->value[CLOCK];
    out->port_bits_per_s[TH_ENGINE_INPUT] = part_of(bits, inputs, weights);
    out->port_bits_per_s[TH_ENGINE_WEIGHT] = part_of(bits, weights, inputs);
    out->port_bits_per_s[TH_ENGINE_PARTIAL] = out->port_bits_per_s[TH_ENGINE_OUTPUT] =
        to_int64(ceil(bits));
}

/* Tensors and operations that overlap perfectly. */
typedef struct {
    int64_t inputs, weights, outputs; /* elements */
    double operations;
} stream;

static void set_stream(const th_design_config *d, const th_shard *s, const stream *x, int32_t times,
                       th_schedule *out)
{
    const unsigned store = TH_LAST_W | TH_LAST_C, compute = store | TH_LAST_K,
                   load = compute | TH_LAST_H;
    const int32_t count[TH_N_LOOPS] = {times, 2, 1, 2, 1};
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        out->count[loop] = count[loop];
    out->step[load].input_bytes = th_shard_bytes(s, TH_TENSOR_INPUT, x->inputs);
    out->step[load].weight_bytes = th_shard_bytes(s, TH_TENSOR_WEIGHT, x->weights);
    out->step[compute].cycles = to_int64(x->operations);
    out->output_bytes[store & (TH_N_STORE_KINDS - 1)] =
        th_shard_bytes(s, TH_TENSOR_OUTPUT, x->outputs);
    out->slots_in = out->slots_out = STREAM_SLOTS;
    set_bus(d, out->step[load].input_bytes, out->step[load].weight_bytes, out);
    out->accesses = (th_accesses){.input_reads = times * x->inputs,
                                  .weight_reads = times * x->weights,
                                  .output_writes = times * x->outputs};
    out->variant = "stream";
}

/* All images have the same weights, unless the layer multiplies two activations. */
static void set_product(const th_design_config *d, const th_shard *s, th_schedule *out)
{
    bool has_own_weights = th_shard_multiplies_activations(s);
    int64_t b = s->dim[TH_DIM_B], k = th_group_outputs(s),
            inner = th_group_inputs(s) * s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    int64_t rows = (int64_t)s->dim[TH_DIM_H] * s->dim[TH_DIM_W] * (has_own_weights ? 1 : b);
    stream x = {rows * inner, k * inner, rows * k,
                (double)OPERATIONS_PER_MAC * (double)rows * (double)k * (double)inner};
    set_stream(d, s, &x, (int32_t)(s->groups * (has_own_weights ? b : 1)), out);
}

static void set_recurrence(const th_design_config *d, const th_shard *s, th_schedule *out)
{
    int64_t b = s->dim[TH_DIM_B], h = s->dim[TH_DIM_K], inputs = s->dim[TH_DIM_C];
    int64_t weights = th_layer_gates((th_layer_kind)s->kind) * h * (inputs + h);
    stream x = {b * inputs, weights, b * h,
                (double)OPERATIONS_PER_MAC * (double)b * (double)weights};
    set_stream(d, s, &x, s->dim[TH_DIM_H], out);
}

static void set_tiles(const th_design_config *d, const th_shard *s, th_schedule *out)
{
    int64_t tm = (int64_t)d->value[TILE_K], tn = (int64_t)d->value[TILE_C];
    int64_t pixels = (int64_t)(d->value[TILE_H] * d->value[TILE_W]);
    int64_t kernel = (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    double in_h = d->value[INPUT_TILE_H], in_w = d->value[INPUT_TILE_W];
    int64_t in_pixels =
        (int64_t)((in_h > 0 ? in_h : d->value[TILE_H]) * (in_w > 0 ? in_w : d->value[TILE_W]));
    th_step step = {
        th_shard_bytes(s, TH_TENSOR_INPUT, tn * in_pixels),
        th_shard_bytes(s, TH_TENSOR_WEIGHT, tm * tn * kernel),
        to_int64((double)OPERATIONS_PER_MAC * (double)(pixels * tm * tn) * (double)kernel)};
    out->count[TH_LOOP_B] = s->dim[TH_DIM_B] * s->groups;
    out->count[TH_LOOP_H] = (int32_t)th_ceil_div(s->dim[TH_DIM_H], (int64_t)d->value[TILE_H]);
    out->count[TH_LOOP_W] = (int32_t)th_ceil_div(s->dim[TH_DIM_W], (int64_t)d->value[TILE_W]);
    out->count[TH_LOOP_K] = (int32_t)th_ceil_div(th_group_outputs(s), tm);
    out->count[TH_LOOP_C] = (int32_t)th_ceil_div(th_group_inputs(s), tn);
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        out->step[mask] = step;
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] =
            th_shard_bytes(s, TH_TENSOR_OUTPUT, tm * pixels);
    }
    out->serial = true;
    out->slots_in = out->slots_out = 1;
    set_bus(d, step.input_bytes, step.weight_bytes, out);
    /* Per cycle Tn inputs and Tm sums are read; weights once per kernel position (FPGA'15). */
    double steps = 1;
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        steps *= out->count[loop];
    double cycles = steps * (double)kernel * (double)pixels;
    out->accesses = (th_accesses){to_int64(cycles * (double)tn),
                                  to_int64(steps * (double)(tm * tn) * (double)kernel),
                                  to_int64(cycles * (double)tm), to_int64(cycles * (double)tm)};
}

static void set_buffers(th_schedule *out)
{
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        const th_step *step = &out->step[mask];
        int64_t stored = out->output_bytes[mask & (TH_N_STORE_KINDS - 1)];
        if (step->input_bytes > out->buffer_bytes[TH_TENSOR_INPUT])
            out->buffer_bytes[TH_TENSOR_INPUT] = step->input_bytes;
        if (step->weight_bytes > out->buffer_bytes[TH_TENSOR_WEIGHT])
            out->buffer_bytes[TH_TENSOR_WEIGHT] = step->weight_bytes;
        if (stored > out->buffer_bytes[TH_TENSOR_OUTPUT])
            out->buffer_bytes[TH_TENSOR_OUTPUT] = stored;
    }
}

static int only_of(const th_shard *s)
{
    if (s->kind == TH_LAYER_CONV)
        return ONLY_CONV;
    return th_layer_gates((th_layer_kind)s->kind) > 0 ? ONLY_RECURRENT : ONLY_DENSE;
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    (void)memory;
    int only = (int)d->value[ONLY];
    if (only != ONLY_ANY && only != only_of(s))
        return th_error_set(err, "SIM-0191",
                            "a %s layer on a serial_tiled design that runs %s layers only",
                            kinds_of_layers[only_of(s)], kinds_of_layers[only]);
    *out = (th_schedule){.hz = operations_per_s(d), .macs_per_cycle = 1.0 / OPERATIONS_PER_MAC};
    if (s->kind == TH_LAYER_CONV && !has_tiles(d))
        return th_error_set(
            err, "SIM-0073",
            "a convolution on a serial_tiled design without tiles: must have tile_k, "
            "tile_c, tile_h and tile_w");
    if (s->kind == TH_LAYER_CONV)
        set_tiles(d, s, out);
    else if (th_layer_gates((th_layer_kind)s->kind) > 0)
        set_recurrence(d, s, out);
    else
        set_product(d, s, out);
    set_buffers(out);
    return 0;
}

static th_design_peak peak_of(const th_design_config *d, const th_shard *s)
{
    int only = (int)d->value[ONLY];
    bool runs =
        (only == ONLY_ANY || only == only_of(s)) && (s->kind != TH_LAYER_CONV || has_tiles(d));
    return (th_design_peak){runs ? 1.0 / OPERATIONS_PER_MAC : 0, operations_per_s(d)};
}

const th_design_type th_design_serial_tiled = {
    .name = "serial_tiled",
    .synopsis = "tiles without overlap on a local bus (H2H, DAC'22)",
    .keys = keys,
    .schedule = schedule,
    .peak = peak_of,
    .kinds = 1u << TH_LAYER_LSTM | 1u << TH_LAYER_GRU | 1u << TH_LAYER_RNN,
    .prepare = prepare,
};
