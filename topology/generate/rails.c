/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rails.c - islands on a rail-optimised leaf-spine fabric, as NVIDIA's reference architectures of
 * DGX SuperPODs have it ("NVIDIA DGX SuperPOD: next generation scalable infrastructure for AI
 * leadership", for DGX H100, 2023: units of 32 nodes, a leaf switch of each unit for each of the
 * eight rails).
 *   (row's generate)
 * ISLANDS of ACCELS accelerators, joined inside by a switch that reduces (NVSwitch). Accelerator
 * number r of every island is on rail r: the islands of a unit of UNIT share a leaf switch for each
 * rail. Several units are joined by spines, one cable from every leaf to every spine: UNIT of them,
 * UNIT / oversubscription where fewer are wanted. The last unit may have fewer islands.
 * Leaves of the tree are numbered rail by rail, so that a leaf switch covers neighbours; the
 * switches of islands are outside the tree (th_node.n_leaves 0), for routing/rails.c. Names:
 * islands s1.I, leaf switches s2.N by rail and unit, spines s3.N. */
#include <config.h>
#include "topology/generate/parts.h"

enum { IN_ISLAND, TO_LEAF, TO_SPINE };

typedef struct rails {
    int n_islands, n_accels, unit; /* accelerators of an island; islands of a unit */
    int n_units, n_spines;
} rails;

static int count(const th_system *s, const th_topology_options *o, rails *r, th_error *err)
{
    *r = (rails){.n_islands = o->dims[0], .n_accels = o->dims[1], .unit = o->dims[2]};
    if ((int64_t)r->n_islands * r->n_accels > TH_MAX_ACCELS)
        return th_generate_too_many(s, err);
    r->n_units = (r->n_islands + r->unit - 1) / r->unit;
    if (r->n_units > 1)
        return (r->n_spines = th_generate_up_links(s, o, r->unit, err)) < 0 ? -1 : 0;
    if (o->oversubscription > 0)
        return th_error_set(err, "TOPO-0193",
                            "system \"%s\": a unit of %d holds all %d islands, so that no spine "
                            "can be oversubscribed: needs a smaller UNIT (%s)",
                            s->name, r->unit, r->n_islands, th_topology_rails.synopsis);
    return 0;
}

static int add_island(th_system *s, const th_topology_options *o, const rails *r, int island,
                      th_error *err)
{
    int node = th_generate_switch(s, 1, island, err);
    if (node < 0)
        return -1;
    s->nodes[node].group = island;
    s->nodes[node].reduces = !o->islands_only_forward;
    int first = island * r->n_accels;
    for (int i = 0; i < r->n_accels; i++)
        s->nodes[first + i].leaf_first = i * r->n_islands + island;
    return th_generate_fan(s, o, (th_fan){first, 1, r->n_accels, node, IN_ISLAND}, err);
}

/* The leaf switch of a unit and rail, the index of which is number. */
static int add_leaf(th_system *s, const th_topology_options *o, const rails *r, int number,
                    th_error *err)
{
    int rail = number / r->n_units, first = number % r->n_units * r->unit;
    int end = first + r->unit < r->n_islands ? first + r->unit : r->n_islands;
    int node = th_generate_switch(s, 2, number, err);
    th_generate_place(s, node, 1, rail * r->n_islands + first, end - first);
    const th_fan below = {first * r->n_accels + rail, r->n_accels, end - first, node, TO_LEAF};
    return th_generate_fan(s, o, below, err);
}

static int add_spine(th_system *s, const th_topology_options *o, const rails *r, int first_leaf,
                     int number, th_error *err)
{
    int node = th_generate_switch(s, 3, number, err);
    th_generate_place(s, node, 2, 0, r->n_islands * r->n_accels);
    const th_fan below = {first_leaf, 1, r->n_units * r->n_accels, node, TO_SPINE};
    return th_generate_fan(s, o, below, err);
}

static int generate(th_system *s, const th_topology_options *o, th_error *err)
{
    rails r;
    if (count(s, o, &r, err) < 0 ||
        th_generate_accels(s, (int64_t)r.n_islands * r.n_accels, err) < 0)
        return -1;
    th_generate_leaves(s, r.n_accels);
    for (int i = 0; i < r.n_islands; i++)
        if (add_island(s, o, &r, i, err) < 0)
            return -1;
    int first_leaf = s->n_nodes;
    for (int i = 0; i < r.n_units * r.n_accels; i++)
        if (add_leaf(s, o, &r, i, err) < 0)
            return -1;
    for (int i = 0; i < r.n_spines; i++)
        if (add_spine(s, o, &r, first_leaf, i, err) < 0)
            return -1;
    return 0;
}

static int n_cables(const th_topology_options *o)
{
    return o->dims[0] > o->dims[2] ? 3 : 2;
}

const th_topology_type th_topology_rails = {
    "rails", "rails ISLANDS ACCELS UNIT", 3, 3, TH_TAKES_OVERSUBSCRIPTION, n_cables, generate};
