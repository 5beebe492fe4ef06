/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule.c - sums over the tiles of a schedule, in closed form over the loop nest, and the bytes
 * and operations of a shard. */
#include <config.h>

#include "sim/pipeline/schedule.h"
#include "base/integer.h"

#include <math.h>

/* Number of steps of kind mask: per loop 1 if it is in its last iteration, else the other
 * iterations. */
static int64_t steps_of_kind(const th_schedule *s, unsigned mask, int innermost)
{
    int64_t n = s->count[TH_LOOP_B];
    for (int loop = TH_LOOP_H; loop <= innermost; loop++)
        n *= mask >> (loop - TH_LOOP_H) & 1u ? 1 : s->count[loop] - 1;
    return n;
}

/* How many of them load an operand that stays on chip through the loops in `stays`. */
static int64_t loads_of_kind(const th_schedule *s, unsigned mask, unsigned stays)
{
    int64_t n = stays & 1u << TH_LOOP_B ? 1 : s->count[TH_LOOP_B];
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++) {
        bool is_last = mask >> (loop - TH_LOOP_H) & 1u;
        if (stays >> loop &
            1u) /* only iteration 0, which is the last one when it is the only one */
            n *= is_last == (s->count[loop] == 1);
        else
            n *= is_last ? 1 : s->count[loop] - 1;
    }
    return n;
}

static int64_t extra_loads(const th_schedule *s)
{
    int64_t n = s->input_stays & 1u << TH_LOOP_B ? 1 : s->count[TH_LOOP_B];
    for (int loop = TH_LOOP_W; loop <= TH_LOOP_C; loop++)
        if (!(s->input_stays >> loop & 1u))
            n *= s->count[loop];
    return n;
}

/* Visits to tiles: every one but the last (first) of a tile writes (reads) partial sums. */
static void add_visits(const th_schedule *s, unsigned mask, th_schedule_totals *t)
{
    int64_t tiles = steps_of_kind(s, mask, TH_LOOP_K), again = s->count[TH_LOOP_C] - 1;
    int64_t spilled = s->sums_stay || !th_schedule_revisits(s) ? 0 : tiles * again;
    t->n_stores += th_schedule_revisits(s) ? tiles * (again + 1) : tiles;
    t->output_bytes += tiles * s->output_bytes[mask] + spilled * s->partial_bytes[mask];
    t->partial_bytes +=
        spilled * s->partial_bytes[mask] + (s->reads_sums ? tiles * s->output_bytes[mask] : 0);
}

th_schedule_totals th_schedule_sum(const th_schedule *s)
{
    th_schedule_totals t = {.cycles = s->start_cycles};
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        int64_t n = steps_of_kind(s, mask, TH_LOOP_C);
        t.n_steps += n;
        t.cycles += n * s->step[mask].cycles;
        t.input_bytes += loads_of_kind(s, mask, s->input_stays) * s->step[mask].input_bytes;
        t.weight_bytes += loads_of_kind(s, mask, s->weight_stays) * s->step[mask].weight_bytes;
    }
    for (unsigned mask = 0; mask < TH_N_STORE_KINDS; mask++)
        add_visits(s, mask, &t);
    t.input_bytes += extra_loads(s) * s->first_row_extra_bytes;
    return t;
}

int th_schedule_loop(const th_schedule *s, int place)
{
    bool is_standard = s->order[0] == s->order[1];
    return is_standard ? place : s->order[place];
}

bool th_schedule_revisits(const th_schedule *s)
{
    bool inside = false;
    for (int place = 0; place < TH_N_LOOPS; place++) {
        int loop = th_schedule_loop(s, place);
        if (inside && s->count[loop] > 1)
            return s->count[TH_LOOP_C] > 1;
        inside |= loop == TH_LOOP_C;
    }
    return false;
}

/* --- shards ----------------------------------------------------------------------------------- */

static int64_t bits_for(int32_t n)
{
    int64_t bits = 0;
    while ((int64_t)1 << bits < n)
        bits++;
    return bits;
}

int64_t th_shard_bytes(const th_shard *s, th_tensor tensor, int64_t elements)
{
    int64_t bits = th_precision_bits((th_precision)s->precision[tensor]);
    int64_t ppm = s->density_ppm[tensor];
    if (tensor == TH_TENSOR_WEIGHT && s->sparse_m > 0) {
        int64_t kept = th_ceil_div(elements * s->sparse_n, s->sparse_m);
        return (kept * (bits + bits_for(s->sparse_m)) + 7) / 8;
    }
    if (ppm == 1000000)
        return (elements * bits + 7) / 8;
    double kept = ceil((double)elements * (double)ppm / 1e6);
    return ((int64_t)kept * bits + elements + 7) / 8;
}

bool th_shard_multiplies_activations(const th_shard *s)
{
    return s->kind == TH_LAYER_ATTENTION || (s->kind == TH_LAYER_MATMUL && s->n_operands == 2);
}

th_precision th_shard_mac_precision(const th_shard *s)
{
    th_precision input = (th_precision)s->precision[TH_TENSOR_INPUT];
    th_precision weight = (th_precision)s->precision[TH_TENSOR_WEIGHT];
    return th_precision_bits(weight) > th_precision_bits(input) ? weight : input;
}

bool th_shard_is_for_arrays(const th_shard *s)
{
    return s->kind == TH_LAYER_CONV || s->kind == TH_LAYER_FC || s->kind == TH_LAYER_MATMUL ||
           s->kind == TH_LAYER_ATTENTION || th_layer_gates((th_layer_kind)s->kind) > 0;
}

int64_t th_shard_macs(const th_shard *s)
{
    const int32_t *d = s->dim;
    int64_t c = th_ceil_div(d[TH_DIM_C], s->groups);
    bool is_stuffed = s->up_h > 1 || s->up_w > 1;
    int64_t per_channel = is_stuffed
                              ? s->products_h * s->products_w
                              : (int64_t)d[TH_DIM_H] * d[TH_DIM_W] * d[TH_DIM_R] * d[TH_DIM_S];
    switch ((th_layer_kind)s->kind) {
    case TH_LAYER_CONV:
    case TH_LAYER_FC:
    case TH_LAYER_MATMUL:
        return (int64_t)d[TH_DIM_B] * d[TH_DIM_K] * c * per_channel;
    case TH_LAYER_LSTM:
    case TH_LAYER_GRU:
    case TH_LAYER_RNN:
        return (int64_t)d[TH_DIM_B] * d[TH_DIM_H] * th_layer_gates((th_layer_kind)s->kind) *
               d[TH_DIM_K] * ((int64_t)d[TH_DIM_C] + d[TH_DIM_K]);
    case TH_LAYER_ATTENTION:
        return d[TH_DIM_B] * s->scores * ((int64_t)d[TH_DIM_C] + d[TH_DIM_K]);
    case TH_LAYER_EMBEDDING:
    case TH_LAYER_POOL:
    case TH_LAYER_ELEMENTWISE:
    case TH_LAYER_NORM:
    case TH_LAYER_SOFTMAX:
    case TH_LAYER_CONCAT:
    case TH_LAYER_SLICE:
        break;
    }
    return 0;
}
