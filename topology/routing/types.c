/* SPDX-License-Identifier: GPL-3.0-or-later */
/* types.c - the table of routings, the choice of one for a system, and what the routings share. */
#include <config.h>
#include "topology/routing/types.h"

#include <assert.h>
#include <string.h>

#include "topology/routing/explicit.h"
#include "topology/routing/graph_search.h"
#include "topology/routing/neighbors.h"

const th_routing_type *const th_routing_types[] = {&th_routing_shortest,
                                                   &th_routing_ecmp,
                                                   &th_routing_dimension_order,
                                                   &th_routing_up_down,
                                                   &th_routing_rails,
                                                   &th_routing_dragonfly,
                                                   NULL};

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
        r = joins_routers(s)          ? &th_routing_dragonfly
            : th_routing_has_rails(s) ? &th_routing_rails
                                      : &th_routing_up_down;
    if (!r->avoids_dead_links && first_dead_link(s))
        r = &th_routing_shortest;
    return r == &th_routing_shortest && s->stripes_from > 0 ? &th_routing_ecmp : r;
}

static int check_dead_links(const th_system *s, th_error *err)
{
    const th_link *dead = first_dead_link(s);
    if (s->routing->avoids_dead_links || !dead)
        return 0;
    return th_error_set(
        err, "TOPO-0061",
        "system \"%s\": routing \"%s\" finds no path around the dead link from \"%s\" "
        "to \"%s\"; shortest and ecmp do",
        s->name, s->routing->name, s->nodes[dead->from].name, s->nodes[dead->to].name);
}

static void release(th_system *s)
{
    th_next_hops_free(s->routes.next_hops);
    th_next_hops_free(s->routes.multipath);
    th_explicit_free(s);
}

int th_route_prepare(th_system *s, th_error *err)
{
    assert(!s->routes.data && !s->routes.next_hops);
    s->routes.release = release;
    if (!s->routing)
        s->routing = natural_routing(s);
    if (check_dead_links(s, err) < 0)
        return -1;
    s->routes.next_hops = th_next_hops_new(s->n_nodes);
    if (!s->routes.next_hops || th_neighbors_prepare(s) < 0 || th_parallel_prepare(s) < 0)
        return th_error_no_memory(err);
    return s->routing->prepare(s, err);
}
