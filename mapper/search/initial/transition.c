/* SPDX-License-Identifier: GPL-3.0-or-later */
/* transition.c - the time between two layers in dynamic programming.
 *
 *   path_to -> matrix_of -> transition*
 *
 * The ancestor of a free layer (th_mapping_is_free) is the nearest free one along first inputs on
 * the same set; layers of the vector unit between them follow the ancestor. So the graph becomes a
 * forest, on which dynamic programming is exact. Left out are the other inputs of adds, all overlap
 * but that of chunks with those of the layer before, contention and other sets, which the
 * simulation of the mapping includes. A transition is computed when it is first needed: on a large
 * set one takes as long as some thousand pairs of positions, and dynamic programming never needs
 * most of them. Invariant: time[] of a matrix
 * depends on its key alone, so it does not matter which thread computes an entry, or whether two
 * do. */
#include <config.h>

#include "mapper/search/initial/initial_mapping_state.h"

#include <string.h>

#include "base/alloc.h"
#include "mapper/strategies.h"

static const th_time IMPOSSIBLE =
    TH_TIME_MAX / 1024; /* a layer after this choice of the ancestor cannot run */

/* A time of which no lower bound is known either; a bound of 0 is stored as -1. */
static const th_time UNKNOWN = INT64_MIN;

typedef enum { ROW_NEW, ROW_POSSIBLE, ROW_IMPOSSIBLE } row_state;

/* A choice of the ancestor and the layers that follow it up to the layer; constant once state is
 * set. */
typedef struct {
    _Atomic row_state state;
    th_time sum;          /* of the layers between, and the transfers to them */
    th_strategy strategy; /* of the last one */
    th_layer_pace pace;   /* of the same */
} row;

struct th_transition_matrix {
    const th_choices *from, *to; /* from NULL: the external input, or another set */
    row *rows;
    /* row-major by (ancestor's choice, own choice); negative -1 - t: unknown, but at least t;
     * UNKNOWN */
    th_cached_time *time;
};

th_initial_path th_initial_path_to(const th_initial_generator *g, const th_mapping *m, int layer)
{
    th_initial_path p = {-1, false, 0, {0}};
    int at = g->workload->layers[layer].inputs[0], reversed[TH_INITIAL_PATH_MAX];
    while (at >= 0 && m->set_of[at] == m->set_of[layer] &&
           !th_mapping_is_free(m, g->workload, at)) {
        if (p.n == TH_INITIAL_PATH_MAX)
            return p;
        reversed[p.n++] = at;
        at = g->workload->layers[at].inputs[0];
    }
    for (int i = 0; i < p.n; i++)
        p.between[i] = reversed[p.n - 1 - i];
    p.is_external = at == TH_EXTERNAL_INPUT;
    p.ancestor = at >= 0 && m->set_of[at] == m->set_of[layer] ? at : -1;
    return p;
}

/* As th_transition_time, between two layers. from NULL: the external input. */
static th_time edge_time(th_initial_generator *g, const th_placed *from, const th_layer_pace *made,
                         const th_placed *to, const th_layer_pace *own, th_time enough,
                         th_error *err)
{
    if ((from && from->strategy.chunks > 0) || to->strategy.chunks > 0)
        return th_plans_overlapped_time(g->plans, from, made, to, own, g->batch, err);
    return th_plans_transition_time(g->plans, from, to, g->batch, enough, err);
}

/* --- matrices --- */

void th_transition_matrix_free(th_transition_matrix *m)
{
    if (!m)
        return;
    th_free(m->rows);
    th_free(m->time);
    th_free(m);
}

static th_transition_matrix *new_matrix(const th_choices *from, const th_choices *to)
{
    size_t rows = from ? (size_t)from->n_states : 1, n = rows * (size_t)to->n_states;
    th_transition_matrix *m = th_alloc_zero(1, sizeof *m);
    if (!m)
        return NULL;
    m->from = from;
    m->to = to;
    m->rows = th_alloc_zero(rows + 1, sizeof *m->rows);
    m->time = th_alloc_array(n + 1, sizeof *m->time);
    if (!m->rows || !m->time) {
        th_transition_matrix_free(m);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        atomic_init(&m->time[i], UNKNOWN);
    return m;
}

/* Takes x over. Returns the matrix that the key has from now on, x or another. NULL: out of
 * memory. */
static th_transition_matrix *keep_matrix(th_initial_cache *m, const int32_t *key, size_t bytes,
                                         th_transition_matrix *x)
{
    const th_transition_matrix *kept = NULL;
    pthread_mutex_lock(&m->lock);
    if (th_grow(&m->matrices, &m->matrix_capacity, m->n_matrices + 1, sizeof *m->matrices) == 0)
        kept = th_shared_map_add(m->matrices_by_key, key, bytes, x);
    if (kept == x)
        m->matrices[m->n_matrices++] = x;
    pthread_mutex_unlock(&m->lock);
    if (kept != x)
        th_transition_matrix_free(x);
    return (th_transition_matrix *)kept;
}

static th_transition_matrix *find_matrix(const th_initial_cache *m, const int32_t *key,
                                         size_t bytes)
{
    return (th_transition_matrix *)th_shared_map_find(m->matrices_by_key, key, bytes);
}

enum { MATRIX_WORDS = TH_INITIAL_PATH_MAX + 6 };

/* 0 or -1. */
static int key_of(const th_initial_generator *g, const th_set *set, const th_initial_path *p,
                  int layer, int32_t *key, th_error *err)
{
    int32_t members_id;
    if (th_plans_set_ids(g->plans, set, &key[0], &members_id, err))
        return -1;
    key[1] = p->ancestor >= 0 ? th_plans_shape_class(g->plans, p->ancestor)
             : p->is_external ? -1
                              : -2;
    key[2] = th_plans_shape_class(g->plans, layer);
    for (int i = 0; i < TH_INITIAL_PATH_MAX; i++)
        key[3 + i] = i < p->n ? th_plans_shape_class(g->plans, p->between[i]) : -1;
    key[TH_INITIAL_PATH_MAX + 3] = th_initial_given(g, layer);
    key[TH_INITIAL_PATH_MAX + 4] = th_initial_given(g, p->ancestor);
    key[TH_INITIAL_PATH_MAX + 5] = g->chunks;
    return 0;
}

th_transition_matrix *th_transition_matrix_of(th_initial_generator *g, const th_set *set,
                                              const th_initial_path *p, int layer, th_error *err)
{
    int32_t key[MATRIX_WORDS];
    if (key_of(g, set, p, layer, key, err))
        return NULL;
    th_transition_matrix *m = find_matrix(g->cache, key, sizeof key);
    if (m)
        return m;
    const th_choices *to = th_initial_choices(g, set, layer, err);
    const th_choices *from = p->ancestor < 0 ? NULL : th_initial_choices(g, set, p->ancestor, err);
    if (!to || (p->ancestor >= 0 && !from))
        return NULL;
    m = new_matrix(from, to);
    m = m ? keep_matrix(g->cache, key, sizeof key, m) : NULL;
    if (!m)
        th_error_no_memory(err);
    return m;
}

/* --- times --- */

/* The last layer before this one, as the row places it. *none: only the host precedes it. */
static int place_predecessor(th_initial_generator *g, const th_transition *t, const row *r,
                             th_placed *out, bool *none, th_error *err)
{
    const th_initial_path *p = t->path;
    *none = !t->matrix->from && p->n == 0;
    return *none ? 0
                 : th_plans_place(g->plans, p->n > 0 ? p->between[p->n - 1] : p->ancestor, t->set,
                                  &r->strategy, out, err);
}

/* From the ancestor's choice, given in r (external input: none), over the layers that follow it.
 * 0; 1: one of them cannot run; -1. */
static int follow_path(th_initial_generator *g, const th_set *set, const th_initial_path *p,
                       bool is_external, row *r, th_error *err)
{
    th_placed at, next;
    const th_strategy *producer = is_external ? NULL : &r->strategy;
    th_strategy follows;
    if (producer && th_plans_place(g->plans, p->ancestor, set, producer, &at, err))
        return -1;
    for (int i = 0; i < p->n; i++) {
        const th_layer *l = &g->workload->layers[p->between[i]];
        if (!th_strategy_follow(&follows, l, g->batch, set->n_accels, producer))
            return 1;
        if (th_plans_place(g->plans, p->between[i], set, &follows, &next, err))
            return -1;
        th_layer_pace pace;
        th_time own = th_initial_layer_time(g, set, p->between[i], &follows, &pace, err);
        if (own == TH_TIME_MAX)
            return 1;
        th_time edge =
            edge_time(g, producer ? &at : NULL, &r->pace, &next, &pace, TH_TIME_MAX, err);
        if (edge < 0 || own < 0)
            return -1;
        r->sum += edge + own;
        r->strategy = follows;
        r->pace = pace;
        producer = &r->strategy;
        at = next;
    }
    return 0;
}

static row_state row_is(const row *r)
{
    return atomic_load_explicit(&r->state, memory_order_acquire);
}

static int fill_row(th_initial_generator *g, const th_set *set, const th_initial_path *p,
                    th_transition_matrix *m, int i, th_error *err)
{
    row *r = &m->rows[i], made = {.strategy = th_strategy_single};
    if (m->from) {
        made.strategy = m->from->strategy[i];
        made.pace = m->from->pace[i];
    }
    if (row_is(r) != ROW_NEW)
        return 0;
    int status = follow_path(g, set, p, !m->from, &made, err);
    if (status < 0)
        return -1;
    pthread_mutex_lock(&g->cache->lock);
    if (row_is(r) == ROW_NEW) {
        r->sum = made.sum;
        r->strategy = made.strategy;
        r->pace = made.pace;
        atomic_store_explicit(&r->state, status ? ROW_IMPOSSIBLE : ROW_POSSIBLE,
                              memory_order_release);
    }
    pthread_mutex_unlock(&g->cache->lock);
    return 0;
}

/* As th_transition_time, computed. */
static th_time compute_transition(th_initial_generator *g, const th_transition *t, int from, int to,
                                  th_time enough, th_error *err)
{
    th_transition_matrix *m = t->matrix;
    th_placed last, at;
    bool none;
    if (!m->from && !t->path->is_external) /* from another set: left to the simulation */
        return 0;
    if (fill_row(g, t->set, t->path, m, from, err))
        return -1;
    const row *r = &m->rows[from];
    if (row_is(r) == ROW_IMPOSSIBLE)
        return IMPOSSIBLE;
    if (place_predecessor(g, t, r, &last, &none, err) ||
        th_plans_place(g->plans, t->layer, t->set, &m->to->strategy[to], &at, err))
        return -1;
    th_time edge =
        edge_time(g, none ? NULL : &last, &r->pace, &at, &m->to->pace[to], enough - r->sum, err);
    return edge < 0 ? -1 : r->sum + edge;
}

const th_cached_time *th_transition_row(const th_transition_matrix *m, int from)
{
    return &m->time[(size_t)from * (size_t)m->to->n_states];
}

th_time th_transition_time(th_initial_generator *g, const th_transition *t, int from, int to,
                           th_time enough, th_error *err)
{
    th_transition_matrix *m = t->matrix;
    th_cached_time *place = &m->time[(size_t)from * (size_t)m->to->n_states + (size_t)to];
    th_time known = atomic_load_explicit(place, memory_order_relaxed);
    if (known >= 0)
        return known;
    if (known != UNKNOWN && -1 - known > enough)
        return -1 - known;
    th_time time = compute_transition(g, t, from, to, enough, err);
    if (time >= 0)
        atomic_store_explicit(place, time > enough ? -1 - time : time, memory_order_relaxed);
    return time;
}

/* Transfers may take so long while chunks compute: all but the first of those that send, or all but
 * the last of those that receive. */
static th_time hidden(const th_strategy *s, const th_layer_pace *pace)
{
    return pace->time / th_shard_chunks(s) * (th_shard_chunks(s) - 1);
}

/* As th_transition_bound, computed. */
static th_time compute_bound(th_initial_generator *g, const th_transition *t, int from, int to,
                             th_error *err)
{
    const th_transition_matrix *m = t->matrix;
    th_placed last, at;
    bool none;
    if (fill_row(g, t->set, t->path, t->matrix, from, err))
        return -1;
    const row *r = &m->rows[from];
    if (row_is(r) == ROW_IMPOSSIBLE)
        return IMPOSSIBLE;
    if (place_predecessor(g, t, r, &last, &none, err) ||
        th_plans_place(g->plans, t->layer, t->set, &m->to->strategy[to], &at, err))
        return -1;
    th_time edge = none ? 0 : th_plans_transition_bound(g->plans, &last, &at, g->batch, err);
    if (edge < 0)
        return -1;
    edge -= hidden(&r->strategy, &r->pace) + hidden(&m->to->strategy[to], &m->to->pace[to]);
    return r->sum + (edge > 0 ? edge : 0);
}

th_time th_transition_bound(th_initial_generator *g, const th_transition *t, int from, int to,
                            th_error *err)
{
    th_transition_matrix *m = t->matrix;
    th_cached_time *place = &m->time[(size_t)from * (size_t)m->to->n_states + (size_t)to];
    th_time known = atomic_load_explicit(place, memory_order_relaxed);
    if (known != UNKNOWN)
        return known < 0 ? -1 - known : known;
    if (!m->from && !t->path->is_external) /* from another set: left to the simulation */
        return 0;
    th_time bound = compute_bound(g, t, from, to, err);
    if (bound >= 0)
        atomic_store_explicit(place, -1 - bound, memory_order_relaxed);
    return bound;
}
