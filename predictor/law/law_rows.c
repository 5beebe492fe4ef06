/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_rows.c - terms of the time of elementwise functions, norms and softmax: passes over rows. */
#include <config.h>

#include <math.h>

#include "predictor/law/law.h"

static double operands_of(const th_op *op)
{
    return op->kind == TH_OP_ELEMENTWISE && op->x[TH_OP_FUNCTION] <= (int)TH_EW_POW ? 2 : 1;
}

void th_law_rows(const th_op *op, th_phase phase, const th_gpu *gpu, th_terms *t)
{
    double bytes = t->sizes.output, l2 = gpu->x[TH_GPU_L2] * 0x1p20;
    double rows = op->x[TH_OP_BATCH],
           waves = th_law_ceil(rows / gpu->x[TH_GPU_SMS]) * gpu->x[TH_GPU_SMS];
    (void)phase;
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_HOST, 1, "call", 0, 0);
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_MEMORY, bytes * operands_of(op), "input", 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, bytes, "output", 0, 0);
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_MEMORY, bytes > l2 ? bytes - l2 : 0, "beyond the cache", 0, 0);
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_COMPUTE, bytes / 4, "operations", 0, 0);
    th_terms_add(t, TH_TERM_COMPUTE, waves * op->x[TH_OP_CHANNELS_IN], "waves of rows", 0, 0);
    th_terms_add(t, TH_TERM_STEP, rows * 1e-6, "rows", 0, 0);
    for (int f = 0; op->kind == TH_OP_ELEMENTWISE && f < TH_N_EWS; f++) {
        th_terms_begin_group(t);
        if (op->x[TH_OP_FUNCTION] != f && th_terms_skip(t, 1))
            continue;
        th_terms_add(t, TH_TERM_MEMORY, op->x[TH_OP_FUNCTION] == f ? bytes : 0, "function %d", f,
                     0);
    }
}
