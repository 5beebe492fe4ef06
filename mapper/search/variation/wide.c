/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wide.c - see wide.h.
 *   wide: a copy of mother -> one change -> layers of the vector unit without a strategy of their
 *     own follow */
#include <config.h>

#include "mapper/search/variation/wide.h"

#include <string.h>

#include "base/alloc.h"
#include "base/elementary.h"
#include "mapper/strategies.h"

/* --- blocks --- */

th_alike th_alike_layers(const int32_t *shape, int n, int layer)
{
    for (int p = 2; p <= n / 2; p++) {
        /* shapes from .. to + p repeat at p; one of the last block begins a block before */
        int from = layer >= p && shape[layer - p] == shape[layer] ? layer - p : layer, to = from;
        while (from > 0 && from - 1 + p < n && shape[from - 1] == shape[from - 1 + p])
            from--;
        while (to + p < n && shape[to] == shape[to + p])
            to++;
        if (to - from >= p)
            return (th_alike){from + (layer - from) % p, to + p, p};
    }
    return (th_alike){layer, layer + 1, 0};
}

static th_alike alike_of(const th_variation *v, int layer, bool in_all_blocks)
{
    const th_plans *plans = th_lower_plans(th_evaluator_lower(th_pool_evaluator(v->search->pool)));
    const int n = v->search->problem.workload->n_layers;
    th_alike all = {layer, layer + 1, 0};
    int32_t *shape = in_all_blocks ? th_alloc_array((size_t)n + 1, sizeof *shape) : NULL;
    for (int l = 0; shape && l < n; l++)
        shape[l] = th_plans_shape_class(plans, l);
    if (shape)
        all = th_alike_layers(shape, n, layer);
    th_free(shape);
    return all;
}

/* --- strategies --- */

/* Any; that of a layer near; or one factor of its own along another dimension. */
static int draw_strategy(th_variation *v, const th_mapping *m, int l, th_strategy *s, th_error *err)
{
    enum { NEAR = 3 };
    const int from = l - NEAR + th_variation_below(v, 2 * NEAR + 1);
    th_strategy *list = NULL;
    if (th_variation_chance(v, 0.5)) {
        if (from >= 0 && from < m->n_layers)
            *s = m->strategy[from];
        return 0;
    }
    int n =
        th_strategies_list_all(&v->search->problem.workload->layers[l], th_search_batch(v->search),
                               m->sets[m->set_of[l]].n_accels, &list);
    if (n > 0) {
        *s = list[th_variation_below(v, n)];
        th_strategy_take_chunks(s, &m->strategy[l]);
    }
    th_free(list);
    return n < 0 ? th_error_no_memory(err) : 0;
}

/* A layer, and those alike in other blocks, get a strategy or chunks. 0; 1: cannot; -1. */
static int change_layers(th_variation *v, th_mapping *m, th_wide kind, th_error *err)
{
    const bool in_all = kind == TH_WIDE_BLOCKS_STRATEGY || kind == TH_WIDE_BLOCKS_CHUNKS;
    const th_workload *w = v->search->problem.workload;
    const int l = th_variation_below(v, m->n_layers);
    const th_alike all = alike_of(v, l, in_all);
    th_strategy s = m->strategy[l];
    if (in_all && all.period == 0)
        return 1;
    if (kind == TH_WIDE_CHUNKS || kind == TH_WIDE_BLOCKS_CHUNKS)
        th_variation_draw_chunks(v, &s);
    else if (draw_strategy(v, m, l, &s, err))
        return -1;
    for (int i = all.first; i < all.end; i += all.period ? all.period : 1) {
        th_strategy one = s;
        if (!th_strategy_repair(&one, &w->layers[i], th_search_batch(v->search),
                                m->sets[m->set_of[i]].n_accels))
            return 1;
        m->strategy[i] = one;
        m->own[i] = !th_layer_has_macs(&w->layers[i]);
    }
    return th_mapping_follow(m, w, th_search_batch(v->search)) ? 0 : 1;
}

/* --- members --- */

static void swap(int32_t *at, int32_t i, int32_t j)
{
    int32_t x = at[i];
    at[i] = at[j];
    at[j] = x;
}

static int change_members(th_variation *v, th_mapping *m, th_wide kind)
{
    const double LARGEST_STEP = 0.7; /* of the logarithm of a share */
    th_set *set = &m->sets[th_variation_below(v, m->n_sets)];
    int32_t a = (int32_t)th_variation_below(v, set->n_accels),
            b = (int32_t)th_variation_below(v, set->n_accels);
    if (a == b || th_constraints_fixed_set(v->search->problem.constraints, set) ||
        (kind == TH_WIDE_SHARE && !set->shares))
        return 1;
    if (kind == TH_WIDE_PLACES) {
        swap(set->accels, a, b);
        if (set->shares)
            swap(set->shares, a, b);
        return 0;
    }
    double step = LARGEST_STEP * (2 * th_random_unit(v->random) - 1);
    double share = set->shares[a] * th_exp(step * th_random_unit(v->random)) + 0.5;
    set->shares[a] = share < 1 ? 1 : share > TH_SHARE_MAX ? TH_SHARE_MAX : (int32_t)share;
    return 0;
}

enum { FACTORS_MAX = 32 };

/* Prime factors of n; their number. */
static int factors_of(int32_t n, int32_t *factor)
{
    int count = 0;
    for (int32_t f = 2; n > 1; f++)
        for (; n % f == 0; n /= f)
            factor[count++] = f;
    return count;
}

int th_set_digits(const th_set *set)
{
    int32_t radix[FACTORS_MAX];
    return factors_of(set->n_accels, radix);
}

/* Where place r goes when digits i and j change places. */
static int32_t swapped_place(int32_t r, const int32_t *radix, int n, int i, int j)
{
    int32_t digit[FACTORS_MAX], to = 0;
    for (int d = n - 1; d >= 0; r /= radix[d--])
        digit[d] = r % radix[d];
    for (int d = 0; d < n; d++) {
        const int from = d == i ? j : d == j ? i : d;
        to = to * radix[from] + digit[from];
    }
    return to;
}

int th_set_swap_digits(th_set *set, int i, int j)
{
    int32_t radix[FACTORS_MAX];
    const int n = factors_of(set->n_accels, radix);
    const size_t members = (size_t)set->n_accels;
    int32_t *old = th_alloc_array(2 * members, sizeof *old);
    if (!old)
        return -1;
    memcpy(old, set->accels, members * sizeof *old);
    if (set->shares)
        memcpy(old + members, set->shares, members * sizeof *old);
    for (int32_t r = 0; r < set->n_accels; r++) {
        const int32_t to = swapped_place(r, radix, n, i, j);
        set->accels[to] = old[r];
        if (set->shares)
            set->shares[to] = old[members + (size_t)r];
    }
    th_free(old);
    return 0;
}

int th_variation_wide(th_variation *v, const th_mapping *mother, th_wide kind, th_mapping **out,
                      th_error *err)
{
    th_mapping *m = th_mapping_copy(mother);
    if (!m)
        return th_error_no_memory(err);
    m->generator = TH_GENERATOR_MUTATION;
    int failed =
        kind < TH_WIDE_PLACES ? change_layers(v, m, kind, err) : change_members(v, m, kind);
    *out = failed || th_mapping_equal(m, mother) ? NULL : m;
    if (!*out)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}
