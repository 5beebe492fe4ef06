/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spread.c - intervals of predictions: empirical quantiles of what was held out.
 *   fit: sort by prediction -> { sort a bin by residual -> its quantiles } */
#include <config.h>

#include "predictor/spread.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { ROWS_PER_BIN_MIN = 40 };
static const double TAIL = 0.1;

typedef struct {
    double predicted, residual;
} row;

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

/* Between neighbours by their distance. */
static double quantile(const row *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1), below = floor(at);
    size_t i = (size_t)below;
    double x = sorted[i].residual;
    return i + 1 < n ? x + (at - below) * (sorted[i + 1].residual - x) : x;
}

int th_spread_fit(th_spread *out, const double *predicted, const double *measured, size_t n)
{
    *out = (th_spread){.n_bins = 0};
    if (n == 0)
        return 0;
    row *rows = th_alloc_array(n, sizeof *rows);
    if (!rows)
        return -1;
    for (size_t i = 0; i < n; i++)
        rows[i] = (row){predicted[i], measured[i] - predicted[i]};
    qsort(rows, n, sizeof *rows, by_prediction);
    size_t bins = n / ROWS_PER_BIN_MIN;
    out->n_bins = bins < 1 ? 1 : bins > TH_SPREAD_BINS ? TH_SPREAD_BINS : (int)bins;
    for (int b = 0; b < out->n_bins; b++) {
        size_t from = n * (size_t)b / (size_t)out->n_bins,
               to = n * ((size_t)b + 1) / (size_t)out->n_bins;
        out->bin[b].ln_ms = rows[to - 1].predicted;
        qsort(rows + from, to - from, sizeof *rows, by_residual);
        out->bin[b].low = fmin(quantile(rows + from, to - from, TAIL), 0);
        out->bin[b].high = fmax(quantile(rows + from, to - from, 1 - TAIL), 0);
    }
    th_free(rows);
    return 0;
}

void th_spread_at(const th_spread *s, double ln_ms, double *low, double *high)
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
