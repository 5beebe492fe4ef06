/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.c - see trees.h. */
#include <config.h>

#include "sim/collective/trees.h"

#include "sim/collective/ports.h"

static bool goes_up(const th_collective_schedule *cs)
{
    return cs->collective->kind != TH_BROADCAST;
}
static bool goes_down(const th_collective_schedule *cs)
{
    return cs->collective->kind != TH_REDUCE;
}

/* Counts children, and numbers the ports at which messages come in; the most of a rank. */
static int32_t number_ports(const th_collective_schedule *cs, th_trees *x, int32_t *in)
{
    int32_t n = cs->collective->n_ranks, most = 1;
    for (int32_t i = 0; i < x->n_trees * n; i++)
        if (x->parent[i] >= 0)
            x->n_children[i - i % n + x->parent[i]]++;
    for (int32_t i = 0; i < x->n_trees * n; i++) {
        int32_t *ports = &in[i % n];
        x->from_children[i] = *ports;
        *ports += goes_up(cs) ? x->n_children[i] : 0;
        x->from_parent[i] = *ports;
        *ports += goes_down(cs) && x->parent[i] >= 0;
        most = *ports > most ? *ports : most;
    }
    return most;
}

/* Lists the edges by rank, in the order of trees; the most of a rank. used: by tree and rank, ports
 * from children that have one. */
static int32_t list_edges(const th_collective_schedule *cs, th_trees *x, int32_t *used)
{
    int32_t n = cs->collective->n_ranks, n_edges = 0, most = 1, *at = used + x->n_trees * n;
    for (int32_t v = 0; v < n; v++) {
        x->first[v] = n_edges;
        at[v] = n_edges;
        for (int32_t i = v; i < x->n_trees * n; i += n)
            n_edges += (goes_down(cs) ? x->n_children[i] : 0) + (goes_up(cs) && x->parent[i] >= 0);
        most = n_edges - at[v] > most ? n_edges - at[v] : most;
    }
    x->first[n] = n_edges;
    for (int32_t i = 0; i < x->n_trees * n; i++) {
        int32_t v = i % n, u = x->parent[i], of_parent = i - v + u;
        if (u < 0)
            continue;
        if (goes_up(cs))
            x->edges[at[v]++] =
                (th_tree_edge){i / n, u, x->from_children[of_parent] + used[of_parent]++, true};
        if (goes_down(cs))
            x->edges[at[u]++] = (th_tree_edge){i / n, v, x->from_parent[i], false};
    }
    return most;
}

th_trees *th_trees_new(th_collective_schedule *cs, int32_t n_trees, th_error *err)
{
    size_t n = (size_t)cs->collective->n_ranks;
    th_trees *x = th_memory_take(&cs->memory, 1, sizeof *x);
    cs->data = x;
    if (x) {
        x->n_trees = n_trees;
        x->parent = th_memory_take(&cs->memory, (size_t)n_trees * n + 1, sizeof *x->parent);
    }
    if (cs->memory.is_out)
        th_error_no_memory(err);
    return cs->memory.is_out ? NULL : x;
}

int th_trees_prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    th_trees *x = cs->data;
    size_t n = (size_t)c->n_ranks, all = (size_t)x->n_trees * n + n;
    x->chunks = th_chunks_used(c);
    x->first = th_memory_take(&cs->memory, n + 1, sizeof *x->first);
    x->edges = th_memory_take(&cs->memory, 2 * all, sizeof *x->edges);
    x->n_children = th_memory_take(&cs->memory, all, sizeof(int32_t));
    x->from_children = th_memory_take(&cs->memory, all, sizeof(int32_t));
    x->from_parent = th_memory_take(&cs->memory, all, sizeof(int32_t));
    int32_t *in = th_memory_take(&cs->memory, n, sizeof *in);
    int32_t *used = th_memory_take(&cs->memory, all, sizeof *used);
    if (cs->memory.is_out)
        return th_error_no_memory(err);
    int32_t n_in = number_ports(cs, x, in), n_out = list_edges(cs, x, used);
    return th_collective_schedule_set_ranks(cs, n_out, n_in > n_out ? n_in : n_out, err);
}

/* The ports that a rank waits at before it sends a chunk along an edge: the first, their number. */
static int32_t find_waits(const th_collective_schedule *cs, int32_t p, const th_tree_edge *e,
                          int32_t *port)
{
    const th_trees *x = cs->data;
    int32_t i = e->tree * cs->collective->n_ranks + p;
    bool is_root = x->parent[i] < 0;
    *port = e->is_up || is_root ? x->from_children[i] : x->from_parent[i];
    return !e->is_up && !is_root ? 1 : goes_up(cs) ? x->n_children[i] : 0;
}

bool th_trees_get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                       int64_t step, th_collective_step *out)
{
    const th_trees *x = cs->data;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (thread >= x->first[participant + 1] - x->first[participant])
        return false;
    const th_tree_edge *e = &x->edges[x->first[participant] + thread];
    int32_t port, waits = find_waits(cs, participant, e, &port), steps = waits > 1 ? waits : 1;
    int64_t chunk = step / steps;
    if (chunk >= x->chunks)
        return false;
    if (waits > 0) {
        out->wait_port = port + (int32_t)(step % steps);
        out->wait_count = (int32_t)chunk + 1;
    }
    if (step % steps < steps - 1)
        return true;
    th_range part = th_range_pieces(cs->collective->bytes, e->tree, e->tree + 1, x->n_trees);
    th_collective_step_send(out, thread, e->to, e->to_port, th_range_part(part, chunk, x->chunks));
    out->reduces = e->is_up;
    return true;
}
