/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parallel.c - parallel links share the pairs of nodes, under every routing.
 *   prepare (by th_route_prepare) -> choose*
 * Parallel links have the same ends, bandwidth and latency; a hash of (source, destination, node)
 * chooses one of them, as ecmp does among paths. routes.parallel gives for each link the next of
 * its kind, in a circle; a system without parallel links has no such array. Systems of ASTRA-sim
 * keep its rule, the first one. */
#include <config.h>
#include "topology/routing/types.h"

#include "base/map.h"

uint64_t th_route_hash(int at, int src, int dst)
{
    const int32_t key[] = {src, dst, at};
    return th_hash(key, sizeof key, 0);
}

static bool are_parallel(const th_system *s, int a, int b)
{
    const th_link *x = &s->links[a], *y = &s->links[b];
    return x->from == y->from && x->to == y->to && x->latency_ps == y->latency_ps &&
           s->media[x->medium].bits_per_s == s->media[y->medium].bits_per_s;
}

/* The links [first, return) of the row are parallel. */
static int end_of_run(const th_system *s, const int32_t *row, int first)
{
    int end = first + 1, n = s->adjacency.out_start[s->n_nodes];
    while (end < n && are_parallel(s, row[first], row[end]))
        end++;
    return end;
}

/* The circles, empty: -1, no other link is parallel. 0 or -1. */
static int make_circles(th_system *s)
{
    if (s->routes.parallel)
        return 0;
    s->routes.parallel = th_memory_take(&s->memory, (size_t)s->n_links, sizeof *s->routes.parallel);
    for (int l = 0; s->routes.parallel && l < s->n_links; l++)
        s->routes.parallel[l] = -1;
    return s->routes.parallel ? 0 : -1;
}

/* Rows ascend by end and quality, so parallel links stand beside each other. 0 or -1. */
static int join(th_system *s, const int32_t *row)
{
    int n = s->adjacency.out_start[s->n_nodes];
    for (int first = 0, end; first < n; first = end) {
        end = end_of_run(s, row, first);
        if (end - first == 1)
            continue;
        if (make_circles(s))
            return -1;
        for (int i = first; i < end; i++)
            s->routes.parallel[row[i]] = row[i + 1 < end ? i + 1 : first];
    }
    return 0;
}

int th_parallel_prepare(th_system *s)
{
    const int32_t *row = s->routes.neighbors;
    s->routes.has_stripes = !!s->routing->is_as_good;
    for (int i = 1; i < s->adjacency.out_start[s->n_nodes]; i++)
        s->routes.has_stripes |= s->links[row[i]].from == s->links[row[i - 1]].from &&
                                 s->links[row[i]].to == s->links[row[i - 1]].to;
    s->routes.has_stripes &= !s->astra;
    return s->astra ? 0 : join(s, row);
}

int th_parallel_choose(const th_system *s, int link, int src, int dst)
{
    const int32_t *next = s->routes.parallel;
    if (!next || link < 0 || next[link] < 0)
        return link;
    int first = link, n = 1;
    for (int l = next[link]; l != link; l = next[l], n++)
        first = l < first ? l : first;
    uint64_t left = th_route_hash(s->links[link].from, src, dst) % (uint64_t)n;
    for (; left > 0; left--)
        first = next[first];
    return first;
}
