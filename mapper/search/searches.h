/* SPDX-License-Identifier: GPL-3.0-or-later */
/* searches.h - the searches, one per file. */
#ifndef TH_MAPPER_SEARCHES_H
#define TH_MAPPER_SEARCHES_H
#include "mapper/search/front.h"
#include "mapper/search/search.h"

extern const th_search_type th_search_portfolio;
extern const th_search_type th_search_two_level;
extern const th_search_type th_search_nsga2;
extern const th_search_type th_search_dp;
extern const th_search_type th_search_annealing;
extern const th_search_type th_search_polish;
extern const th_search_type th_search_random;
extern const th_search_type th_search_exhaustive;
extern const th_search_type th_search_computation_prioritized;
extern const th_search_type th_search_uniform;
extern const th_search_type th_search_greedy;
extern const th_search_type th_search_greedy_rotating;
extern const th_search_type th_search_single;
extern const th_search_type th_search_data_parallel;
extern const th_search_type th_search_model_parallel;
extern const th_search_type th_search_pipeline_parallel;
extern const th_search_type th_search_h2h;

/* The first thing that an outermost search does: all mappings of its space, or of basic, where they
 * are within its budget of evaluations and, with one of time, TH_ENUMERATION_OF_SEARCHES; s is done
 * where that proves its best.
 * *is_tried: false at first. 0 or -1. */
int th_search_try_all(th_search *s, bool *is_tried, th_error *err);

/* The mapping of computation_prioritized, for the caller to free. 0 or -1. */
int th_baseline_computation_prioritized(th_search *s, th_mapping **out, th_error *err);

/* The front that an nsga2 search has found so far, for the caller to free. NULL: out of memory. */
th_front *th_nsga2_front(const th_search *s, th_error *err);

#endif
