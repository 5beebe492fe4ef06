/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_experts.c - the law of a mixture's experts on the rank that has most to do: grouped products
 * of unequal members (law_product.c) and the passes around them.
 *   th_law_experts: fill_rows -> two grouped products -> terms
 *
 *   time = START + gate and up together + down + PASSES * bytes / bandwidth
 * Each of the tokens' top_k choices is a slot: its numbers are gathered, activated and summed up;
 * those of slots on other ranks are passed over as well. Experts without rows stay unread.
 *
 * Shares of experts follow x^-a between 1 and 0.8 of the tokens (of fewer slots than experts,
 * between 0.01 and 2), as published measurements draw them: an expert has the quantile in its
 * middle. Of several ranks, the fullest has the largest expert and else the mean, or the mean and
 * so many standard deviations as the largest of normal sums lies above it. */
#include <config.h>

#include <math.h>

#include "predictor/law/law.h"

/* --- rows of experts -------------------------------------------------------------------------- */

typedef struct {
    double exponent, least, most; /* of x^-exponent */
} power_law;

static double quantile(const power_law *p, double u)
{
    double e = 1 - p->exponent, low = pow(p->least, e);
    return pow((pow(p->most, e) - low) * u + low, 1 / e);
}

/* Of x^n. */
static double moment(const power_law *p, int n)
{
    double e = 1 - p->exponent, of = n + e;
    return (pow(p->most, of) - pow(p->least, of)) / of / ((pow(p->most, e) - pow(p->least, e)) / e);
}

/* How many of the mean the n experts of the fullest of the ranks have together. */
static double fullest(const power_law *p, double n, double ranks)
{
    static const double OF_BOUND = 0.8; /* of sqrt(2 ln ranks), for some to hundreds of them */
    if (ranks == 1)
        return n;
    double mean = moment(p, 1), variance = fmax(0, moment(p, 2) - mean * mean);
    double all = n * ranks, one = quantile(p, all / (all + 1)) / mean + n - 1;
    return fmax(one, n + OF_BOUND * sqrt(2 * log(ranks) * n * variance) / mean);
}

static void fill_equal(double slots, double n, double ranks, int32_t *rows)
{
    double each = slots / ranks / n, some = fmax(1, th_law_ceil(slots / ranks));
    for (int i = 0; i < n; i++)
        rows[i] = each < 1 ? i < some : (int32_t)(floor(each * (i + 1)) - floor(each * i));
}

/* Of the experts of the fullest rank; their number. */
static int fill_rows(const th_op *op, int32_t *rows)
{
    double tokens = op->x[TH_OP_BATCH], ranks = op->x[TH_OP_RANKS], all = op->x[TH_OP_N_EXPERTS],
           slots = tokens * op->x[TH_OP_TOP_K], n = all / ranks;
    bool is_sparse = slots <= all;
    /* an exponent of 1 has logarithms in place of powers: next to it is near enough */
    double exponent = op->x[TH_OP_SKEW] == 100 ? 1.001 : op->x[TH_OP_SKEW] / 100.0;
    power_law p = {exponent, is_sparse ? 0.01 : 1, is_sparse ? 2 : fmax(1.01, 0.8 * tokens)};
    if (op->x[TH_OP_SKEW] == 0) {
        fill_equal(slots, n, ranks, rows);
        return (int)n;
    }
    double weights = 0, upto = 0, left = fullest(&p, n, ranks) / all * slots;
    for (int i = 0; i < n; i++)
        weights += quantile(&p, (i + 0.5) / n);
    for (int i = (int)n - 1; i >= 0; i--) { /* what an expert cannot take is left to the smaller */
        double from = floor(upto), weight = quantile(&p, (i + 0.5) / n);
        double share = fmin(tokens, left * fmin(1, weight / weights));
        upto += share;
        left -= share;
        weights -= weight;
        rows[i] = (int32_t)(floor(upto) - from);
    }
    rows[(int)n - 1] += upto < 1;
    return (int)n;
}

/* --- the law ---------------------------------------------------------------------------------- */

/* Pairs of multiprocessors run kernels that gather and sum up beside the products. */
static const double START_US = 16, PASSES = 1.5, PAIRED_START_US = 10, PAIRED_PASSES = 0.7;

static double products_ms(const th_op *op, const int32_t *rows, int n, int32_t inner,
                          int32_t columns, const th_gpu *gpu)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += rows[i];
    th_op all = {TH_OP_MATMUL,
                 {[TH_OP_BATCH] = n,
                  [TH_OP_ROWS] = (int32_t)fmax(1, th_law_ceil(sum / n)),
                  [TH_OP_CHANNELS_IN] = inner,
                  [TH_OP_CHANNELS_OUT] = columns,
                  [TH_OP_PRECISION] = op->x[TH_OP_PRECISION]}};
    return th_law_grouped_work_ms(&all, rows, gpu);
}

void th_law_experts(const th_op *op, const th_gpu *gpu, th_terms *t)
{
    enum { BYTES = 2 };
    int32_t rows[TH_OP_EXPERTS_MAX], n = fill_rows(op, rows);
    int32_t hidden = op->x[TH_OP_CHANNELS_IN], inner = op->x[TH_OP_CHANNELS_OUT];
    double tokens = op->x[TH_OP_BATCH], slots = tokens * op->x[TH_OP_TOP_K];
    bool is_paired = gpu->extra[TH_GPU_TENSOR_M] >= 256;
    double bytes = BYTES * (slots * (3.0 * inner + 2.0 * hidden) + 2 * tokens * hidden);
    double start = 1e-3 * (is_paired ? PAIRED_START_US : START_US),
           up = products_ms(op, rows, n, hidden, 2 * inner, gpu),
           down = products_ms(op, rows, n, inner, hidden, gpu),
           passes = (is_paired ? PAIRED_PASSES : PASSES) * bytes / (gpu->x[TH_GPU_BANDWIDTH] * 1e6);
    t->sheet_ms = start + up + down + passes;
    th_terms_one(t, TH_TERM_STEP, start, "start");
    th_terms_one(t, TH_TERM_STEP, up, "gate and up");
    th_terms_one(t, TH_TERM_STEP, down, "down");
    th_terms_one(t, TH_TERM_STEP, passes, "passes");
}
