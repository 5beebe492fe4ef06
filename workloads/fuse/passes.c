/* SPDX-License-Identifier: GPL-3.0-or-later */
/* passes.c - passes over one tensor that one kernel makes: activations of several functions, an
 * activation in the layer before it, an activation that gates another tensor, rotary embeddings.
 *
 * An activation is a region of functions of every element, of which at least two paths from its
 * only source join: x sigmoid(x), x (1 + erf(x / sqrt 2)) / 2. A rotary embedding turns pairs of
 * channels: it is a region of slices, products with cosines and sines, sums and joins, whose source
 * has its extents; what it reads besides are cosines and sines. */
#include <config.h>
#include "workloads/fuse/plan.h"

/* ---- activations ----------------------------------------------------------------------------- */

static bool is_activation(const th_layer *l)
{
    return th_fuse_is_unary(l, TH_FUNCTION_RELU) || th_fuse_is_unary(l, TH_FUNCTION_SIGMOID) ||
           th_fuse_is_unary(l, TH_FUNCTION_TANH) || th_fuse_is_unary(l, TH_FUNCTION_GELU) ||
           th_fuse_is_unary(l, TH_FUNCTION_SILU);
}

static bool joins(const th_layer *l)
{
    return l->kind == TH_LAYER_ELEMENTWISE && !l->input_shapes &&
           (l->function == TH_FUNCTION_MUL || l->function == TH_FUNCTION_ADD);
}

/* A function of every element by itself. */
static bool is_pointwise(const th_layer *l)
{
    return is_activation(l) || joins(l) || th_fuse_is_unary(l, TH_FUNCTION_SCALE) ||
           th_fuse_is_unary(l, TH_FUNCTION_SHIFT) || th_fuse_is_unary(l, TH_FUNCTION_POWER);
}

/* x sigmoid(x) and its like, or else functions with a power series: gelu. */
static th_function function_of(const th_region *g)
{
    for (int i = 0; i < g->n_members; i++) {
        th_function f = th_fuse_layer(g->plan, g->members[i])->function;
        if (f == TH_FUNCTION_SIGMOID || f == TH_FUNCTION_RELU)
            return TH_FUNCTION_SILU;
    }
    return TH_FUNCTION_GELU;
}

/* Grows the region until two paths have joined in one source. */
static bool find_source(th_region *g)
{
    bool has_joined = joins(th_fuse_layer(g->plan, g->last));
    for (int i; (i = th_region_highest(g)) >= 0 && !g->is_too_large;) {
        const th_layer *l = th_fuse_layer(g->plan, g->sources[i].layer);
        if (g->n_sources == 1 && has_joined)
            return g->n_members > 0;
        if (!is_pointwise(l) || !th_region_owns(g, g->sources[i].layer))
            return false;
        has_joined |= joins(l);
        th_region_take(g, i);
    }
    return g->n_sources == 1 && has_joined && g->n_members > 0 && !g->is_too_large;
}

void th_fuse_activation(th_fuse_plan *plan, int32_t last)
{
    const th_layer *l = &plan->w->layers[last];
    th_made_inputs inputs = {.n = 0};
    th_region g;
    if (!joins(l) && !th_fuse_is_unary(l, TH_FUNCTION_SCALE) &&
        !th_fuse_is_unary(l, TH_FUNCTION_SHIFT))
        return;
    th_region_start(&g, plan, last);
    if (!find_source(&g))
        return;
    th_layer made = *l;
    made.function = function_of(&g);
    th_made_add(&inputs, &g.sources[0]);
    th_made_set(&inputs, &made, false);
    th_fuse_replace(plan, &g, &made);
}

/* ---- in the layer before --------------------------------------------------------------------- */

void th_fuse_into_producer(th_fuse_plan *plan, int32_t last)
{
    const th_layer *l = &plan->w->layers[last];
    const th_layer *from = is_activation(l) ? th_fuse_layer(plan, l->inputs[0]) : NULL;
    bool takes_it = from && (from->kind == TH_LAYER_CONV || from->kind == TH_LAYER_FC ||
                             from->kind == TH_LAYER_NORM);
    if (!takes_it || th_fuse_sole_consumer(plan->w, l->inputs[0]) != last ||
        from->precision[TH_TENSOR_OUTPUT] != l->precision[TH_TENSOR_OUTPUT])
        return;
    th_region g;
    th_region_start(&g, plan, last);
    th_fuse_remove(plan, &g, l->inputs[0]);
}

/* ---- gates ----------------------------------------------------------------------------------- */

void th_fuse_gate(th_fuse_plan *plan, int32_t last)
{
    const th_layer *l = &plan->w->layers[last];
    th_made_inputs inputs = {.n = 0};
    th_region g;
    if (!joins(l) || l->function != TH_FUNCTION_MUL || l->n_inputs != 2)
        return;
    th_region_start(&g, plan, last);
    for (int i = 0; i < 2; i++) {
        const th_layer *from = th_fuse_layer(plan, l->inputs[i]);
        if (!from || !is_activation(from) || !th_region_owns(&g, l->inputs[i]))
            continue;
        const th_source activated = th_source_of(from, 0), other = th_source_of(l, 1 - i);
        th_made_add(&inputs, &activated);
        th_made_add(&inputs, &other);
        g.members[g.n_members++] = l->inputs[i];
        th_layer made = *l;
        made.function = TH_FUNCTION_GATE;
        th_made_set(&inputs, &made, false);
        th_fuse_replace(plan, &g, &made);
        return;
    }
}

/* ---- rotary embeddings ----------------------------------------------------------------------- */

typedef struct {
    int n_parts, n_products, n_sums, n_joined;
} rotary_counts;

/* Counts a layer that a rotary embedding may contain. */
static bool count(const th_layer *l, rotary_counts *n)
{
    bool is_elementwise = l->kind == TH_LAYER_ELEMENTWISE,
         is_copy = is_elementwise && l->function == TH_FUNCTION_COPY;
    if (l->kind == TH_LAYER_CONCAT || (is_copy && l->n_inputs > 1))
        n->n_joined++;
    else if (l->kind == TH_LAYER_SLICE || is_copy)
        n->n_parts++;
    else if (is_elementwise && (l->function == TH_FUNCTION_SCALE || l->function == TH_FUNCTION_MUL))
        n->n_products++;
    else if (is_elementwise && l->function == TH_FUNCTION_ADD)
        n->n_sums++;
    else
        return false;
    return true;
}

/* Two parts of the source are multiplied, summed and joined. */
static bool turns(const rotary_counts *n)
{
    return n->n_parts >= 2 && n->n_products >= 2 && n->n_sums >= 1 && n->n_joined >= 1;
}

/* Whatever their layout. */
static bool has_elements_of(const th_source *s, const th_layer *l)
{
    return (int64_t)s->shape[0] * s->shape[1] * s->shape[2] ==
           (int64_t)l->dim[TH_DIM_K] * l->dim[TH_DIM_H] * l->dim[TH_DIM_W];
}

/* Puts a source first, and adds those that were put aside. */
static bool put_first(th_region *g, int source, const th_region *others)
{
    const th_source s = g->sources[source];
    g->sources[source] = g->sources[0];
    g->sources[0] = s;
    for (int k = 0; k < others->n_sources; k++)
        th_region_add_source(g, &others->sources[k]);
    return !g->is_too_large;
}

/* Grows the region to the tensor that is turned, and puts that first among the sources. */
static bool find_turned(th_region *g, rotary_counts *n)
{
    const th_layer *last = th_fuse_layer(g->plan, g->last);
    th_region others = {.n_sources = 0};
    for (int i; (i = th_region_highest(g)) >= 0 && !g->is_too_large;) {
        const th_source s = g->sources[i];
        const th_layer *l = th_fuse_layer(g->plan, s.layer);
        rotary_counts more = *n;
        bool is_member = count(l, &more) && th_region_owns(g, s.layer);
        bool is_product = is_member && more.n_products > n->n_products;
        if (turns(n) && has_elements_of(&s, last) && !is_product)
            return put_first(g, i, &others);
        if (is_member) {
            *n = more;
            th_region_take(g, i);
        } else { /* cosines, sines */
            th_region_add_source(&others, &s);
            g->sources[i] = g->sources[--g->n_sources];
        }
    }
    bool is_input = g->n_sources == 1 && turns(n) && has_elements_of(&g->sources[0], last);
    return is_input && put_first(g, 0, &others);
}

void th_fuse_rotary(th_fuse_plan *plan, int32_t last)
{
    const th_layer *l = &plan->w->layers[last];
    rotary_counts n = {0};
    th_made_inputs inputs = {.n = 0};
    th_region g;
    if (l->n_inputs != 2 || !count(l, &n) || n.n_products > 0)
        return;
    th_region_start(&g, plan, last);
    if (!find_turned(&g, &n))
        return;
    th_layer made =
        th_layer_over(TH_LAYER_ELEMENTWISE, l->dim[TH_DIM_B], l->dim[TH_DIM_K], l->dim[TH_DIM_H],
                      l->dim[TH_DIM_W], l->precision[TH_TENSOR_INPUT]);
    made.precision[TH_TENSOR_OUTPUT] = l->precision[TH_TENSOR_OUTPUT];
    made.function = TH_FUNCTION_ROTARY;
    for (int i = 0; i < g.n_sources; i++)
        th_made_add(&inputs, &g.sources[i]);
    const int32_t *turned = g.sources[0].shape;
    made.dim[TH_DIM_C] = turned[0];
    made.in_h = turned[1];
    made.in_w = turned[2];
    bool is_relaid = turned[0] != l->dim[TH_DIM_K] || turned[1] != l->dim[TH_DIM_H] ||
                     turned[2] != l->dim[TH_DIM_W];
    th_made_set(&inputs, &made, inputs.n > 1 || is_relaid);
    th_fuse_replace(plan, &g, &made);
}
