/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spanning_trees.c - broadcast, reduce and all_reduce along spanning trees of the cables between
 * the ranks, of which each has an equal part of the data.
 *   cables -> pack_from_root, or pack_cables -> parents -> trees.h
 *
 * Every rank gets (gives) each part over another cable, so a broadcast along t trees takes a t-th
 * of the time. With k chunks per tree, d cables to the deepest rank, no cable in two trees, S
 * bytes, links of bandwidth bw and latency L:
 *   broadcast, reduce   (d + k - 1) (L + S / (t k bw))
 *   all_reduce          (2 d + k - 1) (L + S / (t k bw))
 * On a torus of n axes t = 2 n, on a hypercube n, on a fully connected group one less than ranks,
 * where that is a scatter and an all_gather at once. all_reduce: about cables / (ranks - 1). Where
 * trees share a cable, they share its bandwidth.
 *
 * From a root: as many trees as there are paths without a common arc from the root to every other
 * rank (J. Edmonds, "Edge-disjoint branchings", 1973). The trees grow one after the other, each
 * breadth first, by every arc to a new rank after whose removal there are still as many paths to it
 * as trees are to follow (L. Lovasz, J. Combin. Theory B 21, 1976). An arc that fails once fails
 * always, so each is tried once in a tree. Of reduce, all arcs are turned round.
 *
 * Along both directions, from the middle: minimum spanning trees one after the other, where a cable
 * is as long as it has trees already, and of equal ones that closest to the middle is taken; as
 * many trees as the busiest cable has the fewest of. That approaches the best fractional packing
 * (G. Wang et al., "Blink", MLSys 2020).
 *
 * A cable that is m times as wide as the narrowest counts as m, rounded down. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/cables.h"
#include "sim/collective/trees.h"

enum {
    TREES_MAX = 16, /* along both directions */
    DEGREE_MAX = 64,
    WIDTH_MAX = 8,     /* in narrowest cables */
    WORK_MAX = 1 << 23 /* ranks times arcs */
};

typedef struct packing {
    th_cables g;
    int32_t root;
    int32_t *back;            /* by arc: the other direction; -1: none, it is not used */
    int32_t *left;            /* by arc: trees that it can still take; below 0: it has more */
    int32_t *width;           /* by arc: what left was at first */
    int32_t *flow;            /* by arc */
    int32_t *via;             /* by rank: the arc by which it was reached; -1: not yet */
    int32_t *queue, *depth;   /* of ranks; by rank */
    int32_t *parent, n_trees; /* as th_trees; th_free */
} packing;

/* Breadth first from a rank along arcs that have something left, up to a rank (-1: to all). Fills
 * via, depth, queue; how many it reached. */
static int32_t search(packing *k, int32_t from, int32_t to)
{
    const th_cables *g = &k->g;
    int32_t n = 0;
    for (int32_t v = 0; v < g->n; v++)
        k->via[v] = -1;
    k->depth[from] = 0;
    k->queue[n++] = from;
    for (int32_t head = 0; head < n && (to < 0 || k->via[to] < 0); head++) {
        int32_t u = k->queue[head];
        for (int32_t i = g->first[u]; i < g->first[u + 1]; i++) {
            int32_t v = g->to[i], back = k->back[i];
            if (v == from || k->via[v] >= 0 || back < 0 ||
                k->left[i] - k->flow[i] + k->flow[back] <= 0)
                continue;
            k->via[v] = i;
            k->depth[v] = k->depth[u] + 1;
            k->queue[n++] = v;
        }
    }
    return n;
}

/* --- from a root ------------------------------------------------------------------------------ */

/* One more path from the root to a rank, which may take back parts of others. */
static bool add_path(packing *k, int32_t to)
{
    search(k, k->root, to);
    if (k->via[to] < 0)
        return false;
    for (int32_t v = to, back; v != k->root; v = k->g.to[back]) {
        back = k->back[k->via[v]];
        if (k->flow[back] > 0)
            k->flow[back]--;
        else
            k->flow[k->via[v]]++;
    }
    return true;
}

static int32_t left_at(const packing *k, int32_t v)
{
    int32_t sum = 0;
    for (int32_t i = k->g.first[v]; i < k->g.first[v + 1]; i++)
        sum += k->left[i];
    return sum;
}

/* Are there n paths to a rank without a common arc? */
static bool has_paths(packing *k, int32_t to, int32_t n)
{
    if (left_at(k, k->root) < n)
        return false;
    memset(k->flow, 0, (size_t)k->g.n_arcs * sizeof *k->flow);
    while (n > 0 && add_path(k, to))
        n--;
    return n == 0;
}

/* A tree that leaves so many others. parent is -1 at first; reached: scratch, by rank. */
static void grow(packing *k, int32_t *parent, int32_t *reached, int32_t others)
{
    const th_cables *g = &k->g;
    int32_t n = 0;
    reached[n++] = k->root;
    for (int32_t head = 0; head < n; head++)
        for (int32_t u = reached[head], i = g->first[u]; i < g->first[u + 1]; i++) {
            int32_t v = g->to[i];
            if (v == k->root || parent[v] >= 0 || k->left[i] == 0)
                continue;
            k->left[i]--;
            if (has_paths(k, v, others)) {
                parent[v] = u;
                reached[n++] = v;
            } else {
                k->left[i]++;
            }
        }
}

static void pack_from_root(packing *k, int32_t *reached)
{
    for (int32_t v = 0; v < k->g.n; v++)
        while (v != k->root && k->n_trees > 0 && !has_paths(k, v, k->n_trees))
            k->n_trees--;
    for (int32_t t = 0; t < k->n_trees; t++)
        grow(k, k->parent + t * k->g.n, reached, k->n_trees - 1 - t);
}

/* --- along both directions -------------------------------------------------------------------- */

/* The rank from which the farthest is nearest; -1: cables do not connect all. */
static int32_t find_middle(packing *k)
{
    int32_t middle = -1, least = INT32_MAX;
    for (int32_t v = 0; v < k->g.n; v++) {
        if (search(k, v, -1) < k->g.n)
            return -1;
        int32_t farthest = k->depth[k->queue[k->g.n - 1]];
        middle = farthest < least ? v : middle;
        least = farthest < least ? farthest : least;
    }
    return middle;
}

/* The trees of a cable per width with one more, in some unit. */
static int32_t length_of(const packing *k, int32_t i)
{
    return (k->width[i] - k->left[i] + 1) * 840 / k->width[i];
}

/* A minimum spanning tree from the middle, by Prim's algorithm; the length of its longest cable. */
static int32_t grow_shortest(packing *k, int32_t middle, int32_t *parent)
{
    const th_cables *g = &k->g;
    int32_t longest = 0;
    k->queue[0] = middle;
    k->depth[middle] = 0;
    for (int32_t n = 1; n < g->n; n++) {
        int32_t best = -1, from = -1;
        for (int32_t j = 0; j < n; j++)
            for (int32_t u = k->queue[j], i = g->first[u]; i < g->first[u + 1]; i++) {
                if (parent[g->to[i]] >= 0 || g->to[i] == middle || k->back[i] < 0)
                    continue;
                int32_t more = best < 0 ? -1 : length_of(k, i) - length_of(k, best);
                if (more < 0 || (more == 0 && k->depth[u] < k->depth[from])) {
                    best = i;
                    from = u;
                }
            }
        longest = length_of(k, best) > longest ? length_of(k, best) : longest;
        k->left[best]--;
        k->left[k->back[best]]--;
        parent[g->to[best]] = from;
        k->depth[g->to[best]] = k->depth[from] + 1;
        k->queue[n] = g->to[best];
    }
    return longest;
}

static void pack_cables(packing *k)
{
    int32_t middle = find_middle(k), most = 1;
    double best = 0;
    k->n_trees = 0;
    for (int32_t t = 0; t < TREES_MAX && middle >= 0; t++) {
        int32_t longest = grow_shortest(k, middle, k->parent + t * k->g.n);
        most = longest > most ? longest : most;
        if ((t + 1.0) / most > best * 1.01) { /* fewer trees of about the same are better */
            best = (t + 1.0) / most;
            k->n_trees = t + 1;
        }
    }
}

/* --- all -------------------------------------------------------------------------------------- */

/* Arcs with their other directions and widths. is_turned: the data go the other way. */
static void fill_arcs(packing *k, bool is_turned)
{
    const th_cables *g = &k->g;
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
}

/* Of cables that are not too many. 0, or -1: memory is out. */
static int pack(packing *k, int32_t kind)
{
    size_t arcs = (size_t)k->g.n_arcs, n = (size_t)k->g.n;
    int32_t *block = th_alloc_zero(4 * arcs + 4 * n, sizeof *block);
    if (!block)
        return -1;
    k->back = block;
    k->left = k->back + arcs;
    k->width = k->left + arcs;
    k->flow = k->width + arcs;
    k->via = k->flow + arcs;
    k->queue = k->via + n;
    k->depth = k->queue + n;
    fill_arcs(k, kind == TH_REDUCE);
    k->n_trees = kind == TH_ALL_REDUCE ? TREES_MAX : left_at(k, k->root);
    size_t size = (size_t)k->n_trees * n;
    k->parent = th_alloc_array(size + n, sizeof *k->parent);
    for (size_t i = 0; i < size + n && k->parent; i++)
        k->parent[i] = -1;
    if (k->parent && kind == TH_ALL_REDUCE)
        pack_cables(k);
    else if (k->parent)
        pack_from_root(k, k->depth + n);
    th_free(block);
    return k->parent ? 0 : -1;
}

/* The cables allow a packing: 0 or -1. */
static int check_cables(const th_collective_schedule *cs, const th_cables *g, th_error *err)
{
    const th_collective *c = cs->collective;
    int32_t most = 0;
    for (int32_t v = 0; v < g->n; v++)
        most = g->first[v + 1] - g->first[v] > most ? g->first[v + 1] - g->first[v] : most;
    if (most <= DEGREE_MAX && (int64_t)g->n * g->n_arcs <= WORK_MAX)
        return 0;
    return th_error_set(err, "COLL-0208",
                        "%s of %d ranks by %s: %d cables between them: must be at most %d at a "
                        "rank, and in all %d divided by the ranks",
                        th_collective_names[c->kind], c->n_ranks, cs->algorithm->name,
                        g->n_arcs / 2, DEGREE_MAX, WORK_MAX / 2);
}

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    th_collective_kept own = {0}, *kept = cs->kept ? cs->kept : &own;
    if (!kept->trees) {
        packing k = {.root = c->root};
        if (th_cables_init(&k.g, cs, err) || check_cables(cs, &k.g, err))
            return -1;
        if (pack(&k, c->kind))
            return th_error_no_memory(err);
        kept->trees = k.parent;
        kept->n_trees = c->n_ranks > 1 ? k.n_trees : 1;
    }
    const int32_t n = kept->n_trees;
    th_trees *x = n > 0 ? th_trees_new(cs, n, err) : NULL;
    if (x)
        memcpy(x->parent, kept->trees, (size_t)n * (size_t)c->n_ranks * sizeof *x->parent);
    th_free(own.trees);
    if (n > 0)
        return x ? th_trees_prepare(cs, err) : -1;
    return th_error_set(err, "COLL-0207",
                        "%s of %d ranks by %s: the cables between them do not connect all",
                        th_collective_names[c->kind], c->n_ranks, cs->algorithm->name);
}

/* Trees of all_reduce share cables, where they come on faster out of step (1 % on a mesh of 4 x 4),
 * so chunks keep the byte by which they differ. */
static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    bool is_there = th_trees_get_step(cs, participant, thread, step, out);
    if (cs->collective->kind == TH_ALL_REDUCE)
        out->padded = out->bytes;
    return is_there;
}

const th_algorithm th_algorithm_spanning_trees = {
    .name = "spanning_trees",
    .synopsis = "along spanning trees of the cables between the ranks, as disjoint as can be",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_BROADCAST | 1u << TH_REDUCE,
    .prepare = prepare,
    .get_step = get_step,
};
