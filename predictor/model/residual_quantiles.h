/* SPDX-License-Identifier: GPL-3.0-or-later */
/* residual_quantiles.h - how far measurements lie from predictions, by how long those are. */
#ifndef TH_PREDICTOR_MODEL_RESIDUAL_QUANTILES_H
#define TH_PREDICTOR_MODEL_RESIDUAL_QUANTILES_H
#include <stddef.h>

enum { TH_SPREAD_BINS = 5 };

/* Quantiles of ln(measured / predicted): a tenth is below low, a tenth above high. */
typedef struct th_spread {
    int n_bins; /* 0: nothing is known */
    struct th_spread_bin {
        double ln_ms; /* predictions up to here; the last bin has no end */
        double low, high;
    } bin[TH_SPREAD_BINS];
} th_spread;

/* Of n rows: ln of predicted and measured ms, and what they are grouped by (devices), or NULL. Bins
 * of equal numbers of rows; of the groups in one the worst counts, as a further one may be like it.
 * 0, or -1: memory is out. */
int th_spread_fit(th_spread *out, const double *predicted, const double *measured, const int *group,
                  size_t n);
/* Of a prediction: low <= 0 <= high. Nothing known: twice and half. */
void th_spread_at(const th_spread *s, double ln_ms, double *low, double *high);

#endif
