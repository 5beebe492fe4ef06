/* SPDX-License-Identifier: GPL-3.0-or-later */
/* completion_cache.c - a map from digests of 128 bits to completions.
 *   new -> (share) -> (find | add | trim)* -> free
 * The digest stands for the compute cost and its demand history. Invariant: an entry never moves or
 * changes until all are dropped, so find takes no lock. */
#include <config.h>

#include "sim/pipeline/completion_cache.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/shared_map.h"

enum { DIGEST_BYTES = 2 * sizeof(uint64_t) };

struct th_completion_cache {
    th_shared_map *by_digest;
    th_arena *entries;
    pthread_mutex_t lock; /* of entries */
    size_t max;
    bool is_shared;
};

th_completion_cache *th_completion_cache_new(size_t max)
{
    th_completion_cache *k = th_alloc_zero(1, sizeof *k);
    if (!k)
        return NULL;
    pthread_mutex_init(&k->lock, NULL);
    k->max = max;
    k->by_digest = th_shared_map_new();
    k->entries = th_arena_new();
    if (k->by_digest && k->entries)
        return k;
    th_completion_cache_free(k);
    return NULL;
}

void th_completion_cache_share(th_completion_cache *k)
{
    k->is_shared = true;
}

void th_completion_cache_free(th_completion_cache *k)
{
    if (!k)
        return;
    th_shared_map_free(k->by_digest);
    th_arena_free(k->entries);
    pthread_mutex_destroy(&k->lock);
    th_free(k);
}

const th_compute_completion *th_completion_cache_find(const th_completion_cache *k,
                                                      const uint64_t digest[2])
{
    return th_shared_map_find(k->by_digest, digest, DIGEST_BYTES);
}

size_t th_completion_cache_count(th_completion_cache *k)
{
    return th_shared_map_count(k->by_digest);
}

void th_completion_cache_trim(th_completion_cache *k)
{
    if (th_completion_cache_count(k) < k->max)
        return;
    th_shared_map_clear(k->by_digest);
    th_arena_reset(k->entries);
}

int th_completion_cache_add(th_completion_cache *k, const uint64_t digest[2],
                            const th_compute_completion *e)
{
    if (!k->is_shared)
        th_completion_cache_trim(k);
    else if (th_completion_cache_count(k) >= k->max)
        return 0;
    pthread_mutex_lock(&k->lock);
    th_compute_completion *entry = th_arena_alloc(k->entries, sizeof *entry);
    pthread_mutex_unlock(&k->lock);
    if (!entry)
        return -1;
    *entry = *e;
    return th_shared_map_add(k->by_digest, digest, DIGEST_BYTES, entry) ? 0 : -1;
}
