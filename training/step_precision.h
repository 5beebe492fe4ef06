/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_precision.h - the precisions of a step of training, a row of a table each. */
#ifndef TH_TRAINING_STEP_PRECISION_H
#define TH_TRAINING_STEP_PRECISION_H
#include "predictor/op/op.h"
#include "workloads/layer.h"

/* Of products in layers; from FP8 on narrower than all else, which has 16 bits. */
typedef enum {
    TH_TRAIN_BF16,
    TH_TRAIN_FP16,
    TH_TRAIN_FP32,     /* weights, gradients, activations and messages have 32 bits, too; */
    TH_TRAIN_TF32,     /* likewise, and tensor cores take products with 19 of them */
    TH_TRAIN_FP8,      /* a scale per tensor */
    TH_TRAIN_FP8_ROWS, /* per row */
    TH_TRAIN_MXFP8,    /* per block of 32 */
    TH_TRAIN_NVFP4     /* 4 bits, per block of 16 */
} th_train_precision;

typedef struct th_step_precision {
    const char *name;
    int32_t bytes;            /* of a weight, an activation, a number of a message */
    th_op_precision wide;     /* of products outside of layers, and of attention */
    th_op_precision products; /* of those in layers */
    th_precision macs;        /* whose energy theirs is, */
    double times;             /* so often */
    /* Of products in layers: the time over the law's; to cast an operand, bytes moved of a number
     * and kernels launched; bytes of a number that is kept, its share of a scale included. */
    double slower, cast_bytes, launches, kept_bytes;
} th_step_precision;
extern const th_step_precision th_step_precisions[]; /* by th_train_precision; ends in name NULL */

#endif
