/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ports.c - send ports by the medium on which messages leave. */
#include <config.h>

#include "sim/collective/ports.h"

#include "base/alloc.h"
#include "topology/routing/route.h"

/* The first medium of the route from node to node; n_media: they are one node; -1: no route. */
static int first_medium(const th_system *s, int from, int to, th_error *err)
{
    if (from == to)
        return s->n_media;
    int link = th_route_first(s, from, to);
    return link < 0 ? th_route_error(s, from, to, link, err) : s->links[link].medium;
}

/* A hash table of what a participant sends on: its media, and the least peer behind each. */
typedef struct way {
    int64_t owner; /* the participant + 1; of another one, the place is free */
    int32_t medium, peer;
} way;

static way *find_way(way *ways, size_t n, int64_t owner, int medium)
{
    size_t i = (size_t)medium & (n - 1);
    while (ways[i].owner == owner && ways[i].medium != medium)
        i = (i + 1) & (n - 1);
    return &ways[i];
}

int32_t *th_ports_by_medium(const th_collective_schedule *cs, int32_t n_peers,
                            int32_t (*peer)(const th_collective_schedule *cs, int32_t p, int32_t k),
                            th_error *err)
{
    size_t n_ways = 2;
    while (n_ways < 2 * (size_t)n_peers)
        n_ways *= 2;
    int32_t *port = th_alloc_zero((size_t)cs->n_participants * (size_t)n_peers + 1, sizeof *port);
    way *ways = th_alloc_zero(n_ways, sizeof *ways);
    if (!port || !ways) {
        th_error_no_memory(err);
        goto fail;
    }
    for (int32_t p = 0; p < cs->n_participants; p++)
        for (int32_t k = 0; k < n_peers; k++) {
            int32_t to = peer(cs, p, k);
            if (to < 0)
                continue;
            int medium = first_medium(cs->system, cs->node[p], cs->node[to], err);
            if (medium < 0)
                goto fail;
            way *w = find_way(ways, n_ways, p + 1, medium);
            if (w->owner != p + 1)
                *w = (way){p + 1, medium, k};
            port[(int64_t)p * n_peers + k] = w->peer;
        }
    th_free(ways);
    return port;
fail:
    th_free(port);
    th_free(ways);
    return NULL;
}
