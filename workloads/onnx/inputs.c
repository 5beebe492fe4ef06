/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.c - see inputs.h.
 *
 * The batch is the axis whose name contains "batch", or else the first axis of the first input. In
 * other inputs it is the axis of the same name or, if axes have no names, the first axis if it has
 * the same extent. Options give a symbolic axis its extent by its name or by INPUT.AXIS; without
 * one, the batch is 1, and other symbolic axes are errors. */
#include <config.h>
#include "workloads/onnx/inputs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/names.h"
#include "workloads/onnx/shape/fold.h"

enum { NAME_BYTES = 200, HOPS = 8 };

typedef struct input {
    const ThOnnx__Value *value;
    const ThOnnx__Shape *shape;
    th_onnx_value v;
    int32_t batch_axis; /* -1: none */
} input;

/* ---- axes ------------------------------------------------------------------------------------ */

static const char *symbol_of(const ThOnnx__Dimension *d)
{
    return !d->has_dim_value && d->dim_param ? d->dim_param : "";
}

static bool is_batch_name(const char *name)
{
    for (; *name; name++)
        if (tolower((unsigned char)name[0]) == 'b' && tolower((unsigned char)name[1]) == 'a' &&
            tolower((unsigned char)name[2]) == 't' && tolower((unsigned char)name[3]) == 'c' &&
            tolower((unsigned char)name[4]) == 'h')
            return true;
    return false;
}

static th_onnx_dim *bound(const th_onnx_reader *r, const char *name)
{
    for (int i = 0; i < r->options->n_dims; i++)
        if (strcmp(r->options->dims[i].name, name) == 0)
            return &r->options->dims[i];
    return NULL;
}

/* True if a symbolic axis needs no extent from the options: it is named as a batch, or it is the
 * first axis and has no name or the name N. */
static bool may_be_open(const char *symbol, int32_t axis)
{
    return is_batch_name(symbol) || (axis == 0 && (symbol[0] == '\0' || strcmp(symbol, "N") == 0));
}

static int64_t extent_of(th_onnx_reader *r, const input *in, int32_t axis)
{
    char place[NAME_BYTES];
    const ThOnnx__Dimension *d = in->shape->dim[axis];
    const char *symbol = symbol_of(d);
    if (d->has_dim_value && d->dim_value != 0) {
        if (d->dim_value > 0 && d->dim_value <= TH_ONNX_EXTENT_MAX)
            return d->dim_value;
        return th_error_set(
            r->err, "WORK-0105", "%s: input \"%.80s\": axis %d is %lld long: must be from 1 to %d",
            r->path, in->value->name, (int)axis, (long long)d->dim_value, TH_ONNX_EXTENT_MAX);
    }
    snprintf(place, sizeof place, "%.180s.%d", in->value->name, (int)axis);
    th_onnx_dim *by_name = symbol[0] ? bound(r, symbol) : NULL, *by_place = bound(r, place),
                *by = by_place ? by_place : by_name;
    if (by_name)
        by_name->is_met = true;
    if (by)
        by->is_met = true;
    int64_t extent = by ? by->extent : d->has_dim_value ? 0 : -1;
    if (extent <= 0 && !by && may_be_open(symbol, axis))
        return r->options->batch > 0 ? r->options->batch : 1;
    if (extent == 0 && !r->empty_input) {
        r->empty_input = in->value->name;
        r->empty_axis = axis;
    }
    if (extent >= 0)
        return extent;
    return th_error_set(r->err, "WORK-0106",
                        "%s: input \"%.80s\": axis %d has no length: needs -dim {%.80s N}", r->path,
                        in->value->name, (int)axis, symbol[0] ? symbol : place);
}

int th_onnx_refuse_empty(th_onnx_reader *r)
{
    return th_error_set(r->err, "WORK-0945",
                        "%s: input \"%.80s\": axis %d is 0 long, and nothing is left to compute: "
                        "needs -dim {%.80s.%d N}",
                        r->path, r->empty_input, (int)r->empty_axis, r->empty_input,
                        (int)r->empty_axis);
}

static int read_axes(th_onnx_reader *r, input *in)
{
    const ThOnnx__TensorType *t = in->value->type ? in->value->type->tensor_type : NULL;
    in->shape = t ? t->shape : NULL;
    if (!in->shape)
        return th_error_set(r->err, "WORK-0107",
                            "%s: input \"%.80s\": must be a tensor with a shape", r->path,
                            in->value->name);
    if (in->shape->n_dim > TH_ONNX_RANK_MAX)
        return th_error_set(r->err, "WORK-0108",
                            "%s: input \"%.80s\": %zu axes: must be at most %d", r->path,
                            in->value->name, in->shape->n_dim, TH_ONNX_RANK_MAX);
    in->v = (th_onnx_value){.rank = (int32_t)in->shape->n_dim, .type = t->elem_type};
    for (int32_t i = 0; i < in->v.rank; i++)
        if ((in->v.dim[i] = extent_of(r, in, i)) < 0)
            return -1;
    return 0;
}

static int check_names(th_onnx_reader *r, const input *inputs, size_t n)
{
    for (int i = 0; i < r->options->n_dims; i++) {
        if (r->options->dims[i].is_met)
            continue;
        const char *near = NULL, *names[64];
        size_t n_names = 0;
        for (size_t k = 0; k < n; k++)
            for (size_t axis = 0; axis < inputs[k].shape->n_dim && n_names < 64; axis++)
                if (symbol_of(inputs[k].shape->dim[axis])[0])
                    names[n_names++] = symbol_of(inputs[k].shape->dim[axis]);
        near = th_name_nearest(r->options->dims[i].name, names, n_names);
        return th_error_set(r->err, "WORK-0109",
                            "%s: -dim {%.80s %lld}: no axis of an input without a length is called "
                            "that%s%.80s%s",
                            r->path, r->options->dims[i].name,
                            (long long)r->options->dims[i].extent, near ? " (did you mean " : "",
                            near ? near : "", near ? "?)" : "");
    }
    return 0;
}

/* ---- the batch ------------------------------------------------------------------------------- */

/* The name of the batch axis, "" if there is none; *first: its position in the first input that has
 * it. */
static const char *batch_symbol(const input *inputs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t axis = 0; axis < inputs[i].shape->n_dim; axis++)
            if (is_batch_name(symbol_of(inputs[i].shape->dim[axis])))
                return symbol_of(inputs[i].shape->dim[axis]);
    return n > 0 && inputs[0].v.rank > 0 ? symbol_of(inputs[0].shape->dim[0]) : "";
}

static void find_batch(th_onnx_reader *r, input *inputs, size_t n)
{
    const char *symbol = batch_symbol(inputs, n);
    r->batch = 1;
    for (size_t i = 0; i < n; i++) {
        input *in = &inputs[i];
        in->batch_axis = -1;
        for (int32_t axis = in->v.rank - 1; axis >= 0; axis--)
            if (symbol[0] && strcmp(symbol_of(in->shape->dim[axis]), symbol) == 0)
                in->batch_axis = axis;
        if (!symbol[0] && in->v.rank > 0 && (i == 0 || in->v.dim[0] == r->batch))
            in->batch_axis = 0;
        if (in->batch_axis >= 0)
            r->batch = in->v.dim[in->batch_axis];
    }
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* The first node that reads a tensor, also in a branch or a body. */
static const th_onnx_node *reader_of(const ThOnnx__Graph *g, const char *name)
{
    const th_onnx_node *found = NULL;
    for (size_t i = 0; i < g->n_node && !found; i++) {
        const th_onnx_node *n = g->node[i];
        for (size_t k = 0; k < n->n_input && !found; k++)
            found = strcmp(n->input[k], name) == 0 ? n : NULL;
        for (size_t k = 0; k < n->n_attribute && !found; k++)
            found = n->attribute[k]->g ? reader_of(n->attribute[k]->g, name) : NULL;
    }
    return found;
}

/* The first reader of a tensor that is not one of these elementwise operators. */
static const th_onnx_node *first_use(const ThOnnx__Graph *g, const char *name)
{
    static const char *const skipped[] = {
        "Cast", "Identity", "QuantizeLinear", "DequantizeLinear", "Sub", "Div", "Mul"};
    const th_onnx_node *n = reader_of(g, name);
    for (int hop = 0; n && hop < HOPS; hop++) {
        bool is_skipped = false;
        for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
            is_skipped |= strcmp(n->op_type, skipped[i]) == 0;
        if (!is_skipped)
            break;
        n = reader_of(g, n->output[0]);
    }
    return n;
}

static bool reads_images(const th_onnx_node *n)
{
    return strstr(n->op_type, "Conv") || strstr(n->op_type, "Pool") ||
           strcmp(n->op_type, "BatchNormalization") == 0 ||
           strcmp(n->op_type, "InstanceNormalization") == 0;
}

static bool puts_channels_first(const th_onnx_node *n, int32_t rank)
{
    int64_t order[TH_ONNX_RANK_MAX], is_norm = !!strstr(n->op_type, "GroupNorm");
    if (strncmp(n->op_type, "Nhwc", 4) == 0 || th_onnx_int(n, "channels_last", is_norm))
        return true;
    return strcmp(n->op_type, "Transpose") == 0 &&
           th_onnx_ints(n, "perm", order, TH_ONNX_RANK_MAX) == rank && order[0] == 0 &&
           order[1] == rank - 1;
}

static int lay_out(th_onnx_reader *r, const ThOnnx__Graph *g, input *in)
{
    int coordinates[TH_ONNX_RANK_MAX];
    th_onnx_value *v = &in->v;
    const th_onnx_node *n = first_use(g, in->value->name);
    v->layer = TH_EXTERNAL_INPUT;
    v->b = (int32_t)r->batch;
    th_onnx_layout_fill(v, r->batch > 1 ? in->batch_axis : -1);
    bool is_image = v->rank >= 4 || (v->rank == 3 && n && reads_images(n));
    th_onnx_usual_coordinates(v, is_image, coordinates);
    if (v->rank >= 4 && n && puts_channels_first(n, v->rank))
        for (int32_t i = 0; i < v->rank; i++)
            coordinates[i] = i == v->rank - 1   ? TH_ONNX_C
                             : i == v->rank - 2 ? TH_ONNX_W
                                                : TH_ONNX_H;
    bool are_indices = v->rank <= 2 && !th_onnx_is_real(v->type);
    for (int32_t i = 0; i < v->rank; i++)
        if (are_indices)
            coordinates[i] = TH_ONNX_H;
    if (th_onnx_layout_assign(v, v, coordinates))
        return th_error_set(r->err, "WORK-0110",
                            "%s: input \"%.80s\": more than %d channels, rows or columns", r->path,
                            in->value->name, TH_ONNX_EXTENT_MAX);
    return 0;
}

/* ---- the workload ---------------------------------------------------------------------------- */

static th_precision precision_of(int32_t type)
{
    switch (type) {
    case TH_ONNX_UINT8:
    case TH_ONNX_INT8:
        return TH_INT8;
    case TH_ONNX_UINT16:
    case TH_ONNX_INT16:
        return TH_INT16;
    case TH_ONNX_FLOAT16:
        return TH_FP16;
    case TH_ONNX_BFLOAT16:
        return TH_BF16;
    default:
        return TH_FP32;
    }
}

/* The precision of the first input or, if that holds indices, of the first weights. */
static th_precision find_precision(const th_onnx_reader *r, const ThOnnx__Graph *g,
                                   const input *inputs, size_t n)
{
    if (r->options->precision >= 0)
        return (th_precision)r->options->precision;
    for (size_t i = 0; i < n; i++)
        if (th_onnx_is_real(inputs[i].v.type) || inputs[i].v.type <= TH_ONNX_INT16)
            return precision_of(inputs[i].v.type);
    for (size_t i = 0; i < g->n_initializer; i++)
        if (th_onnx_is_real(g->initializer[i]->data_type))
            return precision_of(g->initializer[i]->data_type);
    return TH_FP32;
}

static int make_workload(th_onnx_reader *r, const th_onnx_value *first)
{
    char name[NAME_BYTES + 1];
    const char *slash = strrchr(r->path, '/'), *file = slash ? slash + 1 : r->path,
               *dot = strrchr(file, '.');
    snprintf(name, sizeof name, "%.*s", dot && dot > file ? (int)(dot - file) : (int)strlen(file),
             file);
    int32_t batch = r->options->batch > 0 ? r->options->batch : (int32_t)r->batch;
    r->w = th_workload_new(name, r->path,
                           &(th_workload_input){batch, first->c, first->h, first->w, r->precision},
                           r->err);
    if (r->w)
        r->w->has_own_inputs = r->has_own_inputs;
    return r->w ? 0 : -1;
}

/* Defines one of several inputs as a copy layer, except for indices whose only reader is the table
 * lookup. */
static int define(th_onnx_reader *r, const ThOnnx__Graph *g, input *in)
{
    in->v.origin = in->value->name;
    in->v.origin_n = th_onnx_elements(&in->v);
    th_onnx_value *v = th_onnx_define(r, in->value->name, &in->v);
    const th_onnx_node *n = reader_of(g, in->value->name);
    int64_t uses = 0;
    th_map_get(r->uses, in->value->name, strlen(in->value->name), &uses);
    bool is_index =
        n && uses == 1 &&
        (strcmp(n->op_type, "Gather") == 0 || strcmp(n->op_type, "EmbedLayerNormalization") == 0);
    if (!v)
        return -1;
    if (!r->has_own_inputs || is_index || uses == 0)
        return 0;
    const th_onnx_node named = {.name = in->value->name, .op_type = (char *)"Identity"};
    th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, v);
    int32_t from = TH_EXTERNAL_INPUT;
    l.function = TH_FUNCTION_COPY;
    r->node = &named;
    v->layer = th_onnx_add_layer(r, &l, &from, 1, "");
    r->node = NULL;
    return v->layer < 0 ? -1 : 0;
}

/* Defines the inputs without elements, such as an empty cache, which no layer reads; how many
 * others are left. -1: out of memory. */
static int64_t define_empty(th_onnx_reader *r, input *inputs, size_t n)
{
    int64_t left = 0;
    for (size_t i = 0; i < n; i++) {
        th_onnx_value *v = &inputs[i].v;
        if (th_onnx_elements(v) != 0) {
            inputs[left++] = inputs[i];
            continue;
        }
        v->is_constant = v->is_of_data = true;
        if (th_onnx_fold_begin(r, v) < 0 || !th_onnx_define(r, inputs[i].value->name, v))
            return -1;
    }
    return left;
}

static int add_inputs(th_onnx_reader *r, const ThOnnx__Graph *g, input *inputs, size_t n,
                      bool keeps_batch)
{
    for (size_t i = 0; i < n; i++)
        if (read_axes(r, &inputs[i]))
            return -1;
    int64_t left = check_names(r, inputs, n) ? -1 : define_empty(r, inputs, n);
    if (left < 0)
        return -1;
    n = (size_t)left;
    find_batch(r, inputs, n);
    int64_t batch = r->batch;
    if (!keeps_batch)
        r->batch = 1;
    if (!keeps_batch && r->options->batch > 0 && r->options->batch != batch)
        return th_error_set(r->err, "WORK-0111",
                            "%s: -batch %d: the model mixes the images of its batch of %lld: it "
                            "must be bound by -dim",
                            r->path, (int)r->options->batch, (long long)batch);
    for (size_t i = 0; i < n; i++)
        if (lay_out(r, g, &inputs[i]))
            return -1;
    r->has_own_inputs = n > 1;
    r->precision = find_precision(r, g, inputs, n);
    const th_onnx_value none = {.c = 1, .h = 1, .w = 1};
    if (make_workload(r, n > 0 ? &inputs[0].v : &none))
        return -1;
    if (!keeps_batch)
        r->w->batch = 1;
    for (size_t i = 0; i < n; i++)
        if (define(r, g, &inputs[i]))
            return -1;
    return 0;
}

int th_onnx_add_inputs(th_onnx_reader *r, const ThOnnx__Graph *g, bool keeps_batch)
{
    size_t n = 0;
    input *inputs = th_alloc_zero(g->n_input + 1, sizeof *inputs);
    if (!inputs)
        return th_error_no_memory(r->err);
    for (size_t i = 0; i < g->n_input; i++)
        if (!th_onnx_find(r, g->input[i]->name))
            inputs[n++].value = g->input[i];
    int status = add_inputs(r, g, inputs, n, keeps_batch);
    th_free(inputs);
    return status;
}
