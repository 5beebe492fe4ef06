/* SPDX-License-Identifier: GPL-3.0-or-later */
/* neighbors.h - the link from a node to one of its neighbours, for routings that know the next
 * node. O(links) memory, O(log degree) per look-up. Needs the adjacency. */
#ifndef TH_TOPOLOGY_ROUTING_NEIGHBORS_H
#define TH_TOPOLOGY_ROUTING_NEIGHBORS_H
#include "topology/system.h"

typedef struct th_neighbors {
    int32_t *links; /* as s->adjacency.out_links, but those of a node sorted by neighbour */
} th_neighbors;

/* 0, or -1 (memory is out; nothing to clear). */
int th_neighbors_init(th_neighbors *n, const th_system *s);
void th_neighbors_clear(th_neighbors *n); /* accepts one that is all zero */
/* The widest link from node at to node to, then that of the least latency, then the first; -1: no
 * link. */
int th_neighbors_link(const th_neighbors *n, const th_system *s, int at, int to);

#endif
