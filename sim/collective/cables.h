/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cables.h - the direct cables between the ranks of a group, as a graph. An arc leads from rank to
 * rank where the route between them is one link; it has the bandwidth of that link, also where
 * parallel ones are idle. */
#ifndef TH_SIM_COLLECTIVE_CABLES_H
#define TH_SIM_COLLECTIVE_CABLES_H
#include "sim/collective/collective.h"

typedef struct th_cables {
    int32_t n, n_arcs;
    int32_t *first;      /* by rank, and n: its first arc; in the schedule's memory, as the rest */
    int32_t *to;         /* by arc: rank, ascending among those of one rank */
    int64_t *bits_per_s; /* by arc */
} th_cables;

/* Of the group of cs, whose collective and system alone are read. 0 or -1: memory is out. */
int th_cables_init(th_cables *g, th_collective_schedule *cs, th_error *err);
/* The arc between two ranks, or -1. O(log of the arcs of a rank). */
int32_t th_cables_find(const th_cables *g, int32_t from, int32_t to);

#endif
