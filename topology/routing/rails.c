/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rails.c - routes in generated rails: inside an island over its switch; to the same rail of
 * another island over the fabric, up_down; to another rail first over the switch of the island to
 * its accelerator on that rail, and then over the fabric. So no message changes the rail in the
 * fabric, as NCCL has it since 2.12 ("PXN": NVIDIA, "Doubling all2all performance with NVIDIA
 * Collective Communication Library 2.12", 2022).
 * Accelerators are the leaves of a tree numbered rail by rail (generate/rails.c), so two of them
 * are on one rail where leaf minus island is equal. Switches of islands are outside the tree.
 * Switches and hosts are reached as by shortest. */
#include <config.h>
#include "topology/routing/types.h"

static bool is_accel(const th_node *n)
{
    return n->kind == TH_NODE_ACCEL;
}

static bool is_island(const th_node *n)
{
    return n->kind == TH_NODE_SWITCH && n->n_leaves == 0;
}

static bool is_same_rail(const th_node *a, const th_node *b)
{
    return a->leaf_first - a->group == b->leaf_first - b->group;
}

/* The first link out of a node whose end the predicate likes; -1: none. */
static int link_where(const th_system *s, int at, const th_node *there,
                      bool (*likes)(const th_node *to, const th_node *there))
{
    for (int i = s->adjacency.out_start[at]; i < s->adjacency.out_start[at + 1]; i++) {
        int link = s->adjacency.out_links[i];
        if (likes(&s->nodes[s->links[link].to], there))
            return link;
    }
    return -1;
}

static bool is_switch_of_island(const th_node *to, const th_node *there)
{
    (void)there;
    return is_island(to);
}

static bool is_accel_on_rail(const th_node *to, const th_node *there)
{
    return is_accel(to) && is_same_rail(to, there);
}

/* Outside the fabric; TH_NO_PATH: the fabric leads there. */
static int link_outside(const th_system *s, int at, int dst)
{
    const th_node *here = &s->nodes[at], *there = &s->nodes[dst];
    if (!is_accel(there))
        return th_route_shortest_next(s, at, dst);
    if (is_island(here))
        return link_where(s, at, there, is_accel_on_rail);
    if (is_accel(here) && (here->group == there->group || !is_same_rail(here, there)))
        return link_where(s, at, there, is_switch_of_island);
    return TH_NO_PATH;
}

static int next(const th_system *s, int at, int src, int dst)
{
    int link = link_outside(s, at, dst);
    if (link >= 0)
        return th_parallel_choose(s, link, src, dst);
    return is_accel(&s->nodes[dst]) ? th_routing_up_down.next(s, at, src, dst) : link;
}

static bool is_leaf(const th_node *to, const th_node *there)
{
    (void)there;
    return is_accel(to) && to->n_leaves > 0;
}

/* A switch of an island beside the generated tree, between leaves of it. */
bool th_routing_has_rails(const th_system *s)
{
    for (int i = 0; i < s->n_nodes; i++)
        if (is_island(&s->nodes[i]) && link_where(s, i, NULL, is_leaf) >= 0)
            return true;
    return false;
}

static int prepare(th_system *s, th_error *err)
{
    for (int i = 0; i < s->n_nodes; i++)
        if (is_accel(&s->nodes[i]) && link_where(s, i, NULL, is_switch_of_island) < 0)
            return th_error_set(err, "TOPO-0194",
                                "system \"%s\": rails routing needs generated rails", s->name);
    return th_routing_up_down.prepare(s, err);
}

const th_routing_type th_routing_rails = {
    "rails", "inside an island to the accelerator on the destination's rail, then up_down", prepare,
    next};
