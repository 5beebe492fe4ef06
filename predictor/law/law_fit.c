/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_fit.c - weights of the time law.
 *   fit: { normal equations of the rows over their times -> nnls -> reweight the rows } x PASSES
 * Iteratively reweighted least squares (IRLS) on the relative error, towards least absolute
 * deviations: the law fits most rows, instead of the mean of two algorithms of the framework. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/law/law.h"
#include "predictor/law/nnls.h"

enum { PASSES = 4 };
static const double DEVIATION_MIN = 0.02; /* smaller relative errors have equal weights */

/* gram += w^2 a a', moment += w^2 a, for a row a of amounts over its time. */
static void add_row(double *gram, double *moment, const double *amount, int n, double ms,
                    double weight)
{
    int place[TH_TERMS_MAX], m = 0;
    for (int i = 0; i < n; i++)
        if (amount[i] != 0)
            place[m++] = i;
    double by = weight * weight / (ms * ms);
    for (int i = 0; i < m; i++) {
        double x = amount[place[i]] * by;
        double *row = gram + (size_t)place[i] * (size_t)n;
        moment[place[i]] += x * ms;
        for (int j = 0; j <= i; j++)
            row[place[j]] += x * amount[place[j]];
    }
}

static double predicted(const double *amount, const double *weight, int n)
{
    double ms = 0;
    for (int i = 0; i < n; i++)
        ms += amount[i] * weight[i];
    return ms;
}

int th_law_fit(const double *amounts, const double *ms, size_t n, int n_terms, double *weight)
{
    size_t m = (size_t)n_terms;
    double *gram = th_alloc_array(m * (m + 1) + 1, sizeof *gram),
           *moment = gram ? gram + m * m : NULL;
    int failed = gram ? 0 : -1;
    for (int pass = 0; !failed && pass < PASSES; pass++) {
        memset(gram, 0, m * (m + 1) * sizeof *gram);
        for (size_t r = 0; r < n; r++) {
            const double *a = amounts + r * m;
            double off = pass == 0 ? 1 : fabs(predicted(a, weight, n_terms) / ms[r] - 1);
            add_row(gram, moment, a, n_terms, ms[r], 1 / sqrt(fmax(off, DEVIATION_MIN)));
        }
        for (size_t i = 0; i < m; i++)
            for (size_t j = i + 1; j < m; j++)
                gram[i * m + j] = gram[j * m + i];
        failed = th_nnls_solve(gram, moment, n_terms, weight);
    }
    th_free(gram);
    return failed;
}
