/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route.c - the table of routings, and routes by following next from node to node.
 *   th_route_prepare (once, by th_system_finish) -> th_route* -> release
 * Invariant of every routing: following next from any node leads to the destination, or the first
 * result is negative; so a route ends.
 * Not modelled: routes that change while a machine runs. */
#include <config.h>
#include "topology/routing/route.h"

#include "topology/routing/types.h"

#include <assert.h>
#include <string.h>

const th_routing_type *const th_routing_types[] = {&th_routing_shortest,        &th_routing_ecmp,
                                                   &th_routing_dimension_order, &th_routing_up_down,
                                                   &th_routing_dragonfly,       NULL};

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

/* Routers of one level that are joined are those of a dragonfly; the levels of a tree are not. */
static bool joins_routers(const th_system *s)
{
    for (int i = 0; i < s->n_links; i++) {
        const th_link *l = &s->links[i];
        if (l->from >= 0 && s->nodes[l->from].level > 0 &&
            s->nodes[l->from].level == s->nodes[l->to].level)
            return true;
    }
    return false;
}

static const th_link *first_dead_link(const th_system *s)
{
    for (int i = 0; i < s->n_links; i++)
        if (s->links[i].is_dead && s->links[i].from >= 0)
            return &s->links[i];
    return NULL;
}

/* The one for the system's shape, if it has one, and that can be trusted with its dead links. */
static const th_routing_type *natural_routing(const th_system *s)
{
    const th_routing_type *r = &th_routing_shortest;
    if (s->n_dims > 0)
        r = &th_routing_dimension_order;
    else if (has_levels(s))
        r = joins_routers(s) ? &th_routing_dragonfly : &th_routing_up_down;
    return r->goes_round || !first_dead_link(s) ? r : &th_routing_shortest;
}

static int check_dead_links(const th_system *s, th_error *err)
{
    const th_link *dead = first_dead_link(s);
    if (s->routing->goes_round || !dead)
        return 0;
    return th_error_set(
        err, "TOPO-0061",
        "system \"%s\": routing \"%s\" finds no way round the dead link from \"%s\" "
        "to \"%s\"; shortest and ecmp do",
        s->name, s->routing->name, s->nodes[dead->from].name, s->nodes[dead->to].name);
}

int th_route_prepare(th_system *s, th_error *err)
{
    assert(!s->routes.data && !s->routes.next_hops);
    if (!s->routing)
        s->routing = natural_routing(s);
    if (check_dead_links(s, err) < 0 || th_shortest_prepare(s, err) < 0)
        return -1;
    return s->routing->prepare(s, err);
}

void th_route_release(th_system *s)
{
    if (s->routing)
        s->routing->release(s);
    th_shortest_release(s);
    th_explicit_free(s);
}

/* ---- neighbours ---- */

bool th_link_is_better(const th_system *s, int a, int b)
{
    int64_t a_bits = s->media[s->links[a].medium].bits_per_s;
    int64_t b_bits = s->media[s->links[b].medium].bits_per_s;
    if (a_bits != b_bits)
        return a_bits > b_bits;
    return s->links[a].latency_ps < s->links[b].latency_ps;
}

/* A host has a link to each of many accelerators, and each of those has few: the shorter list is
 * taken. */
int th_links_near(const th_system *s, int at, int to, const int32_t **links)
{
    int n_out = s->adjacency.out_start[at + 1] - s->adjacency.out_start[at],
        n_in = s->adjacency.in_start[to + 1] - s->adjacency.in_start[to];
    *links = n_out <= n_in ? &s->adjacency.out_links[s->adjacency.out_start[at]]
                           : &s->adjacency.in_links[s->adjacency.in_start[to]];
    return n_out <= n_in ? n_out : n_in;
}

int th_route_link_to(const th_system *s, int at, int to)
{
    const int32_t *links;
    int n = th_links_near(s, at, to, &links), best = TH_NO_PATH;
    for (int i = 0; i < n; i++) {
        const th_link *l = &s->links[links[i]];
        if (l->from == at && l->to == to && (best < 0 || th_link_is_better(s, links[i], best)))
            best = links[i];
    }
    return best;
}

/* ---- walking ---- */

static int copy_links(int *links, const int32_t *from, int n)
{
    for (int i = 0; i < n; i++)
        links[i] = from[i];
    return n;
}

int th_route(const th_system *s, int src, int dst, int *links)
{
    int n = 0, at = src;
    const int32_t *explicit_links = th_explicit_links(s, src, dst, &n);
    if (explicit_links)
        return copy_links(links, explicit_links, n);
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
                        "system \"%s\": no way of at most %d links from \"%s\" to \"%s\"", s->name,
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
