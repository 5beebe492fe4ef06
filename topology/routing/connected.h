/* SPDX-License-Identifier: GPL-3.0-or-later */
/* connected.h - does everybody reach everybody? */
#ifndef TH_TOPOLOGY_ROUTING_CONNECTED_H
#define TH_TOPOLOGY_ROUTING_CONNECTED_H
#include "topology/system.h"

/* Every pair of accelerators, and every accelerator and host both ways: is there a way over nodes
 * that forward, of at most TH_ROUTE_MAX links? Wants the adjacency. 0, or -1 with the first pair of
 * which that is not so, or memory. */
int th_check_connected(const th_system *s, th_error *err);

#endif
