/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_check.c - checks that a graph of layers can be computed.
 *   check_names -> check_inputs (sort) -> check_shapes -> check_totals (finish)
 * Shapes are compared, never inferred: a reader infers them before (workload_read.c). After the
 * checks, every extent, and every product of extents that other code computes, fits into 53 bits,
 * so that sizes in bytes fit into int64 and are exact as doubles. */
#include <config.h>
#include "workloads/workload_check.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double largest_product = 9007199254740992.0; /* 2^53 */
enum {
    LARGEST_SPARSE_BLOCK = 256 /* no hardware known skips zeros in blocks above 32 */
};

int th_workload_layer_error(const th_workload *w, const th_layer *l, th_error *err, const char *id,
                            const char *format, ...)
{
    char text[TH_ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (w->file && l->line > 0)
        return th_error_set(err, id, "%s:%d: layer \"%s\": %s", w->file, l->line, l->name, text);
    return th_error_set(err, id, "%s: layer \"%s\": %s", w->name, l->name, text);
}

static bool is_extent(int32_t n)
{
    return n >= 1 && n <= TH_LARGEST_EXTENT;
}

/* ---- names ---- */

/* Names become object names in Tcl lists and glob patterns: no blanks, quotes, brackets, wildcards.
 */
static bool is_good_in_name(char c)
{
    return c > ' ' && c <= '~' && !strchr("\"\\[]{}*?$;", c);
}

static bool is_good_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!is_good_in_name(*c))
            return false;
    return name[0] != '\0';
}

void th_workload_make_name(const th_workload *w, char *name, int number, size_t size)
{
    for (char *c = name; *c; c++)
        *c = is_good_in_name(*c) ? *c : '_';
    size_t n = strlen(name);
    if (strcmp(name, "input") == 0 || (w && th_workload_find(w, name) >= 0))
        snprintf(name + n, size - n, ".%d", number);
}

static int check_name(const th_workload *w, int layer, th_map *seen, th_error *err)
{
    const th_layer *l = &w->layers[layer];
    int64_t first;
    if (!is_good_name(l->name) || strlen(l->name) > TH_NAME_BYTES_MAX)
        return th_workload_layer_error(
            w, l, err, "WORK-0002",
            "a layer's name must be printable, at most %d bytes, without blanks or any of "
            "\" \\ [ ] { } * ? $ ;",
            (int)TH_NAME_BYTES_MAX);
    if (th_map_get(seen, l->name, strlen(l->name), &first))
        return th_workload_layer_error(
            w, l, err, "WORK-0003",
            "the name is taken by the layer of line %d; names must be unique",
            w->layers[first].line);
    if (th_map_put(seen, l->name, strlen(l->name), layer) < 0)
        return th_error_no_memory(err);
    return 0;
}

int th_workload_check_names(const th_workload *w, th_error *err)
{
    if (w->n_layers == 0)
        return th_error_set(err, "WORK-0005", "%s: no layers: must have at least one",
                            w->file ? w->file : w->name);
    th_map *seen = th_map_new();
    if (!seen)
        return th_error_no_memory(err);
    int status = 0;
    for (int l = 0; l < w->n_layers && status == 0; l++)
        status = check_name(w, l, seen, err);
    th_map_free(seen);
    return status;
}

/* ---- inputs ---- */

/* How many inputs the kind takes, in words and by a check of n. */
static bool is_number_of_inputs(const th_layer *l, int32_t n, const char **expected)
{
    if (l->kind == TH_LAYER_ATTENTION) {
        *expected = "queries, keys and values, then masks: three or more";
        return n >= 3;
    }
    bool joins = l->kind == TH_LAYER_CONCAT || l->function == TH_FUNCTION_ADD ||
                 l->function == TH_FUNCTION_MUL;
    bool gathers = l->kind == TH_LAYER_ELEMENTWISE &&
                   (l->function == TH_FUNCTION_COPY || l->function == TH_FUNCTION_ROTARY);
    if (l->function == TH_FUNCTION_GATE) {
        *expected = "two";
        return n == 2;
    }
    bool may_be_two = l->kind == TH_LAYER_MATMUL ||
                      (l->kind == TH_LAYER_ELEMENTWISE &&
                       (l->function == TH_FUNCTION_SCALE || l->function == TH_FUNCTION_SHIFT));
    *expected = gathers ? "one or more" : joins ? "two or more" : may_be_two ? "one or two" : "one";
    return gathers ? n >= 1 : joins ? n >= 2 : n == 1 || (may_be_two && n == 2);
}

static int check_inputs_of(const th_workload *w, const th_layer *l, th_error *err)
{
    const char *expected;
    bool may_read_several = w->has_free_shapes && th_layer_has_macs(l) && l->n_inputs > 1;
    if (!may_read_several && !is_number_of_inputs(l, l->n_inputs, &expected))
        return th_workload_layer_error(w, l, err, "WORK-0006",
                                       "%d inputs: a layer of kind %s takes %s", (int)l->n_inputs,
                                       th_layer_type_name(l), expected);
    for (int i = 0; i < l->n_inputs; i++)
        if (l->inputs[i] < TH_EXTERNAL_INPUT || l->inputs[i] >= w->n_layers)
            return th_workload_layer_error(
                w, l, err, "WORK-0007", "input %d is layer %d, which does not exist (there are %d)",
                i, (int)l->inputs[i], w->n_layers);
    return 0;
}

int th_workload_check_inputs(const th_workload *w, th_error *err)
{
    for (int l = 0; l < w->n_layers; l++)
        if (check_inputs_of(w, &w->layers[l], err) < 0)
            return -1;
    return 0;
}

/* ---- shapes ---- */

static int check_extents(const th_workload *w, const th_layer *l, th_error *err)
{
    for (int d = 0; d < TH_N_DIMS; d++)
        if (!is_extent(l->dim[d]))
            return th_workload_layer_error(w, l, err, "WORK-0008", "%c = %d: must be from 1 to %d",
                                           th_dim_letters[d], (int)l->dim[d], TH_LARGEST_EXTENT);
    if (!is_extent(l->in_h) || !is_extent(l->in_w))
        return th_workload_layer_error(w, l, err, "WORK-0009",
                                       "input of %d x %d: must be from 1 to %d", (int)l->in_h,
                                       (int)l->in_w, TH_LARGEST_EXTENT);
    if (!is_extent(l->stride_h) || !is_extent(l->stride_w) || !is_extent(l->dilation_h) ||
        !is_extent(l->dilation_w) || l->pad_top < 0 || l->pad_left < 0)
        return th_workload_layer_error(
            w, l, err, "WORK-0010",
            "stride %d x %d, dilation %d x %d, padding %d x %d: stride and "
            "dilation must be at least 1, padding at least 0",
            (int)l->stride_h, (int)l->stride_w, (int)l->dilation_h, (int)l->dilation_w,
            (int)l->pad_top, (int)l->pad_left);
    if (!is_extent(l->up_h) || !is_extent(l->up_w))
        return th_workload_layer_error(w, l, err, "WORK-0030",
                                       "up-sampling of %d x %d: must be from 1 to %d", (int)l->up_h,
                                       (int)l->up_w, TH_LARGEST_EXTENT);
    return 0;
}

/* The largest of the products that th_layer_macs, th_layer_weights and their like form. */
static double largest_of(const th_layer *l)
{
    const int32_t *d = l->dim;
    double steps = 1;
    if (l->kind == TH_LAYER_ATTENTION)
        return (double)d[TH_DIM_B] * d[TH_DIM_H] * d[TH_DIM_R] *
               ((double)d[TH_DIM_C] + d[TH_DIM_K]);
    for (int i = 0; i < TH_N_DIMS; i++)
        steps *= d[i];
    if (th_layer_gates(l->kind) > 0)
        return (double)th_layer_gates(l->kind) * d[TH_DIM_B] * d[TH_DIM_H] * d[TH_DIM_K] *
               ((double)d[TH_DIM_C] + d[TH_DIM_K]);
    if (l->up_h > 1 || l->up_w > 1) /* padding may crop rows that multiply all the same */
        steps *= ceil((double)l->in_h / d[TH_DIM_H]) * ceil((double)l->in_w / d[TH_DIM_W]);
    return steps;
}

static int check_size(const th_workload *w, const th_layer *l, th_error *err)
{
    double input = (double)l->dim[TH_DIM_B] * l->dim[TH_DIM_C] * l->in_h * l->in_w;
    double loops = largest_of(l);
    if (loops <= largest_product && input <= largest_product)
        return 0;
    return th_workload_layer_error(
        w, l, err, "WORK-0011",
        "%.3g loop steps over %.3g inputs: at most 2^53 of each are supported", loops, input);
}

static int check_groups(const th_workload *w, const th_layer *l, th_error *err)
{
    bool divides =
        l->groups >= 1 && l->dim[TH_DIM_K] % l->groups == 0 && l->dim[TH_DIM_C] % l->groups == 0;
    bool has_heads =
        l->kind == TH_LAYER_SOFTMAX || l->kind == TH_LAYER_MATMUL || l->kind == TH_LAYER_ATTENTION;
    if (divides && (l->groups == 1 || has_heads || l->kind == TH_LAYER_CONV))
        return 0;
    return th_workload_layer_error(
        w, l, err, "WORK-0012",
        "%d %s do not divide %d input and %d output channels of a layer of "
        "kind %s",
        (int)l->groups, has_heads ? "heads" : "groups", (int)l->dim[TH_DIM_C],
        (int)l->dim[TH_DIM_K], th_layer_type_name(l));
}

/* Does the function belong to the kind? */
static bool has_function_of_kind(const th_layer *l)
{
    switch (l->kind) {
    case TH_LAYER_ELEMENTWISE:
        return l->function >= TH_FUNCTION_ADD && l->function <= TH_FUNCTION_GATE;
    case TH_LAYER_NORM:
        return l->function >= TH_FUNCTION_BATCH_NORM && l->function <= TH_FUNCTION_RMS_NORM;
    case TH_LAYER_CONV:
    case TH_LAYER_FC:
    case TH_LAYER_MATMUL:
    case TH_LAYER_LSTM:
    case TH_LAYER_GRU:
    case TH_LAYER_RNN:
    case TH_LAYER_EMBEDDING:
    case TH_LAYER_POOL:
    case TH_LAYER_SOFTMAX:
    case TH_LAYER_CONCAT:
    case TH_LAYER_SLICE:
    case TH_LAYER_ATTENTION:
        break;
    }
    return l->function == TH_FUNCTION_NONE;
}

static bool has_good_shapes(const th_layer *l)
{
    for (int i = 0; l->input_shapes && i < 3 * l->n_inputs; i++)
        if (!is_extent(l->input_shapes[i]))
            return false;
    return true;
}

static bool concat_adds_up(const th_layer *l)
{
    int64_t sum = 0;
    for (int i = 0; l->input_channels && i < l->n_inputs; i++) {
        if (!is_extent(l->input_channels[i]))
            return false;
        sum += l->input_channels[i];
    }
    return sum == l->dim[TH_DIM_K];
}

/* What every kind says that reads pixel by pixel; NULL: fine, else what was expected. */
static const char *broken_pixel_rule(const th_layer *l)
{
    const int32_t *d = l->dim;
    bool point_kernel = d[TH_DIM_R] == 1 && d[TH_DIM_S] == 1;
    bool keeps_shape = d[TH_DIM_H] == l->in_h && d[TH_DIM_W] == l->in_w;
    bool is_matrix = (l->kind == TH_LAYER_MATMUL && l->n_inputs == 2) ||
                     l->kind == TH_LAYER_EMBEDDING || th_layer_gates(l->kind) > 0;
    if (l->kind == TH_LAYER_CONV || l->kind == TH_LAYER_FC || l->kind == TH_LAYER_POOL)
        return NULL;
    if (l->kind == TH_LAYER_ATTENTION) /* whose R is the keys' rows */
        return d[TH_DIM_W] == 1 && d[TH_DIM_S] == 1 && keeps_shape ? NULL : "has W = S = 1";
    if (l->input_shapes)
        return point_kernel ? NULL : "has R = S = 1";
    if (is_matrix && !(point_kernel && keeps_shape && d[TH_DIM_W] == 1))
        return "has W = R = S = 1 and as many input as output rows";
    if (!(point_kernel && keeps_shape))
        return "has R = S = 1 and an output of the size of its input";
    if (l->stride_h != 1 || l->stride_w != 1 || l->pad_top != 0 || l->pad_left != 0)
        return "has a stride of 1 and no padding";
    return NULL;
}

/* What the kind says about channels; NULL: fine, else what was expected. */
static const char *broken_channel_rule(const th_layer *l)
{
    const int32_t *d = l->dim;
    bool keeps_channels = th_layer_is_channelwise(l) || l->kind == TH_LAYER_NORM ||
                          l->kind == TH_LAYER_SOFTMAX || l->kind == TH_LAYER_CONCAT;
    if (keeps_channels && d[TH_DIM_K] != d[TH_DIM_C])
        return "has as many output as input channels";
    if (l->kind == TH_LAYER_CONCAT && !concat_adds_up(l))
        return "has as many channels as its inputs together";
    if (l->kind == TH_LAYER_SLICE &&
        (l->first_channel < 0 || (int64_t)l->first_channel + d[TH_DIM_K] > d[TH_DIM_C]))
        return "takes channels that its input has";
    if (l->kind == TH_LAYER_EMBEDDING && (d[TH_DIM_C] != 1 || !is_extent(l->vocabulary)))
        return "reads one channel and has a vocabulary";
    return NULL;
}

/* What an attention says about its inputs; NULL: fine, else what was expected. */
/* The rows of a softmax may be heads, too. */
static bool has_good_mask(const th_layer *l)
{
    if (l->kind != TH_LAYER_ATTENTION && l->kind != TH_LAYER_SOFTMAX)
        return l->causal_rows == 0 && l->window == 0;
    if (l->causal_rows <= 0)
        return l->causal_rows == 0 && l->window == 0;
    bool is_of_tokens = l->kind != TH_LAYER_ATTENTION || (l->dim[TH_DIM_H] % l->causal_rows == 0 &&
                                                          l->causal_rows <= l->dim[TH_DIM_R]);
    return l->window >= 0 && is_of_tokens;
}

static const char *broken_attention_rule(const th_layer *l)
{
    const int32_t *q = l->input_shapes, *k = q ? q + 3 : NULL, *v = q ? q + 6 : NULL;
    const int32_t *d = l->dim;
    if (!q || !has_good_shapes(l))
        return "has extents of its queries, keys and values";
    if (q[0] != d[TH_DIM_C] || q[1] != d[TH_DIM_H])
        return "has queries of C channels in H rows";
    if (k[1] != d[TH_DIM_R] || v[1] != d[TH_DIM_R])
        return "has as many keys as values";
    if (q[2] != 1 || k[2] != 1 || v[2] != 1)
        return "has queries, keys and values of width 1";
    int32_t width = d[TH_DIM_C] / l->groups, out = d[TH_DIM_K] / l->groups;
    int32_t key_heads = k[0] % width == 0 ? k[0] / width : 0;
    if (key_heads < 1 || l->groups % key_heads != 0 || v[0] % key_heads != 0 ||
        v[0] / key_heads != out)
        return "has keys and values of the width of its heads, and of as many heads as divide them";
    if ((int64_t)l->groups * d[TH_DIM_R] > TH_LARGEST_EXTENT)
        return "has at most 2^28 scores for each query";
    return NULL;
}

/* What the kind says about the extents; NULL: fine, else what was expected. */
static const char *broken_rule(const th_layer *l)
{
    const int32_t *d = l->dim;
    bool whole_input = d[TH_DIM_R] == l->in_h && d[TH_DIM_S] == l->in_w;
    bool is_stuffed = l->up_h > 1 || l->up_w > 1;
    const char *rule = broken_channel_rule(l);
    if (!rule)
        rule = broken_pixel_rule(l);
    if (rule)
        return rule;
    if (l->kind == TH_LAYER_FC && !(d[TH_DIM_H] == 1 && d[TH_DIM_W] == 1 && whole_input))
        return "has one output pixel and a kernel that covers the input";
    if (is_stuffed && (l->kind != TH_LAYER_CONV || l->stride_h != 1 || l->stride_w != 1))
        return "has no zeros in its input; a conv that has them has a stride of 1";
    if (!has_good_mask(l))
        return "has a window of causal rows only, and as many of these as divide its rows and as "
               "it has keys at most";
    if (l->kind == TH_LAYER_ATTENTION)
        rule = broken_attention_rule(l);
    else if (l->input_shapes && l->kind != TH_LAYER_ELEMENTWISE)
        rule = "has no inputs of other extents; elementwise layers may";
    if (rule)
        return rule;
    if (!has_good_shapes(l))
        return "has inputs with extents of at least 1";
    if (!has_function_of_kind(l))
        return "has a function of its kind";
    if (l->has_norm && l->kind != TH_LAYER_CONV)
        return "has no norm of its own";
    if (l->has_bias && !(th_layer_has_macs(l) && th_layer_has_weights(l)))
        return "has no bias";
    return NULL;
}

/* ---- precision and zeros ---- */

static int check_densities(const th_workload *w, const th_layer *l, th_error *err)
{
    static const char *const tensors[TH_N_TENSORS] = {"input", "weight", "output"};
    for (int t = 0; t < TH_N_TENSORS; t++)
        if (!(l->density[t] > 0 && l->density[t] <= 1))
            return th_workload_layer_error(w, l, err, "WORK-0031",
                                           "%s density %g: must be above 0 and at most 1",
                                           tensors[t], l->density[t]);
    return 0;
}

static int check_sparsity(const th_workload *w, const th_layer *l, th_error *err)
{
    if (l->sparse_n == 0 && l->sparse_m == 0)
        return 0;
    if (!th_layer_has_weights(l) || !th_layer_has_macs(l) || l->density[TH_TENSOR_WEIGHT] < 1)
        return th_workload_layer_error(
            w, l, err, "WORK-0032",
            "sparsity %d of %d: must be of a layer that multiplies with weights and says no other "
            "weight density",
            (int)l->sparse_n, (int)l->sparse_m);
    if (l->sparse_n >= 1 && l->sparse_n <= l->sparse_m && l->sparse_m <= LARGEST_SPARSE_BLOCK)
        return 0;
    return th_workload_layer_error(
        w, l, err, "WORK-0033",
        "sparsity %d of %d: must be n of m weights that are not zero, 1 <= n <= m <= %d",
        (int)l->sparse_n, (int)l->sparse_m, LARGEST_SPARSE_BLOCK);
}

static int check_precisions(const th_workload *w, const th_layer *l, th_error *err)
{
    for (int t = 0; t < TH_N_TENSORS; t++)
        if ((int)l->precision[t] < 0 || l->precision[t] >= TH_N_PRECISIONS)
            return th_workload_layer_error(w, l, err, "WORK-0034",
                                           "precision %d: there are %d of them",
                                           (int)l->precision[t], TH_N_PRECISIONS);
    if (!th_layer_multiplies_activations(l) ||
        l->precision[TH_TENSOR_WEIGHT] == l->precision[TH_TENSOR_INPUT])
        return 0;
    return th_workload_layer_error(w, l, err, "WORK-0035",
                                   "multiplies %s with %s: its inputs must have one precision",
                                   th_precision_name(l->precision[TH_TENSOR_INPUT]),
                                   th_precision_name(l->precision[TH_TENSOR_WEIGHT]));
}

static int check_tensors(const th_workload *w, const th_layer *l, th_error *err)
{
    if (check_densities(w, l, err) < 0 || check_sparsity(w, l, err) < 0)
        return -1;
    return check_precisions(w, l, err);
}

/* ---- layers and edges ---- */

static int check_layer(const th_workload *w, const th_layer *l, th_error *err)
{
    if (check_extents(w, l, err) < 0 || check_size(w, l, err) < 0 || check_groups(w, l, err) < 0)
        return -1;
    const char *rule = broken_rule(l);
    if (rule)
        return th_workload_layer_error(w, l, err, "WORK-0013", "a layer of kind %s %s",
                                       th_layer_type_name(l), rule);
    if (check_tensors(w, l, err) < 0)
        return -1;
    if (l->dim[TH_DIM_B] != w->batch)
        return th_workload_layer_error(w, l, err, "WORK-0014", "batch %d: the workload has %d",
                                       (int)l->dim[TH_DIM_B], (int)w->batch);
    return 0;
}

/* Does what makes an input of l fit what l reads? */
static int check_edge(const th_workload *w, const th_layer *l, int input, th_error *err)
{
    int p = l->inputs[input];
    const th_layer *from = p == TH_EXTERNAL_INPUT ? NULL : &w->layers[p];
    const char *maker = from ? from->name : "input";
    th_model part = th_workload_part(w, th_workload_part_of(w, (int)(l - w->layers), 0));
    if (!from && part.has_own_inputs)
        return 0;
    bool is_stretched = w->has_free_shapes;
    int c = from ? from->dim[TH_DIM_K] : part.input_c;
    int height = from ? from->dim[TH_DIM_H] : part.input_h;
    int width = from ? from->dim[TH_DIM_W] : part.input_w;
    th_precision made = from ? from->precision[TH_TENSOR_OUTPUT] : part.precision;
    th_box read = th_layer_input_box(l, input);
    if (!is_stretched && (c != read.hi[1] || height != read.hi[2] || width != read.hi[3]))
        return th_workload_layer_error(
            w, l, err, "WORK-0015",
            "reads %d x %d x %d (channels x height x width), but \"%s\" makes "
            "%d x %d x %d",
            (int)read.hi[1], (int)read.hi[2], (int)read.hi[3], maker, c, height, width);
    if (made == l->precision[TH_TENSOR_INPUT])
        return 0;
    return th_workload_layer_error(w, l, err, "WORK-0036", "reads %s, but \"%s\" makes %s",
                                   th_precision_name(l->precision[TH_TENSOR_INPUT]), maker,
                                   th_precision_name(made));
}

/* The weights of two layers can be the same if they have one shape and one form in memory. */
static int check_tie(const th_workload *w, const th_layer *l, th_error *err)
{
    const th_layer *of = l->tied_to > 0 ? &w->layers[l->tied_to - 1] : l;
    const th_loop_box loops = th_layer_loops(l), loops_of = th_layer_loops(of);
    const th_box a = th_layer_weight_box(l, &loops), b = th_layer_weight_box(of, &loops_of);
    const int t = TH_TENSOR_WEIGHT;
    if (l->tied_to == 0 || (of->tied_to == 0 && !th_box_is_empty(&a) && th_box_equal(&a, &b) &&
                            l->precision[t] == of->precision[t] && l->sparse_n == of->sparse_n &&
                            l->sparse_m == of->sparse_m && l->density[t] == of->density[t]))
        return 0;
    return th_workload_layer_error(
        w, l, err, "WORK-0648",
        "weights_of \"%s\": must be a layer with %d x %d x %d x %d weights of its own, of the same "
        "precision, density and sparsity",
        of->name, (int)a.hi[0], (int)a.hi[1], (int)a.hi[2], (int)a.hi[3]);
}

int th_workload_check_shapes(const th_workload *w, th_error *err)
{
    for (int l = 0; l < w->n_layers; l++) {
        const th_layer *layer = &w->layers[l];
        if (check_layer(w, layer, err) < 0 || check_tie(w, layer, err) < 0)
            return -1;
        for (int i = 0; i < layer->n_inputs; i++)
            if (check_edge(w, layer, i, err) < 0)
                return -1;
    }
    return 0;
}

int th_workload_check_totals(const th_workload *w, th_error *err)
{
    double macs = 0, parameters = 0;
    for (int l = 0; l < w->n_layers; l++) {
        macs += (double)th_layer_macs(&w->layers[l]);
        parameters += (double)th_layer_parameters(&w->layers[l]);
    }
    if (macs <= largest_product && parameters <= largest_product)
        return 0;
    return th_error_set(
        err, "WORK-0016",
        "%s: %.3g multiply-accumulates and %.3g parameters: at most 2^53 are supported",
        w->file ? w->file : w->name, macs, parameters);
}
