/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor.c - one model per kind, phase and width.
 *   train: the kinds and phases that have rows -> th_layer_models_train
 *   evaluate: { errors of a device -> sort -> moments } -> mean of the devices */
#include <config.h>

#include "predictor/model/predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "predictor/model/calibration.h"

static bool has_rows(const th_measurements *m, const size_t *rows, size_t n,
                     const th_layer_model *model)
{
    for (size_t i = 0; i < n; i++)
        if (th_layer_model_is_of(model, &m->row[rows[i]].op, m->row[rows[i]].phase))
            return true;
    return false;
}

static uint64_t digest_of(const th_measurements *m, const size_t *rows, size_t n)
{
    uint64_t h = m->digest;
    for (size_t i = 0; i < n; i++)
        h = th_hash_word(h, rows[i]);
    return h;
}

/* A model for every kind, phase and width that has rows. */
static int add_models(th_predictor *p, const th_measurements *m, const size_t *rows, size_t n,
                      th_error *err)
{
    enum { WIDTHS = 2 };
    size_t capacity = 0;
    for (int i = 0; i < TH_N_OP_KINDS * TH_N_PHASES * WIDTHS; i++) {
        th_layer_model of = {.kind = (th_op_kind)(i / WIDTHS / TH_N_PHASES),
                             .phase = (th_phase)(i / WIDTHS % TH_N_PHASES),
                             .is_narrow = i % WIDTHS == 1};
        if (!has_rows(m, rows, n, &of))
            continue;
        if (th_grow(&p->model, &capacity, (size_t)p->n_models + 1, sizeof *p->model))
            return th_error_no_memory(err);
        p->model[p->n_models++] = of;
    }
    return p->n_models > 0
               ? 0
               : th_error_set(err, "PRED-0070", "measurements: must have rows to train on");
}

th_predictor *th_predictor_train(const th_measurements *m, const size_t *rows, size_t n,
                                 const th_train_options *o, th_error *err)
{
    th_predictor *p = th_alloc_zero(1, sizeof *p);
    if (!p) {
        th_error_no_memory(err);
        return NULL;
    }
    p->n_rows = n;
    p->digest = digest_of(m, rows, n);
    if (add_models(p, m, rows, n, err) == 0 &&
        th_layer_models_train(p->model, p->n_models, &(th_measured_rows){m, rows, n}, o, err) == 0)
        return p;
    th_predictor_free(p);
    return NULL;
}

int th_predictor_calibrate(th_predictor *p, const th_measurements *rows, th_error *err)
{
    int all = 0;
    for (int i = 0; i < p->n_models; i++) {
        int n = th_layer_model_calibrate(&p->model[i], rows, err);
        if (n < 0)
            return -1;
        all += n;
    }
    return all > 0
               ? 0
               : th_error_set(err, "PRED-0091",
                              "calibration: must have rows of a kind and phase of the predictor");
}

void th_predictor_free(th_predictor *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->n_models; i++)
        th_layer_model_clear(&p->model[i]);
    th_free(p->model);
    th_free(p);
}

const th_layer_model *th_predictor_find_op(const th_predictor *p, const th_op *op, th_phase phase)
{
    for (int i = 0; i < p->n_models; i++)
        if (th_layer_model_is_of(&p->model[i], op, phase))
            return &p->model[i];
    return NULL;
}

const th_layer_model *th_predictor_find(const th_predictor *p, th_op_kind kind, th_phase phase)
{
    return th_predictor_find_op(p, &(th_op){.kind = kind}, phase);
}

const th_gpu *th_predictor_gpu(const th_predictor *p, const char *name)
{
    for (int i = 0; i < p->n_models; i++)
        for (int d = 0; d < p->model[i].n_devices; d++)
            if (strcmp(p->model[i].device[d].name, name) == 0)
                return &p->model[i].device[d];
    for (int i = 0; i < p->n_models; i++)
        for (int c = 0; c < p->model[i].n_calibrations; c++)
            if (strcmp(p->model[i].calibration[c].gpu.name, name) == 0)
                return &p->model[i].calibration[c].gpu;
    return NULL;
}

/* --- accuracy --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct {
    const th_layer_model *model;
    const th_measurements *m;
    const size_t *rows;
    size_t n;
    double *error; /* scratch, n */
} judge;

static th_accuracy accuracy_of(const judge *j, int32_t device)
{
    th_accuracy a = {.device = device,
                     .kind = j->model->kind,
                     .phase = j->model->phase,
                     .is_narrow = j->model->is_narrow};
    double sum = 0, squares = 0, ms_sum = 0, ms_squares = 0, inside = 0;
    for (size_t i = 0; i < j->n; i++) {
        const th_measurement *r = &j->m->row[j->rows[i]];
        if (r->device != device || !th_layer_model_is_of(j->model, &r->op, r->phase))
            continue;
        th_estimate e = th_layer_model_estimate_row(j->model, j->m, r);
        double ms = e.ms;
        inside += e.low_ms <= r->ms && r->ms <= e.high_ms;
        j->error[a.n++] = fabs(ms / r->ms - 1);
        sum += j->error[a.n - 1];
        squares += (ms - r->ms) * (ms - r->ms);
        ms_sum += r->ms;
        ms_squares += r->ms * r->ms;
    }
    if (a.n == 0)
        return a;
    double n = (double)a.n, sum_of_squares = ms_squares - ms_sum * ms_sum / n;
    bool is_spread = sum_of_squares > 1e-9 * ms_squares; /* less is rounding of that difference */
    qsort(j->error, a.n, sizeof *j->error, compare);
    a.mape = sum / n;
    a.inside = inside / n;
    a.median = th_quantile(j->error, 1, a.n, 0.5);
    a.p95 = th_quantile(j->error, 1, a.n, 0.95);
    a.rmse_ms = sqrt(squares / n);
    a.r2 = is_spread ? 1 - squares / sum_of_squares : NAN;
    return a;
}

/* The mean over devices, as papers give it. */
static th_accuracy mean_of(const th_accuracy *a, int n)
{
    th_accuracy all = {.device = -1, .kind = a->kind, .phase = a->phase, .is_narrow = a->is_narrow};
    for (int i = 0; i < n; i++) {
        all.n += a[i].n;
        all.mape += a[i].mape / n;
        all.median += a[i].median / n;
        all.p95 += a[i].p95 / n;
        all.rmse_ms += a[i].rmse_ms / n;
        all.r2 += a[i].r2 / n;
        all.inside += a[i].inside / n;
    }
    return all;
}

int th_predictor_evaluate(const th_predictor *p, const th_measurements *m, const size_t *rows,
                          size_t n, th_accuracy **out, th_error *err)
{
    size_t lines_max = (size_t)p->n_models * ((size_t)m->n_devices + 1);
    double *error = th_alloc_array(n + 1, sizeof *error);
    *out = th_alloc_array(lines_max + 1, sizeof **out);
    int lines = 0;
    for (int i = 0; error && *out && i < p->n_models; i++) {
        judge j = {&p->model[i], m, rows, n, error};
        int first = lines;
        for (int32_t d = 0; d < m->n_devices; d++) {
            (*out)[lines] = accuracy_of(&j, d);
            lines += (*out)[lines].n > 0;
        }
        if (lines > first) {
            (*out)[lines] = mean_of(*out + first, lines - first);
            lines++;
        }
    }
    bool has_memory = error && *out;
    th_free(error);
    if (has_memory)
        return lines;
    th_free(*out);
    *out = NULL;
    return th_error_no_memory(err);
}
