/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route_dimension.c - routes in dimension order: lines and rings.
 *   prepare -> next*
 * The coordinates of a node with coordinates are its index in the mixed radix of the sizes, dims[0]
 * fastest. A step goes to a neighbour in the first dimension in which the two differ, so it comes
 * nearer to the destination: a walk ends. A dimension of SWITCH or FULL is not walked yet. */
#include <config.h>
#include "topology/route_types.h"

static int n_shape_nodes(const th_system *s)
{
    int n = 1;
    for (int d = 0; d < s->n_dims; d++)
        n *= s->dims[d].size;
    return n;
}

/* The way from coordinate a to b in a dimension: +1, -1, or 0 when a == b. */
static int direction(const th_shape_dim *dim, int a, int b)
{
    if (a == b)
        return 0;
    if (dim->kind == TH_DIM_LINE)
        return b > a ? 1 : -1;
    int upwards = (b - a + dim->size) % dim->size;
    return 2 * upwards <= dim->size ? 1 : -1;
}

/* The neighbour of src on the way to dst: one step in the first dimension in which they differ. */
static int next_node(const th_system *s, int src, int dst)
{
    int below = 1;  /* nodes in a slice of the dimensions before d */
    for (int d = 0; d < s->n_dims; d++) {
        int size = s->dims[d].size, a = src / below % size, b = dst / below % size;
        int step = direction(&s->dims[d], a, b);
        if (step != 0)
            return src + ((a + step + size) % size - a) * below;
        below *= size;
    }
    return src;
}

/* Dimension order may be longer than the way by hops, so it is measured for itself. */
static int prepare(th_system *s, th_error *err)
{
    int diameter = 0;
    for (int d = 0; d < s->n_dims; d++)
        diameter += s->dims[d].kind == TH_DIM_RING ? s->dims[d].size / 2 : s->dims[d].size - 1;
    if (diameter <= TH_ROUTE_MAX)
        return 0;
    return th_error_set(err, "TOPO-0015",
                        "system \"%s\": routes of up to %d links, at most %d are supported",
                        s->name, diameter, TH_ROUTE_MAX);
}

static int next(const th_system *s, int at, int src, int dst)
{
    (void)src;
    int n = n_shape_nodes(s);
    if (at >= n || dst >= n)
        return th_route_shortest_next(s, at, dst);
    return th_route_link_to(s, at, next_node(s, at, dst));
}

static void release(th_system *s)
{
    (void)s;
}

const th_routing_type th_routing_dimension_order = {
    "dimension_order", "dimension 0 first; on a ring the shorter way, upwards on a tie", prepare,
    next, release};
