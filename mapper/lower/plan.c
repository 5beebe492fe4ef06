/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.c - the life of plans, and the facts that follow from the system and the workload alone:
 * classes of layers of equal shape, hosts and the routes to them. plan_lookup.c finds plans by key;
 * plan_layer.c and plan_edge.c make them. */
#include <config.h>

#include "mapper/lower/plan_state.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "topology/routing/route.h"

/* All that a plan may depend on, but for the batch. The key ends with the inputs' channels of a
 * concat, the inputs' extents of an elementwise layer. */
static size_t shape_of(const th_layer *l, int32_t *key)
{
    size_t n = 0;
    key[n++] = (int32_t)l->kind;
    key[n++] = (int32_t)l->function;
    for (int d = TH_DIM_K; d < TH_N_DIMS; d++)
        key[n++] = l->dim[d];
    for (int t = 0; t < TH_N_TENSORS; t++) {
        key[n++] = (int32_t)l->precision[t];
        key[n++] = th_density_ppm(l->density[t]);
    }
    const int32_t rest[] = {
        l->in_h,     l->in_w,          l->stride_h,   l->stride_w,   l->pad_top,  l->pad_left,
        l->up_h,     l->up_w,          l->dilation_h, l->dilation_w, l->groups,   l->has_bias,
        l->has_norm, l->is_transposed, l->vocabulary, l->sparse_n,   l->sparse_m, l->first_channel,
        l->n_inputs, l->causal_rows,   l->window};
    memcpy(key + n, rest, sizeof rest);
    n += sizeof rest / sizeof *rest;
    for (int i = 0; l->input_channels && i < l->n_inputs; i++)
        key[n++] = l->input_channels[i];
    for (int i = 0; l->input_shapes && i < 3 * l->n_inputs; i++)
        key[n++] = l->input_shapes[i];
    return n * sizeof *key;
}

enum { SHAPE_WORDS = TH_N_DIMS + 2 * TH_N_TENSORS + 22 }; /* without the inputs */

static bool inputs_differ(const th_layer *l)
{
    return l->n_inputs > 1 &&
           (l->kind == TH_LAYER_CONCAT || l->input_shapes || th_layer_has_macs(l));
}

/* The number of l's class: that of an equal shape, or else *next, which is advanced. -1:
 * memory is out. */
static int32_t class_of(th_map *shapes, const th_layer *l, int32_t *key, int64_t *next)
{
    int64_t class = *next;
    size_t bytes = shape_of(l, key);
    if (th_map_get(shapes, key, bytes, &class))
        return (int32_t) class;
    *next += inputs_differ(l) ? l->n_inputs : 1;
    return th_map_put(shapes, key, bytes, class) ? -1 : (int32_t) class;
}

static int find_classes(th_plans *p)
{
    size_t longest = 0;
    int64_t next = 0;
    for (int l = 0; l < p->workload->n_layers; l++)
        if ((size_t)p->workload->layers[l].n_inputs > longest)
            longest = (size_t)p->workload->layers[l].n_inputs;
    th_map *shapes = th_map_new();
    int32_t *key = th_alloc_array(SHAPE_WORDS + 3 * longest, sizeof *key);
    int failed = shapes && key ? 0 : -1;
    for (int l = 0; !failed && l < p->workload->n_layers; l++) {
        p->facts.shape_class[l] = class_of(shapes, &p->workload->layers[l], key, &next);
        p->facts.inputs_differ[l] = inputs_differ(&p->workload->layers[l]);
        failed = p->facts.shape_class[l] < 0;
    }
    th_map_free(shapes);
    th_free(key);
    return failed ? -1 : 0;
}

/* 0, or -1: memory is out. */
static int find_hosts(th_plans *p)
{
    const th_system *s = p->system;
    for (int a = 0; a < s->n_accels; a++) {
        th_route_summary best = {0}, r;
        p->facts.host_of[a] = -1;
        for (int h = 0; h < s->n_hosts; h++) {
            int status =
                th_route_of_message(s, s->host_node[h], s->accel_node[a], TH_ANY_BYTES, &r);
            if (status == TH_NO_MEMORY)
                return -1;
            if (status < 0)
                continue;
            bool better = p->facts.host_of[a] < 0 || r.bits_per_s > best.bits_per_s ||
                          (r.bits_per_s == best.bits_per_s && r.n_links < best.n_links);
            if (better) {
                p->facts.host_of[a] = s->host_node[h];
                best = r;
            }
        }
    }
    return 0;
}

static int make_memos(th_plans *p)
{
    p->memo.sets = th_shared_map_new();
    p->memo.layers = th_shared_map_new();
    p->memo.edges = th_shared_map_new();
    p->memo.held = th_shared_map_new();
    return p->memo.sets && p->memo.layers && p->memo.edges && p->memo.held ? 0 : -1;
}

/* With what is its own alone. NULL: memory is out. */
static th_plans *new_plans(const th_system *s, const th_workload *w)
{
    th_plans *p = th_alloc_zero(1, sizeof *p);
    if (!p)
        return NULL;
    p->system = s;
    p->workload = w;
    p->first = p;
    p->arena = th_arena_new();
    p->scratch = th_arena_new();
    p->routes.medium_ps = th_alloc_zero((size_t)s->n_media + 1, sizeof *p->routes.medium_ps);
    if (p->arena && p->scratch && p->routes.medium_ps)
        return p;
    th_plans_free(p);
    return NULL;
}

th_plans *th_plans_new(const th_system *s, const th_workload *w, th_error *err)
{
    th_plans *p = new_plans(s, w);
    if (!p)
        goto fail;
    p->facts.shape_class = th_alloc_zero((size_t)w->n_layers + 1, sizeof *p->facts.shape_class);
    p->facts.inputs_differ = th_alloc_zero((size_t)w->n_layers + 1, sizeof *p->facts.inputs_differ);
    p->facts.host_of = th_alloc_zero((size_t)s->n_accels + 1, sizeof *p->facts.host_of);
    if (!p->facts.shape_class || !p->facts.inputs_differ || !p->facts.host_of || make_memos(p) ||
        find_classes(p) || find_hosts(p))
        goto fail;
    p->costs = th_compute_cost_cache_new(s, err);
    if (p->costs)
        return p;
    th_plans_free(p);
    return NULL;
fail:
    th_error_no_memory(err);
    th_plans_free(p);
    return NULL;
}

th_plans *th_plans_share(th_plans *of, th_error *err)
{
    th_plans *first = of->first, *p = new_plans(first->system, first->workload);
    if (!p) {
        th_error_no_memory(err);
        return NULL;
    }
    p->first = first;
    p->costs = first->costs;
    p->memo = first->memo;
    p->facts = first->facts;
    p->next = first->next;
    first->next = p;
    return p;
}

bool th_plans_are_shared(const th_plans *p)
{
    return p->first->next;
}

static void free_known(th_plans *p)
{
    th_compute_cost_cache_free(p->costs);
    th_shared_map_free(p->memo.sets);
    th_shared_map_free(p->memo.layers);
    th_shared_map_free(p->memo.edges);
    th_shared_map_free(p->memo.held);
    th_free(p->facts.shape_class);
    th_free(p->facts.inputs_differ);
    th_free(p->facts.host_of);
}

void th_plans_free(th_plans *p)
{
    if (!p)
        return;
    for (th_plans *q = p->first; q; q = q->next)
        if (q->next == p)
            q->next = p->next;
    if (p->first == p)
        free_known(p);
    th_arena_free(p->arena);
    th_arena_free(p->scratch);
    th_free(p->routes.medium_ps);
    th_free(p->routes.by_pair);
    th_free(p->routes.media);
    th_free(p);
}

th_compute_cost_cache *th_plans_costs(const th_plans *p)
{
    return p->costs;
}

bool th_plans_is_fatal(const th_error *err)
{
    return th_error_is_no_memory(err) || th_script_is_cause(err);
}

size_t th_plans_held_bytes(const th_plans *p)
{
    return atomic_load_explicit(&p->first->held_bytes, memory_order_relaxed);
}

void th_plans_trim(th_plans *p, size_t limit)
{
    if (th_plans_held_bytes(p) <= limit)
        return;
    th_shared_map_clear(p->memo.layers);
    th_shared_map_clear(p->memo.edges);
    th_shared_map_clear(p->memo.held);
    for (th_plans *q = p->first; q; q = q->next)
        th_arena_reset(q->arena);
    atomic_store_explicit(&p->first->held_bytes, 0, memory_order_relaxed);
}

void *th_plans_alloc(th_plans *p, size_t n, size_t size)
{
    void *block = th_arena_alloc(p->arena, n * size + 1);
    if (block)
        memset(block, 0, n * size + 1);
    if (p->arena != p->scratch)
        atomic_fetch_add_explicit(&p->first->held_bytes, n * size + 1, memory_order_relaxed);
    return block;
}

int32_t th_plans_shape_class(const th_plans *p, int layer)
{
    return p->facts.shape_class[layer];
}

int th_plans_host_of(const th_plans *p, int accel)
{
    return p->facts.host_of[accel];
}
