/* SPDX-License-Identifier: GPL-3.0-or-later */
/* neighbors.h - the links out of each node in the order of their ends; th_route_link_to (route.h)
 * finds one in O(log degree). */
#ifndef TH_TOPOLOGY_ROUTING_NEIGHBORS_H
#define TH_TOPOLOGY_ROUTING_NEIGHBORS_H
#include "topology/system.h"

/* Sets s->routes.neighbors, which is as s->adjacency.out_links, but the links of a node ascend by
 * their end, and of parallel ones the widest, then the fastest, then the lowest comes first. Needs
 * the adjacency. 0, or -1 (memory is out). */
int th_neighbors_prepare(th_system *s);
/* The index in neighbors of the first link from node at to node to, or -1. */
int th_neighbors_find(const th_system *s, int at, int to);

#endif
