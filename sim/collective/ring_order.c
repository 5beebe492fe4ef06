/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ring_order.c - a cycle through the ranks of a group that follows the topology. */
#include <config.h>

#include "sim/collective/ring_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

enum {
    PASSES_MAX = 64, /* of 2-opt */
    STARTS_MAX = 16, /* of tours; one for a group of more than FEW ranks */
    FEW = 256
};

/* --- costs ------------------------------------------------------------------------------------ */

typedef struct costs {
    int32_t n;
    int64_t *of;      /* n x n, ps; -1: not known yet; then symmetric, there and back */
    int32_t *rank_of; /* by node, -1: none */
    int32_t *path;    /* ranks of a route */
} costs;

static __int128 link_cost(const th_system *s, int link, int64_t bytes)
{
    const th_link *l = &s->links[link];
    return l->latency_ps + (__int128)bytes * 8 * TH_PS_PER_S / th_stripe_bits(s, link, bytes);
}

static int64_t limited(__int128 cost)
{
    return cost < TH_TIME_MAX / 4 ? (int64_t)cost : TH_TIME_MAX / 4;
}

/* Of a route with these bytes, in ps; or -1. */
static int64_t route_cost(const th_system *s, int from, int to, int64_t bytes, th_error *err)
{
    int links[TH_ROUTE_MAX], count = th_route(s, from, to, links);
    if (count < 0)
        return th_route_error(s, from, to, count, err);
    __int128 sum = 0;
    for (int i = 0; i < count; i++)
        sum += link_cost(s, links[i], bytes);
    return limited(sum);
}

/* From rank to rank; from a rank on the way as from there, so that each link is looked up once. 0
 * or -1. */
static int fill_cost(costs *t, const th_collective *c, const th_system *s, int32_t from, int32_t to,
                     th_error *err)
{
    int64_t piece = c->bytes / t->n, *of = t->of + to; /* by rank times n */
    int32_t hops = 0, at = from;
    for (; of[(int64_t)at * t->n] < 0; hops++) {
        int link = th_route_first(s, c->rank_node[at], c->rank_node[to]);
        if (link < 0)
            return th_route_error(s, c->rank_node[at], c->rank_node[to], link, err);
        t->path[hops] = at;
        int next = s->links[link].to;
        if (next < 0 || t->rank_of[next] < 0 || hops == t->n - 1) {
            int64_t whole = route_cost(s, c->rank_node[at], c->rank_node[to], piece, err);
            if (whole < 0)
                return -1;
            of[(int64_t)at * t->n] = whole;
            break;
        }
        at = t->rank_of[next];
    }
    int64_t rest = of[(int64_t)at * t->n];
    while (hops-- > 0) {
        int link = th_route_first(s, c->rank_node[t->path[hops]], c->rank_node[to]);
        rest = limited(rest + link_cost(s, link, piece));
        of[(int64_t)t->path[hops] * t->n] = rest;
    }
    return 0;
}

static int fill_costs(costs *t, const th_collective *c, const th_system *s, th_error *err)
{
    const int64_t n = t->n;
    t->of = th_alloc_array((size_t)(n * n), sizeof *t->of);
    t->rank_of = th_alloc_array((size_t)s->n_nodes + (size_t)n, sizeof *t->rank_of);
    if (!t->of || !t->rank_of)
        return th_error_no_memory(err);
    t->path = t->rank_of + s->n_nodes;
    for (int i = 0; i < s->n_nodes; i++)
        t->rank_of[i] = -1;
    for (int64_t i = 0; i < n * n; i++)
        t->of[i] = i % (n + 1) == 0 ? 0 : -1;
    for (int32_t i = 0; i < n; i++)
        t->rank_of[c->rank_node[i]] = i;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            if (fill_cost(t, c, s, i, j, err))
                return -1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            t->of[i * n + j] = t->of[j * n + i] += t->of[i * n + j];
    return 0;
}

static int64_t cost(const costs *t, int32_t from, int32_t to)
{
    return t->of[(int64_t)from * t->n + to];
}

static __int128 tour_cost(const costs *t, const int32_t *tour)
{
    __int128 sum = 0;
    for (int32_t i = 0; i < t->n; i++)
        sum += cost(t, tour[i], tour[(i + 1) % t->n]);
    return sum;
}

/* --- tours ------------------------------------------------------------------------------------ */

/* From a rank always to the nearest rank not visited, the lowest of equals. */
static void visit_nearest(const costs *t, int32_t start, int32_t *tour)
{
    for (int32_t i = 0; i < t->n; i++)
        tour[i] = (start + i) % t->n;
    for (int32_t i = 1; i < t->n; i++) {
        int32_t best = i;
        for (int32_t j = i + 1; j < t->n; j++) {
            int64_t by = cost(t, tour[i - 1], tour[j]) - cost(t, tour[i - 1], tour[best]);
            if (by < 0 || (by == 0 && tour[j] < tour[best]))
                best = j;
        }
        int32_t next = tour[best];
        tour[best] = tour[i];
        tour[i] = next;
    }
}

static void reverse(int32_t *tour, int32_t i, int32_t j)
{
    for (; i < j; i++, j--) {
        int32_t swap = tour[i];
        tour[i] = tour[j];
        tour[j] = swap;
    }
}

/* Reverses parts of the tour as long as that makes it cheaper. */
static void improve(const costs *t, int32_t *tour)
{
    int32_t n = t->n;
    bool any = true;
    for (int pass = 0; any && pass < PASSES_MAX; pass++) {
        any = false;
        for (int32_t i = 0; i + 2 < n; i++)
            for (int32_t j = i + 2; j < n; j++) {
                int32_t a = tour[i], b = tour[i + 1], x = tour[j], y = tour[(j + 1) % n];
                if (a == y || cost(t, a, x) + cost(t, b, y) >= cost(t, a, b) + cost(t, x, y))
                    continue;
                reverse(tour, i + 1, j);
                any = true;
            }
    }
}

static int find_tour(th_ring_order *o, const th_collective *c, const th_system *s, th_error *err)
{
    costs t = {.n = o->n};
    int32_t *tour = th_alloc_array((size_t)o->n, sizeof *tour);
    int failed = !tour ? th_error_no_memory(err) : fill_costs(&t, c, s, err);
    for (int32_t start = 0; !failed && start < (o->n > FEW ? 1 : STARTS_MAX) && start < o->n;
         start++) {
        visit_nearest(&t, start, tour);
        improve(&t, tour);
        if (tour_cost(&t, tour) < tour_cost(&t, o->rank))
            memcpy(o->rank, tour, (size_t)o->n * sizeof *tour);
    }
    th_free(tour);
    th_free(t.of);
    th_free(t.rank_of);
    return failed;
}

/* --- stretches -------------------------------------------------------------------------------- */

static int island_at(const th_ring_order *o, const th_collective *c, const th_system *s, int32_t at)
{
    return s->nodes[c->rank_node[o->rank[at]]].group;
}

/* Lets the cycle begin where an island begins. False: it has one island. */
static bool begin_at_island(th_ring_order *o, const th_collective *c, const th_system *s)
{
    int32_t n = o->n, begin = 0;
    while (begin < n && island_at(o, c, s, begin) == island_at(o, c, s, (begin + n - 1) % n))
        begin++;
    if (begin == n)
        return false;
    reverse(o->rank, 0, begin - 1);
    reverse(o->rank, begin, n - 1);
    reverse(o->rank, 0, n - 1);
    return true;
}

static void find_stretches(th_ring_order *o, const th_collective *c, const th_system *s)
{
    bool has_islands = begin_at_island(o, c, s);
    int32_t longest = 1;
    for (int32_t i = 0; i < o->n; i++) {
        if (i == 0 || (has_islands && island_at(o, c, s, i) != island_at(o, c, s, i - 1)))
            o->first[o->n_islands++] = i;
        o->island[i] = o->n_islands - 1;
        int32_t length = i + 1 - o->first[o->n_islands - 1];
        longest = length > longest ? length : longest;
        o->position[o->rank[i]] = i;
    }
    o->first[o->n_islands] = o->n;
    o->rails = o->n_islands == 1 ? 1 : longest < TH_RAILS_MAX ? longest : TH_RAILS_MAX;
}

typedef struct member {
    int32_t group, rank;
    int32_t first; /* the lowest rank of its group */
} member;

static int by_group(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int groups = (x->group > y->group) - (x->group < y->group);
    return groups != 0 ? groups : (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_first(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int firsts = (x->first > y->first) - (x->first < y->first);
    return firsts != 0 ? firsts : (x->rank > y->rank) - (x->rank < y->rank);
}

/* The group's own order, ranks of an island together. */
static int group_islands(th_ring_order *o, const th_collective *c, const th_system *s,
                         th_error *err)
{
    size_t n = (size_t)o->n;
    member *m = th_alloc_array(n, sizeof *m);
    if (!m)
        return th_error_no_memory(err);
    for (int32_t i = 0; i < o->n; i++)
        m[i] = (member){.group = s->nodes[c->rank_node[i]].group, .rank = i};
    qsort(m, n, sizeof *m, by_group);
    for (int32_t i = 0; i < o->n; i++)
        m[i].first = i > 0 && m[i].group == m[i - 1].group ? m[i - 1].first : m[i].rank;
    qsort(m, n, sizeof *m, by_first);
    for (int32_t i = 0; i < o->n; i++)
        o->rank[i] = m[i].rank;
    th_free(m);
    return 0;
}

/* The cycle: known, or found and, where others want it, kept. */
static int order_ranks(th_ring_order *o, const th_collective_schedule *cs, th_error *err)
{
    size_t size = (size_t)o->n * sizeof *o->rank;
    if (cs->kept && cs->kept->tour) {
        memcpy(o->rank, cs->kept->tour, size);
        return 0;
    }
    if (group_islands(o, cs->collective, cs->system, err))
        return -1;
    if (o->n > 3 && o->n <= TH_RING_ORDER_MAX && find_tour(o, cs->collective, cs->system, err))
        return -1;
    if (!cs->kept)
        return 0;
    if (!(cs->kept->tour = th_alloc_array((size_t)o->n, sizeof *o->rank)))
        return th_error_no_memory(err);
    memcpy(cs->kept->tour, o->rank, size);
    return 0;
}

int th_ring_order_init(th_ring_order *o, th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    size_t n = (size_t)c->n_ranks;
    *o = (th_ring_order){.n = c->n_ranks};
    o->rank = th_memory_take(&cs->memory, n, sizeof *o->rank);
    o->position = th_memory_take(&cs->memory, n, sizeof *o->position);
    o->island = th_memory_take(&cs->memory, n, sizeof *o->island);
    o->first = th_memory_take(&cs->memory, n + 1, sizeof *o->first);
    if (cs->memory.is_out)
        return th_error_no_memory(err);
    if (order_ranks(o, cs, err))
        return -1;
    find_stretches(o, c, cs->system);
    return 0;
}

int32_t th_ring_order_rank(const th_ring_order *o, int32_t rail, int32_t position)
{
    int32_t first = o->first[o->island[position]], end = o->first[o->island[position] + 1];
    return o->rails == 1 ? o->rank[position]
                         : o->rank[first + (position - first + rail) % (end - first)];
}

int32_t th_ring_order_position(const th_ring_order *o, int32_t rail, int32_t rank)
{
    int32_t at = o->position[rank];
    int32_t first = o->first[o->island[at]], length = o->first[o->island[at] + 1] - first;
    return o->rails == 1 ? at : first + (at - first + length - rail % length) % length;
}
