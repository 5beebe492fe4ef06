/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/design/compute_cost.h"
#include "base/alloc.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include <stddef.h>

static th_shard pool_shard(void)
{
    th_shard s = conv_shard(1, 24, 24, 10, 10, 2);
    s.kind = TH_LAYER_POOL;
    return s;
}

/* Equal shards have one number, on all alike accelerators; any difference in the key gives another.
 */
TEST(equal_shards_are_one_work)
{
    auto_system *s = shipped_system("f1_16xlarge");
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    th_shard a = conv_shard(1, 24, 12, 10, 10, 3), b = a, pool = pool_shard();
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 0, 0, &a, NULL), 0);
    for (int accel = 0; accel < s->n_accels; accel++)
        CU_ASSERT_EQUAL(th_compute_cost_lookup(w, accel, 0, &b, NULL), 0);
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 0, 1, &a, NULL), 1);
    b.adds_to_output = 1;
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 3, 0, &b, NULL), 2);
    for (int design = 0; design < 3;
         design++) /* the vector unit is the same whatever the array is */
        CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 5, design, &pool, NULL), 3);
    CU_ASSERT_EQUAL(th_compute_cost_count(w), 4);
    CU_ASSERT_TRUE(th_compute_cost_get(w, 1)->design == 1 &&
                   th_compute_cost_get(w, 3)->design == -1);
    CU_ASSERT_EQUAL(memcmp(&th_compute_cost_get(w, 0)->shard, &a, sizeof a), 0);
}

/* Accelerator 2 has a slower DRAM, 5 a faster vector unit, 6 the slower DRAM as well: 2 and 6 are
 * one class. */
TEST(other_memory_is_other_work)
{
    auto_system *s = shipped_system("f1_16xlarge");
    s->nodes[s->accel_node[2]].a.dram_bits_per_s /= 4;
    s->nodes[s->accel_node[6]].a.dram_bits_per_s /= 4;
    s->nodes[s->accel_node[5]].a.vector_elements_per_cycle = 640;
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    th_shard pool = pool_shard(), conv = conv_shard(1, 24, 12, 10, 10, 3);
    const int32_t expected[] = {0, 0, 1, 0, 0, 2, 1, 0};
    for (int accel = 0; accel < 8; accel++)
        CU_ASSERT_EQUAL(th_compute_cost_lookup(w, accel, 0, &pool, NULL), expected[accel]);
    CU_ASSERT_TRUE(th_compute_cost_get(w, 1)->collapsed_ps >
                   th_compute_cost_get(w, 0)->collapsed_ps);
    CU_ASSERT_TRUE(th_compute_cost_get(w, 2)->collapsed_ps <
                   th_compute_cost_get(w, 0)->collapsed_ps);
    CU_ASSERT_TRUE(th_compute_cost_lookup(w, 6, 0, &conv, NULL) == 3 &&
                   th_compute_cost_lookup(w, 0, 0, &conv, NULL) == 4);
    CU_ASSERT_TRUE(th_compute_cost_get(w, 3)->collapsed_ps >
                   th_compute_cost_get(w, 4)->collapsed_ps);
}

/* What a lookup gives: the cost, or that there is none. */
static th_time cost_of(th_compute_cost_cache *w, int accel, const th_shard *shard)
{
    int32_t number = th_compute_cost_lookup(w, accel, 0, shard, NULL);
    return number < 0 ? -1 : th_compute_cost_get(w, number)->collapsed_ps;
}

/* Every number of a shard, one more, in a cache that knows all its neighbours. */
TEST(a_cache_of_neighbours_answers_like_a_new_one)
{
    static const char *const systems[] = {"f1_16xlarge", "npu_v1", "ring8"};
    const th_shard shards[] = {conv_shard(2, 24, 12, 10, 10, 3), pool_shard()};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            auto_system *s = shipped_system(systems[i]);
            auto_costs *w = th_compute_cost_cache_new(s, NULL);
            CU_ASSERT_TRUE(cost_of(w, 0, &shards[k]) > 0);
            for (size_t at = 0; at < sizeof(th_shard) / sizeof(int32_t); at++) {
                th_shard one_more = shards[k];
                ((int32_t *)&one_more)[at]++;
                if (one_more.kind != shards[k].kind) /* its other fields would be wrong */
                    continue;
                auto_costs *fresh = th_compute_cost_cache_new(s, NULL);
                CU_ASSERT_EQUAL(cost_of(w, 0, &one_more), cost_of(fresh, 0, &one_more));
            }
        }
}

/* Every number of an accelerator that its tasks' times depend on, changed on accelerator 1: the
 * cache that has seen accelerator 0 answers like one that has not. */
TEST(every_number_of_an_accelerator_is_in_the_key)
{
    static const size_t words[] = {
        offsetof(th_accel, dram_bits_per_s),
        offsetof(th_accel, dram_latency_ps),
        offsetof(th_accel, dram_burst_bytes),
        offsetof(th_accel, dram_interleave_bytes),
        offsetof(th_accel, vector_hz),
        offsetof(th_accel, vector_elements_per_cycle),
        offsetof(th_accel, vector_exp_operations),
        offsetof(th_accel, vector_buffer_bytes),
    };
    enum { WORDS = sizeof words / sizeof *words };
    th_shard softmax = conv_shard(2, 1000, 1, 30, 10, 1);
    softmax.kind = TH_LAYER_SOFTMAX;
    const th_shard shards[] = {conv_shard(1, 24, 12, 40, 40, 3), softmax};
    int n_changed = 0;
    for (int i = 0; i < WORDS + 2; i++) {
        auto_system *s = shipped_system("f1_16xlarge");
        th_accel *a = &s->nodes[s->accel_node[1]].a;
        if (i < WORDS)
            *(int64_t *)((char *)a + words[i]) += 1000;
        else if (i == WORDS)
            a->dram_channels += 3;
        else
            a->dram_efficiency = (th_dram_efficiency){2, {64, 65536}, {0.3, 0.9}};
        auto_costs *w = th_compute_cost_cache_new(s, NULL);
        auto_costs *fresh = th_compute_cost_cache_new(s, NULL);
        for (int k = 0; k < 2; k++) {
            th_time first = cost_of(w, 0, &shards[k]), other = cost_of(w, 1, &shards[k]);
            CU_ASSERT_TRUE(first > 0 && other > 0);
            CU_ASSERT_EQUAL(other, cost_of(fresh, 1, &shards[k]));
            n_changed += first != other;
        }
    }
    CU_ASSERT_TRUE(n_changed >= 6);
    printf("# %d costs differ\n", n_changed);
}

/* The memo is what the pipeline gives when it goes step by step. */
TEST(collapsed_times_are_those_of_the_pipeline)
{
    auto_system *s = shipped_system("f1_16xlarge");
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    auto_rng *r = th_random_stream(71, "work", 0);
    int wrong = 0;
    for (int i = 0; i < 150; i++) {
        th_shard d = conv_shard((int)pick(r, 1, 2), (int)pick(r, 1, 150), (int)pick(r, 1, 90),
                                (int)pick(r, 1, 40), (int)pick(r, 1, 40), (int)pick(r, 1, 5));
        const th_compute_cost *k =
            th_compute_cost_get(w, th_compute_cost_lookup(w, 1, i % 3, &d, NULL));
        th_pipeline p;
        th_pipeline_start(&p, &k->schedule, &k->port, &(th_pipeline_options){0});
        wrong += th_pipeline_finish(&p, &k->schedule, &k->port) != k->collapsed_ps;
        wrong += memcmp(&p.stats, &k->collapsed, sizeof p.stats) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Partial sums that a shard goes on with are read once, however its tiles walk: as many bytes as
 * are written. */
TEST(partial_sums_are_read_once)
{
    auto_rng *r = th_random_stream(73, "partial", 0);
    int wrong = 0;
    auto_system *s =
        system_of("name = \"x\"; designs = ( { name = \"r\"; type = \"roofline\"; clock "
                  "= \"1GHz\"; macs_per_cycle = 64; },"
                  "{ name = \"w\"; type = \"winograd\"; clock = \"200MHz\"; m = 4; r = "
                  "3; pn = 2; pm = 8; weight_buffer = "
                  "\"8KiB\"; input_port = 40; weight_port = 40; output_port = 40; },"
                  "{ name = \"t\"; type = \"tiled\"; clock = \"200MHz\"; tile_k = 9; "
                  "tile_c = 7; tile_h = 7; tile_w = 14; "
                  "input_port = 40; weight_port = 40; output_port = 40; },"
                  "{ name = \"s\"; type = \"systolic_vec\"; clock = \"200MHz\"; rows = "
                  "11; cols = 13; vec = 8; "
                  "input_port = 40; weight_port = 40; output_port = 40; } );"
                  "accelerators = ( { names = [\"0\"]; dram = { capacity = \"1GiB\"; "
                  "bandwidth = \"16GB/s\"; latency = "
                  "\"100ns\"; burst = \"1B\"; }; vector = { clock = \"200MHz\"; "
                  "elements_per_cycle = 64; }; designs = "
                  "[\"r\", \"w\", \"t\", \"s\"]; } );");
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    for (int i = 0; i < 400; i++) {
        th_shard d = conv_shard((int)pick(r, 1, 2), (int)pick(r, 1, 60), (int)pick(r, 1, 40),
                                (int)pick(r, 1, 30), (int)pick(r, 1, 30), (int)pick(r, 1, 3)),
                 sums = d;
        sums.adds_to_output = 1;
        int32_t without = th_compute_cost_lookup(w, 0, i % 4, &d, NULL),
                with = th_compute_cost_lookup(w, 0, i % 4, &sums, NULL);
        const th_pipeline_stats *a = &th_compute_cost_get(w, without)->collapsed,
                                *b = &th_compute_cost_get(w, with)->collapsed;
        wrong += th_stats_read(b) != th_stats_read(a) + a->moved_bytes[TH_ENGINE_OUTPUT] ||
                 b->moved_bytes[TH_ENGINE_OUTPUT] != a->moved_bytes[TH_ENGINE_OUTPUT];
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TEST(designs_that_are_wrong_are_refused)
{
    th_error e = {"", ""};
    th_system *s = shipped_system("f1_16xlarge");
    s->designs[2].params[0].kind = TH_PARAM_BOOL;
    int64_t live = th_alloc_live();
    CU_ASSERT_PTR_NULL(th_compute_cost_cache_new(s, &e));
    TAP_ASSERT_TEXT(e.id, "SIM-0003");
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    th_system_free(s);
}

/* 200 MB of weights at 8 bits a second. */
TEST(shards_that_never_end_are_refused)
{
    auto_system *s = shipped_system("f1_16xlarge");
    s->nodes[s->accel_node[0]].a.dram_bits_per_s = 8;
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    th_shard shard = conv_shard(1, 10000, 10000, 1, 1, 1);
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 0, 1, &shard, &e), -1);
    TAP_ASSERT_ERROR(e, "SIM-0110",
                     "accel/0: a shard that reads 218200000 bytes and computes 1137524 cycles at "
                     "200000000 Hz must end within 2^63 ps (106 days), where simulated time ends");
    CU_ASSERT_EQUAL(th_compute_cost_count(w), 0);
}

TEST(gpus_have_no_times_of_integers)
{
    auto_system *s = shipped_system("gpu_a100");
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    th_shard shard = conv_shard(1, 64, 64, 14, 14, 3);
    th_error e = {"", ""};
    CU_ASSERT_TRUE(th_compute_cost_lookup(w, 0, 0, &shard, &e) >= 0);
    for (int t = 0; t < TH_N_TENSORS; t++)
        shard.precision[t] = TH_INT8;
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 0, 0, &shard, &e), -1);
    TAP_ASSERT_ERROR(e, "SIM-0202",
                     "precision int8: times of GPUs are of floating point: must be fp32, tf32, "
                     "fp16, bf16, fp8 or fp4");
}

/* 65,536 images in 65,536 groups would be 2^32 iterations of the outermost loop. */
TEST(shards_beyond_counting_are_refused)
{
    auto_system *s = shipped_system("f1_16xlarge");
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    th_shard shard = conv_shard(65536, 65536, 65536, 1, 1, 1);
    th_error e = {"", ""};
    shard.groups = 65536;
    CU_ASSERT_EQUAL(th_compute_cost_lookup(w, 0, 0, &shard, &e), -1);
    TAP_ASSERT_ERROR(
        e, "SIM-0009",
        "a shard of 65536 images in 65536 groups: must be 2147483647 at most together");
    CU_ASSERT_EQUAL(th_compute_cost_count(w), 0);
}

TAP_MAIN("work")
