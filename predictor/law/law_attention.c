/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_attention.c - terms of the time of fused attention (Dao, FlashAttention-2, ICLR 2024): one
 * thread block for QUERIES queries of a head walks over the keys of its sequence.
 *   block = keys * (time of a key at the ceiling of its multiprocessor)
 *   alone = ALONE * block              a block that has its multiprocessor for itself
 *   shared = (1 - WHOLE) * blocks / multiprocessors * block + WHOLE * ceil(that) * block
 *   time = START + max(alone, shared, memory), memory = bytes / (MEMORY * bandwidth)
 * A block counts PER_BLOCK besides. Where few blocks would leave multiprocessors idle, a
 * sequence's keys are split over several (FlashDecoding), unless the operation says unsplit; the
 * query heads that share keys are then rows of one block. Constants: fitted to 21,320 rows of an
 * H100 (prefill of a chunk against a cache, decode; unsplit), mean error 2.6 %. */
#include <config.h>

#include <math.h>

#include "predictor/law/law.h"

enum { QUERIES = 128, KEYS = 64 }; /* of a tile */
static const double START_US = 3.9, PER_BLOCK_US = 0.96, ALONE = 1.2, WHOLE = 0.82;
static const double MEMORY = 0.85; /* of the bandwidth; of decode steps with long caches: assumed */
static const double BACKWARD =
    2.5; /* operations over those forward: five products in place of two */

/* Of the tensor cores' peak. From Hopper on (asynchronous products of 64 rows or more)
 * FlashAttention 2 does not reach the full rate: 0.39 fitted; before: 200 of 312 TFLOP/s (Dao
 * 2024, figure 5). */
static double ceiling_of(const th_gpu *gpu)
{
    static const double ASYNCHRONOUS = 0.39, SYNCHRONOUS = 0.64;
    return gpu->extra[TH_GPU_TENSOR_M] >= 64 ? ASYNCHRONOUS : SYNCHRONOUS;
}

typedef struct {
    double alone_ms, shared_ms, memory_ms;
} attention_times;

static attention_times times_of(const th_op *op, const th_op_sizes *s, th_phase phase,
                                const th_gpu *gpu)
{
    const int32_t *x = op->x;
    double sms = gpu->x[TH_GPU_SMS], rows = x[TH_OP_ROWS], heads = x[TH_OP_HEADS];
    bool is_packed = !x[TH_OP_UNSPLIT] && rows < QUERIES;
    if (is_packed) {
        rows *= heads / x[TH_OP_KV_HEADS];
        heads = x[TH_OP_KV_HEADS];
    }
    double width = x[TH_OP_CHANNELS_IN] + x[TH_OP_CHANNELS_OUT];
    double queries = s->flops / (2 * width * x[TH_OP_BATCH] * x[TH_OP_HEADS] * x[TH_OP_ROWS]);
    double keys = th_law_ceil(queries / KEYS) * KEYS; /* that a query sees, in the mean */
    double blocks = x[TH_OP_BATCH] * heads * th_law_ceil(rows / QUERIES);
    th_op_precision at = th_gpu_nearest_precision(gpu, (th_op_precision)x[TH_OP_PRECISION]);
    double key_us = 2 * QUERIES * width / (th_gpu_peak(gpu, at) * 1e3 / sms * ceiling_of(gpu));
    double split = 1, alone = ALONE * keys * key_us;
    if (!x[TH_OP_UNSPLIT] && blocks < sms)
        split = fmin(floor(sms / blocks), keys / KEYS);
    double block = keys / split * key_us + PER_BLOCK_US, n = blocks * split / sms;
    double shared = ((1 - WHOLE) * n + WHOLE * th_law_ceil(n)) * block;
    double bytes = s->input + s->weights + s->output, more = 1;
    if (phase == TH_PHASE_BACKWARD)
        more = BACKWARD;
    return (attention_times){alone / split * more * 1e-3, shared * more * 1e-3,
                             bytes * more / (gpu->x[TH_GPU_BANDWIDTH] * 1e6 * MEMORY)};
}

void th_law_attention(const th_op *op, th_phase phase, const th_gpu *gpu, th_terms *t)
{
    attention_times x = times_of(op, &t->sizes, phase, gpu);
    double least = fmax(fmax(x.alone_ms, x.shared_ms), x.memory_ms);
    t->sheet_ms = START_US * 1e-3 + least;
    th_terms_one(t, TH_TERM_STEP, START_US * 1e-3, "start");
    th_terms_one(t, TH_TERM_STEP, least, "blocks or memory");
    th_terms_one(t, TH_TERM_STEP, x.alone_ms, "longest block");
    th_terms_one(t, TH_TERM_STEP, x.shared_ms, "all blocks");
    th_terms_one(t, TH_TERM_STEP, x.memory_ms, "memory");
}
