/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choices.c - the strategies of a layer on a set that dynamic programming chooses from: the KEPT
 * that are quickest for the layer alone, and every split along a single dimension; and these with
 * chunks, unless chunks alone make them much slower. */
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
    th_free(c->pace);
    th_free(c->plain);
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

/* On a set of one, which needs no split, the design is the reason that a layer cannot run. */
void th_initial_note_infeasibility(th_initial_generator *g, const th_error *reason,
                                   bool is_of_design)
{
    if (g->infeasibility.id[0] && g->infeasibility_is_of_design >= is_of_design)
        return;
    g->infeasibility = *reason;
    g->infeasibility_is_of_design = is_of_design;
}

th_time th_initial_layer_time(th_initial_generator *g, const th_set *set, int layer,
                              const th_strategy *strategy, th_layer_pace *pace, th_error *err)
{
    th_placed at;
    th_error reason;
    if (th_plans_place(g->plans, layer, set, strategy, &at, err))
        return -1;
    th_time time = th_plans_time_alone(g->plans, &at, g->batch, pace, &reason, err);
    if (time == TH_TIME_MAX)
        th_initial_note_infeasibility(g, &reason, true);
    return time;
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

static const th_dim chunk_dims[] = {TH_DIM_H, TH_DIM_W, TH_DIM_K, TH_DIM_B};
enum { CHUNK_DIMS = sizeof chunk_dims / sizeof *chunk_dims, CHUNKINGS = 2 * CHUNK_DIMS };

/* NULL: out of memory. */
static th_choices *new_choices(const th_initial_generator *g)
{
    /* a split of each dimension; of none */
    const size_t plain = KEPT_SPLITS + KEPT + TH_N_DIMS + 1,
                 most = plain * (g->chunks > 0 ? 1 + CHUNKINGS : 1);
    th_choices *c = th_alloc_zero(1, sizeof *c);
    if (!c)
        return NULL;
    c->strategy = th_alloc_array(most, sizeof *c->strategy);
    c->time = th_alloc_array(most, sizeof *c->time);
    c->pace = th_alloc_zero(most, sizeof *c->pace);
    c->plain = th_alloc_array(most, sizeof *c->plain);
    c->resident_bytes = th_alloc_array(most, sizeof *c->resident_bytes);
    if (c->strategy && c->time && c->pace && c->plain && c->resident_bytes)
        return c;
    th_choices_free(c);
    return NULL;
}

/* Once no more than these can be kept, the others are not timed at all. 0 or -1. */
static int keep_best(th_strategy_ranking *r, bool is_large, th_choices *c, th_error *err)
{
    th_timed_strategy t;
    bool is_narrow = false;
    int status = 0;
    for (int rank = 0; (status = th_ranking_next(r, &t, err)) > 0; rank++) {
        const bool has_room = rank < KEPT || (is_large && c->n < KEPT_SPLITS);
        if (!has_room && !is_narrow)
            th_ranking_narrow(r, is_pure);
        is_narrow = !has_room;
        if (rank < KEPT || is_pure(&t.strategy) || (has_room && is_new_split(c, &t.strategy))) {
            c->strategy[c->n] = t.strategy;
            c->time[c->n++] = t.time;
        }
    }
    return status;
}

int32_t th_initial_given(const th_initial_generator *g, int layer)
{
    return layer >= 0 && th_constraints_fixed_strategy(g->constraints, layer) ? layer : -1;
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

/* Adds choice i with chunks: two or four along any dimension, unless it is much slower then. 0 or
 * -1. */
static int add_chunked(th_initial_generator *g, const th_set *set, int layer, th_choices *c, int i,
                       th_error *err)
{
    const double MUCH = 1.3;
    for (int k = 0; k < CHUNKINGS; k++) {
        const int at = c->n_states, chunks = k < CHUNK_DIMS ? 2 : 4;
        th_strategy *s = &c->strategy[at];
        *s = c->strategy[i];
        th_strategy_set_chunks(s, chunks, (int32_t)chunk_dims[k % CHUNK_DIMS]);
        if (chunks > g->chunks ||
            !th_strategy_fits(s, &g->workload->layers[layer], g->batch, set->n_accels))
            continue;
        c->time[at] = th_initial_layer_time(g, set, layer, s, &c->pace[at], err);
        if (c->time[at] < 0)
            return -1;
        c->plain[at] = i;
        c->n_states += (double)c->time[at] <= MUCH * (double)c->time[i];
    }
    return th_initial_layer_time(g, set, layer, &c->strategy[i], &c->pace[i], err) < 0 ? -1 : 0;
}

static th_choices *make_choices(th_initial_generator *g, const th_set *set, int layer,
                                th_error *err)
{
    th_strategy_ranking *r = th_initial_rank(g, set, layer, true, err);
    th_choices *c = r ? new_choices(g) : NULL;
    if (r && !c)
        th_error_no_memory(err);
    int failed = c ? keep_best(r, set->n_accels >= TH_INITIAL_LARGE_SET, c, err) : 0;
    if (c)
        c->n_states = c->n;
    for (int i = 0; c && !failed && g->chunks > 0 && i < c->n; i++)
        failed = add_chunked(g, set, layer, c, i, err);
    if (failed) {
        th_choices_free(c);
        c = NULL;
    }
    for (int i = 0; c && i < c->n_states; i++)
        c->resident_bytes[i] = resident_bytes(&g->workload->layers[layer], set, &c->strategy[i]);
    th_ranking_free(r);
    return c;
}

enum { CHOICE_WORDS = 4 };

/* 0 or -1. */
static int key_of_choices(const th_initial_generator *g, const th_set *set, int layer, int32_t *key,
                          th_error *err)
{
    int32_t members_id;
    if (th_plans_set_ids(g->plans, set, &key[0], &members_id, err))
        return -1;
    key[1] = th_plans_shape_class(g->plans, layer);
    key[2] = th_initial_given(g, layer);
    key[3] = g->chunks;
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
