/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/design_forms.h"
#include "tests/unit/design_help.h"

#define SYSTOLIC                                                                                   \
    "type = \"systolic_vec\"; clock = \"200MHz\"; rows = %d; cols = %d; vec = %d; input_port = "   \
    "40; "                                                                                         \
    "weight_port = 40; output_port = 40; overlap = %s; "

/* Rounds of ceil(K/rows) ceil(W/cols) passes of H R S ceil(C/vec) cycles, and rows + cols per pass,
 * or once. Weights go in once per round and W block, outputs leave once. */
TEST(systolic_cycles_are_the_formula)
{
    auto_rng *r = th_random_stream(29, "systolic", 0);
    int wrong = 0;
    for (int round = 0; round < 500; round++) {
        th_shard s = random_shard(r);
        int rows = (int)pick(r, 1, 20), cols = (int)pick(r, 1, 20), vec = (int)pick(r, 1, 12);
        bool overlap = pick(r, 0, 1);
        char keys[500];
        snprintf(keys, sizeof keys, SYSTOLIC, rows, cols, vec, overlap ? "true" : "false");
        th_schedule out = schedule_on(keys, &s);
        th_schedule_totals t = th_schedule_sum(&out);
        int64_t rounds = (int64_t)s.dim[TH_DIM_B] * s.groups, k = s.dim[TH_DIM_K] / s.groups,
                c = s.dim[TH_DIM_C] / s.groups;
        int64_t h = s.dim[TH_DIM_H], w = s.dim[TH_DIM_W],
                rs = (int64_t)s.dim[TH_DIM_R] * s.dim[TH_DIM_S];
        int64_t passes = rounds * over(k, rows) * over(w, cols);
        int64_t fill = (rows + cols) * (overlap ? 1 : passes);
        wrong += t.cycles != passes * h * rs * over(c, vec) + fill;
        wrong += t.output_bytes != rounds * k * h * w * bytes_of(&s);
        wrong += t.weight_bytes != rounds * over(w, cols) * k * c * rs * bytes_of(&s);
        wrong += t.n_stores != passes;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* strided() on 11 x 4 x 3: W 7 = 4 + 3, K 20 = 11 + 9, C 10 = 3 + 3 + 3 + 1; windows (4-1)2+3 = 9
 * and 7 columns. */
TEST(systolic_by_hand)
{
    char keys[500];
    th_shard shard = strided();
    snprintf(keys, sizeof keys, SYSTOLIC, 11, 4, 3, "false");
    th_schedule s = schedule_on(keys, &shard);
    assert_counts(&s, 2, 1, 2, 2, 4);
    assert_step(&s, TH_LAST_H, 3 * 19 * 9 * 2, 11 * 3 * 9 * 2, 81, 11 * 9 * 4 * 2);
    assert_step(&s, ALL_LAST, 1 * 19 * 7 * 2, 9 * 1 * 9 * 2, 81 + 15, 9 * 9 * 3 * 2);
    CU_ASSERT_EQUAL(s.start_cycles, 0);
    snprintf(keys, sizeof keys, SYSTOLIC, 11, 4, 3, "true");
    s = schedule_on(keys, &shard);
    CU_ASSERT_TRUE(s.start_cycles == 15 && s.step[ALL_LAST].cycles == 81);
    CU_ASSERT_EQUAL(s.macs_per_cycle, 11 * 4 * 3);
    /* 2 images; 2 blocks of K, 2 of W; 9*7*9 taps of 10 channels; two slots of the full step */
    CU_ASSERT_TRUE(s.accesses.input_reads == 2 * 2 * 10 * 567 && s.accesses.partial_reads == 0 &&
                   s.accesses.weight_reads == 2 * 2 * 20 * 10 * 9 &&
                   s.accesses.output_writes == 2 * 20 * 63);
    CU_ASSERT_TRUE(s.buffer_bytes[TH_TENSOR_INPUT] == 2 * 3 * 19 * 9 * 2 &&
                   s.buffer_bytes[TH_TENSOR_WEIGHT] == 2 * 11 * 3 * 9 * 2 &&
                   s.buffer_bytes[TH_TENSOR_OUTPUT] == 2 * 11 * 9 * 4 * 2);
}

/* clip = false: blocks of 11, 4 and 3 everywhere; one of them alone is as large. */
TEST(unclipped_blocks_are_all_full)
{
    char keys[500];
    th_shard shard = strided();
    snprintf(keys, sizeof keys, SYSTOLIC "clip = false; slots = 3; ", 11, 4, 3, "true");
    th_schedule s = schedule_on(keys, &shard);
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++)
        assert_step(&s, m, 3 * 19 * 9 * 2, 11 * 3 * 9 * 2, 81, 11 * 9 * 4 * 2);
    CU_ASSERT_TRUE(s.slots_in == 3 && s.slots_out == 3);
    snprintf(keys, sizeof keys, SYSTOLIC, 32, 16, 16, "true"); /* one step holds it all */
    s = schedule_on(keys, &shard);
    CU_ASSERT_EQUAL(s.buffer_bytes[TH_TENSOR_WEIGHT], 2 * 20 * 10 * 9 * 2);
}

TEST(refuses_layers_that_do_not_fit)
{
    char keys[500];
    th_shard shard = strided();
    snprintf(keys, sizeof keys, SYSTOLIC "input_buffer = \"2051B\"; ", 11, 4, 3, "true");
    assert_unfit(keys, &shard, "SIM-0062",
                 "systolic_vec: inputs: 2 slots need 2052 bytes, input_buffer has 2051: 1 bytes "
                 "are missing");
    snprintf(keys, sizeof keys, SYSTOLIC "weight_buffer = \"1KiB\"; ", 11, 4, 3, "true");
    assert_unfit(keys, &shard, "SIM-0062",
                 "systolic_vec: weights: 2 slots need 1188 bytes, weight_buffer has 1024: 164 "
                 "bytes are missing");
    snprintf(keys, sizeof keys, SYSTOLIC "output_buffer = \"1000B\"; ", 11, 4, 3, "true");
    assert_unfit(keys, &shard, "SIM-0062",
                 "systolic_vec: outputs: 2 slots need 1584 bytes, output_buffer has 1000: 584 "
                 "bytes are missing");
    snprintf(keys, sizeof keys,
             SYSTOLIC "input_buffer = \"2052B\"; weight_buffer = \"1188B\"; "
                      "output_buffer = \"1584B\"; ",
             11, 4, 3, "true");
    schedule_on(keys, &shard);
}

TAP_MAIN("systolic_vec")
