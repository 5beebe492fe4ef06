/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree.c - trees of switches with accelerators as leaves: tree, fattree.
 *   (row's generate) -> th_generate_leaves -> th_generate_tree
 * An extended generalised fat tree (S. Ohring, M. Ibel, S. Das, M. Kumar, "On generalized fat
 * trees", IPPS 1995) with m_i = K children of every switch, one link up from a leaf and U links up
 * from every switch but the roots. On level l of N, with K^N leaves, there are
 *
 *   K^(N - l) * U^(l - 1)   switches,
 *
 * switch number S * U^(l - 1) + W standing above the leaves S * K^l .. (S + 1) * K^l - 1. Its link
 * up p leads to the switch with S' = floor(S / K), W' = W + p * U^(l - 1) of the next level. U = 1
 * is a plain tree; U = K is the K-ary N-tree (F. Petrini, M. Vanneschi, "k-ary n-trees: high
 * performance networks for massively parallel architectures", IPPS 1997), whose bisection is full;
 * U = K / r has r times as many cables below a switch as above it.
 * Leaves come first, then the switches level by level up to the roots. Cables of level 1 join
 * leaves and lowest switches. Accelerators below one lowest switch are a group. */
#include <config.h>
#include "topology/generate/parts.h"

#include <math.h>

void th_generate_leaves(th_system *s, int leaves_per_group)
{
    for (int i = 0; i < s->n_nodes; i++) {
        s->nodes[i].leaf_first = i;
        s->nodes[i].n_leaves = 1;
        s->nodes[i].group = i / leaves_per_group;
    }
}

/* The switches of one level. */
typedef struct level {
    int l;              /* 1: the lowest */
    int n_subtrees;     /* S runs below it */
    int n_leaves;       /* accelerators below a switch */
    int n_copies;       /* W runs below it */
    int n_copies_below; /* the same of the children */
    int first_child;    /* node */
} level;

static int add_switch(th_system *s, const th_tree *t, const level *v, int subtree, int copy,
                      th_error *err)
{
    int height = t->first_level + v->l - 1;
    int node = th_generate_switch(s, height, subtree * v->n_copies + copy, err);
    return th_generate_place(s, node, height, subtree * v->n_leaves, v->n_leaves);
}

static int add_level(th_system *s, const th_topology_options *o, const th_tree *t, const level *v,
                     th_error *err)
{
    int cable = t->first_cable + (v->l < t->n_cables ? v->l : t->n_cables) - 1;
    for (int i = 0; i < v->n_subtrees * v->n_copies; i++) {
        int subtree = i / v->n_copies, copy = i % v->n_copies;
        int node = add_switch(s, t, v, subtree, copy, err);
        int child =
            v->first_child + subtree * t->arity * v->n_copies_below + copy % v->n_copies_below;
        const th_fan below = {child, v->n_copies_below, t->arity, node, cable};
        if (th_generate_fan(s, o, below, err) < 0)
            return -1;
    }
    return 0;
}

int th_generate_tree(th_system *s, const th_topology_options *o, const th_tree *t, th_error *err)
{
    level v = {.n_subtrees = (int)th_generate_power(t->arity, t->n_levels),
               .n_leaves = t->leaf_span,
               .n_copies_below = 1,
               .first_child = t->first_leaf};
    for (v.l = 1; v.l <= t->n_levels; v.l++) {
        int first = s->n_nodes;
        v.n_subtrees /= t->arity;
        v.n_leaves *= t->arity;
        v.n_copies = v.l == 1 ? 1 : v.n_copies_below * t->n_up;
        if (add_level(s, o, t, &v, err) < 0)
            return -1;
        v.n_copies_below = v.n_copies;
        v.first_child = first;
    }
    return 0;
}

int th_generate_up_links(const th_system *s, const th_topology_options *o, int arity, th_error *err)
{
    static const double rounding = 1e-9; /* of a ratio that was written in decimals */
    double ratio = o->oversubscription > 0 ? o->oversubscription : 1;
    double n_up = floor(arity / ratio + 0.5);
    if (n_up >= 1 && n_up <= arity && fabs(n_up * ratio - arity) <= rounding * arity)
        return (int)n_up;
    return th_error_set(err, "TOPO-0087",
                        "system \"%s\": an oversubscription of %g leaves %g of %d links up from a "
                        "switch: must be a whole number from 1 to %d",
                        s->name, ratio, arity / ratio, arity, arity);
}

/* ---- the rows ---- */

/* dims are ARITY and the number of levels. */
static int generate(th_system *s, const th_topology_options *o, int n_up, th_error *err)
{
    int arity = o->dims[0];
    if (arity < 2)
        return th_error_set(err, "TOPO-0023",
                            "system \"%s\": a tree of arity %d: must be at least 2", s->name,
                            arity);
    if (th_generate_accels(s, th_generate_power(arity, o->dims[1]), err) < 0)
        return -1;
    th_generate_leaves(s, arity);
    th_tree t = {.arity = arity,
                 .n_levels = o->dims[1],
                 .n_up = n_up,
                 .leaf_span = 1,
                 .first_level = 1,
                 .n_cables = o->dims[1]};
    return th_generate_tree(s, o, &t, err);
}

static int generate_tree(th_system *s, const th_topology_options *o, th_error *err)
{
    return generate(s, o, 1, err);
}

static int generate_fattree(th_system *s, const th_topology_options *o, th_error *err)
{
    int n_up = th_generate_up_links(s, o, o->dims[0], err);
    return n_up < 0 ? -1 : generate(s, o, n_up, err);
}

/* One for each level. */
static int tree_cables(const th_topology_options *o)
{
    return o->dims[1];
}

const th_topology_type th_topology_tree = {"tree",      "tree ARITY DEPTH", 2, 2, 0,
                                           tree_cables, generate_tree};
const th_topology_type th_topology_fattree = {
    "fattree", "fattree K N", 2, 2, TH_TAKES_OVERSUBSCRIPTION, tree_cables, generate_fattree};
