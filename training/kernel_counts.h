/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_counts.h - how many kernels the host launches for the parts of a layer besides its
 * products, and how long it takes to launch one. docs/models/training.md has both tables. */
#ifndef TH_TRAINING_KERNEL_COUNTS_H
#define TH_TRAINING_KERNEL_COUNTS_H
#include "training/parallel_plan.h"
#include "training/training_numbers.h"

typedef enum {
    TH_KERNELS_NORM,
    TH_KERNELS_RESIDUAL,   /* what a half of a layer made is added to what went in */
    TH_KERNELS_HEADS,      /* queries, keys and values apart, and heads together again */
    TH_KERNELS_ROTARY,     /* where positions are not learned */
    TH_KERNELS_ACTIVATION, /* of the feed-forward network */
    TH_KERNELS_GRADIENT,   /* of a weight and its bias, added to those of earlier micro-batches */
    TH_KERNELS_MESSAGE,    /* between stages, at each of its ends */
    TH_N_KERNEL_PARTS
} th_kernel_part;

/* Of one such part, forward or backward. */
int32_t th_kernels_of(const th_parallel_plan *p, th_kernel_part part, bool is_backward);
/* From queries, keys and values to what the scores weigh, the products of both included. */
int32_t th_kernels_of_attention(const th_parallel_plan *p, const th_transformer *t,
                                th_attention attention, bool is_backward);
/* How attention is computed for so many heads of a rank: a fused masked softmax takes but some
 * shapes, and the scores of others are masked and normalized kernel by kernel. */
th_attention th_attention_of(const th_parallel_plan *p, int32_t heads);
th_training_number th_launch_number(const th_parallel_plan *p); /* s of the host per kernel */

#endif
