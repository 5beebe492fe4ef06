/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_power.c - the power of a board.
 *   th_law_products_w -> th_law_clock (law_product.c);  th_law_board;  th_law_power_w
 *
 *   W         = static + (operations J + bytes CACHE_PJ + those from DRAM DRAM_PJ) / time,
 *               at most the limit
 *   static    = idle + CLOCKS products
 *   operation = (1 - CLOCKS) products / peak
 * A unit at its peak takes `products`, whatever its precision: wider numbers cost more energy as
 * they have a lower peak. Lowering the clock lowers the voltage, too, so above the limit the time
 * grows and the power stays. Nothing is fitted to measured power.
 * Not modelled: temperature, what numbers the operands hold, the ramp of the first milliseconds,
 * unequal boards. */
#include <config.h>

#include <math.h>

#include "predictor/law/law_power.h"

/* Of products' power, what clock trees and leakage take beside any work as soon as a kernel runs:
 * assumed. It makes 83 W of an A100 and 149 W of an H100. */
static const double CLOCKS = 0.1;
/* Of a byte: 6.0 pJ/bit of HBM2E devices (Micron, Ultra-bandwidth solutions, 2020; GDDR6 has 7.5);
 * 20 mm from a slice of the cache to a multiprocessor and back to its registers, at 0.1 pJ a bit
 * and mm (Horowitz, ISSCC 2014; wires scale little): 2.5 pJ/bit. */
static const double DRAM_PJ = 48, CACHE_PJ = 20;
/* Of an attention's score, single precision: scale, maximum, exponential, sum, rounding; a
 * multiply-accumulate's slot, which counts twice, each. */
static const double SOFTMAX = 10;
static const double GIGA = 1e9, W_PER_GIGA_PJ = 1e-3, J_PER_PJ = 1e-12, S_PER_MS = 1e-3;

double th_law_products_w(const th_gpu *gpu, double share)
{
    double pj = gpu->extra[TH_GPU_FP16_ENERGY];
    th_op_precision half = th_gpu_nearest_precision(gpu, TH_PRECISION_FP16);
    return gpu->extra[TH_GPU_BOARD_POWER] > 0 ? pj * share * th_gpu_peak(gpu, half) * W_PER_GIGA_PJ
                                              : 0;
}

double th_law_clock(const th_gpu *gpu, double watts)
{
    double there = gpu->extra[TH_GPU_BOARD_POWER] - gpu->extra[TH_GPU_IDLE_POWER];
    return sqrt(fmin(1, fmax(0, there / watts)));
}

bool th_law_board(const th_gpu *gpu, th_board *out)
{
    double idle = gpu->extra[TH_GPU_IDLE_POWER], limit = gpu->extra[TH_GPU_BOARD_POWER];
    double known = th_law_products_w(gpu, 1), products = known > 0 ? known : limit - idle;
    if (!(limit > 0 && idle > 0))
        return false;
    *out = (th_board){.static_w = idle + CLOCKS * products,
                      .limit_w = limit,
                      .cache_byte_j = CACHE_PJ * J_PER_PJ,
                      .dram_byte_j = DRAM_PJ * J_PER_PJ};
    for (int p = 0; p < TH_N_OP_PRECISIONS; p++) {
        th_op_precision at = th_gpu_nearest_precision(gpu, (th_op_precision)p);
        out->operation_j[p] = (1 - CLOCKS) * products / (GIGA * th_gpu_peak(gpu, at));
    }
    return true;
}

static double bytes_j(const th_op *op, const th_op_sizes *s, const th_gpu *gpu, const th_board *b)
{
    static const double MEBI = 1 << 20;
    double read, written;
    th_op_traffic(op, &read, &written);
    double bytes = read + written > 0 ? read + written : s->input + s->weights + s->output;
    double outside = fmax(0, bytes - gpu->x[TH_GPU_L2] * MEBI);
    return bytes * b->cache_byte_j + outside * b->dram_byte_j;
}

double th_law_power_w(const th_op *op, const th_gpu *gpu, double ms)
{
    th_board b;
    if (!th_law_board(gpu, &b) || !(ms > 0))
        return 0;
    th_op_sizes s = th_op_sizes_of(op);
    double j = s.flops * b.operation_j[op->x[TH_OP_PRECISION]] + bytes_j(op, &s, gpu, &b);
    if (op->kind == TH_OP_ATTENTION) {
        double width = op->x[TH_OP_CHANNELS_IN] + op->x[TH_OP_CHANNELS_OUT];
        j += s.flops / (2 * width) * SOFTMAX * b.operation_j[TH_PRECISION_FP32];
    }
    return fmin(b.limit_w, b.static_w + j / (ms * S_PER_MS));
}
