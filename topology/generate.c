/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate.c - regular systems: ring, mesh, torus, fully_connected, star, tree.
 *   th_topology_find -> th_topology_create, or (a reader) type->generate and then the accelerators
 * Every generator adds its accelerators first, named "0", "1", ..., then switches, then the host.
 * Two neighbours are joined by one cable (two links when full duplex), also where a ring or torus
 * of two would close twice.
 * The host does not forward: accelerators talk through the topology they were given, never round
 * it, so the routes of a ring are the same with and without a host. */
#include <config.h>
#include "topology/generate.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ACCELS = 8192 };  /* with switches and host below the limit of a system */

/* ---- common ---- */

static int check_n_dims(const th_system *s, const th_topology_options *o, const char *synopsis,
                        int min, int max, th_error *err)
{
    if (o->n_dims < min || o->n_dims > max)
        return th_error_set(err, "TOPO-0020",
                            "system \"%s\": %d dims given, but the topology is: %s", s->name,
                            o->n_dims, synopsis);
    for (int d = 0; d < o->n_dims; d++)
        if (o->dims[d] < 1)
            return th_error_set(err, "TOPO-0021",
                                "system \"%s\": dims[%d] = %d: must be at least 1 (%s)", s->name, d,
                                o->dims[d], synopsis);
    return 0;
}

static int add_accels(th_system *s, int64_t n, th_error *err)
{
    char name[16];
    if (n > MAX_ACCELS)
        return th_error_set(err, "TOPO-0022", "system \"%s\": more than %d accelerators", s->name,
                            MAX_ACCELS);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%d", i);
        if (th_system_add_node(s, name, TH_NODE_ACCEL, 0, err) < 0)
            return -1;
    }
    return 0;
}

static int join(th_system *s, const th_topology_options *o, int a, int b, th_error *err)
{
    int link = th_system_connect(s, a, b, o->bits_per_s, o->latency_ps, !o->half_duplex, err);
    return link < 0 ? -1 : 0;
}

/* The host with its own cable to each of the first n_accels nodes, if one is wanted. */
static int add_host(th_system *s, const th_topology_options *o, int n_accels, th_error *err)
{
    if (!o->with_host)
        return 0;
    int64_t bits_per_s = o->host_bits_per_s > 0 ? o->host_bits_per_s : o->bits_per_s;
    th_time latency_ps = o->host_latency_ps >= 0 ? o->host_latency_ps : o->latency_ps;
    int host = th_system_add_node(s, "host", TH_NODE_HOST, 0, err);
    if (host < 0)
        return -1;
    s->nodes[host].forwards = false;
    for (int i = 0; i < n_accels; i++)
        if (th_system_connect(s, i, host, bits_per_s, latency_ps, true, err) < 0)
            return -1;
    return 0;
}

/* ---- ring, mesh, torus: a grid that wraps or does not ---- */

/* The product of dims, or some number above MAX_ACCELS when it is larger. */
static int64_t grid_size(const th_topology_options *o)
{
    int64_t n = 1;
    for (int d = 0; d < o->n_dims && n <= MAX_ACCELS; d++)
        n *= o->dims[d];
    return n;
}

/* Joins node to its upper neighbour in dimension d; below: nodes in a slice of the dimensions
 * before d. */
static int join_upwards(th_system *s, const th_topology_options *o, int node, int d, int below,
                        bool wraps, th_error *err)
{
    int size = o->dims[d], at = node / below % size;
    if (at + 1 < size)
        return join(s, o, node, node + below, err);
    if (wraps && size > 2)
        return join(s, o, node, node - at * below, err);
    return 0;
}

static int generate_grid(th_system *s, const th_topology_options *o, bool wraps, th_error *err)
{
    if (add_accels(s, grid_size(o), err) < 0)
        return -1;
    int n = s->n_nodes, below = 1;
    for (int d = 0; d < o->n_dims; d++) {
        for (int node = 0; node < n; node++)
            if (join_upwards(s, o, node, d, below, wraps, err) < 0)
                return -1;
        below *= o->dims[d];
        s->dims[d] = (th_shape_dim){wraps ? TH_DIM_RING : TH_DIM_LINE, o->dims[d]};
    }
    s->n_dims = o->n_dims;
    return add_host(s, o, n, err);
}

static const th_topology_type ring, mesh, torus, fully_connected, star, tree;

static int generate_ring(th_system *s, const th_topology_options *o, th_error *err)
{
    if (check_n_dims(s, o, ring.synopsis, 1, 1, err) < 0)
        return -1;
    return generate_grid(s, o, true, err);
}

static int generate_mesh(th_system *s, const th_topology_options *o, th_error *err)
{
    if (check_n_dims(s, o, mesh.synopsis, 1, 8, err) < 0)
        return -1;
    return generate_grid(s, o, false, err);
}

static int generate_torus(th_system *s, const th_topology_options *o, th_error *err)
{
    if (check_n_dims(s, o, torus.synopsis, 1, 8, err) < 0)
        return -1;
    return generate_grid(s, o, true, err);
}

/* ---- the others ---- */

static int generate_fully_connected(th_system *s, const th_topology_options *o, th_error *err)
{
    if (check_n_dims(s, o, fully_connected.synopsis, 1, 1, err) < 0 ||
        add_accels(s, o->dims[0], err) < 0)
        return -1;
    for (int a = 0; a < o->dims[0]; a++)
        for (int b = a + 1; b < o->dims[0]; b++)
            if (join(s, o, a, b, err) < 0)
                return -1;
    return add_host(s, o, o->dims[0], err);
}

static int generate_star(th_system *s, const th_topology_options *o, th_error *err)
{
    if (check_n_dims(s, o, star.synopsis, 1, 1, err) < 0 || add_accels(s, o->dims[0], err) < 0)
        return -1;
    int hub = th_system_add_node(s, "switch", TH_NODE_SWITCH, 0, err);
    if (hub < 0)
        return -1;
    for (int a = 0; a < o->dims[0]; a++)
        if (join(s, o, a, hub, err) < 0)
            return -1;
    return add_host(s, o, o->dims[0], err);
}

/* Adds the n switches of one level, named sLEVEL.0, sLEVEL.1 ...; their children are the nodes from
 * first_child on, arity each. */
static int add_tree_level(th_system *s, const th_topology_options *o, int level, int n,
                          int first_child, th_error *err)
{
    char name[32];
    int arity = o->dims[0];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "s%d.%d", level, i);
        int node = th_system_add_node(s, name, TH_NODE_SWITCH, 0, err);
        if (node < 0)
            return -1;
        for (int c = 0; c < arity; c++)
            if (join(s, o, first_child + i * arity + c, node, err) < 0)
                return -1;
    }
    return 0;
}

/* arity to the power of depth, or some number above MAX_ACCELS when it is larger. */
static int64_t n_leaves(int arity, int depth)
{
    int64_t n = 1;
    for (int d = 0; d < depth && n <= MAX_ACCELS; d++)
        n *= arity;
    return n;
}

/* Leaves first, then level by level up to the root. Accelerators below one lowest switch are a
 * group. */
static int generate_tree(th_system *s, const th_topology_options *o, th_error *err)
{
    if (check_n_dims(s, o, tree.synopsis, 2, 2, err) < 0)
        return -1;
    int arity = o->dims[0], depth = o->dims[1];
    if (arity < 2)
        return th_error_set(err, "TOPO-0023",
                            "system \"%s\": a tree of arity %d: must be at least 2 (%s)", s->name,
                            arity, tree.synopsis);
    if (add_accels(s, n_leaves(arity, depth), err) < 0)
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
    return add_host(s, o, n_accels, err);
}

/* ---- the table ---- */

static const th_topology_type ring = {"ring", "ring N", generate_ring};
static const th_topology_type mesh = {"mesh", "mesh X Y ...", generate_mesh};
static const th_topology_type torus = {"torus", "torus X Y ...", generate_torus};
static const th_topology_type fully_connected = {"fully_connected", "fully_connected N",
                                                 generate_fully_connected};
static const th_topology_type star = {"star", "star N", generate_star};
static const th_topology_type tree = {"tree", "tree ARITY DEPTH", generate_tree};

const th_topology_type *const th_topology_types[] = {&ring, &mesh, &torus, &fully_connected,
                                                     &star, &tree, NULL};

const th_topology_type *th_topology_find(const char *name)
{
    for (int i = 0; th_topology_types[i]; i++)
        if (strcmp(th_topology_types[i]->name, name) == 0)
            return th_topology_types[i];
    return NULL;
}

th_system *th_topology_create(const char *name, const th_topology_type *type,
                              const th_topology_options *o, const th_system *prototype,
                              th_error *err)
{
    th_system *s = th_system_new(name, err);
    if (!s || type->generate(s, o, err) < 0)
        goto fail;
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].kind == TH_NODE_ACCEL && th_system_copy_accel(s, i, prototype, 0, err) < 0)
            goto fail;
    if (th_system_finish(s, err) == 0)
        return s;

fail:
    th_system_free(s);
    return NULL;
}
