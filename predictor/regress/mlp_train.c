/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mlp_train.c - training of perceptrons.
 *   train: standardise -> draw weights -> { shuffle -> batches { forward -> backward -> adam } } ->
 *   round off
 * Algebra by CBLAS, single-threaded. Source of the first weights: He et al. (ICCV 2015). */
#include <config.h>

#include <dlfcn.h>
#include <gsl/gsl_cblas.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "predictor/regress/mlp.h"

static const float ADAM_1 = 0.9f, ADAM_2 = 0.999f, ADAM_SMALL = 1e-8f;

typedef __typeof__(cblas_sgemm) gemm; /* C = alpha A B + beta C */

/* OpenBLAS starts threads when it is loaded, which would receive signals meant for the shell, so it
 * is not linked but opened here, and stays open. Without it GSL's own routines are used, which are
 * about ten times slower. */
static gemm *fastest_gemm(void)
{
    gemm *fastest = cblas_sgemm;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "cblas_sgemm") : NULL;
    if (found)
        memcpy(&fastest, &found, sizeof fastest); /* ISO C knows no cast between the two */
    return fastest;
}

typedef struct {
    th_mlp *m;
    gemm *gemm;
    const th_mlp_options *o;
    const float *x, *y;
    size_t n;
    size_t *order;
    float *act[TH_MLP_LAYERS_MAX + 1];  /* of a batch: inputs and outputs of the layers */
    float *back[TH_MLP_LAYERS_MAX + 1]; /* the error's derivatives by them */
    float *gradient;                    /* of all weights and biases of a layer */
    float *first[2 * TH_MLP_LAYERS_MAX],
        *second[2 * TH_MLP_LAYERS_MAX]; /* moments: weights, biases */
    int step;
    float rate;
} trainer;

static float *new_floats(size_t n)
{
    return th_alloc_zero(n + 1, sizeof(float));
}

static int begin(trainer *t)
{
    const th_mlp *m = t->m;
    size_t batch = (size_t)t->o->batch, largest = 0;
    int failed = 0;
    t->order = th_alloc_array(t->n + 1, sizeof *t->order);
    for (int l = 0; l <= m->n_layers; l++) {
        t->act[l] = new_floats(batch * (size_t)m->size[l]);
        t->back[l] = new_floats(batch * (size_t)m->size[l]);
        failed |= !t->act[l] || !t->back[l];
    }
    for (int l = 0; l < m->n_layers; l++) {
        size_t sizes[] = {(size_t)m->size[l] * (size_t)m->size[l + 1], (size_t)m->size[l + 1]};
        largest = sizes[0] > largest ? sizes[0] : largest;
        for (int i = 0; i < 2; i++) {
            t->first[2 * l + i] = new_floats(sizes[i]);
            t->second[2 * l + i] = new_floats(sizes[i]);
            failed |= !t->first[2 * l + i] || !t->second[2 * l + i];
        }
    }
    t->gradient = new_floats(largest);
    return failed || !t->order || !t->gradient ? -1 : 0;
}

static void end(trainer *t)
{
    th_free(t->order);
    th_free(t->gradient);
    for (int l = 0; l <= TH_MLP_LAYERS_MAX; l++) {
        th_free(t->act[l]);
        th_free(t->back[l]);
    }
    for (int i = 0; i < 2 * TH_MLP_LAYERS_MAX; i++) {
        th_free(t->first[i]);
        th_free(t->second[i]);
    }
}

static void standardise(const trainer *t)
{
    th_mlp *m = t->m;
    for (int f = 0; f < m->size[0]; f++) {
        double sum = 0, squares = 0, n = (double)t->n;
        for (size_t i = 0; i < t->n; i++)
            sum += (double)t->x[i * (size_t)m->size[0] + (size_t)f];
        for (size_t i = 0; i < t->n; i++) {
            double off = (double)t->x[i * (size_t)m->size[0] + (size_t)f] - sum / n;
            squares += off * off;
        }
        m->mean[f] = (float)(sum / n);
        m->scale[f] = squares > 0 ? (float)sqrt(n / squares) : 0;
    }
}

static void draw_weights(const trainer *t, gsl_rng *rng)
{
    for (int l = 0; l < t->m->n_layers; l++) {
        int in = t->m->size[l], all = in * t->m->size[l + 1];
        bool is_last = l + 1 == t->m->n_layers; /* begins near 0 */
        double deviation = sqrt(2.0 / in) * (is_last ? 0.1 : 1);
        for (int i = 0; i < all; i++)
            t->m->weight[l][i] = (float)gsl_ran_gaussian(rng, deviation);
    }
}

/* The rows of a batch into act[0]. */
static void load(const trainer *t, size_t from, int rows)
{
    size_t width = (size_t)t->m->size[0];
    for (size_t r = 0; r < (size_t)rows; r++)
        th_mlp_standardise(t->m, t->x + t->order[from + r] * width, t->act[0] + r * width);
}

static void forward(const trainer *t, int rows)
{
    const th_mlp *m = t->m;
    for (int l = 0; l < m->n_layers; l++) {
        int in = m->size[l], out = m->size[l + 1];
        float *z = t->act[l + 1];
        for (int r = 0; r < rows; r++)
            memcpy(z + (size_t)r * (size_t)out, m->bias[l], (size_t)out * sizeof *z);
        t->gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, out, in, 1, t->act[l], in,
                m->weight[l], out, 1, z, out);
        for (int i = 0; l + 1 < m->n_layers && i < rows * out; i++)
            z[i] = z[i] > 0 ? z[i] : 0;
    }
}

/* slope^2 (sqrt(1 + (residual / slope)^2) - 1), slope = huber_slope */
double th_mlp_loss(double residual, double huber_slope, double *derivative)
{
    double s = residual / huber_slope, root = sqrt(1 + s * s);
    *derivative = residual / root;
    return huber_slope * huber_slope * (root - 1);
}

/* The derivatives over the rows of the batch. */
static void errors(const trainer *t, size_t from, int rows)
{
    int last = t->m->n_layers;
    for (int r = 0; r < rows; r++) {
        size_t row = t->order[from + (size_t)r];
        double derivative;
        th_mlp_loss((double)t->act[last][r] - (double)t->y[row], t->o->huber_slope, &derivative);
        t->back[last][r] = (float)(derivative / rows);
    }
}

static void adam(const trainer *t, float *value, int which, const float *gradient, int n)
{
    float *first = t->first[which], *second = t->second[which];
    float whole_1 = 1 - powf(ADAM_1, (float)t->step), whole_2 = 1 - powf(ADAM_2, (float)t->step);
    float rate = t->rate * sqrtf(whole_2) / whole_1;
    for (int i = 0; i < n; i++) {
        first[i] = ADAM_1 * first[i] + (1 - ADAM_1) * gradient[i];
        second[i] = ADAM_2 * second[i] + (1 - ADAM_2) * gradient[i] * gradient[i];
        value[i] -= rate * first[i] / (sqrtf(second[i]) + ADAM_SMALL);
    }
}

static void backward(const trainer *t, int rows)
{
    const th_mlp *m = t->m;
    for (int l = m->n_layers - 1; l >= 0; l--) {
        int in = m->size[l], out = m->size[l + 1];
        const float *error = t->back[l + 1];
        if (l > 0)
            t->gemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, in, out, 1, error, out,
                    m->weight[l], out, 0, t->back[l], in);
        for (int i = 0; l > 0 && i < rows * in; i++)
            t->back[l][i] = t->act[l][i] > 0 ? t->back[l][i] : 0;
        t->gemm(CblasRowMajor, CblasTrans, CblasNoTrans, in, out, rows, 1, t->act[l], in, error,
                out, 0, t->gradient, out);
        adam(t, m->weight[l], 2 * l, t->gradient, in * out);
        memset(t->gradient, 0, (size_t)out * sizeof *t->gradient);
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < out; j++)
                t->gradient[j] += error[r * out + j];
        adam(t, m->bias[l], 2 * l + 1, t->gradient, out);
    }
}

static void learn(trainer *t, gsl_rng *rng)
{
    size_t batch = (size_t)t->o->batch, from = t->n;
    for (size_t i = 0; i < t->n; i++)
        t->order[i] = i;
    while (t->step < t->o->steps) {
        if (from >= t->n) { /* all rows were seen */
            gsl_ran_shuffle(rng, t->order, t->n, sizeof *t->order);
            from = 0;
        }
        int rows = (int)(t->n - from < batch ? t->n - from : batch);
        t->rate = (float)(t->o->learning_rate * (1 + cos(M_PI * t->step / t->o->steps)) / 2);
        t->step++;
        load(t, from, rows);
        forward(t, rows);
        errors(t, from, rows);
        backward(t, rows);
        from += batch;
    }
}

/* To 14 binary digits: what lies beyond changes answers by less than they are off by, and is half
 * the text. */
static void round_off(float *x, size_t n)
{
    enum { DIGITS = 14 };
    for (size_t i = 0; i < n; i++) {
        int exponent;
        double digits = frexp((double)x[i], &exponent);
        x[i] = (float)ldexp(rint(ldexp(digits, DIGITS)), exponent - DIGITS);
    }
}

static void round_weights(const th_mlp *m)
{
    for (int l = 0; l < m->n_layers; l++) {
        round_off(m->weight[l], (size_t)m->size[l] * (size_t)m->size[l + 1]);
        round_off(m->bias[l], (size_t)m->size[l + 1]);
    }
}

int th_mlp_train(const float *x, const float *y, size_t n, int n_features, const th_mlp_options *o,
                 th_mlp *out)
{
    int sizes[TH_MLP_LAYERS_MAX + 1] = {n_features}, n_layers = 0;
    for (; n_layers + 1 < TH_MLP_LAYERS_MAX && o->hidden[n_layers] > 0; n_layers++)
        sizes[n_layers + 1] = o->hidden[n_layers];
    sizes[++n_layers] = 1;
    if (th_mlp_init(out, sizes, n_layers))
        return -1;
    trainer t = {.m = out, .gemm = fastest_gemm(), .o = o, .x = x, .y = y, .n = n};
    gsl_rng *rng = th_random_stream(o->seed, "perceptron", 0);
    int failed = rng ? begin(&t) : -1;
    if (!failed) {
        standardise(&t);
        draw_weights(&t, rng);
        learn(&t, rng);
        round_weights(out);
    }
    end(&t);
    if (rng)
        gsl_rng_free(rng);
    if (failed)
        th_mlp_clear(out);
    return failed;
}
