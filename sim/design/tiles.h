/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiles.h - arithmetic that the designs share. */
#ifndef TH_SIM_DESIGN_TILES_H
#define TH_SIM_DESIGN_TILES_H
#include "base/integer.h"
#include "sim/pipeline/schedule.h"

/* The extent of one iteration of a loop over `extent` in tiles; the last tile may be smaller. */
static inline int64_t th_tile_extent(int64_t extent, int64_t tile, bool is_last)
{
    return is_last ? extent - (th_ceil_div(extent, tile) - 1) * tile : tile;
}

/* Rows (or columns) of input that n rows of output read, at most the extent of the input. */
static inline int64_t th_window(int64_t n, int64_t stride, int64_t kernel, int64_t dilation,
                                int64_t all)
{
    int64_t rows = (n - 1) * stride + (kernel - 1) * dilation + 1;
    return rows < all ? rows : all;
}

/* Output and input channels of one group of a shard. */
static inline int64_t th_group_outputs(const th_shard *s)
{
    return th_ceil_div(s->dim[TH_DIM_K], s->groups);
}

static inline int64_t th_group_inputs(const th_shard *s)
{
    return th_ceil_div(s->dim[TH_DIM_C], s->groups);
}

/* How many steps are of a kind: the loops of mask are in their last iteration, the others not. */
static inline double th_steps_of_kind(const int32_t *count, unsigned mask)
{
    double n = count[TH_LOOP_B];
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++)
        n *= mask >> (loop - TH_LOOP_H) & 1u ? 1 : count[loop] - 1;
    return n;
}
/* The kind of the first step: loops of one iteration are in their last one. */
static inline unsigned th_first_step(const int32_t *count)
{
    unsigned mask = 0;
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++)
        mask |= count[loop] == 1 ? 1u << (loop - TH_LOOP_H) : 0u;
    return mask;
}

/* One step of a measured time, which moves no bytes. */
static inline th_schedule th_measured_schedule(th_time ps, const char *variant)
{
    th_schedule s = {.hz = TH_PS_PER_S,
                     .count = {1, 1, 1, 1, 1},
                     .slots_in = 1,
                     .slots_out = 1,
                     .variant = variant};
    s.step[TH_N_STEP_KINDS - 1].cycles = ps;
    return s;
}

/* Bits per second of a port that moves elements of a tensor per cycle; saturates. 0: no port. */
static inline int64_t th_port_bits(double elements_per_cycle, const th_shard *s, th_tensor tensor,
                                   int64_t hz)
{
    double bits =
        elements_per_cycle * th_precision_bits((th_precision)s->precision[tensor]) * (double)hz;
    if (elements_per_cycle > 0 && bits < 1)
        return 1;
    return bits < 0x1p63 ? (int64_t)bits : INT64_MAX;
}

/* Sets ports of these elements per cycle for input, weight and output; partial sums are read
 * through a port of the output's bandwidth. */
static inline void th_set_ports(th_schedule *out, const th_shard *s, const double elements[3])
{
    out->port_bits_per_s[TH_ENGINE_INPUT] = th_port_bits(elements[0], s, TH_TENSOR_INPUT, out->hz);
    out->port_bits_per_s[TH_ENGINE_WEIGHT] =
        th_port_bits(elements[1], s, TH_TENSOR_WEIGHT, out->hz);
    out->port_bits_per_s[TH_ENGINE_PARTIAL] = out->port_bits_per_s[TH_ENGINE_OUTPUT] =
        th_port_bits(elements[2], s, TH_TENSOR_OUTPUT, out->hz);
}

#endif
