/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_lookup.c - finds the plans of layers and edges by key, or makes them.
 *
 * A key consists of shape classes, set numbers, strategies and the batch: a byte string without
 * padding. Where several threads share plans, each makes those that it misses in memory of its
 * own, and all use the one that was added first. Invariant: a plan that others can find never
 * changes. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/lower/plan_state.h"

enum { NO_DESIGN = -2 }; /* in the key of a set's members: no design's number, not TH_DESIGN_OWN */

static int32_t number_of(th_plans *p, const th_set *set, int32_t design, th_error *err)
{
    enum { SMALL = 130 };
    int32_t small[SMALL], *key = small;
    size_t members = (size_t)set->n_accels, n = 2 + members * (set->shares ? 2 : 1);
    if (n > SMALL && !(key = th_alloc_array(n, sizeof *key)))
        return th_error_no_memory(err);
    key[0] = design;
    key[1] = set->n_accels;
    memcpy(key + 2, set->accels, members * sizeof *key);
    if (set->shares)
        memcpy(key + 2 + members, set->shares, members * sizeof *key);
    int64_t number = th_shared_map_number(p->memo.sets, key, n * sizeof *key);
    if (key != small)
        th_free(key);
    return number < 0 ? th_error_no_memory(err) : (int32_t)number;
}

int th_plans_set_ids(th_plans *p, const th_set *set, int32_t *set_id, int32_t *members_id,
                     th_error *err)
{
    *set_id = number_of(p, set, set->design, err);
    *members_id = *set_id < 0 ? -1 : number_of(p, set, NO_DESIGN, err);
    return *members_id < 0 ? -1 : 0;
}

int th_plans_place(th_plans *p, int layer, const th_set *set, const th_strategy *s, th_placed *out,
                   th_error *err)
{
    int32_t set_id, members_id;
    if (th_plans_set_ids(p, set, &set_id, &members_id, err))
        return -1;
    *out = (th_placed){layer, set, set_id, members_id, 0, *s};
    return 0;
}

/* --- keys --- */

enum { FEW_CONSUMERS = 16 /* their key fits on the stack */ };

static void key_of_placed(const th_plans *p, const th_placed *at, int32_t number, int32_t *key)
{
    key[0] = at ? p->facts.shape_class[at->layer] : -1;
    key[1] = number;
    if (at)
        memcpy(&key[2], &at->strategy, sizeof at->strategy);
    else
        memset(&key[2], 0, sizeof at->strategy);
}

static void key_of_consumer(const th_plans *p, const th_placed *at, int32_t *key)
{
    key_of_placed(p, at, at->members_id, key);
    if (p->facts.inputs_differ[at->layer])
        key[0] += at->input;
}

th_plan_key th_plan_key_of(const th_plans *p, const th_placed *at, int32_t number, int32_t batch)
{
    th_plan_key key;
    key_of_placed(p, at, number, key.word);
    key.word[TH_PLACED_WORDS] = batch;
    return key;
}

const th_layer_plan *th_plans_layer(th_plans *p, const th_placed *at, int32_t batch, th_error *err)
{
    const th_plan_key key = th_plan_key_of(p, at, at->set_id, batch);
    const th_layer_plan *known = th_shared_map_find(p->memo.layers, &key, sizeof key);
    if (known)
        return known;
    th_layer_plan *plan = th_plan_make_layer(p, at, batch, err);
    if (!plan)
        return NULL;
    known = th_shared_map_add(p->memo.layers, &key, sizeof key, plan);
    if (!known)
        th_error_no_memory(err);
    return known;
}

th_time th_plans_time_alone(th_plans *p, const th_placed *at, int32_t batch, th_layer_pace *pace,
                            th_error *reason, th_error *err)
{
    const th_plan_key key = th_plan_key_of(p, at, at->set_id, batch);
    const th_layer_plan *plan = th_shared_map_find(p->memo.layers, &key, sizeof key);
    if (plan)
        return th_plans_layer_time(p, at, plan, pace, err);
    th_arena *kept = p->arena;
    p->arena = p->scratch;
    plan = th_plan_make_layer(p, at, batch, reason);
    th_time time = plan ? th_plans_layer_time(p, at, plan, pace, err) : TH_TIME_MAX;
    p->arena = kept;
    th_arena_reset(p->scratch);
    if (!plan && th_plans_is_fatal(reason))
        return th_error_set(err, reason->id, "%s", reason->text);
    return time;
}

/* Is the tensor shared with other consumers? An external input of which each layer has its own is
 * not. */
static bool is_shared(const th_plans *p, const th_edge_ends *ends)
{
    int part = th_workload_part_of(p->workload, ends->consumers[ends->n - 1].layer, 0);
    return ends->producer || !th_workload_part(p->workload, part).has_own_inputs;
}

/* An edge's key: of its producer, or whether an external input is shared; of its consumers; the
 * batch. */
typedef struct {
    int32_t few[TH_PLACED_WORDS * (FEW_CONSUMERS + 1) + 1], *word;
    size_t bytes;
} edge_key;

/* 0, or -1: memory is out. */
static int make_key(const th_plans *p, const th_edge_ends *ends, edge_key *key)
{
    size_t words = TH_PLACED_WORDS * ((size_t)ends->n + 1) + 1;
    key->bytes = words * sizeof *key->word;
    key->word = ends->n > FEW_CONSUMERS ? th_alloc_array(words, sizeof *key->word) : key->few;
    if (!key->word)
        return -1;
    const int32_t external = ends->n > 1 && is_shared(p, ends) ? -2 : -1;
    key_of_placed(p, ends->producer, ends->producer ? ends->producer->members_id : external,
                  key->word);
    for (int i = 0; i < ends->n; i++)
        key_of_consumer(p, &ends->consumers[i], key->word + TH_PLACED_WORDS * (i + 1));
    key->word[words - 1] = ends->batch;
    return 0;
}

/* The plans of the edges to the consumers before the last one. 0 or -1. */
static int find_earlier(th_plans *p, th_edge_ends *ends, const th_edge_plan **earlier,
                        th_error *err)
{
    ends->earlier = earlier;
    ends->n_earlier = is_shared(p, ends) ? ends->n - 1 : 0;
    for (int e = 0; e < ends->n_earlier; e++)
        if (!(earlier[e] =
                  th_plans_edge(p, ends->producer, ends->consumers, e + 1, ends->batch, err)))
            return -1;
    return 0;
}

static th_edge_plan *make_edge(th_plans *p, th_edge_ends *ends, th_error *err)
{
    ends->reads = th_plans_layer(p, &ends->consumers[ends->n - 1], ends->batch, err);
    if (!ends->reads ||
        (ends->producer && !(ends->made = th_plans_layer(p, ends->producer, ends->batch, err))))
        return NULL;
    if (p->system->transfers_serially)
        return th_plan_make_serial_edge(p, ends, err);
    const th_edge_plan **earlier = th_alloc_zero((size_t)ends->n, sizeof *earlier);
    th_edge_plan *plan = NULL;
    if (!earlier)
        th_error_no_memory(err);
    else if (!find_earlier(p, ends, earlier, err))
        plan = th_plan_make_edge(p, ends, err);
    th_free(earlier);
    return plan;
}

const th_edge_plan *th_plans_edge(th_plans *p, const th_placed *producer,
                                  const th_placed *consumers, int n, int32_t batch, th_error *err)
{
    th_edge_ends ends = {.producer = producer, .consumers = consumers, .n = n, .batch = batch};
    edge_key key;
    if (make_key(p, &ends, &key)) {
        th_error_no_memory(err);
        return NULL;
    }
    const th_edge_plan *plan = th_shared_map_find(p->memo.edges, key.word, key.bytes);
    th_edge_plan *made = plan ? NULL : make_edge(p, &ends, err);
    if (made && !(plan = th_shared_map_add(p->memo.edges, key.word, key.bytes, made)))
        th_error_no_memory(err);
    if (key.word != key.few)
        th_free(key.word);
    return plan;
}
