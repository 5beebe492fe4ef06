/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law.c - amounts of terms, and the functions that all kinds share. The terms of each kind are in
 * law_*.c. */
#include <config.h>

#include "predictor/law/law.h"

#include <math.h>
#include <stdio.h>

void th_terms_name(th_terms *t, int i, const char *name, int a, int b)
{
    snprintf(t->name[i], TH_TERM_NAME_MAX, name, a, b);
}

void th_terms_optimizers(th_terms *t, const th_op *op, th_phase phase, double weights)
{
    for (int o = TH_OPTIMIZER_SGD; phase == TH_PHASE_STEP && o < TH_N_OPTIMIZERS; o++) {
        bool is_this = op->x[TH_OP_OPTIMIZER] == o;
        th_terms_begin_group(t);
        th_terms_add(t, TH_TERM_HOST, is_this, "call optimizer %d", o, 0);
        th_terms_add(t, TH_TERM_MEMORY, is_this ? weights : 0, "optimizer %d", o, 0);
    }
}

/* Begins empty terms of an operation. */
static void begin(th_terms *t, const th_op *op, char (*names)[TH_TERM_NAME_MAX],
                  const double *ms_per)
{
    t->n = t->n_groups = t->n_active = 0;
    t->sheet_ms = 0;
    t->sizes = th_op_sizes_of(op);
    t->name = names;
    t->ms_per = ms_per;
}

/* The laws of single precision, or those that hold for any, where a convolution is a product. */
static void add(const th_op *op, th_phase phase, const th_gpu *gpu, bool is_single, th_terms *out)
{
    switch (op->kind) {
    case TH_OP_CONV:
        if (is_single)
            th_law_conv(op, phase, out);
        else if (th_op_is_narrow(op))
            th_law_product(op, gpu, out);
        break;
    case TH_OP_POOLING:
        if (is_single)
            th_law_pooling(op, out);
        else if (th_op_is_narrow(op))
            th_law_passes(op, gpu, out);
        break;
    case TH_OP_DENSE:
    case TH_OP_MATMUL:
        if (is_single)
            th_law_matrix(op, phase, gpu, out);
        else
            th_law_product(op, gpu, out);
        break;
    case TH_OP_ATTENTION:
        th_law_attention(op, phase, gpu, out);
        break;
    case TH_OP_EXPERTS:
        th_law_experts(op, gpu, out);
        break;
    case TH_OP_ELEMENTWISE:
    case TH_OP_NORM:
    case TH_OP_SOFTMAX:
    case TH_OP_RMS_NORM:
    case TH_OP_CROSS_ENTROPY:
    case TH_OP_ROUTER:
    case TH_N_OP_KINDS:
        if (is_single)
            th_law_rows(op, gpu, out);
        else
            th_law_passes(op, gpu, out);
        break;
    }
}

void th_law_terms(const th_op *op, th_phase phase, const th_gpu *gpu,
                  char (*names)[TH_TERM_NAME_MAX], th_terms *out)
{
    static const double MS_PER_S = 1e3, GIGA = 1e9, HOST_GB_S = 10;
    const double ms_per[TH_N_TERM_CLASSES] = {
        [TH_TERM_HOST] = 1,
        [TH_TERM_STEP] = 1,
        [TH_TERM_TRANSFER] = MS_PER_S / (HOST_GB_S * GIGA),
        [TH_TERM_MEMORY] = MS_PER_S / (gpu->x[TH_GPU_BANDWIDTH] * GIGA),
        [TH_TERM_LAYOUT] = MS_PER_S / (gpu->x[TH_GPU_BANDWIDTH] * GIGA),
        [TH_TERM_PASS] = MS_PER_S / (gpu->x[TH_GPU_BANDWIDTH] * GIGA),
        [TH_TERM_COMPUTE] = MS_PER_S / (gpu->x[TH_GPU_PEAK] * GIGA),
        [TH_TERM_THROTTLED] = MS_PER_S / (gpu->x[TH_GPU_PEAK] * GIGA),
    };
    begin(out, op, names, ms_per);
    bool is_plane = op->kind == TH_OP_CONV || op->kind == TH_OP_POOLING; /* their models have one */
    add(op, phase, gpu, is_plane || !th_op_is_narrow(op), out);
    out->ms_per = NULL;
}

double th_law_parts(const th_terms *t, const double *weight, double *part)
{
    double all = 0;
    for (int c = 0; c < TH_N_TERM_CLASSES; c++)
        part[c] = 0;
    for (int i = 0; i < t->n_active; i++) {
        double ms = t->amount[t->active[i]] * weight[t->active[i]];
        part[t->class[t->active[i]]] += ms;
        all += ms;
    }
    return all;
}

double th_law_sheet_ms(const th_op *op, th_phase phase, const th_gpu *gpu)
{
    static const double ones[TH_N_TERM_CLASSES] = {[TH_TERM_STEP] = 1};
    th_terms t;
    begin(&t, op, NULL, ones);
    add(op, phase, gpu, false, &t);
    return t.sheet_ms;
}

static bool runs_kernels(th_phase phase)
{
    return phase == TH_PHASE_CALL || phase == TH_PHASE_EXECUTION || phase == TH_PHASE_STEP ||
           phase == TH_PHASE_FORWARD || phase == TH_PHASE_BACKWARD;
}

double th_law_least_ms(const th_op *op, th_phase phase, const th_gpu *gpu)
{
    static const double PER_MS = 1e6, MEBI = 1 << 20, WINOGRAD = 4; /* PER_MS: of 1e9 a second */
    if (!runs_kernels(phase))
        return 0;
    double read, written, peak = th_gpu_peak(gpu, (th_op_precision)op->x[TH_OP_PRECISION]);
    th_op_sizes s = th_op_sizes_of(op);
    th_op_traffic(op, &read, &written);
    double bytes = read + written > 0 ? read + written : s.input + s.weights + s.output;
    double by_memory = fmax(0, bytes - gpu->x[TH_GPU_L2] * MEBI) / gpu->x[TH_GPU_BANDWIDTH],
           by_operations = peak > 0 ? s.flops / peak : 0;
    bool is_point = op->x[TH_OP_KERNEL_H] * op->x[TH_OP_KERNEL_W] == 1;
    if (op->kind == TH_OP_CONV && !is_point && !th_op_is_narrow(op))
        by_operations /= WINOGRAD;
    return fmax(by_memory, by_operations) / PER_MS;
}

double th_law_unequal(const th_op *op, const int32_t *member, th_phase phase, const th_gpu *gpu)
{
    bool is_attention = op->kind == TH_OP_ATTENTION;
    phase = is_attention && phase == TH_PHASE_BACKWARD ? phase : TH_PHASE_EXECUTION;
    double even = th_law_sheet_ms(op, phase, gpu);
    if (!is_attention)
        return th_law_grouped_ms(op, member, gpu) / even;
    th_op longest = *op;
    longest.x[TH_OP_BATCH] = 1;
    longest.x[TH_OP_KEYS] = member[0];
    for (int32_t i = 1; i < op->x[TH_OP_BATCH]; i++)
        if (member[i] > longest.x[TH_OP_KEYS])
            longest.x[TH_OP_KEYS] = member[i];
    return fmax(1, th_law_sheet_ms(&longest, phase, gpu) / even);
}
