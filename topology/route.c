/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route.c - the table of routings, and walks along what they say.
 *   th_route_prepare (once, by th_system_finish) -> th_route | th_route_summarize -> release
 * Invariant that every routing holds: following next from any node comes to the destination, or the
 * first answer is -1. So a walk ends.
 * Not modelled: routes that change while a machine runs. */
#include <config.h>
#include "topology/route.h"

#include "topology/route_types.h"

#include <assert.h>
#include <string.h>

const th_routing_type *const th_routing_types[] = {&th_routing_shortest,
                                                   &th_routing_dimension_order, NULL};

const th_routing_type *th_routing_find(const char *name)
{
    for (int i = 0; th_routing_types[i]; i++)
        if (strcmp(th_routing_types[i]->name, name) == 0)
            return th_routing_types[i];
    return NULL;
}

static bool has_levels(const th_system *s)
{
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].level > 0)
            return true;
    return false;
}

static const th_routing_type *natural_routing(const th_system *s)
{
    const th_routing_type *up_down = th_routing_find("up_down");
    if (s->n_dims > 0)
        return &th_routing_dimension_order;
    return up_down && has_levels(s) ? up_down : &th_routing_shortest;
}

int th_route_prepare(th_system *s, th_error *err)
{
    assert(!s->routing_data && !s->columns);
    if (!s->routing)
        s->routing = natural_routing(s);
    if (s->routing->prepare(s, err) < 0)
        return -1;
    return th_columns_prepare(s, err);
}

void th_route_release(th_system *s)
{
    if (s->routing)
        s->routing->release(s);
    th_columns_release(s);
}

/* ---- neighbours ---- */

int th_route_link_to(const th_system *s, int at, int to)
{
    int best = -1;
    for (int i = s->out_start[at]; i < s->out_start[at + 1]; i++) {
        int l = s->out_links[i];
        if (s->links[l].to != to)
            continue;
        int64_t bits = s->media[s->links[l].medium].bits_per_s;
        int64_t best_bits = best < 0 ? 0 : s->media[s->links[best].medium].bits_per_s;
        if (bits > best_bits ||
            (bits == best_bits && s->links[l].latency_ps < s->links[best].latency_ps))
            best = l;
    }
    return best;
}

/* ---- walking ---- */

int th_route(const th_system *s, int src, int dst, int *links)
{
    int n = 0, at = src;
    while (at != dst) {
        int link = s->routing->next(s, at, src, dst);
        if (link < 0)
            return -1;
        links[n++] = link;
        at = s->links[link].to;
    }
    return n;
}

int th_route_summarize(const th_system *s, int src, int dst, th_route_summary *out)
{
    th_route_summary sum = {.bits_per_s = INT64_MAX};
    int at = src;
    while (at != dst) {
        int link = s->routing->next(s, at, src, dst);
        if (link < 0)
            return -1;
        int64_t bits_per_s = s->media[s->links[link].medium].bits_per_s;
        if (bits_per_s < sum.bits_per_s)
            sum.bits_per_s = bits_per_s;
        sum.latency_ps += s->links[link].latency_ps;
        sum.n_links++;
        at = s->links[link].to;
    }
    *out = sum;
    return 0;
}
