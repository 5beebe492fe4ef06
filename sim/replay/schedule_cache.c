/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_cache.c - a cache of collective schedules, keyed by the contents of the collective.
 *   new -> (get* | trim)* -> free
 * A program that is lowered again finds the schedules, and the choices of the tuner, of the
 * previous program. A user-written schedule is identified by its address only, which may be reused,
 * so trim drops its entry. */
#include <config.h>

#include "sim/replay/schedule_cache.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

typedef struct {
    th_collective collective; /* owns its arrays */
    th_collective_schedule schedule;
} entry;

struct th_collective_schedule_cache {
    th_tuner_context tuner;
    th_map *numbers; /* digest -> number in entries */
    entry **entries; /* allocated one by one: a schedule points to its collective */
    size_t n, capacity;
    bool has_user_schedules;
    th_collective_kept kept; /* of the group of the entry that was made last */
};

enum { ENTRIES_MAX = 1024 };

th_collective_schedule_cache *th_collective_schedule_cache_new(const th_tuner_context *t)
{
    th_collective_schedule_cache *k = th_alloc_zero(1, sizeof *k);
    if (!k)
        return NULL;
    k->tuner = *t;
    k->tuner.kept = &k->kept;
    k->numbers = th_map_new();
    if (!k->numbers) {
        th_free(k);
        return NULL;
    }
    return k;
}

static void drop(entry *e)
{
    if (!e)
        return;
    th_collective_schedule_clear(&e->schedule);
    th_free(e->collective.rank_node);
    th_free(e->collective.pair_bytes);
    th_free(e);
}

static void drop_all(th_collective_schedule_cache *k)
{
    for (size_t i = 0; i < k->n; i++)
        drop(k->entries[i]);
    th_collective_kept_clear(&k->kept);
    k->n = 0;
    k->has_user_schedules = false;
    th_map_clear(k->numbers);
}

void th_collective_schedule_cache_free(th_collective_schedule_cache *k)
{
    if (!k)
        return;
    drop_all(k);
    th_map_free(k->numbers);
    th_free(k->entries);
    th_free(k);
}

void th_collective_schedule_cache_trim(th_collective_schedule_cache *k)
{
    if (k->has_user_schedules || k->n > ENTRIES_MAX)
        drop_all(k);
}

static int copy_arrays(th_collective *to, const th_collective *from)
{
    size_t n = (size_t)from->n_ranks;
    to->rank_node = th_alloc_array(n, sizeof *to->rank_node);
    if (!to->rank_node)
        return -1;
    memcpy(to->rank_node, from->rank_node, n * sizeof *to->rank_node);
    if (!from->pair_bytes)
        return 0;
    to->pair_bytes = th_alloc_array(n * n, sizeof *to->pair_bytes);
    if (!to->pair_bytes)
        return -1;
    memcpy(to->pair_bytes, from->pair_bytes, n * n * sizeof *to->pair_bytes);
    return 0;
}

/* Do they differ in algorithm and chunks alone, as what is kept of a group needs? */
static bool are_alike(const th_collective *a, const th_collective *b)
{
    return a->kind == b->kind && a->n_ranks == b->n_ranks && a->bytes == b->bytes &&
           a->root == b->root &&
           memcmp(a->rank_node, b->rank_node, (size_t)a->n_ranks * sizeof *a->rank_node) == 0;
}

static entry *new_entry(th_collective_schedule_cache *k, const th_collective *c, th_error *err)
{
    entry *e = th_alloc_zero(1, sizeof *e);
    if (!e) {
        th_error_no_memory(err);
        return NULL;
    }
    e->collective = *c;
    e->collective.rank_node = NULL;
    e->collective.pair_bytes = NULL;
    th_collective *own = &e->collective;
    if (k->n > 0 && !are_alike(c, &k->entries[k->n - 1]->collective))
        th_collective_kept_clear(&k->kept);
    if (copy_arrays(own, c))
        th_error_no_memory(err);
    else if ((!th_tuner_is_needed(own) ||
              !th_tuner_choose(&k->tuner, own, &own->algorithm, &own->chunks, err)) &&
             !th_collective_schedule_init_again(&e->schedule, own, k->tuner.system, &k->kept, err))
        return e;
    th_collective_kept_clear(&k->kept);
    drop(e);
    return NULL;
}

const th_collective_schedule *th_collective_schedule_cache_get(th_collective_schedule_cache *k,
                                                               const th_collective *c,
                                                               th_error *err)
{
    th_collective_choice_key key = th_collective_choices_key(c, (uintptr_t)c->schedule);
    int64_t number;
    if (th_map_get(k->numbers, &key, sizeof key, &number))
        return &k->entries[number]->schedule;
    entry *e = new_entry(k, c, err);
    if (!e)
        return NULL;
    if (th_grow(&k->entries, &k->capacity, k->n + 1, sizeof *k->entries) ||
        th_map_put(k->numbers, &key, sizeof key, (int64_t)k->n)) {
        drop(e);
        th_error_no_memory(err);
        return NULL;
    }
    k->entries[k->n++] = e;
    k->has_user_schedules |= !!c->schedule;
    return &e->schedule;
}
