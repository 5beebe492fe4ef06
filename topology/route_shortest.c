/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route_shortest.c - the next link from every node towards every other, by fewest links.
 *   th_columns_prepare (by th_route_prepare) -> th_route_shortest_next -> th_columns_release
 * Breadth first from each destination against the links: when a node is taken from the queue, all
 * nodes one link nearer have been, so its best way is settled.
 * Invariant of the table: following next_link from any node comes nearer to the destination with
 * each link, or the entry is -1. So a walk ends. */
#include <config.h>
#include "topology/route_types.h"

#include "base/alloc.h"

/* The best way from a node to the destination at hand, as far as it is known. */
typedef struct reach {
    int n_links;         /* -1: not reached yet */
    int64_t bits_per_s;  /* of the narrowest link */
    th_time latency_ps;
    int link;            /* the first one */
} reach;

struct th_columns {
    int32_t *next_link;  /* n_nodes x n_nodes: first link from row to column, -1 none */
};

typedef struct search {
    const th_system *s;
    reach *reach;    /* by node */
    int *queue;
} search;

static void search_clear(search *f)
{
    th_free(f->reach);
    th_free(f->queue);
}

static int search_init(search *f, const th_system *s)
{
    size_t n = (size_t)s->n_nodes;
    *f = (search){.s = s,
                  .reach = th_alloc_array(n, sizeof *f->reach),
                  .queue = th_alloc_array(n, sizeof *f->queue)};
    if (f->reach && f->queue)
        return 0;
    search_clear(f);
    return -1;
}

/* Is a better than b, both of equally many links? The rules of route.h; a tie leaves b. */
static bool is_better(const th_system *s, const reach *a, const reach *b)
{
    if (a->bits_per_s != b->bits_per_s)
        return a->bits_per_s > b->bits_per_s;
    if (a->latency_ps != b->latency_ps)
        return a->latency_ps < b->latency_ps;
    return s->links[a->link].to < s->links[b->link].to;
}

/* The way that starts with link and goes on as the way from its end, rest. */
static reach extended(const th_system *s, int link, const reach *rest)
{
    const th_link *l = &s->links[link];
    int64_t bits_per_s = s->media[l->medium].bits_per_s;
    return (reach){.n_links = rest->n_links + 1,
                   .bits_per_s = bits_per_s < rest->bits_per_s ? bits_per_s : rest->bits_per_s,
                   .latency_ps = l->latency_ps + rest->latency_ps,
                   .link = link};
}

static void search_towards(search *f, int dst)
{
    const th_system *s = f->s;
    int head = 0, tail = 0;
    for (int i = 0; i < s->n_nodes; i++)
        f->reach[i] = (reach){.n_links = -1, .link = -1};
    f->reach[dst] = (reach){.n_links = 0, .bits_per_s = INT64_MAX, .link = -1};
    f->queue[tail++] = dst;
    while (head < tail) {
        int node = f->queue[head++];
        if (node != dst && !s->nodes[node].forwards)
            continue;
        for (int i = s->in_start[node]; i < s->in_start[node + 1]; i++) {
            int from = s->links[s->in_links[i]].from;
            reach *known = &f->reach[from];
            reach way = extended(s, s->in_links[i], &f->reach[node]);
            if (known->n_links < 0)
                f->queue[tail++] = from;
            if (known->n_links < 0 || (known->n_links == way.n_links && is_better(s, &way, known)))
                *known = way;
        }
    }
}

static int32_t *entry(const th_system *s, int src, int dst)
{
    return &s->columns->next_link[(size_t)src * (size_t)s->n_nodes + (size_t)dst];
}

static int store_column(const search *f, int dst, th_error *err)
{
    const th_system *s = f->s;
    for (int src = 0; src < s->n_nodes; src++) {
        if (f->reach[src].n_links > TH_ROUTE_MAX)
            return th_error_set(
                err, "TOPO-0014",
                "system \"%s\": the route from \"%s\" to \"%s\" has %d links, at most %d "
                "are supported",
                s->name, s->nodes[src].name, s->nodes[dst].name, f->reach[src].n_links,
                TH_ROUTE_MAX);
        *entry(s, src, dst) = f->reach[src].link;
    }
    return 0;
}

static int fill_columns(th_system *s, th_error *err)
{
    search f;
    if (search_init(&f, s) < 0)
        return th_error_no_memory(err);
    int status = 0;
    for (int dst = 0; dst < s->n_nodes && status == 0; dst++) {
        search_towards(&f, dst);
        status = store_column(&f, dst, err);
    }
    search_clear(&f);
    return status;
}

/* ---- life ---- */

int th_columns_prepare(th_system *s, th_error *err)
{
    size_t n = (size_t)s->n_nodes;
    s->columns = th_alloc_zero(1, sizeof *s->columns);
    if (!s->columns)
        return th_error_no_memory(err);
    s->columns->next_link = th_alloc_array(n * n, sizeof *s->columns->next_link);
    if (!s->columns->next_link)
        return th_error_no_memory(err);
    return fill_columns(s, err);
}

void th_columns_release(th_system *s)
{
    if (s->columns)
        th_free(s->columns->next_link);
    th_free(s->columns);
    s->columns = NULL;
}

int th_route_shortest_next(const th_system *s, int at, int dst)
{
    return *entry(s, at, dst);
}

/* ---- the row ---- */

static int prepare(th_system *s, th_error *err)
{
    (void)s;
    (void)err;
    return 0;
}

static int next(const th_system *s, int at, int src, int dst)
{
    (void)src;
    return *entry(s, at, dst);
}

static void release(th_system *s)
{
    (void)s;
}

const th_routing_type th_routing_shortest = {
    "shortest", "fewest links, then widest, then quickest, then the lowest next node", prepare, next,
    release};
