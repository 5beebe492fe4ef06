/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.c - scores, scale, masks, softmax and context as one attention layer.
 *
 * The context is a product of two activations whose first factor comes, through passes over the
 * scores alone, from one softmax and one product of two activations. What else these passes read is
 * a mask. Queries, keys and values are followed back through scales and copies into another layout
 * (a transposed copy, keys and values repeated for several heads) that nothing else reads: the
 * attention reads them in any layout, and shared keys once. */
#include <config.h>
#include "workloads/fuse/plan.h"

#include <string.h>

typedef struct {
    th_region region; /* from the context back to the scores, which are a member */
    const th_layer *context, *scores, *softmax;
    int n_softmax;
} match;

static bool is_product(const th_layer *l)
{
    return l && l->kind == TH_LAYER_MATMUL && l->n_inputs == 2 && l->dim[TH_DIM_W] == 1;
}

/* A pass over the scores. */
static bool is_pass(const th_layer *l)
{
    return l->kind == TH_LAYER_SOFTMAX ||
           (l->kind == TH_LAYER_ELEMENTWISE && l->function != TH_FUNCTION_REDUCE);
}

static bool has_extents_of_scores(const th_layer *l, const th_layer *context)
{
    return l->dim[TH_DIM_K] == context->dim[TH_DIM_C] &&
           l->dim[TH_DIM_H] == context->dim[TH_DIM_H] && l->dim[TH_DIM_W] == 1;
}

/* Grows the region through the passes to the scores. The values stay a source, whatever extents
 * they have. */
static void find_scores(match *m)
{
    const th_fuse_plan *plan = m->region.plan;
    th_region later = {.n_sources = 0}; /* masks and values, put aside */
    for (int i;
         !m->scores && (i = th_region_highest(&m->region)) >= 0 && !m->region.is_too_large;) {
        const th_layer *l = th_fuse_layer(plan, m->region.sources[i].layer);
        int32_t layer = m->region.sources[i].layer;
        bool is_inside = layer != m->context->inputs[1] && has_extents_of_scores(l, m->context) &&
                         (is_pass(l) || is_product(l)) && th_region_owns(&m->region, layer);
        if (!is_inside) {
            if (later.n_sources == TH_REGION_MAX)
                return;
            later.sources[later.n_sources++] = m->region.sources[i];
            m->region.sources[i] = m->region.sources[--m->region.n_sources];
            continue;
        }
        m->n_softmax += l->kind == TH_LAYER_SOFTMAX;
        if (l->kind == TH_LAYER_SOFTMAX)
            m->softmax = l;
        if (is_product(l))
            m->scores = l;
        th_region_take(&m->region, i);
    }
    for (int i = 0; i < later.n_sources; i++)
        th_region_add_source(&m->region, &later.sources[i]);
}

static bool is_attention(const match *m)
{
    const th_layer *s = m->scores, *c = m->context;
    if (!s || m->n_softmax != 1 || m->region.is_too_large)
        return false;
    for (int i = 0; i < m->region.n_members; i++) {
        const th_layer *l = th_fuse_layer(m->region.plan, m->region.members[i]);
        if (l->kind == TH_LAYER_SOFTMAX && l->groups != c->groups)
            return false;
    }
    return s->groups == c->groups && s->dim[TH_DIM_B] == c->dim[TH_DIM_B];
}

/* A tensor that an attention may read as the keys, values or queries of these heads. */
typedef struct {
    int32_t heads, width, rows;
    int32_t key_heads; /* that it must have; 0: any number that divides the heads */
} wanted;

static bool is_wanted(const th_source *s, const wanted *x)
{
    int32_t heads = s->shape[0] % x->width == 0 ? s->shape[0] / x->width : 0;
    return heads > 0 && x->heads % heads == 0 && (x->key_heads == 0 || heads == x->key_heads) &&
           s->shape[1] == x->rows && s->shape[2] == 1;
}

/* It can lay its elements out as the attention wants them. */
static bool can_relay(const th_region *g, const th_source *s, const wanted *x)
{
    return th_fuse_is_relayed(g, s->layer) && (int64_t)s->shape[0] * s->shape[1] * s->shape[2] ==
                                                  (int64_t)x->heads * x->width * x->rows;
}

/* Follows a source back to the first tensor that is wanted; what lies between is in *path. False:
 * there is none. */
static bool follow(const th_region *g, th_source from, const wanted *x, th_source *out,
                   th_region *path)
{
    bool is_found = can_relay(g, &from, x);
    int n = g->n_members;
    *path = *g;
    *out = (th_source){from.layer, {x->heads * x->width, x->rows, 1}};
    for (;;) {
        if (is_wanted(&from, x)) {
            *out = from;
            is_found = true;
            n = path->n_members;
        }
        const th_layer *l = th_fuse_layer(g->plan, from.layer);
        bool is_thin = l && l->kind == TH_LAYER_ELEMENTWISE && l->n_inputs == 1 &&
                       l->inputs[0] != TH_EXTERNAL_INPUT && /* a copy of an input names it */
                       (l->function == TH_FUNCTION_COPY || l->function == TH_FUNCTION_SCALE);
        if (!is_thin || !th_region_owns(path, from.layer) || path->n_members == TH_REGION_MAX)
            break;
        path->members[path->n_members++] = from.layer;
        from = th_source_of(l, 0);
    }
    path->n_members = n;
    return is_found;
}

/* Queries, keys and values; *g has then also what lies between them and the products. */
static bool find_inputs(const match *m, int32_t key_heads, th_source out[3], th_region *g)
{
    const th_layer *s = m->scores, *c = m->context;
    int32_t heads = s->groups, keys = s->dim[TH_DIM_K] / heads;
    const wanted q = {heads, s->dim[TH_DIM_C] / heads, s->dim[TH_DIM_H], heads};
    const wanted k = {heads, s->dim[TH_DIM_C] / heads, keys, key_heads};
    const wanted v = {heads, c->dim[TH_DIM_K] / heads, keys, key_heads};
    th_region path = m->region;
    return follow(&path, th_source_of(s, 0), &q, &out[0], g) &&
           follow(g, th_source_of(s, 1), &k, &out[1], &path) &&
           follow(&path, th_source_of(c, 1), &v, &out[2], g) &&
           out[1].shape[0] / k.width == out[2].shape[0] / v.width;
}

static bool is_same_source(const th_source *a, const th_source *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Masks are the region's sources but for what the products multiply. */
static void add_masks(const match *m, th_made_inputs *made)
{
    const th_source of_products[] = {th_source_of(m->scores, 0), th_source_of(m->scores, 1),
                                     th_source_of(m->context, 1)};
    for (int i = 0; i < m->region.n_sources && made->n < TH_REGION_MAX; i++) {
        bool is_mask = true;
        for (int k = 0; k < 3; k++)
            is_mask &= !is_same_source(&m->region.sources[i], &of_products[k]);
        if (is_mask)
            th_made_add(made, &m->region.sources[i]);
    }
}

static bool have_one_precision(const th_fuse_plan *plan, const th_made_inputs *made, th_precision p)
{
    for (int i = 0; i < made->n; i++) {
        const th_layer *l = th_fuse_layer(plan, made->inputs[i]);
        if ((l ? l->precision[TH_TENSOR_OUTPUT] : plan->w->precision) != p)
            return false;
    }
    return true;
}

/* What the softmax knows of its mask, if the rows are still those of whole query heads. */
static void set_mask(th_layer *made, const th_layer *softmax)
{
    int32_t rows = softmax->causal_rows;
    if (rows == 0 || made->dim[TH_DIM_H] % rows != 0 || rows > made->dim[TH_DIM_R])
        return;
    made->causal_rows = rows;
    made->window = softmax->window;
}

void th_fuse_attention(th_fuse_plan *plan, int32_t last)
{
    match m = {.context = &plan->w->layers[last]};
    th_made_inputs inputs = {.n = 0};
    th_source qkv[3];
    th_region all;
    if (!is_product(m.context) || m.context->is_transposed)
        return;
    th_region_start(&m.region, plan, last);
    find_scores(&m);
    if (!is_attention(&m))
        return;
    if (!find_inputs(&m, 0, qkv, &all) && !find_inputs(&m, m.scores->groups, qkv, &all))
        return;
    for (int i = 0; i < 3; i++)
        th_made_add(&inputs, &qkv[i]);
    add_masks(&m, &inputs);
    th_layer made = *m.context;
    made.kind = TH_LAYER_ATTENTION;
    made.dim[TH_DIM_C] = m.scores->dim[TH_DIM_C];
    made.dim[TH_DIM_R] = m.scores->dim[TH_DIM_K] / m.scores->groups;
    set_mask(&made, m.softmax);
    for (int t = TH_TENSOR_INPUT; t <= TH_TENSOR_WEIGHT; t++) {
        made.precision[t] = m.scores->precision[t];
        made.density[t] = m.scores->density[t];
    }
    th_made_set(&inputs, &made, true);
    if (!have_one_precision(plan, &inputs, made.precision[TH_TENSOR_INPUT]))
        return;
    if (th_fuse_replace(plan, &all, &made))
        for (int i = 0; i < 3; i++)
            th_fuse_relay(plan, &all, &qkv[i]);
}
