/* SPDX-License-Identifier: GPL-3.0-or-later */
/* completion_cache.h - completion times of computes, by the digest of their demand history.
 *   new -> (share) -> (find | add | trim)* -> free
 * Several threads may call find and add at once; find takes no lock. */
#ifndef TH_SIM_PIPELINE_COMPLETION_CACHE_H
#define TH_SIM_PIPELINE_COMPLETION_CACHE_H
#include <stddef.h>
#include <stdint.h>
#include "sim/pipeline/pipeline.h"

/* The end of a compute task under a demand history. */
typedef struct th_compute_completion {
    th_time end; /* relative to the start */
    th_pipeline_stats stats;
} th_compute_completion;

typedef struct th_completion_cache th_completion_cache;

/* A cache with max entries drops all of them; a shared cache instead adds no more until trim. NULL:
 * memory is out. */
th_completion_cache *th_completion_cache_new(size_t max);
enum { TH_COMPLETION_CACHE_MAX = 1 << 20 }; /* of a machine, or of those that share it */
void th_completion_cache_share(th_completion_cache *k); /* before other threads use it */
void th_completion_cache_free(th_completion_cache *k);  /* accepts NULL */
/* NULL: none. Valid until the next add; in a shared cache, until trim. */
const th_compute_completion *th_completion_cache_find(const th_completion_cache *k,
                                                      const uint64_t digest[2]);
/* 0, or -1: memory is out. */
int th_completion_cache_add(th_completion_cache *k, const uint64_t digest[2],
                            const th_compute_completion *e);
size_t th_completion_cache_count(th_completion_cache *k);
/* Drops all entries if there are max of them; no other thread may use it meanwhile. */
void th_completion_cache_trim(th_completion_cache *k);

#endif
