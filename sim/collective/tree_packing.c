/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_packing.c - see tree_packing.h.
 *   cables -> graph (from the root, or of all) -> pack_from_root, or pack_cables -> parents
 *
 * From a root: as many trees as there are paths without a common arc from the root to every other
 * rank (J. Edmonds, "Edge-disjoint branchings", 1973). The trees grow one after the other, each
 * breadth first, by every arc to a new rank v after whose removal there are still as many paths to v
 * as trees are to follow (L. Lovász, J. Combin. Theory B 21, 1976): an arc that fails once fails
 * always, so each is tried once in a tree. Of reduce, all arcs are turned round.
 *
 * Along both directions: TREES_MAX minimum spanning trees one after the other, where a cable is as
 * long as it has trees already, and of equal ones that closer to the middle comes first; the number
 * of trees of which the busiest cable has the fewest per tree. That approaches the best fractional
 * packing (G. Wang et al., "Blink", MLSys 2020).
 *
 * A cable that is m times as wide as the narrowest counts as m, rounded down. */
#include <config.h>

#include "sim/collective/tree_packing.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/collective/cables.h"

enum {
    TREES_MAX = 16,
    DEGREE_MAX = 64,
    WIDTH_MAX = 8,     /* in narrowest cables */
    WORK_MAX = 1 << 23 /* ranks times arcs */
};

typedef struct packing {
    const th_cables *g;
    int32_t root;
    int32_t *back;  /* by arc: the other direction; -1: none, it is not used */
    int32_t *left;  /* by arc: trees that it can still take; by cable of pack_cables: that it has */
    int32_t *width; /* by arc */
    int32_t *flow;  /* by arc */
    int32_t *via;   /* by rank: the arc by which it was reached; -1: not yet */
    int32_t *queue; /* of ranks */
    int32_t *depth; /* by rank: from the middle */
    int32_t *order; /* of arcs */
    int32_t *parent, n_trees;
} packing;

/* --- from a root ------------------------------------------------------------------------------ */

/* One more path from the root to a rank, where it may take back parts of others. */
static bool add_path(packing *k, int32_t to)
{
    const th_cables *g = k->g;
    int32_t n = 0;
    for (int32_t v = 0; v < g->n; v++)
        k->via[v] = -1;
    k->queue[n++] = k->root;
    for (int32_t head = 0; head < n && k->via[to] < 0; head++) {
        int32_t u = k->queue[head];
        for (int32_t i = g->first[u]; i < g->first[u + 1]; i++) {
            int32_t v = g->to[i];
            if (v == k->root || k->via[v] >= 0 || k->back[i] < 0 ||
                k->left[i] - k->flow[i] + k->flow[k->back[i]] <= 0)
                continue;
            k->via[v] = i;
            k->queue[n++] = v;
        }
    }
    if (k->via[to] < 0)
        return false;
    for (int32_t v = to; v != k->root; v = g->to[k->back[k->via[v]]]) {
        int32_t i = k->via[v];
        if (k->flow[k->back[i]] > 0)
            k->flow[k->back[i]]--;
        else
            k->flow[i]++;
    }
    return true;
}

/* Are there n paths without a common arc? */
static bool has_paths(packing *k, int32_t to, int32_t n)
{
    int32_t out = 0;
    for (int32_t i = k->g->first[k->root]; i < k->g->first[k->root + 1]; i++)
        out += k->left[i];
    if (out < n)
        return false;
    memset(k->flow, 0, (size_t)k->g->n_arcs * sizeof *k->flow);
    while (n > 0 && add_path(k, to))
        n--;
    return n == 0;
}

static void grow(packing *k, int32_t *parent, int32_t to_follow)
{
    const th_cables *g = k->g;
    int32_t n = 0, *queue = k->depth; /* the other is that of paths */
    for (int32_t v = 0; v < g->n; v++)
        parent[v] = -1;
    queue[n++] = k->root;
    for (int32_t head = 0; head < n; head++) {
        int32_t u = queue[head];
        for (int32_t i = g->first[u]; i < g->first[u + 1]; i++) {
            int32_t v = g->to[i];
            if (v == k->root || parent[v] >= 0 || k->left[i] == 0)
                continue;
            k->left[i]--;
            if (has_paths(k, v, to_follow)) {
                parent[v] = u;
                queue[n++] = v;
            } else {
                k->left[i]++;
            }
        }
    }
}

/* 0, or -1: memory is out. */
static int pack_from_root(packing *k)
{
    const th_cables *g = k->g;
    for (int32_t i = g->first[k->root]; i < g->first[k->root + 1]; i++)
        k->n_trees += k->left[i];
    for (int32_t v = 0; v < g->n; v++)
        while (v != k->root && k->n_trees > 0 && !has_paths(k, v, k->n_trees))
            k->n_trees--;
    size_t n = (size_t)g->n;
    k->parent = th_alloc_array((size_t)k->n_trees * n + 1, sizeof *k->parent);
    if (!k->parent)
        return -1;
    for (int32_t t = 0; t < k->n_trees; t++)
        grow(k, k->parent + (size_t)t * n, k->n_trees - 1 - t);
    return 0;
}

/* --- along both directions -------------------------------------------------------------------- */

/* Breadth first along arcs whose flow is 1 (or all) from a rank; fills via and depth. How many ranks
 * it reached. */
static int32_t search(packing *k, int32_t from, bool is_all)
{
    const th_cables *g = k->g;
    int32_t n = 0;
    for (int32_t v = 0; v < g->n; v++)
        k->depth[v] = -1;
    k->depth[from] = 0;
    k->via[from] = -1;
    k->queue[n++] = from;
    for (int32_t head = 0; head < n; head++) {
        int32_t u = k->queue[head];
        for (int32_t i = g->first[u]; i < g->first[u + 1]; i++) {
            int32_t v = g->to[i];
            if (k->depth[v] >= 0 || k->back[i] < 0 || (!is_all && k->flow[i] == 0))
                continue;
            k->depth[v] = k->depth[u] + 1;
            k->via[v] = i;
            k->queue[n++] = v;
        }
    }
    return n;
}

/* The rank from which the farthest is nearest; -1: cables do not connect all. */
static int32_t find_middle(packing *k, bool is_all)
{
    int32_t middle = -1, least = INT32_MAX;
    for (int32_t v = 0; v < k->g->n; v++) {
        int32_t n = search(k, v, is_all), farthest = k->depth[k->queue[n - 1]];
        if (n < k->g->n)
            return -1;
        if (farthest < least) {
            least = farthest;
            middle = v;
        }
    }
    return middle;
}

typedef struct cable {
    int64_t length;
    int32_t depth, arc;
} cable;

static int by_length(const void *a, const void *b)
{
    const cable *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->depth != y->depth ? x->depth - y->depth : x->arc - y->arc;
}

static int32_t set_of(int32_t *set, int32_t v)
{
    while (set[v] != v)
        v = set[v] = set[set[v]];
    return v;
}

/* The trees that arc i has or, with one more, would have, in some unit. */
static int64_t length_of(const packing *k, int32_t i, int32_t more)
{
    return (int64_t)(k->left[i] + more) * 840 / k->width[i];
}

/* A minimum spanning tree: flow is 1 on its arcs. set: by rank. */
static void find_tree(packing *k, const int32_t *depth, cable *cables, int32_t *set)
{
    const th_cables *g = k->g;
    size_t n = 0;
    for (int32_t u = 0; u < g->n; u++) {
        set[u] = u;
        for (int32_t i = g->first[u]; i < g->first[u + 1]; i++)
            if (k->back[i] >= 0 && u < g->to[i]) {
                int32_t v = g->to[i], nearer = depth[u] < depth[v] ? depth[u] : depth[v];
                cables[n++] = (cable){length_of(k, i, 1), nearer, i};
            }
    }
    qsort(cables, n, sizeof *cables, by_length);
    memset(k->flow, 0, (size_t)g->n_arcs * sizeof *k->flow);
    for (size_t c = 0; c < n; c++) {
        int32_t i = cables[c].arc, back = k->back[i];
        int32_t a = set_of(set, g->to[i]), b = set_of(set, g->to[back]);
        if (a == b)
            continue;
        set[a] = b;
        k->flow[i] = k->flow[back] = 1;
        k->left[i]++;
        k->left[back]++;
    }
}

/* The middle of the tree whose arcs have flow 1: half way along its longest path. */
static int32_t middle_of_tree(packing *k)
{
    int32_t end = k->queue[search(k, 0, false) - 1];
    int32_t v = k->queue[search(k, end, false) - 1];
    for (int32_t hops = k->depth[v] / 2; hops > 0; hops--)
        v = k->g->to[k->back[k->via[v]]];
    return v;
}

/* 0, or -1: memory is out. */
static int pack_cables(packing *k)
{
    const th_cables *g = k->g;
    size_t n = (size_t)g->n;
    cable *cables = th_alloc_array((size_t)g->n_arcs + 1, sizeof *cables);
    int32_t *set = th_alloc_array(2 * n, sizeof *set), *depth = set + n;
    k->parent = th_alloc_array(TREES_MAX * n, sizeof *k->parent);
    int failed = cables && set && k->parent ? 0 : -1;
    int32_t middle = failed ? -1 : find_middle(k, true);
    if (middle >= 0) {
        search(k, middle, true);
        memcpy(depth, k->depth, n * sizeof *depth);
        memset(k->left, 0, (size_t)g->n_arcs * sizeof *k->left);
    }
    double best = 0;
    for (int32_t t = 0; t < TREES_MAX && middle >= 0; t++) {
        find_tree(k, depth, cables, set);
        search(k, middle_of_tree(k), false);
        for (int32_t v = 0; v < g->n; v++)
            k->parent[t * g->n + v] = k->via[v] < 0 ? -1 : g->to[k->back[k->via[v]]];
        int64_t most = 1;
        for (int32_t i = 0; i < g->n_arcs; i++)
            most = k->back[i] >= 0 && length_of(k, i, 0) > most ? length_of(k, i, 0) : most;
        if ((double)(t + 1) / (double)most > best * 1.01) {
            best = (double)(t + 1) / (double)most;
            k->n_trees = t + 1;
        }
    }
    th_free(cables);
    th_free(set);
    return failed;
}

/* --- all -------------------------------------------------------------------------------------- */

static int32_t most_arcs(const th_cables *g)
{
    int32_t most = 0;
    for (int32_t v = 0; v < g->n; v++)
        most = g->first[v + 1] - g->first[v] > most ? g->first[v + 1] - g->first[v] : most;
    return most;
}

/* Arcs with their other directions and widths. is_turned: the data go the other way. 0 or -1. */
static int fill_arcs(packing *k, bool is_turned)
{
    const th_cables *g = k->g;
    size_t arcs = (size_t)g->n_arcs + 1, n = (size_t)g->n;
    int32_t *block = th_alloc_zero(4 * arcs + 3 * n, sizeof *block);
    if (!block)
        return -1;
    k->back = block;
    k->left = block + arcs;
    k->width = block + 2 * arcs;
    k->flow = block + 3 * arcs;
    k->via = block + 4 * arcs;
    k->queue = k->via + n;
    k->depth = k->queue + n;
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < g->n_arcs; i++)
        least = g->bits_per_s[i] < least ? g->bits_per_s[i] : least;
    for (int32_t u = 0; u < g->n; u++)
        for (int32_t i = g->first[u]; i < g->first[u + 1]; i++) {
            k->back[i] = th_cables_find(g, g->to[i], u);
            int32_t used = is_turned && k->back[i] >= 0 ? k->back[i] : i;
            int64_t width = g->bits_per_s[used] / least;
            k->width[i] = width < WIDTH_MAX ? (int32_t)width : WIDTH_MAX;
            k->left[i] = k->back[i] >= 0 ? k->width[i] : 0;
        }
    return 0;
}

static int keep(th_tree_packing *out, th_collective_schedule *cs, const int32_t *trees, int32_t n)
{
    size_t size = (size_t)n * (size_t)cs->collective->n_ranks;
    out->n_trees = n;
    out->parent = th_memory_take(&cs->memory, size + 1, sizeof *out->parent);
    if (out->parent)
        memcpy(out->parent, trees, size * sizeof *trees);
    return out->parent ? 0 : -1;
}

int th_tree_packing_init(th_tree_packing *out, th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    th_collective_kept *kept = cs->kept;
    th_cables g;
    packing k = {.g = &g, .root = c->root};
    if (kept && kept->trees)
        return keep(out, cs, kept->trees, kept->n_trees) ? th_error_no_memory(err) : 0;
    if (th_cables_init(&g, cs, err))
        return -1;
    if (most_arcs(&g) > DEGREE_MAX || (int64_t)g.n * g.n_arcs > WORK_MAX)
        return th_error_set(err, "COLL-0208",
                            "%s of %d ranks by %s: %d cables between them: must be at most %d at a "
                            "rank, and in all %d divided by the ranks",
                            th_collective_names[c->kind], c->n_ranks, cs->algorithm->name,
                            g.n_arcs / 2, DEGREE_MAX, WORK_MAX / 2);
    int failed = fill_arcs(&k, c->kind == TH_REDUCE);
    if (!failed)
        failed = c->kind == TH_ALL_REDUCE ? pack_cables(&k) : pack_from_root(&k);
    if (!failed && k.n_trees > 0)
        failed = keep(out, cs, k.parent, k.n_trees);
    th_free(k.back);
    if (kept && !failed && k.n_trees > 0)
        *kept = (th_collective_kept){kept->tour, k.parent, k.n_trees};
    else
        th_free(k.parent);
    if (failed)
        return th_error_no_memory(err);
    return k.n_trees > 0
               ? 0
               : th_error_set(err, "COLL-0207",
                              "%s of %d ranks by %s: the cables between them do not "
                              "connect all",
                              th_collective_names[c->kind], c->n_ranks, cs->algorithm->name);
}
