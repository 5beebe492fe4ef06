/* SPDX-License-Identifier: GPL-3.0-or-later */
/* norm.c - layer and rms norms out of their passes.
 *
 * rms norm    x -> power -> mean over the channels -> (shift, root, reciprocal) -> times x
 *             -> times a weight per channel
 * layer norm  the same of x less its mean over the channels, -> plus a bias per channel
 * Exporters write them so for versions before 17, and for rms norms in all. */
#include <config.h>
#include "workloads/fuse/plan.h"

static bool is_mean_of_channels(const th_layer *l)
{
    return l && l->kind == TH_LAYER_ELEMENTWISE && l->function == TH_FUNCTION_REDUCE &&
           l->n_inputs == 1 && l->dim[TH_DIM_K] == 1 && l->dim[TH_DIM_H] == l->in_h &&
           l->dim[TH_DIM_W] == l->in_w;
}

/* A pass that combines a whole tensor with one channel for each pixel. */
static bool spreads(const th_layer *l, th_function f)
{
    return l && l->kind == TH_LAYER_ELEMENTWISE && l->function == f && l->n_inputs == 2 &&
           l->input_shapes && l->input_shapes[3] == 1 && l->input_shapes[4] == l->dim[TH_DIM_H] &&
           l->input_shapes[5] == l->dim[TH_DIM_W];
}

/* Takes the highest source if the region owns it and it is a pass. NULL: it is not. */
static const th_layer *take_highest(th_region *g)
{
    int i = th_region_highest(g);
    if (i < 0 || g->is_too_large || !th_region_owns(g, g->sources[i].layer))
        return NULL;
    const th_layer *l = th_fuse_layer(g->plan, g->sources[i].layer);
    if (l->kind != TH_LAYER_ELEMENTWISE)
        return NULL;
    th_region_take(g, i);
    return l;
}

/* From the inverse deviation back to the mean of squares, and to what is squared. */
static bool take_deviation(th_region *g)
{
    const th_layer *l;
    do
        l = take_highest(g);
    while (l && (th_fuse_is_unary(l, TH_FUNCTION_SHIFT) || th_fuse_is_unary(l, TH_FUNCTION_POWER) ||
                 th_fuse_is_unary(l, TH_FUNCTION_SCALE)));
    if (!is_mean_of_channels(l))
        return false;
    int i = th_region_highest(g);
    const th_layer *square = i < 0 ? NULL : th_fuse_layer(g->plan, g->sources[i].layer);
    bool is_square = square && (th_fuse_is_unary(square, TH_FUNCTION_POWER) ||
                                (square->function == TH_FUNCTION_MUL && square->n_inputs == 2 &&
                                 square->inputs[0] == square->inputs[1]));
    return !is_square || take_highest(g);
}

/* From x less its mean back to x. */
static bool take_centred(th_region *g)
{
    int i = th_region_highest(g);
    const th_layer *l = i < 0 ? NULL : th_fuse_layer(g->plan, g->sources[i].layer);
    if (!spreads(l, TH_FUNCTION_SHIFT))
        return false;
    const th_layer *mean = th_fuse_layer(g->plan, l->inputs[1]);
    return is_mean_of_channels(mean) && mean->inputs[0] == l->inputs[0] && take_highest(g) == l &&
           take_highest(g) == mean;
}

/* The product of x and its inverse deviation, with the weight (and bias) behind it as the last. */
static const th_layer *find_last_passes(th_region *g, bool *has_bias)
{
    const th_layer *l = th_fuse_layer(g->plan, g->last);
    *has_bias = th_fuse_is_unary(l, TH_FUNCTION_SHIFT);
    if (*has_bias)
        l = take_highest(g);
    if (!l || !th_fuse_is_unary(l, TH_FUNCTION_SCALE))
        return NULL;
    l = take_highest(g);
    return spreads(l, TH_FUNCTION_SCALE) ? l : NULL;
}

void th_fuse_norm(th_fuse_plan *plan, int32_t last)
{
    const th_layer *l = &plan->w->layers[last];
    th_made_inputs inputs = {.n = 0};
    bool has_bias;
    th_region g;
    if (!th_fuse_is_unary(l, TH_FUNCTION_SCALE) && !th_fuse_is_unary(l, TH_FUNCTION_SHIFT))
        return;
    th_region_start(&g, plan, last);
    if (!find_last_passes(&g, &has_bias) || !take_deviation(&g))
        return;
    bool is_centred = take_centred(&g);
    if (g.n_sources != 1 || g.is_too_large || (has_bias && !is_centred))
        return;
    th_layer made = *l;
    made.kind = TH_LAYER_NORM;
    made.function = is_centred ? TH_FUNCTION_LAYER_NORM : TH_FUNCTION_RMS_NORM;
    th_made_add(&inputs, &g.sources[0]);
    th_made_set(&inputs, &made, false);
    th_fuse_replace(plan, &g, &made);
}
