/* SPDX-License-Identifier: GPL-3.0-or-later */
/* algebra.h - products of dense matrices, with the fastest library available. OpenBLAS starts
 * threads when it is loaded, which would receive signals meant for the shell. It is therefore not
 * linked but opened here, with one thread, when training needs it. Without it GSL's own routines
 * are used, which are about ten times slower. */
#ifndef TH_PREDICTOR_LAW_ALGEBRA_H
#define TH_PREDICTOR_LAW_ALGEBRA_H
#include <gsl/gsl_cblas.h>

typedef void th_gemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE of_a, enum CBLAS_TRANSPOSE of_b,
                     int m, int n, int k, float alpha, const float *a, int row_a, const float *b,
                     int row_b, float beta, float *c, int row_c);

/* C = alpha A B + beta C, as CBLAS has it. */
th_gemm *th_algebra_gemm(void);

#endif
