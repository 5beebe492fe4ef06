/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route.c - routes, by following next from node to node.
 *   th_route_prepare (once, by th_system_finish; types.c) -> th_route* -> release
 * Invariant of every routing: following next from any node leads to the destination, or the first
 * result is negative; so a route ends.
 * Not modelled: routes that change while a machine runs. */
#include <config.h>
#include "topology/routing/route.h"

#include <string.h>

#include "topology/routing/explicit.h"

int th_route(const th_system *s, int src, int dst, int *links)
{
    int n = 0, at = src;
    const int32_t *explicit_links = th_explicit_links(s, src, dst, &n);
    if (explicit_links) {
        memcpy(links, explicit_links, (size_t)n * sizeof *links);
        return n;
    }
    while (at != dst) {
        int link = s->routing->next(s, at, src, dst);
        if (link < 0)
            return link;
        if (n == TH_ROUTE_MAX) /* finish has checked only the routes of accelerators */
            return TH_NO_PATH;
        links[n++] = link;
        at = s->links[link].to;
    }
    return n;
}

int th_route_first(const th_system *s, int src, int dst)
{
    int n;
    const int32_t *explicit_links = th_explicit_links(s, src, dst, &n);
    return explicit_links ? explicit_links[0] : s->routing->next(s, src, src, dst);
}

int th_route_error(const th_system *s, int src, int dst, int answer, th_error *err)
{
    if (answer == TH_NO_MEMORY)
        return th_error_no_memory(err);
    return th_error_set(err, "TOPO-0067",
                        "system \"%s\": no path of at most %d links from \"%s\" to \"%s\"", s->name,
                        TH_ROUTE_MAX, s->nodes[src].name, s->nodes[dst].name);
}

int th_route_summarize(const th_system *s, int src, int dst, th_route_summary *out)
{
    int links[TH_ROUTE_MAX], n = th_route(s, src, dst, links);
    if (n < 0)
        return n;
    *out = (th_route_summary){.bits_per_s = INT64_MAX, .n_links = n};
    for (int i = 0; i < n; i++) {
        const th_link *l = &s->links[links[i]];
        if (s->media[l->medium].bits_per_s < out->bits_per_s)
            out->bits_per_s = s->media[l->medium].bits_per_s;
        out->latency_ps += l->latency_ps;
    }
    return 0;
}
