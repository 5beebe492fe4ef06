/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shared_map.c - see shared_map.h: open addressing, linear probing, over pointers to entries.
 *   find: the current table -> slots from the hash on, up to a free one
 *   add:  with the lock: find again -> (a larger table) -> entry -> its slot, which publishes it
 * Invariants: at most half of the slots of a table are used, so every probe ends; a slot changes
 * once, from free to used, and an entry never changes. A table that has become too small is kept
 * until clear, because other threads may be reading it. They only miss later entries, which they
 * find in add. */
#include <config.h>

#include "base/shared_map.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"

enum { FIRST_SLOTS = 64 };

typedef struct entry {
    uint64_t hash;
    size_t n;
    const void *value;
    unsigned char key[];
} entry;

typedef struct table {
    struct table *smaller; /* the one before */
    size_t n_slots;        /* a power of two */
    _Atomic(const entry *) slot[];
} table;

struct th_shared_map {
    _Atomic(table *) now; /* never NULL */
    pthread_mutex_t adding;
    size_t count;
    th_arena *entries;
};

static table *new_table(size_t n_slots)
{
    size_t bytes;
    if (__builtin_mul_overflow(n_slots, sizeof(_Atomic(const entry *)), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(table), &bytes))
        return NULL;
    table *t = th_alloc(bytes);
    if (!t)
        return NULL;
    memset(t, 0, bytes);
    t->n_slots = n_slots;
    return t;
}

th_shared_map *th_shared_map_new(void)
{
    th_shared_map *m = th_alloc_zero(1, sizeof *m);
    table *t = new_table(FIRST_SLOTS);
    if (m && t && (m->entries = th_arena_new())) {
        pthread_mutex_init(&m->adding, NULL);
        atomic_init(&m->now, t);
        return m;
    }
    th_free(t);
    th_free(m);
    return NULL;
}

/* The entry of the key, or NULL and in *free_slot where it belongs. */
static const entry *probe(const table *t, const void *key, size_t n, uint64_t hash,
                          size_t *free_slot)
{
    size_t mask = t->n_slots - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        const entry *e = atomic_load_explicit(&t->slot[i], memory_order_acquire);
        if (e && (e->hash != hash || e->n != n || memcmp(e->key, key, n) != 0))
            continue;
        *free_slot = i;
        return e;
    }
}

const void *th_shared_map_find(const th_shared_map *m, const void *key, size_t n)
{
    size_t slot;
    const table *t = atomic_load_explicit(&m->now, memory_order_acquire);
    const entry *e = probe(t, key, n, th_hash(key, n, 0), &slot);
    return e ? e->value : NULL;
}

/* A table with room for one more, with the lock. NULL: memory is out. */
static table *make_room(th_shared_map *m)
{
    table *old = atomic_load_explicit(&m->now, memory_order_relaxed);
    if (2 * (m->count + 1) <= old->n_slots)
        return old;
    table *t = new_table(2 * old->n_slots);
    if (!t)
        return NULL;
    for (size_t i = 0; i < old->n_slots; i++) {
        const entry *e = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
        size_t slot;
        if (e && !probe(t, e->key, e->n, e->hash, &slot))
            atomic_store_explicit(&t->slot[slot], e, memory_order_relaxed);
    }
    t->smaller = old;
    atomic_store_explicit(&m->now, t, memory_order_release);
    return t;
}

/* With the lock. A value of NULL stands for the key's number, plus one. */
static const void *add(th_shared_map *m, const void *key, size_t n, const void *value)
{
    uint64_t hash = th_hash(key, n, 0);
    size_t slot;
    const entry *e =
        probe(atomic_load_explicit(&m->now, memory_order_relaxed), key, n, hash, &slot);
    if (e)
        return e->value;
    table *t = n < SIZE_MAX - sizeof(entry) ? make_room(m) : NULL;
    entry *made = t ? th_arena_alloc(m->entries, sizeof(entry) + n) : NULL;
    if (!made)
        return NULL;
    m->count++;
    *made = (entry){hash, n, value ? value : (const void *)m->count};
    if (n > 0)
        memcpy(made->key, key, n);
    probe(t, key, n, hash, &slot);
    atomic_store_explicit(&t->slot[slot], made, memory_order_release);
    return made->value;
}

const void *th_shared_map_add(th_shared_map *m, const void *key, size_t n, const void *value)
{
    pthread_mutex_lock(&m->adding);
    const void *kept = add(m, key, n, value);
    pthread_mutex_unlock(&m->adding);
    return kept;
}

int64_t th_shared_map_number(th_shared_map *m, const void *key, size_t n)
{
    const void *number = th_shared_map_find(m, key, n);
    if (!number)
        number = th_shared_map_add(m, key, n, NULL);
    return (int64_t)(intptr_t)number - 1; /* NULL: -1 */
}

size_t th_shared_map_count(th_shared_map *m)
{
    pthread_mutex_lock(&m->adding);
    size_t n = m->count;
    pthread_mutex_unlock(&m->adding);
    return n;
}

static void free_smaller(table *t)
{
    for (table *old = t->smaller, *next; old; old = next) {
        next = old->smaller;
        th_free(old);
    }
    t->smaller = NULL;
}

void th_shared_map_clear(th_shared_map *m)
{
    table *t = atomic_load_explicit(&m->now, memory_order_relaxed);
    free_smaller(t);
    for (size_t i = 0; i < t->n_slots; i++)
        atomic_store_explicit(&t->slot[i], NULL, memory_order_relaxed);
    m->count = 0;
    th_arena_reset(m->entries);
}

void th_shared_map_free(th_shared_map *m)
{
    if (!m)
        return;
    table *t = atomic_load_explicit(&m->now, memory_order_relaxed);
    free_smaller(t);
    th_free(t);
    pthread_mutex_destroy(&m->adding);
    th_arena_free(m->entries);
    th_free(m);
}
