/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefix.h - how quick a mapping can be at best of which only the first layers are known.
 *   new -> (push | pop)* -> free
 * Layers are decided in the order of the workload. */
#ifndef TH_MAPPER_SEARCH_ALGORITHMS_PREFIX_H
#define TH_MAPPER_SEARCH_ALGORITHMS_PREFIX_H
#include "mapper/evaluate/evaluate.h"

typedef struct th_prefix th_prefix;

th_prefix *th_prefix_new(const th_problem *p, th_error *err);
void th_prefix_free(th_prefix *x); /* accepts NULL */

/* The next layer runs on a set (which must stay as it is until the pop) by a strategy. *least: the
 * makespan of any mapping that begins so is not less, in ps. 0; 1: it cannot run there, nothing is
 * pushed; -1: out of memory. */
int th_prefix_push(th_prefix *x, const th_set *set, const th_strategy *s, double *least,
                   th_error *err);
void th_prefix_pop(th_prefix *x);
/* Frees caches where they have become many; only while nothing is pushed. */
void th_prefix_trim(th_prefix *x);

#endif
