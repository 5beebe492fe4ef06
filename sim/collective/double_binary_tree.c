/* SPDX-License-Identifier: GPL-3.0-or-later */
/* double_binary_tree.c - two binary trees, each with half of the data.
 *
 * Tree 0 numbers its m nodes 1 .. m in order. Node v is at the height h of its lowest set bit; its
 * children are v - 2^(h-1) and v + 2^(h-1), or, where the latter exceeds m, the highest node that
 * does not. The root is the highest power of two; odd numbers are leaves. Tree 1 is tree 0 mirrored
 * (m even) or rotated by one (m odd), so that every node is an inner node of at most one tree. So a
 * node sends and receives about S in each half of the operation, for any n, in chunks pipelined
 * through both trees (P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms for full bandwidth
 * broadcast, reduction and scan", Parallel Computing 35, 2009, 581-594).
 *   all_reduce: all n ranks in both trees, up and down again
 *   broadcast, reduce: the root is the parent of the roots of both trees of the n - 1 others
 * With k chunks per tree, c = S / (2 k) bytes each, every edge on a link of its own, and the
 * deepest leaf d edges below the top:
 *   broadcast, reduce   (d + k - 1) (latency + c / bw)
 *   all_reduce          (2 d + k - 1) (latency + c / bw)
 * `chunks` are those of each tree.
 *
 * topology_tree: nodes are in the order of ring_order.h. With islands there are two trees on each
 * rail, whose nodes are islands: the ranks of an island are a chain, its head is the node, and on
 * every rail another rank is the head. So an island of L ranks sends and receives about S over the
 * cards of all its ranks. In the island of the root, which is above the trees of every rail, the
 * root comes before the head.
 *
 * Messages to different neighbours do not wait for each other (trees.h). Not modelled: the time of
 * additions. */
#include <config.h>

#include "sim/collective/algorithms.h"
#include "sim/collective/ring_order.h"
#include "sim/collective/trees.h"

enum { N_TREES = 2 }; /* of a rail */

typedef struct double_tree {
    int32_t n_nodes;     /* of each tree */
    int32_t n_trees;     /* N_TREES on each rail */
    int32_t apart;       /* the node above both trees, that of the root; -1: none */
    bool has_islands;    /* nodes are the stretches of `order`, not ranks */
    th_ring_order order; /* of topology_tree; n 0: the order of the ranks */
} double_tree;

/* --- the in-order tree ------------------------------------------------------------------------ */

static int32_t highest_power(int32_t n)
{
    int32_t power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

/* 0: none. */
static int32_t parent_of(int32_t v, int32_t m)
{
    int64_t at = v;
    if (v == highest_power(m))
        return 0;
    do {
        int64_t bit = at & -at;
        at = (at & ~bit) | bit << 1;
    } while (at > m);
    return (int32_t)at;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Nodes are islands, or places in the order, or ranks: 0 .. */
static int32_t node_of(const double_tree *d, int32_t rank)
{
    if (d->order.n == 0)
        return rank;
    int32_t at = d->order.position[rank];
    return d->has_islands ? d->order.island[at] : at;
}

static int32_t head_of(const double_tree *d, int32_t tree, int32_t node)
{
    if (d->has_islands)
        return th_ring_order_rank(&d->order, tree / N_TREES, d->order.first[node]);
    return d->order.n > 0 ? d->order.rank[node] : node;
}

/* The rank that is number v of a tree; of 0 the one above it, -1: none. */
static int32_t rank_of(const double_tree *d, int32_t tree, int32_t v)
{
    int32_t m = d->n_nodes, i = v - 1;
    if (v == 0)
        return d->apart < 0 ? -1 : head_of(d, tree, d->apart);
    if (tree % N_TREES == 1)
        i = m % 2 == 0 ? m - v : v % m;
    return head_of(d, tree, d->apart < 0 ? i : (d->apart + 1 + i) % (m + 1));
}

static int32_t number_of(const double_tree *d, int32_t tree, int32_t node)
{
    int32_t m = d->n_nodes, i = d->apart < 0 ? node : (node - d->apart + m) % (m + 1);
    if (tree % N_TREES == 0)
        return i + 1;
    return m % 2 == 0 ? m - i : (i + m - 1) % m + 1;
}

/* In the chain through an island, in which the root comes first; -1: none, the rank is its head. */
static int32_t before_in_chain(const th_collective_schedule *cs, const double_tree *d, int32_t tree,
                               int32_t rank)
{
    const th_ring_order *o = &d->order;
    int32_t rail = tree / N_TREES, at = th_ring_order_position(o, rail, rank), root = -1;
    int32_t first = o->first[o->island[at]];
    if (o->island[at] == d->apart)
        root = th_ring_order_position(o, rail, cs->collective->root);
    if (root <= first)
        root = -1; /* elsewhere, or first as it is */
    int32_t before = at == first ? root : at - 1 == root ? at - 2 : at - 1;
    return at == root || before < 0 ? -1 : th_ring_order_rank(o, rail, before);
}

/* -1: none. */
static int32_t find_parent(const th_collective_schedule *cs, const double_tree *d, int32_t tree,
                           int32_t rank)
{
    int32_t node = node_of(d, rank), before = -1;
    if (d->has_islands) {
        before = before_in_chain(cs, d, tree, rank);
        if (before >= 0 || head_of(d, tree, node) != rank)
            return before;
    }
    if (d->n_nodes == 0 || node == d->apart)
        return -1;
    return rank_of(d, tree, parent_of(number_of(d, tree, node), d->n_nodes));
}

/* --- the algorithm ---------------------------------------------------------------------------- */

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    bool has_root = c->kind != TH_ALL_REDUCE;
    double_tree d = {.n_trees = N_TREES};
    if (cs->algorithm == &th_algorithm_topology_tree) {
        if (th_ring_order_init(&d.order, cs, err))
            return -1;
        d.n_trees *= d.order.rails;
        d.has_islands = d.order.rails > 1;
    }
    d.n_nodes = (d.has_islands ? d.order.n_islands : c->n_ranks) - has_root;
    d.apart = has_root ? node_of(&d, c->root) : -1;
    th_trees *x = th_trees_new(cs, d.n_trees, err);
    if (!x)
        return -1;
    for (int32_t i = 0; i < d.n_trees * c->n_ranks; i++)
        x->parent[i] = find_parent(cs, &d, i / c->n_ranks, i % c->n_ranks);
    return th_trees_prepare(cs, err);
}

const th_algorithm th_algorithm_double_binary_tree = {
    .name = "double_binary_tree",
    .synopsis = "two complementary trees, each with half of the data",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_BROADCAST | 1u << TH_REDUCE,
    .prepare = prepare,
    .get_step = th_trees_get_step,
};

const th_algorithm th_algorithm_topology_tree = {
    .name = "topology_tree",
    .synopsis = "double trees of near islands on each rail, chains inside islands",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_BROADCAST | 1u << TH_REDUCE,
    .prepare = prepare,
    .get_step = th_trees_get_step,
};
