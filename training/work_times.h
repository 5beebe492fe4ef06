/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work_times.h - how long the kernels of a step take, s, by the law of single operations
 * (predictor/law) and what of it a long step keeps. */
#ifndef TH_TRAINING_WORK_TIMES_H
#define TH_TRAINING_WORK_TIMES_H
#include "predictor/op/op.h"
#include "training/work_context.h"

th_op_precision th_wide_precision(const th_work_context *c); /* of what has no fewer bits */
/* Members products of rows x inner by inner x columns, whose operands are there in the precision.
 */
typedef struct th_product {
    th_op_precision precision;
    double members, rows, inner, columns;
} th_product;
double th_product_s(const th_work_context *c, const th_product *x);
/* Fused attention of a layer's kind, whose queries meet so many keys in the mean. */
double th_fused_attention_s(const th_work_context *c, const th_transformer_kind *k, double keys,
                            bool is_portable, bool is_backward);
/* Operations of rows besides, or in the place of attention: at the rate of a product of as many. */
double th_attention_besides_s(const th_work_context *c, double rows, double operations);
/* A kernel that streams so many bytes from memory and to it; of norms, or of other functions. */
double th_pass_s(const th_work_context *c, th_op_kind kind, double bytes);

#endif
