/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_route.c - routes as media, and the traffic on them: what the estimates of times add up.
 *   traffic_begin -> carry* -> busiest + latency */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/lower/plan_state.h"
#include "topology/routing/route.h"

/* --- routes --- */

/* Routes between up to so many nodes are kept in a table by pair, which makes searches on a fat
 * tree of 64 accelerators 1.8 times as quick; in larger systems they are computed again each time.
 * The table of so many takes 100 MB where all pairs are used. */
enum { KEPT_NODES_MAX = 2048 };

/* Appends the media of the route to those kept. NULL: memory is out. */
static const th_plan_route *compute_route(th_plans *p, int from, int to, th_plan_route *out)
{
    const th_system *s = p->system;
    int links[TH_ROUTE_MAX], n = th_route(s, from, to, links);
    *out = (th_plan_route){.first = (int32_t)p->routes.n_media};
    if (n == TH_NO_MEMORY ||
        (n > 0 && th_grow(&p->routes.media, &p->routes.media_capacity,
                          p->routes.n_media + (size_t)n, sizeof *p->routes.media)))
        return NULL;
    for (int i = 0; i < n; i++) {
        p->routes.media[p->routes.n_media++] = s->links[links[i]].medium;
        out->latency_ps += s->links[links[i]].latency_ps;
    }
    out->n = n > 0 ? n : 0;
    out->is_known = true;
    return out;
}

/* Valid until the next call or, where routes are kept, as long as the plans. NULL: memory is
 * out. */
static const th_plan_route *find_route(th_plans *p, int from, int to)
{
    size_t nodes = (size_t)p->system->n_nodes;
    if (p->system->n_nodes > KEPT_NODES_MAX) {
        p->routes.n_media = 0;
        return compute_route(p, from, to, &p->routes.last);
    }
    if (!p->routes.by_pair &&
        !(p->routes.by_pair = th_alloc_zero(nodes * nodes, sizeof *p->routes.by_pair)))
        return NULL;
    /* those to one node lie together: readers are looked at one after the other */
    th_plan_route *kept = &p->routes.by_pair[(size_t)to * nodes + (size_t)from];
    return kept->is_known ? kept : compute_route(p, from, to, kept);
}

th_time th_plan_route_bound(th_plans *p, int from, int to, int64_t bytes)
{
    const th_plan_route *route = find_route(p, from, to);
    th_time slowest = 0;
    for (int32_t i = 0; route && i < route->n; i++) {
        const th_medium *medium = &p->system->media[p->routes.media[route->first + i]];
        th_time busy = th_duration_ps(bytes, medium->bits_per_s);
        slowest = busy > slowest ? busy : slowest;
    }
    return route ? th_time_add(slowest, route->latency_ps) : -1;
}

/* --- traffic --- */

void th_plan_traffic_begin(th_plan_traffic *t, th_plans *p)
{
    *t = (th_plan_traffic){.plans = p};
    memset(p->routes.medium_ps, 0, (size_t)p->system->n_media * sizeof *p->routes.medium_ps);
}

/* Most transfers of a layer or a tensor are of one size, and most links of one bandwidth. */
static th_time duration_of(th_plan_traffic *t, int64_t bytes, int64_t bits_per_s)
{
    if (bytes != t->last.bytes || bits_per_s != t->last.bits_per_s) {
        t->last.bytes = bytes;
        t->last.bits_per_s = bits_per_s;
        t->last.time = th_duration_ps(bytes, bits_per_s);
    }
    return t->last.time;
}

void th_plan_carry(th_plan_traffic *t, int from, int to, int64_t bytes)
{
    const th_system *s = t->plans->system;
    const th_plan_route *route = find_route(t->plans, from, to);
    t->failed |= !route;
    for (int32_t i = 0; route && i < route->n; i++) {
        int32_t medium = t->plans->routes.media[route->first + i];
        th_time *busy = &t->plans->routes.medium_ps[medium];
        *busy = th_time_add(*busy > t->ready ? *busy : t->ready,
                            duration_of(t, bytes, s->media[medium].bits_per_s));
        t->busiest = *busy > t->busiest ? *busy : t->busiest;
    }
    if (route && route->latency_ps > t->latency)
        t->latency = route->latency_ps;
}

/* --- what a node sends or receives in all --- */

/* The sum of bandwidths of n links. A medium of several of them counts for each. */
static int64_t sum_of_links(const th_system *s, const int *links, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        int64_t bits = s->media[s->links[links[i]].medium].bits_per_s;
        sum = sum < TH_UNLIMITED - bits ? sum + bits : TH_UNLIMITED;
    }
    return sum;
}

static th_time time_over(int64_t bits_per_s, int64_t bytes)
{
    return bytes > 0 && bits_per_s > 0 ? th_duration_ps(bytes, bits_per_s) - 1 : 0;
}

th_time th_plan_time_in(const th_plans *p, int node, int64_t bytes)
{
    const th_adjacency *a = &p->system->adjacency;
    const int first = a->in_start[node], n = a->in_start[node + 1] - first;
    return p->system->routes.explicit
               ? 0
               : time_over(sum_of_links(p->system, a->in_links + first, n), bytes);
}

th_time th_plan_time_out(const th_plans *p, int node, int64_t bytes)
{
    const th_adjacency *a = &p->system->adjacency;
    const int first = a->out_start[node], n = a->out_start[node + 1] - first;
    return p->system->routes.explicit
               ? 0
               : time_over(sum_of_links(p->system, a->out_links + first, n), bytes);
}
