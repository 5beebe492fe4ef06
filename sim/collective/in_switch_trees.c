/* SPDX-License-Identifier: GPL-3.0-or-later */
/* in_switch_trees.c - which switches reduce for a group, and in what order.
 *   find the roots -> for each: switches of its tree -> their outputs -> the order of ranks
 * The best roots are the switches that reduce with the least distance to the farthest rank, then
 * the least to all of them; all that are equally good are used (the planes of an island of several
 * switches, the spines of a fat tree), up to MAX_TREES. From a rank, or a switch, the next one
 * above is the first switch that reduces on the way to the root; others in between only forward. */
#include <config.h>

#include "sim/collective/in_switch.h"

#include <string.h>

#include "base/alloc.h"
#include "topology/routing/route.h"

enum {
    MAX_TREES = 16,
    MAX_SAMPLES = 64 /* ranks, evenly spread, that distances of roots are measured from */
};

/* --- roots ------------------------------------------------------------------------------------ */

typedef struct distance {
    int64_t farthest, sum; /* links */
} distance;

static bool is_nearer(const distance *a, const distance *b)
{
    return a->farthest != b->farthest ? a->farthest < b->farthest : a->sum < b->sum;
}

static distance distance_to(const th_expansion *x, int root)
{
    const th_collective *c = x->collective;
    int32_t samples = c->n_ranks < MAX_SAMPLES ? c->n_ranks : MAX_SAMPLES;
    distance d = {0, 0};
    for (int32_t i = 0; i < samples; i++) {
        th_route_summary way = {.n_links = 0};
        int32_t rank = (int32_t)((int64_t)i * c->n_ranks / samples);
        if (th_route_summarize(x->system, c->rank_node[rank], root, &way))
            return (distance){INT64_MAX, INT64_MAX};
        d.farthest = way.n_links > d.farthest ? way.n_links : d.farthest;
        d.sum += way.n_links;
    }
    return d;
}

static int32_t find_roots(const th_expansion *x, int *root)
{
    const th_system *s = x->system;
    distance best = {INT64_MAX, INT64_MAX};
    int32_t n = 0;
    for (int i = 0; i < s->n_nodes; i++) {
        if (s->nodes[i].kind != TH_NODE_SWITCH || !s->nodes[i].reduces)
            continue;
        distance d = distance_to(x, i);
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

/* The first switch that reduces behind node on the way to root, or -1. */
static int switch_above(const th_system *s, int node, int root)
{
    int links[TH_ROUTE_MAX], n = th_route(s, node, root, links);
    for (int i = 0; i < n; i++) {
        int at = s->links[links[i]].to; /* -1: a segment ends nowhere */
        if (at >= 0 && s->nodes[at].kind == TH_NODE_SWITCH && s->nodes[at].reduces)
            return at;
    }
    return -1;
}

static int32_t add_part(th_switch_trees *t, int32_t n_ranks, int node, const th_switch_part *part)
{
    size_t n = (size_t)t->n_parts + 1;
    if (th_grow(&t->part, &t->part_capacity, n, sizeof *t->part) ||
        th_grow(&t->node, &t->node_capacity, n, sizeof *t->node))
        return -1;
    t->part[t->n_parts] = *part;
    t->node[t->n_parts] = node;
    return n_ranks + t->n_parts++;
}

static int no_tree(const th_expansion *x, int node, int root, th_error *err)
{
    return th_error_set(err, "COLL-0022",
                        "%s by in_switch: the ways from %s to switch %s make no tree",
                        th_collective_names[x->collective->kind], x->system->nodes[node].name,
                        x->system->nodes[root].name);
}

/* The switches of the tree from node up to the root: participant[] by node, -1: not yet in it.
 * Gives the first of them. A chain that meets itself is a circle. */
static int32_t add_chain(th_switch_trees *t, const th_expansion *x, int node, int root,
                         int32_t *participant, th_error *err)
{
    int32_t n_ranks = x->collective->n_ranks, tree = t->n_trees, below = -1, lowest = -1;
    int32_t first_new = n_ranks + t->n_parts;
    for (int at = node; at != root;) {
        int above = switch_above(x->system, at, root);
        if (above < 0)
            return no_tree(x, node, root, err);
        bool is_new = participant[above] < 0;
        const th_switch_part part = {.tree = tree, .parent = -1, .child = -1};
        if (is_new)
            participant[above] = add_part(t, n_ranks, above, &part);
        if (participant[above] < 0)
            return th_error_no_memory(err);
        if (below >= 0)
            t->part[below - n_ranks].parent = participant[above];
        below = participant[above];
        lowest = lowest < 0 ? below : lowest;
        if (!is_new && below < first_new) /* joined a chain that is there already */
            return lowest;
        if (!is_new)
            return no_tree(x, node, root, err);
        at = above;
    }
    return lowest;
}

/* Outputs for as many children as switches first .. end - 1 count, those of a switch together. */
static int make_outputs(th_switch_trees *t, int32_t n_ranks, int32_t first, int32_t end)
{
    for (int32_t p = first; p < end; p++) {
        t->part[p].first_output = n_ranks + t->n_parts;
        for (int32_t i = 0; i < t->part[p].n_outputs; i++) {
            const th_switch_part output = {.tree = t->n_trees, .parent = n_ranks + p, .child = -1};
            if (add_part(t, n_ranks, t->node[p], &output) < 0)
                return -1;
        }
        t->part[p].n_outputs = 0; /* counted again as they are given out */
    }
    return 0;
}

static void give_output(th_switch_trees *t, int32_t n_ranks, int32_t parent, int32_t child)
{
    th_switch_part *above = &t->part[parent - n_ranks];
    t->part[above->first_output - n_ranks + above->n_outputs++].child = child;
}

/* First those to ranks, then those to switches, each in their order. */
static int add_outputs(th_switch_trees *t, const th_expansion *x, int32_t first, int32_t end,
                       th_error *err)
{
    int32_t n_ranks = x->collective->n_ranks;
    const int32_t *above = t->above + (int64_t)t->n_trees * n_ranks;
    for (int32_t r = 0; r < n_ranks; r++)
        t->part[above[r] - n_ranks].n_outputs++;
    for (int32_t p = first; p < end; p++)
        if (t->part[p].parent >= 0)
            t->part[t->part[p].parent - n_ranks].n_outputs++;
    if (make_outputs(t, n_ranks, first, end))
        return th_error_no_memory(err);
    for (int32_t r = 0; r < n_ranks; r++)
        give_output(t, n_ranks, above[r], r);
    for (int32_t p = first; p < end; p++)
        if (t->part[p].parent >= 0)
            give_output(t, n_ranks, t->part[p].parent, n_ranks + p);
    return 0;
}

/* Numbers the ranks below a switch from next on. */
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

static int add_tree(th_switch_trees *t, const th_expansion *x, int root, int32_t *participant,
                    th_error *err)
{
    const th_collective *c = x->collective;
    int32_t n = c->n_ranks, first = t->n_parts;
    memset(participant, -1, (size_t)x->system->n_nodes * sizeof *participant);
    for (int32_t r = 0; r < n; r++) {
        int32_t above = add_chain(t, x, c->rank_node[r], root, participant, err);
        if (above < 0)
            return -1;
        t->above[(int64_t)t->n_trees * n + r] = above;
    }
    if (add_outputs(t, x, first, t->n_parts, err))
        return -1;
    put_in_order(t, n, participant[root], 0);
    t->n_trees++;
    return 0;
}

/* --- all of them ------------------------------------------------------------------------------ */

int th_switch_trees_init(th_switch_trees *t, const th_expansion *x, th_error *err)
{
    int root[MAX_TREES];
    int32_t n_roots = find_roots(x, root);
    size_t n = (size_t)x->collective->n_ranks;
    *t = (th_switch_trees){0};
    if (n_roots == 0)
        return th_error_set(err, "COLL-0021",
                            "%s of %d ranks by in_switch: no switch that reduces is between them",
                            th_collective_names[x->collective->kind], x->collective->n_ranks);
    t->above = th_alloc_array(n * (size_t)n_roots, sizeof *t->above);
    t->order = th_alloc_array(n * (size_t)n_roots, sizeof *t->order);
    t->position = th_alloc_array(n * (size_t)n_roots, sizeof *t->position);
    int32_t *participant = th_alloc_array((size_t)x->system->n_nodes, sizeof *participant);
    int failed = 0;
    if (!t->above || !t->order || !t->position || !participant)
        failed = th_error_no_memory(err);
    for (int32_t i = 0; i < n_roots && !failed; i++)
        failed = add_tree(t, x, root[i], participant, err);
    th_free(participant);
    return failed;
}

void th_switch_trees_clear(th_switch_trees *t)
{
    th_free(t->above);
    th_free(t->order);
    th_free(t->position);
    th_free(t->part);
    th_free(t->node);
}
