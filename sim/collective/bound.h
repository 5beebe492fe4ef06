/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bound.h - how long a collective takes at the least, whoever does it on whatever network. */
#ifndef TH_SIM_COLLECTIVE_BOUND_H
#define TH_SIM_COLLECTIVE_BOUND_H
#include "sim/collective/collective.h"

/* *out: no run of *c on *s ends sooner after its start. c has passed th_collective_check; its
 * algorithm matters only in that switches do not add for others than in_switch (left open: they
 * may). 0 or -1 (memory). */
int th_collective_bound(const th_collective *c, const th_system *s, th_time *out, th_error *err);

#endif
