/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/design_forms.h"
#include "tests/unit/design_help.h"

#define GEMV(buffer)                                                                               \
    "type = \"gemv\"; clock = \"100MHz\"; lanes = 16; gate_lanes = 8; step_latency = 11; "         \
    "input_port = 100; weight_port = 50; output_port = 25; weight_buffer = \"" buffer "\"; "

static const th_port unlimited = {.bits_per_s = TH_UNLIMITED, .burst_bytes = 1};

/* LSTM of 6 inputs, 10 units, 5 steps, 2 rows: 40 columns in 3 rounds of 16 lanes, x = 2*3*6 =
 * 36, h = 60, gates 2*ceil(90/8) + 11 = 35. Weights 40*16*2 = 1280 bytes. */
static th_shard lstm(void)
{
    th_shard s = conv_shard(2, 10, 6, 5, 1, 1);
    s.kind = TH_LAYER_LSTM;
    s.in_h = 5;
    return s;
}

/* x hides the gates: 5 (60 + 36) + 35. With a latency of 20 it does not: 5 (60 + 44) + 36. A GRU:
 * 30 columns in 2 rounds, x 24, h 40, gates 2*ceil(80/8) + 11 = 31: 5 (40 + 31) + 24. */
TEST(steps_wait_for_the_gates)
{
    th_shard s = lstm();
    th_schedule out = schedule_on(GEMV("1280B"), &s);
    assert_counts(&out, 5, 1, 1, 1, 1);
    CU_ASSERT_TRUE(th_schedule_sum(&out).cycles == 5 * 96 + 35 && out.start_cycles == 35);
    out = schedule_on(GEMV("1280B") "slots = 3; ", &s);
    CU_ASSERT_EQUAL(out.slots_in, 3);
    out = schedule_on(
        "type = \"gemv\"; clock = \"100MHz\"; lanes = 16; gate_lanes = 8; step_latency = 20; "
        "input_port = 100; weight_port = 50; output_port = 25; weight_buffer = \"64KiB\"; ",
        &s);
    CU_ASSERT_TRUE(th_schedule_sum(&out).cycles == 5 * 104 + 36 && out.start_cycles == 36);
    s.kind = TH_LAYER_GRU;
    out = schedule_on(GEMV("1280B"), &s);
    CU_ASSERT_EQUAL(th_schedule_sum(&out).cycles, 5 * 71 + 24);
}

/* Resident: once 1280 bytes, 24 in and 40 out per step. Time on a memory without limit: 1280
 * bytes through 50 elements of 2 bytes per cycle, 12.8 cycles, before the first step; 40/50 to
 * store the last. */
TEST(resident_weights_are_loaded_once)
{
    th_shard s = lstm();
    th_pipeline p;
    th_schedule out = schedule_on(GEMV("1280B"), &s);
    th_schedule_totals t = th_schedule_sum(&out);
    CU_ASSERT_TRUE(t.weight_bytes == 1280 && t.input_bytes == 5 * 24 && t.output_bytes == 5 * 40);
    TAP_ASSERT_TEXT(out.variant, "weights on chip");
    th_pipeline_start(&p, &out, &unlimited, &(th_pipeline_options){.skip = true});
    CU_ASSERT_EQUAL(th_pipeline_finish(&p, &out, &unlimited),
                    128000 + (5 * 96 + 35) * 10000 + 8000);
    CU_ASSERT_TRUE(out.buffer_bytes[TH_TENSOR_WEIGHT] == 1280 &&
                   out.buffer_bytes[TH_TENSOR_INPUT] == 48 &&
                   out.buffer_bytes[TH_TENSOR_OUTPUT] == 80);
    /* 5 steps, 2 rows, 3 rounds of 16 elements; every weight for every row */
    CU_ASSERT_TRUE(out.accesses.input_reads == 5 * 2 * 3 * 16 &&
                   out.accesses.weight_reads == 5 * 2 * 640 && out.accesses.output_writes == 100 &&
                   out.macs_per_cycle == 16);
}

/* One byte less, 2 slots of 639: a unit has 4*16*2 = 128, so blocks of 4, 4, 2 units: 16, 16, 8
 * columns, one round each of 2*16 = 32 cycles. Gates of 4 units 2*ceil(36/8) = 10 hide; those of
 * the last 2*ceil(18/8) + 11 = 17 wait 5 cycles more than x of a first block, 12. Every step
 * loads it all. */
TEST(streamed_weights_are_loaded_in_every_step)
{
    th_shard s = lstm();
    th_schedule out = schedule_on(GEMV("1279B"), &s);
    assert_counts(&out, 5, 1, 1, 3, 1);
    const unsigned rest = TH_LAST_H | TH_LAST_W | TH_LAST_C;
    assert_step(&out, rest, 24, 512, 32, 16);
    assert_step(&out, rest | TH_LAST_K, 24, 256, 32 + 5, 8);
    th_schedule_totals t = th_schedule_sum(&out);
    CU_ASSERT_TRUE(t.weight_bytes == 5 * 1280 && t.input_bytes == 5 * 24 &&
                   t.output_bytes == 5 * 40);
    CU_ASSERT_EQUAL(t.cycles, 5 * (32 + 32 + 37) + 12);
    TAP_ASSERT_TEXT(out.variant, "weights streamed in every step");
    CU_ASSERT_EQUAL(out.buffer_bytes[TH_TENSOR_WEIGHT], 1024);
}

/* One vector of 16 values, 128 units, 10 steps on a million lanes: each product is a round, x = 16,
 * h = 128; one gate lane: e = 128 o, o = 9, 8 and 1 by the equations at the head of gemv.c. Cycles
 * 10 (128 + e) + 16. In closed form too, with ports that do not matter but for the weights, which
 * come before the first step, and the last store. */
TEST(each_kind_costs_its_own_operations)
{
    static const int kinds[] = {TH_LAYER_LSTM, TH_LAYER_GRU, TH_LAYER_RNN},
                     operations[] = {9, 8, 1}, gates[] = {4, 3, 1};
    static const char keys[] =
        "type = \"gemv\"; clock = \"100MHz\"; lanes = 1048576; gate_lanes = 1; weight_buffer = "
        "\"64MiB\"; input_port = 1000; weight_port = 100000; output_port = 1000; ";
    for (int i = 0; i < 3; i++) {
        th_shard s = conv_shard(1, 128, 16, 10, 1, 1);
        s.kind = kinds[i];
        s.in_h = 10;
        th_schedule out = schedule_on(keys, &s);
        int64_t cycles = 10 * (128 + 128 * operations[i]) + 16;
        CU_ASSERT_EQUAL(th_schedule_sum(&out).cycles, cycles);
        double ports = gates[i] * 128 * 144 / 100000.0 + 128 / 1000.0;
        CU_ASSERT_DOUBLE_EQUAL(closed_form_of(keys, &s), (double)cycles + ports, 1e-6);
    }
}

/* 44 weights of a unit, 88 bytes; 2 slots of 176: blocks of 2 units, 8 columns, one round of 64
 * lanes, 2*11 = 22 cycles. Gates of 18 operations on one lane, 2*18 = 36, outlast it; the last
 * ones but for x, 2*1. */
TEST(gates_bound_inner_blocks)
{
    th_shard s = conv_shard(2, 10, 1, 3, 1, 1);
    s.kind = TH_LAYER_LSTM;
    th_schedule out = schedule_on(
        "type = \"gemv\"; clock = \"100MHz\"; lanes = 64; gate_lanes = 1; "
        "input_port = 100; weight_port = 50; output_port = 25; weight_buffer = \"352B\"; ",
        &s);
    assert_counts(&out, 3, 1, 1, 5, 1);
    CU_ASSERT_EQUAL(out.step[ALL_LAST & ~TH_LAST_K].cycles, 36);
    CU_ASSERT_EQUAL(out.step[ALL_LAST].cycles, 22 + 36 - 2);
    CU_ASSERT_EQUAL(out.start_cycles, 2);
}

/* fc of 300 inputs, 100 outputs, one vector: 8 pieces of 13 columns, in rounds of 16: 7 blocks,
 * 300 cycles each; everything moves once. */
TEST(one_vector_is_cut_to_overlap_its_weights)
{
    th_shard s = conv_shard(1, 100, 300, 1, 1, 1);
    s.kind = TH_LAYER_FC;
    th_schedule out = schedule_on(GEMV("1MiB"), &s);
    assert_counts(&out, 1, 1, 1, 7, 1);
    assert_step(&out, ALL_LAST & ~TH_LAST_K, 600, 16 * 600, 300, 32);
    assert_step(&out, ALL_LAST, 600, 4 * 600, 300, 8);
    th_schedule_totals t = th_schedule_sum(&out);
    CU_ASSERT_TRUE(t.cycles == 2100 && t.input_bytes == 600 && t.weight_bytes == 60000 &&
                   t.output_bytes == 200);
}

/* 20 x 30 by 30 x 40 for 3 images in 2 slots of 1000 bytes: 16 columns of 60 bytes, blocks of 16,
 * 16, 8. One matrix comes once and every row of the inputs with each block; matrices of their own
 * for every image. */
TEST(matmuls_keep_a_block_through_all_rows)
{
    th_shard s = conv_shard(3, 40, 30, 20, 1, 1);
    s.kind = TH_LAYER_MATMUL;
    th_schedule out = schedule_on(GEMV("2000B"), &s);
    assert_counts(&out, 3, 20, 1, 3, 1);
    th_schedule_totals t = th_schedule_sum(&out);
    CU_ASSERT_TRUE(t.weight_bytes == 2400 && t.input_bytes == 3 * 3 * 20 * 60 &&
                   t.output_bytes == 3 * 20 * 80 && t.cycles == 3 * 20 * 3 * 30);
    CU_ASSERT_EQUAL(th_schedule_loop(&out, 0), TH_LOOP_K);
    th_schedule whole = schedule_on(GEMV("3000B"), &s); /* 25 columns fit: one round of 16 */
    CU_ASSERT_EQUAL(memcmp(whole.step, out.step, sizeof out.step), 0);
    th_pipeline p;
    th_pipeline_start(&p, &out, &unlimited, &(th_pipeline_options){.skip = true});
    th_pipeline_finish(&p, &out, &unlimited);
    CU_ASSERT_EQUAL(p.stats.moved_bytes[TH_ENGINE_WEIGHT], 2400);
    auto_system *system = system_with(GEMV("2000B"));
    const th_design_type *type;
    th_design_config config;
    s.n_operands = 2;
    CU_ASSERT_EQUAL(th_design_configure(&system->designs[0], &type, &config, NULL), 0);
    CU_ASSERT_EQUAL(th_design_schedule(type, &config, &s, &unlimited, &out, NULL), 0);
    CU_ASSERT_EQUAL(th_schedule_sum(&out).weight_bytes, 3 * 2400);
}

/* 3 x 3 of 4 -> 10 channels in 2 groups, 6 x 7: rows of 7 vectors of 2*9 = 18, 5 columns, one
 * round: 126 cycles, windows of 3 rows of 9 columns of 2 channels, 108 bytes. */
TEST(convolutions_gather_their_vectors)
{
    th_shard s = conv_shard(1, 10, 4, 6, 7, 3);
    s.groups = 2;
    th_schedule out = schedule_on(GEMV("1MiB"), &s);
    assert_counts(&out, 2, 6, 1, 1, 1);
    assert_step(&out, ALL_LAST, 108, 5 * 18 * 2, 126, 70);
    CU_ASSERT_EQUAL(th_schedule_sum(&out).weight_bytes, 2 * 180);
}

/* A unit of the LSTM has 128 bytes, 2 slots of one 256; a column of the convolution 18 elements, 36
 * bytes. */
TEST(refuses_what_no_slot_can_hold)
{
    th_shard s = lstm(), conv = conv_shard(1, 10, 2, 6, 7, 3);
    th_schedule out = schedule_on(GEMV("256B"), &s);
    assert_counts(&out, 5, 1, 1, 10, 1);
    assert_unfit(GEMV("255B"), &s, "SIM-0120",
                 "gemv: weights: 2 slots of one unit, 64 elements, need 256 bytes, weight_buffer "
                 "has 255: 1 bytes are missing");
    assert_unfit(GEMV("50B"), &conv, "SIM-0120",
                 "gemv: weights: 2 slots of one column, 18 elements, need 72 bytes, weight_buffer "
                 "has 50: 22 bytes are missing");
}

TAP_MAIN("gemv")
