/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate_tree.c - trees of switches with accelerators as leaves.
 *   (row's generate)
 * Leaves come first, then the switches level by level up to the root. Cables of level 1 join leaves
 * and lowest switches. Accelerators below one lowest switch are a group. */
#include <config.h>
#include "topology/generate_parts.h"

/* The n switches of one level; their children are the nodes from first_child on, arity each. */
static int add_tree_level(th_system *s, const th_topology_options *o, int level, int n,
                          int first_child, th_error *err)
{
    int arity = o->dims[0];
    for (int i = 0; i < n; i++) {
        int node = th_generate_switch(s, level, i, err);
        if (node < 0)
            return -1;
        for (int c = 0; c < arity; c++)
            if (th_generate_join(s, o, level - 1, first_child + i * arity + c, node, err) < 0)
                return -1;
    }
    return 0;
}

static int generate_tree(th_system *s, const th_topology_options *o, th_error *err)
{
    int arity = o->dims[0], depth = o->dims[1];
    if (arity < 2)
        return th_error_set(err, "TOPO-0023",
                            "system \"%s\": a tree of arity %d: must be at least 2 (%s)", s->name,
                            arity, th_topology_tree.synopsis);
    if (th_generate_accels(s, th_generate_power(arity, depth), err) < 0)
        return -1;
    int n_accels = s->n_nodes, first_child = 0, width = n_accels;
    for (int i = 0; i < n_accels; i++)
        s->nodes[i].group = i / arity;
    for (int level = 1; level <= depth; level++) {
        int first = s->n_nodes;
        width /= arity;
        if (add_tree_level(s, o, level, width, first_child, err) < 0)
            return -1;
        first_child = first;
    }
    return 0;
}

static int tree_cables(const th_topology_options *o)
{
    return o->dims[1];
}

const th_topology_type th_topology_tree = {"tree",      "tree ARITY DEPTH", 2, 2, false,
                                           tree_cables, generate_tree};
