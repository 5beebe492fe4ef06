/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule.c - sums over the tiles of a schedule, in closed form over the loop nest. */
#include <config.h>

#include "sim/schedule.h"

/* How many steps are of the kind mask: per loop, 1 if it is in its last iteration, else the
 * others. */
static int64_t steps_of_kind(const th_schedule *s, unsigned mask, int innermost)
{
    int64_t n = s->count[TH_LOOP_B];
    for (int loop = TH_LOOP_H; loop <= innermost; loop++)
        n *= mask >> (loop - TH_LOOP_H) & 1u ? 1 : s->count[loop] - 1;
    return n;
}

/* Of these, how many load an operand that stays on chip through the loops in stays. */
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
    for (unsigned mask = 0; mask < TH_N_STORE_KINDS; mask++) {
        int64_t n = steps_of_kind(s, mask, TH_LOOP_K);
        t.n_stores += n;
        t.output_bytes += n * s->output_bytes[mask];
    }
    t.input_bytes += extra_loads(s) * s->first_row_extra_bytes;
    return t;
}

/* Cycles that bytes take through the port of engine e. */
static double port_cycles(const th_schedule *s, th_engine_kind e, int64_t bytes)
{
    int64_t bits_per_s = s->port_bits_per_s[e];
    return bits_per_s > 0 ? (double)bytes * 8 * (double)s->hz / (double)bits_per_s : 0;
}

th_closed_form th_schedule_closed_form(const th_schedule *s)
{
    double t_i = port_cycles(s, TH_ENGINE_INPUT, s->step[0].input_bytes);
    double t_w = port_cycles(s, TH_ENGINE_WEIGHT, s->step[0].weight_bytes);
    double t_o = port_cycles(s, TH_ENGINE_OUTPUT, s->output_bytes[0]);
    double t_c = (double)s->step[0].cycles, t_l = t_i > t_w ? t_i : t_w;
    double per_tile = s->count[TH_LOOP_C] * (t_l > t_c ? t_l : t_c), tiles = s->count[TH_LOOP_B];
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_K; loop++)
        tiles *= s->count[loop];
    double published = tiles * (per_tile > t_o ? per_tile : t_o);
    return (th_closed_form){published, published + (t_l < t_c ? t_l : t_c) +
                                           (t_o < per_tile ? t_o : per_tile)};
}
