/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route.h - which links a transfer takes.
 *
 * A table: one routing is one row and one file. A routing gives the next link at each node; the
 * links from the source to the destination are the route. A node that does not forward may only be
 * the first or the last of a route. The same system always has the same routes.
 *
 * shortest: fewest links; among those the greatest smallest bandwidth, then the least latency, then
 * the lowest next node. Consistent: the rest of a route leads over the nodes of its next node's.
 * (So a wider or faster route with another rest than the next node's own is not taken.)
 * ecmp: as shortest; where several links begin routes that are equally good (links, bandwidth,
 * latency), a hash of (source, destination, node) chooses one.
 * dimension_order: dimension 0 first; on a ring in the shorter direction, half way round by the
 * parity of source and destination. Nodes outside the dimensions (a host) are reached, and reach,
 * as by shortest.
 * up_down: in a tree or fat tree up until the destination is below, then down; of several links up
 * the destination chooses (D-mod-k).
 * rails: inside an island to the accelerator on the destination's rail, then up_down.
 * dragonfly: at most one local link, a global one, at most one local link.
 *
 * Parallel links (the same ends, bandwidth and latency) share the pairs by a hash of (source,
 * destination, node), under every routing. A pair with an explicit route takes that, under every
 * routing. */
#ifndef TH_TOPOLOGY_ROUTING_ROUTE_H
#define TH_TOPOLOGY_ROUTING_ROUTE_H
#include "topology/system.h"

/* In the place of a link, or of a number of links. */
enum { TH_NO_PATH = -1, TH_NO_MEMORY = -2 };

typedef struct th_routing_type {
    const char *name;
    const char *synopsis;
    /* Called once by finish, when nodes, links and adjacency are there. May fill s->routes.data,
     * from s->memory; 0 or -1. */
    int (*prepare)(th_system *s, th_error *err);
    /* First link on the route from node at to dst of a transfer from src, or TH_NO_PATH, or
     * TH_NO_MEMORY. at != dst. Several threads may call it. If links lead from src to dst over
     * nodes that forward, there must be a route of at most TH_ROUTE_MAX links: a prepare that
     * cannot guarantee this fails, naming a pair. */
    int (*next)(const th_system *s, int at, int src, int dst);
    /* Does out_links[i] of its node (system.h) begin a path to dst as good as the best? NULL: next
     * knows one path. */
    bool (*is_as_good)(const th_system *s, int i, int dst);
    bool avoids_dead_links; /* avoids dead links; other routings fail with dead links */
    /* prepare has refused a system of accelerators whose routes may be longer than TH_ROUTE_MAX. */
    bool checks_length;
} th_routing_type;

/* types.c: the table, which ends in NULL. find: NULL: unknown. */
extern const th_routing_type *const th_routing_types[];
const th_routing_type *th_routing_find(const char *name);

/* types.c: chooses the routing if none is set, and prepares it. Called by th_system_finish. 0 or
 * -1. */
int th_route_prepare(th_system *s, th_error *err);

/* For routings: next as by shortest; and the widest, then the fastest, then the first link from
 * node at to its neighbour to, or TH_NO_PATH. */
int th_route_shortest_next(const th_system *s, int at, int dst);
int th_route_link_to(const th_system *s, int at, int to);

/* The links from node src to node dst, in order, into links[TH_ROUTE_MAX]. Returns their number (0
 * when src == dst), or TH_NO_PATH (none, or more links than that) or TH_NO_MEMORY. Next-hop tables
 * are computed at the first use of a destination, so memory may run out here. A finished system has
 * routes between its accelerators, and between them and hosts; other pairs may have none. */
int th_route(const th_system *s, int src, int dst, int *links);
/* The first link of the route; src != dst. */
int th_route_first(const th_system *s, int src, int dst);
/* Reports the error of a negative result of these functions. Returns -1. */
int th_route_error(const th_system *s, int src, int dst, int answer, th_error *err);

/* Properties of that route: smallest bandwidth (INT64_MAX when src == dst), sum of latencies,
 * number of links. 0, or TH_NO_PATH or TH_NO_MEMORY. */
typedef struct th_route_summary {
    int64_t bits_per_s;
    th_time latency_ps;
    int n_links;
} th_route_summary;
int th_route_summarize(const th_system *s, int src, int dst, th_route_summary *out);
/* stripe.c: the same for a message of these bytes (TH_ANY_BYTES: the fastest): the bandwidth is
 * that of its stripes together, where it has several (stripe.h). */
#define TH_ANY_BYTES INT64_MAX
int th_route_of_message(const th_system *s, int src, int dst, int64_t bytes, th_route_summary *out);

#endif
