/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_matrix.c - terms of the time of dense layers and batched products: operands read and written, tiles
 * of several sizes, filled or not, in waves over the multiprocessors. */
#include <config.h>

#include <math.h>

#include "predictor/law.h"

enum { STEP = 8 };

typedef struct {
    double batch, rows, inner, columns;
} product;

static product product_of(const th_op *op)
{
    bool is_dense = op->kind == TH_OP_DENSE;
    return (product){is_dense ? 1 : op->x[TH_OP_BATCH],
                     is_dense ? op->x[TH_OP_BATCH] : op->x[TH_OP_ROWS], op->x[TH_OP_CHANNELS_IN],
                     op->x[TH_OP_CHANNELS_OUT]};
}

static void tiles(th_terms *t, const product *p, double sms)
{
    static const int sizes[][2] = {{256, 128}, {128, 128}, {128, 64},
                                   {64, 64},   {128, 32},  {32, 32}};
    double inner = ceil(p->inner / STEP) * STEP;
    for (int i = 0; i < 6; i++) {
        double a = sizes[i][0], b = sizes[i][1];
        double n = p->batch * ceil(p->rows / a) * ceil(p->columns / b), work = 2 * a * b * inner;
        th_terms_share(t);
        th_terms_add(t, TH_TERM_COMPUTE, n * work, "tiles %dx%d", sizes[i][0], sizes[i][1], 0);
        th_terms_add(t, TH_TERM_COMPUTE, ceil(n / sms) * sms * work, "waves %dx%d", sizes[i][0],
                     sizes[i][1], 0);
    }
}

void th_law_matrix(const th_op *op, th_phase phase, const th_gpu *gpu, th_terms *t)
{
    product p = product_of(op);
    double weights = th_op_weight_bytes(op);
    th_terms_share(t);
    th_terms_add(t, TH_TERM_HOST, 1, "call", 0, 0, 0);
    th_terms_add(t, TH_TERM_HOST, op->x[TH_OP_ACTIVATION] != TH_ACT_NONE, "call activation", 0, 0,
                 0);
    th_terms_add(t, TH_TERM_HOST, p.rows == 1, "call of one row", 0, 0, 0);
    th_terms_share(t);
    th_terms_add(t, TH_TERM_TRANSFER, th_op_output_bytes(op), "returned", 0, 0, 0);
    th_terms_share(t);
    th_terms_add(t, TH_TERM_MEMORY, th_op_input_bytes(op), "input", 0, 0, 0);
    th_terms_share(t);
    th_terms_add(t, TH_TERM_MEMORY, th_op_output_bytes(op), "output", 0, 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, op->x[TH_OP_ACTIVATION] ? th_op_output_bytes(op) : 0,
                 "activation", 0, 0, 0);
    th_terms_share(t);
    th_terms_add(t, TH_TERM_MEMORY, weights, "weights", 0, 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, p.rows == 1 ? weights : 0, "weights of one row", 0, 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, ceil(p.rows / 8) * weights, "weights per 8 rows", 0, 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, ceil(p.rows / 32) * weights, "weights per 32 rows", 0, 0, 0);
    th_terms_share(t);
    th_terms_add(t, TH_TERM_COMPUTE, th_op_flops(op), "operations", 0, 0, 0);
    tiles(t, &p, gpu->x[TH_GPU_SMS]);
    th_terms_share(t);
    th_terms_add(t, TH_TERM_HOST, p.inner * 1e-6, "inner steps", 0, 0, 0);
    th_terms_add(t, TH_TERM_HOST, p.columns * 1e-6, "columns", 0, 0, 0);
    for (int o = TH_OPTIMIZER_SGD; phase == TH_PHASE_STEP && o < TH_N_OPTIMIZERS; o++) {
        th_terms_share(t);
        th_terms_add(t, TH_TERM_HOST, op->x[TH_OP_OPTIMIZER] == o, "call optimizer %d", o, 0, 0);
        th_terms_add(t, TH_TERM_MEMORY, op->x[TH_OP_OPTIMIZER] == o ? weights : 0, "optimizer %d",
                     o, 0, 0);
    }
}
