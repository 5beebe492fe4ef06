/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_matrix.c - terms of the time of dense layers and batched products: operands read and written,
 * tiles of several sizes, filled or not, in waves over the multiprocessors.
 *
 * Tiles read their operands from memory, so operations never count below the time that the
 * bandwidth allows (operand_bound). GPUs that lower their clock in long runs have terms of their
 * own (law.h: th_gpu_throttles), so that a law of many devices does not mix the two kinds. */
#include <config.h>

#include <math.h>

#include "predictor/law/law.h"

/* With few rows kernels stream the weights; with more they work on tiles. */
enum { STEP = 8, ROWS_STREAMED = 64 };

/* Factor >= 1 of the time at the peak: operands come from memory by square tiles. USUAL is the
 * efficiency that the fitted weight of operations has; operands do not have it. */
static double operand_bound(const th_gpu *gpu)
{
    enum { TILE = 128, BYTES = 4 };
    static const double PER_BYTE = 2.0 * TILE * TILE / (2.0 * TILE * BYTES), USUAL = 0.8;
    double slower = USUAL * th_gpu_balance(gpu) / PER_BYTE;
    return slower > 1 ? slower : 1;
}

/* Part of the time at the peak that throttling adds: 1 where operands are no bound, 0 where the GPU
 * waits as long for operands anyway. The measured batched products are too short to throttle. */
static double throttling(const th_op *op, const th_gpu *gpu)
{
    return op->kind == TH_OP_DENSE && th_gpu_throttles(gpu) ? fmax(0, 2 - operand_bound(gpu)) : 0;
}

static void tiles(th_terms *t, const th_op *op, const th_product_shape *p, const th_gpu *gpu)
{
    static const int sizes[][2] = {{256, 128}, {128, 128}, {128, 64},
                                   {64, 64},   {128, 32},  {32, 32}};
    double sms = gpu->x[TH_GPU_SMS], bound = operand_bound(gpu), throttle = throttling(op, gpu);
    double inner = th_law_ceil(p->inner / STEP) * STEP;
    for (int i = 0; i < 6; i++) {
        double a = sizes[i][0], b = sizes[i][1];
        double n = p->members * th_law_ceil(p->rows / a) * th_law_ceil(p->columns / b),
               work = 2 * a * b * inner;
        th_terms_begin_group(t);
        th_terms_add(t, TH_TERM_COMPUTE, bound * n * work, "tiles %dx%d", sizes[i][0], sizes[i][1]);
        th_terms_add(t, TH_TERM_COMPUTE, bound * th_law_ceil(n / sms) * sms * work, "waves %dx%d",
                     sizes[i][0], sizes[i][1]);
        if (sizes[i][0] == sizes[i][1])
            th_terms_add(t, TH_TERM_THROTTLED, throttle * n * work, "throttled %dx%d", sizes[i][0],
                         sizes[i][1]);
    }
}

void th_law_matrix(const th_op *op, th_phase phase, const th_gpu *gpu, th_terms *t)
{
    th_product_shape p = th_product_shape_of(op);
    double weights = t->sizes.weights, few = p.rows < ROWS_STREAMED ? p.rows : ROWS_STREAMED;
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_HOST, 1, "call", 0, 0);
    th_terms_add(t, TH_TERM_HOST, op->x[TH_OP_ACTIVATION] != TH_ACT_NONE, "call activation", 0, 0);
    th_terms_add(t, TH_TERM_HOST, p.rows == 1, "call of one row", 0, 0);
    th_terms_one(t, TH_TERM_TRANSFER, t->sizes.output, "returned");
    th_terms_one(t, TH_TERM_MEMORY, t->sizes.input, "input");
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_MEMORY, t->sizes.output, "output", 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, op->x[TH_OP_ACTIVATION] ? t->sizes.output : 0, "activation", 0,
                 0);
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_MEMORY, weights, "weights", 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, p.rows == 1 ? weights : 0, "weights of one row", 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, th_law_ceil(few / 8) * weights, "weights per 8 rows", 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, th_law_ceil(few / 32) * weights, "weights per 32 rows", 0, 0);
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_COMPUTE, operand_bound(gpu) * t->sizes.flops, "operations", 0, 0);
    th_terms_add(t, TH_TERM_THROTTLED, throttling(op, gpu) * t->sizes.flops, "throttled", 0, 0);
    tiles(t, op, &p, gpu);
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_STEP, p.inner * 1e-6, "inner steps", 0, 0);
    th_terms_add(t, TH_TERM_STEP, p.columns * 1e-6, "columns", 0, 0);
    th_terms_optimizers(t, op, phase, weights);
}
