/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/design_forms.h"
#include "tests/unit/design_help.h"

#define ROOFLINE "type = \"roofline\"; clock = \"100MHz\"; macs_per_cycle = 100; efficiency = 0.5; "

/* K 64, C 32, 16 x 16, 3 x 3: weights 36864 bytes outweigh inputs 32*18*18*2 = 20736: 32 pieces of
 * 2 channels, 2*256*288/50 -> 2950 cycles of 10 ns each; outputs 1024 per piece.
 * At 10 GB/s: inputs and both slots of weights come in first (23040 bytes, 2304 ns), 32 * 29500 ns
 * of compute, 102.4 ns for the last store. At 50 MB/s: traffic (36864 + 20736 + 32768) / 0.05 =
 * 1807.36 us; at most the first and last pieces of work and store are not hidden behind it. */
TEST(roofline_by_hand)
{
    th_shard shard = conv_shard(1, 64, 32, 16, 16, 3);
    th_schedule s = schedule_on(ROOFLINE, &shard);
    assert_counts(&s, 1, 1, 1, 32, 1);
    assert_step(&s, ALL_LAST, 20736, 1152, 2950, 1024);
    const th_port fast = {80000000000, 0, 1}, slow = {400000000, 0, 1};
    th_pipeline p;
    th_pipeline_start(&p, &s, &fast, &(th_pipeline_options){.skip = true});
    CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &fast), 2304000 + 32 * 29500000LL + 102400);
    th_pipeline_start(&p, &s, &slow, &(th_pipeline_options){.skip = true});
    th_time end = th_pipeline_finish(&p, &s, &slow);
    CU_ASSERT_TRUE(end >= 1807360000 && end <= 1807360000 + 2 * 29500000);
}

/* The same layer, computed at once, on a DRAM without limit whose latency is 400 ns: the first
 * eight of the 32 pieces are requested at once, and each eight after that when the eight before are
 * there: four latencies, and one to store the last piece. Two slots, the default, take sixteen. */
TEST(pieces_in_flight_hide_the_latency)
{
    th_shard shard = conv_shard(1, 64, 32, 16, 16, 3);
    const th_port far = {.bits_per_s = TH_UNLIMITED, .latency_ps = 400000, .burst_bytes = 1};
    const char *const slots[] = {"slots = 8; ", ""};
    const th_time batches[] = {4, 16};
    for (int i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "type = \"roofline\"; clock = \"1000GHz\"; macs_per_cycle = 1e12; %s", slots[i]);
        th_schedule s = schedule_on(text, &shard);
        th_pipeline p;
        th_pipeline_start(&p, &s, &far, &(th_pipeline_options){.skip = true});
        th_time took = th_pipeline_finish(&p, &s, &far);
        CU_ASSERT_TRUE(took >= (batches[i] + 1) * 400000 && took <= (batches[i] + 1) * 400000 + 32);
    }
}

/* Every byte moves once, and the pieces' MACs add up; at most one cycle per piece is lost in
 * rounding. */
TEST(roofline_moves_every_byte_once)
{
    auto_rng *r = th_random_stream(37, "roofline", 0);
    int wrong = 0;
    for (int round = 0; round < 500; round++) {
        th_shard d = random_shard(r);
        th_schedule s = schedule_on(ROOFLINE, &d);
        th_schedule_totals t = th_schedule_sum(&s);
        int64_t k = d.dim[TH_DIM_K], c = d.dim[TH_DIM_C] / d.groups,
                rs = (int64_t)d.dim[TH_DIM_R] * d.dim[TH_DIM_S];
        int64_t out = (int64_t)d.dim[TH_DIM_B] * k * d.dim[TH_DIM_H] * d.dim[TH_DIM_W];
        wrong +=
            t.weight_bytes != k * c * rs * bytes_of(&d) || t.output_bytes != out * bytes_of(&d);
        wrong += t.input_bytes !=
                 (int64_t)d.dim[TH_DIM_B] * d.dim[TH_DIM_C] * d.in_h * d.in_w * bytes_of(&d);
        wrong += t.cycles < out * c * rs / 50 || t.cycles > out * c * rs / 50 + 33;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static int64_t piece_cycles(const char *keys, const th_shard *shard)
{
    char all[1000];
    snprintf(all, sizeof all, ROOFLINE "%s", keys);
    return schedule_on(all, shard).step[ALL_LAST].cycles;
}

/* The layer above, 147456 MACs in a piece: int8 at 4 times the peak ceil(147456/200) = 738;
 * weights of int8 with inputs of fp16 go at the pace of fp16; at half the peak ceil(147456/25) =
 * 5899. */
TEST(precisions_have_their_peak)
{
    th_shard s = conv_shard(1, 64, 32, 16, 16, 3);
    CU_ASSERT_EQUAL(piece_cycles("int8 = 4; fp32 = 0.5; ", &s), 2950);
    s.precision[TH_TENSOR_WEIGHT] = TH_INT8;
    CU_ASSERT_EQUAL(piece_cycles("int8 = 4; bf16 = 4; ", &s), 4608 * 32 * 2 / 50 + 1);
    s.precision[TH_TENSOR_INPUT] = TH_INT8;
    s.precision[TH_TENSOR_WEIGHT] = TH_FP16;
    CU_ASSERT_EQUAL(piece_cycles("int8 = 4; ", &s), 2950);
    s.precision[TH_TENSOR_WEIGHT] = TH_INT8;
    CU_ASSERT_EQUAL(piece_cycles("int8 = 4; ", &s), 738);
    s.precision[TH_TENSOR_INPUT] = s.precision[TH_TENSOR_WEIGHT] = TH_FP32;
    CU_ASSERT_EQUAL(piece_cycles("fp32 = 0.5; ", &s), 5899);
    th_schedule out = schedule_on(ROOFLINE "fp32 = 0.5; ", &s);
    CU_ASSERT_DOUBLE_EQUAL(out.macs_per_cycle, 50, 0);
}

/* 2,950 cycles shrink by the density of what is skipped: 147456/4/50 -> 738, 2 of 4: 1475, inputs
 * of 0.5: 1475, both 147456/8/50 -> 369. The weights are large enough in all of them to be what
 * is cut. */
TEST(zeros_are_skipped_where_asked)
{
    th_shard s = conv_shard(1, 64, 32, 4, 4, 3);
    CU_ASSERT_EQUAL(piece_cycles("zero_skipping = \"both\"; ", &s), 185); /* 2*16*288/50 */
    s.density_ppm[TH_TENSOR_WEIGHT] = 250000;
    s.density_ppm[TH_TENSOR_INPUT] = 500000;
    CU_ASSERT_EQUAL(piece_cycles("", &s), 185);
    CU_ASSERT_EQUAL(piece_cycles("zero_skipping = \"none\"; ", &s), 185);
    CU_ASSERT_EQUAL(piece_cycles("zero_skipping = \"weights\"; ", &s), 47); /* 46.08 */
    CU_ASSERT_EQUAL(piece_cycles("zero_skipping = \"inputs\"; ", &s), 93);  /* 92.16 */
    CU_ASSERT_EQUAL(piece_cycles("zero_skipping = \"both\"; ", &s), 24);    /* 23.04 */
    s.sparse_n = 2;
    s.sparse_m = 4;
    CU_ASSERT_EQUAL(piece_cycles("zero_skipping = \"weights\"; ", &s), 93);
}

/* 80 Gbit/s: all of it for the inputs that come first, 36864 : 32768 for weights and outputs. A
 * batch of 3 products of two inputs has 3 second operands. */
TEST(a_bandwidth_of_its_own_is_shared)
{
    th_shard s = conv_shard(1, 64, 32, 16, 16, 3), product = conv_shard(3, 40, 30, 20, 1, 1);
    th_schedule out = schedule_on(ROOFLINE "bandwidth = \"10GB/s\"; ", &s);
    CU_ASSERT_EQUAL(out.port_bits_per_s[TH_ENGINE_INPUT], 80000000000);
    CU_ASSERT_EQUAL(out.port_bits_per_s[TH_ENGINE_WEIGHT], 42352941177);
    CU_ASSERT_EQUAL(out.port_bits_per_s[TH_ENGINE_OUTPUT], 37647058824);
    CU_ASSERT_TRUE(out.accesses.input_reads == 32 * 18 * 18 && out.accesses.weight_reads == 18432 &&
                   out.accesses.output_writes == 16384);
    CU_ASSERT_TRUE(out.buffer_bytes[TH_TENSOR_INPUT] == 20736 &&
                   out.buffer_bytes[TH_TENSOR_WEIGHT] == 2 * 1152 &&
                   out.buffer_bytes[TH_TENSOR_OUTPUT] == 2 * 1024);
    TAP_ASSERT_TEXT(out.variant, "cut by output channels");
    product.kind = TH_LAYER_MATMUL;
    product.n_operands = 2;
    out = schedule_on(ROOFLINE, &product);
    CU_ASSERT_EQUAL(th_schedule_sum(&out).weight_bytes, 3 * 40 * 30 * 2);
    CU_ASSERT_EQUAL(th_schedule_sum(&out).input_bytes, 3 * 20 * 30 * 2);
}

/* The closed form is the time of the pipeline on a memory without limit, to the rounding of
 * requests and ports: 1,000 random layers, with a bandwidth of their own (narrow to wide) or
 * without, and any number of slots. */
TEST(the_closed_form_is_the_pipeline)
{
    const th_port unlimited = {.bits_per_s = TH_UNLIMITED, .burst_bytes = 1};
    auto_rng *r = th_random_stream(43, "closed", 0);
    int wrong = 0;
    for (int round = 0; round < 1000; round++) {
        th_shard shard = random_shard(r);
        char keys[500];
        int n = snprintf(keys, sizeof keys,
                         "name = \"one\"; designs = ( { name = \"d\"; " ROOFLINE
                         "int8 = 3.5; slots = %d; ",
                         (int)pick(r, 1, TH_SLOTS_MAX));
        if (round % 2)
            n += snprintf(keys + n, sizeof keys - (size_t)n, "bandwidth = \"%dMB/s\"; ",
                          (int)pick(r, 1, 3000));
        snprintf(keys + n, sizeof keys - (size_t)n, "} );\n" ACCELERATOR);
        auto_system *s = system_of(keys);
        const th_design_type *type;
        th_design_config config;
        th_schedule out;
        th_pipeline p;
        CU_ASSERT_EQUAL_FATAL(th_design_configure(&s->designs[0], &type, &config, NULL), 0);
        CU_ASSERT_EQUAL(type->schedule(&config, &shard, &unlimited, &out, NULL), 0);
        th_pipeline_start(&p, &out, &unlimited, &(th_pipeline_options){.skip = true});
        double took = (double)th_pipeline_finish(&p, &out, &unlimited) / 10000; /* 100 MHz */
        double said = closed_form(type, &config, &shard);
        double narrowest = 1e9; /* ports are whole bits per second */
        for (int e = 0; e < TH_N_ENGINES; e++)
            if (out.port_bits_per_s[e] > 0 && (double)out.port_bits_per_s[e] < narrowest)
                narrowest = (double)out.port_bits_per_s[e];
        wrong += !(fabs(took - said) <= said / narrowest + 0.01);
        th_design_release(type, &config);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TAP_MAIN("roofline")
