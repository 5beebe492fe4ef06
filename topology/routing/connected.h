/* SPDX-License-Identifier: GPL-3.0-or-later */
/* connected.h - checks that all accelerators and hosts can reach each other. */
#ifndef TH_TOPOLOGY_ROUTING_CONNECTED_H
#define TH_TOPOLOGY_ROUTING_CONNECTED_H
#include "topology/system.h"

/* Every pair of accelerators, and every accelerator and host both ways: is there a path over nodes
 * that forward, of at most TH_ROUTE_MAX links? Needs the adjacency. 0, or -1: the first pair
 * without one, or memory is out. */
int th_check_connected(const th_system *s, th_error *err);

#endif
