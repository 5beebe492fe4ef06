/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explicit.c - explicit routes: routes of single pairs, given link by link.
 *   th_system_add_route* -> th_explicit_find* -> th_explicit_free
 * One array holds the links of all routes, and a hash map the route of a pair. Invariant: a route
 * is checked before it is stored, so it has no loop. */
#include <config.h>
#include "topology/routing/explicit.h"

#include "base/alloc.h"
#include "base/map.h"

#include <assert.h>
#include <string.h>

typedef struct explicit_route {
    int32_t from, to; /* nodes */
    int32_t n_links;
    size_t first; /* in links */
} explicit_route;

struct th_explicit_routes {
    explicit_route *routes;
    size_t n_routes, routes_capacity;
    int32_t *links;
    size_t n_links, links_capacity;
    th_map *by_pair; /* index in routes of {from, to} */
};
typedef struct th_explicit_routes table;

/* ---- the table ---- */

static table *new_table(void)
{
    table *x = th_alloc_zero(1, sizeof *x);
    if (x && (x->by_pair = th_map_new()))
        return x;
    th_free(x);
    return NULL;
}

static int store(table *x, const explicit_route *route, const int *links)
{
    size_t n = (size_t)route->n_links;
    const int32_t pair[] = {route->from, route->to};
    if (th_grow(&x->routes, &x->routes_capacity, x->n_routes + 1, sizeof *x->routes) < 0 ||
        th_grow(&x->links, &x->links_capacity, x->n_links + n, sizeof *x->links) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        x->links[x->n_links + i] = links[i];
    x->routes[x->n_routes] = *route;
    x->routes[x->n_routes].first = x->n_links;
    if (th_map_put(x->by_pair, pair, sizeof pair, (int64_t)x->n_routes))
        return -1;
    x->n_routes++;
    x->n_links += n;
    return 0;
}

const int32_t *th_explicit_links(const th_system *s, int from, int to, int *n)
{
    const table *x = s->routes.explicit;
    const int32_t pair[] = {from, to};
    int64_t route;
    if (!x || !th_map_get(x->by_pair, pair, sizeof pair, &route))
        return NULL;
    *n = x->routes[route].n_links;
    return &x->links[x->routes[route].first];
}

bool th_explicit_find(const th_system *s, int from, int to)
{
    int n;
    return th_explicit_links(s, from, to, &n);
}

bool th_system_explicit_route(const th_system *s, int i, th_explicit_route *out)
{
    const table *x = s->routes.explicit;
    if (!x || (size_t)i >= x->n_routes)
        return false;
    const explicit_route *r = &x->routes[i];
    *out = (th_explicit_route){r->from, r->to, r->n_links, &x->links[r->first]};
    return true;
}

void th_explicit_free(th_system *s)
{
    table *x = s->routes.explicit;
    if (x) {
        th_free(x->routes);
        th_free(x->links);
        th_map_free(x->by_pair);
    }
    th_free(x);
    s->routes.explicit = NULL;
}

/* ---- checking ---- */

/* A route that is being checked. */
typedef struct candidate {
    const th_system *s;
    int from, to;
    const int *links;
    int n;
} candidate;

static int refuse(const candidate *c, th_error *err, const char *id, const char *what,
                  const char *name)
{
    return th_error_set(err, id, "route from \"%s\" to \"%s\": %s \"%s\"",
                        c->s->nodes[c->from].name, c->s->nodes[c->to].name, what, name);
}

static int check_segment(const candidate *c, int i, th_error *err)
{
    for (int k = 0; k < i; k++)
        if (c->links[k] == c->links[i])
            return refuse(c, err, "TOPO-0052", "has a loop: it comes twice to segment",
                          c->s->links[c->links[i]].name);
    return 0;
}

/* Link i of the route, which starts where the links before it have led. */
static int check_link(const candidate *c, int i, int at, th_error *err)
{
    const th_system *s = c->s;
    const th_link *l = &s->links[c->links[i]];
    if (l->from != at)
        return th_error_set(
            err, "TOPO-0053",
            "route from \"%s\" to \"%s\": link \"%s\" begins at \"%s\", but the route "
            "has come to \"%s\"",
            s->nodes[c->from].name, s->nodes[c->to].name, l->name, s->nodes[l->from].name,
            s->nodes[at].name);
    if (at != c->from && !s->nodes[at].forwards)
        return refuse(c, err, "TOPO-0054",
                      "passes through a node that does not forward:", s->nodes[at].name);
    bool is_loop = l->to == c->from;
    for (int k = 0; k < i; k++)
        is_loop |= s->links[c->links[k]].to == l->to;
    if (is_loop)
        return refuse(c, err, "TOPO-0055", "has a loop: it comes twice to node",
                      s->nodes[l->to].name);
    return 0;
}

/* Quadratic in the links of one route, of which there are few. */
static int check_links(const candidate *c, th_error *err)
{
    int at = c->from;
    bool has_ends = false;
    for (int i = 0; i < c->n; i++) {
        const th_link *l = &c->s->links[c->links[i]];
        assert(c->links[i] >= 0 && c->links[i] < c->s->n_links);
        if (l->is_dead)
            return refuse(c, err, "TOPO-0056", "takes a dead link:", l->name);
        bool is_segment = l->from < 0;
        if ((is_segment ? check_segment(c, i, err) : check_link(c, i, at, err)) < 0)
            return -1;
        has_ends |= !is_segment;
        at = is_segment ? at : l->to;
    }
    if (has_ends && at != c->to)
        return refuse(c, err, "TOPO-0057", "ends at node", c->s->nodes[at].name);
    return 0;
}

static int check(const candidate *c, th_error *err)
{
    const char *from = c->s->nodes[c->from].name, *to = c->s->nodes[c->to].name;
    if (c->from == c->to)
        return th_error_set(err, "TOPO-0058", "route from \"%s\" to itself: two nodes are expected",
                            from);
    if (th_explicit_find(c->s, c->from, c->to))
        return th_error_set(err, "TOPO-0059",
                            "route from \"%s\" to \"%s\": the pair has one already", from, to);
    if (c->n < 1 || c->n > TH_ROUTE_MAX)
        return th_error_set(err, "TOPO-0060",
                            "route from \"%s\" to \"%s\": has %d links, from 1 to %d are expected",
                            from, to, c->n, TH_ROUTE_MAX);
    return check_links(c, err);
}

int th_system_add_route(th_system *s, int from, int to, const int *links, int n, th_error *err)
{
    const candidate c = {s, from, to, links, n};
    if (th_system_name_links(s, err) < 0 || check(&c, err) < 0)
        return -1;
    const explicit_route route = {.from = from, .to = to, .n_links = n};
    if (!s->routes.explicit)
        s->routes.explicit = new_table();
    if (!s->routes.release)
        s->routes.release = th_explicit_free;
    if (!s->routes.explicit || store(s->routes.explicit, &route, links) < 0)
        return th_error_no_memory(err);
    return 0;
}
