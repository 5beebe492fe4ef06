/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiled.c - an array of Tm x Tn multiply-accumulate units, loop tiling Tm x Tn x Tr x Tc.
 *
 * Source: C. Zhang et al., "Optimizing FPGA-based Accelerator Design for Deep Convolutional Neural
 * Networks", FPGA 2015; ports as in W. Jiang et al., "Achieving Super-Linear Speedup across
 * Multi-FPGA", 2019. Per step: t_I = Tn Tr Tc / Ip, t_W = Tm Tn R S / Wp, t_C = R S Tr Tc; per tile
 * t_O = Tm Tr Tc / Op. The pipeline adds overlap, fill and drain. docs/models/tiled.md has the
 * closed forms. As published, each step loads its operands again, in the order B H W K C. If
 * buffers have sizes, operands stay on chip; tiles and orders that the block does not fix are
 * chosen per layer (tiling.c). Not modelled: the pipeline depth of the array. */
#include <config.h>

#include <string.h>

#include "sim/design/designs.h"
#include "sim/design/tiles.h"
#include "sim/design/tiling.h"

enum {
    CLOCK,
    TILE_K,
    TILE_C,
    TILE_H,
    TILE_W,
    ARRAY_K,
    ARRAY_C,
    ORDER,
    INPUT_PORT,
    WEIGHT_PORT,
    OUTPUT_PORT,
    INPUT_BUFFER,
    WEIGHT_BUFFER,
    OUTPUT_BUFFER,
    BUFFER,
    SLOTS,
    SLOTS_IN,
    SLOTS_OUT,
    ACCUMULATOR_BITS,
    CLIP,
    HALO,
    RUNS
};

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the array", NULL},
    [TILE_K] = {"tile_k", TH_KEY_INTEGER, false, 0, 65536, 0,
                "Tm, output channels of a tile; 0: chosen for each layer, array_k at most", NULL},
    [TILE_C] = {"tile_c", TH_KEY_INTEGER, false, 0, 65536, 0,
                "Tn, input channels of a step; 0: chosen for each layer, array_c at most", NULL},
    [TILE_H] = {"tile_h", TH_KEY_INTEGER, false, 0, 65536, 0,
                "Tr, output rows of a tile; 0: chosen for each layer", NULL},
    [TILE_W] = {"tile_w", TH_KEY_INTEGER, false, 0, 65536, 0,
                "Tc, output columns of a tile; 0: chosen for each layer", NULL},
    [ARRAY_K] = {"array_k", TH_KEY_INTEGER, false, 1, 65536, 0,
                 "output channels at once; standard: tile_k", NULL},
    [ARRAY_C] = {"array_c", TH_KEY_INTEGER, false, 1, 65536, 0,
                 "input channels at once; standard: tile_c", NULL},
    [ORDER] = {"order", TH_KEY_TEXT, false, 0, 0, 0,
               "loops of tiles, outermost first, or auto: chosen for each layer; standard: BHWKC",
               NULL},
    [INPUT_PORT] = {"input_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "Ip, elements per cycle",
                    NULL},
    [WEIGHT_PORT] = {"weight_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "Wp, elements per cycle",
                     NULL},
    [OUTPUT_PORT] = {"output_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "Op, elements per cycle",
                     NULL},
    [INPUT_BUFFER] =
        {"input_buffer", TH_KEY_BYTES, false, 1, 1e15, 0,
         "on-chip bytes for inputs, all slots; absent: slots alone count, nothing stays on chip",
         NULL},
    [WEIGHT_BUFFER] = {"weight_buffer", TH_KEY_BYTES, false, 1, 1e15, 0,
                       "on-chip bytes for weights", NULL},
    [OUTPUT_BUFFER] = {"output_buffer", TH_KEY_BYTES, false, 1, 1e15, 0,
                       "on-chip bytes for outputs and partial sums", NULL},
    [BUFFER] = {"buffer", TH_KEY_BYTES, false, 1, 1e15, 0,
                "on-chip bytes for all three together, instead", NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2,
               "tiles that each on-chip buffer holds", NULL},
    [SLOTS_IN] = {"slots_in", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 0,
                  "of inputs and weights; standard: slots", NULL},
    [SLOTS_OUT] = {"slots_out", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 0,
                   "of outputs; standard: slots", NULL},
    [ACCUMULATOR_BITS] = {"accumulator_bits", TH_KEY_INTEGER, false, 1, 128, 0,
                          "of a partial sum; standard: the output's", NULL},
    [CLIP] = {"clip", TH_KEY_BOOL, false, 0, 1, 1,
              "remainder tiles cost what they hold, not a full tile", NULL},
    [HALO] = {"halo", TH_KEY_BOOL, false, 0, 1, 0,
              "load the real input window (stride, kernel), not Tr x Tc", NULL},
    [RUNS] = {"runs", TH_KEY_BOOL, false, 0, 1, 0,
              "rows of a tile's inputs and outputs lie apart in DRAM", NULL},
    {.name = NULL},
};

/* --- what is given and what is open ----------------------------------------------------------- */

static bool has_buffers(const double *v)
{
    return v[BUFFER] > 0 || (v[INPUT_BUFFER] > 0 && v[WEIGHT_BUFFER] > 0 && v[OUTPUT_BUFFER] > 0);
}

static int check_array(const double *v, const th_design_block *b, th_error *err)
{
    static const int tile[] = {TILE_K, TILE_C}, array[] = {ARRAY_K, ARRAY_C};
    for (int i = 0; i < 2; i++) {
        const char *tile_name = keys[tile[i]].name, *array_name = keys[array[i]].name;
        if (v[tile[i]] == 0 && v[array[i]] == 0)
            return th_error_set(err, "SIM-0050",
                                "%s:%d: design \"%s\": neither %s nor %s is above 0: one of them "
                                "must be",
                                b->file, b->line, b->name, tile_name, array_name);
        if (v[array[i]] > 0 && v[tile[i]] > v[array[i]])
            return th_error_set(
                err, "SIM-0051", "%s:%d: design \"%s\": %s is %.15g, must be at most %s, %.15g",
                b->file, b->line, b->name, tile_name, v[tile[i]], array_name, v[array[i]]);
    }
    return 0;
}

static int prepare(th_design_config *c, const th_design_block *b, th_error *err)
{
    const double *v = c->value;
    const char *order = c->text[ORDER];
    if (check_array(v, b, err))
        return -1;
    if (order && strcmp(order, "auto") != 0 && !th_tiling_is_order(order))
        return th_error_set(err, "SIM-0052",
                            "%s:%d: design \"%s\": order is \"%s\", must be each of BHWKC once, "
                            "or auto",
                            b->file, b->line, b->name, order);
    if (v[BUFFER] > 0 && (v[INPUT_BUFFER] > 0 || v[WEIGHT_BUFFER] > 0 || v[OUTPUT_BUFFER] > 0))
        return th_error_set(err, "SIM-0053",
                            "%s:%d: design \"%s\": buffer is for inputs, weights and outputs "
                            "together, must not be given beside a buffer of one of them",
                            b->file, b->line, b->name);
    for (int i = TILE_K; i <= TILE_W; i++)
        if (v[i] == 0 && !has_buffers(v))
            return th_error_set(err, "SIM-0054",
                                "%s:%d: design \"%s\": %s is to be chosen: the sizes of buffers "
                                "must be given",
                                b->file, b->line, b->name, keys[i].name);
    return 0;
}

static double array_of(const th_design_config *d, int array, int tile)
{
    return d->value[array] > 0 ? d->value[array] : d->value[tile];
}

static int64_t step_cycles(const th_shard *s, const th_tile *t)
{
    return (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S] * t->h * t->w;
}

static const char standard_order[] = "BHWKC";

static th_tiling tiling_of(const th_design_config *d, const th_shard *s)
{
    const double *v = d->value;
    const char *order = d->text[ORDER] ? d->text[ORDER] : standard_order;
    double bits = v[ACCUMULATOR_BITS] > 0
                      ? v[ACCUMULATOR_BITS]
                      : th_precision_bits((th_precision)s->precision[TH_TENSOR_OUTPUT]);
    return (th_tiling){
        .hz = (int64_t)v[CLOCK],
        .tile = {(int64_t)v[TILE_K], (int64_t)v[TILE_C], (int64_t)v[TILE_H], (int64_t)v[TILE_W]},
        .largest = {(int64_t)v[ARRAY_K], (int64_t)v[ARRAY_C], 0, 0},
        .order = strcmp(order, "auto") == 0 ? NULL : order,
        .buffer_bytes = {(int64_t)v[INPUT_BUFFER], (int64_t)v[WEIGHT_BUFFER],
                         (int64_t)v[OUTPUT_BUFFER]},
        .shared_bytes = (int64_t)v[BUFFER],
        .slots_in = (int32_t)(v[SLOTS_IN] > 0 ? v[SLOTS_IN] : v[SLOTS]),
        .slots_out = (int32_t)(v[SLOTS_OUT] > 0 ? v[SLOTS_OUT] : v[SLOTS]),
        .accumulator_bits = (int32_t)bits,
        .clips = v[CLIP] != 0,
        .has_halo = v[HALO] != 0,
        .has_runs = v[RUNS] != 0,
        .port = {v[INPUT_PORT], v[WEIGHT_PORT], v[OUTPUT_PORT]},
        .cycles = step_cycles,
    };
}

/* --- the schedule ----------------------------------------------------------------------------- */

/* In each cycle of a step, one input of each of Tn channels goes to all Tm outputs, and Tm sums are
 * read, added to and written. A weight is read once per kernel position and stays in its unit while
 * the pixels of the tile pass. The first sum of a tile needs no read. */
static void set_accesses(const th_shard *s, th_schedule *out)
{
    double kernel = (double)s->dim[TH_DIM_R] * s->dim[TH_DIM_S], rounds = out->count[TH_LOOP_B];
    double k = (double)th_group_outputs(s), c = (double)th_group_inputs(s);
    double pixels = (double)s->dim[TH_DIM_H] * s->dim[TH_DIM_W];
    double area = (double)out->count[TH_LOOP_H] * out->count[TH_LOOP_W];
    out->accesses.input_reads = (int64_t)(rounds * c * pixels * kernel * out->count[TH_LOOP_K]);
    out->accesses.weight_reads = (int64_t)(rounds * k * c * kernel * area);
    out->accesses.output_writes = (int64_t)(rounds * k * pixels * kernel * out->count[TH_LOOP_C]);
    out->accesses.partial_reads = out->accesses.output_writes - (int64_t)(rounds * k * pixels);
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    th_tiling t = tiling_of(d, s);
    if (th_tiling_schedule(&t, s, memory, out, err))
        return -1;
    if (!d->text[ORDER])
        out->variant = NULL;
    out->macs_per_cycle = array_of(d, ARRAY_K, TILE_K) * array_of(d, ARRAY_C, TILE_C);
    set_accesses(s, out);
    return 0;
}

static th_design_peak peak_of(const th_design_config *d, const th_shard *s)
{
    (void)s;
    return (th_design_peak){array_of(d, ARRAY_K, TILE_K) * array_of(d, ARRAY_C, TILE_C),
                            (int64_t)d->value[CLOCK]};
}

const th_design_type th_design_tiled = {
    .name = "tiled",
    .synopsis = "loop tiling Tm x Tn x Tr x Tc (FPGA'15)",
    .keys = keys,
    .schedule = schedule,
    .peak = peak_of,
    .prepare = prepare,
};
