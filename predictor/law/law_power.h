/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_power.h - the power of a board, by its data sheet: what products at a rate take, the clock
 * that the board's limit leaves them, the mean over an operation. docs/models/energy.md has the
 * equations and where each number comes from. */
#ifndef TH_PREDICTOR_LAW_LAW_POWER_H
#define TH_PREDICTOR_LAW_LAW_POWER_H
#include <stdbool.h>

#include "predictor/data/gpu.h"
#include "predictor/op/op.h"

/* W above idle that tensor cores take at this share of their peak and the full clock, whatever the
 * precision; 0: the energy of an operation, or the board's limit, is not known. */
double th_law_products_w(const th_gpu *gpu, double share);
/* The clock, as a share of the full one, at which what takes so many W above idle, positive, stays
 * within the board's limit. The power is its square. */
double th_law_clock(const th_gpu *gpu, double watts);
/* What a board takes. */
typedef struct th_board {
    double static_w, limit_w;               /* while anything runs; at most */
    double operation_j[TH_N_OP_PRECISIONS]; /* on tensor cores, or where it has none on others */
    double cache_byte_j, dram_byte_j;       /* of every byte; what one from DRAM takes besides */
} th_board;
/* false: its limit or its idle power is not known. */
bool th_law_board(const th_gpu *gpu, th_board *out);
/* The mean of a board while the operation runs, once in ms: between idle and limit. 0: either is
 * not known. */
double th_law_power_w(const th_op *op, const th_gpu *gpu, double ms);

#endif
