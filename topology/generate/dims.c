/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dims.c - systems made of dimensions: line, ring, mesh, torus, hypercube, fully_connected, star,
 * and any composition.
 *   (row's generate) -> generate_dims
 * A node has one coordinate in each dimension, dims[0] running fastest. In dimension d it is
 * connected to nodes that differ from it in coordinate d only: to the next one (line), also the
 * last to the first (ring), to each (fully_connected), or all of them to one switch. This is the
 * Cartesian product of graphs: all dimensions of a mesh are lines, those of a torus rings, and a
 * hypercube has fully connected dimensions of two (W. Dally, B. Towles, "Principles and Practices
 * of Interconnection Networks", 2004, chapters 3 and 5). Switches are called sDIMENSION.NUMBER, a
 * single one "switch". */
#include <config.h>
#include "topology/generate/parts.h"

#include <string.h>

const char *const th_topology_dim_kind_names[] = {[TH_TOPOLOGY_DIM_LINE] = "line",
                                                  [TH_TOPOLOGY_DIM_RING] = "ring",
                                                  [TH_TOPOLOGY_DIM_FULL] = "fully_connected",
                                                  [TH_TOPOLOGY_DIM_SWITCH] = "switch",
                                                  NULL};

const char *th_topology_dim_kind_find(const char *name, th_topology_dim_kind *out)
{
    for (int i = 0; th_topology_dim_kind_names[i]; i++)
        if (strcmp(th_topology_dim_kind_names[i], name) == 0) {
            *out = (th_topology_dim_kind)i;
            return th_topology_dim_kind_names[i];
        }
    return NULL;
}

/* One dimension of a system under way: nodes in a slice of the dimensions before it, all nodes. */
typedef struct slice {
    int d;
    int size;
    int below;
    int n;
} slice;

static int coordinate(const slice *along, int node)
{
    return node / along->below % along->size;
}

/* ---- one node's cables to those above it in a dimension ---- */

static int join_next(th_system *s, const th_topology_options *o, const slice *along, int node,
                     th_error *err)
{
    int at = coordinate(along, node);
    bool closes = o->kinds[along->d] == TH_TOPOLOGY_DIM_RING && along->size > 2;
    if (at + 1 < along->size)
        return th_generate_join(s, o, along->d, node, node + along->below, err);
    return closes ? th_generate_join(s, o, along->d, node, node - at * along->below, err) : 0;
}

static int join_all_above(th_system *s, const th_topology_options *o, const slice *along, int node,
                          th_error *err)
{
    for (int at = coordinate(along, node) + 1, other = node; at < along->size; at++) {
        other += along->below;
        if (th_generate_join(s, o, along->d, node, other, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- a dimension ---- */

static int join_nodes(th_system *s, const th_topology_options *o, const slice *along, th_error *err)
{
    for (int node = 0; node < along->n; node++) {
        int status = o->kinds[along->d] == TH_TOPOLOGY_DIM_FULL
                         ? join_all_above(s, o, along, node, err)
                         : join_next(s, o, along, node, err);
        if (status < 0)
            return -1;
    }
    return 0;
}

static bool is_lone_switch(const th_topology_options *o, const slice *along)
{
    int n_switched = 0;
    for (int d = 0; d < o->n_dims; d++)
        n_switched += o->kinds[d] == TH_TOPOLOGY_DIM_SWITCH;
    return n_switched == 1 && along->size == along->n;
}

/* The switch of the nodes that have the other coordinates of first, whose own one is 0. */
static int add_switch(th_system *s, const th_topology_options *o, const slice *along, int first,
                      th_error *err)
{
    int number = first / (along->below * along->size) * along->below + first % along->below;
    int node = is_lone_switch(o, along) ? th_system_add_node(s, "switch", TH_NODE_SWITCH, 0, err)
                                        : th_generate_switch(s, along->d, number, err);
    return th_generate_fan(s, o, (th_fan){first, along->below, along->size, node, along->d}, err);
}

static int add_switches(th_system *s, const th_topology_options *o, const slice *along,
                        th_error *err)
{
    for (int node = 0; node < along->n; node++)
        if (coordinate(along, node) == 0 && add_switch(s, o, along, node, err) < 0)
            return -1;
    return 0;
}

/* The product of dims, or some number above TH_MAX_ACCELS when it is larger. */
static int64_t n_places(const th_topology_options *o)
{
    int64_t n = 1;
    for (int d = 0; d < o->n_dims && n <= TH_MAX_ACCELS; d++)
        n *= o->dims[d];
    return n;
}

static int generate_dims(th_system *s, const th_topology_options *o, th_error *err)
{
    if (th_generate_accels(s, n_places(o), err) < 0)
        return -1;
    slice along = {.below = 1, .n = s->n_nodes};
    for (int d = 0; d < o->n_dims; d++) {
        along.d = d;
        along.size = o->dims[d];
        s->dims[d] = (th_shape_dim){(int32_t)o->kinds[d], o->dims[d]};
        int status = o->kinds[d] == TH_TOPOLOGY_DIM_SWITCH ? add_switches(s, o, &along, err)
                                                           : join_nodes(s, o, &along, err);
        if (status < 0)
            return -1;
        along.below *= along.size;
    }
    s->n_dims = o->n_dims;
    return 0;
}

/* ---- the rows ---- */

static int generate_uniform(th_system *s, const th_topology_options *o, th_topology_dim_kind kind,
                            th_error *err)
{
    th_topology_options uniform = *o;
    for (int d = 0; d < o->n_dims; d++)
        uniform.kinds[d] = kind;
    return generate_dims(s, &uniform, err);
}

static int generate_lines(th_system *s, const th_topology_options *o, th_error *err)
{
    return generate_uniform(s, o, TH_TOPOLOGY_DIM_LINE, err);
}

static int generate_rings(th_system *s, const th_topology_options *o, th_error *err)
{
    return generate_uniform(s, o, TH_TOPOLOGY_DIM_RING, err);
}

static int generate_full(th_system *s, const th_topology_options *o, th_error *err)
{
    return generate_uniform(s, o, TH_TOPOLOGY_DIM_FULL, err);
}

static int generate_star(th_system *s, const th_topology_options *o, th_error *err)
{
    return generate_uniform(s, o, TH_TOPOLOGY_DIM_SWITCH, err);
}

/* The dimensions of a hypercube: dims is their number, or as many twos. */
static int cube_dims(const th_topology_options *o)
{
    return o->n_dims == 1 ? o->dims[0] : o->n_dims;
}

static int generate_hypercube(th_system *s, const th_topology_options *o, th_error *err)
{
    th_topology_options cube = *o;
    for (int d = 0; o->n_dims > 1 && d < o->n_dims; d++)
        if (o->dims[d] != 2)
            return th_error_set(err, "TOPO-0081",
                                "system \"%s\": dims[%d] = %d: every side of a hypercube is 2 (%s)",
                                s->name, d, o->dims[d], th_topology_hypercube.synopsis);
    cube.n_dims = cube_dims(o);
    if (cube.n_dims > TH_MAX_DIMS)
        return th_error_set(err, "TOPO-0082",
                            "system \"%s\": a hypercube of %d dimensions: at most %d (%s)", s->name,
                            cube.n_dims, TH_MAX_DIMS, th_topology_hypercube.synopsis);
    for (int d = 0; d < cube.n_dims; d++)
        cube.dims[d] = 2;
    return generate_uniform(s, &cube, TH_TOPOLOGY_DIM_FULL, err);
}

const th_topology_type th_topology_line = {"line",        "line N", 1, 1, 0, th_generate_one_cable,
                                           generate_lines};
const th_topology_type th_topology_ring = {"ring",        "ring N", 1, 1, 0, th_generate_one_cable,
                                           generate_rings};
const th_topology_type th_topology_mesh = {
    "mesh", "mesh X Y ...", 1, TH_MAX_DIMS, 0, th_generate_cable_per_dim, generate_lines};
const th_topology_type th_topology_torus = {
    "torus", "torus X Y ...", 1, TH_MAX_DIMS, 0, th_generate_cable_per_dim, generate_rings};
const th_topology_type th_topology_hypercube = {
    "hypercube", "hypercube D, or 2 2 ...", 1, TH_MAX_DIMS, 0, cube_dims, generate_hypercube};
const th_topology_type th_topology_fully_connected = {
    "fully_connected", "fully_connected N", 1, 1, 0, th_generate_one_cable, generate_full};
const th_topology_type th_topology_star = {"star",       "star N", 1, 1, 0, th_generate_one_cable,
                                           generate_star};
const th_topology_type th_topology_switch = {
    "switch", "switch N", 1, 1, 0, th_generate_one_cable, generate_star};
const th_topology_type th_topology_composition = {
    "composition",
    "composition {line|ring|fully_connected|switch N} ...",
    1,
    TH_MAX_DIMS,
    TH_TAKES_KINDS,
    th_generate_cable_per_dim,
    generate_dims};
