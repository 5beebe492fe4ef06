/* SPDX-License-Identifier: GPL-3.0-or-later */
/* algebra.c - finds a library for matrix products. An opened library stays open. */
#include <config.h>

#include "predictor/law/algebra.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

th_gemm *th_algebra_gemm(void)
{
    th_gemm *gemm = cblas_sgemm;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "cblas_sgemm") : NULL;
    if (found)
        memcpy(&gemm, &found, sizeof gemm); /* ISO C knows no cast between the two */
    return gemm;
}
