/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuse.h - layers of a workload that one kernel computes become one layer. */
#ifndef TH_WORKLOADS_FUSE_FUSE_H
#define TH_WORKLOADS_FUSE_FUSE_H
#include "workloads/workload.h"

/* A finished workload in which these are one layer each, with the name of their last layer:
 *   norm        layer and rms norms that are made of means, powers and products
 *   activation  functions of one tensor that are made of several passes (x sigmoid(x), gelu); one
 *               that follows a convolution, fully connected layer or norm is part of it
 *   gate        an activation times another tensor, as in gated feed-forward layers
 *   rotary      rotary embeddings that are made of slices, products and sums
 *   attention   scores, scale, masks, softmax and context
 * The multiply-accumulates of the workload stay the same. w, which is finished and has no models,
 * stays the caller's. NULL: out of memory. */
th_workload *th_workload_fuse(const th_workload *w, th_error *err);

#endif
