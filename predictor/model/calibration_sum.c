/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration_sum.c - a device as a weighted sum of predictions for seen devices and of parts of
 * the law.
 *   fit: { normal equations of the regressors over the times -> nnls -> reweight rows } x PASSES */
#include <config.h>

#include "predictor/model/calibration_sum.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/law/nnls.h"

enum { PASSES = 5 };
static const double RIDGE = 0.05, DEVIATION_MIN = 0.02;

/* --- parts ------------------------------------------------------------------------------------ */

/* part[class] of the law; their sum. */
static double parts_of(const th_layer_model *m, const th_op *op, const th_gpu *gpu, int device,
                       double *part)
{
    th_terms t;
    th_law_terms(op, m->phase, gpu, NULL, &t);
    return th_law_parts(&t, m->weight + (size_t)device * (size_t)m->n_terms, part);
}

int th_calibration_sum_split(const th_layer_model *m, const th_device_rows *r,
                             th_regressor *regressor, double *out)
{
    int parts = 0;
    for (int c = 0; c < TH_N_TERM_CLASSES; c++) {
        double *row = out + (size_t)parts * r->n, sum = 0;
        for (size_t i = 0; i < r->n; i++) {
            double part[TH_N_TERM_CLASSES], all = parts_of(m, &r->op[i], r->gpu, r->device, part);
            row[i] = all > 0 ? r->predictions[i] * part[c] / all : 0;
            sum += row[i];
        }
        if (sum > 0)
            regressor[parts++] = (th_regressor){.device = r->device, .part = c};
    }
    return parts;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Normal equations of 1 + n unknowns: the host's cost, in units of the least time, and regressors.
 */
typedef struct {
    double *gram, *moment, *x, *column, *weight;
    double unit;
    size_t size;
} equations;

static void set_ridge(const equations *e, const th_regressors *a)
{
    memset(e->gram, 0, e->size * e->size * sizeof *e->gram);
    memset(e->moment, 0, e->size * sizeof *e->moment);
    for (size_t i = 0; i < e->size; i++)
        e->gram[i * e->size + i] = RIDGE;
    for (int v = 0; v < a->n_base_models; v++)
        e->moment[v + 1] = RIDGE / a->n_base_models;
}

static void set_columns(const equations *e, const th_regressors *a, double ms, size_t n, size_t row)
{
    e->column[0] = e->unit / ms;
    for (int k = 0; k < a->n; k++)
        e->column[k + 1] = a->predictions[(size_t)k * n + row] / ms;
}

static void add_row(const equations *e, double weight)
{
    for (size_t i = 0; i < e->size; i++) {
        e->moment[i] += weight * e->column[i];
        for (size_t j = 0; j < e->size; j++)
            e->gram[i * e->size + j] += weight * e->column[i] * e->column[j];
    }
}

static int solve(const equations *e, const th_regressors *a, const double *ms, size_t n)
{
    for (size_t i = 0; i < n; i++)
        e->weight[i] = 1;
    for (int pass = 0; pass < PASSES; pass++) {
        double sum = 0;
        set_ridge(e, a);
        for (size_t i = 0; i < n; i++) {
            set_columns(e, a, ms[i], n, i);
            add_row(e, e->weight[i]);
        }
        if (th_nnls_solve(e->gram, e->moment, (int)e->size, e->x))
            return -1;
        for (size_t i = 0; i < n; i++) {
            double off = -1;
            set_columns(e, a, ms[i], n, i);
            for (size_t k = 0; k < e->size; k++)
                off += e->x[k] * e->column[k];
            e->weight[i] = 1 / fmax(fabs(off), DEVIATION_MIN);
            sum += e->weight[i];
        }
        for (size_t i = 0; i < n; i++) /* so that the ridge keeps its strength */
            e->weight[i] *= (double)n / sum;
    }
    return 0;
}

int th_calibration_sum_fit(const th_regressors *a, const double *ms, size_t n,
                           th_calibration_sum *out)
{
    size_t size = (size_t)a->n + 1;
    double *room = th_alloc_array(size * (size + 3) + n, sizeof *room);
    if (!room)
        return -1;
    equations e = {room,
                   room + size * size,
                   room + size * (size + 1),
                   room + size * (size + 2),
                   room + size * (size + 3),
                   INFINITY,
                   size};
    for (size_t i = 0; i < n; i++)
        e.unit = fmin(e.unit, ms[i]);
    int failed = solve(&e, a, ms, n);
    if (!failed) {
        *out = (th_calibration_sum){.host_ms = e.x[0] * e.unit, .n = a->n};
        for (int k = 0; k < a->n; k++) {
            out->regressor[k] = a->regressor[k];
            out->regressor[k].weight = e.x[k + 1];
        }
    }
    th_free(room);
    return failed;
}

/* --- prediction ------------------------------------------------------------------------------- */

double th_calibration_sum_at(const th_calibration_sum *s, const double *predictions, size_t n,
                             size_t i)
{
    double ms = s->host_ms;
    for (int k = 0; k < s->n; k++)
        ms += s->regressor[k].weight * predictions[(size_t)k * n + i];
    return fmax(ms, TH_CALIBRATION_SUM_MIN_MS);
}

double th_calibration_sum_factor(const th_layer_model *m, const th_calibration_sum *s,
                                 const th_op *op, const th_gpu *gpu, int device)
{
    double part[TH_N_TERM_CLASSES], all = parts_of(m, op, gpu, device, part), sum = 0;
    for (int k = 0; k < s->n; k++)
        if (s->regressor[k].part >= 0)
            sum += s->regressor[k].weight * part[s->regressor[k].part];
    return all > 0 ? sum / all : 0;
}
