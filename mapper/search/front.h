/* SPDX-License-Identifier: GPL-3.0-or-later */
/* front.h - which of several points are better when there are several objectives, and the mappings
 * of a Pareto front. Method: K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A fast and elitist
 * multiobjective genetic algorithm: NSGA-II", IEEE Trans. Evolutionary Computation 6(2), 2002. */
#ifndef TH_MAPPER_FRONT_H
#define TH_MAPPER_FRONT_H
#include "mapper/mapping.h"
#include "mapper/evaluate/objective.h"

typedef struct th_point {
    double value[TH_FRONT_MAX]; /* less is better */
    th_time lateness_ps;        /* a constraint: points dominate all that are later */
    int32_t rank;               /* 0: nothing dominates it; 1: only points of rank 0 do ... */
    double crowding;            /* how far its neighbours of its rank are; INFINITY at the ends */
} th_point;

bool th_point_dominates(const th_point *a, const th_point *b, int n_values);
/* Fills ranks and crowding distances of n points of n_values objectives. -1: out of memory. */
int th_points_rank(th_point *p, int n, int n_values);

/* What a search for a Pareto front found: none dominates another, by ascending first objective. */
typedef struct th_front {
    int n;
    th_mapping **mapping;
    th_metrics *metrics;
} th_front;
void th_front_free(th_front *f); /* accepts NULL */

#endif
