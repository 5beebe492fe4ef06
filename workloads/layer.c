/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer.c - the loop nest of one layer, and which boxes of its tensors a part of the nest touches.
 *
 * Along the height (the width is alike) output row h reads, through kernel row r, the input row
 *     y(h, r) = h * stride - pad_top + r * dilation,
 * which is padding unless 0 <= y < in_h. What a loop box reads is the smallest box that holds every
 * row which is not padding: exact, not the clipped hull (with stride 2, padding 1 and a 1 x 1
 * kernel output row 0 reads nothing, and row 1 begins at input row 1).
 * Functions here are pure and may be called in any order; the layer's extents are taken as valid
 * (th_workload_finish checks them).
 * Not modelled: holes. A stride greater than the kernel leaves rows inside the box that nobody
 * reads. */
#include <config.h>
#include "workloads/layer.h"

const char th_dim_letters[TH_N_DIMS + 1] = "BKCHWRS";

static const char *function_name(th_function f)
{
    switch (f) {
    case TH_FUNCTION_NONE:
        break;
    case TH_FUNCTION_ADD:
        return "add";
    case TH_FUNCTION_MUL:
        return "mul";
    case TH_FUNCTION_RELU:
        return "relu";
    case TH_FUNCTION_SIGMOID:
        return "sigmoid";
    case TH_FUNCTION_TANH:
        return "tanh";
    case TH_FUNCTION_GELU:
        return "gelu";
    case TH_FUNCTION_SILU:
        return "silu";
    case TH_FUNCTION_BATCH_NORM:
        return "norm";
    case TH_FUNCTION_LAYER_NORM:
        return "layer_norm";
    case TH_FUNCTION_RMS_NORM:
        return "rms_norm";
    }
    return "unknown";
}

const char *th_layer_type_name(const th_layer *l)
{
    switch (l->kind) {
    case TH_LAYER_CONV:
        return "conv";
    case TH_LAYER_FC:
        return "fc";
    case TH_LAYER_MATMUL:
        return "matmul";
    case TH_LAYER_LSTM:
        return "lstm";
    case TH_LAYER_GRU:
        return "gru";
    case TH_LAYER_EMBEDDING:
        return "embedding";
    case TH_LAYER_POOL:
        return l->is_mean_pool ? "mean_pool" : "max_pool";
    case TH_LAYER_ELEMENTWISE:
    case TH_LAYER_NORM:
        return function_name(l->function);
    case TH_LAYER_SOFTMAX:
        return "softmax";
    case TH_LAYER_CONCAT:
        return "concat";
    case TH_LAYER_SLICE:
        return "slice";
    }
    return "unknown";
}

static const struct {
    const char *name;
    int bits;
} precisions[TH_N_PRECISIONS] = {
    [TH_FP32] = {"fp32", 32},   [TH_FP16] = {"fp16", 16}, [TH_BF16] = {"bf16", 16},
    [TH_INT16] = {"int16", 16}, [TH_INT8] = {"int8", 8},  [TH_INT4] = {"int4", 4},
};

const char *th_precision_name(th_precision p)
{
    return precisions[p].name;
}

int th_precision_bits(th_precision p)
{
    return precisions[p].bits;
}

int64_t th_tensor_bytes(int64_t elements, th_precision p)
{
    return (elements * precisions[p].bits + 7) / 8;
}

int th_layer_gates(th_layer_kind kind)
{
    return kind == TH_LAYER_LSTM ? 4 : kind == TH_LAYER_GRU ? 3 : 0;
}

bool th_layer_has_macs(const th_layer *l)
{
    return l->kind == TH_LAYER_CONV || l->kind == TH_LAYER_FC || l->kind == TH_LAYER_MATMUL ||
           th_layer_gates(l->kind) > 0;
}

static bool multiplies_activations(const th_layer *l)
{
    return l->kind == TH_LAYER_MATMUL && l->n_inputs == 2;
}

bool th_layer_has_weights(const th_layer *l)
{
    return l->kind == TH_LAYER_EMBEDDING ||
           (th_layer_has_macs(l) && !multiplies_activations(l));
}

bool th_layer_is_channelwise(const th_layer *l)
{
    return l->kind == TH_LAYER_POOL || l->kind == TH_LAYER_ELEMENTWISE ||
           (l->kind == TH_LAYER_NORM && l->function == TH_FUNCTION_BATCH_NORM);
}

bool th_layer_is_reduction(const th_layer *l, th_dim d)
{
    return th_layer_has_macs(l) && (d == TH_DIM_C || d == TH_DIM_R || d == TH_DIM_S);
}

bool th_layer_can_split(const th_layer *l, th_dim d, int n)
{
    (void)n;
    switch (d) {
    case TH_DIM_B:
    case TH_DIM_K:
    case TH_DIM_H:
    case TH_DIM_W:
        return true;
    case TH_DIM_C:
        return th_layer_has_macs(l) && l->groups == 1;
    case TH_DIM_R:
    case TH_DIM_S:
        return th_layer_has_macs(l);
    case TH_N_DIMS:
        break;
    }
    return false;
}

/* ---- sizes ---- */

/* Elements that multiply the input: weights, or the second input of a matmul (of one image). */
static int64_t multipliers(const th_layer *l)
{
    return (int64_t)l->dim[TH_DIM_K] * (l->dim[TH_DIM_C] / l->groups) * l->dim[TH_DIM_R] *
           l->dim[TH_DIM_S];
}

int64_t th_layer_macs(const th_layer *l)
{
    if (!th_layer_has_macs(l))
        return 0;
    return multipliers(l) * l->dim[TH_DIM_B] * l->dim[TH_DIM_H] * l->dim[TH_DIM_W];
}

int64_t th_layer_weights(const th_layer *l)
{
    return th_layer_has_weights(l) ? multipliers(l) : 0;
}

int64_t th_layer_parameters(const th_layer *l)
{
    int64_t per_channel = l->has_bias ? 1 : 0;
    if (l->has_norm || l->kind == TH_LAYER_NORM)
        per_channel += 2;  /* scale and shift */
    return th_layer_weights(l) + per_channel * l->dim[TH_DIM_K];
}

int64_t th_layer_input_elements(const th_layer *l)
{
    return (int64_t)l->dim[TH_DIM_B] * l->dim[TH_DIM_C] * l->in_h * l->in_w;
}

int64_t th_layer_output_elements(const th_layer *l)
{
    return (int64_t)l->dim[TH_DIM_B] * l->dim[TH_DIM_K] * l->dim[TH_DIM_H] * l->dim[TH_DIM_W];
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

th_box th_layer_input_box(const th_layer *l, int input)
{
    (void)input;
    return (th_box){{0, 0, 0, 0}, {l->dim[TH_DIM_B], l->dim[TH_DIM_C], l->in_h, l->in_w}};
}

/* ---- what a part of the loop nest reads and writes ---- */

typedef struct range {
    int64_t lo, hi;  /* [lo, hi) */
} range;

/* One axis of the window: rows with R, or columns with S. */
typedef struct axis {
    int64_t size, stride, pad, dilation;
} axis;

static range loop_range(const th_loop_box *loops, th_dim d)
{
    return (range){loops->lo[d], loops->hi[d]};
}

static int64_t row_read(const axis *a, int64_t h, int64_t r)
{
    return h * a->stride - a->pad + r * a->dilation;
}

/* The lowest row in [0, size) that outputs read through kernel; size when there is none. */
static int64_t lowest_inside(const axis *a, range outputs, range kernel)
{
    int64_t lowest = a->size;
    for (int64_t r = kernel.lo; r < kernel.hi; r++) {
        int64_t above = a->pad - r * a->dilation;  /* y >= 0 from h * stride >= above on */
        int64_t h = above > 0 ? (above + a->stride - 1) / a->stride : 0;
        if (h < outputs.lo)
            h = outputs.lo;
        if (h < outputs.hi && row_read(a, h, r) < lowest)
            lowest = row_read(a, h, r);
    }
    return lowest;
}

/* The highest row in [0, size) that outputs read through kernel; -1 when there is none. */
static int64_t highest_inside(const axis *a, range outputs, range kernel)
{
    int64_t highest = -1;
    for (int64_t r = kernel.lo; r < kernel.hi; r++) {
        int64_t below = a->size - 1 + a->pad - r * a->dilation;  /* y < size up to here */
        if (below < 0)
            break;
        int64_t h = below / a->stride;
        if (h > outputs.hi - 1)
            h = outputs.hi - 1;
        if (h >= outputs.lo && row_read(a, h, r) > highest)
            highest = row_read(a, h, r);
    }
    return highest;
}

/* Rows read; empty (lo >= hi) when all of it is padding. The search is only needed at the rims. */
static range rows_read(const axis *a, range outputs, range kernel)
{
    range rows = {row_read(a, outputs.lo, kernel.lo),
                  row_read(a, outputs.hi - 1, kernel.hi - 1) + 1};
    if (rows.lo < 0)
        rows.lo = lowest_inside(a, outputs, kernel);
    if (rows.hi > a->size)
        rows.hi = highest_inside(a, outputs, kernel) + 1;
    return rows;
}

static range channels_read(const th_layer *l, const th_loop_box *loops)
{
    range k = loop_range(loops, TH_DIM_K);
    if (th_layer_is_channelwise(l))
        return k;
    if (l->groups == 1)
        return loop_range(loops, TH_DIM_C);
    int64_t k_per_group = l->dim[TH_DIM_K] / l->groups, c_per_group = l->dim[TH_DIM_C] / l->groups;
    return (range){k.lo / k_per_group * c_per_group, ((k.hi - 1) / k_per_group + 1) * c_per_group};
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

th_box th_layer_input_of(const th_layer *l, int input, const th_loop_box *loops)
{
    (void)input;
    if (loops_are_empty(loops))
        return (th_box){{0}, {0}};
    const axis height = {l->in_h, l->stride_h, l->pad_top, l->dilation_h};
    const axis width = {l->in_w, l->stride_w, l->pad_left, l->dilation_w};
    const range ranges[TH_TENSOR_DIMS] = {
        loop_range(loops, TH_DIM_B),
        channels_read(l, loops),
        rows_read(&height, loop_range(loops, TH_DIM_H), loop_range(loops, TH_DIM_R)),
        rows_read(&width, loop_range(loops, TH_DIM_W), loop_range(loops, TH_DIM_S)),
    };
    return box_of(ranges);
}

th_box th_layer_output_of(const th_layer *l, const th_loop_box *loops)
{
    (void)l;  /* every kind writes the output at its own loop indices */
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

/* ---- boxes ---- */

bool th_box_is_empty(const th_box *b)
{
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        if (b->lo[d] >= b->hi[d])
            return true;
    return false;
}

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
    range ranges[TH_TENSOR_DIMS];
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        ranges[d].lo = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
        ranges[d].hi = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
    }
    return box_of(ranges);
}

bool th_box_contains(const th_box *outer, const th_box *inner)
{
    if (th_box_is_empty(inner))
        return true;
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d])
            return false;
    return true;
}
