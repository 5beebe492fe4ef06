/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shortest.c - routes of fewest links, the same for every source.
 * The next-hop table of a destination gives each node's first link on the path to it: one byte per
 * node (four in a system where a node has 255 links or more). It is made when a node that is not a
 * neighbour first needs it; a neighbour takes its best link to the destination. Invariant: each
 * link of a table leads nearer to the destination, or there is no path; so a route ends. */
#include <config.h>
#include "topology/routing/types.h"

#include "base/alloc.h"
#include "topology/routing/graph_search.h"

/* Entries of a table: 0 for no path, else 1 + position among the links out of the node. */
enum { NARROW_MAX = UINT8_MAX };

typedef struct ports {
    uint32_t *wide; /* one of the two is NULL; the entries stand behind this struct */
    uint8_t *narrow;
} ports;

static bool fits_narrow(const th_system *s)
{
    for (int i = 0; i < s->n_nodes; i++)
        if (s->adjacency.out_start[i + 1] - s->adjacency.out_start[i] >= NARROW_MAX)
            return false;
    return true;
}

/* Which of the links out of node is link. */
static uint32_t port_of(const th_system *s, int node, int link)
{
    const int32_t *out = &s->adjacency.out_links[s->adjacency.out_start[node]];
    uint32_t port = 0;
    while (out[port] != link)
        port++;
    return port;
}

static void *make_ports(const th_route_search *f)
{
    const th_system *s = f->s;
    bool is_narrow = fits_narrow(s);
    size_t n = (size_t)s->n_nodes;
    ports *p = th_alloc_zero(1, sizeof *p + n * (is_narrow ? sizeof *p->narrow : sizeof *p->wide));
    if (!p)
        return NULL;
    p->narrow = is_narrow ? (uint8_t *)(p + 1) : NULL;
    p->wide = is_narrow ? NULL : (uint32_t *)(p + 1);
    for (int i = 0; i < s->n_nodes; i++) {
        uint32_t entry = f->best[i].link < 0 ? 0 : 1 + port_of(s, i, f->best[i].link);
        if (is_narrow)
            p->narrow[i] = (uint8_t)entry;
        else
            p->wide[i] = entry;
    }
    return p;
}

static int first_link(const th_system *s, const ports *p, int at)
{
    uint32_t entry = p->narrow ? p->narrow[at] : p->wide[at];
    return entry == 0 ? TH_NO_PATH
                      : s->adjacency.out_links[s->adjacency.out_start[at] + (int)entry - 1];
}

int th_route_shortest_next(const th_system *s, int at, int dst)
{
    const ports *p = th_next_hops_find(s->routes.next_hops, dst);
    if (!p) {
        int neighbour = th_route_link_to(s, at, dst);
        if (neighbour >= 0)
            return neighbour;
        p = th_next_hops_get(s->routes.next_hops, s, dst, make_ports);
    }
    return p ? first_link(s, p, at) : TH_NO_MEMORY;
}

/* ---- the row ---- */

static int prepare(th_system *s, th_error *err)
{
    return th_next_hops_fill_small(s->routes.next_hops, s, make_ports) < 0 ? th_error_no_memory(err)
                                                                           : 0;
}

static int next(const th_system *s, int at, int src, int dst)
{
    return th_parallel_choose(s, th_route_shortest_next(s, at, dst), src, dst);
}

const th_routing_type th_routing_shortest = {
    .name = "shortest",
    .synopsis = "fewest links, then widest, then fastest, then the lowest next node",
    .prepare = prepare,
    .next = next,
    .avoids_dead_links = true,
};
