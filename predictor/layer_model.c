/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_model.c - training and use of the model of one kind of operation.
 *   train: select -> fit_laws: { law of a device } -> common law -> learn (known) -> learn (other)
 * Invariant: weights of device i lie at weight + i n_terms, those of any device behind the last. */
#include <config.h>

#include "predictor/layer_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

const th_train_options th_train_defaults = {
    .known = {.rounds = 300,
              .depth = 8,
              .rate = 0.07,
              .slope = 0.15,
              .least_weight = 10,
              .row_share = 1,
              .column_share = 0.5},
    .other = {.rounds = 150,
              .depth = 6,
              .rate = 0.08,
              .slope = 0.15,
              .least_weight = 40,
              .row_share = 1,
              .column_share = 0.5},
    .seed = 1,
};

typedef struct {
    th_layer_model *model;
    const th_measurements *all;
    const size_t *row; /* of all; those of the kind and phase */
    size_t n;
    double *amount; /* by row and term */
    double *ms;
    int *device; /* by row: of the model */
} trainer;

static const th_measurement *row_of(const trainer *t, size_t i)
{
    return &t->all->row[t->row[i]];
}

static double *weights_of(const th_layer_model *m, int device)
{
    return m->weight + (size_t)device * (size_t)m->n_terms;
}

static int device_of(const th_layer_model *m, const char *name)
{
    for (int i = 0; i < m->n_devices; i++)
        if (strcmp(m->device[i].name, name) == 0)
            return i;
    return m->n_devices;
}

/* --- laws ------------------------------------------------------------------------------------- */

/* Of the rows of one device, or of all. */
static int fit_law(const trainer *t, int device, double *amounts, double *ms)
{
    size_t n = 0, m = (size_t)t->model->n_terms;
    for (size_t i = 0; i < t->n; i++) {
        if (device < t->model->n_devices && t->device[i] != device)
            continue;
        memcpy(amounts + n * m, t->amount + i * m, m * sizeof *amounts);
        ms[n++] = t->ms[i];
    }
    return th_law_fit(amounts, ms, n, t->model->n_terms, weights_of(t->model, device));
}

static int fit_laws(const trainer *t)
{
    size_t m = (size_t)t->model->n_terms;
    double *amounts = th_alloc_array(t->n * m + 1, sizeof *amounts),
           *ms = th_alloc_array(t->n + 1, sizeof *ms);
    int failed = amounts && ms ? 0 : -1;
    for (int d = 0; !failed && d <= t->model->n_devices; d++)
        failed = fit_law(t, d, amounts, ms);
    th_free(amounts);
    th_free(ms);
    return failed;
}

/* --- residuals -------------------------------------------------------------------------------- */

/* Features and targets of all rows; over the laws of their devices, or over the common one. */
static void fill_rows(const trainer *t, bool is_known, float *x, float *y)
{
    const th_layer_model *m = t->model;
    for (size_t i = 0; i < t->n; i++) {
        const th_measurement *row = row_of(t, i);
        const th_gpu *gpu = &m->device[t->device[i]];
        const double *weight = weights_of(m, is_known ? t->device[i] : m->n_devices);
        th_terms terms;
        th_features f = {.n = 0, .name = NULL};
        th_law_terms(&row->op, row->phase, gpu, NULL, &terms);
        double law = th_law_ms(&terms, weight);
        th_features_fill(&row->op, gpu, &terms, weight, law, &f);
        memcpy(x + i * (size_t)m->n_features, f.x, (size_t)f.n * sizeof *x);
        y[i] = (float)log(row->ms / law);
    }
}

static int learn(const trainer *t, bool is_known, const th_boost_options *o, th_residual *out,
                 th_error *err)
{
    size_t width = (size_t)t->model->n_features;
    if (!th_boost_is_there()) /* the law alone */
        return 0;
    float *x = th_alloc_array(t->n * width + 1, sizeof *x),
          *y = th_alloc_array(t->n + 1, sizeof *y);
    int failed = x && y ? 0 : th_error_no_memory(err);
    if (!failed) {
        fill_rows(t, is_known, x, y);
        failed = th_boost_train(x, y, t->n, t->model->n_features, o, &out->trees, err);
        out->tree_share = 1;
    }
    th_free(x);
    th_free(y);
    return failed;
}

/* --- training --------------------------------------------------------------------------------- */

static int add_device(th_layer_model *m, size_t *capacity, const th_gpu *gpu)
{
    int i = device_of(m, gpu->name);
    if (i < m->n_devices)
        return i;
    if (th_grow(&m->device, capacity, (size_t)i + 1, sizeof *m->device))
        return -1;
    m->device[i] = *gpu;
    return m->n_devices++;
}

static void widen_ranges(th_layer_model *m, const th_op *op, bool is_first)
{
    for (int f = 0; f < TH_N_OP_FIELDS; f++) {
        if (is_first || op->x[f] < m->least[f])
            m->least[f] = op->x[f];
        if (is_first || op->x[f] > m->most[f])
            m->most[f] = op->x[f];
    }
}

static int measure_rows(trainer *t)
{
    th_layer_model *m = t->model;
    size_t capacity = 0;
    for (size_t i = 0; i < t->n; i++) {
        const th_measurement *row = row_of(t, i);
        const th_gpu *gpu = &t->all->device[row->device];
        th_terms terms;
        if ((t->device[i] = add_device(m, &capacity, gpu)) < 0)
            return -1;
        widen_ranges(m, &row->op, i == 0);
        th_law_terms(&row->op, row->phase, gpu, NULL, &terms);
        memcpy(t->amount + i * (size_t)m->n_terms, terms.amount,
               (size_t)terms.n * sizeof *t->amount);
        t->ms[i] = row->ms;
    }
    m->weight =
        th_alloc_zero((size_t)(m->n_devices + 1) * (size_t)m->n_terms + 1, sizeof *m->weight);
    return m->weight ? 0 : -1;
}

static int train(trainer *t, const th_train_options *o, th_error *err)
{
    th_layer_model_count(t->model);
    t->amount = th_alloc_array(t->n * (size_t)t->model->n_terms + 1, sizeof *t->amount);
    t->ms = th_alloc_array(t->n + 1, sizeof *t->ms);
    t->device = th_alloc_array(t->n + 1, sizeof *t->device);
    if (!t->amount || !t->ms || !t->device || measure_rows(t) || fit_laws(t))
        return th_error_no_memory(err);
    return learn(t, true, &o->known, &t->model->known, err) ||
                   learn(t, false, &o->other, &t->model->other, err)
               ? -1
               : 0;
}

static size_t select_rows(const th_measurements *m, const size_t *rows, size_t n, th_op_kind kind,
                          th_phase phase, size_t *out)
{
    size_t selected = 0;
    for (size_t i = 0; i < n; i++)
        if (m->row[rows[i]].op.kind == kind && m->row[rows[i]].phase == phase)
            out[selected++] = rows[i];
    return selected;
}

int th_layer_model_train(th_layer_model *out, const th_measurements *m, const size_t *rows,
                         size_t n, th_op_kind kind, th_phase phase, const th_train_options *o,
                         th_error *err)
{
    enum { ROWS_MIN = 50 };
    size_t *selected = th_alloc_array(n + 1, sizeof *selected);
    *out = (th_layer_model){.kind = kind, .phase = phase};
    trainer t = {.model = out, .all = m, .row = selected};
    int failed = selected ? 0 : th_error_no_memory(err);
    if (!failed)
        t.n = select_rows(m, rows, n, kind, phase, selected);
    if (!failed && t.n < ROWS_MIN)
        failed = th_error_set(err, "PRED-0060", "%s, %s: must have %d rows or more, has %zu",
                              th_op_kind_name(kind), th_phase_name(phase), ROWS_MIN, t.n);
    if (!failed)
        failed = train(&t, o, err);
    if (failed)
        th_layer_model_clear(out);
    th_free(t.amount);
    th_free(t.ms);
    th_free(t.device);
    th_free(selected);
    return failed;
}

void th_layer_model_count(th_layer_model *m)
{
    static const double ones[TH_TERMS_MAX] = {1};
    th_op op = {.kind = m->kind};
    th_gpu gpu = {.name = ""};
    th_terms terms;
    th_features f = {.n = 0, .name = NULL};
    for (int i = 0; i < TH_N_OP_FIELDS; i++)
        op.x[i] = 1;
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        gpu.x[i] = 1;
    th_law_terms(&op, m->phase, &gpu, NULL, &terms);
    th_features_fill(&op, &gpu, &terms, ones, 1, &f);
    m->n_terms = terms.n;
    m->n_features = f.n;
}

void th_layer_model_clear(th_layer_model *m)
{
    th_free(m->device);
    th_free(m->weight);
    th_trees_clear(&m->known.trees);
    th_trees_clear(&m->other.trees);
    *m = (th_layer_model){.n_terms = 0};
}

/* --- use -------------------------------------------------------------------------------------- */

bool th_layer_model_knows(const th_layer_model *m, const th_gpu *gpu)
{
    return device_of(m, gpu->name) < m->n_devices;
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

bool th_layer_model_is_outside(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                               char *text, size_t size)
{
    for (int f = 0; f < TH_N_OP_FIELDS; f++) {
        if (!th_op_has(op->kind, (th_op_field)f) ||
            (op->x[f] >= m->least[f] && op->x[f] <= m->most[f]))
            continue;
        snprintf(text, size, "%s %d: training had %d to %d", th_op_field_name((th_op_field)f),
                 op->x[f], m->least[f], m->most[f]);
        return true;
    }
    return !th_layer_model_knows(m, gpu) && gpu_is_outside(m, gpu, text, size);
}

double th_layer_model_predict(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    int device = device_of(m, gpu->name);
    const th_residual *r = device < m->n_devices ? &m->known : &m->other;
    const double *weight = weights_of(m, device);
    th_terms terms;
    th_features f = {.n = 0, .name = NULL};
    th_law_terms(op, m->phase, gpu, NULL, &terms);
    double law = th_law_ms(&terms, weight);
    th_features_fill(op, gpu, &terms, weight, law, &f);
    return law * exp(r->tree_share * th_trees_sum(&r->trees, f.x));
}
