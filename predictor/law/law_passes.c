/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_passes.c - terms of the time of memory-bound operations at less than single precision: bytes
 * over the rate of where they lie, and rows that a multiprocessor walks through.
 *   th_law_passes: resident share -> { terms of the kind, or of each function }
 *
 * Between operations of a network, and in repeated runs of one, the operands were just written:
 * what fits into the last-level cache is served from there. The resident share falls from 1, where
 * the operands take less than FITS of the cache, to 0 at SPILLS (a cache with least-recently-used
 * replacement keeps nothing of a stream that is longer than it). Without measurements:
 *   time = START + DRAM bytes / (RATE * bandwidth) + cache bytes / (CACHE_RATE * cache's rate)
 * Each function has weights of its own, for each is a kernel of its own: start, bytes from memory,
 * bytes from the cache, steps of rows. */
#include <config.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "predictor/law/law.h"

static const double START_US = 2;
/* Usual shares of the rates. Kernels that take the sum or the largest of a row before they write it
 * reach 0.45 to 0.6 of the bandwidth on the five cards of NeuSight; others 0.7 to 0.87. */
static const double RATE = 0.8, CACHE_RATE = 0.5, RATE_OF_ROWS = 0.53, CACHE_RATE_OF_ROWS = 0.25;

double th_law_resident(double bytes, const th_gpu *gpu)
{
    static const double FITS = 0.5, SPILLS = 1.5, BYTES = 0x1p20;
    double used = bytes / (gpu->x[TH_GPU_L2] * BYTES);
    return fmin(1, fmax(0, (SPILLS - used) / (SPILLS - FITS)));
}

typedef struct {
    double start, memory, cached, steps; /* ms */
} amounts;

static amounts amounts_of(const th_op *op, const th_gpu *gpu)
{
    enum { BLOCKS = 2, THREADS = 1024 }; /* blocks of a multiprocessor; one for each row */
    static const double STEP_US = 1, CLOCK_MHZ = 1410; /* of the A100: latencies are clocks */
    double read, written, slower = CLOCK_MHZ / gpu->x[TH_GPU_CLOCK];
    th_op_traffic(op, &read, &written);
    double bytes = read + written, resident = th_law_resident(bytes, gpu);
    double waves = th_law_ceil(op->x[TH_OP_BATCH] / (BLOCKS * gpu->x[TH_GPU_SMS])),
           turns = th_law_ceil((double)op->x[TH_OP_CHANNELS_IN] / THREADS);
    return (amounts){START_US * 1e-3 * slower,
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

enum { TERMS = 4 }; /* of a function: start, memory, cache, steps */

void th_law_passes_complete(double *weight)
{
    const double usual[TERMS] = {1, 1 / RATE, 1 / CACHE_RATE, 0};
    for (int f = 0; f < TH_N_EWS; f++) {
        double *own = weight + (ptrdiff_t)f * TERMS;
        if (own[0] == 0 && own[1] == 0 && own[2] == 0 && own[3] == 0)
            memcpy(own, usual, sizeof usual);
    }
}

void th_law_passes(const th_op *op, const th_gpu *gpu, th_terms *t)
{
    amounts a = amounts_of(op, gpu);
    bool takes_rows = op->kind != TH_OP_ELEMENTWISE;
    t->sheet_ms = a.start + a.memory / (takes_rows ? RATE_OF_ROWS : RATE) +
                  a.cached / (takes_rows ? CACHE_RATE_OF_ROWS : CACHE_RATE);
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
