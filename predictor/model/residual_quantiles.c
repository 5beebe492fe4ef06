/* SPDX-License-Identifier: GPL-3.0-or-later */
/* residual_quantiles.c - intervals of predictions: empirical quantiles of the residuals of held-out
 * rows.
 *   fit: sort by prediction -> { sort a bin by residual -> its quantiles } */
#include <config.h>

#include "predictor/model/residual_quantiles.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { ROWS_PER_BIN_MIN = 40 };
static const double TAIL = 0.1;

typedef struct {
    double predicted, residual;
} row;
enum { STRIDE = sizeof(row) / sizeof(double) };

static int by_prediction(const void *a, const void *b)
{
    double x = ((const row *)a)->predicted, y = ((const row *)b)->predicted;
    return (x > y) - (x < y);
}

static int by_residual(const void *a, const void *b)
{
    double x = ((const row *)a)->residual, y = ((const row *)b)->residual;
    return (x > y) - (x < y);
}

double th_quantile(const double *sorted, size_t stride, size_t n, double q)
{
    double at = q * (double)(n - 1), below = floor(at);
    const double *x = sorted + (size_t)below * stride;
    return (size_t)below + 1 < n ? x[0] + (at - below) * (x[stride] - x[0]) : x[0];
}

static void fit_bin(row *rows, size_t n, struct th_residual_bin *out)
{
    qsort(rows, n, sizeof *rows, by_residual);
    out->low = fmin(0, th_quantile(&rows->residual, STRIDE, n, TAIL));
    out->high = fmax(0, th_quantile(&rows->residual, STRIDE, n, 1 - TAIL));
}

int th_residual_quantiles_fit(th_residual_quantiles *out, const double *predicted,
                              const double *measured, size_t n)
{
    *out = (th_residual_quantiles){.n_bins = 0};
    if (n == 0)
        return 0;
    row *rows = th_alloc_array(n, sizeof *rows);
    if (!rows)
        return -1;
    for (size_t i = 0; i < n; i++)
        rows[i] = (row){predicted[i], measured[i] - predicted[i]};
    qsort(rows, n, sizeof *rows, by_prediction);
    size_t bins = n / ROWS_PER_BIN_MIN;
    out->n_bins = bins < 1 ? 1 : bins > TH_RESIDUAL_BINS ? TH_RESIDUAL_BINS : (int)bins;
    for (int b = 0; b < out->n_bins; b++) {
        size_t from = n * (size_t)b / (size_t)out->n_bins,
               to = n * ((size_t)b + 1) / (size_t)out->n_bins;
        out->bin[b].ln_ms = rows[to - 1].predicted;
        fit_bin(rows + from, to - from, &out->bin[b]);
    }
    th_free(rows);
    return 0;
}

void th_residual_quantiles_at(const th_residual_quantiles *s, double ln_ms, double *low,
                              double *high)
{
    int b = 0;
    *low = -M_LN2;
    *high = M_LN2;
    if (s->n_bins == 0)
        return;
    while (b + 1 < s->n_bins && ln_ms > s->bin[b].ln_ms)
        b++;
    *low = s->bin[b].low;
    *high = s->bin[b].high;
}
