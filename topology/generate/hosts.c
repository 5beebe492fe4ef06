/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hosts.c - systems of hosts and islands: pcie_tree and islands.
 *   (row's generate)
 * pcie_tree: HOSTS, each with SWITCHES below its root complex, each with ACCELS accelerators below
 * it, which share the upward cable of the switch. Several hosts are connected to one network
 * switch. Hosts forward; two accelerators below one switch communicate through it only.
 *
 * islands: ISLANDS of ACCELS accelerators, connected inside by a switch of the island (which can
 * reduce, as NVSwitches do) or fully connected, and outside by a fabric: one switch or, with ARITY,
 * a fat tree of switches with ARITY cables down. Each accelerator has a network card, or the island
 * has one, on its switch (in a fully connected island that switch has no other use). A fat tree has
 * ARITY^N ports; there must be as many cards. Both are trees and routed up_down; accelerators of an
 * island, or below one PCIe switch, are a group. Switches are called sLEVEL.NUMBER. */
#include <config.h>
#include "topology/generate/parts.h"

#include <stdio.h>

/* Switch number i of a level; below it are n_leaves accelerators. */
static int add_switch(th_system *s, int level, int i, int n_leaves, th_error *err)
{
    return th_generate_place(s, th_generate_switch(s, level, i, err), level, i * n_leaves,
                             n_leaves);
}

static int add_accels(th_system *s, int64_t n, int64_t factor, int per_group, th_error *err)
{
    if (n > TH_MAX_ACCELS || factor > TH_MAX_ACCELS)
        return th_generate_too_many(s, err);
    if (th_generate_accels(s, n * factor, err) < 0)
        return -1;
    th_generate_leaves(s, per_group);
    return 0;
}

/* ---- pcie_tree ---- */

enum { TO_PCIE_SWITCH, TO_HOST, TO_NETWORK };

static int add_host(th_system *s, int i, int n_leaves, th_error *err)
{
    char name[16];
    snprintf(name, sizeof name, "host%d", i);
    int node = th_system_add_node(s, name, TH_NODE_HOST, 0, err);
    return th_generate_place(s, node, 2, i * n_leaves, n_leaves);
}

static int generate_pcie_tree(th_system *s, const th_topology_options *o, th_error *err)
{
    int n_hosts = o->dims[0], n_switches = o->dims[1], n_accels = o->dims[2];
    if (add_accels(s, (int64_t)n_hosts * n_switches, n_accels, n_accels, err) < 0)
        return -1;
    int first_switch = s->n_nodes;
    for (int i = 0; i < n_hosts * n_switches; i++) {
        int node = add_switch(s, 1, i, n_accels, err);
        if (th_generate_fan(s, o, (th_fan){i * n_accels, 1, n_accels, node, TO_PCIE_SWITCH}, err) <
            0)
            return -1;
    }
    int first_host = s->n_nodes;
    for (int i = 0; i < n_hosts; i++) {
        int node = add_host(s, i, n_switches * n_accels, err);
        const th_fan below = {first_switch + i * n_switches, 1, n_switches, node, TO_HOST};
        if (th_generate_fan(s, o, below, err) < 0)
            return -1;
    }
    if (n_hosts == 1)
        return 0;
    int network = add_switch(s, 3, 0, first_switch, err);
    return th_generate_fan(s, o, (th_fan){first_host, 1, n_hosts, network, TO_NETWORK}, err);
}

static int pcie_cables(const th_topology_options *o)
{
    return o->dims[0] > 1 ? 3 : 2;
}

/* ---- islands ---- */

enum { IN_ISLAND, TO_FABRIC, IN_FABRIC };

static int add_island(th_system *s, const th_topology_options *o, int island, th_error *err)
{
    int n = o->dims[1], first = island * n;
    if (o->has_full_islands &&
        th_generate_clique(s, o, (th_fan){first, 1, n, -1, IN_ISLAND}, err) < 0)
        return -1;
    if (o->has_full_islands && !o->has_island_nics)
        return 0;
    int node = add_switch(s, 1, island, n, err);
    if (node >= 0)
        s->nodes[node].reduces = !o->has_full_islands && !o->islands_only_forward;
    return th_generate_fan(s, o, (th_fan){first, 1, n, node, IN_ISLAND}, err);
}

/* Of which numbers that many ports are a power: "2, 4, 16". */
static const char *arities_of(int n_ports, char *out, size_t size)
{
    int at = 0;
    out[0] = '\0';
    for (int arity = 2; arity <= n_ports && at < (int)size; arity++) {
        int64_t n = arity;
        while (n < n_ports)
            n *= arity;
        if (n == n_ports)
            at += snprintf(out + at, size - (size_t)at, "%s%d", at > 0 ? ", " : "", arity);
    }
    return at > 0 ? out : "none";
}

/* The number of levels of a fat tree with this number of ports, or -1. */
static int fabric_levels(const th_system *s, const th_topology_options *o, int n_ports,
                         th_error *err)
{
    int arity = o->dims[2], n_levels = 1;
    while (arity > 1 && th_generate_power(arity, n_levels) < n_ports)
        n_levels++;
    if (arity > 1 && th_generate_power(arity, n_levels) == n_ports)
        return n_levels;
    char able[96];
    return th_error_set(
        err, "TOPO-0094",
        "system \"%s\": a fat tree of arity %d has no %d ports, as they must be a power of the "
        "arity: %s would do",
        s->name, arity, n_ports, arities_of(n_ports, able, sizeof able));
}

static int shape_fabric(const th_system *s, const th_topology_options *o, th_tree *t, th_error *err)
{
    int n_ports = o->has_island_nics ? o->dims[0] : o->dims[0] * o->dims[1];
    *t = (th_tree){.arity = n_ports, .n_levels = 1, .n_up = 1, .first_level = 2};
    t->first_leaf = o->has_island_nics ? o->dims[0] * o->dims[1] : 0;
    t->leaf_span = o->has_island_nics ? o->dims[1] : 1;
    t->first_cable = TO_FABRIC;
    t->n_cables = 1;
    if (o->n_dims < 3 && o->oversubscription > 0)
        return th_error_set(
            err, "TOPO-0095",
            "system \"%s\": one switch has no oversubscription: a fabric that is a fat "
            "tree has (%s)",
            s->name, th_topology_islands.synopsis);
    if (o->n_dims < 3)
        return 0;
    t->n_cables = 2;
    t->arity = o->dims[2];
    t->n_levels = fabric_levels(s, o, n_ports, err);
    t->n_up = t->n_levels < 0 ? -1 : th_generate_up_links(s, o, t->arity, err);
    return t->n_up < 0 ? -1 : 0;
}

static int generate_islands(th_system *s, const th_topology_options *o, th_error *err)
{
    th_tree fabric;
    if (add_accels(s, o->dims[0], o->dims[1], o->dims[1], err) < 0 ||
        shape_fabric(s, o, &fabric, err) < 0)
        return -1;
    for (int island = 0; island < o->dims[0]; island++)
        if (add_island(s, o, island, err) < 0)
            return -1;
    return th_generate_tree(s, o, &fabric, err);
}

static int island_cables(const th_topology_options *o)
{
    return o->n_dims > 2 ? 3 : 2;
}

const th_topology_type th_topology_pcie_tree = {
    "pcie_tree",       "pcie_tree HOSTS SWITCHES ACCELS", 3, 3, TH_HAS_HOSTS, pcie_cables,
    generate_pcie_tree};
const th_topology_type th_topology_islands = {"islands",
                                              "islands ISLANDS ACCELS ?ARITY?",
                                              2,
                                              3,
                                              TH_TAKES_OVERSUBSCRIPTION | TH_TAKES_ISLANDS,
                                              island_cables,
                                              generate_islands};
