/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_operators.c - converts each operator of an ONNX model; see onnx_read.c. */
#include <config.h>
#include "workloads/onnx_values.h"

#include <string.h>

#include "base/alloc.h"

enum { N_SIDES = 4 };

/* ---- convolutions and pools ------------------------------------------------------------------ */

typedef struct {
    int64_t kernel[2], stride[2], dilation[2], pad[N_SIDES],
        out[2]; /* pad: top, left, bottom, right */
} window;

static int read_pair(th_onnx_reader *r, const char *attribute, int64_t otherwise, int64_t out[2])
{
    out[0] = out[1] = otherwise;
    int n = th_onnx_ints(r->node, attribute, out, 2);
    if ((n == 0 && otherwise > 0) || (n == 2 && out[0] >= 1 && out[0] <= TH_ONNX_EXTENT_MAX &&
                                      out[1] >= 1 && out[1] <= TH_ONNX_EXTENT_MAX))
        return 0;
    return th_onnx_refuse(r, "WORK-0084", "%s: two numbers from 1 to %d were expected", attribute,
                          TH_ONNX_EXTENT_MAX);
}

/* So that the output has ceil(input / stride) pixels: what is odd goes in front, or behind. */
static void pad_alike(const th_onnx_value *in, bool is_lower, window *x)
{
    for (int k = 0; k < 2; k++) {
        int64_t size = k == 0 ? in->h : in->w, steps = (size + x->stride[k] - 1) / x->stride[k] - 1;
        int64_t all = steps * x->stride[k] + (x->kernel[k] - 1) * x->dilation[k] + 1 - size;
        all = all > 0 ? all : 0;
        x->pad[k] = is_lower ? (all + 1) / 2 : all / 2;
        x->pad[k + 2] = all - x->pad[k];
    }
}

static int read_padding(th_onnx_reader *r, const th_onnx_value *in, window *x)
{
    bool is_lower = th_onnx_is(r->node, "auto_pad", "SAME_LOWER");
    int n = N_SIDES;
    if (is_lower || th_onnx_is(r->node, "auto_pad", "SAME_UPPER"))
        pad_alike(in, is_lower, x);
    else
        n = th_onnx_ints(r->node, "pads", x->pad, N_SIDES);
    bool is_good = n == 0 || n == N_SIDES;
    for (int k = 0; k < N_SIDES; k++)
        is_good &= x->pad[k] >= 0 && x->pad[k] <= TH_ONNX_EXTENT_MAX;
    if (!is_good)
        th_onnx_refuse(r, "WORK-0085", "pads: four numbers from 0 to %d were expected",
                       TH_ONNX_EXTENT_MAX);
    return is_good ? 0 : -1;
}

static int read_window(th_onnx_reader *r, const th_onnx_value *in, bool is_open, window *x)
{
    if (read_pair(r, "strides", 1, x->stride) || read_pair(r, "dilations", 1, x->dilation) ||
        read_padding(r, in, x))
        return -1;
    for (int k = 0; k < 2; k++) {
        int64_t size = (k == 0 ? in->h : in->w) + x->pad[k] + x->pad[k + 2];
        int64_t left = size - ((x->kernel[k] - 1) * x->dilation[k] + 1);
        if (left < 0)
            return th_onnx_refuse(
                r, "WORK-0086", "a kernel of %lld x %lld is larger than its input of %d x %d",
                (long long)x->kernel[0], (long long)x->kernel[1], (int)in->h, (int)in->w);
        x->out[k] = (is_open ? left + x->stride[k] - 1 : left) / x->stride[k] + 1;
        if (is_open && (x->out[k] - 1) * x->stride[k] >=
                           size - x->pad[k + 2]) /* it would begin in the padding */
            x->out[k]--;
    }
    return 0;
}

static void set_window(th_layer *l, const window *x)
{
    l->dim[TH_DIM_R] = (int32_t)x->kernel[0];
    l->dim[TH_DIM_S] = (int32_t)x->kernel[1];
    l->dim[TH_DIM_H] = (int32_t)x->out[0];
    l->dim[TH_DIM_W] = (int32_t)x->out[1];
    l->stride_h = (int32_t)x->stride[0];
    l->stride_w = (int32_t)x->stride[1];
    l->dilation_h = (int32_t)x->dilation[0];
    l->dilation_w = (int32_t)x->dilation[1];
    l->pad_top = (int32_t)x->pad[0];
    l->pad_left = (int32_t)x->pad[1];
}

/* The second input: weights with this number of extents, all of them positive. */
static const th_onnx_value *weights_input(th_onnx_reader *r, int32_t rank)
{
    const th_onnx_value *v = th_onnx_input(r, 1);
    bool is_good = v && v->is_constant && v->rank == rank;
    for (int k = 0; is_good && k < rank; k++)
        is_good = v->dim[k] >= 1 && v->dim[k] <= TH_ONNX_EXTENT_MAX;
    if (v && !is_good)
        th_onnx_refuse(r, "WORK-0087",
                       "input 2 \"%.80s\": constant weights of %d dimensions were expected",
                       r->node->input[1], (int)rank);
    return is_good ? v : NULL;
}

static int read_conv(th_onnx_reader *r, int what)
{
    const th_onnx_value *in = th_onnx_image_input(r, 0),
                        *weights = in ? weights_input(r, TH_ONNX_IMAGE) : NULL;
    int64_t groups = th_onnx_int(r->node, "group", 1);
    (void)what;
    if (!weights)
        return -1;
    window x = {.kernel = {weights->dim[2], weights->dim[3]}};
    if (groups < 1 || groups > TH_ONNX_EXTENT_MAX || weights->dim[1] * groups != in->c)
        return th_onnx_refuse(r, "WORK-0088", "%lld groups of %lld channels: the input has %d",
                              (long long)groups, (long long)weights->dim[1], (int)in->c);
    if (read_window(r, in, false, &x))
        return -1;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_CONV, in);
    l.dim[TH_DIM_K] = (int32_t)weights->dim[0];
    l.groups = (int32_t)groups;
    l.has_bias = th_onnx_input_or_none(r, 2);
    set_window(&l, &x);
    return th_onnx_add_output_of(r, &l, in);
}

static int read_pool(th_onnx_reader *r, int is_mean)
{
    const th_onnx_value *in = th_onnx_image_input(r, 0);
    window x = {.out = {0}};
    if (!in || read_pair(r, "kernel_shape", 0, x.kernel) ||
        read_window(r, in, th_onnx_int(r->node, "ceil_mode", 0) != 0, &x))
        return -1;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_POOL, in);
    l.is_mean_pool = is_mean;
    set_window(&l, &x);
    return th_onnx_add_output_of(r, &l, in);
}

static int read_global_pool(th_onnx_reader *r, int is_mean)
{
    const th_onnx_value *in = th_onnx_image_input(r, 0);
    if (!in)
        return -1;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_POOL, in);
    l.is_mean_pool = is_mean;
    set_window(
        &l,
        &(window){.kernel = {in->h, in->w}, .stride = {1, 1}, .dilation = {1, 1}, .out = {1, 1}});
    return th_onnx_add_output_of(r, &l, in);
}

/* ---- products -------------------------------------------------------------------------------- */

static int add_fc(th_onnx_reader *r, bool is_transposed, bool has_bias)
{
    const th_onnx_value *in = th_onnx_tensor_input(r, 0),
                        *weights = in ? weights_input(r, TH_ONNX_FLAT) : NULL;
    if (!weights)
        return -1;
    int64_t inner = weights->dim[is_transposed ? 1 : 0],
            outputs = weights->dim[is_transposed ? 0 : 1];
    if (!th_onnx_is_flat(in) || inner != in->dim[1])
        return th_onnx_refuse(r, "WORK-0089", "input 1 \"%.80s\": batch x %lld was expected",
                              r->node->input[0], (long long)inner);
    th_layer l = th_onnx_layer_over(r, TH_LAYER_FC, in);
    l.has_bias = has_bias;
    l.dim[TH_DIM_K] = (int32_t)outputs;
    set_window(
        &l,
        &(window){.kernel = {in->h, in->w}, .stride = {1, 1}, .dilation = {1, 1}, .out = {1, 1}});
    int32_t from = in->layer, layer = th_onnx_add_layer(r, &l, &from, 1, "");
    if (layer < 0)
        return -1;
    th_onnx_value v = th_onnx_value_of_layer(r, layer);
    v.rank = TH_ONNX_FLAT;
    return th_onnx_define_output(r, &v);
}

static int read_gemm(th_onnx_reader *r, int what)
{
    (void)what;
    if (th_onnx_int(r->node, "transA", 0) != 0)
        return th_onnx_refuse(r, "WORK-0104", "transA: 0 was expected");
    return add_fc(r, th_onnx_int(r->node, "transB", 0) != 0, th_onnx_input_or_none(r, 2));
}

static int read_matmul(th_onnx_reader *r, int what)
{
    (void)what;
    return add_fc(r, false, false);
}

/* ---- what may become part of the layer before ------------------------------------------------ */

/* The layer that makes the first input, where nothing else reads that: what follows may become part
 * of it. */
static th_layer *layer_before(const th_onnx_reader *r, const th_onnx_value *in)
{
    bool is_alone =
        in->layer >= 0 && !in->is_activated && !in->is_shared && th_onnx_is_sole_reader(r, 0);
    return is_alone ? &r->w->layers[in->layer] : NULL;
}

/* A vector or an image, as its layer makes it. */
static const th_onnx_value *layer_input(th_onnx_reader *r, size_t i)
{
    const th_onnx_value *v = th_onnx_tensor_input(r, i);
    return !v || th_onnx_is_flat(v) ? v : th_onnx_image_input(r, i);
}

/* Of every element, whatever the view. */
static int add_elementwise(th_onnx_reader *r, th_function function, const th_onnx_value *in)
{
    th_layer l = th_onnx_layer_over(r, TH_LAYER_ELEMENTWISE, in);
    l.function = function;
    return th_onnx_add_alike(r, &l, in);
}

/* Of the channels of an image, or the features of a vector. */
static int read_batch_norm(th_onnx_reader *r, int what)
{
    const th_onnx_value *in = layer_input(r, 0);
    if (in && (in->h != 1 || in->w != 1))
        in = th_onnx_image_input(r, 0);
    if (!in)
        return -1;
    th_layer *before = layer_before(r, in);
    if (before && before->kind == TH_LAYER_CONV && !before->has_norm) {
        before->has_norm = true;
        th_onnx_value v = *in;
        return th_onnx_define_output(r, &v);
    }
    th_layer l = th_onnx_layer_over(r, TH_LAYER_NORM, in);
    l.function = (th_function)what;
    return th_onnx_add_alike(r, &l, in);
}

static int read_activation(th_onnx_reader *r, int function)
{
    const th_onnx_value *in = th_onnx_tensor_input(r, 0);
    if (!in)
        return -1;
    const th_layer *before = layer_before(r, in);
    bool takes_it =
        before && (before->kind == TH_LAYER_CONV || before->kind == TH_LAYER_FC ||
                   before->kind == TH_LAYER_NORM || before->function == TH_FUNCTION_ADD);
    if (!takes_it)
        return add_elementwise(r, (th_function)function, in);
    th_onnx_value v = *in;
    v.is_activated = true;
    return th_onnx_define_output(r, &v);
}

static int read_elementwise(th_onnx_reader *r, int function)
{
    const th_onnx_value *in = th_onnx_tensor_input(r, 0);
    return in ? add_elementwise(r, (th_function)function, in) : -1;
}

/* A tensor and a constant: a bias of the product before it, or a function of every element. */
static int read_with_constant(th_onnx_reader *r, th_function function)
{
    const th_onnx_value *in = th_onnx_tensor_input(r, 0);
    if (!in)
        return -1;
    th_layer *before = function == TH_FUNCTION_ADD ? layer_before(r, in) : NULL;
    if (!before || !th_layer_has_macs(before) || before->has_bias || before->has_norm)
        return add_elementwise(
            r, function == TH_FUNCTION_ADD ? TH_FUNCTION_SHIFT : TH_FUNCTION_SCALE, in);
    before->has_bias = true;
    th_onnx_value v = *in;
    return th_onnx_define_output(r, &v);
}

/* ---- several inputs -------------------------------------------------------------------------- */

/* Do the inputs look alike but for their channels? What makes them goes to from, how many channels
 * to channels. */
static int read_inputs(th_onnx_reader *r, int32_t *from, int32_t *channels, th_onnx_value *first)
{
    for (size_t i = 0; i < r->node->n_input; i++) {
        const th_onnx_value *in = layer_input(r, i);
        if (!in)
            return -1;
        if (i == 0)
            *first = *in;
        if (in->rank != first->rank || in->h != first->h || in->w != first->w)
            return th_onnx_refuse(
                r, "WORK-0091",
                "input %zu is %d x %d x %d (channels x height x width), the first %d "
                "x %d x %d",
                i + 1, (int)in->c, (int)in->h, (int)in->w, (int)first->c, (int)first->h,
                (int)first->w);
        from[i] = in->layer;
        channels[i] = in->c;
    }
    return 0;
}

/* l: of what kind; the rest is set. */
static int join(th_onnx_reader *r, th_layer *l, int32_t *from, int32_t *channels)
{
    int32_t n = (int32_t)r->node->n_input, layer, all = 0;
    th_onnx_value first = {0};
    if (read_inputs(r, from, channels, &first))
        return -1;
    th_layer whole = th_onnx_layer_over(r, l->kind, &first);
    whole.function = l->function;
    for (int32_t i = 0; i < n; i++) {
        if (l->kind != TH_LAYER_CONCAT && channels[i] != first.c)
            return th_onnx_refuse(r, "WORK-0092", "input %d has %d channels, the first %d",
                                  (int)i + 1, (int)channels[i], (int)first.c);
        all = channels[i] < TH_ONNX_EXTENT_MAX - all ? all + channels[i] : TH_ONNX_EXTENT_MAX;
    }
    if (l->kind == TH_LAYER_CONCAT) {
        whole.dim[TH_DIM_K] = whole.dim[TH_DIM_C] = all;
        whole.input_channels = channels;
    }
    layer = th_onnx_add_layer(r, &whole, from, n, "");
    if (layer < 0)
        return -1;
    th_onnx_value v = th_onnx_value_of_layer(r, layer);
    if (first.rank == TH_ONNX_FLAT) {
        v.rank = TH_ONNX_FLAT;
        v.dim[1] = (int64_t)v.c * v.h * v.w;
    }
    return th_onnx_define_output(r, &v);
}

static int read_join(th_onnx_reader *r, th_layer l)
{
    size_t n = r->node->n_input;
    int32_t *numbers =
        n > 0 && n <= TH_ONNX_EXTENT_MAX ? th_alloc_array(2 * n, sizeof *numbers) : NULL;
    int status = numbers ? join(r, &l, numbers, numbers + n)
                 : n > 0 ? th_error_no_memory(r->err)
                         : th_onnx_refuse(r, "WORK-0093", "no input");
    th_free(numbers);
    return status;
}

static int read_sum(th_onnx_reader *r, int function)
{
    const th_onnx_value *second = th_onnx_input_or_none(r, 1);
    if (r->node->n_input == 2 && second && second->is_constant)
        return read_with_constant(r, (th_function)function);
    return read_join(r,
                     (th_layer){.kind = TH_LAYER_ELEMENTWISE, .function = (th_function)function});
}

static int read_concat(th_onnx_reader *r, int what)
{
    int64_t axis = th_onnx_int(r->node, "axis", 1);
    const th_onnx_value *first = th_onnx_tensor_input(r, 0);
    (void)what;
    if (!first)
        return -1;
    if (axis != 1 && axis != 1 - first->rank)
        return th_onnx_refuse(r, "WORK-0094", "axis %lld: 1, the channels, was expected",
                              (long long)axis);
    return read_join(r, (th_layer){.kind = TH_LAYER_CONCAT});
}

static int read_softmax(th_onnx_reader *r, int what)
{
    const th_onnx_value *in = layer_input(r, 0);
    (void)what;
    if (!in)
        return -1;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_SOFTMAX, in);
    return th_onnx_add_alike(r, &l, in);
}

const th_onnx_operator th_onnx_operators[] = {
    {"Add", read_sum, TH_FUNCTION_ADD},
    {"AveragePool", read_pool, true},
    {"BatchNormalization", read_batch_norm, TH_FUNCTION_BATCH_NORM},
    {"Clip", read_activation, TH_FUNCTION_RELU},
    {"Concat", read_concat, 0},
    {"Conv", read_conv, 0},
    {"Elu", read_activation, TH_FUNCTION_RELU},
    {"Gelu", read_activation, TH_FUNCTION_GELU},
    {"Gemm", read_gemm, 0},
    {"GlobalAveragePool", read_global_pool, true},
    {"GlobalMaxPool", read_global_pool, false},
    {"HardSigmoid", read_activation, TH_FUNCTION_SIGMOID},
    {"HardSwish", read_activation, TH_FUNCTION_SILU},
    {"LRN", read_elementwise, TH_FUNCTION_POWER},
    {"LeakyRelu", read_activation, TH_FUNCTION_RELU},
    {"MatMul", read_matmul, 0},
    {"MaxPool", read_pool, false},
    {"Mul", read_sum, TH_FUNCTION_MUL},
    {"PRelu", read_activation, TH_FUNCTION_RELU},
    {"Relu", read_activation, TH_FUNCTION_RELU},
    {"Sigmoid", read_activation, TH_FUNCTION_SIGMOID},
    {"Softmax", read_softmax, 0},
    {"Sum", read_sum, TH_FUNCTION_ADD},
    {"Tanh", read_activation, TH_FUNCTION_TANH},
    {NULL, NULL, 0},
};
