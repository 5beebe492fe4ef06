/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law.c - amounts of terms, and what they have in common. The terms of each kind are in law_*.c. */
#include <config.h>

#include "predictor/law.h"

#include <stdio.h>

void th_terms_share(th_terms *t)
{
    t->now = t->n_shares++;
}

void th_terms_add(th_terms *t, th_term_class class, double amount, const char *name, int a, int b,
                  int c)
{
    t->amount[t->n] = amount * t->ms_per[class];
    t->class[t->n] = (unsigned char)class;
    t->share[t->n] = (unsigned char)t->now;
    if (t->name)
        snprintf(t->name[t->n], TH_TERM_NAME_MAX, name, a, b, c);
    t->n++;
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
    };
    out->n = out->n_shares = 0;
    out->name = names;
    out->ms_per = ms_per;
    switch (op->kind) {
    case TH_OP_CONV:
        th_law_conv(op, phase, gpu, out);
        break;
    case TH_OP_POOLING:
        th_law_pooling(op, phase, gpu, out);
        break;
    case TH_OP_DENSE:
    case TH_OP_MATMUL:
        th_law_matrix(op, phase, gpu, out);
        break;
    case TH_OP_ELEMENTWISE:
    case TH_OP_NORM:
    case TH_OP_SOFTMAX:
    case TH_N_OP_KINDS:
        th_law_rows(op, phase, gpu, out);
        break;
    }
    out->ms_per = NULL;
}
