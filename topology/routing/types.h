/* SPDX-License-Identifier: GPL-3.0-or-later */
/* types.h - the rows of the table of routings, and what they share. */
#ifndef TH_TOPOLOGY_ROUTING_TYPES_H
#define TH_TOPOLOGY_ROUTING_TYPES_H
#include "topology/routing/route.h"

extern const th_routing_type th_routing_dimension_order; /* routing/dimension_order.c */
extern const th_routing_type th_routing_dragonfly;       /* routing/dragonfly.c */
extern const th_routing_type th_routing_ecmp;            /* routing/ecmp.c */
extern const th_routing_type th_routing_rails;           /* routing/rails.c */
extern const th_routing_type th_routing_shortest;        /* routing/shortest.c */
extern const th_routing_type th_routing_up_down;         /* routing/up_down.c */

bool th_routing_has_rails(const th_system *s); /* routing/rails.c: is it made of rails? */

/* For transfers from src to dst: one of the links that are parallel to link, which may be negative,
 * by hash; routing/parallel.c. prepare: 0 or -1 (memory). */
int th_parallel_prepare(th_system *s);
int th_parallel_choose(const th_system *s, int link, int src, int dst);
uint64_t th_route_hash(int at, int src, int dst);

#endif
