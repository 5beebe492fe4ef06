/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.c - calibration of a device by a few measured rows.
 *   calibrate: { rows of a device -> predictions of the candidate models -> leave-one-out
 *              predictions of four methods -> stacking weights -> fit to all rows }
 *   fit: { scale a candidate model } -> select; sum (calibration_sum.c)
 * scale: host cost and scale of a candidate by least squares on the relative error, reweighted
 * towards absolute deviations, with a ridge towards 0 and 1, so that twenty rows do not override
 * thousands. select: greedy ensemble selection with replacement (learners/ensemble.c). The four
 * methods are the uncalibrated model, the same scaled, the selected base models, and the sum; their
 * stacking weights follow from the leave-one-out errors, and no method gets all the weight, so that
 * misleading rows change little. */
#include <config.h>

#include "predictor/model/calibration.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/model/calibration_sum.h"

enum { PASSES = 5, SELECTED = 8, FOLDS_MAX = 40 };
static const double RIDGE_HOST = 1, RIDGE_SCALE = 0.3, DEVIATION_MIN = 0.02;
static const double SCALE_LEAST = 0.2; /* the least part of a prediction that remains */
static const double OPTIMISM = 1.1;    /* error on other rows / where it was least, about */
static const double SHARPNESS = 8, ERROR_MIN = 0.03; /* of errors below all count about alike */

static double scaled(const th_base_model *v, double ms)
{
    return fmax(v->host_ms + v->scale * ms, SCALE_LEAST * ms);
}

/* The prediction cache of a block of rows: each base model predicts once. */
enum { BLOCK = 64, CACHE_MAX = TH_ADDENDS_MAX + TH_BASE_MODELS_MAX + 1 };

typedef struct {
    const th_layer_model *m;
    const th_gpu *gpu;
    const th_op *op;
    size_t size;
    int n, device[CACHE_MAX];
    bool is_law[CACHE_MAX];
    double predictions[CACHE_MAX][BLOCK];
} prediction_cache;

static const double *prediction_of(prediction_cache *h, int device, bool is_law)
{
    int i = 0;
    while (i < h->n && (h->device[i] != device || h->is_law[i] != is_law))
        i++;
    if (i == h->n) {
        h->device[i] = device;
        h->is_law[i] = is_law;
        th_layer_model_predict_as(h->m, h->op, h->size, (th_device_view){h->gpu, device, is_law},
                                  h->predictions[i]);
        h->n++;
    }
    return h->predictions[i];
}

static void add_sum(prediction_cache *h, const th_calibration_sum *s, double *ln_ms)
{
    int itself = th_layer_model_device(h->m, h->gpu->name);
    double ms[BLOCK];
    for (size_t r = 0; r < h->size; r++)
        ms[r] = s->host_ms + prediction_of(h, itself, false)[r] *
                                 th_sum_by_parts(h->m, s, &h->op[r], h->gpu, itself);
    for (int k = 0; k < s->n; k++) {
        const th_addend *a = &s->addend[k];
        const double *predictions = a->part < 0 ? prediction_of(h, a->device, a->is_law) : NULL;
        for (size_t r = 0; predictions && r < h->size; r++)
            ms[r] += a->weight * predictions[r];
    }
    for (size_t r = 0; r < h->size; r++)
        ln_ms[r] += s->share * log(fmax(ms[r], TH_SUM_LEAST_MS));
}

void th_calibration_run(const th_layer_model *m, const th_calibration *c, const th_op *op, size_t n,
                        double *ms)
{
    for (size_t from = 0; from < n; from += BLOCK) {
        prediction_cache h;
        h.m = m, h.gpu = &c->gpu, h.op = op + from, h.n = 0;
        h.size = n - from < BLOCK ? n - from : BLOCK;
        double ln_ms[BLOCK] = {0};
        for (int i = 0; i < c->n_base_models; i++) {
            const th_base_model *v = &c->model[i];
            const double *predictions = prediction_of(&h, v->device, v->is_law);
            for (size_t r = 0; r < h.size; r++)
                ln_ms[r] += v->share * log(scaled(v, predictions[r]));
        }
        if (c->sum.share > 0)
            add_sum(&h, &c->sum, ln_ms);
        for (size_t r = 0; r < h.size; r++)
            ms[from + r] = exp(ln_ms[r]);
    }
}

/* --- scaling -----------------------------------------------------------------------------------
 */

/* Rows of one device. */
typedef struct {
    th_op *op;
    double *ms;
    size_t n;
    double unit; /* the least time, ms: in which a host's cost is counted */
} sample;

/* Solves the two normal equations of host / unit and scale. */
static void scale_once(th_base_model *v, const sample *s, const double *predictions,
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
    v->host_ms = s->unit * (h * ss - k * hs) / determinant;
    v->scale = (k * hh - h * hs) / determinant;
}

static void scale(th_base_model *v, const sample *s, const double *predictions, double *weight)
{
    *v = (th_base_model){.device = v->device, .is_law = v->is_law};
    for (size_t i = 0; i < s->n; i++)
        weight[i] = 1;
    for (int pass = 0; pass < PASSES; pass++) {
        double sum = 0;
        scale_once(v, s, predictions, weight);
        for (size_t i = 0; i < s->n; i++) {
            weight[i] = 1 / fmax(fabs(scaled(v, predictions[i]) / s->ms[i] - 1), DEVIATION_MIN);
            sum += weight[i];
        }
        for (size_t i = 0; i < s->n; i++) /* so that ridges keep their strength */
            weight[i] *= (double)s->n / sum;
    }
}

/* --- fit ------------------------------------------------------------------------------------ */

/* The candidate base models and their predictions for the rows of a sample. The first is the
 * uncalibrated model. The parts of its prediction follow, which only the sum uses. */
typedef struct {
    th_base_model *model;
    th_addend *addend;
    double *predictions; /* by model or part, and row, not scaled */
    int n, n_addends;    /* models; with the parts, or 0: too many for a sum */
} candidates;

/* The selected base models, whose shares add up to 1; and the sum of all candidates. */
typedef struct {
    th_base_model model[SELECTED];
    int of[SELECTED]; /* of the candidates */
    int n;
    th_calibration_sum sum;
} fitted;

static double error_with(const sample *s, const double *sum, const double *ln_predicted, int n)
{
    double error = 0;
    for (size_t i = 0; i < s->n; i++)
        error += fabs(exp((sum[i] + ln_predicted[i]) / (n + 1)) / s->ms[i] - 1);
    return error / (double)s->n;
}

/* Selects among n candidates, ln_ms by candidate and row: how often each, into count[n]; sum[] is
 * scratch. Returns the error of the ensemble. */
static double select_candidates(const sample *s, const double *ln_predicted, int n, double *sum,
                                int *count)
{
    double least = INFINITY;
    memset(count, 0, (size_t)n * sizeof *count);
    for (size_t i = 0; i < s->n; i++)
        sum[i] = 0;
    for (int n_added = 0; n_added < SELECTED; n_added++) {
        int best = 0;
        least = INFINITY;
        for (int v = 0; v < n; v++) {
            double error = error_with(s, sum, ln_predicted + (size_t)v * s->n, n_added);
            if (error < least) {
                least = error;
                best = v;
            }
        }
        for (size_t i = 0; i < s->n; i++)
            sum[i] += ln_predicted[(size_t)best * s->n + i];
        count[best]++;
    }
    return least;
}

typedef struct {
    double *ln_predicted, *row; /* by model and row; by row, twice */
    int *count;                 /* by model */
} scratch;

/* Scales all candidates to the sample, selects among them, and fits the sum. */
static int fit(const candidates *c, const sample *s, const scratch *w, fitted *out)
{
    for (int v = 0; v < c->n; v++) {
        const double *predictions = c->predictions + (size_t)v * s->n;
        scale(&c->model[v], s, predictions, w->row);
        for (size_t i = 0; i < s->n; i++)
            w->ln_predicted[(size_t)v * s->n + i] = log(scaled(&c->model[v], predictions[i]));
    }
    select_candidates(s, w->ln_predicted, c->n, w->row, w->count);
    out->n = 0;
    for (int v = 0; v < c->n; v++)
        if (w->count[v] > 0) {
            out->of[out->n] = v;
            out->model[out->n] = c->model[v];
            out->model[out->n++].share = (double)w->count[v] / SELECTED;
        }
    const th_addends all = {c->predictions, c->addend, c->n_addends, c->n};
    out->sum = (th_calibration_sum){.n = 0};
    return c->n_addends > 0 ? th_sum_fit(&all, s->ms, s->n, &out->sum) : 0;
}

/* ln(ms) of the selected base models for row i of n_rows. */
static double predicted(const fitted *a, const candidates *c, size_t n_rows, size_t i)
{
    double ln_ms = 0;
    for (int v = 0; v < a->n; v++)
        ln_ms += a->model[v].share *
                 log(scaled(&a->model[v], c->predictions[(size_t)a->of[v] * n_rows + i]));
    return ln_ms;
}

/* --- stacking ------------------------------------------------------------------------------------
 */

enum { UNCALIBRATED, SCALED, SELECTION, SUM, N_METHODS };

/* The candidates and the sample without the rows of a fold. */
static void leave_out(const candidates *c, const sample *s, size_t fold, size_t folds,
                      candidates *some, sample *rest)
{
    rest->n = 0;
    rest->unit = INFINITY;
    for (size_t i = 0; i < s->n; i++)
        if (i % folds != fold) {
            rest->unit = fmin(rest->unit, s->ms[i]);
            rest->ms[rest->n++] = s->ms[i];
        }
    for (int v = 0; v < c->n || v < c->n_addends; v++)
        for (size_t i = 0, to = 0; i < s->n; i++)
            if (i % folds != fold)
                some->predictions[(size_t)v * rest->n + to++] =
                    c->predictions[(size_t)v * s->n + i];
}

/* ln_ms[N_METHODS][n]: the out-of-fold predictions. */
static int predict_folds(const candidates *c, const sample *s, candidates *some, sample *rest,
                         const scratch *w, double *ln_ms)
{
    size_t n = s->n, folds = n < FOLDS_MAX ? n : FOLDS_MAX;
    for (size_t fold = 0; fold < folds; fold++) {
        fitted a;
        leave_out(c, s, fold, folds, some, rest);
        if (fit(some, rest, w, &a))
            return -1;
        for (size_t i = fold; i < n; i += folds) {
            ln_ms[UNCALIBRATED * n + i] = log(c->predictions[i]);
            ln_ms[SCALED * n + i] = log(scaled(&some->model[0], c->predictions[i]));
            ln_ms[SELECTION * n + i] = predicted(&a, c, n, i);
            ln_ms[SUM * n + i] = c->n_addends > 0 ? log(th_sum_at(&a.sum, c->predictions, n, i))
                                                  : log(c->predictions[i]);
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

static void add_model(th_calibration *c, th_base_model v, double share)
{
    v.share = share;
    if (share > 0)
        c->model[c->n_base_models++] = v;
}

static void keep_models(const candidates *c, const fitted *a, const double *share,
                        th_calibration *out)
{
    th_base_model uncalibrated = c->model[0];
    uncalibrated.host_ms = 0;
    uncalibrated.scale = 1;
    add_model(out, uncalibrated, share[UNCALIBRATED]);
    add_model(out, c->model[0], share[SCALED]);
    for (int v = 0; v < a->n; v++)
        add_model(out, a->model[v], a->model[v].share * share[SELECTION]);
    if (c->n_addends == 0) /* then the sum is the uncalibrated model */
        add_model(out, uncalibrated, share[SUM]);
    else {
        out->sum = (th_calibration_sum){.host_ms = a->sum.host_ms, .share = share[SUM]};
        for (int k = 0; k < a->sum.n; k++)
            if (a->sum.addend[k].weight > 0)
                out->sum.addend[out->sum.n++] = a->sum.addend[k];
    }
}

/* --- a device --------------------------------------------------------------------------------- */

static void predict_candidates(const th_layer_model *m, const sample *s, const th_gpu *gpu,
                               candidates *out)
{
    int itself = th_layer_model_device(m, gpu->name);
    out->n = 0;
    for (int i = -1; i <= m->n_devices; i++)
        for (int is_law = 0; is_law < 2; is_law++) {
            int device = i < 0 ? itself : i;
            bool is_twice = i == itself && !is_law, is_of_any = device == m->n_devices;
            if (is_twice || (is_law && (i < 0 || is_of_any)))
                continue;
            out->model[out->n] = (th_base_model){.device = device, .is_law = is_law};
            th_layer_model_predict_as(m, s->op, s->n, (th_device_view){gpu, device, is_law},
                                      out->predictions + (size_t)out->n * s->n);
            out->addend[out->n] = (th_addend){.device = device, .is_law = is_law, .part = -1};
            out->n++;
        }
    out->n_addends = 0;
    if (out->n + TH_N_TERM_CLASSES <= TH_ADDENDS_MAX)
        out->n_addends =
            out->n + th_sum_parts(m,
                                  &(th_device_rows){.op = s->op,
                                                    .n = s->n,
                                                    .gpu = gpu,
                                                    .device = itself,
                                                    .predictions = out->predictions},
                                  out->addend + out->n, out->predictions + (size_t)out->n * s->n);
}

/* Memory of a calibration: [models and parts][n], [models][n], [N_METHODS][n], [n]. */
typedef struct {
    sample all_rows, rest;
    candidates all, some; /* of all rows; of the rest */
    scratch scratch;
    double *unseen; /* out-of-fold predictions */
} workspace;

static int calibrate(const th_layer_model *m, workspace *work, th_calibration *c)
{
    const sample *s = &work->all_rows;
    candidates *all = &work->all, *some = &work->some;
    const th_scores *others = &m->other.scores;
    double share[N_METHODS];
    fitted a;
    predict_candidates(m, s, &c->gpu, all);
    memcpy(some->model, all->model, (size_t)all->n * sizeof *all->model);
    some->n = all->n;
    some->n_addends = all->n_addends;
    if (predict_folds(all, s, some, &work->rest, &work->scratch, work->unseen))
        return -1;
    double error = stacking_weights(s, work->unseen, share);
    if (fit(all, s, &work->scratch, &a))
        return -1;
    keep_models(all, &a, share, c);
    c->gain = others->n > 0 && others->chosen > 0 ? OPTIMISM * error / others->chosen : 1;
    return 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

static size_t rows_of(const th_layer_model *m, const th_measurements *rows, int32_t device,
                      sample *out)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        const th_measurement *r = &rows->row[i];
        if (r->device != device || r->op.kind != m->kind || r->phase != m->phase)
            continue;
        if (out) {
            out->op[n] = r->op;
            out->ms[n] = r->ms;
            out->unit = n == 0 ? r->ms : fmin(out->unit, r->ms);
        }
        n++;
    }
    return n;
}

static int calibrate_device(const th_layer_model *m, const th_measurements *rows, int32_t device,
                            th_calibration *out)
{
    size_t n = rows_of(m, rows, device, NULL), models = 2 * (size_t)m->n_devices + 1,
           addends = models + TH_N_TERM_CLASSES;
    sample s = {.n = n};
    s.op = th_alloc_array(n, sizeof *s.op);
    th_base_model *model = th_alloc_zero(2 * models, sizeof *model);
    int *count = th_alloc_array(models, sizeof *count);
    th_addend *addend = th_alloc_array(addends, sizeof *addend);
    double *memory = th_alloc_array((2 * addends + models + N_METHODS + 4) * n, sizeof *memory);
    int failed = s.op && model && count && addend && memory ? 0 : -1;
    *out = (th_calibration){.gpu = rows->device[device], .n_rows = n};
    if (!failed) {
        double *row = memory + (2 * addends + models) * n;
        s.ms = row + 2 * n;
        rows_of(m, rows, device, &s);
        workspace work = {
            .all_rows = s,
            .rest = {.ms = row + 3 * n},
            .all = {.model = model, .addend = addend, .predictions = memory},
            .some = {.model = model + models,
                     .addend = addend,
                     .predictions = memory + addends * n},
            .scratch = {.ln_predicted = memory + 2 * addends * n, .row = row, .count = count},
            .unseen = row + 4 * n,
        };
        failed = calibrate(m, &work, out);
    }
    th_free(addend);
    th_free(s.op);
    th_free(model);
    th_free(count);
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
                                  th_op_kind_name(m->kind), th_phase_name(m->phase),
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
