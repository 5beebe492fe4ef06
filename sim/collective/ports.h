/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ports.h - send ports by medium: messages that leave a node over one medium are sent in sequence,
 * those over different media in parallel. For algorithms that send to several peers. */
#ifndef TH_SIM_COLLECTIVE_PORTS_H
#define TH_SIM_COLLECTIVE_PORTS_H
#include "sim/collective/collective.h"

/* Of a tree over 2^31 ranks; also the most children of a rank. */
enum { TH_MAX_ROUNDS = 32 };

/* ceil(log2 n); n >= 1. */
static inline int32_t th_log2_ceil(int32_t n)
{
    int32_t k = 0;
    while ((int64_t)1 << k < n)
        k++;
    return k;
}

/* Chunks, but no more than bytes. */
static inline int32_t th_chunks_used(const th_collective *c)
{
    int64_t most = c->bytes > 1 ? c->bytes : 1;
    return c->chunks < most ? c->chunks : (int32_t)most;
}

/* The participant that is peer k of p, or -1. */
typedef int32_t th_peer(const th_collective_schedule *cs, int32_t p, int32_t k);
/* port[p * n_peers + k] is the smallest k' such that the routes from participant p to its peers k'
 * and k begin on the same medium. In cs->memory,
 * or NULL (memory is out, or no route to a peer). O(n_participants * n_peers). */
int32_t *th_ports_by_medium(th_collective_schedule *cs, int32_t n_peers, th_peer *peer,
                            th_error *err);

#endif
