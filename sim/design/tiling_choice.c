/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiling_choice.c - the schedule of a tile, a loop order, and the data that stays on chip.
 *
 * An operand that a loop does not change may stay through it. Its buffer then holds all its tiles
 * inside that loop, or its slots, whichever is more: the next request needs the slot that a step
 * frees. Partial sums stay likewise if the buffer holds all tiles inside C. */
#include <config.h>

#include <string.h>

#include "base/min_max.h"
#include "sim/design/tiles.h"
#include "sim/design/tiling_choice.h"

static const char loop_letters[] = "BHWKC"; /* by TH_LOOP_x */

/* --- loops ------------------------------------------------------------------------------------ */

bool th_tiling_is_order(const char *text)
{
    unsigned seen = 0;
    if (strlen(text) != TH_N_LOOPS)
        return false;
    for (int i = 0; i < TH_N_LOOPS; i++) {
        const char *at = strchr(loop_letters, text[i]);
        seen |= at ? 1u << (at - loop_letters) : 0;
    }
    return seen == (1u << TH_N_LOOPS) - 1;
}

int th_order_loop(const char *order, int place)
{
    return (int)(strchr(loop_letters, order[place]) - loop_letters);
}

void th_tile_counts(const th_shard *s, const th_tile *tile, int32_t *count)
{
    count[TH_LOOP_B] = s->dim[TH_DIM_B] * s->groups;
    count[TH_LOOP_H] = (int32_t)th_ceil_div(s->dim[TH_DIM_H], tile->h);
    count[TH_LOOP_W] = (int32_t)th_ceil_div(s->dim[TH_DIM_W], tile->w);
    count[TH_LOOP_K] = (int32_t)th_ceil_div(th_group_outputs(s), tile->k);
    count[TH_LOOP_C] = (int32_t)th_ceil_div(th_group_inputs(s), tile->c);
}

/* The images of a shard with one group share the weights, unless the weights are activations. */
unsigned th_tensor_loops(const th_shard *s, th_tensor tensor)
{
    bool has_own = s->groups > 1 || th_shard_multiplies_activations(s);
    const unsigned pixels = 1u << TH_LOOP_B | 1u << TH_LOOP_H | 1u << TH_LOOP_W;
    switch (tensor) {
    case TH_TENSOR_INPUT:
        return pixels | 1u << TH_LOOP_C;
    case TH_TENSOR_WEIGHT:
        return 1u << TH_LOOP_K | 1u << TH_LOOP_C | (has_own ? 1u << TH_LOOP_B : 0u);
    case TH_TENSOR_OUTPUT:
        return pixels | 1u << TH_LOOP_K;
    case TH_N_TENSORS:
        break;
    }
    return 0;
}

/* --- one step --------------------------------------------------------------------------------- */

/* The tile of the steps in which the loops of mask are in their last iteration. */
th_tile th_tile_at(const th_tiling *t, const th_shard *s, const th_tile *full, unsigned mask)
{
    if (!t->clips)
        return *full;
    return (th_tile){th_tile_extent(th_group_outputs(s), full->k, mask & TH_LAST_K),
                     th_tile_extent(th_group_inputs(s), full->c, mask & TH_LAST_C),
                     th_tile_extent(s->dim[TH_DIM_H], full->h, mask & TH_LAST_H),
                     th_tile_extent(s->dim[TH_DIM_W], full->w, mask & TH_LAST_W)};
}

/* The largest tile; a loop of one iteration is always in its last one. */
th_tile th_tile_largest(const th_tiling *t, const th_shard *s, const th_tile *full)
{
    int32_t count[TH_N_LOOPS];
    th_tile_counts(s, full, count);
    return th_tile_at(t, s, full, th_first_step(count));
}

static int64_t input_rows(const th_tiling *t, const th_shard *s, int64_t h)
{
    return t->has_halo ? th_window(h, s->stride_h, s->dim[TH_DIM_R], s->dilation_h, s->in_h) : h;
}

static int64_t input_columns(const th_tiling *t, const th_shard *s, int64_t w)
{
    return t->has_halo ? th_window(w, s->stride_w, s->dim[TH_DIM_S], s->dilation_w, s->in_w) : w;
}

static int64_t kernel_of(const th_shard *s)
{
    return (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
}

static int64_t sum_bytes(const th_tile *tile, int64_t bits)
{
    return (tile->k * tile->h * tile->w * bits + 7) / 8;
}

int64_t th_tile_bytes(const th_tiling *t, const th_shard *s, const th_tile *tile, th_engine_kind e)
{
    switch (e) {
    case TH_ENGINE_INPUT:
        return th_shard_bytes(s, TH_TENSOR_INPUT,
                              tile->c * input_rows(t, s, tile->h) * input_columns(t, s, tile->w));
    case TH_ENGINE_WEIGHT:
        return th_shard_bytes(s, TH_TENSOR_WEIGHT, tile->k * tile->c * kernel_of(s));
    case TH_ENGINE_PARTIAL:
        return sum_bytes(tile, t->accumulator_bits);
    case TH_ENGINE_OUTPUT:
        return th_shard_bytes(s, TH_TENSOR_OUTPUT, tile->k * tile->h * tile->w);
    case TH_N_ENGINES:
        break;
    }
    return 0;
}

int64_t th_tile_held(const th_tiling *t, const th_shard *s, const th_tile *tile, th_tensor tensor)
{
    int64_t bits = th_precision_bits((th_precision)s->precision[TH_TENSOR_OUTPUT]);
    if (tensor == TH_TENSOR_OUTPUT)
        return sum_bytes(tile, th_max(bits, t->accumulator_bits));
    bool is_input = tensor == TH_TENSOR_INPUT;
    return th_tile_bytes(t, s, tile, is_input ? TH_ENGINE_INPUT : TH_ENGINE_WEIGHT);
}

/* --- what stays on chip ----------------------------------------------------------------------- */

static int operand_residencies(const char *order, const int32_t *count, unsigned changes,
                               int32_t slots, int64_t tile_bytes, th_residency *out)
{
    int n = 0;
    int64_t tiles = 1;
    out[n++] = (th_residency){0, slots * tile_bytes};
    for (int place = TH_N_LOOPS - 1; place >= 0; place--) {
        int loop = th_order_loop(order, place);
        if (changes >> loop & 1u) {
            tiles *= count[loop];
        } else if (count[loop] > 1) {
            unsigned stays = out[n - 1].stays | 1u << loop;
            out[n++] = (th_residency){stays, th_max(tiles, slots) * tile_bytes};
        }
    }
    return n;
}

static int sum_residencies(const char *order, const int32_t *count, int32_t slots,
                           int64_t tile_bytes, th_residency *out)
{
    int64_t tiles = 1;
    out[0] = (th_residency){0, slots * tile_bytes};
    for (int place = TH_N_LOOPS - 1; th_order_loop(order, place) != TH_LOOP_C; place--)
        tiles *= count[th_order_loop(order, place)];
    if (tiles == 1 || count[TH_LOOP_C] == 1)
        return 1;
    out[1] = (th_residency){1u << TH_LOOP_C, th_max(tiles, slots) * tile_bytes};
    return 2;
}

int th_tile_residencies(const th_tiling_problem *f, const char *order, const int32_t *count,
                        th_tensor tensor, int64_t tile_bytes, th_residency *out)
{
    if (tensor == TH_TENSOR_OUTPUT)
        return sum_residencies(order, count, f->t->slots_out, tile_bytes, out);
    return operand_residencies(order, count, th_tensor_loops(f->s, tensor), f->t->slots_in,
                               tile_bytes, out);
}

/* --- the schedule of a choice ----------------------------------------------------------------- */

/* Contiguous bytes of a tile of rows x columns in planes of all_rows x all_columns; 0: the whole
 * tile. */
static int64_t run_of(const th_shard *s, th_tensor tensor, int64_t rows, int64_t all_rows,
                      int64_t columns, int64_t all_columns)
{
    if (columns < all_columns)
        return th_shard_bytes(s, tensor, columns);
    return rows < all_rows ? th_shard_bytes(s, tensor, rows * columns) : 0;
}

void th_tile_runs(const th_tiling *t, const th_shard *s, const th_tile *tile, th_schedule *out)
{
    int64_t rows = s->dim[TH_DIM_H], columns = s->dim[TH_DIM_W];
    int64_t of_sums = tile->w < columns ? tile->w : tile->h < rows ? tile->h * tile->w : 0;
    out->run_bytes[TH_ENGINE_INPUT] =
        run_of(s, TH_TENSOR_INPUT, input_rows(t, s, tile->h), t->has_halo ? s->in_h : rows,
               input_columns(t, s, tile->w), t->has_halo ? s->in_w : columns);
    out->run_bytes[TH_ENGINE_OUTPUT] = run_of(s, TH_TENSOR_OUTPUT, tile->h, rows, tile->w, columns);
    out->run_bytes[TH_ENGINE_PARTIAL] = (of_sums * t->accumulator_bits + 7) / 8;
}

static void set_buffers(const th_tiling_problem *f, const th_tiling_choice *choice,
                        th_schedule *out)
{
    th_residency levels[TH_RESIDENCIES_MAX];
    th_tile tile = th_tile_largest(f->t, f->s, &choice->tile);
    const unsigned stays[] = {choice->input_stays, choice->weight_stays,
                              choice->sums_stay ? 1u << TH_LOOP_C : 0};
    for (int tensor = 0; tensor < TH_N_TENSORS; tensor++) {
        int64_t bytes = th_tile_held(f->t, f->s, &tile, (th_tensor)tensor);
        int n = th_tile_residencies(f, choice->order, out->count, (th_tensor)tensor, bytes, levels);
        for (int i = 0; i < n; i++)
            if (levels[i].stays == stays[tensor])
                out->buffer_bytes[tensor] = levels[i].bytes;
    }
}

void th_tiling_choice_schedule(const th_tiling_problem *f, const th_tiling_choice *choice,
                               th_schedule *out)
{
    const th_tiling *t = f->t;
    const th_shard *s = f->s;
    *out = (th_schedule){.hz = t->hz, .slots_in = t->slots_in, .slots_out = t->slots_out};
    th_tile_counts(s, &choice->tile, out->count);
    for (int place = 0; place < TH_N_LOOPS; place++)
        out->order[place] = (uint8_t)th_order_loop(choice->order, place);
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        th_tile tile = th_tile_at(t, s, &choice->tile, mask);
        unsigned store = mask & (TH_N_STORE_KINDS - 1);
        out->step[mask] =
            (th_step){th_tile_bytes(t, s, &tile, TH_ENGINE_INPUT),
                      th_tile_bytes(t, s, &tile, TH_ENGINE_WEIGHT), t->cycles(s, &tile)};
        out->output_bytes[store] = th_tile_bytes(t, s, &tile, TH_ENGINE_OUTPUT);
        out->partial_bytes[store] = th_tile_bytes(t, s, &tile, TH_ENGINE_PARTIAL);
    }
    out->input_stays = choice->input_stays;
    out->weight_stays = choice->weight_stays;
    out->sums_stay = choice->sums_stay;
    out->variant = choice->order;
    th_set_ports(out, s, t->port);
    set_buffers(f, choice, out);
    if (t->has_runs) {
        th_tile tile = th_tile_largest(t, s, &choice->tile);
        th_tile_runs(t, s, &tile, out);
    }
}
