/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ports.c - send ports by the medium on which messages leave. */
#include <config.h>

#include "sim/collective/ports.h"

#include "base/map.h"
#include "topology/routing/route.h"

/* The first medium of the route from node to node; n_media: they are one node; -1: no route. */
static int first_medium(const th_system *s, int from, int to, th_error *err)
{
    if (from == to)
        return s->n_media;
    int link = th_route_first(s, from, to);
    return link < 0 ? th_route_error(s, from, to, link, err) : s->links[link].medium;
}

/* The ports of participant p, in port[n_peers]; least: by medium, p * n_peers + k of its least
 * k. */
static int find_ports(const th_collective_schedule *cs, int32_t p, int32_t n_peers, th_peer *peer,
                      th_map *least, int32_t *port, th_error *err)
{
    int64_t base = (int64_t)p * n_peers;
    for (int32_t k = 0; k < n_peers; k++) {
        int64_t first = -1;
        int32_t to = peer(cs, p, k);
        if (to < 0)
            continue;
        int medium = first_medium(cs->system, cs->node[p], cs->node[to], err);
        if (medium < 0)
            return -1;
        th_map_get(least, &medium, sizeof medium, &first);
        if (first < base && th_map_put(least, &medium, sizeof medium, first = base + k))
            return th_error_no_memory(err);
        port[k] = (int32_t)(first - base);
    }
    return 0;
}

int32_t *th_ports_by_medium(th_collective_schedule *cs, int32_t n_peers, th_peer *peer,
                            th_error *err)
{
    size_t n = (size_t)cs->n_participants * (size_t)n_peers + 1;
    int32_t *port = th_memory_take(&cs->memory, n, sizeof *port);
    th_map *least = th_map_new();
    int failed = !port || !least ? th_error_no_memory(err) : 0;
    for (int32_t p = 0; p < cs->n_participants && !failed; p++)
        failed = find_ports(cs, p, n_peers, peer, least, port + (int64_t)p * n_peers, err);
    th_map_free(least);
    return failed ? NULL : port;
}
