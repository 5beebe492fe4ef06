/* SPDX-License-Identifier: GPL-3.0-or-later */
/* connected.c - checks that all accelerators and hosts can reach each other.
 *   th_check_connected (once, by th_system_finish)
 * First a check in time O(nodes + links): if all accelerators and hosts reach one forwarding node
 * over forwarding nodes, and it reaches them, then all reach each other through it, over at most
 * the sum of the two longest paths. If no such node is found near the first accelerator, or the
 * paths through it are long and the routing has not checked lengths itself, each accelerator is
 * checked separately: this is exact, includes explicit routes, and finds the pair to report. */
#include <config.h>
#include "topology/routing/connected.h"

#include "base/memory.h"
#include "topology/routing/explicit.h"
#include "topology/routing/route.h"

typedef struct flood {
    const th_system *s;
    int32_t *from_root, *to_root; /* links between the root and each node, -1: no path */
    int32_t *queue;
} flood;

/* Breadth first from root, along the links or against them. */
static void spread(const flood *f, int root, bool along, int32_t *distance)
{
    const th_system *s = f->s;
    const int32_t *start = along ? s->adjacency.out_start : s->adjacency.in_start;
    const int32_t *links = along ? s->adjacency.out_links : s->adjacency.in_links;
    int head = 0, tail = 0;
    for (int i = 0; i < s->n_nodes; i++)
        distance[i] = -1;
    distance[root] = 0;
    f->queue[tail++] = root;
    while (head < tail) {
        int node = f->queue[head++];
        if (node != root && !s->nodes[node].forwards)
            continue;
        for (int i = start[node]; i < start[node + 1]; i++) {
            int next = along ? s->links[links[i]].to : s->links[links[i]].from;
            if (distance[next] >= 0)
                continue;
            distance[next] = distance[node] + 1;
            f->queue[tail++] = next;
        }
    }
}

static void flood_at(const flood *f, int root)
{
    spread(f, root, true, f->from_root);
    spread(f, root, false, f->to_root);
}

/* ---- through one node ---- */

/* The longest of the paths to those nodes, or -1 when one has none. */
static int longest(const int32_t *distance, const int *nodes, int n)
{
    int most = 0;
    for (int i = 0; i < n; i++) {
        if (distance[nodes[i]] < 0)
            return -1;
        if (distance[nodes[i]] > most)
            most = distance[nodes[i]];
    }
    return most;
}

static bool joins_all(const flood *f, int root)
{
    const th_system *s = f->s;
    flood_at(f, root);
    int lengths[] = {longest(f->from_root, s->accel_node, s->n_accels),
                     longest(f->from_root, s->host_node, s->n_hosts),
                     longest(f->to_root, s->accel_node, s->n_accels),
                     longest(f->to_root, s->host_node, s->n_hosts)};
    for (int i = 0; i < 4; i++)
        if (lengths[i] < 0)
            return false;
    int from = lengths[0] > lengths[1] ? lengths[0] : lengths[1],
        to = lengths[2] > lengths[3] ? lengths[2] : lengths[3];
    return from + to <= TH_ROUTE_MAX || (s->routing->checks_length && s->n_hosts == 0);
}

/* Is one of the first few nodes that forward, at the first accelerator, a root that joins all? */
static bool is_joined_by_a_root(const flood *f)
{
    enum { MOST_TRIED = 8 };
    const th_system *s = f->s;
    int first = s->accel_node[0], n_tried = 0;
    if (s->nodes[first].forwards)
        return joins_all(f, first);
    for (int i = s->adjacency.out_start[first];
         i < s->adjacency.out_start[first + 1] && n_tried < MOST_TRIED; i++) {
        int root = s->links[s->adjacency.out_links[i]].to;
        if (!s->nodes[root].forwards)
            continue;
        if (joins_all(f, root))
            return true;
        n_tried++;
    }
    return false;
}

/* ---- the exact one ---- */

static int check_path(const th_system *s, int from, int to, int n_links, th_error *err)
{
    if (th_explicit_find(s, from, to))
        return 0;
    if (n_links < 0)
        return th_error_set(err, "TOPO-0013", "system \"%s\": no path from \"%s\" to \"%s\"",
                            s->name, s->nodes[from].name, s->nodes[to].name);
    if (n_links > TH_ROUTE_MAX)
        return th_error_set(err, "TOPO-0014",
                            "system \"%s\": the route from \"%s\" to \"%s\" has %d links, at most "
                            "%d are supported",
                            s->name, s->nodes[from].name, s->nodes[to].name, n_links, TH_ROUTE_MAX);
    return 0;
}

static int check_accel(const flood *f, int node, th_error *err)
{
    const th_system *s = f->s;
    flood_at(f, node);
    for (int b = 0; b < s->n_accels; b++)
        if (check_path(s, node, s->accel_node[b], f->from_root[s->accel_node[b]], err) < 0)
            return -1;
    for (int h = 0; h < s->n_hosts; h++) {
        int host = s->host_node[h];
        if (check_path(s, node, host, f->from_root[host], err) < 0 ||
            check_path(s, host, node, f->to_root[host], err) < 0)
            return -1;
    }
    return 0;
}

int th_check_connected(const th_system *s, th_error *err)
{
    size_t n = (size_t)s->n_nodes;
    th_memory m = {NULL, false};
    const flood f = {.s = s,
                     .from_root = th_memory_take(&m, n, sizeof *f.from_root),
                     .to_root = th_memory_take(&m, n, sizeof *f.to_root),
                     .queue = th_memory_take(&m, n, sizeof *f.queue)};
    int status = m.is_out ? th_error_no_memory(err) : 0;
    if (status == 0 && !is_joined_by_a_root(&f))
        for (int a = 0; a < s->n_accels && status == 0; a++)
            status = check_accel(&f, s->accel_node[a], err);
    th_memory_free(&m);
    return status;
}
