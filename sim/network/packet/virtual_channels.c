/* SPDX-License-Identifier: GPL-3.0-or-later */
/* virtual_channels.c - the channel dependency graph of a system's routes, and an order of its
 * links.
 *
 *   new: routes -> edges -> strongly connected components and an order inside them -> needed
 *   classes: a route's links against that order
 *
 * An edge a -> b says that a packet in the buffer at the end of link a can wait for space in the
 * buffer at the end of link b: some route goes over a, then b, and does not end with b (a
 * destination takes what arrives, unless waits_at_end). Without a cycle no deadlock is possible (W.
 * Dally, C. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
 * Transactions on Computers 36, 1987). Classes of virtual channels break the cycles. Each link has
 * a rank (component, position): components in topological order, positions in reverse postorder of
 * a depth-first search. A packet begins in class 0, goes one class up where its route descends
 * within a component, and back to class 0 where it goes on to a later component. So (component,
 * class, position) rises strictly along every route, and still does when all classes of a route are
 * raised by the same number (spread). In a torus this gives one date line per ring, and two
 * classes. Where only a sample of the routes has been examined, another route may descend from
 * component to component: then no packet returns to class 0, it goes one class up wherever the rank
 * descends, and (class, component, position) rises along every route, whatever the order is. Cost:
 * a look-up per link of each examined route, twice where there are cycles; memory per edge. Not
 * modelled: routes that change (adaptive routing), dependencies outside the network. */
#include <config.h>

#include "sim/network/packet/virtual_channels.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/memory.h"
#include "topology/routing/route.h"

typedef struct {
    int32_t from, to;
} edge;

struct th_channels {
    const th_system *system;
    th_memory memory; /* of ends, first, target, component, position */
    int32_t *ends;    /* nodes where messages begin and end */
    int n_ends;
    edge *edges; /* in the order in which they were found */
    size_t n_edges, edge_room;
    th_map *edge_set;
    int32_t *first, *target; /* of link a: target[first[a] .. first[a + 1]) */
    int32_t *component;      /* by link, in topological order */
    int32_t *position;       /* by link */
    bool is_complete;        /* all routes have been examined */
    bool waits_at_end;       /* the last link of a route has a buffer like the others */
    int needed;
};

/* --- edges ------------------------------------------------------------------------------------ */

static int add_edge(th_channels *c, int32_t from, int32_t to)
{
    const edge e = {from, to};
    int64_t known;
    if (th_map_get(c->edge_set, &e, sizeof e, &known))
        return 0;
    if (th_map_put(c->edge_set, &e, sizeof e, 0) ||
        th_grow(&c->edges, &c->edge_room, c->n_edges + 1, sizeof *c->edges))
        return -1;
    c->edges[c->n_edges++] = e;
    return 0;
}

/* The pairs of endpoints whose routes are examined. */
typedef struct {
    int64_t n_pairs, next, links_left;
    int n_ends;
    bool is_complete;
} pairs;

static pairs pairs_of(const th_channels *c)
{
    int64_t all = (int64_t)c->n_ends * c->n_ends;
    bool is_complete = all <= TH_CHANNELS_ALL_PAIRS;
    return (pairs){.n_pairs = is_complete ? all : TH_CHANNELS_LINKS,
                   .links_left = is_complete ? INT64_MAX : TH_CHANNELS_LINKS,
                   .n_ends = c->n_ends,
                   .is_complete = is_complete};
}

/* Accelerators, hosts, and the switches that reduce: they send sums to each other. */
static int collect_ends(th_channels *c)
{
    const th_system *s = c->system;
    c->ends = th_memory_take(&c->memory, (size_t)s->n_nodes + 1, sizeof *c->ends);
    if (!c->ends)
        return -1;
    for (int a = 0; a < s->n_accels; a++)
        c->ends[c->n_ends++] = s->accel_node[a];
    for (int h = 0; h < s->n_hosts; h++)
        c->ends[c->n_ends++] = s->host_node[h];
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].kind == TH_NODE_SWITCH && s->nodes[i].reduces)
            c->ends[c->n_ends++] = i;
    return 0;
}

/* The j-th of the examined pairs, destination lowest. A system without dimensions keeps memory for
 * each destination, so few destinations are sampled, from many sources each. */
static uint64_t draw_pair(const th_system *s, const pairs *p, int64_t j)
{
    enum { SOURCES = 4096 }; /* of one destination */
    const uint64_t n = (uint64_t)p->n_ends;
    if (p->is_complete)
        return (uint64_t)j;
    int64_t group = s->n_dims > 0 ? j : -1 - j / SOURCES;
    uint64_t from = th_hash(&j, sizeof j, 0) % n, to = th_hash(&group, sizeof group, 1) % n;
    return from * n + to;
}

/* The route of the next pair; its number of links, TH_NO_PATH: there is no pair left, or
 * TH_NO_MEMORY. */
static int next_route(const th_channels *c, pairs *p, int *links)
{
    const th_system *s = c->system;
    int64_t j = p->next++;
    uint64_t n = (uint64_t)p->n_ends;
    if (j >= p->n_pairs || p->links_left <= 0)
        return TH_NO_PATH;
    uint64_t draw = draw_pair(s, p, j);
    int hops = th_route(s, c->ends[draw / n % n], c->ends[draw % n], links);
    if (hops == TH_NO_MEMORY)
        return TH_NO_MEMORY;
    hops = hops > 0 ? hops : 0;
    p->links_left -= hops;
    return hops;
}

static int collect_edges(th_channels *c)
{
    pairs p = pairs_of(c);
    int links[TH_ROUTE_MAX], n, n_free = c->waits_at_end ? 0 : 1;
    c->is_complete = p.is_complete;
    while ((n = next_route(c, &p, links)) >= 0)
        for (int i = 0; i + 1 + n_free < n; i++)
            if (add_edge(c, links[i], links[i + 1]))
                return -1;
    return n == TH_NO_MEMORY ? -1 : 0;
}

/* Counting sort of the edges by their first link. */
static int sort_edges(th_channels *c)
{
    size_t n = (size_t)c->system->n_links;
    c->first = th_memory_take(&c->memory, n + 2, sizeof *c->first);
    c->target = th_memory_take(&c->memory, c->n_edges + 1, sizeof *c->target);
    if (!c->first || !c->target)
        return -1;
    int32_t *fill = c->first + 1; /* shifted by one: after the fill it has become the start */
    for (size_t i = 0; i < c->n_edges; i++)
        fill[c->edges[i].from + 1]++;
    for (size_t l = 0; l < n; l++)
        fill[l + 1] += fill[l];
    for (size_t i = 0; i < c->n_edges; i++)
        c->target[fill[c->edges[i].from]++] = c->edges[i].to;
    return 0;
}

/* --- the order of the links (R. Tarjan, SIAM Journal on Computing 1, 1972) -------------------- */

typedef struct {
    int32_t *path, *next; /* the path from the root, and the next edge of each of its links */
    int32_t *open;        /* links whose component is not yet known */
    int32_t *low, *index; /* by link; index 0: not yet visited */
    int32_t n_path, n_open, n_visited, n_components, n_left;
} search;

static void visit(search *t, int32_t link, int32_t first)
{
    t->path[t->n_path] = link;
    t->next[t->n_path++] = first;
    t->open[t->n_open++] = link;
    t->low[link] = t->index[link] = ++t->n_visited;
}

/* All links below it are done: its place in the order, and its component if it is the first of
 * one. Components are numbered last first here. */
static void retreat(th_channels *c, search *t)
{
    int32_t link = t->path[--t->n_path];
    c->position[link] = --t->n_left;
    if (t->n_path > 0) {
        int32_t above = t->path[t->n_path - 1];
        t->low[above] = t->low[link] < t->low[above] ? t->low[link] : t->low[above];
    }
    if (t->low[link] != t->index[link])
        return;
    int32_t member;
    do {
        member = t->open[--t->n_open];
        c->component[member] = t->n_components;
    } while (member != link);
    t->n_components++;
}

static void search_from(th_channels *c, search *t, int32_t root)
{
    visit(t, root, c->first[root]);
    while (t->n_path > 0) {
        int32_t link = t->path[t->n_path - 1], *next = &t->next[t->n_path - 1];
        if (*next == c->first[link + 1]) {
            retreat(c, t);
            continue;
        }
        int32_t to = c->target[(*next)++];
        if (!t->index[to])
            visit(t, to, c->first[to]);
        else if (c->component[to] < 0 && t->index[to] < t->low[link])
            t->low[link] = t->index[to];
    }
}

static int order_links(th_channels *c)
{
    int32_t n = c->system->n_links;
    size_t size = (size_t)n + 1;
    search t = {.n_left = n};
    int32_t *block = th_alloc_zero(5 * size, sizeof *block);
    c->component = th_memory_take(&c->memory, size, sizeof *c->component);
    c->position = th_memory_take(&c->memory, size, sizeof *c->position);
    if (!block || !c->component || !c->position) {
        th_free(block);
        return -1;
    }
    t.path = block;
    t.next = block + size;
    t.open = block + 2 * size;
    t.low = block + 3 * size;
    t.index = block + 4 * size;
    for (int32_t l = 0; l < n; l++)
        c->component[l] = -1;
    for (int32_t l = 0; l < n; l++)
        if (!t.index[l])
            search_from(c, &t, l);
    for (int32_t l = 0; l < n; l++)
        c->component[l] = t.n_components - 1 - c->component[l];
    th_free(block);
    return 0;
}

/* --- classes ---------------------------------------------------------------------------------- */

/* The class of a packet of this class that goes on from link a to link b. */
static int next_class(const th_channels *c, int class, int a, int b)
{
    int32_t from = c->component[a], to = c->component[b];
    if (to > from)
        return c->is_complete ? 0 : class;
    bool rises = to == from && c->position[b] > c->position[a];
    return rises ? class : class + 1;
}

int th_channels_classes(const th_channels *c, const int *links, int n, uint8_t *class_of)
{
    int class = 0, most = 0;
    for (int i = 0; i < n; i++) {
        bool is_last = i + 1 == n && !c->waits_at_end;
        if (i > 0 && !is_last)
            class = next_class(c, class, links[i - 1], links[i]);
        class_of[i] = (uint8_t)(is_last ? 0 : class); /* beyond a byte it is refused */
        most = class > most ? class : most;
    }
    return most + 1;
}

void th_channels_spread(int n_left, int src, int dst, uint8_t *class_of, int n)
{
    const int32_t pair[] = {src, dst};
    uint64_t raise = th_hash(pair, sizeof pair, 0) % (uint64_t)(n_left + 1);
    for (int i = 0; i < n; i++)
        class_of[i] = (uint8_t)(class_of[i] + raise);
}

static int count_needed(th_channels *c)
{
    pairs p = pairs_of(c);
    int links[TH_ROUTE_MAX], n;
    uint8_t class_of[TH_ROUTE_MAX];
    while ((n = next_route(c, &p, links)) >= 0) {
        int needed = th_channels_classes(c, links, n, class_of);
        c->needed = needed > c->needed ? needed : c->needed;
    }
    return n == TH_NO_MEMORY ? -1 : 0;
}

/* No component has two links: every route rises, and one class is enough. */
static bool is_acyclic(const th_channels *c)
{
    for (size_t i = 0; i < c->n_edges; i++)
        if (c->component[c->edges[i].from] == c->component[c->edges[i].to])
            return false;
    return true;
}

int th_channels_needed(const th_channels *c)
{
    return c->needed + (c->is_complete ? 0 : TH_CHANNELS_SPARE);
}

/* --- a cycle, for the error message ----------------------------------------------------------- */

/* Every link of a component of several has a successor inside it. */
static int32_t next_inside(const th_channels *c, int32_t link)
{
    int32_t i = c->first[link];
    while (c->component[c->target[i]] != c->component[link])
        i++;
    return c->target[i];
}

/* The first link that is visited twice. */
static int32_t walk_into_cycle(const th_channels *c, int32_t link, uint8_t *visited)
{
    for (; !visited[link]; link = next_inside(c, link))
        visited[link] = 1;
    return link;
}

static void print_cycle(const th_channels *c, int32_t start, char *out, size_t size)
{
    enum { SHOWN = 6 }; /* links: a message is one line */
    int32_t link = start;
    size_t used = 0;
    for (int n = 0; used < size; n++) {
        const char *name = n < SHOWN ? c->system->links[link].name : "...";
        used += (size_t)snprintf(out + used, size - used, "%s%s", n ? " -> " : "", name);
        if (n == SHOWN || (n > 0 && link == start))
            return;
        link = next_inside(c, link);
    }
}

char *th_channels_cycle(const th_channels *c, char *out, size_t size)
{
    out[0] = '\0';
    uint8_t *visited = th_alloc_zero((size_t)c->system->n_links + 1, 1);
    for (size_t i = 0; visited && i < c->n_edges; i++) {
        if (c->component[c->edges[i].from] != c->component[c->edges[i].to])
            continue;
        print_cycle(c, walk_into_cycle(c, c->edges[i].from, visited), out, size);
        break;
    }
    th_free(visited);
    return out;
}

/* --- life ------------------------------------------------------------------------------------- */

th_channels *th_channels_new(const th_system *s, bool waits_at_end, th_error *err)
{
    th_channels *c = th_alloc_zero(1, sizeof *c);
    if (c) {
        c->system = s;
        c->waits_at_end = waits_at_end;
        c->needed = 1;
        c->edge_set = th_map_new();
    }
    if (!c || !c->edge_set || collect_ends(c) || collect_edges(c) || sort_edges(c) ||
        order_links(c) || (!is_acyclic(c) && count_needed(c))) {
        th_error_no_memory(err);
        th_channels_free(c);
        return NULL;
    }
    return c;
}

void th_channels_free(th_channels *c)
{
    if (!c)
        return;
    th_free(c->edges);
    th_map_free(c->edge_set);
    th_memory_free(&c->memory);
    th_free(c);
}
