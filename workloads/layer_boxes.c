/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_boxes.c - the boxes of a layer's tensors that a part of its loop nest touches.
 *
 * Along the height (and likewise the width) output row h reads, through kernel row r, the row
 *     y(h, r) = h * stride - pad_top + r * dilation
 * of the input with up - 1 zeros between neighbours: input row y / up if that is an integer inside
 * the input, otherwise padding or a zero. A loop box reads the smallest box that contains every row
 * that is neither. This is exact, not the clipped hull (with stride 2, padding 1 and a 1 x 1
 * kernel, output row 0 reads nothing, and row 1 begins at input row 1). A part of an lstm or a gru
 * reads every channel of every time step up to its last one, because a hidden unit depends on all
 * units of the previous step. Functions here are pure and may be called in any order; they assume
 * valid extents (th_workload_finish checks them). Not modelled: holes. A stride greater than the
 * kernel leaves rows inside the box that are not read. */
#include <config.h>
#include "base/integer.h"
#include "base/min_max.h"
#include "workloads/layer.h"

typedef struct range {
    int64_t lo, hi; /* [lo, hi) */
} range;

static range loop_range(const th_loop_box *loops, th_dim d)
{
    return (range){loops->lo[d], loops->hi[d]};
}

static bool loops_are_empty(const th_loop_box *loops)
{
    for (int d = 0; d < TH_N_DIMS; d++)
        if (loops->lo[d] >= loops->hi[d])
            return true;
    return false;
}

static th_box box_of(const range ranges[TH_TENSOR_DIMS])
{
    th_box box = {{0}, {0}};
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        if (ranges[d].lo >= ranges[d].hi)
            return (th_box){{0}, {0}};
        box.lo[d] = (int32_t)ranges[d].lo;
        box.hi[d] = (int32_t)ranges[d].hi;
    }
    return box;
}

/* ---- whole boxes ---- */

th_loop_box th_layer_loops(const th_layer *l)
{
    th_loop_box loops = {{0}, {0}};
    for (int d = 0; d < TH_N_DIMS; d++)
        loops.hi[d] = l->dim[d];
    return loops;
}

th_box th_layer_output_box(const th_layer *l)
{
    return (th_box){{0, 0, 0, 0},
                    {l->dim[TH_DIM_B], l->dim[TH_DIM_K], l->dim[TH_DIM_H], l->dim[TH_DIM_W]}};
}

/* Does this input of a matmul take the place of the weights? */
static bool is_second_factor(const th_layer *l, int input)
{
    return l->kind == TH_LAYER_MATMUL && input == 1;
}

th_box th_layer_input_box(const th_layer *l, int input)
{
    int32_t batch = l->dim[TH_DIM_B], c = l->dim[TH_DIM_C], k = l->dim[TH_DIM_K];
    if (is_second_factor(l, input) && l->is_transposed)
        return (th_box){{0, 0, 0, 0}, {batch, c, k / l->groups, 1}};
    if (is_second_factor(l, input))
        return (th_box){{0, 0, 0, 0}, {batch, k, c / l->groups, 1}};
    if (l->kind == TH_LAYER_CONCAT)
        c = l->input_channels[input];
    if (l->input_shapes) {
        const int32_t *shape = l->input_shapes + 3 * input;
        return (th_box){{0, 0, 0, 0}, {batch, shape[0], shape[1], shape[2]}};
    }
    return (th_box){{0, 0, 0, 0}, {batch, c, l->in_h, l->in_w}};
}

/* ---- rows ---- */

/* One axis of the window: rows with R, or columns with S. size: of the input, without zeros. */
typedef struct axis {
    int64_t size, stride, pad, dilation, up;
} axis;

static int64_t row_read(const axis *a, int64_t h, int64_t r)
{
    return h * a->stride - a->pad + r * a->dilation;
}

static int64_t stuffed_size(const axis *a)
{
    return (a->size - 1) * a->up + 1;
}

/* The lowest input row that outputs read through kernel; size when there is none. Where there are
 * zeros between the rows the stride is 1, so the next output reads the next row. */
static int64_t lowest_inside(const axis *a, range outputs, range kernel)
{
    int64_t lowest = a->size;
    for (int64_t r = kernel.lo; r < kernel.hi; r++) {
        int64_t above = a->pad - r * a->dilation; /* y >= 0 from h * stride >= above on */
        int64_t h = above > 0 ? th_ceil_div(above, a->stride) : 0;
        h = th_max(h, outputs.lo);
        h += (a->up - row_read(a, h, r) % a->up) % a->up;
        if (h < outputs.hi)
            lowest = th_min(lowest, row_read(a, h, r) / a->up);
    }
    return lowest;
}

/* The highest input row that outputs read through kernel; -1 when there is none. */
static int64_t highest_inside(const axis *a, range outputs, range kernel)
{
    int64_t highest = -1;
    for (int64_t r = kernel.lo; r < kernel.hi; r++) {
        int64_t below = stuffed_size(a) - 1 + a->pad - r * a->dilation; /* y < size up to here */
        if (below < 0)
            break;
        int64_t h = th_min(below / a->stride, outputs.hi - 1), y = row_read(a, h, r);
        h -= y > 0 ? y % a->up : 0;
        if (h >= outputs.lo && y >= 0)
            highest = th_max(highest, y / a->up);
    }
    return highest;
}

/* Rows read; empty (lo >= hi) when all of it is padding. The search is only needed at the rims, and
 * where there are zeros between the rows. */
static range rows_read(const axis *a, range outputs, range kernel)
{
    range rows = {row_read(a, outputs.lo, kernel.lo),
                  row_read(a, outputs.hi - 1, kernel.hi - 1) + 1};
    if (rows.lo < 0 || a->up > 1)
        rows.lo = lowest_inside(a, outputs, kernel);
    if (rows.hi > a->size || a->up > 1)
        rows.hi = highest_inside(a, outputs, kernel) + 1;
    return rows;
}

/* ---- channels ---- */

/* The input channels of the groups that output channels k lie in. */
static range channels_of_groups(const th_layer *l, range k)
{
    int64_t k_per_group = l->dim[TH_DIM_K] / l->groups, c_per_group = l->dim[TH_DIM_C] / l->groups;
    return (range){k.lo / k_per_group * c_per_group, ((k.hi - 1) / k_per_group + 1) * c_per_group};
}

/* The channels of one input of a concat that lie among output channels k. May be empty. */
static range channels_of_part(const th_layer *l, int input, range k)
{
    int64_t before = 0;
    for (int i = 0; i < input; i++)
        before += l->input_channels[i];
    return (range){th_max(k.lo - before, 0), th_min(k.hi - before, l->input_channels[input])};
}

static range channels_read(const th_layer *l, int input, const th_loop_box *loops)
{
    range k = loop_range(loops, TH_DIM_K), all = {0, l->dim[TH_DIM_C]};
    switch (l->kind) {
    case TH_LAYER_CONV:
    case TH_LAYER_FC:
    case TH_LAYER_MATMUL:
        return l->groups == 1 ? loop_range(loops, TH_DIM_C) : channels_of_groups(l, k);
    case TH_LAYER_SOFTMAX:
        return channels_of_groups(l, k);
    case TH_LAYER_NORM:
        return th_layer_is_channelwise(l) ? k : all;
    case TH_LAYER_POOL:
    case TH_LAYER_ELEMENTWISE:
        return k;
    case TH_LAYER_CONCAT:
        return channels_of_part(l, input, k);
    case TH_LAYER_SLICE:
        return (range){l->first_channel + k.lo, l->first_channel + k.hi};
    case TH_LAYER_LSTM:
    case TH_LAYER_GRU:
    case TH_LAYER_RNN:
    case TH_LAYER_EMBEDDING:
    case TH_LAYER_ATTENTION: /* attention_input_of */
        break;
    }
    return all;
}

/* ---- what a part of the loop nest reads and writes ---- */

/* The columns within their group; of several groups, those of any. */
static range columns_of_group(const th_layer *l, range k)
{
    int64_t per_group = l->dim[TH_DIM_K] / l->groups, first = k.lo / per_group * per_group;
    if (k.hi - first > per_group)
        return (range){0, per_group};
    return (range){k.lo - first, k.hi - first};
}

static th_box second_factor_of(const th_layer *l, const th_loop_box *loops)
{
    range k = loop_range(loops, TH_DIM_K), c = channels_read(l, 0, loops);
    range inner = l->groups == 1 ? c : (range){0, l->dim[TH_DIM_C] / l->groups};
    const range ranges[TH_TENSOR_DIMS] = {
        loop_range(loops, TH_DIM_B),
        l->is_transposed ? c : k,
        l->is_transposed ? columns_of_group(l, k) : inner,
        {0, 1},
    };
    return box_of(ranges);
}

/* Of an input with extents of its own: the elements at the same places along the axes that have the
 * output's extent, and all along the others. */
static th_box shaped_input_of(const th_layer *l, int input, const th_loop_box *loops)
{
    static const th_dim axes[] = {TH_DIM_B, TH_DIM_K, TH_DIM_H, TH_DIM_W};
    th_box box = th_layer_input_box(l, input);
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        if (box.hi[d] == l->dim[axes[d]]) {
            box.lo[d] = loops->lo[axes[d]];
            box.hi[d] = loops->hi[axes[d]];
        }
    return box;
}

/* Of heads [heads.lo, heads.hi): the channels that they read of an input with so many. Heads share
 * them evenly. */
static range channels_of_heads(const th_layer *l, range heads, int64_t channels)
{
    int64_t key_heads = th_layer_key_heads(l), sharing = l->groups / key_heads,
            width = channels / key_heads;
    return (range){heads.lo / sharing * width, ((heads.hi - 1) / sharing + 1) * width};
}

/* The keys that rows see: of a causal attention, of the first one's window up to the last one's
 * own. */
static range keys_of_rows(const th_layer *l, range rows)
{
    int64_t n = l->causal_rows, keys = l->dim[TH_DIM_R];
    if (n == 0)
        return (range){0, keys};
    bool is_one_head = rows.lo / n == (rows.hi - 1) / n; /* else from the first token on */
    int64_t first = is_one_head ? rows.lo % n : 0, last = is_one_head ? (rows.hi - 1) % n : n - 1;
    int64_t seen_before = keys - n + first + 1 - l->window;
    return (range){l->window > 0 ? th_max(seen_before, 0) : 0, keys - n + last + 1};
}

/* Queries: the rows and heads of the outputs. Keys, values: what the rows see of the heads. A mask:
 * all of it, or the rows of the queries if it has as many. */
static th_box attention_input_of(const th_layer *l, int input, const th_loop_box *loops)
{
    enum { QUERIES, KEYS, VALUES };
    int64_t width = l->dim[TH_DIM_K] / l->groups;
    const int32_t *shape = l->input_shapes + 3 * input;
    range k = loop_range(loops, TH_DIM_K), rows = loop_range(loops, TH_DIM_H),
          heads = {k.lo / width, (k.hi - 1) / width + 1}, channels = {0, shape[0]},
          read = {0, shape[1]};
    int64_t of_query = l->dim[TH_DIM_C] / l->groups;
    if (input == QUERIES)
        channels = (range){heads.lo * of_query, heads.hi * of_query};
    else if (input == KEYS || input == VALUES)
        channels = channels_of_heads(l, heads, shape[0]);
    if (input == KEYS || input == VALUES)
        read = keys_of_rows(l, rows);
    else if (input == QUERIES || shape[1] == l->dim[TH_DIM_H])
        read = rows;
    const range ranges[TH_TENSOR_DIMS] = {
        loop_range(loops, TH_DIM_B), channels, read, {0, shape[2]}};
    return box_of(ranges);
}

th_box th_layer_input_of(const th_layer *l, int input, const th_loop_box *loops)
{
    if (loops_are_empty(loops))
        return (th_box){{0}, {0}};
    if (l->kind == TH_LAYER_ATTENTION)
        return attention_input_of(l, input, loops);
    if (l->input_shapes)
        return shaped_input_of(l, input, loops);
    if (is_second_factor(l, input))
        return second_factor_of(l, loops);
    const axis height = {l->in_h, l->stride_h, l->pad_top, l->dilation_h, l->up_h};
    const axis width = {l->in_w, l->stride_w, l->pad_left, l->dilation_w, l->up_w};
    range ranges[TH_TENSOR_DIMS] = {
        loop_range(loops, TH_DIM_B),
        channels_read(l, input, loops),
        rows_read(&height, loop_range(loops, TH_DIM_H), loop_range(loops, TH_DIM_R)),
        rows_read(&width, loop_range(loops, TH_DIM_W), loop_range(loops, TH_DIM_S)),
    };
    if (th_layer_gates(l->kind) > 0)
        ranges[2].lo = 0;
    return box_of(ranges);
}

th_box th_layer_output_of(const th_layer *l, const th_loop_box *loops)
{
    (void)l; /* every kind writes the output at its own loop indices */
    if (loops_are_empty(loops))
        return (th_box){{0}, {0}};
    const range ranges[TH_TENSOR_DIMS] = {
        loop_range(loops, TH_DIM_B),
        loop_range(loops, TH_DIM_K),
        loop_range(loops, TH_DIM_H),
        loop_range(loops, TH_DIM_W),
    };
    return box_of(ranges);
}

/* ---- weights ---- */

th_box th_layer_weight_box(const th_layer *l, const th_loop_box *loops)
{
    const int32_t *lo = loops->lo, *hi = loops->hi, *d = l->dim, gates = th_layer_gates(l->kind);
    bool is_cut = l->groups == 1;
    if (!th_layer_has_weights(l))
        return (th_box){{0}, {0}};
    if (l->kind == TH_LAYER_EMBEDDING)
        return (th_box){{0, lo[TH_DIM_K]}, {l->vocabulary, hi[TH_DIM_K], 1, 1}};
    if (gates > 0) /* never cut: recurrent layers split B alone */
        return (th_box){{0}, {d[TH_DIM_K], d[TH_DIM_C] + d[TH_DIM_K], gates, 1}};
    return (th_box){{lo[TH_DIM_K], is_cut ? lo[TH_DIM_C] : 0, lo[TH_DIM_R], lo[TH_DIM_S]},
                    {hi[TH_DIM_K], is_cut ? hi[TH_DIM_C] : d[TH_DIM_C] / l->groups, hi[TH_DIM_R],
                     hi[TH_DIM_S]}};
}

/* ---- boxes ---- */

int64_t th_box_elements(const th_box *b)
{
    if (th_box_is_empty(b))
        return 0;
    int64_t n = 1;
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        n *= b->hi[d] - b->lo[d];
    return n;
}

bool th_box_equal(const th_box *a, const th_box *b)
{
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d])
            return false;
    return true;
}

th_box th_box_intersect(const th_box *a, const th_box *b)
{
    th_box common;
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        common.lo[d] = th_max(a->lo[d], b->lo[d]);
        common.hi[d] = th_min(a->hi[d], b->hi[d]);
    }
    return th_box_is_empty(&common) ? (th_box){{0}, {0}} : common;
}
