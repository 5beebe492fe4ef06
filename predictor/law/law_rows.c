/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_rows.c - terms of the time of elementwise functions, norms and softmax of single precision:
 * passes over rows at the memory's bandwidth, and turns of rows that a multiprocessor takes.
 *
 * Bytes count once, whatever the cache: softmax and norms of the measured cards reach half to two
 * thirds of the bandwidth alike, whether the rows fit into the cache (A100) or not. Terms that are
 * proportional to the bytes but scale with another number of the GPU (operations at the peak) would
 * take a share of them that no fit to one GPU can tell, and move it to another GPU by the wrong
 * number. */
#include <config.h>

#include <math.h>

#include "predictor/law/law.h"

static double operands_of(const th_op *op)
{
    return op->kind == TH_OP_ELEMENTWISE && op->x[TH_OP_FUNCTION] <= (int)TH_EW_POW ? 2 : 1;
}

void th_law_rows(const th_op *op, const th_gpu *gpu, th_terms *t)
{
    double bytes = t->sizes.output;
    double turns = th_law_ceil(op->x[TH_OP_BATCH] / gpu->x[TH_GPU_SMS]);
    th_terms_one(t, TH_TERM_HOST, 1, "call");
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_MEMORY, bytes * operands_of(op), "input", 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, bytes, "output", 0, 0);
    th_terms_one(t, TH_TERM_STEP, turns / gpu->x[TH_GPU_CLOCK], "turns of rows");
    for (int f = 0; op->kind == TH_OP_ELEMENTWISE && f <= (int)TH_EW_TANH; f++) {
        th_terms_begin_group(t);
        if (op->x[TH_OP_FUNCTION] != f && th_terms_skip(t, 1))
            continue;
        th_terms_add(t, TH_TERM_MEMORY, op->x[TH_OP_FUNCTION] == f ? bytes : 0, "function %d", f,
                     0);
    }
}
