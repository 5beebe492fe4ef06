/* SPDX-License-Identifier: GPL-3.0-or-later */
/* footprint.h - does the mapping fit in memory? */
#ifndef TH_MAPPER_FOOTPRINT_H
#define TH_MAPPER_FOOTPRINT_H
#include "mapper/lower/lower_state.h"

/* Fills l->weight_bytes and l->peak_bytes for the planned mapping with l->in_flight passes at
 * once. 0, or -1 naming the accelerator, the layer at which it is fullest, and the bytes that it
 * lacks. */
int th_footprint_check(th_lower *l, const th_mapping *m, th_error *err);

/* All that one accelerator holds at its peak, for the planned mapping, into *out. 0, or -1: memory
 * is out. */
int th_footprint_list(th_lower *l, const th_mapping *m, int accel, th_memory_peak *out);

/* Lists what is held, unless it is nothing. Out of memory: p->failed. */
void th_memory_peak_add(th_memory_peak *p, th_held what);

/* Bytes on one accelerator of what layers first .. last hold: their weights (also those of tied
 * layers), and at most at once inside; at the last layer, to which what the next segment has at its
 * begin is to be added; and at layer first - 1. */
typedef struct th_footprint_part {
    int64_t weights, inside, at_begin, at_end;
} th_footprint_part;

/* Fills out[n_accels] for the layers, planned by th_lower_plan. 0, or -1: memory is out. */
int th_footprint_of_segment(th_lower *l, int first, int last, th_footprint_part *out);

#endif
