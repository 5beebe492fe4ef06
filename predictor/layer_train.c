/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_train.c - training of the model of one kind of operation.
 *   train: select -> measure -> laws: { of a device } -> common law
 *          -> known: weigh on a part that was held out -> learn from all
 *          -> other: weigh on { a device, learned from the rest } -> learn from all
 * Shares of trees and perceptron are so weighed where the residual will be used: on unseen layers of seen
 * devices, and on unseen devices. Weighing learns from a sample, so that it costs little. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "predictor/layer_model.h"

#define PERCEPTRON(n_steps)                                                                        \
    {                                                                                              \
        .hidden = {64, 64}, .steps = (n_steps), .batch = 256, .rate = 2e-3, .slope = 0.15          \
    }

const th_train_options th_train_defaults = {
    .known = {.trees = {.rounds = 300,
                        .depth = 8,
                        .rate = 0.07,
                        .slope = 0.15,
                        .least_weight = 10,
                        .row_share = 1,
                        .column_share = 0.5},
              .mlp = PERCEPTRON(5000)},
    .other = {.trees = {.rounds = 150,
                        .depth = 6,
                        .rate = 0.08,
                        .slope = 0.15,
                        .least_weight = 40,
                        .row_share = 1,
                        .column_share = 0.5},
              .mlp = PERCEPTRON(2000)},
    .seed = 1,
};

/* Rows to learn from (on known and on other devices), and to judge, when shares are weighed. */
enum { SAMPLE = 16000, OTHER_SAMPLE = 8000, JUDGED = 8000 };
enum { ALL = -1 }; /* devices */

typedef struct {
    th_layer_model *model;
    const th_measurements *all;
    const size_t *row; /* of all; those of the kind and phase */
    size_t n;
    double *amount; /* by row and term */
    double *ms;
    int *device;    /* by row: of the model */
    uint64_t *draw; /* by row: a number as if drawn, equal for an operation on several devices */
    double *common; /* weights of a law of some devices, for weighing */
} trainer;

static const th_measurement *row_of(const trainer *t, size_t i)
{
    return &t->all->row[t->row[i]];
}

static double *weights_of(const th_layer_model *m, int device)
{
    return m->weight + (size_t)device * (size_t)m->n_terms;
}

/* --- laws ------------------------------------------------------------------------------------- */

/* Of one device (or ALL), but for one that is left out (or n_devices: none). */
static int fit_law(const trainer *t, int device, int left_out, double *weight)
{
    size_t n = 0, m = (size_t)t->model->n_terms;
    double *amounts = th_alloc_array(t->n * m + 1, sizeof *amounts),
           *ms = th_alloc_array(t->n + 1, sizeof *ms);
    int failed = amounts && ms ? 0 : -1;
    for (size_t i = 0; !failed && i < t->n; i++) {
        if ((device != ALL && t->device[i] != device) || t->device[i] == left_out)
            continue;
        memcpy(amounts + n * m, t->amount + i * m, m * sizeof *amounts);
        ms[n++] = t->ms[i];
    }
    if (!failed)
        failed = th_law_fit(amounts, ms, n, t->model->n_terms, weight);
    th_free(amounts);
    th_free(ms);
    return failed;
}

static int fit_laws(const trainer *t)
{
    th_layer_model *m = t->model;
    for (int d = 0; d < m->n_devices; d++)
        if (fit_law(t, d, m->n_devices, weights_of(m, d)))
            return -1;
    return fit_law(t, ALL, m->n_devices, weights_of(m, m->n_devices));
}

/* --- lessons ---------------------------------------------------------------------------------- */

/* Which rows a lesson has. */
typedef struct {
    int device, left_out; /* only this (or ALL), all but this (or ALL: none) */
    int fold;             /* of FOLDS; -1: no matter */
    bool without_fold;    /* all but those of the fold */
    size_t n_max;         /* a sample at most so large */
} selection;

enum { FOLDS = 5 };
static const selection whole = {ALL, ALL, -1, false, SIZE_MAX};

static bool is_selected(const trainer *t, const selection *s, size_t i)
{
    if ((s->device != ALL && t->device[i] != s->device) || t->device[i] == s->left_out)
        return false;
    return s->fold < 0 || ((int)(t->draw[i] % FOLDS) == s->fold) != s->without_fold;
}

/* Below this number a row is in the sample. */
static uint64_t limit_of(const trainer *t, const selection *s, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < t->n; i++)
        *n += is_selected(t, s, i);
    if (*n <= s->n_max)
        return UINT64_MAX;
    return (uint64_t)((double)s->n_max / (double)*n * (double)UINT32_MAX);
}

static bool is_drawn(const trainer *t, size_t i, uint64_t limit)
{
    return th_hash_word(t->draw[i], 1) >> 32 <= limit;
}

/* Features and targets over the weights of each row's device, or over those given. */
static void fill_row(const trainer *t, size_t i, const double *common, float *x, float *y)
{
    const th_layer_model *m = t->model;
    const th_measurement *row = row_of(t, i);
    const th_gpu *gpu = &m->device[t->device[i]];
    const double *weight = common ? common : weights_of(m, t->device[i]);
    th_terms terms;
    th_features f = {.n = 0, .name = NULL};
    th_law_terms(&row->op, row->phase, gpu, NULL, &terms);
    double law = th_law_ms(&terms, weight);
    th_features_fill(&row->op, gpu, &terms, weight, law, &f);
    memcpy(x, f.x, (size_t)f.n * sizeof *x);
    *y = (float)log(row->ms / law);
}

/* 0, or -1: memory is out. */
static int make_lesson(const trainer *t, const selection *s, const double *common, th_lesson *out)
{
    size_t n;
    uint64_t limit = limit_of(t, s, &n);
    if (th_lesson_init(out, n, t->model->n_features))
        return -1;
    out->n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (!is_selected(t, s, i) || !is_drawn(t, i, limit))
            continue;
        fill_row(t, i, common, out->x + out->n * (size_t)out->n_features, &out->y[out->n]);
        out->n++;
    }
    return 0;
}

/* --- shares ----------------------------------------------------------------------------------- */

/* Learns from one selection and judges another; adds to the verdicts. 0 or -1. */
static int try(const trainer *t, const selection *learned, const selection *judged,
               const double *common, const th_residual_options *o, th_residual *r, th_verdict *v,
               size_t *n, th_error *err)
{
    th_lesson lesson = {.n = 0}, exam = {.n = 0};
    r->tree_share = r->mlp_share = 0.5;
    int failed = make_lesson(t, learned, common, &lesson) || make_lesson(t, judged, common, &exam)
                     ? th_error_no_memory(err)
                     : th_residual_train(r, &lesson, o, err);
    if (!failed) {
        th_residual_judge(r, &exam, v + *n);
        *n += exam.n;
    }
    th_lesson_clear(&lesson);
    th_lesson_clear(&exam);
    return failed;
}

/* What a part learned from one selection says of another decides its share. */
static int weigh(trainer *t, bool is_known, const th_residual_options *o, th_residual *out,
                 th_error *err)
{
    int devices = t->model->n_devices, rounds = is_known ? 1 : devices;
    th_verdict *v = th_alloc_array(t->n * (size_t)rounds + 1, sizeof *v);
    size_t n = 0;
    int failed = v ? 0 : th_error_no_memory(err);
    th_residual r = {.tree_share = 0};
    for (int i = 0; !failed && i < rounds; i++) {
        selection learned = is_known ? (selection){ALL, ALL, 0, true, SAMPLE}
                                     : (selection){ALL, i, -1, false, OTHER_SAMPLE};
        selection judged = is_known ? (selection){ALL, ALL, 0, false, JUDGED}
                                    : (selection){i, ALL, -1, false, JUDGED / (size_t)rounds};
        th_residual_clear(&r);
        if (!is_known && fit_law(t, ALL, i, t->common))
            failed = th_error_no_memory(err);
        if (!failed)
            failed = try(t, &learned, &judged, is_known ? NULL : t->common, o, &r, v, &n, err);
    }
    if (!failed) {
        th_residual_weigh(&r, v, n);
        out->tree_share = r.tree_share;
        out->mlp_share = r.mlp_share;
    }
    th_residual_clear(&r);
    th_free(v);
    return failed;
}

static int learn(trainer *t, bool is_known, const th_train_options *all, th_residual *out,
                 th_error *err)
{
    th_residual_options o = is_known ? all->known : all->other;
    const double *common = is_known ? NULL : weights_of(t->model, t->model->n_devices);
    th_lesson lesson = {.n = 0};
    o.trees.seed = o.mlp.seed = all->seed;
    if (!is_known && t->model->n_devices == 1) /* nothing tells how devices differ */
        return 0;
    if (weigh(t, is_known, &o, out, err))
        return -1;
    int failed = make_lesson(t, &whole, common, &lesson) ? th_error_no_memory(err)
                                                         : th_residual_train(out, &lesson, &o, err);
    th_lesson_clear(&lesson);
    return failed;
}

/* --- training --------------------------------------------------------------------------------- */

static int add_device(th_layer_model *m, size_t *capacity, const th_gpu *gpu)
{
    int i = th_layer_model_device(m, gpu->name);
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

static int measure_rows(trainer *t, uint64_t seed)
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
        t->draw[i] = th_hash_word(seed, (uint64_t)row->row_id);
    }
    m->weight =
        th_alloc_zero((size_t)(m->n_devices + 1) * (size_t)m->n_terms + 1, sizeof *m->weight);
    return m->weight ? 0 : -1;
}

static int train(trainer *t, const th_train_options *o, th_error *err)
{
    th_layer_model *m = t->model;
    th_layer_model_count(m);
    t->amount = th_alloc_array(t->n * (size_t)m->n_terms + 1, sizeof *t->amount);
    t->ms = th_alloc_array(t->n + 1, sizeof *t->ms);
    t->device = th_alloc_array(t->n + 1, sizeof *t->device);
    t->draw = th_alloc_array(t->n + 1, sizeof *t->draw);
    t->common = th_alloc_array((size_t)m->n_terms + 1, sizeof *t->common);
    if (!t->amount || !t->ms || !t->device || !t->draw || !t->common || measure_rows(t, o->seed) ||
        fit_laws(t))
        return th_error_no_memory(err);
    return learn(t, true, o, &m->known, err) || learn(t, false, o, &m->other, err) ? -1 : 0;
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
    th_free(t.draw);
    th_free(t.common);
    th_free(selected);
    return failed;
}
