/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dragonfly.c - groups of routers: P accelerators per router, A fully connected routers per group,
 * H global cables per router, G groups (J. Kim, W. Dally, S. Scott, D. Abts, "Technology-driven,
 * highly-scalable dragonfly topology", ISCA 2008).
 *   (row's generate)
 * A group has A * H global ports, so G is at most A * H + 1, its default; then there is one cable
 * between any two groups. Otherwise there are m = floor(A * H / (G - 1)), and the remaining ports
 * are unused. Arrangement "relative" (E. Hastings et al., "Comparing global link arrangements for
 * dragonfly networks", CLUSTER 2015): port k of group i, on router floor(k / H), leads to group i +
 * k mod (G - 1) + 1 modulo G, of every G - 1 ports. So
 *
 *   cables = G A P  +  G A (A - 1) / 2  +  m G (G - 1) / 2,
 *
 * and a route has at most five links: up, local, global, local, down. Routers are called
 * sGROUP.ROUTER; th_node.group is the group. */
#include <config.h>
#include "topology/generate/parts.h"

typedef struct shape {
    int n_accels;  /* of a router: P */
    int n_routers; /* of a group: A */
    int n_global;  /* of a router: H */
    int n_groups;  /* G */
    int first;     /* node of the first router */
} shape;

enum { TO_ACCELERATOR, LOCAL, GLOBAL, N_CABLES };

static int add_routers(th_system *s, const th_topology_options *o, const shape *f, th_error *err)
{
    for (int i = 0; i < f->n_groups * f->n_routers; i++) {
        int group = i / f->n_routers, first = i * f->n_accels;
        int node = th_generate_switch(s, group, i % f->n_routers, err);
        th_generate_place(s, node, 1, first, f->n_accels);
        const th_fan below = {first, 1, f->n_accels, node, TO_ACCELERATOR};
        if (th_generate_fan(s, o, below, err) < 0)
            return -1;
        s->nodes[node].group = group;
    }
    return 0;
}

/* The cables from a group to those after it; the others come from there. */
static int join_groups(th_system *s, const th_topology_options *o, const shape *f, int group,
                       th_error *err)
{
    int n_others = f->n_groups - 1;
    int64_t n_ports = n_others > 0 ? (int64_t)f->n_routers * f->n_global / n_others * n_others : 0;
    for (int64_t port = 0; port < n_ports; port++) {
        int ahead = (int)(port % n_others) + 1, other = (group + ahead) % f->n_groups;
        int64_t port_there = port - port % n_others + f->n_groups - ahead - 1;
        int here = f->first + group * f->n_routers + (int)(port / f->n_global);
        int there = f->first + other * f->n_routers + (int)(port_there / f->n_global);
        if (other > group && th_generate_join(s, o, GLOBAL, here, there, err) < 0)
            return -1;
    }
    return 0;
}

static int shape_of(const th_system *s, const th_topology_options *o, shape *f, th_error *err)
{
    int64_t n_ports = (int64_t)o->dims[1] * o->dims[2];
    int64_t n_groups = o->n_dims > 3 ? o->dims[3] : n_ports + 1;
    int64_t n_per_group = (int64_t)o->dims[0] * o->dims[1];
    if (n_groups > n_ports + 1)
        return th_error_set(
            err, "TOPO-0091",
            "system \"%s\": %d groups, but groups of %d routers with %d global links "
            "have %lld others at most (%s)",
            s->name, o->dims[3], o->dims[1], o->dims[2], (long long)n_ports,
            th_topology_dragonfly.synopsis);
    if (n_per_group > TH_MAX_ACCELS || n_groups * n_per_group > TH_MAX_ACCELS)
        return th_generate_too_many(s, err);
    *f = (shape){.n_accels = o->dims[0],
                 .n_routers = o->dims[1],
                 .n_global = o->dims[2],
                 .n_groups = (int)n_groups,
                 .first = (int)(n_groups * n_per_group)};
    return 0;
}

static int generate(th_system *s, const th_topology_options *o, th_error *err)
{
    shape f = {0};
    if (shape_of(s, o, &f, err) < 0 || th_generate_accels(s, f.first, err) < 0)
        return -1;
    th_generate_leaves(s, f.n_routers * f.n_accels);
    if (add_routers(s, o, &f, err) < 0)
        return -1;
    for (int i = 0; i < f.n_groups * f.n_routers; i += f.n_routers)
        if (th_generate_clique(s, o, (th_fan){f.first + i, 1, f.n_routers, -1, LOCAL}, err) < 0)
            return -1;
    for (int group = 0; group < f.n_groups; group++)
        if (join_groups(s, o, &f, group, err) < 0)
            return -1;
    return 0;
}

static int n_cables(const th_topology_options *o)
{
    (void)o;
    return N_CABLES;
}

const th_topology_type th_topology_dragonfly = {
    "dragonfly", "dragonfly P A H ?G?", 3, 4, 0, n_cables, generate};
