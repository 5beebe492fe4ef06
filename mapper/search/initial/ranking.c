/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranking.c - the strategies of a layer on a set by ascending time, each timed no earlier than its
 * place in the order requires.
 *
 *   rank -> (next | narrow)* -> free
 *
 * A heap holds strategies by their time or, where that is not known yet, by a lower bound of it
 * (th_plans_layer_bound), which costs one position instead of all. The first strategy whose time is
 * known is next: no other can be quicker. Ties go to the earlier in the list of strategies.h. So
 * the order is that of timing all strategies and sorting them. */
#include <config.h>

#include "base/alloc.h"
#include "mapper/search/initial/initial_mapping_state.h"
#include "mapper/strategies.h"

typedef struct {
    th_time time; /* or a lower bound */
    int order;    /* in the list */
    bool is_timed;
} ranked;

static bool is_before(const ranked *a, const ranked *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

#define TH_HEAP_ITEM                  ranked
#define TH_HEAP_OWNER                 th_strategy_ranking
#define TH_HEAP_BEFORE(owner, a, b)   is_before(a, b)
#define TH_HEAP_MOVED(owner, item, i) ((void)(item))
#include "base/heap.h"

struct th_strategy_ranking {
    th_initial_generator *generator;
    const th_set *set;
    int layer;
    th_strategy *list;
    int n_listed;
    ranked *heap;
    size_t n;
};

static void push(th_strategy_ranking *r, ranked item)
{
    th_heap_up(r, r->heap, r->n++, item);
}

static ranked pop(th_strategy_ranking *r)
{
    ranked first = r->heap[0];
    th_heap_remove(r, r->heap, --r->n, 0);
    return first;
}

/* Adds a strategy with a bound of its time; or with its time where the bound's position cannot run
 * it, so that the reason noted is that of the first position. 0 or -1. */
static int add(th_strategy_ranking *r, int order, th_error *err)
{
    th_initial_generator *g = r->generator;
    th_placed at;
    if (th_plans_place(g->plans, r->layer, r->set, &r->list[order], &at, err))
        return -1;
    ranked item = {th_plans_layer_bound(g->plans, &at, g->batch, err), order, false};
    if (item.time == TH_TIME_MAX) {
        item.time = th_initial_layer_time(g, r->set, r->layer, &r->list[order], NULL, err);
        item.is_timed = true;
    }
    if (item.time >= 0 && item.time < TH_TIME_MAX)
        push(r, item);
    return item.time < 0 ? -1 : 0;
}

/* The quickest one. 1; 0: there is none left; -1: error. */
static int take(th_strategy_ranking *r, ranked *out, th_error *err)
{
    while (r->n > 0) {
        *out = pop(r);
        if (out->is_timed)
            return 1;
        out->time =
            th_initial_layer_time(r->generator, r->set, r->layer, &r->list[out->order], NULL, err);
        out->is_timed = true;
        if (out->time < 0)
            return -1;
        if (out->time < TH_TIME_MAX)
            push(r, *out);
    }
    return 0;
}

static bool rotates(const th_strategy_ranking *r, int order)
{
    return r->list[order].rotate != TH_NO_ROTATION;
}

/* Of very many strategies, rotations of the quickest splits alone: a rotation saves memory and
 * exchange, seldom time. In the list each split stands before its rotations. 0 or -1. */
static int add_rotations_of_quickest(th_strategy_ranking *r, th_error *err)
{
    enum { ROTATED_SPLITS = 24 };
    ranked quickest[ROTATED_SPLITS];
    int n = 0, status = 1;
    while (n < ROTATED_SPLITS && (status = take(r, &quickest[n], err)) > 0)
        n++;
    for (int i = 0; i < n; i++)
        push(r, quickest[i]);
    for (int i = 0; i < n && status >= 0; i++)
        for (int k = quickest[i].order + 1; k < r->n_listed && rotates(r, k) && status >= 0; k++)
            status = add(r, k, err);
    return status < 0 ? -1 : 0;
}

static int add_all(th_strategy_ranking *r, bool with_rotations, th_error *err)
{
    enum { MANY = 256 };
    const bool is_many = r->n_listed > MANY;
    for (int i = 0; i < r->n_listed; i++)
        if ((!rotates(r, i) || (with_rotations && !is_many)) && add(r, i, err))
            return -1;
    return with_rotations && is_many ? add_rotations_of_quickest(r, err) : 0;
}

/* A list of it alone, or of nothing where it does not fit. Returns the length; -1: out of memory.
 */
static int list_given(const th_strategy *given, const th_layer *l, int32_t batch, int n,
                      th_strategy **list)
{
    if (!th_strategy_fits(given, l, batch, n))
        return 0;
    *list = th_alloc_array(1, sizeof **list);
    if (!*list)
        return -1;
    **list = *given;
    return 1;
}

static void note_unsplit(const th_strategy_ranking *r, bool is_given)
{
    th_error none;
    th_error_set(&none, "MAP-0040", "layer \"%s\" cannot be split %sover %d accelerator%s",
                 r->generator->workload->layers[r->layer].name,
                 is_given ? "as the partial mapping gives it " : "", (int)r->set->n_accels,
                 r->set->n_accels == 1 ? "" : "s");
    th_initial_note_infeasibility(r->generator, &none, false);
}

th_strategy_ranking *th_initial_rank(th_initial_generator *g, const th_set *set, int layer,
                                     bool with_rotations, th_error *err)
{
    if (th_initial_trim_plans(g))
        return NULL;
    const th_layer *l = &g->workload->layers[layer];
    const th_strategy *given = th_constraints_fixed_strategy(g->constraints, layer);
    th_strategy_ranking *r = th_alloc_zero(1, sizeof *r);
    if (!r) {
        th_error_no_memory(err);
        return NULL;
    }
    *r = (th_strategy_ranking){.generator = g, .set = set, .layer = layer};
    r->n_listed = given ? list_given(given, l, g->batch, set->n_accels, &r->list)
                  : g->without_copies
                      ? th_strategies_list(l, g->batch, set->n_accels, &r->list)
                      : th_strategies_list_copied(l, g->batch, set->n_accels, false, &r->list);
    if (r->n_listed >= 0)
        r->heap = th_alloc_array((size_t)r->n_listed + 1, sizeof *r->heap);
    if (r->heap ? add_all(r, with_rotations, err) : th_error_no_memory(err)) {
        th_ranking_free(r);
        return NULL;
    }
    if (r->n_listed == 0)
        note_unsplit(r, given);
    return r;
}

void th_ranking_free(th_strategy_ranking *r)
{
    if (!r)
        return;
    th_free(r->list);
    th_free(r->heap);
    th_free(r);
}

int th_ranking_next(th_strategy_ranking *r, th_timed_strategy *out, th_error *err)
{
    ranked next;
    int status = take(r, &next, err);
    if (status > 0)
        *out = (th_timed_strategy){r->list[next.order], next.time, next.order};
    return status;
}

void th_ranking_narrow(th_strategy_ranking *r, bool (*is_wanted)(const th_strategy *s))
{
    size_t n = r->n;
    r->n = 0;
    for (size_t i = 0; i < n; i++)
        if (is_wanted(&r->list[r->heap[i].order]))
            push(r, r->heap[i]);
}

int th_initial_timed_strategies(th_initial_generator *g, const th_set *set, int layer,
                                th_timed_strategy **out, th_error *err)
{
    int n = 0, status = -1;
    th_strategy_ranking *r = th_initial_rank(g, set, layer, true, err);
    th_timed_strategy *all = r ? th_alloc_array(r->n + 1, sizeof *all) : NULL;
    if (r && !all)
        th_error_no_memory(err);
    while (all && (status = th_ranking_next(r, &all[n], err)) > 0)
        n++;
    th_ranking_free(r);
    if (status < 0) {
        th_free(all);
        return -1;
    }
    *out = all;
    return n;
}
