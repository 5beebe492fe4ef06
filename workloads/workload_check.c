/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_check.c - is this graph of layers one that can be computed?
 *   check_input (new) ; check_names -> check_inputs (sort) -> check_shapes -> check_totals (finish)
 * Shapes are compared, never inferred: a reader infers them before (workload_read.c).
 * Every extent, and every product of extents that somebody may form, fits into 53 bits afterwards,
 * so that sizes in bytes fit into int64 and survive a double. */
#include <config.h>
#include "workloads/workload_check.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double largest_product = 9007199254740992.0;  /* 2^53 */
enum { LARGEST_EXTENT = 1 << 28 };

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
    return n >= 1 && n <= LARGEST_EXTENT;
}

int th_workload_check_input(const th_workload *w, th_error *err)
{
    if (is_extent(w->batch) && is_extent(w->input_c) && is_extent(w->input_h) &&
        is_extent(w->input_w))
        return 0;
    return th_error_set(
        err, "WORK-0001",
        "%s: batch %d, input %d x %d x %d: extents must be from 1 to %d",
        w->file ? w->file : w->name, (int)w->batch, (int)w->input_c, (int)w->input_h,
        (int)w->input_w, LARGEST_EXTENT);
}

/* ---- names ---- */

/* Names become object names in Tcl lists and glob patterns: no blanks, quotes, brackets, wildcards. */
static bool is_good_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if (*c <= ' ' || *c > '~' || strchr("\"\\[]{}*?$;", *c))
            return false;
    return name[0] != '\0';
}

static int check_name(const th_workload *w, int layer, th_map *seen, th_error *err)
{
    const th_layer *l = &w->layers[layer];
    int64_t first;
    if (!is_good_name(l->name))
        return th_workload_layer_error(w, l, err, "WORK-0002",
                                       "a layer's name must be printable, without blanks or any of "
                                       "\" \\ [ ] { } * ? $ ;");
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
        return th_error_set(err, "WORK-0005", "%s: no layers: at least one was expected",
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

static int check_inputs_of(const th_workload *w, const th_layer *l, th_error *err)
{
    if (l->function == TH_FUNCTION_ADD ? l->n_inputs < 2 : l->n_inputs != 1)
        return th_workload_layer_error(
            w, l, err, "WORK-0006", "%d inputs: a layer of kind %s takes %s", (int)l->n_inputs,
            th_layer_type_name(l), l->function == TH_FUNCTION_ADD ? "two or more" : "one");
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
                                           th_dim_letters[d], (int)l->dim[d], LARGEST_EXTENT);
    if (!is_extent(l->in_h) || !is_extent(l->in_w))
        return th_workload_layer_error(w, l, err, "WORK-0009",
                                       "input of %d x %d: must be from 1 to %d", (int)l->in_h,
                                       (int)l->in_w, LARGEST_EXTENT);
    if (!is_extent(l->stride_h) || !is_extent(l->stride_w) || !is_extent(l->dilation_h) ||
        !is_extent(l->dilation_w) || l->pad_top < 0 || l->pad_left < 0)
        return th_workload_layer_error(
            w, l, err, "WORK-0010",
            "stride %d x %d, dilation %d x %d, padding %d x %d: stride and "
            "dilation must be at least 1, padding at least 0",
            (int)l->stride_h, (int)l->stride_w, (int)l->dilation_h, (int)l->dilation_w,
            (int)l->pad_top, (int)l->pad_left);
    return 0;
}

static int check_size(const th_workload *w, const th_layer *l, th_error *err)
{
    double loops = 1, input = (double)l->dim[TH_DIM_B] * l->dim[TH_DIM_C] * l->in_h * l->in_w;
    for (int d = 0; d < TH_N_DIMS; d++)
        loops *= l->dim[d];
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
    if (divides && (l->groups == 1 || l->kind == TH_LAYER_CONV))
        return 0;
    return th_workload_layer_error(
        w, l, err, "WORK-0012",
        "%d groups do not divide %d input and %d output channels of a layer of "
        "kind %s",
        (int)l->groups, (int)l->dim[TH_DIM_C], (int)l->dim[TH_DIM_K], th_layer_type_name(l));
}

static bool is_elementwise(const th_layer *l)
{
    return l->kind == TH_LAYER_ELEMENTWISE || l->kind == TH_LAYER_NORM;
}

/* What the kind says about the extents; NULL: fine, else what was expected. */
static const char *broken_rule(const th_layer *l)
{
    const int32_t *d = l->dim;
    bool whole_input = d[TH_DIM_R] == l->in_h && d[TH_DIM_S] == l->in_w;
    bool point_kernel = d[TH_DIM_R] == 1 && d[TH_DIM_S] == 1;
    bool keeps_shape = d[TH_DIM_H] == l->in_h && d[TH_DIM_W] == l->in_w;
    if (th_layer_is_channelwise(l) && d[TH_DIM_K] != d[TH_DIM_C])
        return "has as many output as input channels";
    if (l->kind == TH_LAYER_FC && !(d[TH_DIM_H] == 1 && d[TH_DIM_W] == 1 && whole_input))
        return "has one output pixel and a kernel that covers the input";
    if (l->kind == TH_LAYER_MATMUL && !(point_kernel && keeps_shape && d[TH_DIM_W] == 1))
        return "has W = R = S = 1 and as many input as output rows";
    if (is_elementwise(l) && !(point_kernel && keeps_shape))
        return "has R = S = 1 and an output of the size of its input";
    return NULL;
}

static int check_layer(const th_workload *w, const th_layer *l, th_error *err)
{
    if (check_extents(w, l, err) < 0 || check_size(w, l, err) < 0 || check_groups(w, l, err) < 0)
        return -1;
    const char *rule = broken_rule(l);
    if (rule)
        return th_workload_layer_error(w, l, err, "WORK-0013", "a layer of kind %s %s",
                                       th_layer_type_name(l), rule);
    if (l->dim[TH_DIM_B] != w->batch)
        return th_workload_layer_error(w, l, err, "WORK-0014", "batch %d: the workload has %d",
                                       (int)l->dim[TH_DIM_B], (int)w->batch);
    return 0;
}

/* Does what producer p makes fit what l reads? */
static int check_edge(const th_workload *w, const th_layer *l, int p, th_error *err)
{
    const th_layer *from = p == TH_EXTERNAL_INPUT ? NULL : &w->layers[p];
    int c = from ? from->dim[TH_DIM_K] : w->input_c;
    int height = from ? from->dim[TH_DIM_H] : w->input_h;
    int width = from ? from->dim[TH_DIM_W] : w->input_w;
    if (c == l->dim[TH_DIM_C] && height == l->in_h && width == l->in_w)
        return 0;
    return th_workload_layer_error(
        w, l, err, "WORK-0015",
        "reads %d x %d x %d (channels x height x width), but \"%s\" makes "
        "%d x %d x %d",
        (int)l->dim[TH_DIM_C], (int)l->in_h, (int)l->in_w, from ? from->name : "input", c, height,
        width);
}

int th_workload_check_shapes(const th_workload *w, th_error *err)
{
    for (int l = 0; l < w->n_layers; l++) {
        const th_layer *layer = &w->layers[l];
        if (check_layer(w, layer, err) < 0)
            return -1;
        for (int i = 0; i < layer->n_inputs; i++)
            if (check_edge(w, layer, layer->inputs[i], err) < 0)
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
