/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choices.c - the strategies of a layer on a set that dynamic programming chooses from: the KEPT
 * that are quickest for the layer alone, and every split along a single dimension. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/search/initial/initial_mapping_state.h"
#include "mapper/strategies.h"

/* On large sets more are kept: their times differ little, but the traffic that they cause differs
 * much. */
enum { KEPT = 16, KEPT_SPLITS = 32 };

void th_choices_free(th_choices *c)
{
    if (!c)
        return;
    th_free(c->strategy);
    th_free(c->time);
    th_free(c->resident_bytes);
    th_free(c);
}

int th_initial_trim_plans(th_initial_generator *g)
{
    if (!g->shares)
        th_plans_trim(g->plans, TH_PLANS_LIMIT);
    else
        g->is_full |= th_plans_held_bytes(g->plans) > TH_PLANS_LIMIT;
    return g->is_full ? -1 : 0;
}

static int by_time(const void *a, const void *b)
{
    const th_timed_strategy *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order - y->order;
}

/* On a set of one, which needs no split, the design is the reason that a layer cannot run. */
static void note_infeasibility(th_initial_generator *g, const th_error *reason, bool is_of_design)
{
    if (g->infeasibility.id[0] && g->infeasibility_is_of_design >= is_of_design)
        return;
    g->infeasibility = *reason;
    g->infeasibility_is_of_design = is_of_design;
}

th_time th_initial_layer_time(th_initial_generator *g, const th_set *set, int layer,
                              const th_strategy *strategy, th_error *err)
{
    th_placed at;
    th_error reason;
    if (th_plans_place(g->plans, layer, set, strategy, &at, err))
        return -1;
    const th_layer_plan *plan = th_plans_layer(g->plans, &at, g->batch, &reason);
    if (plan)
        return th_plans_layer_time(g->plans, &at, plan, err);
    if (th_plans_is_fatal(&reason))
        return th_error_set(err, reason.id, "%s", reason.text);
    note_infeasibility(g, &reason, true);
    return TH_TIME_MAX;
}

static bool is_pure(const th_strategy *s)
{
    int n = 0;
    for (int d = 0; d < TH_N_DIMS; d++)
        n += s->split[d] > 1;
    return n <= 1 && s->rotate == TH_NO_ROTATION;
}

static bool same_split(const th_strategy *a, const th_strategy *b)
{
    return memcmp(a->split, b->split, sizeof a->split) == 0;
}

/* Of the splits kept so far, is it the first with its rotation or without? */
static bool is_new_split(const th_choices *c, const th_strategy *s)
{
    int i = 0;
    while (i < c->n && !same_split(&c->strategy[i], s))
        i++;
    return i == c->n;
}

static bool is_kept(const th_choices *c, const th_timed_strategy *t, int rank, bool is_large)
{
    return rank < KEPT || is_pure(&t->strategy) ||
           (is_large && c->n < KEPT_SPLITS && is_new_split(c, &t->strategy));
}

static th_choices *keep_best(const th_timed_strategy *all, int n, bool is_large)
{
    th_choices *c = th_alloc_zero(1, sizeof *c);
    if (!c)
        return NULL;
    c->strategy = th_alloc_array((size_t)n + 1, sizeof *c->strategy);
    c->time = th_alloc_array((size_t)n + 1, sizeof *c->time);
    c->resident_bytes = th_alloc_array((size_t)n + 1, sizeof *c->resident_bytes);
    if (!c->strategy || !c->time || !c->resident_bytes) {
        th_choices_free(c);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        if (!is_kept(c, &all[i], i, is_large))
            continue;
        c->strategy[c->n] = all[i].strategy;
        c->time[c->n++] = all[i].time;
    }
    return c;
}

/* The strategies of a list that the set's design can run, with their times. */
typedef struct {
    const th_set *set;
    int layer;
    const th_strategy *list;
    th_timed_strategy *timed;
    int n; /* timed so far */
} timing;

static int time_one(th_initial_generator *g, timing *t, int i, th_error *err)
{
    th_time time = th_initial_layer_time(g, t->set, t->layer, &t->list[i], err);
    if (time < 0)
        return -1;
    if (time < TH_TIME_MAX)
        t->timed[t->n++] = (th_timed_strategy){t->list[i], time, i};
    return 0;
}

static bool contains(const th_timed_strategy *some, int n, int order)
{
    bool found = false;
    for (int i = 0; i < n; i++)
        found |= some[i].order == order;
    return found;
}

/* Times the n strategies of the list. Of very many, rotations are timed for the quickest splits
 * alone: a rotation saves memory and exchange, seldom time. In the list each split stands before
 * its rotations. 0 or -1. */
static int time_all(th_initial_generator *g, timing *t, int n, th_error *err)
{
    enum { MANY = 256, ROTATED_SPLITS = 24 };
    int split = 0;
    for (int i = 0; i < n; i++)
        if ((n <= MANY || t->list[i].rotate == TH_NO_ROTATION) && time_one(g, t, i, err))
            return -1;
    if (n <= MANY)
        return 0;
    qsort(t->timed, (size_t)t->n, sizeof *t->timed, by_time);
    const int n_quickest = t->n < ROTATED_SPLITS ? t->n : ROTATED_SPLITS;
    for (int i = 0; i < n; i++) {
        split = t->list[i].rotate == TH_NO_ROTATION ? i : split;
        if (split != i && contains(t->timed, n_quickest, split) && time_one(g, t, i, err))
            return -1;
    }
    return 0;
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

int32_t th_initial_given(const th_initial_generator *g, int layer)
{
    return layer >= 0 && th_constraints_fixed_strategy(g->constraints, layer) ? layer : -1;
}

int th_initial_timed_strategies(th_initial_generator *g, const th_set *set, int layer,
                                th_timed_strategy **out, th_error *err)
{
    if (th_initial_trim_plans(g))
        return -1;
    const th_layer *l = &g->workload->layers[layer];
    th_error none;
    th_strategy *list = NULL;
    const th_strategy *given = th_constraints_fixed_strategy(g->constraints, layer);
    int n = given ? list_given(given, l, g->batch, set->n_accels, &list)
                  : th_strategies_list(l, g->batch, set->n_accels, &list);
    th_timed_strategy *all = n < 0 ? NULL : th_alloc_array((size_t)n + 1, sizeof *all);
    timing t = {set, layer, list, all, 0};
    int failed = all ? time_all(g, &t, n, err) : th_error_no_memory(err);
    if (n == 0) {
        th_error_set(&none, "MAP-0040", "layer \"%s\" cannot be split %sover %d accelerator%s",
                     l->name, given ? "as the partial mapping gives it " : "", (int)set->n_accels,
                     set->n_accels == 1 ? "" : "s");
        note_infeasibility(g, &none, false);
    }
    th_free(list);
    if (failed) {
        th_free(all);
        return -1;
    }
    qsort(all, (size_t)t.n, sizeof *all, by_time);
    *out = all;
    return t.n;
}

/* Of the fullest position. */
static int64_t resident_bytes(const th_layer *l, const th_set *set, const th_strategy *s)
{
    int64_t most = 0;
    for (int r = 0; r < set->n_accels; r++) {
        int64_t bytes = th_shard_weight_bytes(l, s, set->shares, r);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static th_choices *make_choices(th_initial_generator *g, const th_set *set, int layer,
                                th_error *err)
{
    th_timed_strategy *all;
    int n = th_initial_timed_strategies(g, set, layer, &all, err);
    if (n < 0)
        return NULL;
    th_choices *c = keep_best(all, n, set->n_accels >= TH_INITIAL_LARGE_SET);
    if (!c)
        th_error_no_memory(err);
    for (int i = 0; c && i < c->n; i++)
        c->resident_bytes[i] = resident_bytes(&g->workload->layers[layer], set, &c->strategy[i]);
    th_free(all);
    return c;
}

enum { CHOICE_WORDS = 3 };

/* 0 or -1. */
static int key_of_choices(const th_initial_generator *g, const th_set *set, int layer, int32_t *key,
                          th_error *err)
{
    int32_t members_id;
    if (th_plans_set_ids(g->plans, set, &key[0], &members_id, err))
        return -1;
    key[1] = th_plans_shape_class(g->plans, layer);
    key[2] = th_initial_given(g, layer);
    return 0;
}

/* Takes c over. Returns the choices that the key has from now on, c or equal ones. NULL: out of
 * memory. */
static const th_choices *keep_choices(th_initial_cache *m, const int32_t *key, size_t bytes,
                                      th_choices *c)
{
    const th_choices *kept = NULL;
    pthread_mutex_lock(&m->lock);
    if (th_grow(&m->choices, &m->choice_capacity, m->n_choices + 1, sizeof *m->choices) == 0)
        kept = th_shared_map_add(m->choices_by_key, key, bytes, c);
    if (kept == c)
        m->choices[m->n_choices++] = c;
    pthread_mutex_unlock(&m->lock);
    if (kept != c)
        th_choices_free(c);
    return kept;
}

const th_choices *th_initial_choices(th_initial_generator *g, const th_set *set, int layer,
                                     th_error *err)
{
    int32_t key[CHOICE_WORDS];
    if (key_of_choices(g, set, layer, key, err))
        return NULL;
    const th_choices *kept = th_shared_map_find(g->cache->choices_by_key, key, sizeof key);
    if (kept)
        return kept;
    th_choices *c = make_choices(g, set, layer, err);
    if (!c)
        return NULL;
    kept = keep_choices(g->cache, key, sizeof key, c);
    if (!kept)
        th_error_no_memory(err);
    return kept;
}
