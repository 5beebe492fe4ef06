/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explicit.h - the explicit routes of a system, between pairs of nodes. */
#ifndef TH_TOPOLOGY_ROUTING_EXPLICIT_H
#define TH_TOPOLOGY_ROUTING_EXPLICIT_H
#include "topology/system.h"

/* The explicit route of a pair: its links, their number in *n; NULL: it has none. */
const int32_t *th_explicit_links(const th_system *s, int from, int to, int *n);
bool th_explicit_find(const th_system *s, int from, int to);
void th_explicit_free(th_system *s);

#endif
