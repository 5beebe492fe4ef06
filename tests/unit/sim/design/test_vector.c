/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/design/compute_cost.h"
#include "tests/unit/design_help.h"

/* Pool 3 x 3 of 6 channels, 33 x 5 from 67 x 12: 16 pieces would be 2.06 rows, so 11 of 3. Cycles
 * 6*5*3*9/64 -> 13, output 6*5*3*2 = 180 bytes, input 6*67*12*2 = 9648 = 10*877 + 878 per image.
 * A sum of 4 operands of 6 x 33 x 5: 3 operations, 90*3/64 -> 5 cycles, 4 * 1980 bytes in. */
TEST(vector_by_hand)
{
    const th_accel a = {.vector_hz = 150000000, .vector_elements_per_cycle = 64};
    th_shard pool = conv_shard(2, 6, 6, 33, 5, 3), sum = conv_shard(1, 6, 6, 33, 5, 1);
    th_schedule s;
    pool.kind = TH_LAYER_POOL;
    pool.in_h = 67;
    pool.in_w = 12;
    th_vector_schedule(&a, &pool, &s);
    assert_counts(&s, 2, 11, 1, 1, 1);
    assert_step(&s, ALL_LAST & ~TH_LAST_H, 877, 0, 13, 180);
    assert_step(&s, ALL_LAST, 878, 0, 13, 180);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).input_bytes, 2 * 9648);
    CU_ASSERT_TRUE(s.hz == 150000000 && s.port_bits_per_s[TH_ENGINE_INPUT] == 0 && s.slots_in == 2);
    sum.kind = TH_LAYER_ELEMENTWISE;
    sum.function = TH_FUNCTION_ADD;
    sum.n_operands = 4;
    th_vector_schedule(&a, &sum, &s);
    th_schedule_totals t = th_schedule_sum(&s);
    CU_ASSERT_TRUE(t.cycles == 11 * 5 && t.input_bytes == 4 * 1980 && t.output_bytes == 1980);
    sum.dim[TH_DIM_H] = sum.in_h = 2; /* fewer rows than pieces: one each, 30*3/64 -> 2 cycles */
    th_vector_schedule(&a, &sum, &s);
    assert_counts(&s, 1, 2, 1, 1, 1);
    CU_ASSERT_EQUAL(th_schedule_sum(&s).cycles, 4);
}

/* 5 lanes, 1 GHz. */
static const th_accel five_lanes = {.vector_hz = 1000000000, .vector_elements_per_cycle = 5};

static th_shard vector_shard(th_layer_kind kind, th_function function, int b, int k, int h, int w)
{
    th_shard s = conv_shard(b, k, k, h, w, 1);
    s.kind = (int32_t)kind;
    s.function = (int32_t)function;
    return s;
}

/* Cycles of 2 images of 10 channels, 3 x 4 pixels: 3 pieces of 40 elements and 4 rows each. */
static int64_t cycles_on(const th_accel *a, th_layer_kind kind, th_function function,
                         int n_operands)
{
    th_shard s = vector_shard(kind, function, 2, 10, 3, 4);
    th_schedule out;
    s.n_operands = n_operands;
    th_vector_schedule(a, &s, &out);
    assert_counts(&out, 2, 3, 1, 1, 1);
    return th_schedule_sum(&out).cycles / 6;
}

/* 40 outputs on 5 lanes are 8 cycles per operation; 4 rows of E = 4 and more are 4 * 7 / 5 -> 6,
 * and so on. */
TEST(functions_cost_their_operations)
{
    th_accel a = five_lanes;
    const th_layer_kind e = TH_LAYER_ELEMENTWISE, n = TH_LAYER_NORM;
    CU_ASSERT_EQUAL(cycles_on(&a, e, TH_FUNCTION_ADD, 4), 24);
    CU_ASSERT_EQUAL(cycles_on(&a, e, TH_FUNCTION_MUL, 2), 8);
    CU_ASSERT_EQUAL(cycles_on(&a, e, TH_FUNCTION_RELU, 1), 8);
    CU_ASSERT_EQUAL(cycles_on(&a, e, TH_FUNCTION_SIGMOID, 1), 72);
    CU_ASSERT_EQUAL(cycles_on(&a, e, TH_FUNCTION_TANH, 1), 80);
    CU_ASSERT_EQUAL(cycles_on(&a, e, TH_FUNCTION_SILU, 1), 80);
    CU_ASSERT_EQUAL(cycles_on(&a, e, TH_FUNCTION_GELU, 1), 104);
    CU_ASSERT_EQUAL(cycles_on(&a, n, TH_FUNCTION_BATCH_NORM, 1), 8);
    CU_ASSERT_EQUAL(cycles_on(&a, n, TH_FUNCTION_LAYER_NORM, 1), 38);          /* (160 + 28) / 5 */
    CU_ASSERT_EQUAL(cycles_on(&a, n, TH_FUNCTION_RMS_NORM, 1), 28);            /* (120 + 20) / 5 */
    CU_ASSERT_EQUAL(cycles_on(&a, TH_LAYER_SOFTMAX, TH_FUNCTION_NONE, 1), 68); /* (320 + 16) / 5 */
    CU_ASSERT_EQUAL(cycles_on(&a, TH_LAYER_CONCAT, TH_FUNCTION_NONE, 3), 8);
    CU_ASSERT_EQUAL(cycles_on(&a, TH_LAYER_SLICE, TH_FUNCTION_NONE, 1), 8);
    a.vector_exp_operations = 10;
    CU_ASSERT_EQUAL(cycles_on(&a, e, TH_FUNCTION_GELU, 1), 200);
    CU_ASSERT_EQUAL(cycles_on(&a, TH_LAYER_SOFTMAX, TH_FUNCTION_NONE, 1), 120); /* (560 + 40) / 5 */
}

/* Softmax over 2 groups of 5 channels has twice the rows: (320 + 32) / 5 -> 71. */
TEST(softmax_rows_are_the_channels_of_a_group)
{
    th_shard s = vector_shard(TH_LAYER_SOFTMAX, TH_FUNCTION_NONE, 2, 10, 3, 4);
    th_schedule out;
    s.groups = 2;
    th_vector_schedule(&five_lanes, &s, &out);
    CU_ASSERT_EQUAL(th_schedule_sum(&out).cycles, 6 * 71);
}

/* A row of 10 channels is 20 bytes. In 19 it does not fit: the norm reads its 480 bytes twice,
 * softmax three times, with 5 more operations per element: (520 + 16) / 5 -> 108. A pool does not
 * care. */
TEST(rows_beyond_the_buffer_are_read_in_every_pass)
{
    th_accel a = five_lanes;
    th_shard norm = vector_shard(TH_LAYER_NORM, TH_FUNCTION_LAYER_NORM, 2, 10, 3, 4);
    th_shard softmax = vector_shard(TH_LAYER_SOFTMAX, TH_FUNCTION_NONE, 2, 10, 3, 4);
    th_shard relu = vector_shard(TH_LAYER_ELEMENTWISE, TH_FUNCTION_RELU, 2, 10, 3, 4);
    th_schedule out;
    a.vector_buffer_bytes = 20;
    th_vector_schedule(&a, &norm, &out);
    CU_ASSERT_EQUAL(th_schedule_sum(&out).input_bytes, 480);
    CU_ASSERT_TRUE(out.accesses.input_reads == 480 && out.accesses.output_writes == 240);
    a.vector_buffer_bytes = 19;
    th_vector_schedule(&a, &norm, &out);
    th_schedule_totals t = th_schedule_sum(&out);
    CU_ASSERT_TRUE(t.input_bytes == 960 && t.cycles == 6 * 38 && t.output_bytes == 480);
    CU_ASSERT_EQUAL(th_vector_operations(&a, &norm), 240 * 4 + 24 * 7);
    CU_ASSERT_EQUAL(th_vector_operations(&a, &softmax), 240 * 13 + 24 * 4);
    TAP_ASSERT_TEXT(out.variant, "row read in every pass");
    th_vector_schedule(&a, &softmax, &out);
    t = th_schedule_sum(&out);
    CU_ASSERT_TRUE(t.input_bytes == 1440 && t.cycles == 6 * 108 && t.output_bytes == 480);
    th_vector_schedule(&a, &relu, &out);
    CU_ASSERT_TRUE(th_schedule_sum(&out).input_bytes == 480 && out.variant == NULL);
}

/* 2 x 20 numbers of 4 bytes pick rows of 48 elements of 2 bytes: 16 pieces would be 1.25 numbers,
 * so 10 of 2, ceil(96/64) = 2 cycles each. Bursts of 64 bytes make 128 of every row of 96. */
TEST(an_embedding_gathers_rows)
{
    const th_accel a = {.vector_hz = 150000000, .vector_elements_per_cycle = 64};
    const th_port bursts = {.bits_per_s = 80000000000, .burst_bytes = 64};
    th_shard s = vector_shard(TH_LAYER_EMBEDDING, TH_FUNCTION_NONE, 2, 48, 20, 1);
    th_schedule out;
    th_pipeline p;
    s.dim[TH_DIM_C] = 1;
    s.precision[TH_TENSOR_INPUT] = TH_FP32;
    th_vector_schedule(&a, &s, &out);
    assert_counts(&out, 2, 10, 1, 1, 1);
    th_schedule_totals t = th_schedule_sum(&out);
    CU_ASSERT_TRUE(t.input_bytes == 160 && t.weight_bytes == 40 * 96 && t.output_bytes == 40 * 96 &&
                   t.cycles == 20 * 2);
    CU_ASSERT_EQUAL(out.run_bytes[TH_ENGINE_WEIGHT], 96);
    th_pipeline_start(&p, &out, &bursts, &(th_pipeline_options){.skip = true});
    th_pipeline_finish(&p, &out, &bursts);
    CU_ASSERT_EQUAL(p.stats.moved_bytes[TH_ENGINE_WEIGHT], 40 * 128);
    CU_ASSERT_TRUE(out.accesses.weight_reads == 40 * 48 && out.accesses.input_reads == 40);
}

/* Concat copies its outputs' bytes, or takes no time at all, on an accelerator class of its own. */
TEST(concat_is_a_copy_or_free)
{
    auto_system *system = shipped_system("f1_16xlarge");
    system->nodes[system->accel_node[1]].a.concat_is_free = true;
    auto_costs *w = th_compute_cost_cache_new(system, NULL);
    th_shard s = vector_shard(TH_LAYER_CONCAT, TH_FUNCTION_NONE, 2, 10, 3, 4);
    s.n_operands = 3;
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 0, 0, &s, NULL), 0);
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 1, 0, &s, NULL), 1);
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 2, 0, &s, NULL), 0);
    th_schedule_totals t = th_schedule_sum(&th_compute_cost_get(w, 0)->schedule);
    CU_ASSERT_TRUE(t.input_bytes == 480 && t.output_bytes == 480 &&
                   th_compute_cost_get(w, 0)->collapsed_ps > 0);
    t = th_schedule_sum(&th_compute_cost_get(w, 1)->schedule);
    CU_ASSERT_TRUE(t.input_bytes == 0 && t.output_bytes == 0 &&
                   th_compute_cost_get(w, 1)->collapsed_ps == 0);
    CU_ASSERT_EQUAL(th_vector_operations(&system->nodes[system->accel_node[0]].a, &s), 240);
    CU_ASSERT_EQUAL(th_vector_operations(&system->nodes[system->accel_node[1]].a, &s), 0);
}

/* The optional keys of the block, and what is refused. */
TEST(the_block_has_optional_keys)
{
#define VECTOR_SYSTEM(keys)                                                                        \
    "name = \"one\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "          \
    "macs_per_cycle = 8; } ); accelerators = ( { dram = { capacity = \"1GiB\"; bandwidth = "       \
    "\"16GB/s\"; };\nvector = { clock = \"1GHz\"; elements_per_cycle = 5; " keys " };\n"           \
    "designs = [\"d\"]; } );"
    th_system *s =
        system_of(VECTOR_SYSTEM("exp_operations = 7; buffer = \"3KiB\"; concat = \"free\";"));
    const th_accel *a = &s->nodes[s->accel_node[0]].a;
    CU_ASSERT_TRUE(a->vector_exp_operations == 7 && a->vector_buffer_bytes == 3072 &&
                   a->concat_is_free);
    th_system_free(s);
    s = system_of(VECTOR_SYSTEM("concat = \"copy\";"));
    a = &s->nodes[s->accel_node[0]].a;
    CU_ASSERT_TRUE(a->vector_exp_operations == 0 && a->vector_buffer_bytes == 0 &&
                   !a->concat_is_free);
    th_system_free(s);
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_system_read_text(VECTOR_SYSTEM("concat = \"fre\";"), "test", &e));
    TAP_ASSERT_ERROR(e, "BASE-0460",
                     "test:2: concat \"fre\": did you mean \"free\"? (must be one of copy, free)");
    CU_ASSERT_PTR_NULL(th_system_read_text(VECTOR_SYSTEM("buffer = \"0B\";"), "test", &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0461");
}

/* A layer of rows: B (n ceil(p K W f / lanes) + ceil(rest K W f / lanes)) cycles, p = ceil(H / 16)
 * rows a piece, n of them before the rest; f operations an output: R S of a pool, 1 of a relu, the
 * operands but one of a sum. */
static double row_cycles(const th_accel *a, const th_shard *s, int64_t operations)
{
    int64_t h = s->dim[TH_DIM_H], row = (int64_t)s->dim[TH_DIM_K] * s->dim[TH_DIM_W] * operations;
    int64_t piece = over(h, 16), before = (h - 1) / piece;
    return (double)s->dim[TH_DIM_B] *
           (double)(before * over(piece * row, a->vector_elements_per_cycle) +
                    over((h - before * piece) * row, a->vector_elements_per_cycle));
}

static th_shard random_rows(gsl_rng *r, int64_t *operations)
{
    th_shard s = random_shard(r);
    s.dim[TH_DIM_C] = s.dim[TH_DIM_K];
    s.groups = 1;
    s.kind = (int32_t)(pick(r, 0, 1) ? TH_LAYER_POOL : TH_LAYER_ELEMENTWISE);
    *operations = (int64_t)s.dim[TH_DIM_R] * s.dim[TH_DIM_S];
    if (s.kind == TH_LAYER_POOL)
        return s;
    s.dim[TH_DIM_R] = s.dim[TH_DIM_S] = 1;
    s.in_h = s.dim[TH_DIM_H];
    s.in_w = s.dim[TH_DIM_W];
    s.n_operands = (int32_t)pick(r, 1, 4);
    s.function = s.n_operands > 1 ? TH_FUNCTION_ADD : TH_FUNCTION_RELU;
    *operations = s.n_operands > 1 ? s.n_operands - 1 : 1;
    return s;
}

/* With a memory that takes no time, the cycles alone; with any, never less than the larger of
 * cycles and traffic, and no time is lost from the account. */
TEST(the_closed_form_is_the_pipeline)
{
    auto_rng *r = th_random_stream(47, "vector", 0);
    const th_port ideal = {.bits_per_s = TH_UNLIMITED, .burst_bytes = 1};
    int wrong = 0;
    for (int round = 0; round < 1000; round++) {
        const th_accel a = {.vector_hz = 1000000000, .vector_elements_per_cycle = pick(r, 1, 128)};
        const th_port slow = {.bits_per_s = pick(r, 1, 400) * 1000000000, .burst_bytes = 64};
        int64_t operations;
        th_shard s = random_rows(r, &operations);
        th_schedule out;
        th_pipeline p;
        th_vector_schedule(&a, &s, &out);
        th_pipeline_start(&p, &out, &ideal, &(th_pipeline_options){.skip = true});
        double cycles = row_cycles(&a, &s, operations);
        wrong += (double)th_pipeline_finish(&p, &out, &ideal) != 1000 * cycles;
        th_pipeline_start(&p, &out, &slow, &(th_pipeline_options){.skip = true});
        th_time end = th_pipeline_finish(&p, &out, &slow);
        double bytes = (double)(th_stats_read(&p.stats) + p.stats.moved_bytes[TH_ENGINE_OUTPUT]);
        wrong += (double)end < 1000 * cycles ||
                 (double)end < bytes * 8e12 / (double)slow.bits_per_s * (1 - 1e-9);
        wrong +=
            p.stats.busy_ps + th_stats_stall_in(&p.stats) + p.stats.stall_ps[TH_ENGINE_OUTPUT] !=
            end;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TAP_MAIN("vector")
