/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axes.h - the axes of a group whose direct cables are those of a torus, a mesh, a hypercube, or
 * any other Cartesian product of rings, lines and fully connected graphs; found in the cables
 * alone, so it does not matter where the system comes from, what part of it the group is, and in
 * which order its ranks come. */
#ifndef TH_SIM_COLLECTIVE_AXES_H
#define TH_SIM_COLLECTIVE_AXES_H
#include "sim/collective/collective.h"

typedef struct th_axis {
    int32_t extent;
    th_topology_dim_kind kind; /* line, ring or fully connected; rings of 3 are fully connected,
                                * those of 4 are two axes of 2 */
    double cost;               /* time, in some unit, in which its links carry the messages of a
                                * reduce_scatter along it */
} th_axis;

typedef struct th_axes {
    int32_t n;
    th_axis axis[TH_MAX_DIMS];
    /* A place is a number whose digits are coordinates, that along axis 0 fastest. Coordinates
     * along a ring are in its order; along a line they go out and back: 0, 2, 4 ... 5, 3, 1, so
     * that neighbours in this cycle are at most two links apart. */
    int32_t *place; /* by rank, in the schedule's memory */
    int32_t *rank;  /* by place */
} th_axes;

/* Of the group of cs, whose collective and system alone are read. 0, or -1: COLL-0206 (the
 * cables are no product of these), or memory is out. */
int th_axes_init(th_axes *x, th_collective_schedule *cs, th_error *err);

#endif
