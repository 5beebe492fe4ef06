/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cables.c - see cables.h. */
#include <config.h>

#include "sim/collective/cables.h"

#include "base/map.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

/* Inserts an arc among those of a rank, which are few, or come in order. */
static void insert(th_cables *g, int32_t from, int32_t to, int64_t bits_per_s)
{
    int32_t at = g->n_arcs++;
    for (; at > g->first[from] && g->to[at - 1] > to; at--) {
        g->to[at] = g->to[at - 1];
        g->bits_per_s[at] = g->bits_per_s[at - 1];
    }
    g->to[at] = to;
    g->bits_per_s[at] = bits_per_s;
}

static void add_arcs(th_cables *g, const th_collective *c, const th_system *s, int32_t from,
                     const th_map *rank_of)
{
    const th_adjacency *a = &s->adjacency;
    int node = c->rank_node[from];
    g->first[from] = g->n_arcs;
    for (int32_t i = a->out_start[node]; i < a->out_start[node + 1]; i++) {
        const th_link *l = &s->links[a->out_links[i]];
        int32_t to = l->to;
        int64_t rank;
        if (th_map_get(rank_of, &to, sizeof to, &rank) &&
            th_route_first(s, node, to) == a->out_links[i])
            insert(g, from, (int32_t)rank, th_stripe_bits(s, a->out_links[i], c->bytes));
    }
    g->first[from + 1] = g->n_arcs;
}

int th_cables_init(th_cables *g, th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    const th_adjacency *a = &cs->system->adjacency;
    size_t n = (size_t)c->n_ranks, most = 0;
    th_map *rank_of = th_map_new();
    int failed = rank_of ? 0 : -1;
    for (int32_t r = 0; r < c->n_ranks && !failed; r++) {
        const int32_t *node = &c->rank_node[r];
        failed = th_map_put(rank_of, node, sizeof *node, r);
        most += (size_t)(a->out_start[*node + 1] - a->out_start[*node]);
    }
    *g = (th_cables){.n = c->n_ranks};
    g->first = th_memory_take(&cs->memory, n + 1, sizeof *g->first);
    g->to = th_memory_take(&cs->memory, most + 1, sizeof *g->to);
    g->bits_per_s = th_memory_take(&cs->memory, most + 1, sizeof *g->bits_per_s);
    for (int32_t r = 0; r < c->n_ranks && !failed && !cs->memory.is_out; r++)
        add_arcs(g, c, cs->system, r, rank_of);
    th_map_free(rank_of);
    return failed || cs->memory.is_out ? th_error_no_memory(err) : 0;
}

int32_t th_cables_find(const th_cables *g, int32_t from, int32_t to)
{
    int32_t low = g->first[from], high = g->first[from + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (g->to[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->first[from + 1] && g->to[low] == to ? low : -1;
}
