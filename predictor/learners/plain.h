/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plain.h - an operation on a GPU in plain numbers, without a law: its fields, its operations and
 * bytes, the data sheet. Numbers above 0 come first, then flags (0 or 1), so that a learner may
 * take logarithms of the former. */
#ifndef TH_PREDICTOR_LEARNERS_PLAIN_H
#define TH_PREDICTOR_LEARNERS_PLAIN_H
#include "predictor/data/gpu.h"
#include "predictor/op/op.h"

enum { TH_PLAIN_MAX = 64 };

typedef struct th_plain {
    int n, n_numbers; /* of which numbers; they depend on the kind alone */
    float x[TH_PLAIN_MAX];
} th_plain;

void th_plain_fill(const th_op *op, const th_gpu *gpu, th_plain *out);

#endif
