/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_model.c - use of the model of one kind of operation; it is trained in layer_train.c.
 * Invariant: weights of device i lie at weight + i n_terms, those of any device behind the last. */
#include <config.h>

#include "predictor/model/layer_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/model/calibration.h"
#include "predictor/model/nearest_device.h"

/* How many terms and features there are follows from any operation. */
void th_layer_model_count(th_layer_model *m)
{
    static const double ones[TH_TERMS_MAX] = {1};
    th_op op = {.kind = m->kind};
    th_gpu gpu = {.name = ""};
    th_terms terms;
    float x[TH_FEATURES_MAX];
    for (int i = 0; i < TH_N_OP_FIELDS; i++)
        op.x[i] = 1;
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        gpu.x[i] = 1;
    th_law_terms(&op, m->phase, &gpu, NULL, &terms);
    m->n_terms = terms.n;
    m->n_features = th_features_fill(&op, &gpu, &terms, ones, 1, x);
}

void th_layer_model_clear(th_layer_model *m)
{
    th_free(m->device);
    th_free(m->weight);
    th_free(m->calibration);
    th_ensemble_clear(&m->seen.ensemble);
    th_ensemble_clear(&m->unseen.ensemble);
    *m = (th_layer_model){.n_terms = 0};
}

int th_layer_model_device(const th_layer_model *m, const char *name)
{
    for (int i = 0; i < m->n_devices; i++)
        if (strcmp(m->device[i].name, name) == 0)
            return i;
    return m->n_devices;
}

bool th_layer_model_has_seen(const th_layer_model *m, const th_gpu *gpu)
{
    return th_layer_model_device(m, gpu->name) < m->n_devices;
}

static bool gpu_is_outside(const th_layer_model *m, const th_gpu *gpu, char *text, size_t size)
{
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++) {
        double least = INFINITY, most = 0;
        for (int d = 0; d < m->n_devices; d++) {
            least = fmin(least, m->device[d].x[i]);
            most = fmax(most, m->device[d].x[i]);
        }
        if (gpu->x[i] >= least && gpu->x[i] <= most)
            continue;
        snprintf(text, size, "%s %g of %.40s: training had %g to %g",
                 th_gpu_number_column((th_gpu_number)i), gpu->x[i], gpu->name, least, most);
        return true;
    }
    return false;
}

/* Of the GPU, by its name; NULL: it was not calibrated. */
static const th_calibration *calibration_of(const th_layer_model *m, const th_gpu *gpu)
{
    for (int i = 0; i < m->n_calibrations; i++)
        if (strcmp(m->calibration[i].gpu.name, gpu->name) == 0)
            return &m->calibration[i];
    return NULL;
}

bool th_layer_model_is_outside(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                               char *text, size_t size)
{
    for (int f = 0; f < TH_N_OP_FIELDS; f++) {
        if (!th_op_has(op->kind, (th_op_field)f) ||
            (op->x[f] >= m->field_min[f] && op->x[f] <= m->field_max[f]))
            continue;
        snprintf(text, size, "%s %d: training had %d to %d", th_op_field_name((th_op_field)f),
                 op->x[f], m->field_min[f], m->field_max[f]);
        return true;
    }
    return !th_layer_model_has_seen(m, gpu) && !calibration_of(m, gpu) &&
           gpu_is_outside(m, gpu, text, size);
}

/* --- prediction ------------------------------------------------------------------------------- */

/* A law whose terms are all 0 for an operation says nothing; its logarithm must stay a number. */
static const double LAW_MIN_MS = 1e-9;

double th_layer_model_sample(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                             const double *weight, float *x)
{
    th_terms terms;
    th_law_terms(op, m->phase, gpu, NULL, &terms);
    double law_ms = fmax(th_law_ms(&terms, weight), LAW_MIN_MS);
    if (x)
        th_features_fill(op, gpu, &terms, weight, law_ms, x);
    return law_ms;
}

enum { BLOCK = 64 }; /* rows of a learner at once */

/* ms[n] of at most BLOCK operations. */
static void predict_block(const th_layer_model *m, const th_op *op, size_t n, th_device_view v,
                          double *ms)
{
    const th_ensemble *ensemble = v.device < m->n_devices ? &m->seen.ensemble : &m->unseen.ensemble;
    const double *weight = m->weight + (size_t)v.device * (size_t)m->n_terms;
    bool has_features = !v.is_law && ensemble->uses_features;
    float x[BLOCK * TH_FEATURES_MAX];
    double law_ms[BLOCK];
    for (size_t i = 0; i < n; i++)
        law_ms[i] = th_layer_model_sample(m, &op[i], v.gpu, weight,
                                          has_features ? x + i * (size_t)m->n_features : NULL);
    const th_samples s = {n, law_ms, m->n_features, x};
    if (v.is_law)
        th_learner_law.run(NULL, &s, ms);
    else
        th_ensemble_predict(ensemble, &s, ms);
    for (size_t i = 0; i < n; i++)
        ms[i] = exp(ms[i]);
}

void th_layer_model_predict_as(const th_layer_model *m, const th_op *op, size_t n, th_device_view v,
                               double *ms)
{
    for (size_t from = 0; from < n; from += BLOCK)
        predict_block(m, op + from, n - from < BLOCK ? n - from : BLOCK, v, ms + from);
    if (v.device == m->n_devices && !v.is_law)
        th_nearest_device_adjust(m, op, n, v.gpu, ms);
}

static void predict_few(const th_layer_model *m, const th_op *op, size_t n, const th_gpu *gpu,
                        double *ms)
{
    const th_calibration *c = calibration_of(m, gpu);
    if (c)
        th_calibration_run(m, c, op, n, ms);
    else
        th_layer_model_predict_as(
            m, op, n, (th_device_view){gpu, th_layer_model_device(m, gpu->name), false}, ms);
}

double th_layer_model_predict(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    double ms;
    predict_few(m, op, 1, gpu, &ms);
    return ms;
}

/* --- uncertainty ------------------------------------------------------------------------------ */

/* How far x lies outside, in logarithms. */
static double beyond(double x, double least, double most)
{
    double low = fmax(least, 1), high = fmax(most, 1);
    return fmax(0, fmax(log(low / fmax(x, 1)), log(fmax(x, 1) / high)));
}

static double op_beyond(const th_layer_model *m, const th_op *op)
{
    double sum = 0;
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        if (th_op_has(op->kind, (th_op_field)f))
            sum += beyond(op->x[f], m->field_min[f], m->field_max[f]);
    return sum;
}

static double gpu_beyond(const th_layer_model *m, const th_gpu *gpu)
{
    double sum = 0;
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++) {
        double least = INFINITY, most = 0;
        for (int d = 0; d < m->n_devices; d++) {
            least = fmin(least, m->device[d].x[i]);
            most = fmax(most, m->device[d].x[i]);
        }
        sum += beyond(gpu->x[i], least, most);
    }
    return sum;
}

th_estimate th_layer_model_estimate(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    const th_calibration *c = calibration_of(m, gpu);
    bool is_seen = !c && th_layer_model_has_seen(m, gpu);
    const th_residual_quantiles *quantiles = is_seen ? &m->seen.quantiles : &m->unseen.quantiles;
    double ms = th_layer_model_predict(m, op, gpu), low, high;
    double wider = 1 + op_beyond(m, op) + (is_seen || c ? 0 : gpu_beyond(m, gpu));
    th_residual_quantiles_at(quantiles, log(ms), &low, &high);
    wider *= c ? c->gain : 1;
    return (th_estimate){ms, ms * exp(low * wider), ms * exp(high * wider)};
}
