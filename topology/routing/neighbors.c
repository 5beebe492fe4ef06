/* SPDX-License-Identifier: GPL-3.0-or-later */
/* neighbors.c - links by the node they lead to.
 *   init -> link* -> clear
 * Invariant: in the row of a node, links ascend by their end, and the best of parallel ones (the
 * widest, then the fastest, then the lowest) comes first. */
#include <config.h>
#include "topology/routing/neighbors.h"

#include "base/alloc.h"
#include "topology/routing/types.h"

/* Puts link l, whose end is not before any end so far, behind the links[n] of its row. */
static void add(const th_system *s, int32_t *links, int n, int l)
{
    links[n] = l;
    for (int i = n; i > 0 && s->links[links[i - 1]].to == s->links[l].to; i--) {
        if (!th_link_is_better(s, l, links[i - 1]))
            return;
        links[i] = links[i - 1];
        links[i - 1] = l;
    }
}

int th_neighbors_init(th_neighbors *n, const th_system *s)
{
    int32_t *filled = th_alloc_zero((size_t)s->n_nodes, sizeof *filled);
    n->links = th_alloc_array((size_t)s->n_links, sizeof *n->links);
    if (!filled || !n->links) {
        th_free(filled);
        th_neighbors_clear(n);
        return -1;
    }
    for (int to = 0; to < s->n_nodes; to++)
        for (int i = s->adjacency.in_start[to]; i < s->adjacency.in_start[to + 1]; i++) {
            int l = s->adjacency.in_links[i], from = s->links[l].from;
            add(s, n->links + s->adjacency.out_start[from], filled[from]++, l);
        }
    th_free(filled);
    return 0;
}

void th_neighbors_clear(th_neighbors *n)
{
    th_free(n->links);
    n->links = NULL;
}

int th_neighbors_link(const th_neighbors *n, const th_system *s, int at, int to)
{
    int low = s->adjacency.out_start[at], high = s->adjacency.out_start[at + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s->links[n->links[middle]].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < s->adjacency.out_start[at + 1] && s->links[n->links[low]].to == to;
    return is_there ? n->links[low] : -1;
}
