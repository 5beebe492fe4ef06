/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline.h - what baselines share: a list of candidates, of which simulation takes the best.
 *   init: add* -> iterate until done -> clear */
#ifndef TH_MAPPER_SEARCH_BASELINES_BASELINE_H
#define TH_MAPPER_SEARCH_BASELINES_BASELINE_H
#include "mapper/search/search.h"
#include "mapper/search/initial/initial_mapping.h"

/* The state of such a search. */
typedef struct th_candidates {
    th_mapping **mapping;
    size_t n, capacity, next;
} th_candidates;

/* Takes m over (NULL is memory that ran out). 0 or -1. */
int th_candidates_add(th_search *s, th_mapping *m, th_error *err);
/* Why a candidate could not be made; the first is what is reported when none was. */
void th_candidates_note_infeasible(th_search *s, const th_error *reason);
/* The bound at which candidates are stopped: the best of this search and of those around it. */
double th_baseline_bound(const th_search *s);
int th_candidates_iterate(th_search *s, th_error *err);
void th_candidates_clear(th_search *s);

/* The accelerators that can be configured with a design, those of accelerator 0's group first, by
 * number; only those where sets must stay inside groups. Into accels[n_accels of the system];
 * *in_group of them are of that group. Returns their number. */
int32_t th_baseline_members(const th_search *s, int32_t design, int32_t *accels, int32_t *in_group);
/* One set of the first n of them, all layers on it. NULL: out of memory. */
th_mapping *th_baseline_mapping(const th_search *s, int32_t design, const int32_t *accels,
                                int32_t n);

#endif
