/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_inputs_read.c - see layer_inputs_read.h. */
#include <config.h>
#include "workloads/layer_inputs_read.h"

/* The network that the layer belongs to, whose input it may read. */
static th_model network_of(const th_layer_source *s)
{
    return th_workload_part(s->w, th_workload_part_of(s->w, (int)(s->layer - s->w->layers), 0));
}

static const th_layer *maker_of(const th_layer_source *s, int input)
{
    int32_t producer = s->layer->inputs[input];
    return producer == TH_EXTERNAL_INPUT ? NULL : &s->w->layers[producer];
}

/* Does the layer itself say what it reads from there? */
static bool says_shape(const th_layer_source *s, const th_layer *from)
{
    return s->w->has_free_shapes || (!from && network_of(s).has_own_inputs);
}

th_input_shape th_layer_input_shape(const th_layer_source *s, int input)
{
    const th_layer *l = s->layer;
    const th_layer *from = maker_of(s, input);
    if (says_shape(s, from)) /* th_layer_take_inputs has seen it */
        return (th_input_shape){l->dim[TH_DIM_C], l->in_h, l->in_w};
    const th_model m = network_of(s);
    if (!from)
        return (th_input_shape){m.input_c, m.input_h, m.input_w};
    return (th_input_shape){from->dim[TH_DIM_K], from->dim[TH_DIM_H], from->dim[TH_DIM_W]};
}

static double density_of(const th_layer_source *s, int input)
{
    const th_layer *from = maker_of(s, input);
    return from ? from->density[TH_TENSOR_OUTPUT] : network_of(s).density;
}

/* The part that is not zero of n inputs together. */
static double density_of_inputs(const th_layer_source *s, int n)
{
    double elements = 0, present = 0, first = density_of(s, 0);
    bool are_equal = true;
    for (int i = 0; i < n; i++) {
        th_input_shape in = th_layer_input_shape(s, i);
        are_equal = are_equal && density_of(s, i) == first;
        elements += (double)in.c * in.h * in.w;
        present += (double)in.c * in.h * in.w * density_of(s, i);
    }
    return are_equal ? first : present / elements;
}

/* What a layer says that it reads, or else what its first input is. */
static int take_free_shape(const th_layer_source *s, const th_layer *from)
{
    th_layer *l = s->layer;
    const th_model m = network_of(s);
    l->dim[TH_DIM_C] = from ? from->dim[TH_DIM_K] : m.input_c;
    l->in_h = from ? from->dim[TH_DIM_H] : m.input_h;
    l->in_w = from ? from->dim[TH_DIM_W] : m.input_w;
    if (th_layer_read_extent(s, "in_channels", false, &l->dim[TH_DIM_C]) < 0 ||
        th_layer_read_extent(s, "in_height", false, &l->in_h) < 0)
        return -1;
    return th_layer_read_extent(s, "in_width", false, &l->in_w);
}

int th_layer_take_inputs(const th_layer_source *s)
{
    th_layer *l = s->layer;
    const th_layer *from = maker_of(s, 0);
    if (says_shape(s, from) && take_free_shape(s, from) < 0)
        return -1;
    th_input_shape in = th_layer_input_shape(s, 0);
    l->in_h = in.h;
    l->in_w = in.w;
    l->precision[TH_TENSOR_INPUT] =
        from ? from->precision[TH_TENSOR_OUTPUT] : network_of(s).precision;
    l->density[TH_TENSOR_INPUT] =
        density_of_inputs(s, th_layer_multiplies_activations(l) ? 1 : l->n_inputs);
    if (th_layer_multiplies_activations(l))
        l->density[TH_TENSOR_WEIGHT] = density_of(s, 1);
    return 0;
}

static int read_sparsity(const th_layer_source *s)
{
    const th_config_node *member = th_config_member(s->n, "sparsity");
    int64_t values[2] = {0, 0};
    if (!member)
        return 0;
    if (th_config_kind_of(member) != TH_CONFIG_LIST || th_config_count(member) != 2)
        return th_error_set(s->err, "WORK-0044",
                            "%s:%d: key \"sparsity\": must be [n, m]: at most n of m neighbours "
                            "are not zero",
                            th_config_file(member), th_config_line(member));
    for (int i = 0; i < 2; i++)
        if (th_config_as_int(th_config_at(member, i), 1, TH_LARGEST_EXTENT, &values[i], s->err) < 0)
            return -1;
    s->layer->sparse_n = (int32_t)values[0];
    s->layer->sparse_m = (int32_t)values[1];
    return 0;
}

/* precision is that of weights and outputs; the tensors' own keys go before it. Those of an
 * attention are its last part's. */
int th_layer_read_tensors(const th_layer_source *s, bool keeps_precision, bool is_inner)
{
    th_layer *l = s->layer;
    th_precision *p = l->precision, both = keeps_precision ? p[TH_TENSOR_INPUT] : s->w->precision;
    if (l->kind == TH_LAYER_CONCAT || l->kind == TH_LAYER_SLICE)
        l->density[TH_TENSOR_OUTPUT] = l->density[TH_TENSOR_INPUT];
    if (th_read_precision(s->n, "precision", &both, s->err) < 0)
        return -1;
    p[TH_TENSOR_WEIGHT] = th_layer_multiplies_activations(l) ? p[TH_TENSOR_INPUT] : both;
    p[TH_TENSOR_OUTPUT] = both;
    if (is_inner)
        return 0;
    if (th_read_precision(s->n, "weight_precision", &p[TH_TENSOR_WEIGHT], s->err) < 0 ||
        th_read_precision(s->n, "output_precision", &p[TH_TENSOR_OUTPUT], s->err) < 0 ||
        th_read_density(s->n, "weight_density", &l->density[TH_TENSOR_WEIGHT], s->err) < 0 ||
        th_read_density(s->n, "output_density", &l->density[TH_TENSOR_OUTPUT], s->err) < 0)
        return -1;
    return read_sparsity(s);
}
