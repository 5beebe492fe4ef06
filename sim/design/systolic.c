/* SPDX-License-Identifier: GPL-3.0-or-later */
/* systolic.c - a systolic array of rows x cols, output-, weight- or input-stationary.
 *
 * A convolution is a matrix product per group: M = output pixels (of all images: one long stream),
 * N = filters, K = R S C. With (Sr, Sc, T) = (M, N, K) output-stationary (os), (K, N, M)
 * weight-stationary (ws), (K, M, N) input-stationary (is):
 *   folds   F = ceil(Sr/rows) ceil(Sc/cols)
 *   cycles  os F (T + rows + cols - 2)    ws, is F (T + 2 rows + cols - 2)
 * as in version 3 of A. Samajdar et al., "SCALE-Sim: Systolic CNN Accelerator Simulator", 2018.
 * With overlap the wavefront of a fold follows that of the previous fold directly, and
 *   cycles = F P + start,  P = max(T, rows),  start = (cycles of one fold above) - P.
 * ws, is: a second register in each element loads the next stationary operand row by row (rows
 * cycles) while T elements stream. os: finished sums leave through a shift chain of their column
 * (rows cycles) while the next fold accumulates. So P is at least rows.
 *
 * A step is a fold, or a piece of its stream if a buffer cannot hold all of it (systolic_plan.c).
 * Only the last piece of a fold pays the fill, so cutting changes no cycle. With refill (ws, is) a
 * stream may also be cut into runs. Each run is a fold that pays its own fill: F (T + n fill)
 * cycles for n runs, and the buffer holds the partial sums of one tile only. The images of a batch
 * form one M, which means fewer folds and fills, except in ws if the partial sums of one image fit
 * on chip and those of all images do not.
 *
 * Structured sparsity of weights, n of m: the inner dimension shrinks to ceil(K n / m), as in
 * SCALE-Sim v3. Not modelled: the gathering of the inputs that belong to kept weights; bank
 * conflicts; the drain of the sums of the last fold, which SCALE-Sim does not count either.
 * docs/models/systolic.md. */
#include <config.h>

#include "sim/design/systolic.h"
#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum {
    CLOCK,
    ROWS,
    COLS,
    DATAFLOW,
    OVERLAP,
    REFILL,
    BUFFER,
    INPUT_BUFFER,
    WEIGHT_BUFFER,
    OUTPUT_BUFFER,
    SLOTS,
    SUM_BITS,
    INPUT_PORT,
    WEIGHT_PORT,
    OUTPUT_PORT
};
enum { LARGEST_SIDE = 65536 };
#define LARGEST_BUFFER 1e15

static const char *const dataflows[] = {"os", "ws", "is", NULL}; /* as th_systolic_flow */

/* 0 is the value of absent keys: no limit, or no port. */
static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the array", NULL},
    [ROWS] = {"rows", TH_KEY_INTEGER, true, 1, LARGEST_SIDE, 0, "elements in a column", NULL},
    [COLS] = {"cols", TH_KEY_INTEGER, true, 1, LARGEST_SIDE, 0, "elements in a row", NULL},
    [DATAFLOW] = {"dataflow", TH_KEY_CHOICE, true, 0, 2, 0,
                  "os, ws or is: what stays in the array, outputs, weights or inputs", dataflows},
    [OVERLAP] = {"overlap", TH_KEY_BOOL, false, 0, 1, 0,
                 "the fill of a fold hides in the drain of the one before", NULL},
    [REFILL] = {"refill", TH_KEY_BOOL, false, 0, 1, 0,
                "ws, is: a stream may be cut into runs that fill the array anew, if that is faster",
                NULL},
    [BUFFER] = {"buffer", TH_KEY_BYTES, false, 1, LARGEST_BUFFER, 0,
                "on-chip buffer of all operands together; absent: no limit", NULL},
    [INPUT_BUFFER] = {"input_buffer", TH_KEY_BYTES, false, 1, LARGEST_BUFFER, 0,
                      "on-chip buffer of inputs; absent: no limit", NULL},
    [WEIGHT_BUFFER] = {"weight_buffer", TH_KEY_BYTES, false, 1, LARGEST_BUFFER, 0,
                       "on-chip buffer of weights; absent: no limit", NULL},
    [OUTPUT_BUFFER] = {"output_buffer", TH_KEY_BYTES, false, 1, LARGEST_BUFFER, 0,
                       "on-chip buffer of outputs and partial sums; absent: no limit", NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2,
               "tiles that each on-chip buffer holds", NULL},
    [SUM_BITS] = {"sum_bits", TH_KEY_INTEGER, false, 1, 64, 32, "bits of a partial sum", NULL},
    [INPUT_PORT] = {"input_port", TH_KEY_NUMBER, false, 1e-3, 1e6, 0,
                    "elements per cycle from DRAM; absent: as fast as the DRAM", NULL},
    [WEIGHT_PORT] = {"weight_port", TH_KEY_NUMBER, false, 1e-3, 1e6, 0,
                     "elements per cycle from DRAM; absent: as fast as the DRAM", NULL},
    [OUTPUT_PORT] = {"output_port", TH_KEY_NUMBER, false, 1e-3, 1e6, 0,
                     "elements per cycle to DRAM; absent: as fast as the DRAM", NULL},
    {.name = NULL},
};

static int64_t limit_of(const th_design_config *d, int key)
{
    return d->value[key] > 0 ? (int64_t)d->value[key] : INT64_MAX;
}

/* --- the layer as matrix products ------------------------------------------------------------- */

/* True if the output buffer holds the weight-stationary sums of `images` images, for one block of
 * filters. */
static bool sums_fit(const th_systolic_layer *l, int64_t pixels, int64_t images)
{
    int64_t filters = th_group_outputs(l->shard) < l->cols ? th_group_outputs(l->shard) : l->cols;
    double bytes = (double)pixels * (double)images * (double)filters * (double)l->sum_bits / 8;
    int64_t room = l->buffer_bytes[TH_TENSOR_OUTPUT];
    return bytes <= (double)(room < l->all_bytes ? room : l->all_bytes);
}

/* True if one M has the pixels of all images. A product of two activations has a different second
 * operand in every image. */
static bool merges_images(const th_systolic_layer *l, int64_t pixels)
{
    const th_shard *s = l->shard;
    if (s->dim[TH_DIM_B] == 1 || s->n_operands > 1)
        return false;
    return l->flow != TH_SYSTOLIC_WS || l->extent[TH_LOOP_C] <= l->rows ||
           sums_fit(l, pixels, s->dim[TH_DIM_B]) || !sums_fit(l, pixels, 1);
}

static void set_extents(th_systolic_layer *l)
{
    const th_shard *s = l->shard;
    int64_t pixels = (int64_t)s->dim[TH_DIM_H] * s->dim[TH_DIM_W];
    l->inner = th_group_inputs(s) * s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    l->extent[TH_LOOP_C] =
        s->sparse_m > 0 ? th_ceil_div(l->inner * s->sparse_n, s->sparse_m) : l->inner;
    l->images = merges_images(l, pixels) ? s->dim[TH_DIM_B] : 1;
    l->extent[TH_LOOP_B] = s->dim[TH_DIM_B] / l->images * s->groups;
    l->extent[TH_LOOP_H] = pixels * l->images;
    l->extent[TH_LOOP_W] = 1;
    l->extent[TH_LOOP_K] = th_group_outputs(s);
    l->shares_weights = s->groups == 1 && s->n_operands == 1;
}

static th_systolic_layer layer_of(const th_design_config *d, const th_shard *s)
{
    th_systolic_layer l = {
        .shard = s,
        .flow = (th_systolic_flow)d->value[DATAFLOW],
        .rows = (int)d->value[ROWS],
        .cols = (int)d->value[COLS],
        .buffer_bytes = {limit_of(d, INPUT_BUFFER), limit_of(d, WEIGHT_BUFFER),
                         limit_of(d, OUTPUT_BUFFER)},
        .all_bytes = limit_of(d, BUFFER),
        .slots = (int32_t)d->value[SLOTS],
        .sum_bits = (int64_t)d->value[SUM_BITS],
        .overlaps = d->value[OVERLAP] != 0,
        .may_refill = d->value[REFILL] != 0,
    };
    l.fill = l.rows + l.cols - 2 + (l.flow == TH_SYSTOLIC_OS ? 0 : l.rows);
    set_extents(&l);
    return l;
}

/* The number of folds: blocks of Sr by rows, and of Sc by cols. */
static void folds_of(const th_systolic_layer *l, int64_t *down, int64_t *across)
{
    bool is_os = l->flow == TH_SYSTOLIC_OS, is_is = l->flow == TH_SYSTOLIC_IS;
    *down = th_ceil_div(l->extent[is_os ? TH_LOOP_H : TH_LOOP_C], l->rows);
    *across = th_ceil_div(l->extent[is_is ? TH_LOOP_H : TH_LOOP_K], l->cols);
}

/* --- schedule --------------------------------------------------------------------------------- */

/* The number of runs of a stream, each of which fills the array again; 1 without refill. */
static int64_t runs_of(const th_systolic_layer *l, const th_schedule *s)
{
    bool refills = l->flow != TH_SYSTOLIC_OS && s->order[TH_N_LOOPS - 1] == TH_LOOP_C;
    return refills ? s->count[th_systolic_stream(l->flow)] : 1;
}

/* Elements moved between array and buffers, for all products. */
static th_accesses accesses_of(const th_systolic_layer *l, int64_t runs)
{
    int64_t products = l->extent[TH_LOOP_B], m = l->extent[TH_LOOP_H], n = l->extent[TH_LOOP_K],
            k = l->extent[TH_LOOP_C], down, across;
    folds_of(l, &down, &across);
    bool is_os = l->flow == TH_SYSTOLIC_OS, is_is = l->flow == TH_SYSTOLIC_IS;
    return (th_accesses){
        .input_reads = products * m * k * (is_is ? runs : across),
        .weight_reads = products * k * n *
                        (is_os   ? down
                         : is_is ? across
                                 : runs),
        .partial_reads = is_os ? 0 : products * m * n * (down - 1),
        .output_writes = products * m * n * (is_os ? 1 : down),
    };
}

static const char *variant_of(const th_systolic_layer *l, const th_schedule *s)
{
    static const char *const names[][2] = {
        [TH_SYSTOLIC_OS] = {"output-stationary, pixel blocks outside",
                            "output-stationary, filter blocks outside"},
        [TH_SYSTOLIC_WS] = {"weight-stationary, filter blocks outside",
                            "weight-stationary, inner blocks outside"},
        [TH_SYSTOLIC_IS] = {"input-stationary, pixel blocks outside",
                            "input-stationary, inner blocks outside"},
    };
    static const char *const spilling[][2] = {
        [TH_SYSTOLIC_OS] = {NULL, NULL},
        [TH_SYSTOLIC_WS] = {"weight-stationary, filter blocks outside, sums spilled",
                            "weight-stationary, inner blocks outside, sums spilled"},
        [TH_SYSTOLIC_IS] = {"input-stationary, pixel blocks outside, sums spilled",
                            "input-stationary, inner blocks outside, sums spilled"},
    };
    static const char *const running[] = {
        [TH_SYSTOLIC_WS] = "weight-stationary, in runs of pixels",
        [TH_SYSTOLIC_IS] = "input-stationary, in runs of filters",
    };
    if (runs_of(l, s) > 1)
        return running[l->flow];
    enum { OUTER_FOLD = 2 }; /* index of the outer loop over folds in the order */
    bool is_first = l->flow == TH_SYSTOLIC_WS ? s->order[OUTER_FOLD] == TH_LOOP_K
                                              : s->order[OUTER_FOLD] == TH_LOOP_H;
    bool spills = th_schedule_revisits(s) && !s->sums_stay;
    return (spills ? spilling : names)[l->flow][is_first ? 0 : 1];
}

static int check_size(const th_systolic_layer *l, th_error *err)
{
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        if (l->extent[loop] > INT32_MAX)
            return th_error_set(err, "SIM-0042",
                                "a product of %lld x %lld x %lld, %lld times: a systolic array "
                                "takes at most %d of each",
                                (long long)l->extent[TH_LOOP_H], (long long)l->extent[TH_LOOP_K],
                                (long long)l->extent[TH_LOOP_C], (long long)l->extent[TH_LOOP_B],
                                INT32_MAX);
    return 0;
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    th_systolic_layer l = layer_of(d, s);
    if (check_size(&l, err))
        return -1;
    th_schedule plan = {.hz = (int64_t)d->value[CLOCK], .slots_in = l.slots, .slots_out = l.slots};
    th_set_ports(&plan, s, &d->value[INPUT_PORT]);
    if (th_systolic_plan(&l, memory, &plan, err))
        return -1;
    plan.accesses = accesses_of(&l, runs_of(&l, &plan));
    plan.macs_per_cycle = (double)l.rows * l.cols;
    plan.variant = variant_of(&l, &plan);
    *out = plan;
    return 0;
}

/* Zeros of structured sparsity are skipped. */
static th_design_peak peak_of(const th_design_config *d, const th_shard *s)
{
    double kept = s->sparse_m > 0 ? (double)s->sparse_n / s->sparse_m : 1;
    return (th_design_peak){d->value[ROWS] * d->value[COLS] / kept, (int64_t)d->value[CLOCK]};
}

const th_design_type th_design_systolic = {
    .name = "systolic",
    .synopsis = "systolic array rows x cols, output-, weight- or input-stationary",
    .keys = keys,
    .schedule = schedule,
    .peak = peak_of,
};
