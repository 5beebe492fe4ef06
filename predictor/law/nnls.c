/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nnls.c - non-negative least squares by active sets.
 *   solve: { the column with the largest gradient becomes free -> { least squares over the free
 *   columns -> columns that turn negative return to the bound } } until no gradient is positive
 * Columns are first scaled to length 1. Free columns are kept independent: a column whose pivot is
 * below PIVOT_MIN stays at 0, and is not tried again until the free set has changed. */
#include <config.h>

#include "predictor/law/nnls.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

static const double PIVOT_MIN = 1e-10, WISH_MIN = 1e-10;
enum { STEPS_PER_COLUMN = 10 };

typedef struct {
    int n, n_free;
    const double *gram, *moment;
    double *scale;  /* 1 / length of a column */
    double *factor; /* lower triangle of the free columns, n x n */
    double *x, *y;  /* the point, and the least squares over the free columns, scaled */
    double *wish;   /* minus the gradient */
    int *free_column;
    bool *is_free, *is_refused;
} solver;

static double entry(const solver *s, int i, int j)
{
    return s->gram[(size_t)i * (size_t)s->n + (size_t)j] * s->scale[i] * s->scale[j];
}

/* Cholesky's factor of the free columns from row `from` on. -1: row `from` depends on those before
 * it. */
static int factorise(solver *s, int from)
{
    for (int i = from; i < s->n_free; i++) {
        double *row = s->factor + (size_t)i * (size_t)s->n;
        double pivot = entry(s, s->free_column[i], s->free_column[i]);
        for (int j = 0; j < i; j++) {
            const double *other = s->factor + (size_t)j * (size_t)s->n;
            double sum = entry(s, s->free_column[i], s->free_column[j]);
            for (int k = 0; k < j; k++)
                sum -= row[k] * other[k];
            row[j] = sum / other[j];
            pivot -= row[j] * row[j];
        }
        if (pivot < PIVOT_MIN)
            return -1;
        row[i] = sqrt(pivot);
    }
    return 0;
}

static void solve_free(solver *s)
{
    for (int i = 0; i < s->n_free; i++) {
        const double *row = s->factor + (size_t)i * (size_t)s->n;
        double sum = s->moment[s->free_column[i]] * s->scale[s->free_column[i]];
        for (int k = 0; k < i; k++)
            sum -= row[k] * s->y[k];
        s->y[i] = sum / row[i];
    }
    for (int i = s->n_free - 1; i >= 0; i--) {
        for (int k = i + 1; k < s->n_free; k++)
            s->y[i] -= s->factor[(size_t)k * (size_t)s->n + (size_t)i] * s->y[k];
        s->y[i] /= s->factor[(size_t)i * (size_t)s->n + (size_t)i];
    }
}

/* The bound column that would lower the error most; -1: none. */
static int most_wanted(solver *s)
{
    int best = -1;
    for (int i = 0; i < s->n; i++) {
        double wish = s->moment[i] * s->scale[i];
        for (int k = 0; k < s->n_free; k++)
            wish -= entry(s, i, s->free_column[k]) * s->x[s->free_column[k]];
        s->wish[i] = wish;
        if (!s->is_free[i] && !s->is_refused[i] && wish > WISH_MIN &&
            (best < 0 || wish > s->wish[best]))
            best = i;
    }
    return best;
}

/* As far towards y as nothing turns negative; what reaches 0 is bound again. Was anything bound? */
static bool step_towards(solver *s)
{
    double far = 1;
    for (int i = 0; i < s->n_free; i++) {
        double x = s->x[s->free_column[i]];
        if (s->y[i] <= 0 && x / (x - s->y[i]) < far)
            far = x / (x - s->y[i]);
    }
    bool is_whole = far >= 1;
    int kept = 0, first_gone = s->n_free;
    for (int i = 0; i < s->n_free; i++) {
        int column = s->free_column[i];
        s->x[column] += far * (s->y[i] - s->x[column]);
        if (!is_whole && s->y[i] <= 0 && s->x[column] <= WISH_MIN) {
            s->x[column] = 0;
            s->is_free[column] = false;
            first_gone = i < first_gone ? i : first_gone;
        } else {
            s->free_column[kept++] = column;
        }
    }
    s->n_free = kept;
    if (!is_whole)
        factorise(s, first_gone);
    return !is_whole;
}

static bool add_column(solver *s, int column)
{
    s->free_column[s->n_free++] = column;
    if (factorise(s, s->n_free - 1)) {
        s->n_free--;
        s->is_refused[column] = true;
        return false;
    }
    s->is_free[column] = true;
    memset(s->is_refused, 0, (size_t)s->n * sizeof *s->is_refused);
    return true;
}

static void iterate(solver *s)
{
    int column;
    for (int left = STEPS_PER_COLUMN * s->n; left > 0 && (column = most_wanted(s)) >= 0; left--) {
        if (!add_column(s, column))
            continue;
        do
            solve_free(s);
        while (step_towards(s));
    }
}

int th_nnls_solve(const double *gram, const double *moment, int n, double *x)
{
    size_t m = (size_t)n;
    double *numbers = th_alloc_zero(m * (m + 3) + 1, sizeof *numbers);
    int *columns = th_alloc_zero(m + 1, sizeof *columns);
    bool *flags = th_alloc_zero(2 * m + 1, sizeof *flags);
    int failed = numbers && columns && flags ? 0 : -1;
    if (!failed) {
        solver s = {n,       0,           gram,
                    moment,  numbers,     numbers + 3 * m,
                    x,       numbers + m, numbers + 2 * m,
                    columns, flags,       flags + m};
        for (int i = 0; i < n; i++) {
            double length = gram[(size_t)i * m + (size_t)i];
            s.scale[i] = length > 0 ? 1 / sqrt(length) : 0;
            s.is_refused[i] = !(length > 0);
            x[i] = 0;
        }
        iterate(&s);
        for (int i = 0; i < n; i++)
            x[i] *= s.scale[i];
    }
    th_free(numbers);
    th_free(columns);
    th_free(flags);
    return failed;
}
