/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plain.c - numbers and flags of an operation on a GPU. */
#include <config.h>

#include "predictor/learners/plain.h"

#include <math.h>

static const double GIGA = 1e9;

static void add(th_plain *p, double x)
{
    p->x[p->n++] = (float)x;
}

/* Of a field whose values are words: how many there are. 0: it is a number. */
static int words_of(th_op_field f)
{
    switch (f) {
    case TH_OP_BIAS:
        return 2;
    case TH_OP_ACTIVATION:
        return TH_N_ACTS;
    case TH_OP_FUNCTION:
        return TH_N_EWS;
    case TH_OP_OPTIMIZER:
        return TH_N_OPTIMIZERS;
    case TH_OP_BATCH:
    case TH_OP_ROWS:
    case TH_OP_IN_H:
    case TH_OP_IN_W:
    case TH_OP_CHANNELS_IN:
    case TH_OP_CHANNELS_OUT:
    case TH_OP_KERNEL_H:
    case TH_OP_KERNEL_W:
    case TH_OP_STRIDE_H:
    case TH_OP_STRIDE_W:
    case TH_OP_PAD_H:
    case TH_OP_PAD_W:
    case TH_N_OP_FIELDS:
        break;
    }
    return 0;
}

static void add_fields(th_plain *p, const th_op *op, bool flags)
{
    for (int i = 0; i < TH_N_OP_FIELDS; i++) {
        int words = words_of((th_op_field)i);
        if (!th_op_has(op->kind, (th_op_field)i) || (words > 0) != flags)
            continue;
        if (words == 0) /* zeros that are padded may be none */
            add(p, op->x[i] + (i == TH_OP_PAD_H || i == TH_OP_PAD_W));
        for (int w = 1; w < words; w++)
            add(p, op->x[i] == w);
    }
}

void th_plain_fill(const th_op *op, const th_gpu *gpu, th_plain *out)
{
    double bandwidth = gpu->x[TH_GPU_BANDWIDTH] * GIGA;
    out->n = 0;
    add_fields(out, op, false);
    add(out, fmax(th_op_flops(op), 1) / (gpu->x[TH_GPU_PEAK] * GIGA));
    add(out, th_op_input_bytes(op) / bandwidth);
    if (th_op_weight_bytes(op) > 0)
        add(out, th_op_weight_bytes(op) / bandwidth);
    add(out, th_op_output_bytes(op) / bandwidth);
    if (th_op_has(op->kind, TH_OP_IN_H))
        add(out, th_op_out_h(op));
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        add(out, gpu->x[i]);
    out->n_numbers = out->n;
    add_fields(out, op, true);
}
