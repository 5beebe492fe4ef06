/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.c - the table of regular systems, and the functions that its rows share. */
#include <config.h>
#include "topology/generate/parts.h"

#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

const th_topology_type *const th_topology_types[] = {
    &th_topology_line,        &th_topology_ring,
    &th_topology_mesh,        &th_topology_torus,
    &th_topology_hypercube,   &th_topology_fully_connected,
    &th_topology_star,        &th_topology_switch,
    &th_topology_tree,        &th_topology_fattree,
    &th_topology_dragonfly,   &th_topology_pcie_tree,
    &th_topology_islands,     &th_topology_rails,
    &th_topology_composition, NULL};

const th_topology_type *th_topology_find(const char *name)
{
    for (int i = 0; th_topology_types[i]; i++)
        if (strcmp(th_topology_types[i]->name, name) == 0)
            return th_topology_types[i];
    return NULL;
}

const th_topology_type *th_topology_canonical(const th_topology_type *type)
{
    return type == &th_topology_switch ? &th_topology_star : type;
}

/* ---- parts ---- */

int th_generate_too_many(const th_system *s, th_error *err)
{
    return th_error_set(err, "TOPO-0022", "system \"%s\": more than %d accelerators", s->name,
                        TH_MAX_ACCELS);
}

int th_generate_accels(th_system *s, int64_t n, th_error *err)
{
    char name[16];
    if (n > TH_MAX_ACCELS)
        return th_generate_too_many(s, err);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%d", i);
        if (th_system_add_node(s, name, TH_NODE_ACCEL, 0, err) < 0)
            return -1;
    }
    return 0;
}

int th_generate_switch(th_system *s, int major, int minor, th_error *err)
{
    char name[32];
    snprintf(name, sizeof name, "s%d.%d", major, minor);
    return th_system_add_node(s, name, TH_NODE_SWITCH, 0, err);
}

int th_generate_join(th_system *s, const th_topology_options *o, int cable, int a, int b,
                     th_error *err)
{
    int64_t bits_per_s = o->bits_per_s[o->n_bandwidths > 1 ? cable : 0];
    th_time latency_ps = o->latency_ps[o->n_latencies > 1 ? cable : 0];
    th_cable join = th_cable_symmetric(bits_per_s, latency_ps, !o->half_duplex);
    join.cost = o->cost;
    return th_system_add_cable(s, a, b, join, err) < 0 ? -1 : 0;
}

int th_generate_fan(th_system *s, const th_topology_options *o, th_fan f, th_error *err)
{
    for (int i = 0; f.node >= 0 && i < f.n; i++)
        if (th_generate_join(s, o, f.cable, f.first + i * f.step, f.node, err) < 0)
            return -1;
    return f.node < 0 ? -1 : 0;
}

int th_generate_clique(th_system *s, const th_topology_options *o, th_fan f, th_error *err)
{
    for (int a = f.first; a < f.first + f.n; a++)
        for (int b = a + 1; b < f.first + f.n; b++)
            if (th_generate_join(s, o, f.cable, a, b, err) < 0)
                return -1;
    return 0;
}

int th_generate_place(th_system *s, int node, int level, int leaf_first, int n_leaves)
{
    if (node < 0)
        return -1;
    s->nodes[node].level = level;
    s->nodes[node].leaf_first = leaf_first;
    s->nodes[node].n_leaves = n_leaves;
    return node;
}

int64_t th_generate_power(int base, int exponent)
{
    int64_t n = 1;
    for (int i = 0; i < exponent && n <= TH_MAX_ACCELS; i++)
        n *= base;
    return n;
}

int th_generate_one_cable(const th_topology_options *o)
{
    (void)o;
    return 1;
}

int th_generate_cable_per_dim(const th_topology_options *o)
{
    return o->n_dims;
}
