/* SPDX-License-Identifier: GPL-3.0-or-later */
/* in_switch_trees.c - the trees of reducing switches for a group.
 *   find the roots -> for each: switches of its tree -> their outputs -> the order of ranks
 * The best roots are the reducing switches with the smallest distance to the farthest rank, then
 * the smallest sum of distances. All equally good ones are used (the planes of an island of several
 * switches, the spines of a fat tree), up to MAX_TREES. The parent of a rank or switch is the first
 * reducing switch on its route to the root; other switches only forward. */
#include <config.h>

#include "sim/collective/in_switch.h"

#include <string.h>

#include "base/alloc.h"
#include "topology/routing/route.h"

enum {
    MAX_TREES = 16,
    MAX_SAMPLES = 64 /* ranks, evenly spaced, from which distances are measured */
};

/* --- roots ------------------------------------------------------------------------------------ */

typedef struct distance {
    int64_t farthest, sum; /* links */
} distance;

static bool is_nearer(const distance *a, const distance *b)
{
    return a->farthest != b->farthest ? a->farthest < b->farthest : a->sum < b->sum;
}

/* Of ranks that are farther than most, the first one will do. */
static distance distance_to(const th_collective_schedule *cs, int root, int64_t most)
{
    const th_collective *c = cs->collective;
    int32_t samples = c->n_ranks < MAX_SAMPLES ? c->n_ranks : MAX_SAMPLES;
    distance d = {0, 0};
    for (int32_t i = 0; i < samples && d.farthest <= most; i++) {
        th_route_summary route = {.n_links = 0};
        int32_t rank = (int32_t)((int64_t)i * c->n_ranks / samples);
        if (th_route_summarize(cs->system, c->rank_node[rank], root, &route))
            return (distance){INT64_MAX, INT64_MAX};
        d.farthest = route.n_links > d.farthest ? route.n_links : d.farthest;
        d.sum += route.n_links;
    }
    return d;
}

static int32_t find_roots(const th_collective_schedule *cs, int *root, size_t *n_reducing)
{
    const th_system *s = cs->system;
    distance best = {INT64_MAX, INT64_MAX};
    int32_t n = 0;
    for (int i = 0; i < s->n_nodes; i++) {
        if (s->nodes[i].kind != TH_NODE_SWITCH || !s->nodes[i].reduces)
            continue;
        ++*n_reducing;
        distance d = distance_to(cs, i, best.farthest);
        if (is_nearer(&d, &best)) {
            best = d;
            n = 0;
        }
        if (n < MAX_TREES && d.farthest < INT64_MAX && !is_nearer(&best, &d))
            root[n++] = i;
    }
    return n;
}

/* --- one tree --------------------------------------------------------------------------------- */

/* The first reducing switch after node on the route to root; -1: there is none, or only beyond an
 * accelerator, which does not forward data as they are added up. */
static int switch_above(const th_system *s, int node, int root)
{
    int links[TH_ROUTE_MAX], n = th_route(s, node, root, links);
    for (int i = 0; i < n; i++) {
        int at = s->links[links[i]].to; /* -1: a segment ends nowhere */
        if (at >= 0 && s->nodes[at].kind == TH_NODE_SWITCH && s->nodes[at].reduces)
            return at;
        if (at >= 0 && s->nodes[at].kind == TH_NODE_ACCEL)
            return -1;
    }
    return -1;
}

static int32_t add_part(th_switch_trees *t, int32_t n_ranks, int node, const th_switch_part *part)
{
    t->part[t->n_parts] = *part;
    t->node[t->n_parts] = node;
    return n_ranks + t->n_parts++;
}

static int no_tree(const th_collective_schedule *cs, int node, int root, th_error *err)
{
    return th_error_set(err, "COLL-0022",
                        "%s by in_switch: the routes from %s to switch %s make no tree",
                        th_collective_names[cs->collective->kind], cs->system->nodes[node].name,
                        cs->system->nodes[root].name);
}

/* Adds the switches of the tree from node up to the root; participant[] by node, -1: not yet in the
 * tree. Returns the first of them. A chain that meets itself is a cycle. */
static int32_t add_chain(th_switch_trees *t, const th_collective_schedule *cs, int node, int root,
                         int32_t *participant, th_error *err)
{
    int32_t n_ranks = cs->collective->n_ranks, tree = t->n_trees, below = -1, lowest = -1;
    int32_t first_new = n_ranks + t->n_parts;
    for (int at = node; at != root;) {
        int above = switch_above(cs->system, at, root);
        if (above < 0)
            return no_tree(cs, node, root, err);
        bool is_new = participant[above] < 0;
        const th_switch_part part = {.tree = tree, .parent = -1, .child = -1};
        if (is_new)
            participant[above] = add_part(t, n_ranks, above, &part);
        if (below >= 0)
            t->part[below - n_ranks].parent = participant[above];
        below = participant[above];
        lowest = lowest < 0 ? below : lowest;
        if (!is_new && below < first_new) /* joined an earlier chain */
            return lowest;
        if (!is_new)
            return no_tree(cs, node, root, err);
        at = above;
    }
    return lowest;
}

/* Adds n_outputs outputs to each switch first .. end - 1, contiguous per switch. */
static void make_outputs(th_switch_trees *t, int32_t n_ranks, int32_t first, int32_t end)
{
    for (int32_t p = first; p < end; p++) {
        const th_switch_part output = {.tree = t->n_trees, .parent = n_ranks + p, .child = -1};
        t->part[p].first_output = n_ranks + t->n_parts;
        for (int32_t i = 0; i < t->part[p].n_outputs; i++)
            add_part(t, n_ranks, t->node[p], &output);
        t->part[p].n_outputs = 0; /* counts again as children get outputs */
    }
}

static void give_output(th_switch_trees *t, int32_t n_ranks, int32_t parent, int32_t child)
{
    th_switch_part *above = &t->part[parent - n_ranks];
    t->part[above->first_output - n_ranks + above->n_outputs++].child = child;
}

/* Outputs to ranks first, then to switches, each in increasing order. */
static void add_outputs(th_switch_trees *t, const th_collective_schedule *cs, int32_t first,
                        int32_t end)
{
    int32_t n_ranks = cs->collective->n_ranks;
    const int32_t *above = t->above + (int64_t)t->n_trees * n_ranks;
    for (int32_t r = 0; r < n_ranks; r++)
        t->part[above[r] - n_ranks].n_outputs++;
    for (int32_t p = first; p < end; p++)
        if (t->part[p].parent >= 0)
            t->part[t->part[p].parent - n_ranks].n_outputs++;
    make_outputs(t, n_ranks, first, end);
    for (int32_t r = 0; r < n_ranks; r++)
        give_output(t, n_ranks, above[r], r);
    for (int32_t p = first; p < end; p++)
        if (t->part[p].parent >= 0)
            give_output(t, n_ranks, t->part[p].parent, n_ranks + p);
}

/* Assigns positions, from next on, to the ranks below a switch; returns the position after them. */
static int32_t put_in_order(th_switch_trees *t, int32_t n_ranks, int32_t p, int32_t next)
{
    th_switch_part *w = &t->part[p - n_ranks];
    int64_t base = (int64_t)w->tree * n_ranks;
    w->first = next;
    for (int32_t i = 0; i < w->n_outputs; i++) {
        th_switch_part *output = &t->part[w->first_output - n_ranks + i];
        output->first = next;
        if (output->child < n_ranks) {
            t->order[base + next] = output->child;
            t->position[base + output->child] = next++;
        } else {
            next = put_in_order(t, n_ranks, output->child, next);
        }
        output->end = next;
    }
    return w->end = next;
}

static int add_tree(th_switch_trees *t, const th_collective_schedule *cs, int root,
                    int32_t *participant, th_error *err)
{
    const th_collective *c = cs->collective;
    int32_t n = c->n_ranks, first = t->n_parts;
    memset(participant, -1, (size_t)cs->system->n_nodes * sizeof *participant);
    for (int32_t r = 0; r < n; r++) {
        int32_t above = add_chain(t, cs, c->rank_node[r], root, participant, err);
        if (above < 0)
            return -1;
        t->above[(int64_t)t->n_trees * n + r] = above;
    }
    add_outputs(t, cs, first, t->n_parts);
    put_in_order(t, n, participant[root], 0);
    t->n_trees++;
    return 0;
}

/* --- all trees -------------------------------------------------------------------------------- */

int th_switch_trees_init(th_switch_trees *t, th_collective_schedule *cs, th_error *err)
{
    int root[MAX_TREES];
    size_t n_reducing = 0, n_ranks = (size_t)cs->collective->n_ranks;
    int32_t n_roots = find_roots(cs, root, &n_reducing);
    size_t n = n_ranks * (size_t)n_roots;
    /* of each tree: its switches, and an output to each of them and to each rank */
    size_t n_parts = (2 * n_reducing + n_ranks) * (size_t)n_roots;
    *t = (th_switch_trees){0};
    if (n_roots == 0)
        return th_error_set(err, "COLL-0021",
                            "%s of %d ranks by in_switch: no switch that reduces is between them",
                            th_collective_names[cs->collective->kind], cs->collective->n_ranks);
    t->above = th_memory_take(&cs->memory, n, sizeof *t->above);
    t->order = th_memory_take(&cs->memory, n, sizeof *t->order);
    t->position = th_memory_take(&cs->memory, n, sizeof *t->position);
    t->part = th_memory_take(&cs->memory, n_parts, sizeof *t->part);
    t->node = th_memory_take(&cs->memory, n_parts, sizeof *t->node);
    int32_t *participant = th_alloc_array((size_t)cs->system->n_nodes, sizeof *participant);
    int failed = cs->memory.is_out || !participant ? th_error_no_memory(err) : 0;
    for (int32_t i = 0; i < n_roots && !failed; i++)
        failed = add_tree(t, cs, root[i], participant, err);
    th_free(participant);
    return failed;
}
