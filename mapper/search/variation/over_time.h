/* SPDX-License-Identifier: GPL-3.0-or-later */
/* over_time.h - sets that change over time: layers go to subsets and supersets of the accelerators
 * that they run on, which stay members of their other sets.
 *   regroup* -> th_mapping_drop_idle_sets */
#ifndef TH_MAPPER_SEARCH_VARIATION_OVER_TIME_H
#define TH_MAPPER_SEARCH_VARIATION_OVER_TIME_H
#include "mapper/search/variation/variation.h"

/* Layers that go to other accelerators. */
typedef struct th_regrouping {
    const bool *moves;     /* by layer */
    const int32_t *accels; /* where to */
    int32_t n;
    double jitter; /* of dynamic programming */
} th_regrouping;

/* The layers of m, a copy of before, go to the set of these accelerators, a new one where there is
 * none, with a design that agrees with their other sets; dynamic programming gives them strategies,
 * with the chunks that they have. 0; 1: they cannot, or stay where they are; -1: error. */
int th_regroup(th_variation *v, th_mapping *m, const th_mapping *before, const th_regrouping *how,
               th_error *err);
#endif
