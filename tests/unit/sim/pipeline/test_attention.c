/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attention as one shard: its two products and softmax, and their schedules as one. */
#include <config.h>
#include "sim/pipeline/attention.h"
#include "sim/design/compute_cost.h"
#include "tests/unit/design_rows.h"

/* 2 images, 6 heads that share 3 of keys; 10 queries, 7 keys; heads of 4, values of 5. */
static th_shard attention(void)
{
    th_shard s = {.kind = TH_LAYER_ATTENTION,
                  .dim = {2, 30, 24, 10, 1, 7, 1},
                  .groups = 6,
                  .key_groups = 3,
                  .in_h = 10,
                  .in_w = 1,
                  .stride_h = 1,
                  .stride_w = 1,
                  .dilation_h = 1,
                  .dilation_w = 1,
                  .up_h = 1,
                  .up_w = 1,
                  .n_operands = 3,
                  .scores = 70};
    for (int t = 0; t < TH_N_TENSORS; t++) {
        s.precision[t] = TH_FP16;
        s.density_ppm[t] = 1000000;
    }
    return s;
}

TEST(parts_are_the_products_and_the_softmax)
{
    th_shard s = attention(), parts[TH_N_ATTENTION_PARTS];
    th_attention_shards(&s, parts);
    /* scores 2 x 10 x 6 x 7 x 4, context 2 x 10 x 6 x 7 x 5 */
    CU_ASSERT_EQUAL(th_shard_macs(&parts[TH_ATTENTION_SCORES]), 3360);
    CU_ASSERT_EQUAL(th_shard_macs(&parts[TH_ATTENTION_CONTEXT]), 4200);
    CU_ASSERT_EQUAL(th_shard_macs(&s), 7560);
    CU_ASSERT_EQUAL(parts[TH_ATTENTION_SOFTMAX].kind, TH_LAYER_SOFTMAX);
    CU_ASSERT_EQUAL(parts[TH_ATTENTION_SOFTMAX].dim[TH_DIM_K], 42);
    CU_ASSERT_TRUE(th_shard_multiplies_activations(&parts[TH_ATTENTION_CONTEXT]));
}

/* Schedules of one step: of the products 1,000 and 1,500 cycles at 1 GHz, of the softmax 400 at 100
 * MHz, which are 4,000 of the array's. */
static void schedules(th_schedule parts[TH_N_ATTENTION_PARTS])
{
    static const int64_t cycles[] = {1000, 400, 1500}, hz[] = {1000000000, 100000000, 1000000000};
    for (int i = 0; i < TH_N_ATTENTION_PARTS; i++) {
        parts[i] =
            (th_schedule){.hz = hz[i], .count = {1, 1, 1, 1, 1}, .slots_in = 2, .slots_out = 2};
        parts[i].step[TH_N_STEP_KINDS - 1] = (th_step){480, 600, cycles[i]};
        parts[i].output_bytes[TH_N_STORE_KINDS - 1] = 5000; /* of the context: with partial sums */
    }
}

TEST(scores_stay_on_the_chip)
{
    th_shard s = attention();
    th_schedule parts[TH_N_ATTENTION_PARTS], one;
    schedules(parts);
    th_attention_schedule(&s, parts, false, &one);
    th_schedule_totals t = th_schedule_sum(&one);
    CU_ASSERT_EQUAL(t.n_steps, 20); /* rows of both images, fewer than 32 */
    CU_ASSERT_EQUAL(t.cycles, 1000 + 4000 + 1500);
    CU_ASSERT_EQUAL(t.input_bytes, 480);              /* queries: what the scores load */
    CU_ASSERT_EQUAL(t.weight_bytes, (600 + 600) / 2); /* each head of keys for two of queries */
    CU_ASSERT_EQUAL(t.output_bytes, 2 * 2 * 10 * 30);
    parts[TH_ATTENTION_CONTEXT].output_bytes[TH_N_STORE_KINDS - 1] = 0;
    th_attention_schedule(&s, parts, false, &one);
    CU_ASSERT_EQUAL(th_schedule_sum(&one).output_bytes, 0); /* of a design that moves no bytes */
}

TEST(the_softmax_overlaps_on_a_unit_of_its_own)
{
    th_shard s = attention();
    th_schedule parts[TH_N_ATTENTION_PARTS], one;
    schedules(parts);
    th_attention_schedule(&s, parts, true, &one);
    /* the softmax takes longer than the products; the first of 20 pieces delays the array by 200 */
    CU_ASSERT_EQUAL(th_schedule_sum(&one).cycles, 4000 + 200);
    parts[TH_ATTENTION_SOFTMAX].step[TH_N_STEP_KINDS - 1].cycles = 100;
    th_attention_schedule(&s, parts, true, &one);
    CU_ASSERT_EQUAL(th_schedule_sum(&one).cycles, 2500 + 50);
}

/* 28 of 70 scores are seen: 0.4 of the cycles, and of what is loaded beyond once. */
TEST(hidden_scores_take_neither_cycles_nor_further_loads)
{
    th_shard s = attention();
    th_schedule parts[TH_N_ATTENTION_PARTS], one;
    schedules(parts);
    s.scores = 28;
    parts[TH_ATTENTION_SCORES].step[TH_N_STEP_KINDS - 1].input_bytes = 5 * 960;
    parts[TH_ATTENTION_SCORES].step[TH_N_STEP_KINDS - 1].weight_bytes = 6 * 672;
    th_attention_schedule(&s, parts, false, &one);
    th_schedule_totals t = th_schedule_sum(&one);
    CU_ASSERT_EQUAL(t.cycles, 400 + 1600 + 600);
    CU_ASSERT_EQUAL(t.input_bytes, 960 + 4 * 384); /* 2 x 10 x 24 queries of 2 bytes */
    /* 2 x 7 x 24 keys of 2 bytes, and 600 of the values' 840 */
    CU_ASSERT_EQUAL(t.weight_bytes, (672 + 1344 + 600) / 2);
    CU_ASSERT_EQUAL(t.output_bytes, 2 * 2 * 10 * 30);
    CU_ASSERT_EQUAL(th_shard_macs(&s), 2 * 28 * (24 + 30));
}

/* One image of n tokens, 8 heads of 64. */
static th_shard tokens(int32_t n)
{
    th_shard s = attention();
    const int32_t dim[] = {1, 512, 512, n, 1, n, 1};
    memcpy(s.dim, dim, sizeof dim);
    s.groups = s.key_groups = 8;
    s.in_h = n;
    s.scores = (int64_t)n * n;
    return s;
}

/* 8 heads of 64 over 256 causal tokens: 256 x 257 / 2 of 256 x 256 scores, on every design and in
 * its least time; a fused kernel that computes whole tiles, no more than of all. */
TEST(every_design_leaves_out_hidden_scores)
{
    auto_rng *r = th_random_stream(71, "attention", 0);
    const double seen = 257.0 / 512;
    int n = 0, n_bounded = 0;
    for (int i = 0; th_design_types[i]; i++) {
        char keys[KEYS_MAX];
        row_of(th_design_types[i])->text(r, keys);
        ready_design d = ready_with(th_design_types[i]->name, keys);
        th_compute_cost_cache *costs = th_compute_cost_cache_new(d.system, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(costs);
        th_shard whole = tokens(256), causal = whole;
        th_schedule all, some;
        double least, least_of_all;
        int64_t hz;
        causal.scores = 256 * 257 / 2;
        bool runs = th_compute_cost_schedule(costs, 0, 0, &whole, &all, NULL) == 0,
             is_bounded = th_compute_cost_min_cycles(costs, 0, 0, &whole, &least_of_all, &hz);
        if (runs && th_compute_cost_schedule(costs, 0, 0, &causal, &some, NULL) == 0) {
            double cycles = (double)th_schedule_sum(&some).cycles;
            double of_all = (double)th_schedule_sum(&all).cycles;
            if (th_design_types[i]->kinds >> TH_LAYER_ATTENTION & 1u)
                CU_ASSERT_TRUE(seen * of_all <= cycles && cycles <= of_all) /* tiles on the edge */
            else
                CU_ASSERT_DOUBLE_EQUAL(cycles, seen * of_all, 4);
            n++;
            if (is_bounded && th_compute_cost_min_cycles(costs, 0, 0, &causal, &least, &hz)) {
                CU_ASSERT_DOUBLE_EQUAL(least, seen * least_of_all, 1e-6 * least);
                CU_ASSERT_TRUE(least <= cycles * (1 + 1e-9));
                n_bounded++;
            }
        }
        th_compute_cost_cache_free(costs);
        free_ready(&d);
    }
    CU_ASSERT_TRUE(n >= 8 && n_bounded >= 6);
}

/* The layer of the shard, with a mask of one row and one of a row for each query. */
static th_layer layer(int32_t *shapes)
{
    static const int32_t extents[] = {24, 10, 1, 12, 7, 1, 15, 7, 1, 1, 7, 1, 7, 10, 1};
    th_layer l = th_layer_over(TH_LAYER_ATTENTION, 2, 30, 10, 1, TH_FP16);
    for (int i = 0; i < 15; i++)
        shapes[i] = extents[i];
    l.dim[TH_DIM_C] = 24;
    l.dim[TH_DIM_R] = 7;
    l.groups = 6;
    l.n_inputs = 5;
    l.input_shapes = shapes;
    return l;
}

static void check_box(const th_layer *l, int input, const th_loop_box *loops,
                      const int32_t expected[8])
{
    th_box box = th_layer_input_of(l, input, loops);
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        CU_ASSERT_EQUAL(box.lo[d], expected[2 * d]);
        CU_ASSERT_EQUAL(box.hi[d], expected[2 * d + 1]);
    }
}

TEST(a_part_reads_its_queries_and_the_keys_of_its_heads)
{
    int32_t shapes[15];
    th_layer l = layer(shapes);
    th_loop_box loops = th_layer_loops(&l);
    loops.lo[TH_DIM_K] = 10; /* heads 2 and 3 of values 5 wide: those of the keys' head 1 */
    loops.hi[TH_DIM_K] = 20;
    loops.lo[TH_DIM_H] = 4;
    loops.hi[TH_DIM_H] = 9;
    check_box(&l, 0, &loops, (const int32_t[]){0, 2, 8, 16, 4, 9, 0, 1});
    check_box(&l, 1, &loops, (const int32_t[]){0, 2, 4, 8, 0, 7, 0, 1});
    check_box(&l, 2, &loops, (const int32_t[]){0, 2, 5, 10, 0, 7, 0, 1});
    check_box(&l, 3, &loops, (const int32_t[]){0, 2, 0, 1, 0, 7, 0, 1});
    check_box(&l, 4, &loops, (const int32_t[]){0, 2, 0, 7, 4, 9, 0, 1});
}

TEST(heads_queries_and_images_may_be_cut)
{
    int32_t shapes[15];
    th_layer l = layer(shapes);
    CU_ASSERT_EQUAL(th_layer_key_heads(&l), 3);
    CU_ASSERT_EQUAL(th_layer_macs(&l), 7560);
    CU_ASSERT_EQUAL(th_layer_weights(&l), 0);
    CU_ASSERT_TRUE(th_layer_can_split(&l, TH_DIM_B, 2));
    CU_ASSERT_TRUE(th_layer_can_split(&l, TH_DIM_H, 3));
    CU_ASSERT_TRUE(th_layer_can_split(&l, TH_DIM_K, 3));
    CU_ASSERT_FALSE(th_layer_can_split(&l, TH_DIM_K, 4)); /* a head needs all of its scores */
    CU_ASSERT_FALSE(th_layer_can_split(&l, TH_DIM_C, 2));
    CU_ASSERT_FALSE(th_layer_can_split(&l, TH_DIM_R, 2));
}

TAP_MAIN("attention")
