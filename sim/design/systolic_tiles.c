/* SPDX-License-Identifier: GPL-3.0-or-later */
/* systolic_tiles.c - the bytes of the tiles of a systolic array, in DRAM and on chip.
 *
 * Inputs. M counts output pixels, row by row. The inner dimension is ordered channel by channel,
 * with the R S taps of a channel adjacent, so that a block of it reads few channels. A block that
 * does not begin at the border of a channel shares that channel with its neighbour: a block of e
 * elements touches (e + RS - gcd(e, RS)) / RS channels on average (the last block is counted
 * exactly), or e / RS if the shared channel stays on chip (keeps_channel). Of each channel a block
 * of M reads its window, which is whole rows of the input if the block covers more than one row of
 * the output. If the rows that the next block needs again stay on chip (keeps_rows), a block loads
 * new rows only: the average over the images; first_row_extra_bytes is what the first window needs
 * in addition. No load exceeds the number of elements that the product reads (1 x 1 kernels with a
 * stride do not read the pixels that they skip). Weights and outputs are dense blocks.
 *
 * Not modelled: a block of M that begins inside an output row counts as if it began with the row.
 */
#include <config.h>

#include "base/min_max.h"
#include "sim/design/systolic.h"

#include <math.h>

#include "sim/design/tiles.h"

/* ceil, with a tolerance for the rounding of a quotient that is an integer. */
static int64_t round_up(double x)
{
    static const double noise = 1e-12;
    return (int64_t)ceil(x * (1 - noise));
}

int th_systolic_stream(th_systolic_flow flow)
{
    switch (flow) {
    case TH_SYSTOLIC_OS:
        return TH_LOOP_C;
    case TH_SYSTOLIC_WS:
        return TH_LOOP_H;
    case TH_SYSTOLIC_IS:
        return TH_LOOP_K;
    }
    return TH_LOOP_C;
}

int64_t th_systolic_count(const th_systolic_layer *l, const th_systolic_candidate *w, int loop)
{
    return th_ceil_div(l->extent[loop], w->tile[loop]);
}

/* The loop that does not change a tensor: K for inputs, H for weights, C for outputs. */
static int loop_without(th_tensor tensor)
{
    if (tensor == TH_TENSOR_INPUT)
        return TH_LOOP_K;
    return tensor == TH_TENSOR_WEIGHT ? TH_LOOP_H : TH_LOOP_C;
}

/* --- inputs ----------------------------------------------------------------------------------- */

static int64_t rows_of(const th_shard *s, int64_t n)
{
    return th_window(n, s->stride_h, s->dim[TH_DIM_R], s->dilation_h, s->in_h);
}

static int64_t cols_of(const th_shard *s, int64_t n)
{
    return th_window(n, s->stride_w, s->dim[TH_DIM_S], s->dilation_w, s->in_w);
}

/* Input pixels of one channel that an image reads. */
static int64_t image_pixels(const th_shard *s)
{
    return rows_of(s, s->dim[TH_DIM_H]) * cols_of(s, s->dim[TH_DIM_W]);
}

/* Input pixels of one channel that m consecutive output pixels read. */
static int64_t window_pixels(const th_shard *s, int64_t m)
{
    int64_t width = s->dim[TH_DIM_W], image = (int64_t)s->dim[TH_DIM_H] * width;
    int64_t images = m / image, rows = m % image / width, rest = m % width;
    int64_t pixels = rows ? rows_of(s, rows) * cols_of(s, width) : 0;
    if (rest && rows)
        pixels += th_min(s->stride_h, rows_of(s, 1)) * cols_of(s, rest);
    else if (rest)
        pixels = rows_of(s, 1) * cols_of(s, rest);
    return images * image_pixels(s) + th_min(pixels, image_pixels(s));
}

/* Pixels of the first window that no later block of M loads again. */
static int64_t extra_pixels(const th_shard *s)
{
    int64_t steady = (int64_t)s->dim[TH_DIM_H] * s->stride_h * cols_of(s, s->dim[TH_DIM_W]);
    return steady < image_pixels(s) ? image_pixels(s) - steady : 0;
}

/* True if a step loads new rows only. */
static bool loads_new_rows(const th_systolic_layer *l, const th_systolic_candidate *w)
{
    return w->keeps_rows && th_systolic_count(l, w, TH_LOOP_H) > 1;
}

static double pixels_of(const th_systolic_layer *l, const th_systolic_candidate *w, int64_t m)
{
    const th_shard *s = l->shard;
    if (m == l->extent[TH_LOOP_H])
        return (double)(l->images * image_pixels(s));
    if (!loads_new_rows(l, w))
        return (double)window_pixels(s, m);
    double steady = (double)(l->images * image_pixels(s) - extra_pixels(s));
    return steady * (double)m / (double)l->extent[TH_LOOP_H];
}

/* Channels that a block of the (dense) inner dimension touches. */
static double channels_of(const th_systolic_layer *l, const th_systolic_candidate *w, int64_t inner,
                          bool is_last)
{
    int64_t taps = (int64_t)l->shard->dim[TH_DIM_R] * l->shard->dim[TH_DIM_S];
    int64_t channels = th_group_inputs(l->shard);
    if (w->keeps_channel)
        return (double)inner / (double)taps;
    if (is_last)
        return (double)(channels - (l->inner - inner) / taps);
    double mean = (double)(inner + taps - th_gcd(inner, taps)) / (double)taps;
    return mean < (double)channels ? mean : (double)channels;
}

/* The extent in the dense inner dimension of c elements that structured sparsity keeps. */
static int64_t dense_inner(const th_systolic_layer *l, int64_t c)
{
    const th_shard *s = l->shard;
    if (s->sparse_m <= 0)
        return c;
    return th_min(th_ceil_div(c * s->sparse_m, s->sparse_n), l->inner);
}

static int64_t input_elements(const th_systolic_layer *l, const th_systolic_candidate *w, int64_t m,
                              int64_t c, bool is_last_c)
{
    int64_t inner = dense_inner(l, c);
    double read = pixels_of(l, w, m) * channels_of(l, w, inner, is_last_c);
    return th_min(round_up(read), m * inner);
}

/* Elements of the first window that no later block of M loads again, averaged over the blocks of
 * the inner dimension, because all of them have the same first_row_extra_bytes. */
static int64_t extra_elements(const th_systolic_layer *l, const th_systolic_candidate *w)
{
    int64_t m = w->tile[TH_LOOP_H], c = w->tile[TH_LOOP_C], inner = dense_inner(l, c);
    int64_t n = th_systolic_count(l, w, TH_LOOP_C);
    int64_t last = dense_inner(l, th_tile_extent(l->extent[TH_LOOP_C], c, true));
    if (!loads_new_rows(l, w) || input_elements(l, w, m, c, n == 1) == m * inner)
        return 0;
    double channels =
        (double)(n - 1) * channels_of(l, w, inner, false) + channels_of(l, w, last, true);
    return round_up((double)extra_pixels(l->shard) * channels / (double)n);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static int64_t weight_bytes(const th_systolic_layer *l, int64_t n, int64_t c)
{
    const th_shard *s = l->shard;
    int64_t kept = n * c;
    return th_shard_bytes(s, TH_TENSOR_WEIGHT,
                          s->sparse_m > 0 ? kept / s->sparse_n * s->sparse_m +
                                                kept % s->sparse_n * s->sparse_m / s->sparse_n
                                          : kept);
}

static int64_t sum_bytes(const th_systolic_layer *l, int64_t m, int64_t n)
{
    return th_ceil_div(m * n * l->sum_bits, 8);
}

static int64_t extent_of(const th_systolic_layer *l, const th_systolic_candidate *w, int loop,
                         unsigned mask)
{
    return th_tile_extent(l->extent[loop], w->tile[loop], mask >> (loop - TH_LOOP_H) & 1u);
}

/* Cycles of a step beyond those of its piece of the stream. */
static int64_t extra_cycles(const th_systolic_layer *l, const th_systolic_candidate *w,
                            int64_t part, bool ends_fold)
{
    int64_t stream = w->refills ? part : l->extent[th_systolic_stream(l->flow)];
    if (!ends_fold && !w->refills)
        return 0;
    if (!l->overlaps)
        return l->fill;
    return stream < l->rows ? l->rows - stream : 0;
}

/* Cycles of the first fold beyond max(stream, rows), with overlap. */
static int64_t start_cycles(const th_systolic_layer *l, const th_systolic_candidate *w)
{
    int loop = th_systolic_stream(l->flow);
    int64_t stream = w->refills ? w->tile[loop] : l->extent[loop];
    if (!l->overlaps)
        return 0;
    return stream < l->rows ? stream + l->fill - l->rows : l->fill;
}

void th_systolic_fill_schedule(const th_systolic_layer *l, const th_systolic_candidate *w,
                               th_schedule *out)
{
    const th_shard *s = l->shard;
    int stream = th_systolic_stream(l->flow);
    for (int loop = 0; loop < TH_N_LOOPS; loop++) {
        out->count[loop] = (int32_t)th_systolic_count(l, w, loop);
        out->order[loop] = w->order[loop];
    }
    for (unsigned mask = TH_LAST_W; mask < TH_N_STEP_KINDS; mask = (mask + 1) | TH_LAST_W) {
        unsigned inner_w =
            mask & ~(unsigned)TH_LAST_W; /* W has one iteration, so it is always in its last one */
        int64_t m = extent_of(l, w, TH_LOOP_H, mask), n = extent_of(l, w, TH_LOOP_K, mask),
                c = extent_of(l, w, TH_LOOP_C, mask), part = extent_of(l, w, stream, mask);
        bool ends_fold = mask >> (stream - TH_LOOP_H) & 1u;
        out->step[mask] = out->step[inner_w] = (th_step){
            th_shard_bytes(s, TH_TENSOR_INPUT, input_elements(l, w, m, c, mask & TH_LAST_C)),
            weight_bytes(l, n, c), part + extra_cycles(l, w, part, ends_fold)};
        if (mask & TH_LAST_C)
            continue; /* output bytes do not depend on the loop C */
        out->output_bytes[mask] = out->output_bytes[inner_w] =
            th_shard_bytes(s, TH_TENSOR_OUTPUT, m * n);
        out->partial_bytes[mask] = out->partial_bytes[inner_w] = sum_bytes(l, m, n);
    }
    out->first_row_extra_bytes = th_shard_bytes(s, TH_TENSOR_INPUT, extra_elements(l, w));
    out->start_cycles = start_cycles(l, w);
    out->input_stays = (uint8_t)(w->input_stays ? 1u << TH_LOOP_K : 0);
    bool all = w->all_weights_stay;
    out->weight_stays =
        (uint8_t)((w->weight_stays || all ? 1u << TH_LOOP_H : 0) | (all ? 1u << TH_LOOP_B : 0));
    out->sums_stay = w->sums_stay;
}

/* --- what lies on chip ------------------------------------------------------------------------ */

/* The extent of a loop that a tensor covers while it stays through loop past: all of it if the loop
 * runs inside past. */
static int64_t held_extent(const th_systolic_layer *l, const th_systolic_candidate *w, int loop,
                           int past)
{
    for (int place = TH_N_LOOPS - 1; place >= 0 && w->order[place] != past; place--)
        if (w->order[place] == loop)
            return l->extent[loop];
    return w->tile[loop];
}

static int64_t held_bytes(const th_systolic_layer *l, const th_systolic_candidate *w,
                          th_tensor tensor)
{
    int past = loop_without(tensor);
    int64_t m = held_extent(l, w, TH_LOOP_H, past), n = held_extent(l, w, TH_LOOP_K, past),
            c = held_extent(l, w, TH_LOOP_C, past);
    switch (tensor) {
    case TH_TENSOR_INPUT:
        return th_shard_bytes(l->shard, tensor,
                              input_elements(l, w, m, c, c == l->extent[TH_LOOP_C]));
    case TH_TENSOR_WEIGHT:
        return weight_bytes(l, n, c);
    case TH_TENSOR_OUTPUT:
    case TH_N_TENSORS:
        break;
    }
    return sum_bytes(l, m, n);
}

/* The number of distinct tiles of a tensor, in all products. */
static int64_t n_tiles(const th_systolic_layer *l, const th_systolic_candidate *w, th_tensor tensor)
{
    int64_t n = l->extent[TH_LOOP_B];
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++)
        if (loop != loop_without(tensor))
            n *= th_systolic_count(l, w, loop);
    return n;
}

/* Slots of tiles, in addition to the tiles held, unless these are all tiles. */
static int64_t slots_and_held_bytes(const th_systolic_layer *l, const th_systolic_candidate *w,
                                    th_tensor tensor, int64_t tile_bytes, bool stays)
{
    int64_t tiles = n_tiles(l, w, tensor), in_flight = th_min(tiles, l->slots) * tile_bytes;
    if (!stays)
        return in_flight;
    int past = loop_without(tensor);
    int64_t held = held_bytes(l, w, tensor), tiles_held = 1;
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++)
        if (loop != past && held_extent(l, w, loop, past) == l->extent[loop])
            tiles_held *= th_systolic_count(l, w, loop);
    return held + (tiles_held < tiles ? in_flight : 0);
}

/* Input rows kept for the next block of M, of all blocks of the inner dimension inside that loop.
 */
static int64_t kept_rows_bytes(const th_systolic_layer *l, const th_systolic_candidate *w,
                               const th_schedule *s)
{
    bool inner_inside = held_extent(l, w, TH_LOOP_C, TH_LOOP_H) == l->extent[TH_LOOP_C];
    return s->first_row_extra_bytes * (inner_inside ? s->count[TH_LOOP_C] : 1);
}

/* The channel that two blocks of the inner dimension share; 0 if all channels stay. */
static int64_t kept_channel_bytes(const th_systolic_layer *l, const th_systolic_candidate *w)
{
    bool all_stay = w->input_stays && w->order[TH_N_LOOPS - 1] != TH_LOOP_K &&
                    held_extent(l, w, TH_LOOP_C, TH_LOOP_K) == l->extent[TH_LOOP_C];
    if (!w->keeps_channel || all_stay)
        return 0;
    int64_t m = held_extent(l, w, TH_LOOP_H, TH_LOOP_C);
    return th_shard_bytes(l->shard, TH_TENSOR_INPUT, round_up(pixels_of(l, w, m)));
}

void th_systolic_buffer_bytes(const th_systolic_layer *l, const th_systolic_candidate *w,
                              const th_schedule *s, int64_t needs[TH_N_TENSORS])
{
    const th_step *full = &s->step[0];
    bool adds_outside = l->flow != TH_SYSTOLIC_OS && s->count[TH_LOOP_C] > 1;
    bool is_held = adds_outside && th_schedule_revisits(s) && w->sums_stay;
    /* Data that stays through the innermost loop is the tile of the step itself. */
    int innermost = w->order[TH_N_LOOPS - 1];
    needs[TH_TENSOR_INPUT] = slots_and_held_bytes(l, w, TH_TENSOR_INPUT, full->input_bytes,
                                                  w->input_stays && innermost != TH_LOOP_K) +
                             kept_rows_bytes(l, w, s) + kept_channel_bytes(l, w);
    needs[TH_TENSOR_WEIGHT] = slots_and_held_bytes(l, w, TH_TENSOR_WEIGHT, full->weight_bytes,
                                                   w->weight_stays && innermost != TH_LOOP_H);
    if (w->all_weights_stay)
        needs[TH_TENSOR_WEIGHT] = weight_bytes(l, l->extent[TH_LOOP_K], l->extent[TH_LOOP_C]);
    needs[TH_TENSOR_OUTPUT] = slots_and_held_bytes(
        l, w, TH_TENSOR_OUTPUT, adds_outside ? s->partial_bytes[0] : s->output_bytes[0], is_held);
}
