/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph_search.h - best paths from all nodes to one destination, and next-hop tables of them. */
#ifndef TH_TOPOLOGY_ROUTING_GRAPH_SEARCH_H
#define TH_TOPOLOGY_ROUTING_GRAPH_SEARCH_H
#include "topology/system.h"

/* The best path known so far from a node to the destination of the search. */
typedef struct th_best_path {
    int32_t n_links;    /* -1: not reached */
    int32_t link;       /* the first one; -1 at the destination */
    int64_t bits_per_s; /* of the narrowest link */
    th_time latency_ps;
} th_best_path;

typedef struct th_route_search {
    const th_system *s;
    int dst;
    th_best_path *best; /* by node */
    int32_t *queue;
} th_route_search;

/* The path that starts with link and goes on as the best path from its end. */
th_best_path th_route_search_path(const th_route_search *f, int link);

/* A next-hop table per destination, in the routing's own format, made at its first use by any
 * thread. It follows from the system, so all threads read the same. */
typedef struct th_next_hops th_next_hops;
th_next_hops *th_next_hops_new(int n_nodes); /* NULL: memory is out */
/* The table of dst, or NULL where it has not been made. */
const void *th_next_hops_find(const th_next_hops *c, int dst);
/* The table of dst, made by make (which returns a heap block, or NULL) where it has not been. NULL:
 * memory is out. */
const void *th_next_hops_get(th_next_hops *c, const th_system *s, int dst,
                             void *(*make)(const th_route_search *f));
/* Makes all tables of a small system, so that memory cannot run out later; does nothing for others.
 * 0 or -1 (memory). */
int th_next_hops_fill_small(th_next_hops *c, const th_system *s,
                            void *(*make)(const th_route_search *f));
void th_next_hops_free(th_next_hops *c); /* accepts NULL */

#endif
