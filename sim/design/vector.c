/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vector.c - the unit beside the array: pool, add, relu, norm, and the sums after a split
 * reduction.
 *
 * Ours: it takes in a fixed number of elements per cycle. A pool takes in R S elements per output,
 * an add of n operands n - 1 (the first one initialises), relu and norm one. Rows are cut into
 * PIECES pieces that flow through the pipeline; each byte moves once. Not modelled: reuse of pool
 * windows inside the unit, transcendental functions. */
#include <config.h>

#include "sim/design/design.h"
#include "sim/design/tiles.h"

enum { PIECES = 16, SLOTS = 2 }; /* fill and drain are 1/16 of an image; double buffering */

static int64_t operations_per_output(const th_shard *s)
{
    int64_t window = (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
    return window * (s->n_operands > 1 ? s->n_operands - 1 : 1);
}

void th_vector_schedule(const th_accel *a, const th_shard *s, th_schedule *out)
{
    int64_t h = s->dim[TH_DIM_H], piece = th_ceil_div(h, PIECES), n = th_ceil_div(h, piece);
    int64_t row = (int64_t)s->dim[TH_DIM_K] * s->dim[TH_DIM_W];
    int64_t inputs = th_shard_bytes(
        s, TH_TENSOR_INPUT, (int64_t)s->dim[TH_DIM_K] * s->in_h * s->in_w * s->n_operands);
    *out = (th_schedule){.hz = a->vector_hz, .count = {s->dim[TH_DIM_B], (int32_t)n, 1, 1, 1}};
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        bool is_last = mask & TH_LAST_H;
        int64_t outputs = row * th_tile_extent(h, piece, is_last);
        out->step[mask].input_bytes = is_last ? inputs - inputs / n * (n - 1) : inputs / n;
        out->step[mask].cycles =
            th_ceil_div(outputs * operations_per_output(s), a->vector_elements_per_cycle);
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] = th_shard_bytes(s, TH_TENSOR_OUTPUT, outputs);
    }
    out->slots_in = out->slots_out = SLOTS;
}

int64_t th_vector_operations(const th_shard *s)
{
    return (int64_t)s->dim[TH_DIM_B] * s->dim[TH_DIM_K] * s->dim[TH_DIM_H] * s->dim[TH_DIM_W] *
           operations_per_output(s);
}
