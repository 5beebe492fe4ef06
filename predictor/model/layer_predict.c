/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_predict.c - the predictions of a layer model, and their uncertainty.
 * A calibrated GPU has its calibration; a seen device the ensemble of seen devices; any other GPU
 * the ensemble of unseen devices, corrected by the nearest device. */
#include <config.h>

#include "predictor/model/layer_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "predictor/model/calibration.h"
#include "predictor/model/nearest_device.h"

/* --- prediction ------------------------------------------------------------------------------- */

enum { BLOCK = TH_ENSEMBLE_ROWS_MAX };

/* Longer than any time, and products of it are still numbers. */
static const double LN_MS_MAX = 300;

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
        th_learner_run(&th_learner_law, NULL, &s, ms);
    else
        th_ensemble_predict(ensemble, &s, ms);
    for (size_t i = 0; i < n; i++)
        ms[i] = exp(fmin(ms[i], LN_MS_MAX));
}

/* Whatever the data sheet allows. */
static void predict_any(const th_layer_model *m, const th_op *op, size_t n, th_device_view v,
                        double *ms)
{
    for (size_t from = 0; from < n; from += BLOCK)
        predict_block(m, op + from, n - from < BLOCK ? n - from : BLOCK, v, ms + from);
    /* Residuals of tiles and waves belong to a number of multiprocessors: not to the next GPU. */
    if (v.device == m->n_devices && !v.is_law && !m->is_narrow)
        th_nearest_device_adjust(m, op, n, v.gpu, ms);
}

void th_layer_model_predict_as(const th_layer_model *m, const th_op *op, size_t n, th_device_view v,
                               double *ms)
{
    predict_any(m, op, n, v, ms);
    for (size_t i = 0; i < n; i++)
        ms[i] = fmax(ms[i], th_law_least_ms(&op[i], m->phase, v.gpu));
}

/* Of the GPU, by its name; NULL: it was not calibrated. */
static const th_calibration *calibration_of(const th_layer_model *m, const th_gpu *gpu)
{
    for (int i = 0; i < m->n_calibrations; i++)
        if (strcmp(m->calibration[i].gpu.name, gpu->name) == 0)
            return &m->calibration[i];
    return NULL;
}

bool th_layer_model_has_measured(const th_layer_model *m, const th_gpu *gpu)
{
    return th_layer_model_has_seen(m, gpu) || calibration_of(m, gpu);
}

/* What is known of a GPU. */
typedef struct {
    const th_gpu *gpu;
    const th_calibration *calibration; /* NULL: it was not calibrated */
    int device;                        /* of those seen in training; n_devices: none of them */
} known;

static known known_of(const th_layer_model *m, const th_gpu *gpu)
{
    const th_calibration *c = calibration_of(m, gpu);
    return (known){gpu, c, c ? m->n_devices : th_layer_model_device(m, gpu->name)};
}

/* ms, which is at least that much. */
static double predict(const th_layer_model *m, const th_op *op, const known *k, double least)
{
    double ms;
    if (k->calibration)
        ms = th_calibration_run(m, k->calibration, op);
    else
        predict_any(m, op, 1, (th_device_view){k->gpu, k->device, false}, &ms);
    return fmax(ms, least);
}

double th_layer_model_predict(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    known k = known_of(m, gpu);
    return predict(m, op, &k, th_law_least_ms(op, m->phase, gpu));
}

/* --- what lies outside the training data ------------------------------------------------------ */

/* The least and the most of a number of the devices of training but one (n_devices: of all). */
static void device_range(const th_layer_model *m, int number, int but, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int d = 0; d < m->n_devices; d++) {
        if (d == but)
            continue;
        *least = fmin(*least, m->device[d].x[number]);
        *most = fmax(*most, m->device[d].x[number]);
    }
}

static bool gpu_is_outside(const th_layer_model *m, const th_gpu *gpu, char *text, size_t size)
{
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++) {
        double least, most;
        device_range(m, i, m->n_devices, &least, &most);
        if (gpu->x[i] >= least && gpu->x[i] <= most)
            continue;
        if (size > 0)
            th_print(text, size, "%s %g of %.40s: training had %g to %g",
                     th_gpu_number_column((th_gpu_number)i), gpu->x[i], gpu->name, least, most);
        return true;
    }
    return false;
}

/* Precisions of one width run the same kernels: bf16 is where fp16 is. */
static bool field_is_outside(const th_layer_model *m, const th_op *op, th_op_field f)
{
    if (op->x[f] >= m->field_min[f] && op->x[f] <= m->field_max[f])
        return false;
    if (f != TH_OP_PRECISION)
        return true;
    double bytes = th_op_precision_bytes((th_op_precision)op->x[f]);
    return bytes != th_op_precision_bytes((th_op_precision)m->field_min[f]) &&
           bytes != th_op_precision_bytes((th_op_precision)m->field_max[f]);
}

/* TH_N_OP_FIELDS: all lie inside. */
static th_op_field first_outside(const th_layer_model *m, const th_op *op)
{
    uint64_t there = th_op_fields(op->kind);
    while (there) {
        th_op_field f = th_op_take_field(&there);
        if (field_is_outside(m, op, f))
            return f;
    }
    return TH_N_OP_FIELDS;
}

/* "bf16", "4096" */
static void write_value(th_op_field f, int32_t value, char text[24])
{
    const char *word = th_op_word(f, value);
    if (word)
        snprintf(text, 24, "%s", word);
    else
        snprintf(text, 24, "%d", value);
}

static void write_field(const th_layer_model *m, const th_op *op, th_op_field f, char *text,
                        size_t size)
{
    char value[24], least[24], most[24];
    write_value(f, op->x[f], value);
    write_value(f, m->field_min[f], least);
    write_value(f, m->field_max[f], most);
    if (m->field_min[f] == m->field_max[f])
        snprintf(text, size, "%s %s: training had only %s", th_op_field_name(f), value, least);
    else
        snprintf(text, size, "%s %s: training had %s to %s", th_op_field_name(f), value, least,
                 most);
}

bool th_layer_model_is_outside(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                               char *text, size_t size)
{
    th_op_field f = first_outside(m, op);
    if (f != TH_N_OP_FIELDS && size > 0)
        write_field(m, op, f, text, size);
    if (f != TH_N_OP_FIELDS)
        return true;
    return !th_layer_model_has_measured(m, gpu) && gpu_is_outside(m, gpu, text, size);
}

const char *th_origin_name(th_origin o)
{
    static const char *const names[TH_N_ORIGINS] = {"measured device", "device by its data sheet",
                                                    "outside the measured range"};
    return names[o];
}

static th_origin origin_of(bool is_outside, bool is_measured)
{
    return is_outside ? TH_FROM_OUTSIDE : is_measured ? TH_FROM_MEASURED : TH_FROM_SHEET;
}

th_origin th_layer_model_origin(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    return origin_of(m && th_layer_model_is_outside(m, op, gpu, NULL, 0),
                     m && th_layer_model_has_measured(m, gpu));
}

/* --- uncertainty ------------------------------------------------------------------------------ */

/* How far x lies outside, in logarithms. */
static double beyond(double x, double least, double most)
{
    if (x >= least && x <= most)
        return 0;
    double low = fmax(least, 1), high = fmax(most, 1);
    return fmax(0, fmax(log(low / fmax(x, 1)), log(fmax(x, 1) / high)));
}

static double op_beyond(const th_layer_model *m, const th_op *op)
{
    double sum = 0;
    uint64_t there = th_op_fields(op->kind);
    while (there) {
        th_op_field f = th_op_take_field(&there);
        if (!th_op_word(f, 0))
            sum += beyond(op->x[f], m->field_min[f], m->field_max[f]);
    }
    return sum;
}

/* Of the devices of training but one (n_devices: of all). */
static double beyond_others(const th_layer_model *m, const th_gpu *gpu, int but)
{
    double sum = 0;
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++) {
        double least, most;
        device_range(m, i, but, &least, &most);
        sum += beyond(gpu->x[i], least, most);
    }
    return sum;
}

/* Further than any device of training lay outside of the others when it was left out: up to there
 * the residuals have the distance in them. So have those of a device alone (layer_train.c). */
static double gpu_beyond(const th_layer_model *m, const th_gpu *gpu)
{
    double furthest = 0, here = m->n_devices > 1 ? beyond_others(m, gpu, m->n_devices) : 0;
    for (int d = 0; here > 0 && d < m->n_devices; d++)
        furthest = fmax(furthest, beyond_others(m, &m->device[d], d));
    return fmax(0, here - furthest);
}

static const th_residual_quantiles *of_seen(const th_layer_model *m, const th_op *op)
{
    bool is_other = m->families.n > 0 && th_families_find(&m->families, th_family_of(op)) < 0;
    return is_other ? &m->other_families : &m->seen.quantiles;
}

/* At most twice as wide in logarithms as inside the training data, and not below what the data
 * sheet allows. */
th_estimate th_layer_model_estimate(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    static const double WIDEST = 2;
    known k = known_of(m, gpu);
    bool is_seen = k.device < m->n_devices, is_measured = is_seen || k.calibration;
    bool op_is_outside = first_outside(m, op) != TH_N_OP_FIELDS;
    double least = th_law_least_ms(op, m->phase, gpu), low, high, ms = predict(m, op, &k, least),
           wider = 1;
    if (op_is_outside)
        wider += op_beyond(m, op);
    if (!is_measured)
        wider += gpu_beyond(m, gpu);
    th_residual_quantiles_at(is_seen ? of_seen(m, op) : &m->unseen.quantiles, log(ms), &low, &high);
    wider = fmin(wider, WIDEST) * (k.calibration ? k.calibration->gain : 1);
    return (th_estimate){
        ms, fmax(ms * exp(low * wider), least), ms * exp(high * wider),
        origin_of(op_is_outside || (!is_measured && gpu_is_outside(m, gpu, NULL, 0)), is_measured)};
}

th_estimate th_layer_model_estimate_row(const th_layer_model *m, const th_measurements *all,
                                        const th_measurement *row)
{
    const th_gpu *gpu = &all->device[row->device];
    th_estimate e = th_layer_model_estimate(m, &row->op, gpu);
    double by = row->n_members == 0
                    ? 1
                    : th_law_unequal(&row->op, all->member + row->first_member, row->phase, gpu);
    return (th_estimate){e.ms * by, e.low_ms * by, e.high_ms * by, e.origin};
}
