/* SPDX-License-Identifier: GPL-3.0-or-later */
/* detour.c - see detour.h: a breadth-first search from the source. Invariant: the queue has nodes
 * in the order of their distance, and each of them once. */
#include <config.h>

#include "sim/network/detour.h"

#include <string.h>

#include "base/alloc.h"
#include "topology/routing/route.h"

void th_detours_clear(th_detours *d)
{
    th_free(d->is_avoided);
    th_free(d->via);
    th_free(d->queue);
    *d = (th_detours){.n_avoided = 0};
}

static int prepare(th_detours *d, const th_system *s)
{
    size_t nodes = (size_t)s->n_nodes + 1;
    if (!d->is_avoided)
        d->is_avoided = th_alloc_zero((size_t)s->n_media + 1, sizeof *d->is_avoided);
    if (!d->via)
        d->via = th_alloc_array(nodes, sizeof *d->via);
    if (!d->queue)
        d->queue = th_alloc_array(nodes, sizeof *d->queue);
    return d->is_avoided && d->via && d->queue ? 0 : -1;
}

int th_detours_avoid(th_detours *d, const th_system *s, int32_t medium, bool is_avoided)
{
    if (!is_avoided && d->n_avoided == 0)
        return 0;
    if (prepare(d, s))
        return -1;
    d->n_avoided += (int)is_avoided - (int)d->is_avoided[medium];
    d->is_avoided[medium] = is_avoided;
    return 0;
}

bool th_detours_crosses(const th_detours *d, const th_system *s, const int *links, int n)
{
    for (int i = 0; d->n_avoided > 0 && i < n; i++)
        if (d->is_avoided[s->links[links[i]].medium])
            return true;
    return false;
}

static bool may_take(const th_detours *d, const th_system *s, int link, int dst)
{
    const th_link *l = &s->links[link];
    bool is_usable = !l->is_dead && !d->is_avoided[l->medium];
    return is_usable && d->via[l->to] < 0 && (l->to == dst || s->nodes[l->to].forwards);
}

/* The links back from dst, in order; their number. */
static int collect(const th_detours *d, const th_system *s, int src, int dst, int *links)
{
    int n = 0;
    for (int at = dst; at != src; at = s->links[d->via[at]].from)
        n++;
    if (n > TH_ROUTE_MAX)
        return TH_NO_PATH;
    for (int at = dst, i = n; at != src; at = s->links[d->via[at]].from)
        links[--i] = d->via[at];
    return n;
}

int th_detours_find(th_detours *d, const th_system *s, int src, int dst, int *links)
{
    int n = 0, next = 0;
    for (int i = 0; i < s->n_nodes; i++)
        d->via[i] = -1;
    d->queue[n++] = src;
    while (next < n && d->via[dst] < 0) {
        int at = d->queue[next++];
        for (int i = s->adjacency.out_start[at]; i < s->adjacency.out_start[at + 1]; i++) {
            int link = s->adjacency.out_links[i], to = s->links[link].to;
            if (to == src || !may_take(d, s, link, dst))
                continue;
            d->via[to] = link;
            d->queue[n++] = to;
        }
    }
    return d->via[dst] < 0 ? TH_NO_PATH : collect(d, s, src, dst, links);
}
