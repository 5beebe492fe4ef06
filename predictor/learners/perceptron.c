/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perceptron.c - a perceptron on its own, of the PerfNetV2 family.
 *   train: { lambda of a number } -> transform -> th_mlp_train
 * Numbers go through Box's and Cox's transform (J. Royal Statistical Society B 26, 1964; lambda 1/2
 * is a square root, 0 a logarithm), with the lambda of a grid that their likelihood favours; then
 * all are standardised. Hidden layers of 32, 64, 128, 256. The output is ln(1 + ms); the loss,
 *   |ln(1 + y) - ln(1 + answer)| / ln(1 + y),
 * is an absolute error with a weight by row. One net serves all devices, known or not: their data
 * sheets are among the numbers. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/learners/learners.h"
#include "predictor/regress/predictor_text.h"

static const double LAMBDAS[] = {0, 0.25, 0.5, 0.75, 1};
enum { N_LAMBDAS = sizeof LAMBDAS / sizeof LAMBDAS[0], ROWS_FOR_LAMBDA = 2000 };
static const double LEAST_MS = 1e-6; /* answers below are none */

typedef struct {
    int n_numbers;
    double lambda[TH_PLAIN_MAX];
    th_mlp mlp;
} perceptron;

static double box_cox(double x, double lambda)
{
    return lambda == 0 ? log(x) : (pow(x, lambda) - 1) / lambda;
}

/* The logarithm of the likelihood that column f, transformed, is normal. */
static double likelihood(const th_sights *s, size_t f, double lambda)
{
    double sum = 0, squares = 0, logs = 0, n = 0;
    size_t step = s->n / ROWS_FOR_LAMBDA + 1;
    for (size_t i = 0; i < s->n; i += step) {
        double x = (double)s->plain[i * (size_t)s->n_plain + f], z = box_cox(x, lambda);
        sum += z;
        squares += z * z;
        logs += log(x);
        n++;
    }
    double variance = squares / n - sum / n * (sum / n);
    return variance > 0 ? -n / 2 * log(variance) + (lambda - 1) * logs : 0;
}

static void choose_lambdas(perceptron *p, const th_sights *s)
{
    for (int f = 0; f < p->n_numbers; f++) {
        double most = -INFINITY;
        for (int i = 0; i < N_LAMBDAS; i++) {
            double l = likelihood(s, (size_t)f, LAMBDAS[i]);
            if (l > most) {
                most = l;
                p->lambda[f] = LAMBDAS[i];
            }
        }
    }
}

static void transform(const perceptron *p, const float *plain, int n, float *out)
{
    for (int f = 0; f < n; f++)
        out[f] = f < p->n_numbers ? (float)box_cox((double)plain[f], p->lambda[f]) : plain[f];
}

static int learn(perceptron *p, const th_lesson *l, const th_mlp_options *o)
{
    const th_sights *s = &l->sights;
    size_t width = (size_t)s->n_plain;
    float *x = th_alloc_array(s->n * width + 1, sizeof *x),
          *y = th_alloc_array(2 * s->n + 1, sizeof *y), *weight = y ? y + s->n : NULL;
    for (size_t i = 0; x && y && i < s->n; i++) {
        transform(p, s->plain + i * width, s->n_plain, x + i * width);
        y[i] = (float)log1p(l->ms[i]);
        weight[i] = 1 / y[i];
    }
    th_mlp_options weighted = *o;
    weighted.weight = weight;
    int failed = x && y ? th_mlp_train(x, y, s->n, s->n_plain, &weighted, &p->mlp) : -1;
    th_free(x);
    th_free(y);
    return failed;
}

static void clear(void *state)
{
    perceptron *p = state;
    if (p)
        th_mlp_clear(&p->mlp);
    th_free(p);
}

static int train(const th_lesson *l, const th_effort *o, void **state, th_error *err)
{
    perceptron *p = th_alloc_zero(1, sizeof *p);
    *state = NULL;
    if (!p)
        return th_error_no_memory(err);
    th_plain plain;
    th_plain_fill(l->sights.row[0].op, l->sights.row[0].gpu, &plain);
    p->n_numbers = plain.n_numbers;
    choose_lambdas(p, &l->sights);
    if (learn(p, l, &o->perceptron)) {
        clear(p);
        return th_error_no_memory(err);
    }
    *state = p;
    return 0;
}

static void run(const void *state, const th_sights *s, double *ln_ms)
{
    const perceptron *p = state;
    for (size_t i = 0; i < s->n; i++) {
        float x[TH_PLAIN_MAX];
        transform(p, s->plain + i * (size_t)s->n_plain, s->n_plain, x);
        ln_ms[i] = log(fmax(expm1(th_mlp_run(&p->mlp, x)), LEAST_MS));
    }
}

static void write(const void *state, th_strbuf *out)
{
    const perceptron *p = state;
    th_strbuf_printf(out, "numbers %d\n", p->n_numbers);
    th_text_add_doubles("lambda", p->lambda, (size_t)p->n_numbers, out);
    th_mlp_write(&p->mlp, out);
}

static int read(struct th_text_reader *r, int n_devices, int n_features, int n_plain, void **state)
{
    perceptron *p = *state = th_alloc_zero(1, sizeof *p);
    (void)n_devices, (void)n_features;
    if (!p)
        return th_error_no_memory(r->err);
    if (th_text_scan(r, 1, "numbers %d", &p->n_numbers))
        return -1;
    if (p->n_numbers < 0 || p->n_numbers > n_plain)
        return th_text_fail(r);
    return th_text_doubles(r, "lambda", p->lambda, (size_t)p->n_numbers) ||
                   th_mlp_read(r, n_plain, &p->mlp)
               ? -1
               : 0;
}

const th_learner_type th_learner_perceptron = {
    .name = "perceptron",
    .help = "a perceptron on plain numbers, as PerfNetV2 has it",
    .sees = TH_SEES_PLAIN,
    .train = train,
    .run = run,
    .write = write,
    .read = read,
    .clear = clear,
};
