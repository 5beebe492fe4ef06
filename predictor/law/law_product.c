/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_product.c - terms of the time of products on tensor cores: tiles in waves over the
 * multiprocessors, operands from memory.
 *   th_law_product: work_of -> compute_ms: { tile, split -> waves } -> the least -> terms
 *
 * A library picks, for every shape, the tile and the split of the inner dimension that its
 * heuristic holds for the quickest, so the law takes the least over TILES and splits:
 *   compute = waves * (2 tm tn K / (peak per multiprocessor * ceiling * fill) + PER_WAVE)
 *             + split: partial sums through the cache + SPLIT_START,
 *   waves = ceil(tiles * split / multiprocessors), tiles = sum over members of
 *           ceil(M / tm) * ceil(N / tn)
 *   time = START + sqrt(compute^2 + memory^2), memory = bytes / (MEMORY * bandwidth)
 * The root stands between the larger of both (perfect overlap) and their sum. The ceiling falls
 * where the board's power does not suffice for the full clock. The constants but for those of power
 * are fitted to 34,524 products of 16 bits on two GPUs (A100 80 GB, H100), with a ceiling of 0.78
 * on both. */
#include <config.h>

#include <math.h>

#include "predictor/law/law.h"

static const double START_US = 3.7, PER_WAVE_US = 0.58, SPLIT_START_US = 2.6;
static const double MEMORY = 0.98;     /* of the data sheet's bandwidth, beside the root */
static const double HALF_FILL = 310;   /* elements of a tile that reach half of the ceiling */
static const double CACHE_RATE = 0.46; /* of the bandwidth, at which partial sums move */

/* Of the peak that long products reach where their energy is not known: fitted to two cards that
 * lower their clocks. fp8 and fp4: by the ratio of peaks, and the share of it that training runs of
 * 8 bits reach (0.57 where 16 bits reach 0.67); not fitted. */
static const double USUAL = 0.78, OF_FEW_BITS = 0.66 / 0.78;
/* The same without a limit of power: an A100 of 400 W (LLMCompass). */
static const double UNLIMITED = 0.92;

/* The clock follows the square root of the power that is there for products: between the linear law
 * of one voltage and the cube root where voltage follows the clock. A100: 300 W reach 0.83 of what
 * 400 W reach. */
static double ceiling_of(const th_gpu *gpu, th_op_precision p)
{
    double few = p == TH_PRECISION_FP8 || p == TH_PRECISION_FP4 ? OF_FEW_BITS : 1;
    double pj = gpu->extra[TH_GPU_FP16_ENERGY], board = gpu->extra[TH_GPU_BOARD_POWER];
    th_op_precision half = th_gpu_nearest_precision(gpu, TH_PRECISION_FP16);
    if (p == TH_PRECISION_FP32 || !(pj > 0 && board > 0))
        return few * USUAL;
    double wanted = pj * UNLIMITED * th_gpu_peak(gpu, half) * 1e-3,
           there = board - gpu->extra[TH_GPU_IDLE_POWER];
    return few * UNLIMITED * sqrt(fmin(1, fmax(0, there / wanted)));
}

typedef struct {
    double members, rows, inner, columns; /* rows: of a member, where all are equal */
    const int32_t *unequal;               /* rows of each member; NULL: all are equal */
} product;

static product product_of(const th_op *op)
{
    bool is_dense = op->kind == TH_OP_DENSE;
    return (product){is_dense ? 1 : op->x[TH_OP_BATCH],
                     is_dense ? op->x[TH_OP_BATCH] : op->x[TH_OP_ROWS], op->x[TH_OP_CHANNELS_IN],
                     op->x[TH_OP_CHANNELS_OUT], NULL};
}

static double tiles_of(const product *p, double tm, double tn)
{
    double rows = 0;
    if (!p->unequal)
        return p->members * th_law_ceil(p->rows / tm) * th_law_ceil(p->columns / tn);
    for (int i = 0; i < (int)p->members; i++)
        rows += th_law_ceil(p->unequal[i] / tm);
    return rows * th_law_ceil(p->columns / tn);
}

/* us of the best tile and split. */
static double compute_us(const product *p, double numbers_out, const th_gpu *gpu,
                         th_op_precision at)
{
    enum { SPLIT_MAX = 8, INNER_STEP = 32 };
    static const double tiles[][2] = {{256, 128}, {128, 256}, {128, 128},
                                      {64, 128},  {128, 64},  {64, 64}};
    double sms = gpu->x[TH_GPU_SMS], best = INFINITY;
    double per_us = th_gpu_peak(gpu, at) * 1e3 / sms * ceiling_of(gpu, at),
           sum_us = 8 * numbers_out / (gpu->x[TH_GPU_BANDWIDTH] * 1e3 * CACHE_RATE);
    for (int i = 0; i < 6; i++) {
        double area = tiles[i][0] * tiles[i][1], n = tiles_of(p, tiles[i][0], tiles[i][1]);
        double per_step = 2 * area / (per_us * area / (area + HALF_FILL));
        for (int split = 1; split <= SPLIT_MAX; split *= 2) {
            if (split > 1 && n * split > 2 * sms)
                break;
            double inner = th_law_ceil(p->inner / split / INNER_STEP) * INNER_STEP;
            double us = th_law_ceil(n * split / sms) * (inner * per_step + PER_WAVE_US) +
                        (split > 1 ? split * sum_us + SPLIT_START_US : 0);
            best = us < best ? us : best;
        }
    }
    return best;
}

typedef struct {
    double compute_ms, memory_ms;
} product_times;

static product_times times_of(const product *p, const th_op_sizes *s, const th_gpu *gpu,
                              th_op_precision wanted)
{
    static const double MS_PER_US = 1e-3, BYTES_PER_MS = 1e6;
    th_op_precision at = th_gpu_nearest_precision(gpu, wanted);
    double numbers_out = s->flops / (2 * p->inner);
    return (product_times){MS_PER_US * compute_us(p, numbers_out, gpu, at),
                           (s->input + s->weights + s->output) /
                               (gpu->x[TH_GPU_BANDWIDTH] * BYTES_PER_MS * MEMORY)};
}

static double sheet_ms(const product_times *x)
{
    return START_US * 1e-3 + sqrt(x->compute_ms * x->compute_ms + x->memory_ms * x->memory_ms);
}

void th_law_product(const th_op *op, const th_gpu *gpu, th_terms *t)
{
    product p = product_of(op);
    product_times x = times_of(&p, &t->sizes, gpu, (th_op_precision)op->x[TH_OP_PRECISION]);
    t->sheet_ms = sheet_ms(&x);
    th_terms_one(t, TH_TERM_STEP, START_US * 1e-3, "start");
    th_terms_one(t, TH_TERM_STEP, t->sheet_ms - START_US * 1e-3, "compute and memory");
    th_terms_one(t, TH_TERM_STEP, x.compute_ms, "compute");
    th_terms_one(t, TH_TERM_STEP, x.memory_ms, "memory");
}

double th_law_grouped_ms(const th_op *op, const int32_t *rows, const th_gpu *gpu)
{
    product p = product_of(op);
    double all = 0;
    for (int i = 0; i < op->x[TH_OP_BATCH]; i++)
        all += rows[i];
    p.unequal = rows;
    th_op_sizes s = th_op_sizes_of(op);
    double share = all / ((double)op->x[TH_OP_BATCH] * op->x[TH_OP_ROWS]);
    s.input *= share;
    s.output *= share;
    s.flops *= share;
    product_times x = times_of(&p, &s, gpu, (th_op_precision)op->x[TH_OP_PRECISION]);
    return sheet_ms(&x);
}
