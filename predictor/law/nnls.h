/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nnls.h - non-negative least squares: minimise |A x - b|^2 with x >= 0.
 * Source: Lawson, Hanson, Solving Least Squares Problems (1974), chapter 23, on the normal
 * equations. */
#ifndef TH_PREDICTOR_LAW_NNLS_H
#define TH_PREDICTOR_LAW_NNLS_H
#include <stddef.h>

/* gram = A'A (n x n, by rows), moment = A'b; x has n places. Columns that say nothing new get 0. 0,
 * or -1: memory is out. */
int th_nnls_solve(const double *gram, const double *moment, int n, double *x);

#endif
