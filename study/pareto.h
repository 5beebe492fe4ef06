/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pareto.h - the Pareto front of a set of points: those that no other point dominates. */
#ifndef TH_STUDY_PARETO_H
#define TH_STUDY_PARETO_H
#include <stdbool.h>
#include <stddef.h>

/* Point i has values[i * n_objectives + k], less is better, none is NAN. It is in the front unless
 * another one is nowhere worse and somewhere better; equal points are both in it or both not. 0,
 * or -1: memory is out. */
int th_pareto_front(const double *values, size_t n, int n_objectives, bool *is_in);

#endif
