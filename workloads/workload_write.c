/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_write.c - a workload as text, without the properties that layer_types_read.c infers.
 *   th_workload_write: head -> (inputs -> keys of its kind -> precision and density)* of every
 *   layer
 * An attention is written as the layers to which it expands. Layers do not store the padding at the
 * bottom and on the right, so the least padding that gives the output is written. */
#include <config.h>
#include "workloads/workload_write.h"

#include "base/files/config_write.h"
#include "workloads/workload_fields.h"

/* ---- values ---- */

static void put_extent(th_strbuf *out, const char *key, int32_t value)
{
    th_strbuf_printf(out, " %s = %d;", key, (int)value);
}

static void put_flag(th_strbuf *out, const char *key, bool value)
{
    th_strbuf_printf(out, " %s = %s;", key, value ? "true" : "false");
}

/* One number where both axes have the same; nothing where it is that. */
static void put_pair(th_strbuf *out, const char *key, int32_t h, int32_t w, int32_t otherwise)
{
    if (h == w && h == otherwise)
        return;
    if (h == w)
        put_extent(out, key, h);
    else
        th_strbuf_printf(out, " %s = [%d, %d];", key, (int)h, (int)w);
}

static void put_share(th_strbuf *out, const char *key, double share, double otherwise)
{
    if (share == otherwise)
        return;
    th_strbuf_printf(out, " %s = ", key);
    th_config_put_number(out, share);
    th_strbuf_add(out, ";");
}

static void put_precision(th_strbuf *out, const char *key, th_precision p, th_precision otherwise)
{
    if (p != otherwise)
        th_strbuf_printf(out, " %s = \"%s\";", key, th_precision_name(p));
}

/* ---- windows ---- */

typedef struct padding {
    int32_t top, left, bottom, right;
} padding;

static void put_padding(th_strbuf *out, const padding *p)
{
    bool is_even = p->top == p->bottom && p->left == p->right;
    if (is_even)
        put_pair(out, "padding", p->top, p->left, 0);
    else
        th_strbuf_printf(out, " padding = [%d, %d, %d, %d];", (int)p->top, (int)p->left,
                         (int)p->bottom, (int)p->right);
}

/* Along one axis: the least padding behind the input that gives this number of outputs. Where that
 * before it gives as many, that is taken, as it looks better. */
static int32_t padding_after(int32_t in, int32_t before, int32_t kernel, int32_t dilation,
                             int32_t stride, int32_t outputs)
{
    int64_t reach = (int64_t)(kernel - 1) * dilation + 1;
    int64_t even = ((int64_t)in + 2 * (int64_t)before - reach) / stride + 1;
    int64_t least = (int64_t)(outputs - 1) * stride + reach - in - before;
    return even == outputs ? before : least > 0 ? (int32_t)least : 0;
}

static void put_window(th_strbuf *out, const th_layer *l)
{
    const int32_t *d = l->dim;
    padding p = {
        l->pad_top, l->pad_left,
        padding_after(l->in_h, l->pad_top, d[TH_DIM_R], l->dilation_h, l->stride_h, d[TH_DIM_H]),
        padding_after(l->in_w, l->pad_left, d[TH_DIM_S], l->dilation_w, l->stride_w, d[TH_DIM_W])};
    put_padding(out, &p);
}

/* One axis of a transposed convolution as a layer holds it. */
typedef struct transposed_axis {
    int32_t in, kernel, dilation, up, pad, outputs;
} transposed_axis;

/* The same as a file gives it. */
typedef struct transposed_padding {
    int32_t before, after, output;
} transposed_padding;

static transposed_padding transposed_padding_of(const transposed_axis *a)
{
    int32_t reach = (a->kernel - 1) * a->dilation, before = reach - a->pad;
    int32_t surplus = (a->in - 1) * a->up - before + reach + 1 - a->outputs;
    return (transposed_padding){
        .before = before, .after = surplus > 0 ? surplus : 0, .output = surplus < 0 ? -surplus : 0};
}

static void put_transposed_window(th_strbuf *out, const th_layer *l)
{
    const int32_t *d = l->dim;
    transposed_padding h = transposed_padding_of(
        &(transposed_axis){l->in_h, d[TH_DIM_R], l->dilation_h, l->up_h, l->pad_top, d[TH_DIM_H]});
    transposed_padding w = transposed_padding_of(
        &(transposed_axis){l->in_w, d[TH_DIM_S], l->dilation_w, l->up_w, l->pad_left, d[TH_DIM_W]});
    const padding p = {.top = h.before, .bottom = h.after, .left = w.before, .right = w.after};
    put_flag(out, "transposed", true);
    put_pair(out, "stride", l->up_h, l->up_w, 1);
    put_padding(out, &p);
    put_pair(out, "output_padding", h.output, w.output, 0);
}

/* ---- kinds ---- */

static void put_conv(th_strbuf *out, const th_layer *l)
{
    put_extent(out, "outputs", l->dim[TH_DIM_K]);
    put_pair(out, "kernel", l->dim[TH_DIM_R], l->dim[TH_DIM_S], 1);
    put_pair(out, "dilation", l->dilation_h, l->dilation_w, 1);
    if (l->groups != 1)
        put_extent(out, "groups", l->groups);
    if (l->up_h > 1 || l->up_w > 1) {
        put_transposed_window(out, l);
    } else {
        put_pair(out, "stride", l->stride_h, l->stride_w, 1);
        put_window(out, l);
    }
    if (l->has_norm)
        put_flag(out, "norm", true);
    if (l->has_bias == l->has_norm)
        put_flag(out, "bias", l->has_bias);
}

static void put_pool(th_strbuf *out, const th_layer *l)
{
    const int32_t none = 0;
    put_pair(out, "kernel", l->dim[TH_DIM_R], l->dim[TH_DIM_S], none);
    put_pair(out, "stride", l->stride_h, l->stride_w, none);
    put_window(out, l);
}

static void put_matmul(th_strbuf *out, const th_layer *l)
{
    if (l->n_inputs == 2) {
        if (l->groups != 1)
            put_extent(out, "heads", l->groups);
        if (l->is_transposed)
            put_flag(out, "transposed", true);
        return;
    }
    put_extent(out, "columns", l->dim[TH_DIM_K]);
    if (l->groups != 1)
        put_extent(out, "heads", l->groups);
    if (l->has_bias)
        put_flag(out, "bias", true);
}

static void put_dense(th_strbuf *out, const th_layer *l)
{
    put_extent(out, "outputs", l->dim[TH_DIM_K]);
    if (!l->has_bias)
        put_flag(out, "bias", false);
}

/* Where it is not that of the first input. */
static void put_output(th_strbuf *out, const th_layer *l)
{
    static const char *const keys[] = {"outputs", "height", "width"};
    const int32_t made[] = {l->dim[TH_DIM_K], l->dim[TH_DIM_H], l->dim[TH_DIM_W]};
    for (int i = 0; i < 3; i++)
        if (made[i] != l->input_shapes[i])
            put_extent(out, keys[i], made[i]);
}

static void put_kind(th_strbuf *out, const th_layer *l)
{
    switch (l->kind) {
    case TH_LAYER_CONV:
        put_conv(out, l);
        break;
    case TH_LAYER_FC:
    case TH_LAYER_LSTM:
    case TH_LAYER_GRU:
    case TH_LAYER_RNN:
        put_dense(out, l);
        break;
    case TH_LAYER_MATMUL:
        put_matmul(out, l);
        break;
    case TH_LAYER_EMBEDDING:
        put_extent(out, "outputs", l->dim[TH_DIM_K]);
        put_extent(out, "vocabulary", l->vocabulary);
        break;
    case TH_LAYER_POOL:
        put_pool(out, l);
        break;
    case TH_LAYER_SOFTMAX:
    case TH_LAYER_ATTENTION:
        if (l->groups != 1)
            put_extent(out, "heads", l->groups);
        if (l->causal_rows > 0)
            put_extent(out, "causal_rows", l->causal_rows);
        if (l->window > 0)
            put_extent(out, "window", l->window);
        break;
    case TH_LAYER_SLICE:
        put_extent(out, "channels", l->dim[TH_DIM_K]);
        if (l->first_channel > 0)
            put_extent(out, "first", l->first_channel);
        break;
    case TH_LAYER_ELEMENTWISE:
        if (l->input_shapes)
            put_output(out, l);
        break;
    case TH_LAYER_NORM:
    case TH_LAYER_CONCAT:
        break;
    }
}

/* ---- what every layer has ---- */

static const char *input_name(const th_workload *w, int32_t input)
{
    return input == TH_EXTERNAL_INPUT ? "input" : w->layers[input].name;
}

/* Without the key a layer reads the one before it, the first one the input: TH_EXTERNAL_INPUT is
 * -1. */
static void put_inputs(th_strbuf *out, const th_workload *w, int layer)
{
    const th_layer *l = &w->layers[layer];
    if (l->n_inputs == 1 && l->inputs[0] == layer - 1)
        return;
    th_strbuf_add(out, l->n_inputs == 1 ? " inputs = " : " inputs = [");
    for (int i = 0; i < l->n_inputs; i++) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        th_config_put_text(out, input_name(w, l->inputs[i]));
    }
    th_strbuf_add(out, l->n_inputs == 1 ? ";" : "];");
}

/* What does not follow from the producers. */
static void put_read_shape(th_strbuf *out, const th_workload *w, const th_layer *l)
{
    const th_model m = th_workload_part(w, th_workload_part_of(w, (int)(l - w->layers), 0));
    if (!w->has_free_shapes && !(m.has_own_inputs && l->inputs[0] == TH_EXTERNAL_INPUT))
        return;
    put_extent(out, "in_channels", l->dim[TH_DIM_C]);
    put_extent(out, "in_height", l->in_h);
    put_extent(out, "in_width", l->in_w);
}

static void put_tensors(th_strbuf *out, const th_workload *w, const th_layer *l)
{
    bool keeps = l->kind == TH_LAYER_CONCAT || l->kind == TH_LAYER_SLICE;
    bool is_product = th_layer_multiplies_activations(l);
    const th_precision *p = l->precision;
    th_precision both = keeps ? p[TH_TENSOR_INPUT] : w->precision;
    if (!is_product) { /* whose weights are an input */
        put_precision(out, "precision", p[TH_TENSOR_WEIGHT], both);
        both = p[TH_TENSOR_WEIGHT];
    }
    put_precision(out, "output_precision", p[TH_TENSOR_OUTPUT], both);
    if (th_layer_has_weights(l))
        put_share(out, "weight_density", l->density[TH_TENSOR_WEIGHT], 1);
    if (l->sparse_m > 0)
        th_strbuf_printf(out, " sparsity = [%d, %d];", (int)l->sparse_n, (int)l->sparse_m);
    put_share(out, "output_density", l->density[TH_TENSOR_OUTPUT],
              keeps ? l->density[TH_TENSOR_INPUT] : 1);
}

static void put_layer(th_strbuf *out, const th_workload *w, int layer)
{
    const th_layer *l = &w->layers[layer];
    th_strbuf_add(out, "    { name = ");
    th_config_put_text(out, l->name);
    th_strbuf_printf(out, "; type = \"%s\";", th_layer_type_name(l));
    put_inputs(out, w, layer);
    put_read_shape(out, w, l);
    put_kind(out, l);
    put_tensors(out, w, l);
    if (l->tied_to > 0) {
        th_strbuf_add(out, " weights_of = ");
        th_config_put_text(out, w->layers[l->tied_to - 1].name);
        th_strbuf_add(out, ";");
    }
    th_strbuf_add(out, layer + 1 < w->n_layers ? " },\n" : " }\n");
}

/* ---- the file ---- */

static void put_input(th_strbuf *out, const th_model *m)
{
    th_strbuf_add(out, "input = {");
    th_fields_write(th_input_fields, m, (th_fields_form){" ", ";", false}, out);
    th_strbuf_add(out, " };");
}

static void put_head(th_strbuf *out, const th_workload *w)
{
    const th_workload_head h = {w->batch, (int32_t)w->precision,
                                w->has_free_shapes  ? TH_SHAPES_FREE
                                : w->has_own_inputs ? TH_SHAPES_OWN
                                                    : TH_SHAPES_MATCHED};
    const th_model m = {
        .input_c = w->input_c, .input_h = w->input_h, .input_w = w->input_w, .density = w->density};
    th_strbuf_add(out, "name = ");
    th_config_put_text(out, w->name);
    th_strbuf_add(out, ";\n");
    th_fields_write(th_workload_fields, &h, (th_fields_form){"", ";\n", false}, out);
    put_input(out, &m);
    th_strbuf_add(out, "\n");
}

static void put_models(th_strbuf *out, const th_workload *w)
{
    for (int i = 0; i < w->n_models; i++) {
        th_strbuf_add(out, i > 0 ? ",\n    {" : "models = (\n    {");
        th_fields_write(th_model_fields, &w->models[i], (th_fields_form){" ", ";", false}, out);
        th_strbuf_add(out, " ");
        put_input(out, &w->models[i]);
        th_strbuf_add(out, " }");
    }
    th_strbuf_add(out, w->n_models > 0 ? "\n);\n" : "");
}

int th_workload_write(const th_workload *w, th_strbuf *out, th_error *err)
{
    put_head(out, w);
    put_models(out, w);
    th_strbuf_add(out, "layers = (\n");
    for (int i = 0; i < w->n_layers; i++)
        put_layer(out, w, i);
    th_strbuf_add(out, ");\n");
    return out->failed ? th_error_no_memory(err) : 0;
}
