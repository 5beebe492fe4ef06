/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph_search.c - best paths from all nodes to one, and a store of next-hop tables.
 *   init -> search_towards -> clear        th_next_hops_new -> (get | find)* -> free
 * A breadth-first search from the destination against the direction of the links: when a node is
 * taken from the queue, all nodes one link closer have been taken, so its best path is known.
 * Threads share the store: a table is published by compare-and-exchange, and a thread that is
 * second frees its own, equal table. Tables are never removed, so readers need no lock. */
#include <config.h>
#include "topology/routing/graph_search.h"

#include "base/alloc.h"

#include <stdatomic.h>

/* ---- searching ---- */

static void clear(th_route_search *f)
{
    th_free(f->best);
    th_free(f->queue);
}

/* 0 or -1 (memory). */
static int init(th_route_search *f, const th_system *s)
{
    size_t n = (size_t)s->n_nodes;
    *f = (th_route_search){.s = s,
                           .best = th_alloc_array(n, sizeof *f->best),
                           .queue = th_alloc_array(n, sizeof *f->queue)};
    if (f->best && f->queue)
        return 0;
    clear(f);
    return -1;
}

/* Is a better than b, both of equally many links? The rules of route.h; a tie leaves b. */
static bool is_better(const th_system *s, const th_best_path *a, const th_best_path *b)
{
    if (a->bits_per_s != b->bits_per_s)
        return a->bits_per_s > b->bits_per_s;
    if (a->latency_ps != b->latency_ps)
        return a->latency_ps < b->latency_ps;
    return s->links[a->link].to < s->links[b->link].to;
}

th_best_path th_route_search_path(const th_route_search *f, int link)
{
    const th_link *l = &f->s->links[link];
    const th_best_path *rest = &f->best[l->to];
    int64_t bits_per_s = f->s->media[l->medium].bits_per_s;
    return (th_best_path){.n_links = rest->n_links + 1,
                          .bits_per_s =
                              bits_per_s < rest->bits_per_s ? bits_per_s : rest->bits_per_s,
                          .latency_ps = l->latency_ps + rest->latency_ps,
                          .link = link};
}

/* Fills best[]. */
static void search_towards(th_route_search *f, int dst)
{
    const th_system *s = f->s;
    int head = 0, tail = 0;
    f->dst = dst;
    for (int i = 0; i < s->n_nodes; i++)
        f->best[i] = (th_best_path){.n_links = -1, .link = -1};
    f->best[dst] = (th_best_path){.n_links = 0, .bits_per_s = INT64_MAX, .link = -1};
    f->queue[tail++] = dst;
    while (head < tail) {
        int node = f->queue[head++], n_links = f->best[node].n_links + 1;
        if (node != dst && !s->nodes[node].forwards)
            continue;
        for (int i = s->adjacency.in_start[node]; i < s->adjacency.in_start[node + 1]; i++) {
            th_best_path *known = &f->best[s->links[s->adjacency.in_links[i]].from];
            if (known->n_links >= 0 && known->n_links < n_links)
                continue;
            th_best_path path = th_route_search_path(f, s->adjacency.in_links[i]);
            if (known->n_links < 0)
                f->queue[tail++] = s->links[s->adjacency.in_links[i]].from;
            if (known->n_links < 0 || is_better(s, &path, known))
                *known = path;
        }
    }
}

/* ---- the store ---- */

struct th_next_hops {
    int n_nodes;
    _Atomic(void *) of[]; /* by destination; NULL: not made yet */
};

th_next_hops *th_next_hops_new(int n_nodes)
{
    th_next_hops *c = th_alloc(sizeof *c + (size_t)n_nodes * sizeof c->of[0]);
    if (!c)
        return NULL;
    c->n_nodes = n_nodes;
    for (int i = 0; i < n_nodes; i++)
        atomic_init(&c->of[i], NULL);
    return c;
}

void th_next_hops_free(th_next_hops *c)
{
    for (int i = 0; c && i < c->n_nodes; i++)
        th_free(atomic_load(&c->of[i]));
    th_free(c);
}

const void *th_next_hops_find(const th_next_hops *c, int dst)
{
    return atomic_load_explicit(&c->of[dst], memory_order_acquire);
}

static void *make_table(const th_system *s, int dst, void *(*make)(const th_route_search *f))
{
    th_route_search f;
    if (init(&f, s) < 0)
        return NULL;
    search_towards(&f, dst);
    void *table = make(&f);
    clear(&f);
    return table;
}

const void *th_next_hops_get(th_next_hops *c, const th_system *s, int dst,
                             void *(*make)(const th_route_search *f))
{
    const void *known = th_next_hops_find(c, dst);
    if (known)
        return known;
    void *table = make_table(s, dst, make), *first = NULL;
    if (!table || atomic_compare_exchange_strong(&c->of[dst], &first, table))
        return table;
    th_free(table);
    return first;
}

int th_next_hops_fill_small(th_next_hops *c, const th_system *s,
                            void *(*make)(const th_route_search *f))
{
    enum { SMALL_NODES = 64 };
    for (int dst = 0; s->n_nodes <= SMALL_NODES && dst < s->n_nodes; dst++)
        if (!th_next_hops_get(c, s, dst, make))
            return -1;
    return 0;
}
