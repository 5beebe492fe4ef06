/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log_linear.c - ln(ms) as a linear function of the logarithms of plain numbers, and of flags.
 *   train: { normal equations of a device, then of all -> Cholesky }
 * A ridge, small beside the columns' lengths, stands against those that depend on each other (a
 * device has one data sheet). A known device has coefficients of its own; others have those of all
 * together, where the data sheet is among the numbers. */
#include <config.h>

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/learners/learners.h"
#include "predictor/regress/predictor_text.h"

static const double RIDGE = 1e-6;
enum { ROWS_MIN = 30, ALL = -1, COLUMNS_MAX = TH_PLAIN_MAX + 1 };

typedef struct {
    int n_devices, n_numbers, n_columns; /* of which the last is 1 */
    double *coefficient;                 /* by device and column; behind the last device: of all */
} log_linear;

static void columns_of(const log_linear *m, const float *plain, double *out)
{
    for (int f = 0; f + 1 < m->n_columns; f++)
        out[f] = f < m->n_numbers ? log((double)plain[f]) : (double)plain[f];
    out[m->n_columns - 1] = 1;
}

/* The number of rows that were added. */
static size_t normal_equations(const log_linear *m, const th_lesson *l, int device,
                               gsl_matrix *gram, gsl_vector *moment)
{
    const th_sights *s = &l->sights;
    size_t n = 0;
    gsl_matrix_set_zero(gram);
    gsl_vector_set_zero(moment);
    for (size_t i = 0; i < s->n; i++) {
        double x[COLUMNS_MAX], y = log(l->ms[i]);
        if (device != ALL && s->row[i].device != device)
            continue;
        columns_of(m, s->plain + i * (size_t)s->n_plain, x);
        for (size_t a = 0; a < (size_t)m->n_columns; a++) {
            *gsl_vector_ptr(moment, a) += x[a] * y;
            for (size_t b = 0; b <= a; b++)
                *gsl_matrix_ptr(gram, a, b) += x[a] * x[b];
        }
        n++;
    }
    return n;
}

static void solve(gsl_matrix *gram, gsl_vector *moment, double *out)
{
    for (size_t a = 0; a < gram->size1; a++)
        *gsl_matrix_ptr(gram, a, a) += RIDGE * (gsl_matrix_get(gram, a, a) + 1);
    gsl_linalg_cholesky_decomp1(gram);
    gsl_linalg_cholesky_svx(gram, moment);
    memcpy(out, moment->data, moment->size * sizeof *out);
}

static double *coefficients_of(const log_linear *m, int device)
{
    return m->coefficient + (size_t)device * (size_t)m->n_columns;
}

/* Devices of few rows are left with the coefficients of all. */
static void fit(log_linear *m, const th_lesson *l, gsl_matrix *gram, gsl_vector *moment)
{
    double *of_all = coefficients_of(m, m->n_devices);
    normal_equations(m, l, ALL, gram, moment);
    solve(gram, moment, of_all);
    for (int d = 0; d < m->n_devices; d++) {
        double *own = coefficients_of(m, d);
        if (l->is_known && normal_equations(m, l, d, gram, moment) >= ROWS_MIN)
            solve(gram, moment, own);
        else
            memcpy(own, of_all, (size_t)m->n_columns * sizeof *own);
    }
}

static void clear(void *state)
{
    log_linear *m = state;
    if (m)
        th_free(m->coefficient);
    th_free(m);
}

static log_linear *create(int n_devices, int n_numbers, int n_plain)
{
    log_linear *m = th_alloc_zero(1, sizeof *m);
    if (!m)
        return NULL;
    *m = (log_linear){n_devices, n_numbers, n_plain + 1, NULL};
    m->coefficient =
        th_alloc_zero((size_t)(n_devices + 1) * (size_t)m->n_columns, sizeof *m->coefficient);
    if (m->coefficient)
        return m;
    clear(m);
    return NULL;
}

static int train(const th_lesson *l, const th_effort *o, void **state, th_error *err)
{
    th_plain plain;
    (void)o;
    th_plain_fill(l->sights.row[0].op, l->sights.row[0].gpu, &plain);
    log_linear *m = create(l->n_devices, plain.n_numbers, plain.n);
    gsl_matrix *gram = gsl_matrix_alloc((size_t)plain.n + 1, (size_t)plain.n + 1);
    gsl_vector *moment = gsl_vector_alloc((size_t)plain.n + 1);
    int failed = m && gram && moment ? 0 : th_error_no_memory(err);
    if (!failed)
        fit(m, l, gram, moment);
    gsl_matrix_free(gram);
    gsl_vector_free(moment);
    *state = m;
    if (failed) {
        clear(m);
        *state = NULL;
    }
    return failed;
}

static void run(const void *state, const th_sights *s, double *ln_ms)
{
    const log_linear *m = state;
    for (size_t i = 0; i < s->n; i++) {
        const double *c = coefficients_of(m, s->row[i].device);
        double x[COLUMNS_MAX], sum = 0;
        columns_of(m, s->plain + i * (size_t)s->n_plain, x);
        for (int a = 0; a < m->n_columns; a++)
            sum += c[a] * x[a];
        ln_ms[i] = sum;
    }
}

static void write(const void *state, th_strbuf *out)
{
    const log_linear *m = state;
    th_strbuf_printf(out, "numbers %d\n", m->n_numbers);
    for (int d = 0; d <= m->n_devices; d++)
        th_text_add_doubles("coefficients", coefficients_of(m, d), (size_t)m->n_columns, out);
}

static int read(struct th_text_reader *r, int n_devices, int n_features, int n_plain, void **state)
{
    int n_numbers;
    (void)n_features;
    *state = NULL;
    if (th_text_scan(r, 1, "numbers %d", &n_numbers))
        return -1;
    if (n_numbers < 0 || n_numbers > n_plain)
        return th_text_fail(r);
    log_linear *m = *state = create(n_devices, n_numbers, n_plain);
    if (!m)
        return th_error_no_memory(r->err);
    for (int d = 0; d <= n_devices; d++)
        if (th_text_doubles(r, "coefficients", coefficients_of(m, d), (size_t)m->n_columns))
            return -1;
    return 0;
}

const th_learner_type th_learner_log_linear = {
    .name = "log_linear",
    .help = "least squares of logarithms",
    .sees = TH_SEES_PLAIN,
    .train = train,
    .run = run,
    .write = write,
    .read = read,
    .clear = clear,
};
