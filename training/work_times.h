/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work_times.h - how long the kernels of a step take, s, by the law of single operations
 * (predictor/law) and what of it a long step keeps. */
#ifndef TH_TRAINING_WORK_TIMES_H
#define TH_TRAINING_WORK_TIMES_H
#include "predictor/op/op.h"
#include "training/layer_work.h"

/* Members products of rows x inner by inner x columns, whose operands are there in the precision.
 */
typedef struct th_product {
    th_op_precision precision;
    double members, rows, inner, columns;
} th_product;
double th_product_s(const th_work_context *c, const th_product *x);
double th_attention_s(const th_work_context *c, const th_op *op, bool is_backward); /* fused */
/* A kernel that streams so many bytes from memory and to it; of norms, or of other functions. */
double th_pass_s(const th_work_context *c, th_op_kind kind, double bytes);

#endif
