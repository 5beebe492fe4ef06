/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_precision.c - see step_precision.h.
 * Products with a scale per row take 1.4 times those with one per tensor: measured by
 * pytorch/torchtitan, benchmarks/asyncTP_llama3_h100_2025-06_torchtitan.md. Casts: of an operand's
 * number, read in 16 bits and written twice, along rows and along columns, by blocks; per tensor
 * some of them are fused into what wrote the operand. Energy: tensor cores take the same power in
 * any precision, so it is the inverse of the peak (law_power.c); TF32 has half of that of 16. */
#include <config.h>
#include <stddef.h>
#include "training/step_precision.h"

const th_step_precision th_step_precisions[] = {
    [TH_TRAIN_BF16] = {"bf16", 2, TH_PRECISION_BF16, TH_PRECISION_BF16, TH_BF16, 1, 1, 0, 0, 2},
    [TH_TRAIN_FP16] = {"fp16", 2, TH_PRECISION_FP16, TH_PRECISION_FP16, TH_FP16, 1, 1, 0, 0, 2},
    [TH_TRAIN_FP32] = {"fp32", 4, TH_PRECISION_FP32, TH_PRECISION_FP32, TH_FP32, 1, 1, 0, 0, 4},
    [TH_TRAIN_TF32] = {"tf32", 4, TH_PRECISION_TF32, TH_PRECISION_TF32, TH_BF16, 2, 1, 0, 0, 4},
    [TH_TRAIN_FP8] = {"fp8", 2, TH_PRECISION_BF16, TH_PRECISION_FP8, TH_BF16, 1, 1, 2.4, 1, 1},
    [TH_TRAIN_FP8_ROWS] = {"fp8_rows", 2, TH_PRECISION_BF16, TH_PRECISION_FP8, TH_BF16, 1, 1.4, 2.4,
                           1, 1},
    [TH_TRAIN_MXFP8] = {"mxfp8", 2, TH_PRECISION_BF16, TH_PRECISION_FP8, TH_BF16, 1, 1, 4, 1,
                        1 + 1 / 32.0},
    [TH_TRAIN_NVFP4] = {"nvfp4", 2, TH_PRECISION_BF16, TH_PRECISION_FP4, TH_BF16, 1, 1, 5, 2,
                        0.5 + 1 / 16.0},
    {.name = NULL},
};
