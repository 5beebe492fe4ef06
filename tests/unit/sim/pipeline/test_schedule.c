/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/pipeline/schedule.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

/* --- the loop nest, walked -------------------------------------------------------------------- */

static bool stays(const int *index, unsigned mask)
{
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        if ((mask & 1u << loop) && index[loop] > 0)
            return true;
    return false;
}

static void add_step(const th_schedule *s, const int *i, th_schedule_totals *t)
{
    unsigned last = 0;
    for (int loop = TH_LOOP_H; loop < TH_N_LOOPS; loop++)
        if (i[loop] + 1 == s->count[loop])
            last += 1u << (loop - 1);
    t->n_steps++;
    t->cycles += s->step[last].cycles;
    if (!stays(i, s->input_stays))
        t->input_bytes += s->step[last].input_bytes + (i[TH_LOOP_H] ? 0 : s->first_row_extra_bytes);
    if (!stays(i, s->weight_stays))
        t->weight_bytes += s->step[last].weight_bytes;
    if (last & TH_LAST_C) {
        t->n_stores++;
        t->output_bytes += s->output_bytes[last & 7u];
    }
}

static th_schedule_totals walk(const th_schedule *s)
{
    th_schedule_totals t = {.cycles = s->start_cycles};
    int i[TH_N_LOOPS];
    for (i[0] = 0; i[0] < s->count[0]; i[0]++)
        for (i[1] = 0; i[1] < s->count[1]; i[1]++)
            for (i[2] = 0; i[2] < s->count[2]; i[2]++)
                for (i[3] = 0; i[3] < s->count[3]; i[3]++)
                    for (i[4] = 0; i[4] < s->count[4]; i[4]++)
                        add_step(s, i, &t);
    return t;
}

static bool same_totals(th_schedule_totals a, th_schedule_totals b)
{
    return a.n_steps == b.n_steps && a.n_stores == b.n_stores && a.cycles == b.cycles &&
           a.input_bytes == b.input_bytes && a.weight_bytes == b.weight_bytes &&
           a.output_bytes == b.output_bytes;
}

/* B 2, H 3, C 4, others 1: full steps of 10 input bytes, 6 in the last C, 3 weight bytes, 5 cycles
 * (4 in the last C), 7 output bytes (2 in the last H). Weights stay through B, input gets 11 more
 * per image.
 *   steps 2*3*4 = 24, stores 2*3 = 6
 *   cycles 9 + 6 (3*5 + 4) = 123        input 6 (3*10 + 6) + 2*4*11 = 304 (the extra is in every C
 *   of H 0) weights 3*4*3 = 36                  output 2 (7 + 7 + 2) = 32 */
TEST(a_case_by_hand)
{
    th_schedule s = {.count = {2, 3, 1, 1, 4},
                     .first_row_extra_bytes = 11,
                     .weight_stays = 1u << TH_LOOP_B,
                     .start_cycles = 9};
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++) {
        s.step[m] = (th_step){m & TH_LAST_C ? 6 : 10, 3, m & TH_LAST_C ? 4 : 5};
        s.output_bytes[m & 7u] = m & TH_LAST_H ? 2 : 7;
    }
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.n_steps == 24 && t.n_stores == 6 && t.cycles == 123);
    CU_ASSERT_TRUE(t.input_bytes == 304 && t.weight_bytes == 36 && t.output_bytes == 32);
}

TEST(sums_equal_the_loop_nest_walked)
{
    auto_rng *r = th_random_stream(3, "schedule", 0);
    int wrong = 0;
    for (int round = 0; round < 3000; round++) {
        th_schedule s = {.start_cycles = pick(r, 0, 50),
                         .first_row_extra_bytes = pick(r, 0, 99),
                         .input_stays = (uint8_t)pick(r, 0, 31),
                         .weight_stays = (uint8_t)pick(r, 0, 31)};
        for (int loop = 0; loop < TH_N_LOOPS; loop++)
            s.count[loop] = (int32_t)pick(r, 1, 5);
        for (int m = 0; m < TH_N_STEP_KINDS; m++)
            s.step[m] = (th_step){pick(r, 0, 1000), pick(r, 0, 1000), pick(r, 0, 1000)};
        for (int m = 0; m < TH_N_STORE_KINDS; m++)
            s.output_bytes[m] = pick(r, 0, 1000);
        wrong += !same_totals(th_schedule_sum(&s), walk(&s));
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* The shard is a memo's key, compared by bytes. */
TEST(a_shard_has_no_padding)
{
    CU_ASSERT_EQUAL(sizeof(th_shard), (23 + TH_N_DIMS) * sizeof(int32_t) + 3 * sizeof(int64_t));
}

TAP_MAIN("schedule")
