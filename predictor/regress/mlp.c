/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mlp.c - perceptrons: life and use. They are trained in mlp_train.c. */
#include <config.h>

#include "predictor/regress/mlp.h"

#include <string.h>

#include "base/alloc.h"

/* Inputs are clipped to this number of standard deviations: there are no samples beyond. */
static const float LIMIT = 6;

int th_mlp_init(th_mlp *m, const int *sizes, int n_layers)
{
    *m = (th_mlp){.n_layers = n_layers};
    memcpy(m->size, sizes, ((size_t)n_layers + 1) * sizeof *sizes);
    m->mean = th_alloc_zero((size_t)sizes[0], sizeof *m->mean);
    m->scale = th_alloc_zero((size_t)sizes[0], sizeof *m->scale);
    int failed = m->mean && m->scale ? 0 : -1;
    for (int l = 0; l < n_layers; l++) {
        m->weight[l] = th_alloc_zero((size_t)sizes[l] * (size_t)sizes[l + 1], sizeof(float));
        m->bias[l] = th_alloc_zero((size_t)sizes[l + 1], sizeof(float));
        if (!m->weight[l] || !m->bias[l])
            failed = -1;
    }
    if (failed)
        th_mlp_clear(m);
    return failed;
}

void th_mlp_clear(th_mlp *m)
{
    th_free(m->mean);
    th_free(m->scale);
    for (int l = 0; l < TH_MLP_LAYERS_MAX; l++) {
        th_free(m->weight[l]);
        th_free(m->bias[l]);
    }
    *m = (th_mlp){.n_layers = 0};
}

static float within(float x)
{
    return x > LIMIT ? LIMIT : x < -LIMIT ? -LIMIT : x;
}

void th_mlp_standardise(const th_mlp *m, const float *x, float *out)
{
    for (int i = 0; i < m->size[0]; i++)
        out[i] = within((x[i] - m->mean[i]) * m->scale[i]);
}

enum { LANES = 32 };

/* Compiled for processors with and without wide vectors; the loader takes what fits. Sums are the
 * same, for nothing is fused or added in another order. */
#if defined __x86_64__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__ &&           \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VECTORS
#endif

/* The inputs that are not 0: most rectified units are. */
typedef struct {
    int place[TH_MLP_WIDTH_MAX], n;
} active_inputs;

/* LANES outputs from j on: a number that is known, so that a compiler makes vectors of them. */
static inline void outputs(const th_mlp *m, int l, const float *in, const active_inputs *active,
                           int j, float *restrict out)
{
    size_t width = (size_t)m->size[l + 1];
    const float *restrict weight = m->weight[l] + j;
    float sum[LANES];
    memcpy(sum, m->bias[l] + j, sizeof sum);
    for (int i = 0; i < active->n; i++) {
        const float *restrict row = weight + (size_t)active->place[i] * width;
        float x = in[active->place[i]];
        for (int k = 0; k < LANES; k++)
            sum[k] += x * row[k];
    }
    memcpy(out + j, sum, sizeof sum);
}

/* out = bias + in weight. */
VECTORS static void layer(const th_mlp *m, int l, const float *in, float *restrict out)
{
    int width = m->size[l + 1], j = 0;
    active_inputs active;
    active.n = 0;
    for (int i = 0; i < m->size[l]; i++) {
        active.place[active.n] = i;
        active.n += in[i] != 0;
    }
    for (; j + LANES <= width; j += LANES)
        outputs(m, l, in, &active, j, out);
    for (; j < width; j++) {
        out[j] = m->bias[l][j];
        for (int i = 0; i < active.n; i++)
            out[j] += in[active.place[i]] *
                      m->weight[l][(size_t)active.place[i] * (size_t)width + (size_t)j];
    }
}

double th_mlp_run(const th_mlp *m, const float *x)
{
    float even[TH_MLP_WIDTH_MAX], odd[TH_MLP_WIDTH_MAX];
    if (m->n_layers == 0)
        return 0;
    th_mlp_standardise(m, x, even);
    float *in = even, *out = odd;
    for (int l = 0; l < m->n_layers; l++) {
        layer(m, l, in, out);
        for (int j = 0; l + 1 < m->n_layers && j < m->size[l + 1]; j++)
            out[j] = out[j] > 0 ? out[j] : 0;
        float *swapped = in;
        in = out;
        out = swapped;
    }
    return (double)in[0];
}
