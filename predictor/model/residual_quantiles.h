/* SPDX-License-Identifier: GPL-3.0-or-later */
/* residual_quantiles.h - quantiles of ln(measured / predicted), in bins of predicted time. */
#ifndef TH_PREDICTOR_MODEL_RESIDUAL_QUANTILES_H
#define TH_PREDICTOR_MODEL_RESIDUAL_QUANTILES_H
#include <stddef.h>

enum { TH_RESIDUAL_BINS = 5 };

/* Quantiles of ln(measured / predicted): a tenth is below low, a tenth above high. */
typedef struct th_residual_quantiles {
    int n_bins; /* 0: nothing is known */
    struct th_residual_bin {
        double ln_ms; /* predictions up to here; the last bin has no end */
        double low, high;
    } bin[TH_RESIDUAL_BINS];
} th_residual_quantiles;

/* Of n rows: ln of predicted and measured ms. Bins of equal numbers of rows. 0, or -1: memory is
 * out. */
int th_residual_quantiles_fit(th_residual_quantiles *out, const double *predicted,
                              const double *measured, size_t n);
/* The value that a share q of n > 0 ascending ones, each stride behind the one before, does not
 * exceed; between neighbours by their distance. */
double th_quantile(const double *sorted, size_t stride, size_t n, double q);
/* Of a prediction: low <= 0 <= high. Nothing known: twice and half. */
void th_residual_quantiles_at(const th_residual_quantiles *s, double ln_ms, double *low,
                              double *high);

#endif
