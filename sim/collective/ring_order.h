/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ring_order.h - a cycle through the ranks of a group that follows the topology, and its rails.
 *
 * Cost of a hop from rank to rank: the sum of latency and bytes / bandwidth over the links of the
 * route, there and back. The cycle is the cheapest of the group's own order, ranks of an island
 * together, and of tours of nearest neighbours from the first ranks, improved by 2-opt (G. A.
 * Croes, Operations Research 6, 1958); on equal cost the former. Groups of more than
 * TH_RING_ORDER_MAX ranks keep it.
 *
 * A stretch is a maximal run of ranks of one island (th_node.group). With several stretches the
 * cycle has as many rails as the longest has ranks: on rail k every stretch is rotated by k, so
 * that another rank of each island talks to the next island. */
#ifndef TH_SIM_COLLECTIVE_RING_ORDER_H
#define TH_SIM_COLLECTIVE_RING_ORDER_H
#include "sim/collective/collective.h"

enum { TH_RING_ORDER_MAX = 1024, TH_RAILS_MAX = 128 };

typedef struct th_ring_order {
    int32_t n;         /* ranks */
    int32_t rails;     /* 1: no islands */
    int32_t n_islands; /* stretches */
    int32_t *rank;     /* by position on rail 0; in the schedule's memory, as the rest */
    int32_t *position; /* by rank, on rail 0 */
    int32_t *island;   /* by position: its stretch */
    int32_t *first;    /* by stretch, and n_islands: its first position */
} th_ring_order;

/* Of the group of cs, whose collective and system alone are read, and whose kept tour is set where
 * it is not known. 0, or -1 (memory, or no route). */
int th_ring_order_init(th_ring_order *o, th_collective_schedule *cs, th_error *err);

/* The rank at a position of a rail, and the reverse. */
int32_t th_ring_order_rank(const th_ring_order *o, int32_t rail, int32_t position);
int32_t th_ring_order_position(const th_ring_order *o, int32_t rail, int32_t rank);

#endif
