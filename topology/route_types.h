/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route_types.h - the rows of the table of routings, for route.c alone. */
#ifndef TH_TOPOLOGY_ROUTE_TYPES_H
#define TH_TOPOLOGY_ROUTE_TYPES_H
#include "topology/route.h"

extern const th_routing_type th_routing_dimension_order;   /* route_dimension.c */
extern const th_routing_type th_routing_shortest;          /* route_shortest.c */

/* What th_route_shortest_next needs; route_shortest.c. 0 or -1. */
int th_columns_prepare(th_system *s, th_error *err);
void th_columns_release(th_system *s);

#endif
