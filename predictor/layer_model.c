/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_model.c - use of the model of one kind of operation; it is trained in layer_train.c.
 * Invariant: weights of device i lie at weight + i n_terms, those of any device behind the last. */
#include <config.h>

#include "predictor/layer_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* How many terms and features there are follows from any operation. */
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
    th_residual_clear(&m->known);
    th_residual_clear(&m->other);
    *m = (th_layer_model){.n_terms = 0};
}

int th_layer_model_device(const th_layer_model *m, const char *name)
{
    for (int i = 0; i < m->n_devices; i++)
        if (strcmp(m->device[i].name, name) == 0)
            return i;
    return m->n_devices;
}

bool th_layer_model_knows(const th_layer_model *m, const th_gpu *gpu)
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
    int device = th_layer_model_device(m, gpu->name);
    const th_residual *r = device < m->n_devices ? &m->known : &m->other;
    const double *weight = m->weight + (size_t)device * (size_t)m->n_terms;
    th_terms terms;
    th_features f = {.n = 0, .name = NULL};
    th_law_terms(op, m->phase, gpu, NULL, &terms);
    double law = th_law_ms(&terms, weight);
    th_features_fill(op, gpu, &terms, weight, law, &f);
    return law * exp(th_residual_run(r, f.x));
}
