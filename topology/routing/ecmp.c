/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ecmp.c - equal-cost multipath: distributes the pairs of nodes over equally good paths.
 *   prepare -> next*
 * A path is equally good if it has as many links, the same smallest bandwidth and the same latency
 * as the best path of routing/shortest.c. Of the links that begin such a path at a node, a hash of
 * (source, destination, node) chooses one, so a pair always has one path, its transfers stay in
 * order, and a node distributes the pairs evenly. The next-hop table of a destination has a bit for
 * each link of the system: whether it begins a best path. Method: RFC 2992, with the pair instead
 * of the flow's header. Invariant: every chosen link is closer to the destination, so a route ends.
 * Not modelled: weights, loads, and paths that are as long but narrower. */
#include <config.h>
#include "topology/routing/types.h"

#include "base/alloc.h"
#include "topology/routing/graph_search.h"
#include "topology/routing/neighbors.h"

enum { WORD_BITS = 64 };

/* Bit i is about out_links[i]. */
static bool has_bit(const uint64_t *bits, int i)
{
    return bits[i / WORD_BITS] >> (i % WORD_BITS) & 1;
}

static bool is_as_good(const th_best_path *a, const th_best_path *b)
{
    return a->n_links == b->n_links && a->bits_per_s == b->bits_per_s &&
           a->latency_ps == b->latency_ps;
}

/* Whether a best path to the destination begins with link. */
static bool begins_best(const th_route_search *f, int node, int link)
{
    int to = f->s->links[link].to;
    if (f->best[node].link < 0 || f->best[to].n_links + 1 != f->best[node].n_links ||
        (to != f->dst && !f->s->nodes[to].forwards))
        return false;
    th_best_path path = th_route_search_path(f, link);
    return is_as_good(&path, &f->best[node]);
}

static void *make_bits(const th_route_search *f)
{
    const th_system *s = f->s;
    uint64_t *bits = th_alloc_zero((size_t)s->n_links / WORD_BITS + 1, sizeof *bits);
    for (int node = 0; bits && node < s->n_nodes; node++)
        for (int i = s->adjacency.out_start[node]; i < s->adjacency.out_start[node + 1]; i++)
            if (begins_best(f, node, s->adjacency.out_links[i]))
                bits[i / WORD_BITS] |= (uint64_t)1 << (i % WORD_BITS);
    return bits;
}

/* ---- choosing ---- */

/* Of the marked links out of node at, number hash modulo their count. */
static int choose(const th_system *s, const uint64_t *bits, int at, uint64_t hash)
{
    int n = 0;
    for (int i = s->adjacency.out_start[at]; i < s->adjacency.out_start[at + 1]; i++)
        n += has_bit(bits, i);
    if (n == 0)
        return TH_NO_PATH;
    int left = (int)(hash % (uint64_t)n), i = s->adjacency.out_start[at];
    while (!has_bit(bits, i) || left-- > 0)
        i++;
    return s->adjacency.out_links[i];
}

/* The link to a neighbour where only one leads there; else -1. */
static int only_link_to(const th_system *s, int at, int to)
{
    int i = th_neighbors_find(s, at, to), end = s->adjacency.out_start[at + 1];
    const int32_t *links = s->routes.neighbors;
    bool is_only = i >= 0 && (i + 1 == end || s->links[links[i + 1]].to != to);
    return is_only ? links[i] : -1;
}

static int next(const th_system *s, int at, int src, int dst)
{
    const uint64_t *bits = th_next_hops_find(s->routes.multipath, dst);
    if (!bits) {
        int neighbour = only_link_to(s, at, dst);
        if (neighbour >= 0)
            return neighbour;
        bits = th_next_hops_get(s->routes.multipath, s, dst, make_bits);
    }
    return bits ? choose(s, bits, at, th_route_hash(at, src, dst)) : TH_NO_MEMORY;
}

static bool begins(const th_system *s, int i, int dst)
{
    const uint64_t *bits = th_next_hops_get(s->routes.multipath, s, dst, make_bits);
    return bits && has_bit(bits, i);
}

/* ---- life ---- */

static int prepare(th_system *s, th_error *err)
{
    s->routes.multipath = th_next_hops_new(s->n_nodes);
    if (s->routes.multipath && th_next_hops_fill_small(s->routes.multipath, s, make_bits) == 0)
        return 0;
    return th_error_no_memory(err);
}

const th_routing_type th_routing_ecmp = {
    .name = "ecmp",
    .synopsis = "as shortest; paths that are equally good share the pairs by a hash",
    .prepare = prepare,
    .next = next,
    .is_as_good = begins,
    .avoids_dead_links = true,
};
