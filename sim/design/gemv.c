/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gemv.c - a matrix-vector engine for recurrent layers.
 *
 * After S. Han et al., "ESE: Efficient Speech Recognition Engine with Sparse LSTM on FPGA", FPGA
 * 2017 (matrix rows distributed over processing elements, element-wise units beside them), and J.
 * Fowers et al., "A Configurable Cloud-Scale DNN Processor for Real-Time AI", ISCA 2018 (weights
 * resident on chip; pipeline latency of a step). The equations are ours. Each of `lanes`
 * multipliers holds one column of the product and reads one element of the vector per cycle:
 *   product of n columns with c elements   ceil(n / lanes) c
 * For a recurrent layer of C inputs, K units, g gates and B rows (B independent vectors), time step
 * t:
 *   x = B ceil(g K / lanes) C     product with x(t), which depends on no earlier step
 *   h = B ceil(g K / lanes) K     product with h(t - 1), which waits for the gates of step t - 1
 *   e = B ceil(o K / gate_lanes) + step_latency     o operations per unit, see below
 *   cycles = H (h + max(x, e)) + min(x, e)
 * If weight_buffer holds all weights, they are loaded once. Otherwise every step streams them in
 * blocks of units; the buffer holds `slots` blocks, each of at least one unit. The gates of every
 * block but the last overlap with the product of the next block. In other layers, each block of
 * columns processes all vectors in turn; an output row is a step, and a convolution gathers its
 * vectors from the window of that row.
 * Operations per unit: what the equations have beside the products, which the multipliers add up
 * with W x + U h + b; a sigmoid or tanh is one table look-up, as in ESE:
 *   LSTM  i f o = sigmoid, g = tanh, c = f c + i g, h = o tanh(c)     3 + 1 + 3 + 2 = 9
 *   GRU   r z = sigmoid, n = tanh(W x + r (U h)), h = n + z (h - n)   2 + 3 + 3 = 8
 *   RNN   h = tanh                                                    1
 * Not modelled: the two directions of a bidirectional layer running at once, weights that stay on
 * chip between runs of a layer, skipping of zeros (compressed weights do reduce traffic). */
#include <config.h>

#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum {
    CLOCK,
    LANES,
    GATE_LANES,
    STEP_LATENCY,
    WEIGHT_BUFFER,
    INPUT_PORT,
    WEIGHT_PORT,
    OUTPUT_PORT,
    SLOTS
};
enum {
    PIECES = 8
}; /* pieces of a product with one vector, so that loading overlaps with computing */

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the engine", NULL},
    [LANES] = {"lanes", TH_KEY_INTEGER, true, 1, 1 << 24, 0,
               "multiply-accumulates per cycle, one column each", NULL},
    [GATE_LANES] = {"gate_lanes", TH_KEY_INTEGER, true, 1, 1 << 24, 0,
                    "element-wise operations per cycle", NULL},
    [STEP_LATENCY] = {"step_latency", TH_KEY_INTEGER, false, 0, 1e9, 0,
                      "cycles through the pipeline before the next step may use a result", NULL},
    [WEIGHT_BUFFER] = {"weight_buffer", TH_KEY_BYTES, true, 1, 1e15, 0, "on-chip bytes for weights",
                       NULL},
    [INPUT_PORT] = {"input_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [WEIGHT_PORT] = {"weight_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [OUTPUT_PORT] = {"output_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2,
               "blocks that each on-chip buffer holds", NULL},
    {.name = NULL},
};

static int64_t value(const th_design_config *d, int key)
{
    return (int64_t)d->value[key];
}

static int64_t at_least_0(int64_t a)
{
    return a > 0 ? a : 0;
}

/* The number of columns (or units) in a block, of n columns of `elements` weights each: as many as
 * one slot of the buffer holds, rounded down to a multiple of the lanes if larger; 0: a slot holds
 * none. */
static int64_t block_of(const th_design_config *d, const th_shard *s, int64_t n, int64_t elements)
{
    int64_t lanes = value(d, LANES);
    int64_t bytes = th_shard_bytes(s, TH_TENSOR_WEIGHT, elements);
    int64_t fit = value(d, WEIGHT_BUFFER) / value(d, SLOTS) / (bytes > 0 ? bytes : 1);
    if (fit >= n)
        return n;
    if (fit > lanes)
        fit -= fit % lanes;
    return fit;
}

static int fail_too_small(const th_design_config *d, const th_shard *s, const char *what,
                          int64_t elements, th_error *err)
{
    int64_t needs = value(d, SLOTS) * th_shard_bytes(s, TH_TENSOR_WEIGHT, elements);
    return th_error_set(err, "SIM-0120",
                        "gemv: weights: %lld slots of one %s, %lld elements, need %lld bytes, "
                        "weight_buffer has %lld: %lld bytes are missing",
                        (long long)value(d, SLOTS), what, (long long)elements, (long long)needs,
                        (long long)value(d, WEIGHT_BUFFER),
                        (long long)(needs - value(d, WEIGHT_BUFFER)));
}

/* --- recurrent layers ------------------------------------------------------------------------- */

typedef struct {
    int64_t rows, inputs, units, gates, operations; /* gates, operations: of a unit */
    int64_t block;                                  /* units per block */
    bool is_resident;                               /* all weights stay on chip */
} recurrence;

/* Of a unit, beside the products; see the head of this file. */
static int64_t operations_of(th_layer_kind kind)
{
    enum { LSTM = 9, GRU = 8, RNN = 1 };
    return kind == TH_LAYER_LSTM ? LSTM : kind == TH_LAYER_GRU ? GRU : RNN;
}

static recurrence recurrence_of(const th_design_config *d, const th_shard *s)
{
    recurrence r = {.rows = s->dim[TH_DIM_B],
                    .inputs = s->dim[TH_DIM_C],
                    .units = s->dim[TH_DIM_K],
                    .gates = th_layer_gates((th_layer_kind)s->kind),
                    .operations = operations_of((th_layer_kind)s->kind)};
    int64_t unit = r.gates * (r.inputs + r.units);
    r.is_resident = th_shard_bytes(s, TH_TENSOR_WEIGHT, r.units * unit) <= value(d, WEIGHT_BUFFER);
    r.block = r.is_resident ? r.units : block_of(d, s, r.units, unit);
    return r;
}

static int64_t rounds_of(const th_design_config *d, const recurrence *r, int64_t units)
{
    return r->rows * th_ceil_div(r->gates * units, value(d, LANES));
}

/* Cycles from the last product of a step to the first use of its result. */
static int64_t wait_of(const th_design_config *d, const recurrence *r, int64_t units)
{
    return r->rows * th_ceil_div(r->operations * units, value(d, GATE_LANES)) +
           value(d, STEP_LATENCY);
}

static void set_unit_block(const th_design_config *d, const th_shard *s, const recurrence *r,
                           unsigned mask, th_schedule *out)
{
    bool is_last = mask & TH_LAST_K;
    int64_t units = th_tile_extent(r->units, r->block, is_last), inner = r->inputs + r->units;
    int64_t product = rounds_of(d, r, units) * inner;
    int64_t gates = wait_of(d, r, units) - value(d, STEP_LATENCY);
    int64_t hidden = rounds_of(d, r, r->block) *
                     r->inputs; /* the product x of the first block of the next step */
    int64_t cycles = product > gates ? product : gates;
    if (is_last)
        cycles = product + at_least_0(wait_of(d, r, units) - hidden);
    out->step[mask] =
        (th_step){th_shard_bytes(s, TH_TENSOR_INPUT, r->rows * r->inputs),
                  th_shard_bytes(s, TH_TENSOR_WEIGHT, r->gates * units * inner), cycles};
    out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] =
        th_shard_bytes(s, TH_TENSOR_OUTPUT, r->rows * units);
}

static int set_recurrence(const th_design_config *d, const th_shard *s, th_schedule *out,
                          th_error *err)
{
    recurrence r = recurrence_of(d, s);
    int64_t inner = r.inputs + r.units;
    if (r.block == 0)
        return fail_too_small(d, s, "unit", r.gates * inner, err);
    out->count[TH_LOOP_B] = s->dim[TH_DIM_H];
    out->count[TH_LOOP_K] = (int32_t)th_ceil_div(r.units, r.block);
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++)
        set_unit_block(d, s, &r, mask, out);
    int64_t last = th_tile_extent(r.units, r.block, true);
    int64_t x = rounds_of(d, &r, r.block) * r.inputs, wait = wait_of(d, &r, last);
    out->start_cycles = x < wait ? x : wait; /* nothing overlaps with the gates of the last step */
    out->input_stays = 1u << TH_LOOP_K;
    out->weight_stays = r.is_resident ? 1u << TH_LOOP_B : 0;
    out->variant = r.is_resident ? "weights on chip" : "weights streamed in every step";
    int64_t steps = s->dim[TH_DIM_H];
    out->accesses = (th_accesses){.input_reads = steps * rounds_of(d, &r, r.units) * inner,
                                  .weight_reads = steps * r.rows * r.gates * r.units * inner,
                                  .output_writes = steps * r.rows * r.units};
    return 0;
}

/* --- other layers ----------------------------------------------------------------------------- */

static bool shares_weights(const th_shard *s)
{
    return s->groups == 1 && !th_shard_multiplies_activations(s);
}

static bool is_one_vector(const th_shard *s)
{
    return (int64_t)s->dim[TH_DIM_B] * s->groups * s->dim[TH_DIM_H] == 1;
}

/* Columns per block, of n columns; 0: the buffer holds none. */
static int64_t columns_of(const th_design_config *d, const th_shard *s, int64_t n, int64_t inner)
{
    int64_t lanes = value(d, LANES), block = block_of(d, s, n, inner);
    int64_t piece = th_ceil_div(th_ceil_div(n, PIECES), lanes) * lanes;
    return is_one_vector(s) && piece < block ? piece : block;
}

static int set_rows(const th_design_config *d, const th_shard *s, th_schedule *out, th_error *err)
{
    int64_t n = th_group_outputs(s), c = th_group_inputs(s), w = s->dim[TH_DIM_W];
    int64_t inner = c * s->dim[TH_DIM_R] * s->dim[TH_DIM_S], lanes = value(d, LANES);
    int64_t block = columns_of(d, s, n, inner);
    if (block == 0)
        return fail_too_small(d, s, "column", inner, err);
    int64_t window = th_window(1, s->stride_h, s->dim[TH_DIM_R], s->dilation_h, s->in_h) * s->in_w;
    out->count[TH_LOOP_B] = s->dim[TH_DIM_B] * s->groups;
    out->count[TH_LOOP_H] = s->dim[TH_DIM_H];
    out->count[TH_LOOP_K] = (int32_t)th_ceil_div(n, block);
    static const uint8_t blocks_outside[TH_N_LOOPS] = {TH_LOOP_K, TH_LOOP_B, TH_LOOP_H, TH_LOOP_W,
                                                       TH_LOOP_C};
    for (int place = 0; place < TH_N_LOOPS; place++)
        out->order[place] = blocks_outside[place];
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        int64_t k = th_tile_extent(n, block, mask & TH_LAST_K);
        out->step[mask] = (th_step){th_shard_bytes(s, TH_TENSOR_INPUT, c * window),
                                    th_shard_bytes(s, TH_TENSOR_WEIGHT, k * inner),
                                    w * th_ceil_div(k, lanes) * inner};
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] =
            th_shard_bytes(s, TH_TENSOR_OUTPUT, k * w);
    }
    out->input_stays = is_one_vector(s) ? 1u << TH_LOOP_K : 0;
    out->weight_stays = (uint8_t)(1u << TH_LOOP_H | (shares_weights(s) ? 1u << TH_LOOP_B : 0u));
    int64_t vectors = (int64_t)s->dim[TH_DIM_B] * s->groups * s->dim[TH_DIM_H] * w;
    int64_t rounds = (out->count[TH_LOOP_K] - 1) * th_ceil_div(block, lanes) +
                     th_ceil_div(th_tile_extent(n, block, true), lanes);
    out->accesses = (th_accesses){.input_reads = vectors * rounds * inner,
                                  .weight_reads = vectors * n * inner,
                                  .output_writes = vectors * n};
    return 0;
}

static void set_buffers(th_schedule *out)
{
    const th_step *step =
        &out->step[TH_N_STEP_KINDS - 1 - (out->count[TH_LOOP_K] > 1 ? TH_LAST_K : 0)];
    unsigned tile = TH_N_STORE_KINDS - 1 - (out->count[TH_LOOP_K] > 1 ? TH_LAST_K : 0);
    bool is_resident =
        out->weight_stays == 1u << TH_LOOP_B; /* a recurrent layer keeps its weights: no slots */
    out->buffer_bytes[TH_TENSOR_INPUT] = out->slots_in * step->input_bytes;
    out->buffer_bytes[TH_TENSOR_WEIGHT] = (is_resident ? 1 : out->slots_in) * step->weight_bytes;
    out->buffer_bytes[TH_TENSOR_OUTPUT] = out->slots_out * out->output_bytes[tile];
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    (void)memory;
    bool is_recurrent = th_layer_gates((th_layer_kind)s->kind) > 0;
    *out = (th_schedule){
        .hz = value(d, CLOCK), .count = {1, 1, 1, 1, 1}, .macs_per_cycle = d->value[LANES]};
    out->slots_in = out->slots_out = (int32_t)value(d, SLOTS);
    if ((is_recurrent ? set_recurrence : set_rows)(d, s, out, err))
        return -1;
    set_buffers(out);
    th_set_ports(out, s, &d->value[INPUT_PORT]);
    return 0;
}

static th_design_peak peak_of(const th_design_config *d, const th_shard *s)
{
    (void)s;
    return (th_design_peak){d->value[LANES], value(d, CLOCK)};
}

const th_design_type th_design_gemv = {
    .name = "gemv",
    .synopsis = "matrix-vector engine for recurrent layers (ESE, Brainwave)",
    .keys = keys,
    .schedule = schedule,
    .peak = peak_of,
    .kinds = 1u << TH_LAYER_LSTM | 1u << TH_LAYER_GRU | 1u << TH_LAYER_RNN,
};
