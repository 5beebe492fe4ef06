/* SPDX-License-Identifier: GPL-3.0-or-later */
/* completion_cache.c - a table from digests of 128 bits to ends: open addressing, linear probing.
 *   new -> (share) -> (find | keep | trim)* -> free
 * The digest is its own hash, and all that is compared. Invariants: the number of slots is a power
 * of two; at most half of them are taken, so every probe ends; a slot whose end is NULL is free. A
 * slot is filled once, its end last, and ends stay where they are, so others may look while one
 * keeps (with the lock). A table that has become too small goes when nobody can be looking through
 * it: at once, unless ends are shared. */
#include <config.h>

#include "sim/pipeline/completion_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"

enum { FIRST_SLOTS = 256 };

typedef struct {
    uint64_t digest[2];
    _Atomic(const th_compute_completion *) end; /* NULL: free */
} slot;

typedef struct table {
    struct table *smaller; /* the one before, where others may be in it */
    size_t n_slots;
    slot slot[];
} table;

struct th_completion_cache {
    _Atomic(table *) now; /* NULL: none yet */
    pthread_mutex_t keeping;
    th_arena *ends;
    size_t n, max;
    bool is_shared;
};

th_completion_cache *th_completion_cache_new(size_t max)
{
    th_completion_cache *k = th_alloc_zero(1, sizeof *k);
    if (!k || !(k->ends = th_arena_new())) {
        th_free(k);
        return NULL;
    }
    pthread_mutex_init(&k->keeping, NULL);
    atomic_init(&k->now, NULL);
    k->max = max;
    return k;
}

void th_completion_cache_share(th_completion_cache *k)
{
    k->is_shared = true;
}

static table *table_of(const th_completion_cache *k)
{
    return atomic_load_explicit(&k->now, memory_order_acquire);
}

static void free_smaller(table *t)
{
    for (table *old = t->smaller, *next; old; old = next) {
        next = old->smaller;
        th_free(old);
    }
    t->smaller = NULL;
}

void th_completion_cache_free(th_completion_cache *k)
{
    if (!k)
        return;
    if (table_of(k))
        free_smaller(table_of(k));
    th_free(table_of(k));
    th_arena_free(k->ends);
    pthread_mutex_destroy(&k->keeping);
    th_free(k);
}

/* The end of the digest, or NULL and in *free_slot where it belongs. */
static const th_compute_completion *look(const table *t, const uint64_t digest[2],
                                         size_t *free_slot)
{
    for (size_t i = digest[0] & (t->n_slots - 1);; i = (i + 1) & (t->n_slots - 1)) {
        const slot *s = &t->slot[i];
        const th_compute_completion *e = atomic_load_explicit(&s->end, memory_order_acquire);
        if (e && (s->digest[0] != digest[0] || s->digest[1] != digest[1]))
            continue;
        *free_slot = i;
        return e;
    }
}

const th_compute_completion *th_completion_cache_find(const th_completion_cache *k,
                                                      const uint64_t digest[2])
{
    const table *t = table_of(k);
    size_t at;
    return t ? look(t, digest, &at) : NULL;
}

/* With the end last: who sees it sees the digest. */
static void fill(slot *s, const uint64_t digest[2], const th_compute_completion *e)
{
    memcpy(s->digest, digest, sizeof s->digest);
    atomic_store_explicit(&s->end, e, memory_order_release);
}

static void move_all(const table *from, table *to)
{
    for (size_t i = 0; i < from->n_slots; i++) {
        const th_compute_completion *e =
            atomic_load_explicit(&from->slot[i].end, memory_order_relaxed);
        size_t at;
        if (e && !look(to, from->slot[i].digest, &at))
            fill(&to->slot[at], from->slot[i].digest, e);
    }
}

static table *make_room(th_completion_cache *k)
{
    table *old = table_of(k);
    if (old && 2 * (k->n + 1) <= old->n_slots)
        return old;
    size_t n = old ? 2 * old->n_slots : FIRST_SLOTS, bytes;
    table *t = __builtin_mul_overflow(n, sizeof(slot), &bytes) ||
                       __builtin_add_overflow(bytes, sizeof(table), &bytes)
                   ? NULL
                   : th_alloc_huge(bytes);
    if (!t)
        return NULL;
    memset(t, 0, bytes);
    t->n_slots = n;
    if (old)
        move_all(old, t);
    if (k->is_shared)
        t->smaller = old;
    else
        th_free(old);
    atomic_store_explicit(&k->now, t, memory_order_release);
    return t;
}

static void forget(th_completion_cache *k)
{
    table *t = table_of(k);
    if (!t)
        return;
    free_smaller(t);
    memset(t->slot, 0, t->n_slots * sizeof *t->slot);
    th_arena_reset(k->ends);
    k->n = 0;
}

void th_completion_cache_trim(th_completion_cache *k)
{
    if (k->n >= k->max)
        forget(k);
}

size_t th_completion_cache_count(th_completion_cache *k)
{
    pthread_mutex_lock(&k->keeping);
    size_t n = k->n;
    pthread_mutex_unlock(&k->keeping);
    return n;
}

/* With the lock. */
static int keep(th_completion_cache *k, const uint64_t digest[2], const th_compute_completion *e)
{
    size_t at;
    if (k->n == k->max && k->is_shared)
        return 0;
    if (k->n == k->max)
        forget(k);
    table *t = make_room(k);
    if (!t)
        return -1;
    if (look(t, digest, &at)) /* another was quicker */
        return 0;
    th_compute_completion *kept = th_arena_alloc(k->ends, sizeof *kept);
    if (!kept)
        return -1;
    *kept = *e;
    fill(&t->slot[at], digest, kept);
    k->n++;
    return 0;
}

int th_completion_cache_add(th_completion_cache *k, const uint64_t digest[2],
                            const th_compute_completion *e)
{
    pthread_mutex_lock(&k->keeping);
    int failed = keep(k, digest, e);
    pthread_mutex_unlock(&k->keeping);
    return failed;
}
