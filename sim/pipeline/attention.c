/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.c - see attention.h.
 *
 * Scores and probabilities stay on the chip, as in T. Dao et al., "FlashAttention: Fast and
 * Memory-Efficient Exact Attention with IO-Awareness", NeurIPS 2022. So of the schedules of the two
 * products
 *     cycles         scores + context; on a vector unit beside the array the softmax overlaps with
 *                    them: max(scores + context, softmax)
 *     bytes loaded   what the scores load of queries and keys, and the context of values, each as
 *                    often as the design's tiling does; query heads that share keys and values load
 *                    them once
 *     bytes stored   the outputs, once; none where the design's times include them
 * Of a causal attention the fraction f of the scores is not hidden: it takes f of these cycles. An
 * operand is loaded once, and f of every further time: of n equal tiles of a triangle the ith loads
 * i/n of the keys, all together (n + 1) / 2 times.
 * The attention is cut into PIECES equal pieces, which the pipeline loads, computes and stores; the
 * softmax of the first piece delays the array, which waits for it once. Docs:
 * docs/models/attention.md. Not modelled: tiles of scores that exceed the buffers (a row of scores
 * is assumed to be processed in parts, with running maximum and sum); the rescaling of outputs that
 * this costs; the hidden half of the tiles on the diagonal. */
#include <config.h>

#include "sim/pipeline/attention.h"

#include "base/min_max.h"

enum { PIECES = 32 }; /* of a layer, as in the roofline design: fill and drain are 1/32 of it */

/* With as many output channels per head as columns, and inner channels per head. */
static th_shard product_of(const th_shard *s, int32_t inner, int32_t columns)
{
    th_shard p = *s;
    p.kind = TH_LAYER_MATMUL;
    p.n_operands = 2;
    p.key_groups = 0;
    p.scores = 0;
    p.dim[TH_DIM_C] = s->groups * inner;
    p.dim[TH_DIM_K] = s->groups * columns;
    p.dim[TH_DIM_R] = 1;
    return p;
}

void th_attention_shards(const th_shard *s, th_shard parts[TH_N_ATTENTION_PARTS])
{
    int32_t keys = s->dim[TH_DIM_R], width = s->dim[TH_DIM_C] / s->groups,
            outputs = s->dim[TH_DIM_K] / s->groups;
    th_shard *scores = &parts[TH_ATTENTION_SCORES], *softmax = &parts[TH_ATTENTION_SOFTMAX];
    *scores = product_of(s, width, keys);
    scores->precision[TH_TENSOR_OUTPUT] = s->precision[TH_TENSOR_INPUT];
    scores->density_ppm[TH_TENSOR_OUTPUT] = 1000000;
    *softmax = *scores;
    softmax->kind = TH_LAYER_SOFTMAX;
    softmax->n_operands = 1;
    softmax->dim[TH_DIM_C] = scores->dim[TH_DIM_K];
    softmax->density_ppm[TH_TENSOR_INPUT] = 1000000;
    parts[TH_ATTENTION_CONTEXT] = product_of(s, keys, outputs);
    parts[TH_ATTENTION_CONTEXT].density_ppm[TH_TENSOR_INPUT] = 1000000;
}

/* Piece i of n of a whole: all are equal but for the last, which has the rest. */
static int64_t piece_of(int64_t whole, int64_t n, bool is_last)
{
    return is_last ? whole - whole / n * (n - 1) : whole / n;
}

/* Cycles of a clock as cycles of another, rounded up. */
static int64_t cycles_at(int64_t cycles, int64_t hz, int64_t other_hz)
{
    double exact = (double)cycles * ((double)other_hz / (double)hz);
    int64_t down = (int64_t)exact;
    return down + ((double)down < exact);
}

/* Of cycles and the like for all scores, those for the ones that are not hidden. */
static int64_t seen(const th_shard *s, int64_t whole)
{
    return th_part_of(whole, s->scores, (int64_t)s->dim[TH_DIM_H] * s->dim[TH_DIM_R]);
}

/* The same where once of the whole is needed for the last scores, too. */
static int64_t seen_beyond(const th_shard *s, int64_t once, int64_t whole)
{
    return whole <= once ? whole : once + seen(s, whole - once);
}

/* Of bytes that load the elements of a tensor, maybe several times. */
static int64_t seen_bytes(const th_shard *s, int64_t whole, th_tensor t, int64_t elements)
{
    return seen_beyond(s, th_shard_bytes(s, t, elements), whole);
}

static void add_accounts(const th_shard *s, const th_schedule *a, const th_schedule *b,
                         th_schedule *out)
{
    out->accesses = (th_accesses){
        .input_reads = seen(s, a->accesses.input_reads + b->accesses.input_reads),
        .weight_reads = seen(s, a->accesses.weight_reads + b->accesses.weight_reads),
        .partial_reads = seen(s, a->accesses.partial_reads + b->accesses.partial_reads),
        .output_writes =
            seen(s, a->accesses.output_writes) +
            seen_beyond(s, (int64_t)s->dim[TH_DIM_B] * s->dim[TH_DIM_H] * s->dim[TH_DIM_K],
                        b->accesses.output_writes),
    };
    for (int t = 0; t < TH_N_TENSORS; t++)
        out->buffer_bytes[t] = th_max(a->buffer_bytes[t], b->buffer_bytes[t]);
    out->macs_per_cycle = a->macs_per_cycle;
    out->variant = "scores on chip";
}

void th_attention_schedule(const th_shard *s, const th_schedule parts[TH_N_ATTENTION_PARTS],
                           bool overlaps, th_schedule *out)
{
    const th_schedule *scores = &parts[TH_ATTENTION_SCORES],
                      *context = &parts[TH_ATTENTION_CONTEXT],
                      *softmax = &parts[TH_ATTENTION_SOFTMAX];
    th_schedule_totals a = th_schedule_sum(scores), b = th_schedule_sum(context);
    int64_t images = s->dim[TH_DIM_B], rows = images * s->dim[TH_DIM_H],
            key_rows = images * s->dim[TH_DIM_R], n = rows < PIECES ? rows : PIECES;
    int64_t products = seen(s, a.cycles) + seen(s, b.cycles),
            between = cycles_at(seen(s, th_schedule_sum(softmax).cycles), softmax->hz, scores->hz);
    int64_t cycles = overlaps ? th_max(products, between) : products + between;
    int64_t queries = seen_bytes(s, a.input_bytes, TH_TENSOR_INPUT, rows * s->dim[TH_DIM_C]);
    int64_t keys = seen_bytes(s, a.weight_bytes, TH_TENSOR_WEIGHT, key_rows * s->dim[TH_DIM_C]) +
                   seen_bytes(s, b.weight_bytes, TH_TENSOR_WEIGHT, key_rows * s->dim[TH_DIM_K]);
    keys = keys / s->groups * s->key_groups; /* query heads that share keys load them once */
    int64_t outputs = th_shard_bytes(s, TH_TENSOR_OUTPUT, rows * s->dim[TH_DIM_K]);
    int64_t stored = b.output_bytes < outputs ? b.output_bytes : outputs; /* without partial sums */
    *out = (th_schedule){.hz = scores->hz,
                         .count = {1, (int32_t)n, 1, 1, 1},
                         .start_cycles = overlaps ? between / n : 0,
                         .slots_in = scores->slots_in,
                         .slots_out = context->slots_out};
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        bool is_last = mask & TH_LAST_H;
        out->step[mask] = (th_step){piece_of(queries, n, is_last), piece_of(keys, n, is_last),
                                    piece_of(cycles, n, is_last)};
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] = piece_of(stored, n, is_last);
    }
    for (int e = 0; e < TH_N_ENGINES; e++) {
        out->port_bits_per_s[e] = scores->port_bits_per_s[e];
        out->run_bytes[e] = scores->run_bytes[e];
    }
    out->run_bytes[TH_ENGINE_OUTPUT] = context->run_bytes[TH_ENGINE_OUTPUT];
    add_accounts(s, scores, context, out);
}
