/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_remaining.h - a lower bound on the time from a layer, with given set and strategy, to the
 * end of its pass, for mappings whose sets are in the order of the system, without shares and
 * chunks.
 *   new -> after* -> free */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_REMAINING_H
#define TH_MAPPER_EVALUATE_BOUNDS_REMAINING_H
#include "mapper/evaluate/evaluate.h"

typedef struct th_remaining_time th_remaining_time;

/* The problem must outlive it. NULL on failure. */
th_remaining_time *th_remaining_time_new(const th_problem *p, th_error *err);
void th_remaining_time_free(th_remaining_time *x); /* accepts NULL */

/* *rest: by position, in ps, from the end of what it holds of the layer's output to the end of the
 * pass; until the next call. 0 or -1. */
int th_remaining_time_after(th_remaining_time *x, int layer, const th_set *set,
                            const th_strategy *s, const double **rest, th_error *err);

#endif
