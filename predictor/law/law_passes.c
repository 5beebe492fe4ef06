/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_passes.c - terms of the time of memory-bound operations at less than single precision: bytes
 * over the rate of where they lie, and rows that a multiprocessor walks through.
 *   th_law_passes: resident share -> { terms of the kind, or of each function }
 *
 * Between operations of a network, and in repeated runs of one, the operands were just written:
 * what fits into the last-level cache is served from there. The resident share falls from 1, where
 * the operands take less than FITS of the cache, to 0 at SPILLS (a cache with least-recently-used
 * replacement keeps nothing of a stream that is longer than it). The cache gains little: a
 * multiprocessor has few bytes under way at once, so it is its latency that kernels reach.
 *   time = START + steps + DRAM bytes / (RATE * bandwidth) + cache bytes / (CACHE_RATE * cache's)
 * A block takes a row. The sums along a row, with two synchronisations of the block, take about
 * another TURN. Starts and steps are latencies, which last a number of clocks.
 * Each function has weights of its own, for each is a kernel of its own: start, bytes from memory,
 * bytes from the cache, steps of rows. One that was not measured has the mean of those that were
 * (th_law_passes_complete). */
#include <config.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "predictor/law/law.h"

static const double START_US = 2;
/* Weights of the amounts without measurements: of functions the geometric mean of sums, gated
 * activations and rotary embeddings; of norms those of RMS norms, each fitted to two cards (A100,
 * H100; 16 bits). Kernels that load whole vectors (softmax and its like) reach 0.45 to 0.6 of the
 * bandwidth on the five cards of NeuSight, whatever the rows. */
typedef struct {
    double start, memory, cached, steps;
} usual_weights;
static const usual_weights OF_FUNCTIONS = {0.75, 1.1, 4.2, 0}, OF_NORMS = {0.8, 1.3, 2.6, 0.6},
                           OF_SOFTMAX = {1, 1.9, 4, 0};

static const usual_weights *usual_weights_of(th_op_kind kind)
{
    if (kind == TH_OP_ELEMENTWISE)
        return &OF_FUNCTIONS;
    return kind == TH_OP_NORM || kind == TH_OP_RMS_NORM ? &OF_NORMS : &OF_SOFTMAX;
}

double th_law_stream_ms(const th_gpu *gpu, th_op_kind kind, double bytes)
{
    return usual_weights_of(kind)->memory * bytes / (gpu->x[TH_GPU_BANDWIDTH] * 1e6);
}

/* Share of an operation's bytes that lie in the last-level cache when it begins. */
static double resident_share(double bytes, const th_gpu *gpu)
{
    static const double FITS = 0.5, SPILLS = 1.5, BYTES = 0x1p20;
    double used = bytes / (gpu->x[TH_GPU_L2] * BYTES);
    return fmin(1, fmax(0, (SPILLS - used) / (SPILLS - FITS)));
}

typedef struct {
    double start, memory, cached, steps; /* ms */
} amounts;

enum { THREADS = 1024, THREADS_OF_ALL = 2048, WARP = 32, BLOCKS_OF_ALL = 32 };

/* Of a multiprocessor: a thread for each number of a row, THREADS at most. */
static double rows_at_once(const th_op *op)
{
    double warps = th_law_ceil((double)op->x[TH_OP_CHANNELS_IN] / WARP);
    double rows = floor(THREADS_OF_ALL / (WARP * fmin(warps, THREADS / WARP)));
    return fmin(rows, BLOCKS_OF_ALL);
}

static double kernels_of(const th_op *op)
{
    return op->kind == TH_OP_ELEMENTWISE && op->x[TH_OP_FUNCTION] == TH_EW_ADD_THREE ? 2 : 1;
}

static amounts amounts_of(const th_op *op, const th_gpu *gpu)
{
    static const double STEP_US = 1, CLOCK_MHZ = 1410; /* of the A100: latencies are clocks */
    double read, written, slower = CLOCK_MHZ / gpu->x[TH_GPU_CLOCK];
    double kernels = kernels_of(op);
    th_op_traffic(op, &read, &written);
    double bytes = read + written, resident = resident_share(bytes / kernels, gpu);
    double waves = th_law_ceil(op->x[TH_OP_BATCH] / (rows_at_once(op) * gpu->x[TH_GPU_SMS])),
           turns = th_law_ceil((double)op->x[TH_OP_CHANNELS_IN] / THREADS);
    if (op->kind != TH_OP_ELEMENTWISE)
        turns += 1;
    return (amounts){kernels * START_US * 1e-3 * slower,
                     (1 - resident) * bytes / (gpu->x[TH_GPU_BANDWIDTH] * 1e6),
                     resident * bytes / (th_gpu_l2_bandwidth(gpu) * 1e6),
                     STEP_US * 1e-3 * slower * waves * turns};
}

static void add(th_terms *t, const amounts *a, int function)
{
    th_terms_add(t, TH_TERM_STEP, a->start, "start %d", function, 0);
    th_terms_add(t, TH_TERM_STEP, a->memory, "memory %d", function, 0);
    th_terms_add(t, TH_TERM_STEP, a->cached, "cache %d", function, 0);
    th_terms_add(t, TH_TERM_STEP, a->steps, "steps %d", function, 0);
}

enum { STEPS = 3, TERMS }; /* of a function: start, memory, cache, steps */

static bool was_measured(const double *weight)
{
    return weight[0] != 0 || weight[1] != 0 || weight[2] != 0 || weight[3] != 0;
}

/* The mean of the measured functions by term: of rates geometric, over those that have the term. */
static void usual_of(const double *weight, double usual[TERMS])
{
    const double otherwise[TERMS] = {OF_FUNCTIONS.start, OF_FUNCTIONS.memory, OF_FUNCTIONS.cached,
                                     OF_FUNCTIONS.steps};
    for (int i = 0; i < TERMS; i++) {
        double sum = 0;
        int n = 0;
        for (int f = 0; f < TH_N_EWS; f++) {
            double x = weight[f * TERMS + i];
            if (f == TH_EW_EMBEDDING || x <= 0)
                continue;
            sum += log(x);
            n++;
        }
        usual[i] = n > 0 && i != STEPS ? exp(sum / n) : otherwise[i];
    }
}

void th_law_passes_complete(double *weight)
{
    double usual[TERMS];
    const double *sums = weight + (ptrdiff_t)TH_EW_ADD * TERMS;
    usual_of(weight, usual);
    for (int f = 0; f < TH_N_EWS; f++) {
        double *own = weight + (ptrdiff_t)f * TERMS;
        bool is_two_sums = f == TH_EW_ADD_THREE && was_measured(sums);
        if (!was_measured(own))
            memcpy(own, is_two_sums ? sums : usual, sizeof usual);
    }
}

void th_law_passes(const th_op *op, const th_gpu *gpu, th_terms *t)
{
    amounts a = amounts_of(op, gpu);
    const usual_weights *w = usual_weights_of(op->kind);
    t->sheet_ms =
        w->start * a.start + w->memory * a.memory + w->cached * a.cached + w->steps * a.steps;
    if (op->kind != TH_OP_ELEMENTWISE) {
        th_terms_begin_group(t);
        add(t, &a, 0);
        return;
    }
    for (int f = 0; f < TH_N_EWS; f++) {
        bool is_this = op->x[TH_OP_FUNCTION] == f;
        th_terms_begin_group(t);
        if (!is_this && th_terms_skip(t, TERMS))
            continue;
        add(t, is_this ? &a : &(amounts){0, 0, 0, 0}, f);
    }
}
