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

const th_routing_type *const th_routing_types[] = {&th_routing_shortest, &th_routing_ecmp,
                                                   &th_routing_dimension_order, &th_routing_up_down, NULL};

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
    if (s->n_dims > 0)
        return &th_routing_dimension_order;
    return has_levels(s) ? &th_routing_up_down : &th_routing_shortest;
}

int th_route_prepare(th_system *s, th_error *err)
{
    assert(!s->routing_data && !s->columns);
    if (!s->routing)
        s->routing = natural_routing(s);
    if (th_shortest_prepare(s, err) < 0)
        return -1;
    return s->routing->prepare(s, err);
}

void th_route_release(th_system *s)
{
    if (s->routing)
        s->routing->release(s);
    th_shortest_release(s);
}

/* ---- neighbours ---- */

static bool is_better(const th_system *s, const th_link *a, const th_link *b)
{
    int64_t a_bits = s->media[a->medium].bits_per_s, b_bits = s->media[b->medium].bits_per_s;
    return a_bits > b_bits || (a_bits == b_bits && a->latency_ps < b->latency_ps);
}

/* A host has a link to each of many accelerators, and each of those has few: the shorter list is
 * taken. */
int th_links_near(const th_system *s, int at, int to, const int32_t **links)
{
    int n_out = s->out_start[at + 1] - s->out_start[at], n_in = s->in_start[to + 1] - s->in_start[to];
    *links = n_out <= n_in ? &s->out_links[s->out_start[at]] : &s->in_links[s->in_start[to]];
    return n_out <= n_in ? n_out : n_in;
}

int th_route_link_to(const th_system *s, int at, int to)
{
    const int32_t *links;
    int n = th_links_near(s, at, to, &links), best = TH_NO_WAY;
    for (int i = 0; i < n; i++) {
        const th_link *l = &s->links[links[i]];
        if (l->from == at && l->to == to && (best < 0 || is_better(s, l, &s->links[best])))
            best = links[i];
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
            return link;
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
            return link;
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
