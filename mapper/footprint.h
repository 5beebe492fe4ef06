/* SPDX-License-Identifier: GPL-3.0-or-later */
/* footprint.h - does the mapping fit in memory? */
#ifndef TH_MAPPER_FOOTPRINT_H
#define TH_MAPPER_FOOTPRINT_H
#include "mapper/lower_state.h"

/* Fills l->weight_bytes and l->peak_bytes for the planned mapping with l->in_flight passes at
 * once. 0, or -1 naming the accelerator, the layer at which it is fullest, and the bytes that it lacks. */
int th_footprint_check(th_lower *l, th_error *err);

#endif
