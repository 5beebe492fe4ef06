/* SPDX-License-Identifier: GPL-3.0-or-later */
/* neighbors.c - see neighbors.h. */
#include <config.h>
#include "topology/routing/neighbors.h"

#include "base/alloc.h"
#include "topology/routing/route.h"

/* True if link a is wider than b, or as wide with a lower latency. */
static bool is_better(const th_system *s, int a, int b)
{
    int64_t a_bits = s->media[s->links[a].medium].bits_per_s;
    int64_t b_bits = s->media[s->links[b].medium].bits_per_s;
    if (a_bits != b_bits)
        return a_bits > b_bits;
    return s->links[a].latency_ps < s->links[b].latency_ps;
}

/* Puts link l, whose end is not before any end so far, behind the links[n] of its row. */
static void add(const th_system *s, int32_t *links, int n, int l)
{
    links[n] = l;
    for (int i = n; i > 0 && s->links[links[i - 1]].to == s->links[l].to; i--) {
        if (!is_better(s, l, links[i - 1]))
            return;
        links[i] = links[i - 1];
        links[i - 1] = l;
    }
}

int th_neighbors_prepare(th_system *s)
{
    int32_t *filled = th_alloc_zero((size_t)s->n_nodes, sizeof *filled);
    int32_t *rows = th_memory_take(&s->memory, (size_t)s->n_links, sizeof *rows);
    for (int to = 0; filled && rows && to < s->n_nodes; to++)
        for (int i = s->adjacency.in_start[to]; i < s->adjacency.in_start[to + 1]; i++) {
            int l = s->adjacency.in_links[i], from = s->links[l].from;
            add(s, rows + s->adjacency.out_start[from], filled[from]++, l);
        }
    s->routes.neighbors = rows;
    int status = filled && rows ? 0 : -1;
    th_free(filled);
    return status;
}

int th_neighbors_find(const th_system *s, int at, int to)
{
    const int32_t *rows = s->routes.neighbors;
    int low = s->adjacency.out_start[at], high = s->adjacency.out_start[at + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s->links[rows[middle]].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < s->adjacency.out_start[at + 1] && s->links[rows[low]].to == to;
    return is_there ? low : -1;
}

int th_route_link_to(const th_system *s, int at, int to)
{
    int i = th_neighbors_find(s, at, to);
    return i < 0 ? TH_NO_PATH : s->routes.neighbors[i];
}
