/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route.h - which links a transfer takes.
 *
 * Fewest links first; among those the greatest smallest bandwidth, then the least latency, then the
 * lowest next node. Meshes and tori go in dimension order (dimension 0 first; on a torus the
 * shorter way, upwards on a tie). A node that does not forward may only be the first or the last of
 * a route. Deterministic, and consistent: a route's tail is the route of its tail. (So a wider or
 * quicker way that would need another tail than the next node's own is not taken.) */
#ifndef TH_TOPOLOGY_ROUTE_H
#define TH_TOPOLOGY_ROUTE_H
#include "topology/system.h"

enum { TH_ROUTE_MAX = 512 };

/* Fills s->next_link. Called by th_system_finish. 0, or -1 (memory, or a route of more than
 * TH_ROUTE_MAX links). O(n_nodes * n_links). */
int th_route_compute(th_system *s, th_error *err);

/* The links from node src to node dst, in order, into links[TH_ROUTE_MAX]. Returns their number (0
 * when src == dst), or -1 when there is no way. */
int th_route(const th_system *s, int src, int dst, int *links);

/* Properties of that route: smallest bandwidth (INT64_MAX when src == dst), sum of latencies,
 * number of links. 0, or -1 when there is no way. */
typedef struct th_route_summary {
    int64_t bits_per_s;
    th_time latency_ps;
    int n_links;
} th_route_summary;
int th_route_summarize(const th_system *s, int src, int dst, th_route_summary *out);

#endif
