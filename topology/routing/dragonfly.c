/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dragonfly.c - minimal routes in a dragonfly: to the router of the source's group with a link to
 * the group of the destination, over that link, and to the destination's router.
 *   prepare -> next*
 * Routers are the switches of level 1, th_node.group their group. A route has at most one local
 * link on either side of the global one (J. Kim et al., "Technology-driven, highly-scalable
 * dragonfly topology", ISCA 2008: MIN routing). If several links connect two groups, the candidates
 * are those that need the fewest local links; of n candidates the route takes number (destination
 * mod n). Hosts are reached, and reach others, over a direct link if there is one, otherwise as by
 * shortest. Costs O(log degree + links between two groups) per step and O(links) memory: every two
 * groups are connected, so there are at least as many links as pairs of groups. Not modelled:
 * Valiant and adaptive routing (UGAL). */
#include <config.h>
#include "topology/routing/types.h"

typedef struct dragonfly_data {
    int n_groups;
    int32_t *router; /* by node: of an accelerator its router, of a router itself, else -1 */
    int32_t *start;  /* global links from group g to h: [start[g * n_groups + h], its next) */
    int32_t *links;
} dragonfly_data;

static bool is_router(const th_node *n)
{
    return n->kind == TH_NODE_SWITCH && n->level == 1;
}

/* ---- a step ---- */

/* The local links beside the global one, link, on the path from router at to router to. */
static int n_local(const th_system *s, int link, int at, int to)
{
    return (s->links[link].from != at) + (s->links[link].to != to);
}

/* The global link on that path: of those with the fewest local ones beside it, number takes one.
 * After a local link the same holds again, with one less. */
static int global_link(const th_system *s, const dragonfly_data *data, int at, int to,
                       int32_t number)
{
    size_t pair = (size_t)s->nodes[at].group * (size_t)data->n_groups + (size_t)s->nodes[to].group;
    const int32_t *link = data->links + data->start[pair],
                  *end = data->links + data->start[pair + 1];
    int fewest = n_local(s, *link, at, to), n = 0;
    for (const int32_t *l = link; l < end; l++)
        if (n_local(s, *l, at, to) < fewest)
            fewest = n_local(s, *l, at, to);
    for (const int32_t *l = link; l < end; l++)
        n += n_local(s, *l, at, to) == fewest;
    for (int left = number % n;; link++)
        if (n_local(s, *link, at, to) == fewest && left-- == 0)
            return *link;
}

/* The link after router at on the path to router to. */
static int next_link(const th_system *s, const dragonfly_data *data, int at, int to, int32_t number)
{
    if (s->nodes[at].group == s->nodes[to].group)
        return th_route_link_to(s, at, to);
    int link = global_link(s, data, at, to, number), gate = s->links[link].from;
    return gate == at ? link : th_route_link_to(s, at, gate);
}

static int best_link(const th_system *s, int at, int dst)
{
    const dragonfly_data *data = s->routes.data;
    int here = data->router[at], there = data->router[dst];
    if (here < 0 || there < 0) {
        int direct = th_route_link_to(s, at, dst);
        return direct >= 0 ? direct : th_route_shortest_next(s, at, dst);
    }
    if (here != at)
        return th_route_link_to(s, at, here);
    if (here == there)
        return th_route_link_to(s, at, dst);
    return next_link(s, data, at, there, s->nodes[dst].leaf_first);
}

static int next(const th_system *s, int at, int src, int dst)
{
    return th_parallel_choose(s, best_link(s, at, dst), src, dst);
}

/* ---- preparing ---- */

/* Fills router and n_groups. 0, or -1 where an accelerator hangs on no router. */
static int find_routers(const th_system *s, dragonfly_data *data)
{
    for (int i = 0; i < s->n_nodes; i++) {
        bool is_one = is_router(&s->nodes[i]);
        data->router[i] = is_one ? i : -1;
        if (is_one && s->nodes[i].group >= data->n_groups)
            data->n_groups = s->nodes[i].group + 1;
        for (int l = s->adjacency.out_start[i];
             s->nodes[i].accel >= 0 && l < s->adjacency.out_start[i + 1]; l++)
            if (is_router(&s->nodes[s->links[s->adjacency.out_links[l]].to]))
                data->router[i] = s->links[s->adjacency.out_links[l]].to;
        if (s->nodes[i].accel >= 0 && data->router[i] < 0)
            return -1;
    }
    return 0;
}

/* The pair of groups that a link joins, -1 for others. */
static int pair_of(const th_system *s, const dragonfly_data *data, int link)
{
    if (s->links[link].from < 0)
        return -1; /* a segment */
    const th_node *from = &s->nodes[s->links[link].from], *to = &s->nodes[s->links[link].to];
    if (!is_router(from) || !is_router(to) || from->group == to->group)
        return -1;
    return from->group * data->n_groups + to->group;
}

/* Counting sort of the global links by their pair of groups. */
static int sort_links(th_system *s, dragonfly_data *data)
{
    size_t n_pairs = (size_t)data->n_groups * (size_t)data->n_groups;
    data->start = th_memory_take(&s->memory, n_pairs + 2, sizeof *data->start);
    data->links = th_memory_take(&s->memory, (size_t)s->n_links, sizeof *data->links);
    if (!data->start || !data->links)
        return -1;
    int32_t *place =
        data->start + 1; /* where the next link of a pair goes; ends as start[pair + 1] */
    for (int l = 0; l < s->n_links; l++)
        if (pair_of(s, data, l) >= 0)
            place[pair_of(s, data, l) + 1]++;
    for (size_t i = 0; i < n_pairs; i++)
        place[i + 1] += place[i];
    for (int l = 0; l < s->n_links; l++)
        if (pair_of(s, data, l) >= 0)
            data->links[place[pair_of(s, data, l)]++] = l;
    return 0;
}

/* Is there a link between any two groups, and between any two routers of one? */
static bool is_dragonfly(const th_system *s, const dragonfly_data *data)
{
    for (int g = 0; g < data->n_groups; g++)
        for (int h = 0; h < data->n_groups; h++) {
            const int32_t *start = data->start + (size_t)g * (size_t)data->n_groups + h;
            if (g != h && start[0] == start[1])
                return false;
        }
    for (int a = 0; a < s->n_nodes; a++)
        for (int b = a + 1; is_router(&s->nodes[a]) && b < s->n_nodes; b++) {
            if (!is_router(&s->nodes[b]) || s->nodes[b].group != s->nodes[a].group)
                break; /* a group's routers follow each other */
            if (th_route_link_to(s, a, b) < 0 || th_route_link_to(s, b, a) < 0)
                return false;
        }
    return data->n_groups > 0;
}

/* Groups beyond this are none of a dragonfly, whose pairs of groups each have two links. */
static bool has_too_many_groups(const th_system *s, const dragonfly_data *data)
{
    return (int64_t)data->n_groups * (data->n_groups - 1) > s->n_links;
}

static int prepare(th_system *s, th_error *err)
{
    dragonfly_data *data = s->routes.data = th_memory_take(&s->memory, 1, sizeof *data);
    if (!data)
        return th_error_no_memory(err);
    data->router = th_memory_take(&s->memory, (size_t)s->n_nodes, sizeof *data->router);
    if (!data->router)
        return th_error_no_memory(err);
    bool is_one = find_routers(s, data) == 0 && !has_too_many_groups(s, data);
    if (is_one && sort_links(s, data) < 0)
        return th_error_no_memory(err);
    if (is_one && is_dragonfly(s, data))
        return 0;
    return th_error_set(err, "TOPO-0092",
                        "system \"%s\": dragonfly routing needs a generated dragonfly", s->name);
}

const th_routing_type th_routing_dragonfly = {
    "dragonfly", "at most one local link, a global one, at most one local link", prepare, next};
