/* SPDX-License-Identifier: GPL-3.0-or-later */
/* winograd.c - Winograd convolution F(m x m, r x r) on Pn input-channel x Pm output-channel
 * processing elements of n^2 multipliers each, with line buffers of n + m rows, n = m + r - 1.
 *
 * Source: L. Lu et al., "Evaluating Fast Algorithms for Convolutional Neural Networks on FPGAs",
 * FCCM 2017; the equations are ours. A stripe is m output rows. A layer runs with the fastest of
 * three methods, among those that are exact for it:
 *   winograd     ceil(C/Pn) ceil(K/Pm) ceil(W/m) cycles per stripe; the kernel is r x r
 *   decomposed   ceil(R/r) ceil(S/r) sub-kernels of that
 *   direct       the n^2 multipliers of an element work on n^2 (pixel, tap) pairs,
 *                  ceil(C/Pn) ceil(K/Pm) ceil(rows W R S / n^2),
 *                or on n^2 times as many input channels, whichever is faster for the layer,
 *                  ceil(C/(Pn n^2)) ceil(K/Pm) rows W R S
 * Strided and dilated kernels are always direct.
 *
 * If the weight buffer holds all untransformed weights, they are loaded once. Otherwise they are
 * loaded in blocks, one per slot of the buffer: either all blocks for every stripe (rows
 * outermost), or all stripes for every block, which loads the input once per block (channels
 * outermost), whichever moves fewer bytes. The first stripe needs n rows of input, each further one
 * m.
 *   make_plan (choose_method, fit_weights) -> check_lines -> set_loops -> set_input_rows ->
 *   set_steps
 * Not modelled: the latency of the transforms (a few cycles per layer), the loss of precision. */
#include <config.h>

#include "base/min_max.h"
#include "sim/design/designs.h"

#include <math.h>

#include "sim/design/tiles.h"

enum {
    CLOCK,
    M,
    RR,
    PN,
    PM,
    INPUT_PORT,
    WEIGHT_PORT,
    OUTPUT_PORT,
    WEIGHT_BUFFER,
    LINE_BUFFER,
    OUTERMOST,
    SLOTS,
    CLIP
};

enum { OUTERMOST_AUTO, OUTERMOST_ROWS, OUTERMOST_CHANNELS };
static const char *const outermost_names[] = {"auto", "rows", "channels", NULL};

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0, "clock of the array", NULL},
    [M] = {"m", TH_KEY_INTEGER, true, 1, 16, 0, "output tile of the transform, m x m", NULL},
    [RR] = {"r", TH_KEY_INTEGER, true, 1, 16, 0, "kernel of the transform, r x r", NULL},
    [PN] = {"pn", TH_KEY_INTEGER, true, 1, 4096, 0, "input channels at once", NULL},
    [PM] = {"pm", TH_KEY_INTEGER, true, 1, 4096, 0, "output channels at once", NULL},
    [INPUT_PORT] = {"input_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [WEIGHT_PORT] = {"weight_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [OUTPUT_PORT] = {"output_port", TH_KEY_NUMBER, true, 1e-3, 1e6, 0, "elements per cycle", NULL},
    [WEIGHT_BUFFER] = {"weight_buffer", TH_KEY_BYTES, true, 1, 1e15, 0,
                       "on-chip bytes for raw weights", NULL},
    [LINE_BUFFER] = {"line_buffer", TH_KEY_BYTES, false, 1, 1e15, 0,
                     "on-chip bytes for input rows; absent: any number of rows fits", NULL},
    [OUTERMOST] = {"outermost", TH_KEY_CHOICE, false, 0, 2, OUTERMOST_AUTO,
                   "loop that is outermost where the weights do not fit", outermost_names},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2,
               "blocks that each on-chip buffer holds", NULL},
    [CLIP] = {"clip", TH_KEY_BOOL, false, 0, 1, 1,
              "remainder stripes and blocks cost what they hold, not a full one", NULL},
    {.name = NULL},
};

/* How a layer is computed. */
typedef enum { WINOGRAD, DECOMPOSED, DIRECT_PIXELS, DIRECT_CHANNELS } conv_method;
static const char *const method_names[] = {"winograd", "decomposed", "direct", "direct"};

/* Properties that all blocks of a layer shard share. */
typedef struct {
    int64_t k, c, h, w, r, s; /* per group */
    int64_t image_groups;     /* images times groups */
    bool shares_weights;      /* all images and groups use the same weights */
    int64_t n_resident; /* image-group pairs whose weights are on chip at once, if weights stay */
    int64_t m, n, pn, pm, rr; /* of the array */
    int64_t slots;
    conv_method method;
    bool weights_stay, is_clipped;
    int64_t block_k, block_c; /* channels of a block of weights */
} plan;

/* --- cycles ----------------------------------------------------------------------------------- */

static int64_t sub_kernels(const plan *p)
{
    return th_ceil_div(p->r, p->rr) * th_ceil_div(p->s, p->rr);
}

/* Cycles for k outputs, c inputs and h rows, h <= m. */
static int64_t cycles_of(const plan *p, conv_method method, int64_t k, int64_t c, int64_t h)
{
    int64_t lanes = p->n * p->n, taps = h * p->w * p->r * p->s, outputs = th_ceil_div(k, p->pm);
    switch (method) {
    case WINOGRAD:
    case DECOMPOSED:
        return sub_kernels(p) * th_ceil_div(c, p->pn) * outputs * th_ceil_div(p->w, p->m);
    case DIRECT_PIXELS:
        return th_ceil_div(c, p->pn) * outputs * th_ceil_div(taps, lanes);
    case DIRECT_CHANNELS:
        return th_ceil_div(c, p->pn * lanes) * outputs * taps;
    }
    return 0;
}

static int64_t stripes(const plan *p)
{
    return th_ceil_div(p->h, p->m);
}

static int64_t last_rows(const plan *p)
{
    return p->is_clipped ? th_tile_extent(p->h, p->m, true) : p->m;
}

static int64_t layer_cycles(const plan *p, conv_method method)
{
    return (stripes(p) - 1) * cycles_of(p, method, p->k, p->c, p->m) +
           cycles_of(p, method, p->k, p->c, last_rows(p));
}

static conv_method choose_method(const th_shard *s, const plan *p)
{
    bool is_exact =
        s->stride_h == 1 && s->stride_w == 1 && s->dilation_h == 1 && s->dilation_w == 1;
    int64_t pixels = layer_cycles(p, DIRECT_PIXELS), channels = layer_cycles(p, DIRECT_CHANNELS);
    int64_t direct = pixels < channels ? pixels : channels;
    if (is_exact && layer_cycles(p, WINOGRAD) < direct)
        return p->r == p->rr && p->s == p->rr ? WINOGRAD : DECOMPOSED;
    return pixels < channels ? DIRECT_PIXELS : DIRECT_CHANNELS;
}

/* --- weights ---------------------------------------------------------------------------------- */

static int64_t weight_bytes(const th_shard *s, const plan *p, int64_t k, int64_t c)
{
    return th_shard_bytes(s, TH_TENSOR_WEIGHT, k * c * p->r * p->s);
}

/* Blocks have all input channels and as many output channels as a slot holds. If a slot cannot hold
 * all input channels of Pm output channels, blocks have Pm output channels and some of the input
 * channels. */
static int fit_blocks(const th_shard *s, int64_t buffer, plan *p, th_error *err)
{
    int64_t room = buffer / p->slots, column = weight_bytes(s, p, p->pm, p->c);
    p->block_c = p->c;
    p->block_k = th_min(p->k, room / column * p->pm);
    if (p->block_k > 0)
        return 0;
    p->block_k = th_min(p->k, p->pm);
    int64_t unit = th_min(p->c, p->pn * (p->method == DIRECT_CHANNELS ? p->n * p->n : 1));
    if (weight_bytes(s, p, p->block_k, unit) > room)
        unit = th_min(p->c, p->pn);
    int64_t least = weight_bytes(s, p, p->block_k, unit);
    if (least > room)
        return th_error_set(
            err, "SIM-0061",
            "winograd: weights: %lld blocks of %lld x %lld channels need %lld bytes, "
            "weight_buffer has %lld: %lld bytes are missing",
            (long long)p->slots, (long long)p->block_k, (long long)unit,
            (long long)(least * p->slots), (long long)buffer,
            (long long)(least * p->slots - buffer));
    p->block_c = th_min(p->c, room / least * unit);
    return 0;
}

/* Weights stay if the buffer holds those of the current group (or of the current image, if each has
 * its own weights) and those being loaded. */
static int fit_weights(const th_design_config *d, const th_shard *s, plan *p, th_error *err)
{
    int64_t buffer = (int64_t)d->value[WEIGHT_BUFFER];
    p->weights_stay = weight_bytes(s, p, p->k, p->c) <= buffer / p->n_resident;
    p->block_k = p->k;
    p->block_c = p->c;
    return p->weights_stay ? 0 : fit_blocks(s, buffer, p, err);
}

static int make_plan(const th_design_config *d, const th_shard *s, plan *p, th_error *err)
{
    *p = (plan){
        .k = th_group_outputs(s),
        .c = th_group_inputs(s),
        .h = s->dim[TH_DIM_H],
        .w = s->dim[TH_DIM_W],
        .r = s->dim[TH_DIM_R],
        .s = s->dim[TH_DIM_S],
        .image_groups = (int64_t)s->dim[TH_DIM_B] * s->groups,
        .m = (int64_t)d->value[M],
        .n = (int64_t)(d->value[M] + d->value[RR]) - 1,
        .pn = (int64_t)d->value[PN],
        .pm = (int64_t)d->value[PM],
        .rr = (int64_t)d->value[RR],
        .slots = (int64_t)d->value[SLOTS],
        .is_clipped = d->value[CLIP] != 0,
    };
    bool has_own_weights = th_shard_multiplies_activations(s);
    p->shares_weights = s->groups == 1 && !has_own_weights;
    p->n_resident = th_min(has_own_weights ? p->image_groups : s->groups, p->slots);
    p->method = choose_method(s, p);
    return fit_weights(d, s, p, err);
}

/* --- lines ------------------------------------------------------------------------------------ */

static int64_t input_row_bytes(const th_shard *s, const plan *p)
{
    return th_shard_bytes(s, TH_TENSOR_INPUT, p->c * s->in_w);
}

/* Rows on chip: the window of a stripe plus the new rows of the stripes being loaded; n + m rows
 * for two slots and stride 1. */
static int64_t line_bytes(const th_shard *s, const plan *p)
{
    int64_t window = th_window(p->m, s->stride_h, p->r, s->dilation_h, s->in_h);
    int64_t rows = window + (p->slots - 1) * p->m * s->stride_h;
    return th_min(rows, s->in_h) * input_row_bytes(s, p);
}

static int check_lines(const th_design_config *d, const th_shard *s, const plan *p, th_error *err)
{
    int64_t has = (int64_t)d->value[LINE_BUFFER], needs = line_bytes(s, p);
    if (has == 0 || needs <= has)
        return 0;
    return th_error_set(err, "SIM-0060",
                        "winograd: inputs: the rows of a stripe, %lld x %lld channels, need %lld "
                        "bytes, line_buffer has %lld: %lld bytes are missing",
                        (long long)s->in_w, (long long)p->c, (long long)needs, (long long)has,
                        (long long)(needs - has));
}

/* New input rows of a stripe: the first stripe loads its window; all stripes load in_h rows
 * together. Where padding makes the windows extend beyond the input, the first stripe loads that
 * much less, or the whole input. */
static void set_input_rows(const th_shard *s, const plan *p, th_schedule *out)
{
    int64_t row_bytes = input_row_bytes(s, p), middle = p->m * s->stride_h;
    int64_t first = th_window(p->m, s->stride_h, p->r, s->dilation_h, INT32_MAX), last = middle;
    if (p->is_clipped) {
        first = th_min(first, s->in_h);
        last = s->in_h - first - (stripes(p) - 2) * middle;
        if (stripes(p) == 1) {
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
    }
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++)
        out->step[mask].input_bytes = (mask & TH_LAST_H ? last : middle) * row_bytes;
    out->first_row_extra_bytes = (first - middle) * row_bytes;
}

/* --- the schedule ----------------------------------------------------------------------------- */

static bool channels_are_outermost(const th_design_config *d, const th_shard *s, const plan *p)
{
    int64_t blocks = th_ceil_div(p->k, p->block_k), all = weight_bytes(s, p, p->k, p->c);
    int64_t input = s->in_h * input_row_bytes(s, p);
    int64_t by_rows = p->image_groups * (input + stripes(p) * all);
    int64_t by_channels =
        p->image_groups * blocks * input + (p->shares_weights ? 1 : p->image_groups) * all;
    if (p->weights_stay || p->block_c < p->c) /* a block is used for one stripe only */
        return false;
    if (d->value[OUTERMOST] != OUTERMOST_AUTO)
        return d->value[OUTERMOST] == OUTERMOST_CHANNELS;
    return by_channels < by_rows;
}

static void set_loops(const th_design_config *d, const th_shard *s, const plan *p, th_schedule *out)
{
    static const uint8_t images_too[] = {TH_LOOP_K, TH_LOOP_B, TH_LOOP_H, TH_LOOP_W, TH_LOOP_C};
    static const uint8_t groups_first[] = {TH_LOOP_B, TH_LOOP_K, TH_LOOP_H, TH_LOOP_W, TH_LOOP_C};
    bool one_group = s->groups == 1, by_channels = channels_are_outermost(d, s, p);
    out->count[TH_LOOP_B] = (int32_t)p->image_groups;
    out->count[TH_LOOP_H] = (int32_t)stripes(p);
    out->count[TH_LOOP_W] = 1;
    out->count[TH_LOOP_K] = (int32_t)th_ceil_div(p->k, p->block_k);
    out->count[TH_LOOP_C] = (int32_t)th_ceil_div(p->c, p->block_c);
    for (int i = 0; by_channels && i < TH_N_LOOPS; i++)
        out->order[i] = one_group ? images_too[i] : groups_first[i];
    if (!by_channels) /* the lines hold all channels of a stripe */
        out->input_stays = 1u << TH_LOOP_K | 1u << TH_LOOP_C;
    if (by_channels || p->weights_stay)
        out->weight_stays = (uint8_t)(1u << TH_LOOP_H | (p->shares_weights ? 1u << TH_LOOP_B : 0u));
}

static int64_t part(const plan *p, int64_t extent, int64_t tile, bool is_last)
{
    return p->is_clipped ? th_tile_extent(extent, tile, is_last) : tile;
}

static void set_steps(const th_shard *s, const plan *p, th_schedule *out)
{
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        th_step *step = &out->step[mask];
        int64_t k = part(p, p->k, p->block_k, mask & TH_LAST_K),
                c = part(p, p->c, p->block_c, mask & TH_LAST_C),
                h = mask & TH_LAST_H ? last_rows(p) : p->m;
        step->weight_bytes = weight_bytes(s, p, k, c);
        step->cycles = cycles_of(p, p->method, k, c, h);
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] =
            th_shard_bytes(s, TH_TENSOR_OUTPUT, k * h * p->w);
    }
}

/* Elements between array and buffers: input tiles of n x n (pixels and taps when direct) per block
 * of Pm outputs, weights once per stripe, sums once per pass over the input channels. */
static th_accesses accesses_of(const plan *p)
{
    bool is_direct = p->method == DIRECT_PIXELS || p->method == DIRECT_CHANNELS;
    int64_t weights = p->k * p->c * p->r * p->s, outputs = p->k * p->h * p->w;
    int64_t transformed = stripes(p) * sub_kernels(p) * th_ceil_div(p->w, p->m) * p->n * p->n;
    int64_t points = is_direct ? p->h * p->w * p->r * p->s : transformed;
    int64_t passes = p->method == DIRECT_CHANNELS
                         ? th_ceil_div(p->c, p->pn * p->n * p->n) * p->r * p->s
                         : th_ceil_div(p->c, p->pn) * (is_direct ? 1 : sub_kernels(p));
    return (th_accesses){
        .input_reads = p->image_groups * th_ceil_div(p->k, p->pm) * p->c * points,
        .weight_reads = p->image_groups * stripes(p) * weights,
        .partial_reads = p->image_groups * outputs * (passes - 1),
        .output_writes = p->image_groups * outputs * passes,
    };
}

static void set_report(const th_shard *s, const plan *p, th_schedule *out)
{
    int64_t copies = p->weights_stay ? p->n_resident : p->slots;
    out->variant = method_names[p->method];
    out->accesses = accesses_of(p);
    out->macs_per_cycle = (double)(p->pm * p->pn * p->n * p->n);
    out->buffer_bytes[TH_TENSOR_INPUT] = line_bytes(s, p);
    out->buffer_bytes[TH_TENSOR_WEIGHT] = copies * weight_bytes(s, p, p->block_k, p->block_c);
    out->buffer_bytes[TH_TENSOR_OUTPUT] =
        p->slots * th_shard_bytes(s, TH_TENSOR_OUTPUT, p->block_k * p->m * p->w);
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    plan p;
    (void)memory;
    if (make_plan(d, s, &p, err) || check_lines(d, s, &p, err))
        return -1;
    *out = (th_schedule){.hz = (int64_t)d->value[CLOCK]};
    set_loops(d, s, &p, out);
    set_input_rows(s, &p, out);
    set_steps(s, &p, out);
    out->slots_in = out->slots_out = (int32_t)p.slots;
    th_set_ports(out, s, &d->value[INPUT_PORT]);
    set_report(s, &p, out);
    return 0;
}

/* Per element and cycle: n^2 products, or an output tile of m x m, each output of which sums a
 * sub-kernel of at most r x r taps. */
static th_design_peak peak_of(const th_design_config *d, const th_shard *s)
{
    const double *v = d->value;
    double n = v[M] + v[RR] - 1, direct = n * n;
    double taps = fmin(s->dim[TH_DIM_R], v[RR]) * fmin(s->dim[TH_DIM_S], v[RR]);
    return (th_design_peak){v[PN] * v[PM] * fmax(direct, v[M] * v[M] * taps), (int64_t)v[CLOCK]};
}

const th_design_type th_design_winograd = {
    .name = "winograd",
    .synopsis = "F(m x m, r x r) fast convolution (FCCM'17)",
    .keys = keys,
    .schedule = schedule,
    .peak = peak_of,
};
