/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route.c - the next link from every node towards every other.
 *   th_route_compute (once, by th_system_finish) -> th_route | th_route_summarize
 * Breadth first from each destination against the links: when a node is taken from the queue, all
 * nodes one link nearer have been, so its best way is settled. Meshes and tori overwrite the
 * entries among their own nodes with dimension order.
 * Invariant of the table: following next_link from any node comes nearer to the destination with
 * each link, or the entry is -1. So a walk ends.
 * Not modelled: several routes per pair (ECMP), routes that change while a machine runs. */
#include <config.h>
#include "topology/route.h"

#include "base/alloc.h"

#include <assert.h>

/* The best way from a node to the destination at hand, as far as it is known. */
typedef struct reach {
    int n_links;         /* -1: not reached yet */
    int64_t bits_per_s;  /* of the narrowest link */
    th_time latency_ps;
    int link;            /* the first one */
} reach;

typedef struct search {
    const th_system *s;
    int *in_start;   /* links into node i: in_links[in_start[i] .. in_start[i + 1]) */
    int *in_links;
    reach *reach;    /* by node */
    int *queue;
} search;

static void search_clear(search *f)
{
    th_free(f->in_start);
    th_free(f->in_links);
    th_free(f->reach);
    th_free(f->queue);
}

static int search_init(search *f, const th_system *s)
{
    size_t n = (size_t)s->n_nodes;
    *f = (search){.s = s,
                  .in_start = th_alloc_zero(n + 2, sizeof *f->in_start),
                  .in_links = th_alloc_array((size_t)s->n_links, sizeof *f->in_links),
                  .reach = th_alloc_array(n, sizeof *f->reach),
                  .queue = th_alloc_array(n, sizeof *f->queue)};
    if (!f->in_start || !f->in_links || !f->reach || !f->queue) {
        search_clear(f);
        return -1;
    }
    int *next = f->in_start + 1;  /* where the next link into i goes; ends as in_start[i + 1] */
    for (int l = 0; l < s->n_links; l++)
        next[s->links[l].to + 1]++;
    for (int i = 0; i < s->n_nodes; i++)
        next[i + 1] += next[i];
    for (int l = 0; l < s->n_links; l++)
        f->in_links[next[s->links[l].to]++] = l;
    return 0;
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
        for (int i = f->in_start[node]; i < f->in_start[node + 1]; i++) {
            int from = s->links[f->in_links[i]].from;
            reach *known = &f->reach[from];
            reach way = extended(s, f->in_links[i], &f->reach[node]);
            if (known->n_links < 0)
                f->queue[tail++] = from;
            if (known->n_links < 0 || (known->n_links == way.n_links && is_better(s, &way, known)))
                *known = way;
        }
    }
}

static int32_t *entry(const th_system *s, int src, int dst)
{
    return &s->next_link[(size_t)src * (size_t)s->n_nodes + (size_t)dst];
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

static int route_by_hops(th_system *s, th_error *err)
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

/* ---- dimension order ---- */

static int n_shape_nodes(const th_system *s)
{
    int n = 1;
    for (int d = 0; d < s->n_dims; d++)
        n *= s->dims[d];
    return n;
}

/* The way from coordinate a to b in a dimension of the given size: +1, -1, or 0 when a == b. */
static int direction(const th_system *s, int a, int b, int size)
{
    if (a == b)
        return 0;
    if (!s->is_torus)
        return b > a ? 1 : -1;
    int upwards = (b - a + size) % size;
    return 2 * upwards <= size ? 1 : -1;
}

/* The neighbour of src on the way to dst: one step in the first dimension in which they differ. */
static int next_node(const th_system *s, int src, int dst)
{
    int below = 1;  /* nodes in a slice of the dimensions before d */
    for (int d = 0; d < s->n_dims; d++) {
        int size = s->dims[d], a = src / below % size, b = dst / below % size;
        int step = direction(s, a, b, size);
        if (step != 0)
            return src + ((a + step + size) % size - a) * below;
        below *= size;
    }
    return src;
}

/* Neighbours are one link apart, and that link is the one the search by hops found. */
static int route_by_dimension(th_system *s, th_error *err)
{
    int n = n_shape_nodes(s);
    int32_t *row = th_alloc_array((size_t)n, sizeof *row);
    if (!row)
        return th_error_no_memory(err);
    for (int src = 0; src < n; src++) {
        for (int dst = 0; dst < n; dst++)
            row[dst] = src == dst ? -1 : *entry(s, src, next_node(s, src, dst));
        for (int dst = 0; dst < n; dst++)
            *entry(s, src, dst) = row[dst];
    }
    th_free(row);
    return 0;
}

/* Dimension order may be longer than the way by hops, so it is measured for itself. */
static int check_diameter(const th_system *s, th_error *err)
{
    int diameter = 0;
    for (int d = 0; d < s->n_dims; d++)
        diameter += s->is_torus ? s->dims[d] / 2 : s->dims[d] - 1;
    if (diameter <= TH_ROUTE_MAX)
        return 0;
    return th_error_set(err, "TOPO-0015",
                        "system \"%s\": routes of up to %d links, at most %d are supported",
                        s->name, diameter, TH_ROUTE_MAX);
}

int th_route_compute(th_system *s, th_error *err)
{
    if (check_diameter(s, err) < 0)
        return -1;
    assert(!s->next_link);
    s->next_link = th_alloc_array((size_t)s->n_nodes * (size_t)s->n_nodes, sizeof *s->next_link);
    if (!s->next_link)
        return th_error_no_memory(err);
    if (route_by_hops(s, err) < 0)
        return -1;
    return s->n_dims > 0 ? route_by_dimension(s, err) : 0;
}

/* ---- walking ---- */

int th_route(const th_system *s, int src, int dst, int *links)
{
    int n = 0;
    while (src != dst) {
        int link = *entry(s, src, dst);
        if (link < 0)
            return -1;
        links[n++] = link;
        src = s->links[link].to;
    }
    return n;
}

int th_route_summarize(const th_system *s, int src, int dst, th_route_summary *out)
{
    th_route_summary sum = {.bits_per_s = INT64_MAX};
    while (src != dst) {
        int link = *entry(s, src, dst);
        if (link < 0)
            return -1;
        int64_t bits_per_s = s->media[s->links[link].medium].bits_per_s;
        if (bits_per_s < sum.bits_per_s)
            sum.bits_per_s = bits_per_s;
        sum.latency_ps += s->links[link].latency_ps;
        sum.n_links++;
        src = s->links[link].to;
    }
    *out = sum;
    return 0;
}
