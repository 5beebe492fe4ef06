/* SPDX-License-Identifier: GPL-3.0-or-later */
/* roofline.c - the roofline model: peak, efficiency and memory bandwidth.
 *
 * Source: S. Williams et al., "Roofline", CACM 2009. A layer takes max(MACs / (peak efficiency),
 * bytes / bandwidth) plus the fill and drain of a pipeline of PIECES pieces. The layer is cut along
 * its larger operand: into output channels if the weights are larger, into rows if the inputs are.
 * Each byte moves once. Two additions are ours: the peak has a factor per precision (that of the
 * slower of input and weight), and MACs with a zero operand may be skipped. A design with a
 * bandwidth of its own shares it, through ports, as it would share the DRAM: the operand that is
 * loaded first has all of it, then the streams in and out share it in proportion to their bytes.
 * Not modelled: a dependence of the efficiency on the shape of the layer. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum {
    CLOCK,
    MACS_PER_CYCLE,
    EFFICIENCY,
    SLOTS,
    BANDWIDTH,
    ZERO_SKIPPING,
    DEVICE,
    FACTORS /* one per precision, in the order of th_precision */
};
enum { SKIPS_WEIGHTS = 1, SKIPS_INPUTS = 2 }; /* bits of the choice */
enum { PIECES = 32 }; /* of a layer: fill and drain are 1/32 of the operand that is cut */

static const char *const skippings[] = {"none", "weights", "inputs", "both", NULL};

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the array", NULL},
    [MACS_PER_CYCLE] = {"macs_per_cycle", TH_KEY_NUMBER, true, 1, 1e12, 0,
                        "peak multiply-accumulates per cycle", NULL},
    [EFFICIENCY] = {"efficiency", TH_KEY_NUMBER, false, 1e-3, 1, 1,
                    "share of the peak that layers reach", NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2,
               "pieces that each on-chip buffer holds", NULL},
    [BANDWIDTH] = {"bandwidth", TH_KEY_BANDWIDTH, false, 1, 1e18, 0,
                   "of its own way to the DRAM; absent: as fast as the DRAM", NULL},
    [ZERO_SKIPPING] = {"zero_skipping", TH_KEY_CHOICE, false, 0, 3, 0,
                       "operands whose zeros cost no cycle", skippings},
    [DEVICE] = {"device", TH_KEY_TEXT, false, 0, 0, 0,
                "of training steps: a row of devices.csv, or large_core, one core of that peak (a "
                "TPU, an array); absent: the row of the design's name",
                NULL},
    [FACTORS + TH_FP32] = {"fp32", TH_KEY_NUMBER, false, 1e-3, 1e3, 1,
                           "peak of this precision, in macs_per_cycle", NULL},
    [FACTORS + TH_FP16] = {"fp16", TH_KEY_NUMBER, false, 1e-3, 1e3, 1, "likewise", NULL},
    [FACTORS + TH_BF16] = {"bf16", TH_KEY_NUMBER, false, 1e-3, 1e3, 1, "likewise", NULL},
    [FACTORS + TH_INT16] = {"int16", TH_KEY_NUMBER, false, 1e-3, 1e3, 1, "likewise", NULL},
    [FACTORS + TH_INT8] = {"int8", TH_KEY_NUMBER, false, 1e-3, 1e3, 1, "likewise", NULL},
    [FACTORS + TH_INT4] = {"int4", TH_KEY_NUMBER, false, 1e-3, 1e3, 1, "likewise", NULL},
    [FACTORS + TH_TF32] = {"tf32", TH_KEY_NUMBER, false, 1e-3, 1e3, 1, "likewise", NULL},
    [FACTORS + TH_FP8] = {"fp8", TH_KEY_NUMBER, false, 1e-3, 1e3, 1, "likewise", NULL},
    [FACTORS + TH_FP4] = {"fp4", TH_KEY_NUMBER, false, 1e-3, 1e3, 1, "likewise", NULL},
    {.name = NULL},
};

/* How a shard is cut into pieces. */
typedef struct {
    int64_t k, rows, w,
        window;               /* output channels, rows of all images, columns; inputs per output */
    int64_t inputs, weights;  /* bytes; of all images if these have weights of their own */
    bool by_channel;          /* cut along k; otherwise along the rows */
    int64_t extent, piece, n; /* of the dimension that is cut */
    int64_t copies; /* of the weights: the images of a matmul of two activations, otherwise 1 */
} plan;

static plan plan_of(const th_shard *s)
{
    plan p = {.k = s->dim[TH_DIM_K],
              .rows = (int64_t)s->dim[TH_DIM_B] * s->dim[TH_DIM_H],
              .w = s->dim[TH_DIM_W],
              .window = th_group_inputs(s) * s->dim[TH_DIM_R] * s->dim[TH_DIM_S],
              .copies = th_shard_multiplies_activations(s) ? s->dim[TH_DIM_B] : 1};
    p.weights = p.copies * th_shard_bytes(s, TH_TENSOR_WEIGHT, p.k * p.window);
    p.inputs = th_shard_bytes(s, TH_TENSOR_INPUT,
                              (int64_t)s->dim[TH_DIM_B] * s->dim[TH_DIM_C] * s->in_h * s->in_w);
    p.by_channel = p.weights > p.inputs;
    p.extent = p.by_channel ? p.k : p.rows;
    p.piece = th_ceil_div(p.extent, PIECES);
    p.n = th_ceil_div(p.extent, p.piece);
    return p;
}

static double peak(const th_design_config *d, const th_shard *s)
{
    double input = d->value[FACTORS + s->precision[TH_TENSOR_INPUT]];
    double weight = d->value[FACTORS + s->precision[TH_TENSOR_WEIGHT]];
    return d->value[MACS_PER_CYCLE] * (input < weight ? input : weight);
}

/* The fraction of the MACs that takes cycles. Zeros of inputs and of weights are assumed to be
 * independent. */
static double mac_fraction(const th_design_config *d, const th_shard *s)
{
    int skips = (int)d->value[ZERO_SKIPPING];
    double part = 1, weights = s->sparse_m > 0 ? (double)s->sparse_n / s->sparse_m
                                               : s->density_ppm[TH_TENSOR_WEIGHT] / 1e6;
    if (skips & SKIPS_WEIGHTS)
        part *= weights;
    if (skips & SKIPS_INPUTS)
        part *= s->density_ppm[TH_TENSOR_INPUT] / 1e6;
    return part;
}

static int64_t cycles_of(const th_design_config *d, const th_shard *s, double macs)
{
    double cycles = ceil(macs * mac_fraction(d, s) / (peak(d, s) * d->value[EFFICIENCY]));
    return cycles < 1 ? 1 : cycles < 0x1p62 ? (int64_t)cycles : (int64_t)1 << 62;
}

static void set_step(const th_design_config *d, const th_shard *s, const plan *p, unsigned mask,
                     th_schedule *out)
{
    bool is_last = mask & (p->by_channel ? TH_LAST_K : TH_LAST_H);
    int64_t part = th_tile_extent(p->extent, p->piece, is_last);
    int64_t outputs = part * (p->by_channel ? p->rows : p->k) * p->w;
    int64_t share = is_last ? p->inputs - p->inputs / p->n * (p->n - 1) : p->inputs / p->n;
    out->step[mask] =
        (th_step){p->by_channel ? p->inputs : share,
                  p->by_channel ? p->copies * th_shard_bytes(s, TH_TENSOR_WEIGHT, part * p->window)
                                : p->weights,
                  cycles_of(d, s, (double)outputs * (double)p->window)};
    out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] = th_shard_bytes(s, TH_TENSOR_OUTPUT, outputs);
}

/* Sets the ports that share the bandwidth, if the design has a bandwidth of its own. */
static void set_bandwidth(const th_design_config *d, const plan *p, th_schedule *out)
{
    double bits = d->value[BANDWIDTH];
    if (bits <= 0)
        return;
    double streamed = (double)(p->by_channel ? p->weights : p->inputs);
    double stored = (double)th_schedule_sum(out).output_bytes;
    int first = p->by_channel ? TH_ENGINE_INPUT : TH_ENGINE_WEIGHT;
    int second = p->by_channel ? TH_ENGINE_WEIGHT : TH_ENGINE_INPUT;
    out->port_bits_per_s[first] = (int64_t)bits;
    out->port_bits_per_s[second] = (int64_t)ceil(bits * streamed / (streamed + stored));
    out->port_bits_per_s[TH_ENGINE_PARTIAL] = out->port_bits_per_s[TH_ENGINE_OUTPUT] =
        (int64_t)ceil(bits * stored / (streamed + stored));
}

/* Each operand is read from its buffer once and each output written once: the model has no array.
 */
static void set_accounts(const th_design_config *d, const th_shard *s, const plan *p,
                         th_schedule *out)
{
    out->macs_per_cycle = peak(d, s);
    out->accesses = (th_accesses){.input_reads = (int64_t)s->dim[TH_DIM_B] * s->dim[TH_DIM_C] *
                                                 s->in_h * s->in_w,
                                  .weight_reads = p->copies * p->k * p->window,
                                  .output_writes = p->rows * p->k * p->w};
    out->buffer_bytes[TH_TENSOR_INPUT] =
        p->by_channel ? p->inputs : out->slots_in * th_ceil_div(p->inputs, p->n);
    out->buffer_bytes[TH_TENSOR_WEIGHT] =
        p->by_channel ? out->slots_in * th_ceil_div(p->weights, p->n) : p->weights;
    out->buffer_bytes[TH_TENSOR_OUTPUT] =
        out->slots_out * th_ceil_div(th_schedule_sum(out).output_bytes, p->n);
    out->variant = p->by_channel ? "cut by output channels" : "cut by rows";
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    (void)err;
    (void)memory;
    plan p = plan_of(s);
    *out = (th_schedule){.hz = (int64_t)d->value[CLOCK], .count = {1, 1, 1, 1, 1}};
    out->count[p.by_channel ? TH_LOOP_K : TH_LOOP_H] = (int32_t)p.n;
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++)
        set_step(d, s, &p, mask, out);
    out->input_stays = p.by_channel ? 1u << TH_LOOP_K : 0;
    out->weight_stays = p.by_channel ? 0 : 1u << TH_LOOP_H;
    out->slots_in = out->slots_out = (int32_t)d->value[SLOTS];
    set_bandwidth(d, &p, out);
    set_accounts(d, s, &p, out);
    return 0;
}

static th_design_peak peak_of(const th_design_config *d, const th_shard *s)
{
    return (th_design_peak){peak(d, s) * d->value[EFFICIENCY] / mac_fraction(d, s),
                            (int64_t)d->value[CLOCK]};
}

static th_design_device device(const th_design_config *c)
{
    const char *name = c->text[DEVICE];
    return (th_design_device){name && strcmp(name, "large_core") == 0, name, NULL};
}

const th_design_type th_design_roofline = {
    .name = "roofline",
    .synopsis = "peak, efficiency and bandwidth",
    .keys = keys,
    .schedule = schedule,
    .peak = peak_of,
    .device = device,
};
