/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_types_read.c - one row of layer_types is one type of layer: its keys, and how its shape
 * follows from its inputs.
 *
 * Along each axis a window gives
 *     out = floor((in + padding - (kernel - 1) * dilation - 1) / stride) + 1,
 * and a transposed convolution, in the terms of PyTorch's ConvTranspose2d,
 *     out = (in - 1) * stride - padding + (kernel - 1) * dilation + output_padding + 1,
 * which th_layer keeps as a convolution of stride 1 over stride - 1 zeros between neighbours,
 * padded by (kernel - 1) * dilation less the padding of the file. Where the input's numbers lie
 * decides what it is: lines of text and sequences are rows (the height) of channels, with a width
 * of 1. th_layer_type_infer: inputs -> the type's infer -> precision and density -> what is stated.
 */
#include <config.h>
#include "workloads/layer_types_read.h"
#include "workloads/layer_inputs_read.h"
#include "workloads/layer_keys_read.h"
#include "workloads/workload_check.h"

#include "base/alloc.h"
#include "base/names.h"

#include <stdio.h>
#include <string.h>

/* Sequences have a width of 1, those of numbers one channel. form: what the type reads. */
static int check_sequence(const th_layer_source *s, const char *form)
{
    th_input_shape in = th_layer_input_shape(s, 0);
    if (in.w == 1 && (in.c == 1 || s->layer->kind != TH_LAYER_EMBEDDING))
        return 0;
    return th_workload_layer_error(s->w, s->layer, s->err, "WORK-0023",
                                   "a layer of kind %s reads %s x 1, but its input is %d x %d x %d",
                                   th_layer_type_name(s->layer), form, (int)in.c, (int)in.h,
                                   (int)in.w);
}

/* Products and sums of extents; too large ones stay too large, for th_workload_finish to refuse. */
static int32_t bounded(int64_t extent)
{
    return extent > TH_LARGEST_EXTENT ? TH_LARGEST_EXTENT + 1 : (int32_t)extent;
}

/* Extents of all dimensions but the batch. */
typedef struct extents {
    int32_t k, c, h, w, r, s;
} extents;

static void set_extents(th_layer *l, extents e)
{
    l->dim[TH_DIM_K] = e.k;
    l->dim[TH_DIM_C] = e.c;
    l->dim[TH_DIM_H] = e.h;
    l->dim[TH_DIM_W] = e.w;
    l->dim[TH_DIM_R] = e.r;
    l->dim[TH_DIM_S] = e.s;
}

/* ---- windows ---- */

/* Output pixels along one axis; 0: the kernel is larger than the padded input. */
static int32_t output_extent(int32_t in, int32_t pads, int32_t kernel, int32_t dilation,
                             int32_t stride)
{
    int64_t room = (int64_t)in + pads - (int64_t)(kernel - 1) * dilation - 1;
    return room < 0 ? 0 : (int32_t)(room / stride + 1);
}

/* H and W of a layer whose window is known but for the bottom and right padding. */
static int infer_window(const th_layer_source *s, th_padding pad)
{
    th_layer *l = s->layer;
    int32_t *d = l->dim;
    l->pad_top = pad.top;
    l->pad_left = pad.left;
    d[TH_DIM_H] =
        output_extent(l->in_h, pad.top + pad.bottom, d[TH_DIM_R], l->dilation_h, l->stride_h);
    d[TH_DIM_W] =
        output_extent(l->in_w, pad.left + pad.right, d[TH_DIM_S], l->dilation_w, l->stride_w);
    if (d[TH_DIM_H] > 0 && d[TH_DIM_W] > 0)
        return 0;
    return th_workload_layer_error(
        s->w, l, s->err, "WORK-0022",
        "a kernel of %d x %d (dilation %d x %d) is larger than its input of "
        "%d x %d with padding",
        (int)d[TH_DIM_R], (int)d[TH_DIM_S], (int)l->dilation_h, (int)l->dilation_w, (int)l->in_h,
        (int)l->in_w);
}

/* One axis of a transposed convolution as the file gives it. */
typedef struct transposed_axis {
    int32_t in, kernel, dilation, stride, pad_before, pad_after, output_padding;
} transposed_axis;

static int infer_transposed_axis(const th_layer_source *s, const transposed_axis *a, int32_t *out,
                                 int32_t *up, int32_t *pad)
{
    int64_t reach = (int64_t)(a->kernel - 1) * a->dilation;
    int64_t extent = (int64_t)(a->in - 1) * a->stride - a->pad_before - a->pad_after + reach +
                     a->output_padding + 1;
    if (a->pad_before > reach)
        return th_workload_layer_error(s->w, s->layer, s->err, "WORK-0040",
                                       "padding %d crops too much of a transposed conv: at most "
                                       "(kernel - 1) * dilation = %lld",
                                       (int)a->pad_before, (long long)reach);
    if (extent < 1)
        return th_workload_layer_error(
            s->w, s->layer, s->err, "WORK-0070",
            "padding %d and %d crop all %lld pixels of a transposed conv: one must stay",
            (int)a->pad_before, (int)a->pad_after,
            (long long)extent + a->pad_before + a->pad_after);
    if (a->output_padding >= a->stride && a->output_padding >= a->dilation)
        return th_workload_layer_error(
            s->w, s->layer, s->err, "WORK-0041",
            "output_padding %d: must be less than the stride or the dilation (%d, %d)",
            (int)a->output_padding, (int)a->stride, (int)a->dilation);
    *out = bounded(extent);
    *up = a->stride;
    *pad = bounded(reach - a->pad_before);
    return 0;
}

static int infer_transposed_window(const th_layer_source *s, th_padding pad)
{
    th_layer *l = s->layer;
    int32_t *d = l->dim, extra_h = 0, extra_w = 0;
    if (th_layer_read_pair(s, "output_padding", 0, &extra_h, &extra_w) < 0)
        return -1;
    const transposed_axis height = {l->in_h, d[TH_DIM_R], l->dilation_h, l->stride_h,
                                    pad.top, pad.bottom,  extra_h};
    const transposed_axis width = {l->in_w,  d[TH_DIM_S], l->dilation_w, l->stride_w,
                                   pad.left, pad.right,   extra_w};
    l->stride_h = l->stride_w = 1;
    if (infer_transposed_axis(s, &height, &d[TH_DIM_H], &l->up_h, &l->pad_top) < 0)
        return -1;
    return infer_transposed_axis(s, &width, &d[TH_DIM_W], &l->up_w, &l->pad_left);
}

static int infer_conv(const th_layer_source *s, const th_layer_type *t)
{
    (void)t;
    th_layer *l = s->layer;
    int32_t *d = l->dim;
    bool is_transposed = false;
    th_padding pad;
    set_extents(l, (extents){.c = th_layer_input_shape(s, 0).c, .r = 1, .s = 1});
    if (th_layer_read_extent(s, "outputs", true, &d[TH_DIM_K]) < 0 ||
        th_layer_read_pair(s, "kernel", 1, &d[TH_DIM_R], &d[TH_DIM_S]) < 0 ||
        th_layer_read_pair(s, "stride", 1, &l->stride_h, &l->stride_w) < 0 ||
        th_layer_read_pair(s, "dilation", 1, &l->dilation_h, &l->dilation_w) < 0 ||
        th_layer_read_extent(s, "groups", false, &l->groups) < 0 ||
        th_layer_read_padding(s, &pad) < 0 || th_layer_read_bool(s, "norm", &l->has_norm) < 0 ||
        th_layer_read_bool(s, "transposed", &is_transposed) < 0)
        return -1;
    l->has_bias = !l->has_norm;
    if (th_layer_read_bool(s, "bias", &l->has_bias) < 0)
        return -1;
    if (is_transposed)
        return infer_transposed_window(s, pad);
    if (th_layer_refuse_key(s, "output_padding", "only a transposed conv has one") < 0)
        return -1;
    return infer_window(s, pad);
}

/* Without a kernel the whole input is pooled to one pixel; without a stride windows do not overlap.
 */
static int infer_pool(const th_layer_source *s, const th_layer_type *t)
{
    (void)t;
    th_layer *l = s->layer;
    int32_t *d = l->dim;
    th_input_shape in = th_layer_input_shape(s, 0);
    th_padding pad;
    set_extents(l, (extents){.k = in.c, .c = in.c, .r = in.h, .s = in.w});
    if (th_layer_read_pair(s, "kernel", 1, &d[TH_DIM_R], &d[TH_DIM_S]) < 0)
        return -1;
    l->stride_h = d[TH_DIM_R];
    l->stride_w = d[TH_DIM_S];
    if (th_layer_read_pair(s, "stride", 1, &l->stride_h, &l->stride_w) < 0 ||
        th_layer_read_padding(s, &pad) < 0)
        return -1;
    return infer_window(s, pad);
}

/* ---- matrices ---- */

static int infer_fc(const th_layer_source *s, const th_layer_type *t)
{
    (void)t;
    th_input_shape in = th_layer_input_shape(s, 0);
    set_extents(s->layer, (extents){.c = in.c, .h = 1, .w = 1, .r = in.h, .s = in.w});
    s->layer->has_bias = true;
    if (th_layer_read_extent(s, "outputs", true, &s->layer->dim[TH_DIM_K]) < 0)
        return -1;
    return th_layer_read_bool(s, "bias", &s->layer->has_bias);
}

/* Rows of activations times a matrix of weights. */
static int infer_weighted(const th_layer_source *s)
{
    static const char why[] = "only a matmul of two inputs has it";
    th_input_shape in = th_layer_input_shape(s, 0);
    set_extents(s->layer, (extents){.c = in.c, .h = in.h, .w = in.w, .r = 1, .s = 1});
    if (th_layer_refuse_key(s, "transposed", why) < 0 ||
        th_layer_read_extent(s, "heads", false, &s->layer->groups) < 0 ||
        th_layer_read_extent(s, "columns", true, &s->layer->dim[TH_DIM_K]) < 0 ||
        th_layer_check_stated(s, "rows", in.h) < 0 || th_layer_check_stated(s, "inner", in.c) < 0)
        return -1;
    return th_layer_read_bool(s, "bias", &s->layer->has_bias);
}

/* Extents of a product of two inputs whose groups and form are known. */
static void multiply_inputs(const th_layer_source *s)
{
    th_layer *l = s->layer;
    th_input_shape rows = th_layer_input_shape(s, 0), second = th_layer_input_shape(s, 1);
    int64_t k = l->is_transposed ? (int64_t)l->groups * second.h : second.c;
    set_extents(l, (extents){.k = bounded(k), .c = rows.c, .h = rows.h, .w = 1, .r = 1, .s = 1});
}

/* rows, inner and columns are those of one head. */
static int infer_product(const th_layer_source *s)
{
    static const char *const of_weights[] = {"bias", "weight_precision", "weight_density",
                                             "sparsity", "weights_of"};
    th_layer *l = s->layer;
    for (size_t i = 0; i < sizeof of_weights / sizeof of_weights[0]; i++)
        if (th_layer_refuse_key(s, of_weights[i], "a matmul of two inputs has no weights") < 0)
            return -1;
    if (th_layer_read_extent(s, "heads", false, &l->groups) < 0 ||
        th_layer_read_bool(s, "transposed", &l->is_transposed) < 0)
        return -1;
    multiply_inputs(s);
    if (th_layer_check_stated(s, "rows", l->dim[TH_DIM_H]) < 0 ||
        th_layer_check_stated(s, "inner", l->dim[TH_DIM_C] / l->groups) < 0)
        return -1;
    return th_layer_check_stated(s, "columns", l->dim[TH_DIM_K] / l->groups);
}

static int infer_matmul(const th_layer_source *s, const th_layer_type *t)
{
    (void)t;
    if (s->layer->n_inputs == 1)
        return infer_weighted(s);
    return check_sequence(s, "inner x rows") < 0 ? -1 : infer_product(s);
}

static int infer_recurrent(const th_layer_source *s, const th_layer_type *t)
{
    (void)t;
    th_input_shape in = th_layer_input_shape(s, 0);
    set_extents(s->layer, (extents){.c = in.c, .h = in.h, .w = 1, .r = 1, .s = 1});
    s->layer->has_bias = true;
    if (check_sequence(s, "channels x steps") < 0 ||
        th_layer_read_extent(s, "outputs", true, &s->layer->dim[TH_DIM_K]) < 0)
        return -1;
    return th_layer_read_bool(s, "bias", &s->layer->has_bias);
}

static int infer_embedding(const th_layer_source *s, const th_layer_type *t)
{
    (void)t;
    th_input_shape in = th_layer_input_shape(s, 0);
    set_extents(s->layer, (extents){.c = in.c, .h = in.h, .w = 1, .r = 1, .s = 1});
    if (check_sequence(s, "1 x rows") < 0 ||
        th_layer_read_extent(s, "outputs", true, &s->layer->dim[TH_DIM_K]) < 0)
        return -1;
    return th_layer_read_extent(s, "vocabulary", true, &s->layer->vocabulary);
}

/* ---- pixel by pixel ---- */

static int infer_same_shape(const th_layer_source *s, const th_layer_type *t)
{
    (void)t;
    th_input_shape in = th_layer_input_shape(s, 0);
    set_extents(s->layer, (extents){.k = in.c, .c = in.c, .h = in.h, .w = in.w, .r = 1, .s = 1});
    return 0;
}

/* The extents of all inputs. */
static int take_input_shapes(const th_layer_source *s)
{
    th_layer *l = s->layer;
    l->input_shapes = th_alloc_array((size_t)l->n_inputs, 3 * sizeof *l->input_shapes);
    if (!l->input_shapes)
        return th_error_no_memory(s->err);
    for (int i = 0; i < l->n_inputs; i++) {
        th_input_shape in = th_layer_input_shape(s, i);
        memcpy(l->input_shapes + (ptrdiff_t)3 * i, (int32_t[]){in.c, in.h, in.w}, 3 * sizeof in.c);
    }
    return 0;
}

/* Inputs with extents of their own; the output's are those of the first unless the layer says
 * others. */
static int infer_shaped(const th_layer_source *s, const th_layer_type *t)
{
    th_layer *l = s->layer;
    th_input_shape in = th_layer_input_shape(s, 0);
    infer_same_shape(s, t);
    if (t->function == TH_FUNCTION_COPY || t->function == TH_FUNCTION_REDUCE ||
        t->function == TH_FUNCTION_ROTARY) {
        if (th_layer_read_extent(s, "outputs", false, &l->dim[TH_DIM_K]) < 0 ||
            th_layer_read_extent(s, "height", false, &l->dim[TH_DIM_H]) < 0 ||
            th_layer_read_extent(s, "width", false, &l->dim[TH_DIM_W]) < 0)
            return -1;
    }
    bool same_shape =
        l->dim[TH_DIM_K] == in.c && l->dim[TH_DIM_H] == in.h && l->dim[TH_DIM_W] == in.w;
    if (l->n_inputs == 1 && same_shape)
        return 0;
    return take_input_shapes(s);
}

/* Heads, and what a causal mask hides. */
static int read_masked_heads(const th_layer_source *s)
{
    th_layer *l = s->layer;
    return th_layer_read_extent(s, "heads", false, &l->groups) < 0 ||
                   th_layer_read_extent(s, "causal_rows", false, &l->causal_rows) < 0 ||
                   th_layer_read_extent(s, "window", false, &l->window) < 0
               ? -1
               : 0;
}

static int infer_softmax(const th_layer_source *s, const th_layer_type *t)
{
    infer_same_shape(s, t);
    return read_masked_heads(s);
}

static int infer_concat(const th_layer_source *s, const th_layer_type *t)
{
    (void)t;
    th_layer *l = s->layer;
    th_input_shape in = th_layer_input_shape(s, 0);
    int64_t sum = 0;
    l->input_channels = th_alloc_array((size_t)l->n_inputs, sizeof *l->input_channels);
    if (!l->input_channels)
        return th_error_no_memory(s->err);
    for (int i = 0; i < l->n_inputs; i++)
        sum += l->input_channels[i] = th_layer_input_shape(s, i).c;
    set_extents(
        l, (extents){.k = bounded(sum), .c = bounded(sum), .h = in.h, .w = in.w, .r = 1, .s = 1});
    return 0;
}

static int infer_slice(const th_layer_source *s, const th_layer_type *t)
{
    (void)t;
    th_input_shape in = th_layer_input_shape(s, 0);
    int64_t first = 0;
    set_extents(s->layer, (extents){.c = in.c, .h = in.h, .w = in.w, .r = 1, .s = 1});
    if (th_config_int(s->n, "first", false, (th_int_range){0, TH_LARGEST_EXTENT}, &first, s->err) <
            0 ||
        th_layer_read_extent(s, "channels", true, &s->layer->dim[TH_DIM_K]) < 0)
        return -1;
    s->layer->first_channel = (int32_t)first;
    if (first + s->layer->dim[TH_DIM_K] <= in.c)
        return 0;
    return th_workload_layer_error(s->w, s->layer, s->err, "WORK-0042",
                                   "takes channels %d to %d, but its input has %d", (int)first,
                                   (int)(first + s->layer->dim[TH_DIM_K] - 1), (int)in.c);
}

/* ---- attention ---- */

enum { PART_QUERIES, PART_KEYS, PART_VALUES, PART_SCORES, PART_SOFTMAX, PART_CONTEXT };
enum { N_SLICES = 3 };

bool th_attention_is_packed(const th_config_node *n)
{
    const th_config_node *inputs = th_config_member(n, "inputs");
    return !inputs || th_config_kind_of(inputs) != TH_CONFIG_LIST || th_config_count(inputs) == 1;
}

/* Queries, keys or values out of an input that holds all three. */
static int infer_third(const th_layer_source *s, const th_layer_type *t)
{
    th_input_shape in = th_layer_input_shape(s, 0);
    int32_t channels = in.c / 3;
    if (in.c % 3 != 0)
        return th_workload_layer_error(
            s->w, s->layer, s->err, "WORK-0043",
            "%d channels are not queries, keys and values of equal size; give three inputs",
            (int)in.c);
    set_extents(s->layer,
                (extents){.k = channels, .c = in.c, .h = in.h, .w = in.w, .r = 1, .s = 1});
    s->layer->first_channel = t->part * channels;
    return th_layer_check_stated(s, "in_channels", in.c);
}

static int infer_attention_product(const th_layer_source *s, const th_layer_type *t)
{
    s->layer->is_transposed = t->part == PART_SCORES; /* they read the keys by columns */
    if (check_sequence(s, "channels x rows") < 0 ||
        th_layer_read_extent(s, "heads", true, &s->layer->groups) < 0)
        return -1;
    multiply_inputs(s);
    if (t->part != PART_SCORES || th_attention_is_packed(s->n))
        return 0;
    return th_layer_check_stated(s, "in_channels", s->layer->dim[TH_DIM_C]);
}

/* Queries, keys, values, masks. Fewer channels of keys and values mean that heads share them. */
static int infer_fused_attention(const th_layer_source *s, const th_layer_type *t)
{
    th_layer *l = s->layer;
    (void)t;
    th_input_shape q = th_layer_input_shape(s, 0), k = th_layer_input_shape(s, 1),
                   v = th_layer_input_shape(s, 2);
    if (check_sequence(s, "channels x rows") < 0 || read_masked_heads(s) < 0)
        return -1;
    int32_t width = q.c / l->groups, key_heads = width > 0 ? k.c / width : 0;
    if (key_heads < 1 || l->groups % key_heads != 0 || k.c % width != 0 || v.c % key_heads != 0)
        return th_workload_layer_error(s->w, l, s->err, "WORK-0151",
                                       "%d heads, and %d, %d and %d channels of queries, keys and "
                                       "values: must be heads of one "
                                       "width, shared evenly",
                                       (int)l->groups, (int)q.c, (int)k.c, (int)v.c);
    int64_t outputs = (int64_t)v.c / key_heads * l->groups;
    set_extents(l, (extents){.k = bounded(outputs), .c = q.c, .h = q.h, .w = 1, .r = k.h, .s = 1});
    return take_input_shapes(s);
}

/* ---- the types ---- */

#define COMMON_KEYS                                                                                \
    "name", "type", "inputs", "in_channels", "in_height", "in_width", "outputs", "height",         \
        "width", "precision", "output_precision", "output_density"
#define WEIGHT_KEYS "weight_precision", "weight_density", "sparsity", "weights_of"

static const char *const conv_keys[] = {COMMON_KEYS, WEIGHT_KEYS,  "kernel",         "stride",
                                        "padding",   "dilation",   "groups",         "bias",
                                        "norm",      "transposed", "output_padding", NULL};
static const char *const dense_keys[] = {COMMON_KEYS, WEIGHT_KEYS, "bias", NULL};
static const char *const matmul_keys[] = {
    COMMON_KEYS, WEIGHT_KEYS, "rows", "inner", "columns", "bias", "heads", "transposed", NULL};
static const char *const pool_keys[] = {COMMON_KEYS, "kernel", "stride", "padding", NULL};
static const char *const common_keys[] = {COMMON_KEYS, NULL};
static const char *const softmax_keys[] = {COMMON_KEYS, "heads", "causal_rows", "window", NULL};
static const char *const slice_keys[] = {COMMON_KEYS, "first", "channels", NULL};
static const char *const embedding_keys[] = {COMMON_KEYS, "vocabulary", "weight_precision",
                                             "weights_of", NULL};

#define ELEMENTWISE(word, f)                                                                       \
    {                                                                                              \
        word, common_keys, infer_same_shape, .kind = TH_LAYER_ELEMENTWISE, .function = f           \
    }
#define SHAPED(word, f)                                                                            \
    {                                                                                              \
        word, common_keys, infer_shaped, .kind = TH_LAYER_ELEMENTWISE, .function = f               \
    }
#define NORM(word, f)                                                                              \
    {                                                                                              \
        word, common_keys, infer_same_shape, .kind = TH_LAYER_NORM, .function = f                  \
    }

/* Attention has no infer: it stands for its parts. */
static const th_layer_type layer_types[] = {
    {"conv", conv_keys, infer_conv, .kind = TH_LAYER_CONV},
    {"fc", dense_keys, infer_fc, .kind = TH_LAYER_FC},
    {"matmul", matmul_keys, infer_matmul, .kind = TH_LAYER_MATMUL},
    {"attention", softmax_keys, NULL, .kind = TH_LAYER_MATMUL},
    {"fused_attention", softmax_keys, infer_fused_attention, .kind = TH_LAYER_ATTENTION},
    {"lstm", dense_keys, infer_recurrent, .kind = TH_LAYER_LSTM},
    {"gru", dense_keys, infer_recurrent, .kind = TH_LAYER_GRU},
    {"rnn", dense_keys, infer_recurrent, .kind = TH_LAYER_RNN},
    {"embedding", embedding_keys, infer_embedding, .kind = TH_LAYER_EMBEDDING},
    {"max_pool", pool_keys, infer_pool, .kind = TH_LAYER_POOL},
    {"mean_pool", pool_keys, infer_pool, .kind = TH_LAYER_POOL, .is_mean = true},
    ELEMENTWISE("add", TH_FUNCTION_ADD),
    ELEMENTWISE("mul", TH_FUNCTION_MUL),
    ELEMENTWISE("relu", TH_FUNCTION_RELU),
    ELEMENTWISE("sigmoid", TH_FUNCTION_SIGMOID),
    ELEMENTWISE("tanh", TH_FUNCTION_TANH),
    ELEMENTWISE("gelu", TH_FUNCTION_GELU),
    ELEMENTWISE("silu", TH_FUNCTION_SILU),
    SHAPED("scale", TH_FUNCTION_SCALE),
    SHAPED("shift", TH_FUNCTION_SHIFT),
    ELEMENTWISE("power", TH_FUNCTION_POWER),
    SHAPED("copy", TH_FUNCTION_COPY),
    SHAPED("reduce", TH_FUNCTION_REDUCE),
    ELEMENTWISE("dropout", TH_FUNCTION_DROPOUT),
    SHAPED("rotary", TH_FUNCTION_ROTARY),
    ELEMENTWISE("gate", TH_FUNCTION_GATE),
    NORM("norm", TH_FUNCTION_BATCH_NORM),
    NORM("layer_norm", TH_FUNCTION_LAYER_NORM),
    NORM("rms_norm", TH_FUNCTION_RMS_NORM),
    {"softmax", softmax_keys, infer_softmax, .kind = TH_LAYER_SOFTMAX},
    {"concat", common_keys, infer_concat, .kind = TH_LAYER_CONCAT, .keeps_precision = true},
    {"slice", slice_keys, infer_slice, .kind = TH_LAYER_SLICE, .keeps_precision = true},
    {"split", slice_keys, infer_slice, .kind = TH_LAYER_SLICE, .keeps_precision = true},
};
enum { N_LAYER_TYPES = sizeof layer_types / sizeof layer_types[0] };

static const th_layer_type attention_parts[] = {
    [PART_QUERIES] = {"q", softmax_keys, infer_third, .kind = TH_LAYER_SLICE, .part = PART_QUERIES,
                      .keeps_precision = true, .is_inner = true},
    [PART_KEYS] = {"k", softmax_keys, infer_third, .kind = TH_LAYER_SLICE, .part = PART_KEYS,
                   .keeps_precision = true, .is_inner = true},
    [PART_VALUES] = {"v", softmax_keys, infer_third, .kind = TH_LAYER_SLICE, .part = PART_VALUES,
                     .keeps_precision = true, .is_inner = true},
    [PART_SCORES] = {"scores", softmax_keys, infer_attention_product, .kind = TH_LAYER_MATMUL,
                     .part = PART_SCORES, .keeps_precision = true, .is_inner = true},
    [PART_SOFTMAX] = {"softmax", softmax_keys, infer_softmax, .kind = TH_LAYER_SOFTMAX,
                      .part = PART_SOFTMAX, .keeps_precision = true, .is_inner = true},
    [PART_CONTEXT] = {"context", softmax_keys, infer_attention_product, .kind = TH_LAYER_MATMUL,
                      .part = PART_CONTEXT, .keeps_precision = true},
    {NULL, NULL, NULL, .kind = TH_LAYER_SLICE},
};

const th_layer_type *th_attention_parts(const th_layer_type *t, bool packed)
{
    if (t->infer)
        return NULL;
    return attention_parts + (packed ? 0 : N_SLICES);
}

int th_attention_inputs(const th_layer_type *part, bool packed, const int32_t given[3],
                        int32_t first, int32_t out[2])
{
    int32_t slices[N_SLICES] = {first, first + 1, first + 2};
    const int32_t *qkv = packed ? slices : given;
    int32_t scores = packed ? first + N_SLICES : first;
    switch (part->part) {
    case PART_SCORES:
        out[0] = qkv[PART_QUERIES];
        out[1] = qkv[PART_KEYS];
        return 2;
    case PART_SOFTMAX:
        out[0] = scores;
        return 1;
    case PART_CONTEXT:
        out[0] = scores + 1;
        out[1] = qkv[PART_VALUES];
        return 2;
    default: /* a slice */
        out[0] = given[0];
        return 1;
    }
}

static int report_unknown_type(const th_config_node *n, const char *name, th_error *err)
{
    const char *names[N_LAYER_TYPES];
    char near[TH_ERROR_TEXT_MAX], all[TH_ERROR_TEXT_MAX];
    size_t used = 0;
    for (int i = 0; i < N_LAYER_TYPES; i++) {
        names[i] = layer_types[i].name;
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", names[i]);
    }
    th_read_hint(th_name_nearest(name, names, N_LAYER_TYPES), near, sizeof near);
    return th_error_set(err, "WORK-0024",
                        "%s:%d: unknown type \"%s\" of layer%s: must be one of %s",
                        th_config_file(n), th_config_line(n), name, near, all);
}

const th_layer_type *th_layer_type_of(const th_config_node *n, th_error *err)
{
    const char *name;
    if (th_config_string(n, "type", true, &name, err) < 0)
        return NULL;
    for (int i = 0; i < N_LAYER_TYPES; i++)
        if (strcmp(layer_types[i].name, name) == 0)
            return th_config_check_keys(n, layer_types[i].keys, err) < 0 ? NULL : &layer_types[i];
    report_unknown_type(n, name, err);
    return NULL;
}

/* ---- what every type has ---- */

/* The channels that an attention reads are those of its first parts, not of its last. */
static int check_all_stated(const th_layer_source *s, const th_layer_type *t)
{
    const int32_t *d = s->layer->dim;
    if ((t->part != PART_CONTEXT && th_layer_check_stated(s, "in_channels", d[TH_DIM_C]) < 0) ||
        th_layer_check_stated(s, "outputs", d[TH_DIM_K]) < 0 ||
        th_layer_check_stated(s, "in_height", s->layer->in_h) < 0 ||
        th_layer_check_stated(s, "in_width", s->layer->in_w) < 0 ||
        th_layer_check_stated(s, "height", d[TH_DIM_H]) < 0)
        return -1;
    return th_layer_check_stated(s, "width", d[TH_DIM_W]);
}

int th_layer_type_infer(const th_layer_source *s, const th_layer_type *t)
{
    if (th_layer_take_inputs(s) < 0 || t->infer(s, t) < 0 ||
        th_layer_read_tensors(s, t->keeps_precision, t->is_inner) < 0)
        return -1;
    return t->is_inner ? 0 : check_all_stated(s, t);
}
