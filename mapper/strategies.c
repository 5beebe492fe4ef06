/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strategies.c - lists and repairs strategies. No state. */
#include <config.h>

#include "mapper/strategies.h"

#include "base/alloc.h"

/* --- all of them --- */

static const th_dim searched[] = {TH_DIM_B, TH_DIM_K, TH_DIM_C, TH_DIM_H, TH_DIM_W};
enum { N_SEARCHED = sizeof searched / sizeof *searched };

typedef struct {
    const th_layer *layer;
    int32_t batch;
    int n;
    const th_dim *dims;
    int n_dims;
    th_strategy *item;
    size_t count, capacity;
} lister;

static int add_if_fits(lister *l, const th_strategy *s)
{
    if (!th_strategy_fits(s, l->layer, l->batch, l->n))
        return 0;
    if (th_grow(&l->item, &l->capacity, l->count + 1, sizeof *l->item))
        return -1;
    l->item[l->count++] = *s;
    return 0;
}

static int add_rotations(lister *l, th_strategy *s)
{
    if (add_if_fits(l, s))
        return -1;
    for (int i = 0; i < N_SEARCHED; i++) {
        s->rotate = (int32_t)searched[i];
        if (add_if_fits(l, s))
            return -1;
    }
    s->rotate = TH_NO_ROTATION;
    return 0;
}

/* Every way to write left as a product over the dimensions from i on. */
static int split_rest(lister *l, th_strategy *s, int i, int left)
{
    if (i == l->n_dims)
        return left == 1 ? add_rotations(l, s) : 0;
    for (int f = 1; f <= left; f++) {
        if (left % f != 0)
            continue;
        s->split[l->dims[i]] = f;
        if (split_rest(l, s, i + 1, left / f))
            return -1;
    }
    s->split[l->dims[i]] = 1;
    return 0;
}

typedef enum { COPIES_NONE, COPIES_NEEDED, COPIES_ANY } copies_listed;

static int list_over(const th_layer *l, int32_t batch, int n, const th_dim *dims, int n_dims,
                     copies_listed what, th_strategy **list)
{
    lister all = {l, batch, n, dims, n_dims, NULL, 0, 0};
    th_strategy s = th_strategy_single;
    const int most = what == COPIES_NONE ? 1 : n;
    for (int copies = 1; copies <= most && (what == COPIES_ANY || all.count == 0); copies++) {
        th_strategy_set_copies(&s, copies);
        if (n % copies == 0 && split_rest(&all, &s, 0, n / copies)) {
            th_free(all.item);
            return -1;
        }
    }
    *list = all.item;
    return (int)all.count;
}

int th_strategies_list(const th_layer *l, int32_t batch, int n, th_strategy **list)
{
    return list_over(l, batch, n, searched, N_SEARCHED, COPIES_NONE, list);
}

int th_strategies_list_copied(const th_layer *l, int32_t batch, int n, bool any, th_strategy **list)
{
    return list_over(l, batch, n, searched, N_SEARCHED, any ? COPIES_ANY : COPIES_NEEDED, list);
}

int th_strategies_list_all(const th_layer *l, int32_t batch, int n, th_strategy **list)
{
    return th_strategies_list_full(l, batch, n, false, list);
}

int th_strategies_list_full(const th_layer *l, int32_t batch, int n, bool copies,
                            th_strategy **list)
{
    static const th_dim all[TH_N_DIMS] = {TH_DIM_B, TH_DIM_K, TH_DIM_C, TH_DIM_H,
                                          TH_DIM_W, TH_DIM_R, TH_DIM_S};
    return list_over(l, batch, n, all, TH_N_DIMS, copies ? COPIES_ANY : COPIES_NONE, list);
}

/* --- the nearest one --- */

static int32_t extent_of(const th_layer *l, int32_t batch, int d)
{
    return d == TH_DIM_B ? batch : l->dim[d];
}

static int smallest_factor(int n)
{
    for (int f = 2; f * f <= n; f++)
        if (n % f == 0)
            return f;
    return n;
}

/* The dimension with most elements per piece left that can be cut f times more; -1: none. */
static int roomiest(const th_strategy *s, const th_layer *l, int32_t batch, int f)
{
    static const th_dim order[] = {TH_DIM_K, TH_DIM_H, TH_DIM_W, TH_DIM_B, TH_DIM_C};
    int best = -1, best_room = 0;
    for (int i = 0; i < N_SEARCHED; i++) {
        int d = order[i], room = extent_of(l, batch, d) / s->split[d];
        int pieces = s->split[d] * f;
        if (room >= f && room > best_room && th_layer_can_split(l, (th_dim)d, pieces)) {
            best = d;
            best_room = room;
        }
    }
    return best;
}

static void shrink_to_fit(th_strategy *s, const th_layer *l, int32_t batch, int n)
{
    int left = n;
    for (int d = 0; d < TH_N_DIMS; d++) {
        while (s->split[d] > 1 &&
               (s->split[d] > extent_of(l, batch, d) || left % s->split[d] != 0 ||
                !th_layer_can_split(l, (th_dim)d, s->split[d])))
            s->split[d] /= smallest_factor(s->split[d]);
        left /= s->split[d];
    }
}

static int pieces_of(const th_strategy *s)
{
    int product = 1;
    for (int d = 0; d < TH_N_DIMS; d++)
        product *= s->split[d];
    return product;
}

/* Factors that fit into no dimension become copies; a layer that all run whole stays whole. */
static void cut_further(th_strategy *s, const th_layer *l, int32_t batch, int n)
{
    const bool is_whole = s->copies > 0 && pieces_of(s) == 1;
    int copies = 1;
    shrink_to_fit(s, l, batch, n);
    for (int left = n / pieces_of(s), f; left > 1; left /= f) {
        f = smallest_factor(left);
        int d = is_whole ? -1 : roomiest(s, l, batch, f);
        *(d < 0 ? &copies : &s->split[d]) *= f;
    }
    th_strategy_set_copies(s, copies);
}

bool th_strategy_repair(th_strategy *s, const th_layer *l, int32_t batch, int n)
{
    if (th_strategy_fits(s, l, batch, n))
        return true;
    cut_further(s, l, batch, n);
    if (!th_strategy_fits(s, l, batch, n))
        th_strategy_set_chunks(s, 0, 0);
    if (!th_strategy_fits(s, l, batch, n))
        s->rotate = TH_NO_ROTATION;
    return th_strategy_fits(s, l, batch, n);
}

bool th_strategy_follow(th_strategy *s, const th_layer *l, int32_t batch, int n,
                        const th_strategy *producer)
{
    *s = producer ? *producer : th_strategy_single; /* producer may be s */
    if (producer) {
        int pieces = s->split[TH_DIM_C] * s->split[TH_DIM_R] * s->split[TH_DIM_S];
        s->rotate = TH_NO_ROTATION;
        s->split[TH_DIM_C] = s->split[TH_DIM_R] = s->split[TH_DIM_S] = 1;
        s->split[TH_DIM_K] *= pieces; /* reduced pieces are cut along K as a rule */
    }
    return th_strategy_repair(s, l, batch, n);
}

/* Of those that can be cut at all: into as many pieces as n's smallest factor. */
static th_dim longest_of(const th_layer *l, int32_t batch, int n, const th_dim *dims, int n_dims,
                         th_dim except)
{
    th_dim best = TH_N_DIMS;
    for (int i = 0; i < n_dims; i++) {
        int32_t extent = extent_of(l, batch, dims[i]);
        if (dims[i] == except || extent == 1 || !th_layer_can_split(l, dims[i], smallest_factor(n)))
            continue;
        if (best == TH_N_DIMS || extent > extent_of(l, batch, best))
            best = dims[i];
    }
    return best;
}

bool th_strategy_longest(th_strategy *s, const th_layer *l, int32_t batch, int n,
                         const th_dim *dims, int n_dims)
{
    int half = 1;
    while ((half + 1) * (half + 1) <= n)
        half++;
    while (n % half != 0)
        half--;
    th_dim first = longest_of(l, batch, n, dims, n_dims, TH_N_DIMS);
    th_dim second = longest_of(l, batch, n, dims, n_dims, first);
    *s = th_strategy_single;
    if (second == TH_N_DIMS)
        half = 1;
    if (first != TH_N_DIMS)
        s->split[first] = n / half;
    if (second != TH_N_DIMS)
        s->split[second] = half;
    return th_strategy_repair(s, l, batch, n);
}

/* The strategy of the layer's first producer on its set, of those in copies only if there is no
 * other; NULL: there is none. */
static const th_strategy *producer_of(const th_mapping *m, const th_layer *l, int32_t set)
{
    const th_strategy *first = NULL;
    for (int i = 0; i < l->n_inputs; i++)
        if (l->inputs[i] >= 0 && m->set_of[l->inputs[i]] == set &&
            (!first || (first->copies > 0 && m->strategy[l->inputs[i]].copies == 0)))
            first = &m->strategy[l->inputs[i]];
    return first;
}

bool th_mapping_is_free(const th_mapping *m, const th_workload *w, int layer)
{
    const th_layer *l = &w->layers[layer];
    return th_layer_has_macs(l) || m->own[layer] || !producer_of(m, l, m->set_of[layer]);
}

bool th_mapping_follow_one(th_mapping *m, const th_workload *w, int32_t batch, int layer)
{
    const th_layer *l = &w->layers[layer];
    int32_t n = m->sets[m->set_of[layer]].n_accels;
    const th_strategy *producer = producer_of(m, l, m->set_of[layer]);
    th_strategy own = m->strategy[layer];
    bool has_own = m->own[layer] && th_strategy_repair(&own, l, batch, n),
         fits = producer ? th_strategy_follow(&m->strategy[layer], l, batch, n, producer)
                         : th_strategy_repair(&m->strategy[layer], l, batch, n);
    m->own[layer] = has_own && producer && !(fits && th_strategy_equal(&own, &m->strategy[layer]));
    if (m->own[layer])
        m->strategy[layer] = own;
    return fits || m->own[layer];
}

bool th_mapping_follow(th_mapping *m, const th_workload *w, int32_t batch)
{
    bool fits = true;
    for (int l = 0; fits && l < w->n_layers; l++)
        fits = th_layer_has_macs(&w->layers[l]) || th_mapping_follow_one(m, w, batch, l);
    return fits;
}

void th_mapping_find_own(th_mapping *m, const th_workload *w, int32_t batch)
{
    for (int l = 0; l < w->n_layers; l++)
        if ((m->own[l] = !th_layer_has_macs(&w->layers[l])))
            th_mapping_follow_one(m, w, batch, l);
}
