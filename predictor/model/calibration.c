/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.c - calibration of a device by a few measured rows.
 *   calibrate: { rows of a device -> predictions of the base models -> leave-one-out predictions of
 *              three methods -> stacking weights -> fit to all rows }
 * The three methods are the uncalibrated prediction; that prediction with a host cost and a scale,
 * fitted by least squares on the relative error, reweighted towards absolute deviations, with a
 * ridge towards 0 and 1, so that twenty rows do not override thousands; and the sum
 * (calibration_sum.c). The stacking weights follow from the leave-one-out errors; no method gets
 * all the weight, so outliers change little. */
#include <config.h>

#include "predictor/model/calibration.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/model/calibration_sum.h"

enum { PASSES = 5, FOLDS_MAX = 40 };
static const double RIDGE_HOST = 1, RIDGE_SCALE = 0.3, DEVIATION_MIN = 0.02;
static const double SCALE_LEAST = 0.2; /* the least part of a prediction that remains */
static const double OPTIMISM = 1.1;    /* error on other rows / where it was least, about */
static const double SHARPNESS = 8, ERROR_MIN = 0.03; /* smaller errors have about equal weights */

static double scaled(const th_scaling *f, double ms)
{
    return fmax(f->host_ms + f->scale * ms, SCALE_LEAST * ms);
}

/* --- prediction ------------------------------------------------------------------------------- */

/* ms of an operation as if the GPU were this device. */
static double predict_as(const th_layer_model *m, const th_op *op, th_device_view v)
{
    double ms;
    th_layer_model_predict_as(m, op, 1, v, &ms);
    return ms;
}

/* ms by the sum. */
static double predict_sum(const th_layer_model *m, const th_calibration *c, const th_op *op,
                          double uncalibrated)
{
    int itself = th_layer_model_device(m, c->gpu.name);
    double ms =
        c->sum.host_ms + uncalibrated * th_calibration_sum_factor(m, &c->sum, op, &c->gpu, itself);
    for (int k = 0; k < c->sum.n; k++) {
        const th_regressor *a = &c->sum.regressor[k];
        if (a->part < 0)
            ms += a->weight * predict_as(m, op, (th_device_view){&c->gpu, a->device, a->is_law});
    }
    return fmax(ms, TH_CALIBRATION_SUM_MIN_MS);
}

double th_calibration_run(const th_layer_model *m, const th_calibration *c, const th_op *op)
{
    int itself = th_layer_model_device(m, c->gpu.name);
    double uncalibrated = predict_as(m, op, (th_device_view){&c->gpu, itself, false});
    double ln_ms = c->uncalibrated_share * log(uncalibrated) +
                   c->scaling.share * log(scaled(&c->scaling, uncalibrated));
    if (c->sum.share > 0)
        ln_ms += c->sum.share * log(predict_sum(m, c, op, uncalibrated));
    return exp(ln_ms);
}

/* --- scaling ---------------------------------------------------------------------------------- */

/* Rows of one device. */
typedef struct {
    th_op *op;
    double *ms;
    size_t n;
    double unit; /* the least time, ms: in which a host's cost is counted */
} sample;

/* Solves the two normal equations of host / unit and scale. */
static void scale_once(th_scaling *f, const sample *s, const double *predictions,
                       const double *weight)
{
    double hh = RIDGE_HOST, hs = 0, ss = RIDGE_SCALE, h = 0, k = RIDGE_SCALE;
    for (size_t i = 0; i < s->n; i++) {
        double a = s->unit / s->ms[i], b = predictions[i] / s->ms[i], w = weight[i];
        hh += w * a * a;
        hs += w * a * b;
        ss += w * b * b;
        h += w * a;
        k += w * b;
    }
    double determinant = hh * ss - hs * hs;
    f->host_ms = s->unit * (h * ss - k * hs) / determinant;
    f->scale = (k * hh - h * hs) / determinant;
}

/* weight[n] is scratch. */
static void fit_scaling(th_scaling *f, const sample *s, const double *predictions, double *weight)
{
    for (size_t i = 0; i < s->n; i++)
        weight[i] = 1;
    for (int pass = 0; pass < PASSES; pass++) {
        double sum = 0;
        scale_once(f, s, predictions, weight);
        for (size_t i = 0; i < s->n; i++) {
            weight[i] = 1 / fmax(fabs(scaled(f, predictions[i]) / s->ms[i] - 1), DEVIATION_MIN);
            sum += weight[i];
        }
        for (size_t i = 0; i < s->n; i++) /* so that ridges keep their strength */
            weight[i] *= (double)s->n / sum;
    }
}

/* --- fit -------------------------------------------------------------------------------------- */

/* The predictions of the base models for the rows of a sample, and the parts that classes of terms
 * have in the first. The first is the uncalibrated prediction. */
typedef struct {
    th_regressor *regressor;
    double *predictions; /* by regressor and row */
    int n_base_models, n;
    bool has_sum; /* false: too many for a sum */
} regressors;

typedef struct {
    th_scaling scaling;
    th_calibration_sum sum;
} fitted;

static int fit(const regressors *x, const sample *s, double *weight, fitted *out)
{
    const th_regressors all = {x->predictions, x->regressor, x->n, x->n_base_models};
    *out = (fitted){.sum.n = 0};
    fit_scaling(&out->scaling, s, x->predictions, weight);
    return x->has_sum ? th_calibration_sum_fit(&all, s->ms, s->n, &out->sum) : 0;
}

/* --- stacking --------------------------------------------------------------------------------- */

enum { UNCALIBRATED, SCALED, SUM, N_METHODS };

/* The regressors and the sample without the rows of a fold. */
static void leave_out(const regressors *x, const sample *s, size_t fold, size_t folds,
                      regressors *some, sample *rest)
{
    rest->n = 0;
    rest->unit = INFINITY;
    for (size_t i = 0; i < s->n; i++)
        if (i % folds != fold) {
            rest->unit = fmin(rest->unit, s->ms[i]);
            rest->ms[rest->n++] = s->ms[i];
        }
    for (int k = 0; k < x->n; k++)
        for (size_t i = 0, to = 0; i < s->n; i++)
            if (i % folds != fold)
                some->predictions[(size_t)k * rest->n + to++] =
                    x->predictions[(size_t)k * s->n + i];
}

/* Memory of a calibration: [regressors][n] twice, [n] twice, [N_METHODS][n]. */
typedef struct {
    sample all_rows, rest;
    regressors all, some; /* of all rows; of the rest */
    double *weight;
    double *ln_ms; /* by method and row: the out-of-fold predictions */
} workspace;

static int predict_folds(workspace *w)
{
    const sample *s = &w->all_rows;
    const regressors *x = &w->all;
    size_t n = s->n, folds = n < FOLDS_MAX ? n : FOLDS_MAX;
    for (size_t fold = 0; fold < folds; fold++) {
        fitted f;
        leave_out(x, s, fold, folds, &w->some, &w->rest);
        if (fit(&w->some, &w->rest, w->weight, &f))
            return -1;
        for (size_t i = fold; i < n; i += folds) {
            double uncalibrated = x->predictions[i];
            w->ln_ms[UNCALIBRATED * n + i] = log(uncalibrated);
            w->ln_ms[SCALED * n + i] = log(scaled(&f.scaling, uncalibrated));
            w->ln_ms[SUM * n + i] = log(
                x->has_sum ? th_calibration_sum_at(&f.sum, x->predictions, n, i) : uncalibrated);
        }
    }
    return 0;
}

/* Shares of the methods by the geometric mean of their out-of-fold errors, in which outliers count
 * little. So few rows do not tell well which method is best, so each has a share. Returns the error
 * of the weighted prediction. */
static double stacking_weights(const sample *s, const double *ln_ms, double *share)
{
    double sum = 0, error = 0;
    for (int a = 0; a < N_METHODS; a++) {
        double ln_error = 0;
        for (size_t i = 0; i < s->n; i++)
            ln_error += log(fabs(exp(ln_ms[(size_t)a * s->n + i]) / s->ms[i] - 1) + ERROR_MIN);
        share[a] = exp(-SHARPNESS * ln_error / (double)s->n);
        sum += share[a];
    }
    for (int a = 0; a < N_METHODS; a++)
        share[a] /= sum;
    for (size_t i = 0; i < s->n; i++) {
        double ln = 0;
        for (int a = 0; a < N_METHODS; a++)
            ln += share[a] * ln_ms[(size_t)a * s->n + i];
        error += fabs(exp(ln) / s->ms[i] - 1);
    }
    return error / (double)s->n;
}

static void keep_methods(const regressors *x, const fitted *f, const double *share,
                         th_calibration *out)
{
    out->uncalibrated_share = share[UNCALIBRATED] + (x->has_sum ? 0 : share[SUM]);
    out->scaling = f->scaling;
    out->scaling.share = share[SCALED];
    if (!x->has_sum)
        return;
    out->sum = (th_calibration_sum){.host_ms = f->sum.host_ms, .share = share[SUM]};
    for (int k = 0; k < f->sum.n; k++)
        if (f->sum.regressor[k].weight > 0)
            out->sum.regressor[out->sum.n++] = f->sum.regressor[k];
}

/* --- a device --------------------------------------------------------------------------------- */

static void add_base_model(const th_layer_model *m, const sample *s, th_device_view v,
                           regressors *out)
{
    th_layer_model_predict_as(m, s->op, s->n, v, out->predictions + (size_t)out->n * s->n);
    out->regressor[out->n++] = (th_regressor){.device = v.device, .is_law = v.is_law, .part = -1};
}

/* Every device of training by its ensemble and by its law, and any other device by the ensemble;
 * the device itself first. */
static void predict_base_models(const th_layer_model *m, const sample *s, const th_gpu *gpu,
                                regressors *out)
{
    int itself = th_layer_model_device(m, gpu->name);
    out->n = 0;
    add_base_model(m, s, (th_device_view){gpu, itself, false}, out);
    for (int device = 0; device <= m->n_devices; device++) {
        if (device != itself)
            add_base_model(m, s, (th_device_view){gpu, device, false}, out);
        if (device < m->n_devices)
            add_base_model(m, s, (th_device_view){gpu, device, true}, out);
    }
    out->n_base_models = out->n;
    out->has_sum = out->n + TH_N_TERM_CLASSES <= TH_REGRESSORS_MAX;
    if (!out->has_sum)
        return;
    const th_device_rows rows = {s->op, s->n, gpu, itself, out->predictions};
    out->n += th_calibration_sum_split(m, &rows, out->regressor + out->n,
                                       out->predictions + (size_t)out->n * s->n);
}

static int calibrate(const th_layer_model *m, workspace *w, th_calibration *c)
{
    const th_scores *unseen = &m->unseen.scores;
    double share[N_METHODS], *some_predictions = w->some.predictions;
    fitted f;
    predict_base_models(m, &w->all_rows, &c->gpu, &w->all);
    w->some = w->all;
    w->some.predictions = some_predictions;
    if (predict_folds(w))
        return -1;
    double error = stacking_weights(&w->all_rows, w->ln_ms, share);
    if (fit(&w->all, &w->all_rows, w->weight, &f))
        return -1;
    keep_methods(&w->all, &f, share, c);
    c->gain = unseen->n > 0 && unseen->chosen > 0 ? OPTIMISM * error / unseen->chosen : 1;
    return 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

static size_t rows_of(const th_layer_model *m, const th_measurements *rows, int32_t device,
                      sample *out)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const th_measurement *r = &rows->row[i];
        if (r->device != device || !th_layer_model_is_of(m, &r->op, r->phase))
            continue;
        if (out) {
            out->op[n] = r->op;
            out->ms[n] = th_measured_even_ms(rows, r);
            out->unit = n == 0 ? out->ms[n] : fmin(out->unit, out->ms[n]);
        }
        n++;
    }
    return n;
}

static int calibrate_device(const th_layer_model *m, const th_measurements *rows, int32_t device,
                            th_calibration *out)
{
    size_t n = rows_of(m, rows, device, NULL),
           n_regressors = 2 * (size_t)m->n_devices + 1 + TH_N_TERM_CLASSES;
    th_op *op = th_alloc_array(n, sizeof *op);
    th_regressor *regressor = th_alloc_array(n_regressors, sizeof *regressor);
    double *memory = th_alloc_array((2 * n_regressors + N_METHODS + 3) * n, sizeof *memory);
    int failed = op && regressor && memory ? 0 : -1;
    *out = (th_calibration){.gpu = rows->device[device], .n_rows = n};
    if (!failed) {
        double *row = memory + 2 * n_regressors * n;
        workspace w = {
            .all_rows = {.op = op, .ms = row, .n = n},
            .rest = {.ms = row + n},
            .all = {.regressor = regressor, .predictions = memory},
            .some = {.predictions = memory + n_regressors * n},
            .weight = row + 2 * n,
            .ln_ms = row + 3 * n,
        };
        rows_of(m, rows, device, &w.all_rows);
        failed = calibrate(m, &w, out);
    }
    th_free(regressor);
    th_free(op);
    th_free(memory);
    return failed;
}

/* Replaces the calibration of the same name; all[] has a free place. */
static void keep(th_calibration *all, int *n, const th_calibration *c)
{
    int i = 0;
    while (i < *n && strcmp(all[i].gpu.name, c->gpu.name) != 0)
        i++;
    all[i] = *c;
    *n += i == *n;
}

int th_layer_model_calibrate(th_layer_model *m, const th_measurements *rows, th_error *err)
{
    size_t most = (size_t)m->n_calibrations + (size_t)rows->n_devices;
    th_calibration *all = th_alloc_array(most + 1, sizeof *all);
    int n = m->n_calibrations, failed = all ? 0 : th_error_no_memory(err), added = 0;
    if (!failed && n > 0)
        memcpy(all, m->calibration, (size_t)n * sizeof *all);
    for (int32_t d = 0; !failed && d < rows->n_devices; d++) {
        size_t there = rows_of(m, rows, d, NULL);
        th_calibration c;
        if (there == 0)
            continue;
        if (there < TH_CALIBRATION_ROWS_MIN)
            failed = th_error_set(err, "PRED-0090",
                                  "calibration, %s, %s on %s: must have %d rows or more, has %zu",
                                  th_layer_model_name(m), th_phase_name(m->phase),
                                  rows->device[d].name, TH_CALIBRATION_ROWS_MIN, there);
        else if (calibrate_device(m, rows, d, &c))
            failed = th_error_no_memory(err);
        if (!failed) {
            keep(all, &n, &c);
            added++;
        }
    }
    if (failed) {
        th_free(all);
        return -1;
    }
    th_free(m->calibration);
    m->calibration = all;
    m->n_calibrations = n;
    return added;
}
