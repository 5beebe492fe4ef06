/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_pooling.c - terms of the time of pooling, mostly bytes. Input rows that no window covers are
 * not read, rows that several windows share are read from the cache; each kernel size has its own
 * loop. */
#include <config.h>

#include <math.h>

#include "predictor/law/law.h"

static double touched(double kernel, double stride)
{
    return kernel < stride ? kernel / stride : 1;
}

void th_law_pooling(const th_op *op, th_terms *t)
{
    enum { KERNELS = 7, STRIDES = 4, THREADS = 1024 };
    const int32_t *x = op->x;
    double input = t->sizes.input, output = t->sizes.output;
    double area = (double)x[TH_OP_KERNEL_H] * x[TH_OP_KERNEL_W];
    double rows = touched(x[TH_OP_KERNEL_H], x[TH_OP_STRIDE_H]);
    int kernel = (int)(sqrt(area) + 0.5), stride = x[TH_OP_STRIDE_W];
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_HOST, 1, "call", 0, 0);
    th_terms_add(t, TH_TERM_HOST, x[TH_OP_PAD_H] + x[TH_OP_PAD_W] > 0, "call padded", 0, 0);
    th_terms_one(t, TH_TERM_TRANSFER, output, "returned");
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_MEMORY, input, "input", 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, input * rows, "rows touched", 0, 0);
    th_terms_add(t, TH_TERM_MEMORY, input * rows * touched(x[TH_OP_KERNEL_W], x[TH_OP_STRIDE_W]),
                 "touched", 0, 0);
    th_terms_one(t, TH_TERM_MEMORY, output, "output");
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_MEMORY, output * area, "windows", 0, 0);
    for (int k = 1; k <= KERNELS; k++) {
        enum { TERMS = 2 };
        if (kernel != k && th_terms_skip(t, TERMS))
            continue;
        th_terms_add(t, TH_TERM_MEMORY, kernel == k ? output : 0, "output k%d", k, 0);
        th_terms_add(t, TH_TERM_MEMORY, kernel == k ? output * area : 0, "windows k%d", k, 0);
    }
    th_terms_begin_group(t);
    for (int s = 1; s <= STRIDES; s++)
        th_terms_add(t, TH_TERM_MEMORY, stride == s ? input : 0, "input s%d", s, 0);
    th_terms_one(t, TH_TERM_STEP, th_law_ceil(output / 4 / THREADS) * 1e-6, "blocks");
}
