/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bound.h - lower bound of the time of a collective, for any algorithm and network model. */
#ifndef TH_SIM_COLLECTIVE_BOUND_H
#define TH_SIM_COLLECTIVE_BOUND_H
#include "sim/collective/collective.h"

/* *out is a time that every run of *c on *s takes at least. *c has passed th_collective_check. If
 * the algorithm is in_switch or not set, switches may add; otherwise the algorithm does not matter.
 * 0, or -1: memory is out. */
int th_collective_bound(const th_collective *c, const th_system *s, th_time *out, th_error *err);

#endif
