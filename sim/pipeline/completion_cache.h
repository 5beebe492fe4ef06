/* SPDX-License-Identifier: GPL-3.0-or-later */
/* completion_cache.h - how computes end, by the digest of what has been drawn from their DRAM: the
 * memo that makes replays of a search quick. new -> (share) -> (find | keep | trim)* -> free Find
 * and keep may be called by several threads at once; find takes no lock. */
#ifndef TH_SIM_PIPELINE_COMPLETION_CACHE_H
#define TH_SIM_PIPELINE_COMPLETION_CACHE_H
#include <stddef.h>
#include <stdint.h>
#include "sim/pipeline/pipeline.h"

/* How a work ends under a history of draws. */
typedef struct th_known_end {
    th_time end; /* relative to the start */
    th_pipeline_stats stats;
    th_ahead ahead; /* of the next task's weights */
} th_known_end;

typedef struct th_known_ends th_known_ends;

/* Past max ends all are forgotten; where they are shared, no more are kept until they are trimmed.
 * NULL: memory is out. */
th_known_ends *th_known_ends_new(size_t max);
enum { TH_KNOWN_ENDS_MAX = 1 << 20 };       /* of a machine, or of those that share */
void th_known_ends_share(th_known_ends *k); /* before other threads come */
void th_known_ends_free(th_known_ends *k);  /* accepts NULL */
/* NULL: not known. Valid until the next keep; where they are shared, until they are trimmed. */
const th_known_end *th_known_ends_find(const th_known_ends *k, const uint64_t digest[2]);
/* 0, or -1: memory is out. */
int th_known_ends_keep(th_known_ends *k, const uint64_t digest[2], const th_known_end *e);
size_t th_known_ends_count(th_known_ends *k);
/* Forgets all if there are max of them; nobody else uses it meanwhile. */
void th_known_ends_trim(th_known_ends *k);

#endif
