/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_model.c - the model of one kind of operation; layer_train.c trains it, layer_predict.c
 * predicts.
 * Invariant: weights of device i lie at weight + i n_terms, those of any device behind the last. */
#include <config.h>

#include "predictor/model/layer_model.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/* How many terms and features there are follows from any operation. */
bool th_layer_model_is_of(const th_layer_model *m, const th_op *op, th_phase phase)
{
    return op->kind == m->kind && phase == m->phase && th_op_is_narrow(op) == m->is_narrow;
}

const char *th_layer_model_name(const th_layer_model *m)
{
    return th_op_kind_title(m->kind, m->is_narrow);
}

void th_layer_model_complete(const th_layer_model *m, double *weight)
{
    if (m->kind == TH_OP_ELEMENTWISE && m->is_narrow)
        th_law_passes_complete(weight);
}

void th_layer_model_count(th_layer_model *m)
{
    static const double ones[TH_TERMS_MAX] = {1};
    th_op op = {.kind = m->kind};
    th_gpu gpu = {.name = ""};
    th_terms terms;
    float x[TH_FEATURES_MAX];
    for (int i = 0; i < TH_N_OP_FIELDS; i++)
        op.x[i] = 1;
    op.x[TH_OP_PRECISION] = m->is_narrow ? TH_PRECISION_FP16 : TH_PRECISION_FP32;
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        gpu.x[i] = 1;
    th_law_terms(&op, m->phase, &gpu, NULL, &terms);
    m->n_terms = terms.n;
    m->n_features = th_features_fill(&op, &gpu, &terms, ones, 1, x);
}

void th_layer_model_clear(th_layer_model *m)
{
    th_free(m->device);
    th_free(m->weight);
    th_free(m->calibration);
    th_families_clear(&m->families);
    th_ensemble_clear(&m->seen.ensemble);
    th_ensemble_clear(&m->unseen.ensemble);
    *m = (th_layer_model){.n_terms = 0};
}

int th_layer_model_device(const th_layer_model *m, const char *name)
{
    for (int i = 0; i < m->n_devices; i++)
        if (strcmp(m->device[i].name, name) == 0)
            return i;
    return m->n_devices;
}

bool th_layer_model_has_seen(const th_layer_model *m, const th_gpu *gpu)
{
    return th_layer_model_device(m, gpu->name) < m->n_devices;
}

/* A law whose terms are all 0 for an operation says nothing; its logarithm must stay a number. */
static const double LAW_MIN_MS = 1e-9;

double th_layer_model_sample(const th_layer_model *m, const th_op *op, const th_gpu *gpu,
                             const double *weight, float *x)
{
    th_terms terms;
    th_law_terms(op, m->phase, gpu, NULL, &terms);
    double law_ms = fmax(th_law_ms(&terms, weight), LAW_MIN_MS);
    if (x)
        th_features_fill(op, gpu, &terms, weight, law_ms, x);
    return law_ms;
}

double th_measured_even_ms(const th_measurements *all, const th_measurement *row)
{
    if (row->n_members == 0)
        return row->ms;
    return row->ms / th_law_unequal(&row->op, all->member + row->first_member, row->phase,
                                    &all->device[row->device]);
}
