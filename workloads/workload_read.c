/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_read.c - a workload from a libconfig file: names first, then edges, then shapes.
 *   read_head -> add_layers -> resolve_inputs -> th_workload_sort -> infer_shapes -> finish
 * A layer may be written before its producers, so shapes are inferred in the order of the graph,
 * each layer from its first input; along each axis
 *     out = floor((in + padding - (kernel - 1) * dilation - 1) / stride) + 1.
 * What the file states besides (in_channels, height, width ...) is compared with what was inferred.
 * One row of layer_types is one type of layer: its keys, and how its shape follows from its
 * input. */
#include <config.h>
#include "workloads/workload_read.h"
#include "workloads/workload_check.h"

#include "base/alloc.h"
#include "base/config_read.h"
#include "base/map.h"
#include "base/names.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST_EXTENT = 1 << 28, LARGEST_PADDING = 1 << 20 };

typedef struct reader {
    th_workload *w;
    const th_config_node *layers;
    th_map *position;   /* layer name -> where it stands in the file */
    th_error *err;
} reader;

/* What a layer reads: the shape of its first input. */
typedef struct shape {
    int32_t c, h, w;
} shape;

typedef struct layer_type {
    const char *name;
    th_layer_kind kind;
    th_function function;
    bool is_mean;
    const char *const *keys;
    /* Fills dim (but B), in_h, in_w, and all else that the type's keys say. */
    int (*infer)(const reader *r, th_layer *l, const th_config_node *n, shape in);
} layer_type;

/* ---- small readers ---- */

/* An integer key of a layer; absent: *out stays. */
static int read_extent(const reader *r, const th_config_node *n, const char *key, bool required,
                       int64_t max, int32_t *out)
{
    int64_t value = *out;
    if (th_config_int(n, key, required, 1, max, &value, r->err) < 0)
        return -1;
    *out = (int32_t)value;
    return 0;
}

/* A key that is one integer or a list of as many as one of the two counts allows. Returns how many
 * were read (1, or the list's length), 0 when absent, -1 on failure. */
static int read_integers(const reader *r, const th_config_node *n, const char *key, int64_t min,
                         int64_t max, int largest_count, int64_t values[4])
{
    const th_config_node *member = th_config_member(n, key);
    if (!member)
        return 0;
    if (th_config_kind_of(member) != TH_CONFIG_LIST)
        return th_config_as_int(member, min, max, &values[0], r->err) < 0 ? -1 : 1;
    int count = th_config_count(member);
    if (count != 2 && count != largest_count)
        return th_error_set(r->err, "WORK-0020",
                            "%s:%d: key \"%s\": %d numbers: one or [height, width]%s "
                            "expected",
                            th_config_file(member), th_config_line(member), key, count,
                            largest_count == 4 ? " or [top, left, bottom, right]" : "");
    for (int i = 0; i < count; i++)
        if (th_config_as_int(th_config_at(member, i), min, max, &values[i], r->err) < 0)
            return -1;
    return count;
}

/* kernel, stride, dilation: one number for both axes, or [height, width]; absent: both stay. */
static int read_pair(const reader *r, const th_config_node *n, const char *key, int32_t *height,
                     int32_t *width)
{
    int64_t values[4];
    int count = read_integers(r, n, key, 1, LARGEST_EXTENT, 2, values);
    if (count <= 0)
        return count;
    *height = (int32_t)values[0];
    *width = (int32_t)values[count - 1];
    return 0;
}

typedef struct padding {
    int32_t top, left, bottom, right;
} padding;

static int read_padding(const reader *r, const th_config_node *n, padding *out)
{
    int64_t v[4] = {0, 0, 0, 0};
    int count = read_integers(r, n, "padding", 0, LARGEST_PADDING, 4, v);
    if (count < 0)
        return -1;
    if (count == 1)
        v[1] = v[0];
    if (count <= 2) {
        v[2] = v[0];
        v[3] = v[1];
    }
    *out = (padding){(int32_t)v[0], (int32_t)v[1], (int32_t)v[2], (int32_t)v[3]};
    return 0;
}

/* A key that repeats what the graph already says must say the same. */
static int check_stated(const reader *r, const th_layer *l, const th_config_node *n,
                        const char *key, int32_t inferred)
{
    int32_t stated = inferred;
    if (read_extent(r, n, key, false, LARGEST_EXTENT, &stated) < 0)
        return -1;
    if (stated == inferred)
        return 0;
    return th_workload_layer_error(r->w, l, r->err, "WORK-0021",
                                   "key \"%s\" is %d, but %d follows from its "
                                   "input",
                                   key, (int)stated, (int)inferred);
}

static int check_all_stated(const reader *r, const th_layer *l, const th_config_node *n)
{
    if (check_stated(r, l, n, "in_channels", l->dim[TH_DIM_C]) < 0 ||
        check_stated(r, l, n, "outputs", l->dim[TH_DIM_K]) < 0 ||
        check_stated(r, l, n, "height", l->dim[TH_DIM_H]) < 0)
        return -1;
    return check_stated(r, l, n, "width", l->dim[TH_DIM_W]);
}

/* ---- shapes, one function per family of types ---- */

static void set_extents(th_layer *l, int32_t k, int32_t c, int32_t h, int32_t w, int32_t r,
                        int32_t s)
{
    l->dim[TH_DIM_K] = k;
    l->dim[TH_DIM_C] = c;
    l->dim[TH_DIM_H] = h;
    l->dim[TH_DIM_W] = w;
    l->dim[TH_DIM_R] = r;
    l->dim[TH_DIM_S] = s;
}

/* Output pixels along one axis; 0: the kernel is larger than the padded input. */
static int32_t output_extent(int32_t in, int32_t pads, int32_t kernel, int32_t dilation,
                             int32_t stride)
{
    int64_t room = (int64_t)in + pads - (int64_t)(kernel - 1) * dilation - 1;
    return room < 0 ? 0 : (int32_t)(room / stride + 1);
}

/* H and W of a layer whose window is known but for the bottom and right padding. */
static int slide_window(const reader *r, th_layer *l, padding pad)
{
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
        r->w, l, r->err, "WORK-0022",
        "a kernel of %d x %d (dilation %d x %d) is larger than its input of "
        "%d x %d with padding",
        (int)d[TH_DIM_R], (int)d[TH_DIM_S], (int)l->dilation_h, (int)l->dilation_w, (int)l->in_h,
        (int)l->in_w);
}

static int infer_conv(const reader *r, th_layer *l, const th_config_node *n, shape in)
{
    int32_t *d = l->dim;
    padding pad;
    set_extents(l, 0, in.c, 0, 0, 1, 1);
    if (read_extent(r, n, "outputs", true, LARGEST_EXTENT, &d[TH_DIM_K]) < 0 ||
        read_pair(r, n, "kernel", &d[TH_DIM_R], &d[TH_DIM_S]) < 0 ||
        read_pair(r, n, "stride", &l->stride_h, &l->stride_w) < 0 ||
        read_pair(r, n, "dilation", &l->dilation_h, &l->dilation_w) < 0 ||
        read_extent(r, n, "groups", false, LARGEST_EXTENT, &l->groups) < 0 ||
        read_padding(r, n, &pad) < 0 || th_config_bool(n, "norm", false, &l->has_norm, r->err) < 0)
        return -1;
    l->has_bias = !l->has_norm;
    if (th_config_bool(n, "bias", false, &l->has_bias, r->err) < 0)
        return -1;
    return slide_window(r, l, pad);
}

static int infer_fc(const reader *r, th_layer *l, const th_config_node *n, shape in)
{
    set_extents(l, 0, in.c, 1, 1, in.h, in.w);
    if (read_extent(r, n, "outputs", true, LARGEST_EXTENT, &l->dim[TH_DIM_K]) < 0)
        return -1;
    l->has_bias = true;
    return th_config_bool(n, "bias", false, &l->has_bias, r->err);
}

static int infer_matmul(const reader *r, th_layer *l, const th_config_node *n, shape in)
{
    set_extents(l, 0, in.c, in.h, 1, 1, 1);
    if (in.w != 1)
        return th_workload_layer_error(
            r->w, l, r->err, "WORK-0023",
            "a matmul reads inner x rows x 1, but its input is %d x %d x %d", (int)in.c, (int)in.h,
            (int)in.w);
    if (read_extent(r, n, "columns", true, LARGEST_EXTENT, &l->dim[TH_DIM_K]) < 0 ||
        check_stated(r, l, n, "rows", in.h) < 0 || check_stated(r, l, n, "inner", in.c) < 0)
        return -1;
    return th_config_bool(n, "bias", false, &l->has_bias, r->err);
}

/* Without a kernel the whole input is pooled to one pixel; without a stride windows do not overlap. */
static int infer_pool(const reader *r, th_layer *l, const th_config_node *n, shape in)
{
    int32_t *d = l->dim;
    padding pad;
    set_extents(l, in.c, in.c, 0, 0, in.h, in.w);
    if (read_pair(r, n, "kernel", &d[TH_DIM_R], &d[TH_DIM_S]) < 0)
        return -1;
    l->stride_h = d[TH_DIM_R];
    l->stride_w = d[TH_DIM_S];
    if (read_pair(r, n, "stride", &l->stride_h, &l->stride_w) < 0 || read_padding(r, n, &pad) < 0)
        return -1;
    return slide_window(r, l, pad);
}

static int infer_elementwise(const reader *r, th_layer *l, const th_config_node *n, shape in)
{
    (void)r;
    (void)n;
    set_extents(l, in.c, in.c, in.h, in.w, 1, 1);
    return 0;
}

/* ---- the types ---- */

#define COMMON_KEYS "name", "type", "inputs", "in_channels", "outputs", "height", "width"

static const char *const conv_keys[] = {COMMON_KEYS, "kernel", "stride", "padding", "dilation",
                                        "groups", "bias", "norm", NULL};
static const char *const fc_keys[] = {COMMON_KEYS, "bias", NULL};
static const char *const matmul_keys[] = {COMMON_KEYS, "rows", "inner", "columns", "bias", NULL};
static const char *const pool_keys[] = {COMMON_KEYS, "kernel", "stride", "padding", NULL};
static const char *const elementwise_keys[] = {COMMON_KEYS, NULL};

static const layer_type layer_types[] = {
    {"conv", TH_LAYER_CONV, TH_FUNCTION_NONE, false, conv_keys, infer_conv},
    {"fc", TH_LAYER_FC, TH_FUNCTION_NONE, false, fc_keys, infer_fc},
    {"matmul", TH_LAYER_MATMUL, TH_FUNCTION_NONE, false, matmul_keys, infer_matmul},
    {"max_pool", TH_LAYER_POOL, TH_FUNCTION_NONE, false, pool_keys, infer_pool},
    {"mean_pool", TH_LAYER_POOL, TH_FUNCTION_NONE, true, pool_keys, infer_pool},
    {"add", TH_LAYER_ELEMENTWISE, TH_FUNCTION_ADD, false, elementwise_keys, infer_elementwise},
    {"relu", TH_LAYER_ELEMENTWISE, TH_FUNCTION_RELU, false, elementwise_keys, infer_elementwise},
    {"norm", TH_LAYER_NORM, TH_FUNCTION_BATCH_NORM, false, elementwise_keys, infer_elementwise},
};
enum { N_LAYER_TYPES = sizeof layer_types / sizeof layer_types[0] };

/* ' (did you mean "conv"?)', or nothing. */
static const char *hint(const char *nearest, char *out, size_t size)
{
    out[0] = '\0';
    if (nearest)
        snprintf(out, size, " (did you mean \"%s\"?)", nearest);
    return out;
}

static const layer_type *find_type(const reader *r, const th_config_node *n)
{
    const char *name, *names[N_LAYER_TYPES];
    char near[TH_ERROR_TEXT_MAX];
    if (th_config_string(n, "type", true, &name, r->err) < 0)
        return NULL;
    for (int i = 0; i < N_LAYER_TYPES; i++) {
        if (strcmp(layer_types[i].name, name) == 0)
            return &layer_types[i];
        names[i] = layer_types[i].name;
    }
    hint(th_name_nearest(name, names, N_LAYER_TYPES), near, sizeof near);
    th_error_set(r->err, "WORK-0024",
                 "%s:%d: unknown type \"%s\" of layer%s: must be one of conv, fc, matmul, "
                 "max_pool, mean_pool, add, relu, norm",
                 th_config_file(n), th_config_line(n), name, near);
    return NULL;
}

/* ---- names ---- */

/* A layer without shape and inputs yet: its name, kind and line. */
static int add_layer(const reader *r, const th_config_node *n)
{
    const char *name;
    if (th_config_kind_of(n) != TH_CONFIG_GROUP)
        return th_error_set(r->err, "WORK-0025",
                            "%s:%d: a layer must be a group: { name = ...; type = ...; }",
                            th_config_file(n), th_config_line(n));
    const layer_type *type = find_type(r, n);
    if (!type || th_config_check_keys(n, type->keys, r->err) < 0 ||
        th_config_string(n, "name", true, &name, r->err) < 0)
        return -1;
    if (strcmp(name, "input") == 0)
        return th_error_set(r->err, "WORK-0026",
                            "%s:%d: \"input\" is what layers call the workload's input; "
                            "no layer may have this name",
                            th_config_file(n), th_config_line(n));
    const th_layer l = {.name = (char *)name, .kind = type->kind, .line = th_config_line(n),
                        .dim[TH_DIM_B] = r->w->batch, .function = type->function,
                        .precision = {r->w->precision, r->w->precision, r->w->precision},
                        .density = {1, 1, 1}, .up_h = 1, .up_w = 1,
                        .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .groups = 1,
                        .is_mean_pool = type->is_mean};
    return th_workload_add_layer(r->w, &l, r->err);
}

static int add_layers(reader *r)
{
    for (int i = 0; i < th_config_count(r->layers); i++)
        if (add_layer(r, th_config_at(r->layers, i)) < 0)
            return -1;
    if (th_workload_check_names(r->w, r->err) < 0)
        return -1;
    for (int i = 0; i < r->w->n_layers; i++) {
        const char *name = r->w->layers[i].name;
        if (th_map_put(r->position, name, strlen(name), i) < 0)
            return th_error_no_memory(r->err);
    }
    return 0;
}

/* ---- edges ---- */

static int report_unknown_input(const reader *r, const th_layer *l, const char *name)
{
    char near[TH_ERROR_TEXT_MAX] = "";
    const char **names = th_alloc_array((size_t)r->w->n_layers, sizeof *names);
    if (names) {
        for (int i = 0; i < r->w->n_layers; i++)
            names[i] = r->w->layers[i].name;
        hint(th_name_nearest(name, names, (size_t)r->w->n_layers), near, sizeof near);
    }
    th_free(names);
    return th_workload_layer_error(r->w, l, r->err, "WORK-0027",
                                   "input \"%s\" is neither a layer nor \"input\"%s", name, near);
}

static int resolve_input(const reader *r, const th_layer *l, const th_config_node *n, int32_t *out)
{
    const char *name;
    int64_t position;
    if (th_config_as_string(n, &name, r->err) < 0)
        return -1;
    if (strcmp(name, "input") == 0)
        position = TH_EXTERNAL_INPUT;
    else if (!th_map_get(r->position, name, strlen(name), &position))
        return report_unknown_input(r, l, name);
    *out = (int32_t)position;
    return 0;
}

/* inputs = "a"; or ("a", "b"); absent: the layer written before this one, the workload's input at
 * first. */
static int resolve_inputs_of(const reader *r, int layer)
{
    th_layer *l = &r->w->layers[layer];
    const th_config_node *n = th_config_member(th_config_at(r->layers, layer), "inputs");
    bool is_list = n && th_config_kind_of(n) == TH_CONFIG_LIST;
    int count = is_list ? th_config_count(n) : 1;
    l->inputs = th_alloc_array((size_t)count, sizeof *l->inputs);
    if (!l->inputs)
        return th_error_no_memory(r->err);
    l->n_inputs = count;
    if (!n) {
        l->inputs[0] = layer - 1;  /* TH_EXTERNAL_INPUT for the first */
        return 0;
    }
    for (int i = 0; i < count; i++)
        if (resolve_input(r, l, is_list ? th_config_at(n, i) : n, &l->inputs[i]) < 0)
            return -1;
    return 0;
}

static int resolve_inputs(const reader *r)
{
    for (int i = 0; i < r->w->n_layers; i++)
        if (resolve_inputs_of(r, i) < 0)
            return -1;
    return 0;
}

/* ---- shapes, in the order of the graph ---- */

static shape shape_made_by(const th_workload *w, int producer)
{
    if (producer == TH_EXTERNAL_INPUT)
        return (shape){w->input_c, w->input_h, w->input_w};
    const int32_t *d = w->layers[producer].dim;
    return (shape){d[TH_DIM_K], d[TH_DIM_H], d[TH_DIM_W]};
}

static int infer_shapes(const reader *r)
{
    for (int i = 0; i < r->w->n_layers; i++) {
        th_layer *l = &r->w->layers[i];
        int64_t position = 0;
        th_map_get(r->position, l->name, strlen(l->name), &position);
        const th_config_node *n = th_config_at(r->layers, (int)position);
        const layer_type *type = find_type(r, n);
        shape in = shape_made_by(r->w, l->inputs[0]);
        l->in_h = in.h;
        l->in_w = in.w;
        if (type->infer(r, l, n, in) < 0 || check_all_stated(r, l, n) < 0)
            return -1;
    }
    return 0;
}

/* ---- the file ---- */

/* "models/vgg16.cfg" names a workload "vgg16". */
static char *name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = th_alloc_string(slash ? slash + 1 : path);
    char *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot != name)
        *dot = '\0';
    return name;
}

typedef struct head {
    const char *name;
    int32_t batch;
    th_precision precision;
    shape input;
} head;

static int read_input_shape(const reader *r, const th_config_node *root, shape *out)
{
    static const char *const keys[] = {"channels", "height", "width", NULL};
    const th_config_node *n = NULL;
    if (th_config_child(root, "input", true, TH_CONFIG_GROUP, &n, r->err) < 0 ||
        th_config_check_keys(n, keys, r->err) < 0 ||
        read_extent(r, n, "channels", true, LARGEST_EXTENT, &out->c) < 0 ||
        read_extent(r, n, "height", true, LARGEST_EXTENT, &out->h) < 0)
        return -1;
    return read_extent(r, n, "width", true, LARGEST_EXTENT, &out->w);
}

/* Names stand in the heads of reports and of files that are read again: one line, and not nothing. */
static int check_title(reader *r, const th_config_node *root, const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            name = "";
    if (name[0] != '\0')
        return 0;
    return th_error_set(r->err, "WORK-0028", "%s:%d: a workload's name must be one line of text",
                        th_config_file(root), th_config_line(root));
}

/* precision = "int8", or element_bytes = 1, 2, 4 for int8, fp16, fp32; fp16 where neither stands. */
static int read_precision(const reader *r, const th_config_node *root, th_precision *out)
{
    const char *name = NULL, *names[TH_N_PRECISIONS];
    int64_t bytes = 2;
    if (th_config_string(root, "precision", false, &name, r->err) < 0 ||
        th_config_int(root, "element_bytes", false, 1, 4, &bytes, r->err) < 0)
        return -1;
    *out = bytes == 1 ? TH_INT8 : bytes == 2 ? TH_FP16 : TH_FP32;
    for (int p = 0; name && p < TH_N_PRECISIONS; p++) {
        names[p] = th_precision_name((th_precision)p);
        if (strcmp(name, names[p]) == 0) {
            *out = (th_precision)p;
            return 0;
        }
    }
    if (!name && bytes != 3)
        return 0;
    return th_error_set(r->err, "WORK-0029",
                        "%s:%d: %s: must be a precision, one of fp32, fp16, bf16, int16, int8, int4, or "
                        "element_bytes = 1, 2 or 4",
                        th_config_file(root), th_config_line(root), name ? name : "element_bytes = 3");
}

static int read_head(reader *r, const th_config_node *root, int32_t batch)
{
    static const char *const keys[] = {"name", "batch", "element_bytes", "precision", "input", "layers", NULL};
    head h = {.batch = 1};
    if (th_config_check_keys(root, keys, r->err) < 0 ||
        th_config_string(root, "name", false, &h.name, r->err) < 0 ||
        (h.name && check_title(r, root, h.name) < 0) ||
        read_extent(r, root, "batch", false, LARGEST_EXTENT, &h.batch) < 0 ||
        read_precision(r, root, &h.precision) < 0 ||
        read_input_shape(r, root, &h.input) < 0 ||
        th_config_child(root, "layers", true, TH_CONFIG_LIST, &r->layers, r->err) < 0)
        return -1;
    const char *file = th_config_file(root);
    char *default_name = name_of_file(file);
    if (!default_name)
        return th_error_no_memory(r->err);
    r->w = th_workload_new(h.name ? h.name : default_name, file, batch > 0 ? batch : h.batch,
                           h.input.c, h.input.h, h.input.w, h.precision, r->err);
    th_free(default_name);
    return r->w ? 0 : -1;
}

/* Closes c in any case. */
static th_workload *read_config(th_config *c, int32_t batch, th_error *err)
{
    if (!c)
        return NULL;
    reader r = {.position = th_map_new(), .err = err};
    int status = r.position ? 0 : th_error_no_memory(err);
    if (status == 0 && (read_head(&r, th_config_root(c), batch) < 0 || add_layers(&r) < 0 ||
                        resolve_inputs(&r) < 0 || th_workload_sort(r.w, err) < 0 ||
                        infer_shapes(&r) < 0 || th_workload_finish(r.w, err) < 0))
        status = -1;
    if (status < 0) {
        th_workload_free(r.w);
        r.w = NULL;
    }
    th_map_free(r.position);
    th_config_close(c);
    return r.w;
}

th_workload *th_workload_read(const char *path, int32_t batch, th_error *err)
{
    return read_config(th_config_open(path, err), batch, err);
}

th_workload *th_workload_read_text(const char *text, const char *name, int32_t batch, th_error *err)
{
    return read_config(th_config_open_text(text, name, err), batch, err);
}
