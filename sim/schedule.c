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
