/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.c - see plan.h. */
#include <config.h>
#include "workloads/fuse/plan.h"

#include <string.h>

#include "base/alloc.h"

/* ---- regions ---- */

void th_region_add_source(th_region *g, const th_source *s)
{
    for (int k = 0; k < g->n_sources; k++)
        if (memcmp(&g->sources[k], s, sizeof *s) == 0)
            return;
    g->is_too_large |= g->n_sources == TH_REGION_MAX;
    if (!g->is_too_large)
        g->sources[g->n_sources++] = *s;
}

th_source th_source_of(const th_layer *l, int input)
{
    th_box box = th_layer_input_box(l, input);
    return (th_source){l->inputs[input], {box.hi[1], box.hi[2], box.hi[3]}};
}

static void add_sources(th_region *g, int32_t layer)
{
    const th_layer *l = &g->plan->w->layers[layer];
    for (int i = 0; i < l->n_inputs; i++) {
        const th_source s = th_source_of(l, i);
        th_region_add_source(g, &s);
    }
}

void th_region_start(th_region *g, const th_fuse_plan *plan, int32_t last)
{
    *g = (th_region){.plan = plan, .last = last};
    add_sources(g, last);
}

int th_region_highest(const th_region *g)
{
    int best = -1;
    for (int i = 0; i < g->n_sources; i++)
        if (g->sources[i].layer != TH_EXTERNAL_INPUT &&
            (best < 0 || g->sources[i].layer > g->sources[best].layer))
            best = i;
    return best;
}

static bool has_member(const th_region *g, int32_t layer)
{
    for (int i = 0; i < g->n_members; i++)
        if (g->members[i] == layer)
            return true;
    return layer == g->last;
}

bool th_region_owns(const th_region *g, int32_t layer)
{
    const th_workload *w = g->plan->w;
    if (layer == TH_EXTERNAL_INPUT || g->plan->is_fused[layer])
        return false;
    for (int32_t i = w->consumer_start[layer]; i < w->consumer_start[layer + 1]; i++)
        if (!has_member(g, w->consumers[i]))
            return false;
    return true;
}

void th_region_take(th_region *g, int source)
{
    int32_t layer = g->sources[source].layer;
    int n = 0;
    for (int i = 0; i < g->n_sources; i++) /* it may be read in several extents */
        if (g->sources[i].layer != layer)
            g->sources[n++] = g->sources[i];
    g->n_sources = n;
    g->is_too_large |= g->n_members == TH_REGION_MAX;
    if (g->is_too_large)
        return;
    g->members[g->n_members++] = layer;
    add_sources(g, layer);
}

/* ---- layers ---- */

const th_layer *th_fuse_layer(const th_fuse_plan *plan, int32_t layer)
{
    return layer == TH_EXTERNAL_INPUT ? NULL : &plan->w->layers[layer];
}

int32_t th_fuse_sole_consumer(const th_workload *w, int32_t layer)
{
    int32_t first = w->consumer_start[layer];
    return w->consumer_start[layer + 1] - first == 1 ? w->consumers[first] : -1;
}

bool th_fuse_is_unary(const th_layer *l, th_function f)
{
    return l->kind == TH_LAYER_ELEMENTWISE && l->function == f && l->n_inputs == 1 &&
           !l->input_shapes;
}

/* ---- matches ---- */

static void remove_members(th_fuse_plan *plan, const th_region *g)
{
    for (int i = 0; i < g->n_members; i++)
        plan->is_fused[g->members[i]] = plan->is_gone[g->members[i]] = true;
    plan->is_fused[g->last] = true;
    plan->n_matches++;
}

/* NULL where there are none; sets has_no_memory. */
static int32_t *copy_numbers(th_fuse_plan *plan, const int32_t *from, size_t n)
{
    int32_t *to = from ? th_alloc_array(n, sizeof *to) : NULL;
    if (to)
        memcpy(to, from, n * sizeof *to);
    plan->has_no_memory |= from && !to;
    return to;
}

bool th_fuse_replace(th_fuse_plan *plan, const th_region *g, const th_layer *made)
{
    th_layer *l = &plan->made[g->last];
    size_t n = (size_t)made->n_inputs;
    for (size_t i = 0; i < n; i++)
        if (has_member(g, made->inputs[i]))
            return false;
    *l = *made;
    l->name = plan->w->layers[g->last].name;
    l->inputs = copy_numbers(plan, made->inputs, n);
    l->input_shapes = copy_numbers(plan, made->input_shapes, 3 * n);
    l->input_channels = NULL;
    remove_members(plan, g);
    return true;
}

bool th_fuse_is_relayed(const th_region *g, int32_t layer)
{
    const th_layer *l = th_fuse_layer(g->plan, layer);
    return l && l->kind == TH_LAYER_ELEMENTWISE && l->function == TH_FUNCTION_COPY &&
           l->n_inputs == 1 && l->inputs[0] != TH_EXTERNAL_INPUT && th_region_owns(g, layer);
}

void th_fuse_relay(th_fuse_plan *plan, const th_region *g, const th_source *s)
{
    const th_layer *from = th_fuse_layer(plan, s->layer);
    int32_t shapes[3];
    if (!th_fuse_is_relayed(g, s->layer) ||
        (from->dim[TH_DIM_K] == s->shape[0] && from->dim[TH_DIM_H] == s->shape[1] &&
         from->dim[TH_DIM_W] == s->shape[2]))
        return;
    th_layer made = *from;
    th_source read = th_source_of(from, 0);
    memcpy(shapes, read.shape, sizeof shapes);
    made.dim[TH_DIM_K] = s->shape[0];
    made.dim[TH_DIM_H] = s->shape[1];
    made.dim[TH_DIM_W] = s->shape[2];
    made.input_shapes = shapes;
    const th_region alone = {.plan = plan, .last = s->layer};
    th_fuse_replace(plan, &alone, &made);
}

void th_fuse_remove(th_fuse_plan *plan, const th_region *g, int32_t stands_for)
{
    remove_members(plan, g);
    plan->is_gone[g->last] = true;
    plan->stands_for[g->last] = stands_for;
}

void th_made_add(th_made_inputs *m, const th_source *s)
{
    memcpy(m->shapes + 3 * m->n, s->shape, sizeof s->shape);
    m->inputs[m->n++] = s->layer;
}

void th_made_set(const th_made_inputs *m, th_layer *l, bool has_shapes)
{
    l->inputs = (int32_t *)m->inputs;
    l->n_inputs = m->n;
    l->input_shapes = has_shapes ? (int32_t *)m->shapes : NULL;
}
