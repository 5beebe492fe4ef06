/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <math.h>
#include "tests/unit/mapper/element_model.h"

/* --- positions -------------------------------------------------------------------------------- */

void cut(loops *x, int d, int i, int n)
{
    int32_t lo = x->lo[d], extent = x->hi[d] - lo;
    x->lo[d] = lo + i * extent / n;
    x->hi[d] = lo + (i + 1) * extent / n;
}

/* Copies of one part stand next to each other. */
int copies_of(const th_strategy *s)
{
    return s->copies > 0 ? s->copies : 1;
}

static void digits_of(const th_strategy *s, int r, int *digit)
{
    r /= copies_of(s);
    for (int d = TH_N_DIMS - 1; d >= 0; d--) {
        digit[d] = r % s->split[d];
        r /= s->split[d];
    }
}

/* Does this digit make a difference to what a position reads of the rotating operand? */
static bool indexes(const th_layer *l, bool weights, int d)
{
    switch (d) {
    case TH_DIM_K:
        return weights || l->groups > 1;
    case TH_DIM_B:
    case TH_DIM_H:
    case TH_DIM_W:
        return !weights;
    default:
        return true;
    }
}

/* A matmul of two inputs has none that could. */
bool rotates_weights(const th_layer *l, const th_strategy *s)
{
    int copies = s->split[TH_DIM_B] * s->split[TH_DIM_H] * s->split[TH_DIM_W];
    return l->n_inputs == 1 && (s->rotate == TH_DIM_K || (s->rotate == TH_DIM_C && copies > 1));
}

int ring_of(const th_layer *l, const th_strategy *s, int n, int r, int *member, int *rank)
{
    int own[TH_N_DIMS], other[TH_N_DIMS], count = 0;
    digits_of(s, r, own);
    for (int q = 0; q < n; q++) {
        bool same = r % copies_of(s) == q % copies_of(s);
        digits_of(s, q, other);
        for (int d = 0; d < TH_N_DIMS; d++)
            same &= own[d] == other[d] || !indexes(l, rotates_weights(l, s), d);
        if (q == r)
            *rank = count;
        if (same)
            member[count++] = q;
    }
    return count;
}

/* Cuts in proportion to what the positions with a coordinate weigh together; then every piece gets
 * its least, the first ones first, and what that takes too much the last ones give back. */
static void cut_in_proportion(loops *x, const th_layer *l, const th_strategy *s,
                              const int32_t *shares, int d, int own)
{
    int n = copies_of(s), member[64], rank, least = 1, pieces = s->split[d], digit[TH_N_DIMS];
    bool whole_groups = d == TH_DIM_K && l->groups > 1 &&
                        (l->kind == TH_LAYER_MATMUL || l->kind == TH_LAYER_SOFTMAX ||
                         l->kind == TH_LAYER_ATTENTION);
    int64_t grain = whole_groups ? l->dim[d] / l->groups : 1, weight[64] = {0}, cuts[65] = {0},
            all = 0;
    if (whole_groups && l->groups % pieces != 0) {
        cut(x, d, own, pieces);
        return;
    }
    for (int i = 0; i < TH_N_DIMS; i++)
        n *= s->split[i];
    if (s->rotate == d)
        least = ring_of(l, s, n, 0, member, &rank);
    if (s->chunks > 0 && s->chunk_dim == d)
        least = s->chunks;
    for (int q = 0; q < n; q++) {
        digits_of(s, q, digit);
        weight[digit[d]] += shares[q];
        all += shares[q];
    }
    for (int i = 1; i <= pieces; i++) {
        int64_t below = 0;
        for (int j = 0; j < i; j++)
            below += weight[j];
        cuts[i] = x->hi[d] / grain * below / all;
        cuts[i] = cuts[i] < cuts[i - 1] + least ? cuts[i - 1] + least : cuts[i];
    }
    cuts[pieces] = x->hi[d] / grain;
    for (int i = pieces - 1; i > 0; i--)
        cuts[i] = cuts[i] > cuts[i + 1] - least ? cuts[i + 1] - least : cuts[i];
    x->lo[d] = (int32_t)(cuts[own] * grain);
    x->hi[d] = (int32_t)(cuts[own + 1] * grain);
}

loops loops_of(const th_layer *l, int32_t batch, const th_strategy *s, const int32_t *shares, int r)
{
    loops x = {{0}, {0}};
    int digit[TH_N_DIMS];
    digits_of(s, r, digit);
    for (int d = 0; d < TH_N_DIMS; d++) {
        x.hi[d] = d == TH_DIM_B ? batch : l->dim[d];
        if (shares)
            cut_in_proportion(&x, l, s, shares, d, digit[d]);
        else
            cut(&x, d, digit[d], s->split[d]);
    }
    return x;
}

int partners_of(const th_strategy *s, int n, int r, int *member, int *rank)
{
    int own[TH_N_DIMS], other[TH_N_DIMS], count = 0;
    digits_of(s, r, own);
    for (int q = 0; q < n; q++) {
        digits_of(s, q, other);
        if (r % copies_of(s) != q % copies_of(s))
            continue;
        if (own[TH_DIM_B] != other[TH_DIM_B] || own[TH_DIM_K] != other[TH_DIM_K] ||
            own[TH_DIM_H] != other[TH_DIM_H] || own[TH_DIM_W] != other[TH_DIM_W])
            continue;
        if (q == r)
            *rank = count;
        member[count++] = q;
    }
    return count;
}

/* --- what is read ----------------------------------------------------------------------------- */

static const span nothing = {INT32_MAX, 0};

static void include(span *s, int32_t at)
{
    s->lo = at < s->lo ? at : s->lo;
    s->hi = at + 1 > s->hi ? at + 1 : s->hi;
}

/* One axis of the window of a layer: its dimensions of the output and of the kernel. */
typedef struct window {
    int dim, kernel;
    int32_t stride, pad, dilation, up, size;
} window;

/* Least span that holds all rows read: between inputs there are up - 1 rows of zeros. */
static span rows_read(const loops *x, window v)
{
    span s = nothing;
    for (int32_t h = x->lo[v.dim]; h < x->hi[v.dim]; h++)
        for (int32_t r = x->lo[v.kernel]; r < x->hi[v.kernel]; r++) {
            int32_t y = h * v.stride - v.pad + r * v.dilation;
            if (y >= 0 && y % v.up == 0 && y / v.up < v.size)
                include(&s, y / v.up);
        }
    return s;
}

/* The input channels that the sum over c of group g runs over: all of a group, or the loops' part.
 */
static void include_inner(const th_layer *l, const loops *x, int32_t g, span *s)
{
    int32_t per_group = l->dim[TH_DIM_C] / l->groups;
    for (int32_t c = 0; c < per_group; c++)
        if (l->groups > 1 || (c >= x->lo[TH_DIM_C] && c < x->hi[TH_DIM_C]))
            include(s, g * per_group + c);
}

static span channels_read(const th_layer *l, int input, const loops *x)
{
    span s = nothing;
    int32_t before = 0, per_group = l->dim[TH_DIM_K] / l->groups;
    for (int i = 0; i < input && l->kind == TH_LAYER_CONCAT; i++)
        before += l->input_channels[i];
    for (int32_t k = x->lo[TH_DIM_K]; k < x->hi[TH_DIM_K]; k++) {
        bool of_all = l->function == TH_FUNCTION_LAYER_NORM ||
                      l->function == TH_FUNCTION_RMS_NORM || l->kind == TH_LAYER_EMBEDDING;
        if (th_layer_has_macs(l) || l->kind == TH_LAYER_SOFTMAX)
            include_inner(l, x, k / per_group, &s);
        else if (l->kind == TH_LAYER_SLICE)
            include(&s, l->first_channel + k);
        else if (l->kind != TH_LAYER_CONCAT && !of_all)
            include(&s, k);
        else if (l->kind == TH_LAYER_CONCAT && k >= before && k < before + l->input_channels[input])
            include(&s, k - before);
        for (int32_t c = 0; of_all && c < l->dim[TH_DIM_C]; c++)
            include(&s, c);
    }
    return s;
}

typedef struct region {
    span b, c, h, w;
} region;

/* Marks the elements of a region of a tensor of this batch and shape. */
static void mark(elements *e, random_shape of, int32_t batch, region x)
{
    e->size = batch * of.c * of.h * of.w;
    memset(e->at, 0, (size_t)e->size);
    e->n = 0;
    e->channels = x.c;
    e->rows = x.h;
    e->columns = x.w;
    for (int32_t i = x.b.lo; i < x.b.hi; i++)
        for (int32_t j = x.c.lo; j < x.c.hi; j++)
            for (int32_t k = x.h.lo; k < x.h.hi; k++)
                for (int32_t m = x.w.lo; m < x.w.hi; m++) {
                    e->at[((i * of.c + j) * of.h + k) * of.w + m] = true;
                    e->n++;
                }
}

static span batch_of(const loops *x)
{
    return (span){x->lo[TH_DIM_B], x->hi[TH_DIM_B]};
}

/* Column k of group g multiplies inner element c of its group: it is at channel c, row k of the
 * group when the second factor is transposed, else at channel k, row c. */
static void second_factor_read(const th_layer *l, const loops *x, elements *out)
{
    span channels = nothing, rows = nothing;
    int32_t g = l->groups, columns = l->dim[TH_DIM_K] / g, inner = l->dim[TH_DIM_C] / g;
    for (int32_t k = x->lo[TH_DIM_K]; k < x->hi[TH_DIM_K]; k++)
        for (int32_t c = 0; c < inner; c++) {
            if (g == 1 && (c < x->lo[TH_DIM_C] || c >= x->hi[TH_DIM_C]))
                continue;
            include(&channels, l->is_transposed ? k / columns * inner + c : k);
            include(&rows, l->is_transposed ? k % columns : c);
        }
    random_shape of = {l->is_transposed ? l->dim[TH_DIM_C] : l->dim[TH_DIM_K],
                       l->is_transposed ? columns : inner, 1, TH_FP32};
    mark(out, of, l->dim[TH_DIM_B], (region){batch_of(x), channels, rows, {0, 1}});
}

/* Row h of an attention is token h % n of the last n: it sees its own key and those before it. */
static bool sees(const th_layer *l, int32_t h, int32_t key)
{
    int32_t n = l->causal_rows, own = n > 0 ? l->dim[TH_DIM_R] - n + h % n : 0;
    return n == 0 || (key <= own && (l->window == 0 || key + l->window > own));
}

/* Head k of the queries reads all channels of its own, and of the keys and values that it shares.
 */
static void attention_read(const th_layer *l, int input, const loops *x, elements *out)
{
    const int32_t *shape = l->input_shapes + (ptrdiff_t)3 * input;
    span channels = nothing, rows = nothing;
    int32_t width = l->dim[TH_DIM_C] / l->groups, per_head = l->dim[TH_DIM_K] / l->groups,
            sharing = l->groups * width / l->input_shapes[3],
            of_head = input == 2 ? per_head : width;
    for (int32_t k = x->lo[TH_DIM_K]; k < x->hi[TH_DIM_K]; k++)
        for (int32_t c = 0; c < of_head; c++)
            include(&channels, k / per_head / (input == 0 ? 1 : sharing) * of_head + c);
    for (int32_t h = x->lo[TH_DIM_H]; h < x->hi[TH_DIM_H]; h++)
        for (int32_t key = 0; key < l->dim[TH_DIM_R]; key++)
            if (input == 0 || sees(l, h, key))
                include(&rows, input == 0 ? h : key);
    mark(out, (random_shape){shape[0], shape[1], 1, TH_FP32}, l->dim[TH_DIM_B],
         (region){batch_of(x), channels, rows, {0, 1}});
}

void inputs_read(const th_layer *l, int input, const loops *x, elements *out)
{
    if (l->kind == TH_LAYER_ATTENTION) {
        attention_read(l, input, x, out);
        return;
    }
    if (l->kind == TH_LAYER_MATMUL && input == 1) {
        second_factor_read(l, x, out);
        return;
    }
    int32_t c = l->kind == TH_LAYER_CONCAT ? l->input_channels[input] : l->dim[TH_DIM_C];
    span h = rows_read(
        x, (window){TH_DIM_H, TH_DIM_R, l->stride_h, l->pad_top, l->dilation_h, l->up_h, l->in_h});
    span w = rows_read(
        x, (window){TH_DIM_W, TH_DIM_S, l->stride_w, l->pad_left, l->dilation_w, l->up_w, l->in_w});
    mark(out, (random_shape){c, l->in_h, l->in_w, TH_FP32}, l->dim[TH_DIM_B],
         (region){batch_of(x), channels_read(l, input, x), h, w});
}

void outputs_held(const th_layer *l, const loops *x, int rank, int n, elements *out)
{
    static const int order[] = {TH_DIM_B, TH_DIM_K, TH_DIM_H, TH_DIM_W};
    loops part = *x;
    int longest = TH_DIM_B;
    for (int i = 1; i < 4; i++)
        if (x->hi[order[i]] - x->lo[order[i]] > x->hi[longest] - x->lo[longest])
            longest = order[i];
    cut(&part, longest, rank, n);
    mark(out, (random_shape){l->dim[TH_DIM_K], l->dim[TH_DIM_H], l->dim[TH_DIM_W], TH_FP32},
         l->dim[TH_DIM_B],
         (region){batch_of(&part),
                  {part.lo[TH_DIM_K], part.hi[TH_DIM_K]},
                  {part.lo[TH_DIM_H], part.hi[TH_DIM_H]},
                  {part.lo[TH_DIM_W], part.hi[TH_DIM_W]}});
}

/* --- counts ----------------------------------------------------------------------------------- */

static bool counts_c(const th_layer *l)
{
    return th_layer_has_macs(l) && l->groups == 1;
}

int64_t steps_of(const th_layer *l, int32_t batch)
{
    int64_t n = batch;
    for (int d = TH_DIM_K; d < TH_N_DIMS; d++)
        n *= d != TH_DIM_C || counts_c(l) ? l->dim[d] : 1;
    return n;
}

void count_steps(const th_layer *l, const loops *x, uint8_t *count)
{
    loops at = *x;
    int32_t extent[TH_N_DIMS];
    if (!counts_c(l)) {
        at.lo[TH_DIM_C] = 0;
        at.hi[TH_DIM_C] = 1;
    }
    for (int d = 0; d < TH_N_DIMS; d++) {
        extent[d] = d == TH_DIM_C && !counts_c(l) ? 1 : l->dim[d];
        if (at.lo[d] >= at.hi[d])
            return;
    }
    int32_t i[TH_N_DIMS];
    memcpy(i, at.lo, sizeof i);
    for (int d = 0; d >= 0;) {
        int64_t step = 0;
        for (d = 0; d < TH_N_DIMS; d++)
            step = step * extent[d] + i[d];
        count[step]++;
        for (d = TH_N_DIMS - 1; d >= 0 && ++i[d] == at.hi[d]; d--)
            i[d] = at.lo[d];
    }
}

int64_t scores_of(const th_layer *l, const loops *x)
{
    int64_t n = 0;
    for (int32_t h = x->lo[TH_DIM_H]; h < x->hi[TH_DIM_H]; h++)
        for (int32_t key = 0; key < l->dim[TH_DIM_R]; key++)
            n += sees(l, h, key);
    return n;
}

/* --- shards ----------------------------------------------------------------------------------- */

/* The first input that is read at all; the first one where none is. */
static const elements *first_read(const elements *reads, int n_inputs)
{
    for (int i = 0; i < n_inputs; i++)
        if (reads[i].n > 0)
            return &reads[i];
    return reads;
}

/* That the output channels of x lie in. */
static int32_t groups_of(const th_layer *l, const loops *x)
{
    int32_t n = 0, last = -1, per_group = l->dim[TH_DIM_K] / l->groups;
    for (int32_t k = x->lo[TH_DIM_K]; k < x->hi[TH_DIM_K]; k++) {
        n += k / per_group != last;
        last = k / per_group;
    }
    return n;
}

static bool is_of_layer(const th_shard *s, const th_layer *l)
{
    bool same = s->kind == (int)l->kind && s->function == (int)l->function &&
                s->stride_h == l->stride_h && s->stride_w == l->stride_w &&
                s->dilation_h == l->dilation_h && s->dilation_w == l->dilation_w &&
                s->up_h == l->up_h && s->up_w == l->up_w && s->sparse_n == l->sparse_n &&
                s->sparse_m == l->sparse_m && s->n_operands == l->n_inputs &&
                s->has_bias == (l->has_bias || l->has_norm);
    for (int t = 0; t < TH_N_TENSORS; t++)
        same &= s->precision[t] == (int)l->precision[t] &&
                s->density_ppm[t] == (int)(l->density[t] * 1e6 + 0.5);
    return same;
}

/* The keys and the scores of an attention's part; of other layers there are none. */
static bool has_keys_of(const th_shard *s, const th_layer *l, const loops *x, const elements *reads)
{
    if (l->kind != TH_LAYER_ATTENTION)
        return s->key_groups == 0 && s->scores == 0;
    int32_t channels = reads[1].channels.hi - reads[1].channels.lo;
    return s->scores == scores_of(l, x) &&
           s->key_groups * (l->dim[TH_DIM_C] / l->groups) == channels;
}

bool is_shard_of(const th_shard *s, const th_layer *l, const loops *x, const elements *reads,
                 bool adds)
{
    const elements *first = first_read(reads, l->n_inputs);
    bool same = is_of_layer(s, l) && s->groups == groups_of(l, x) &&
                s->adds_to_output == (int)adds && has_keys_of(s, l, x, reads);
    for (int d = 0; d < TH_N_DIMS; d++) {
        int32_t extent = x->hi[d] - x->lo[d];
        if (d == TH_DIM_C && l->kind == TH_LAYER_CONCAT)
            extent = x->hi[TH_DIM_K] - x->lo[TH_DIM_K];
        else if (d == TH_DIM_C)
            extent = reads[0].channels.hi - reads[0].channels.lo;
        else if (d == TH_DIM_R && l->kind == TH_LAYER_ATTENTION)
            extent = reads[1].rows.hi - reads[1].rows.lo;
        same &= s->dim[d] == extent;
    }
    return same && s->in_h == (first->n > 0 ? first->rows.hi - first->rows.lo : 0) &&
           s->in_w == (first->n > 0 ? first->columns.hi - first->columns.lo : 0);
}

/* --- bytes ------------------------------------------------------------------------------------ */

int64_t bytes_of(int64_t n_elements, th_precision p)
{
    static const int bits[] = {32, 16, 16, 16, 8, 4, 32, 8, 4};
    return (n_elements * bits[p] + 7) / 8;
}

int64_t weight_bytes_of(const th_layer *l, const loops *x)
{
    static const int bits[] = {32, 16, 16, 16, 8, 4, 32, 8, 4};
    int p = bits[l->precision[TH_TENSOR_WEIGHT]];
    int64_t n = l->groups > 1 ? l->dim[TH_DIM_C] / l->groups : x->hi[TH_DIM_C] - x->lo[TH_DIM_C];
    n *= (x->hi[TH_DIM_K] - x->lo[TH_DIM_K]) * (x->hi[TH_DIM_R] - x->lo[TH_DIM_R]) *
         (x->hi[TH_DIM_S] - x->lo[TH_DIM_S]);
    if (l->sparse_m > 0) { /* n of m, each with its place among m */
        int place = 0;
        while (1 << place < l->sparse_m)
            place++;
        return ((n * l->sparse_n + l->sparse_m - 1) / l->sparse_m * (p + place) + 7) / 8;
    }
    if (l->density[TH_TENSOR_WEIGHT] < 1) /* and a bit for each that says whether it is there */
        return ((int64_t)ceil((double)n * l->density[TH_TENSOR_WEIGHT] - 1e-9) * p + n + 7) / 8;
    return bytes_of(n, l->precision[TH_TENSOR_WEIGHT]);
}
