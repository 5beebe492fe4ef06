/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ports.h - what leaves a node over one medium goes one after the other, what leaves over several
 * goes side by side. For algorithms that send to several peers. */
#ifndef TH_SIM_COLLECTIVE_PORTS_H
#define TH_SIM_COLLECTIVE_PORTS_H
#include "sim/collective/collective.h"

/* No tree over 2^31 ranks has more rounds, no rank more children in it. */
enum { TH_MAX_ROUNDS = 32 };

/* ceil(log2 n); n >= 1. */
static inline int32_t th_log2_ceil(int32_t n)
{
    int32_t k = 0;
    while ((int64_t)1 << k < n)
        k++;
    return k;
}

/* Chunks in use: no more than there are bytes. */
static inline int32_t th_chunks_used(const th_collective *c)
{
    int64_t most = c->bytes > 1 ? c->bytes : 1;
    return c->chunks < most ? c->chunks : (int32_t)most;
}

/* port[p * n_peers + k] is the least k' such that the ways from participant p to its peers k' and k
 * begin on the same medium. peer says who that is: a participant, or -1. An array to be freed, or
 * NULL (memory, or no way to a peer). O(n_participants * n_peers). */
int32_t *th_ports_by_medium(const th_expansion *x, int32_t n_peers,
                            int32_t (*peer)(const th_expansion *x, int32_t p, int32_t k),
                            th_error *err);

#endif
