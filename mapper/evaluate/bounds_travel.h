/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_travel.h - private to the bounds: the least time in which data get from accelerator to
 * accelerator, wherever they are.
 *   init -> send* */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_TRAVEL_H
#define TH_MAPPER_EVALUATE_BOUNDS_TRAVEL_H
#include "mapper/evaluate/bounds_state.h"

enum { TH_TRAVEL_ACCELS_MAX = 16 };

/* By number of accelerators, the one that has the data among them; all 0: unknown. */
typedef struct th_travel {
    double latency[TH_TRAVEL_ACCELS_MAX + 1]; /* to the last of them */
    double send[TH_TRAVEL_ACCELS_MAX + 1];    /* ps per byte, of a byte to each of the others */
} th_travel;

/* 0, or -1: memory is out. */
int th_travel_init(th_travel *t, const th_bound_finder *f);
/* Bytes for each of n accelerators, the one that has them among them. */
double th_travel_send(const th_travel *t, int n, double bytes);

#endif
