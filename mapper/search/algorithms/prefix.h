/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefix.h - lower bounds on mappings of which only the first layers are decided.
 *   new -> (push | pop)* -> free
 * Layers are decided in the order of the workload. */
#ifndef TH_MAPPER_SEARCH_ALGORITHMS_PREFIX_H
#define TH_MAPPER_SEARCH_ALGORITHMS_PREFIX_H
#include "mapper/evaluate/evaluate.h"

typedef struct th_prefix th_prefix;

th_prefix *th_prefix_new(const th_problem *p, th_error *err);
void th_prefix_free(th_prefix *x); /* accepts NULL */

/* Decides the next layer: its set (which must stay unchanged until the pop) and strategy. *least:
 * a lower bound in ps on the makespan of every mapping with this prefix. 0; 1: the layer cannot
 * run there, nothing is pushed; -1: out of memory. */
int th_prefix_push(th_prefix *x, const th_set *set, const th_strategy *s, double *least,
                   th_error *err);
void th_prefix_pop(th_prefix *x);
/* Frees caches where they have become many; only while nothing is pushed. */
void th_prefix_trim(th_prefix *x);

#endif
