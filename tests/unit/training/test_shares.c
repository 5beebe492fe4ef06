/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_shares.c - replicas that take shares of the micro-batches: a step by hand, equal shares, one
 * rank for all of a share, what is refused. */
#include <config.h>
#include "base/random.h"
#include "sim/machine/machine.h"
#include "tests/unit/tap.h"
#include "tests/unit/training/plan_help.h"
#include "training/plan_memory.h"
#include "training/plan_stages.h"
#include "training/plan_step.h"

/* Of two islands; as many accelerators of each of two kinds. */
static th_system *unlike_system(int islands, int each)
{
    char text[1400];
    snprintf(text, sizeof text,
             "name = \"s\"; designs = ( { name = \"fast\"; type = \"roofline\"; clock = \"1GHz\"; "
             "macs_per_cycle = 400000; device = \"large_core\"; }, { name = \"slow\"; type = "
             "\"roofline\"; clock = "
             "\"1GHz\"; macs_per_cycle = 130000; device = \"large_core\"; } ); accelerators = ( "
             "{ count = %d; dram = { capacity = \"80GB\"; bandwidth = \"3000GB/s\"; latency = "
             "\"100ns\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 512; }; "
             "designs = [\"fast\"]; }, { count = %d; dram = { capacity = \"40GB\"; bandwidth = "
             "\"1500GB/s\"; latency = \"100ns\"; }; vector = { clock = \"1GHz\"; "
             "elements_per_cycle = 512; }; designs = [\"slow\"]; } ); topology = { type = "
             "\"islands\"; dims = [%d, %d]; bandwidth = [\"300GB/s\", \"25GB/s\"]; "
             "latency = [\"1us\", \"3us\"]; };",
             islands * each / 2, islands * each / 2, islands, each);
    return system_of(text);
}

static const th_transformer model = {.name = "m",
                                     .layers = 8,
                                     .hidden = 2048,
                                     .heads = 16,
                                     .kv_heads = 16,
                                     .head_dim = 128,
                                     .ffn = 8192,
                                     .vocab = 8000,
                                     .norm_size = 1,
                                     .window_every = 1};

static th_parallel_plan plan_of(int32_t tensor, int32_t pipeline, int32_t data, int32_t batch)
{
    return (th_parallel_plan){
        .n = {tensor, pipeline, 1, 1, data, 1, 1, 0, data},
        .batch = {.sequence = 2048, .micro_batch = 1, .global_batch = batch},
        .order = {TH_AXIS_TENSOR, TH_AXIS_CONTEXT, TH_AXIS_PIPELINE, TH_AXIS_DATA},
        .schedule = th_pipeline_find("1f1b"),
        .has_fused_kernels = true,
        .gradient_bytes = 4,
        .expert_skew = 1};
}

static th_work_context context_of(const th_system *s, const th_parallel_plan *p)
{
    th_error err;
    th_work_context c = {.t = &model, .p = p, .numbers = th_training_numbers_shipped()};
    CU_ASSERT_EQUAL_FATAL(th_training_devices_of(s, &c.devices, &err), 0);
    c.device = c.devices.of[0];
    return c;
}

static th_time step_of(const th_system *s, const th_parallel_plan *p, bool merges)
{
    th_error err;
    th_plan_schedules schedules;
    th_training_step step;
    th_machine_options options = {.network = NULL};
    const th_work_context c = context_of(s, p);
    CU_ASSERT_EQUAL_FATAL(th_plan_check(p, c.t, s->n_accels, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_plan_schedules_make(&schedules, p, &err), 0);
    th_program *program = th_program_new(&err);
    th_program_clear(program);
    CU_ASSERT_EQUAL_FATAL(th_lower_step(s, &c, schedules.of, merges, program, &step, &err), 0);
    auto_costs *costs = th_compute_cost_cache_new(s, &err);
    auto_machine *m = th_machine_new(s, costs, &options, &err);
    CU_ASSERT_EQUAL(th_program_finish(program, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_program_look_up_works(program, costs, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_machine_load(m, program, &err), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &err), TH_STOP_DONE);
    const th_time end = th_machine_elapsed(m);
    th_training_step_clear(&step);
    th_plan_schedules_clear(&schedules);
    th_program_free(program);
    return end;
}

/* Two replicas F and S on a fast and a slow accelerator, f and s micro-batches, one after the
 * other: max(f F, s S), then the all-reduce of all gradients, then the update of the slower one. A
 * replica alone on its kind takes f F and its update. */
TEST(a_step_by_hand)
{
    static const int32_t shares[][2] = {{1, 1}, {3, 1}, {1, 3}, {9, 2}, {4, 4}};
    th_error err;
    auto_system *s = unlike_system(2, 1);
    th_time each[2], update[2];
    for (int32_t k = 0; k < 2; k++) { /* a replica on accelerator k alone, 1 and 2 micro-batches */
        th_parallel_plan p = plan_of(1, 1, 1, 1);
        th_work_context c = context_of(s, &p);
        auto_system *one = unlike_system(2, 1);
        one->accel_node[0] = s->accel_node[k];
        const th_time first = step_of(one, &p, true);
        p.batch.global_batch = 2;
        each[k] = step_of(one, &p, true) - first;
        update[k] = first - each[k];
        CU_ASSERT_TRUE(update[k] > 0 && c.devices.n == 2);
    }
    CU_ASSERT_TRUE(each[1] > 2 * each[0] && update[1] > update[0]);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        th_parallel_plan p = plan_of(1, 1, 2, shares[i][0] + shares[i][1]);
        p.n_shares = 2;
        memcpy(p.shares, shares[i], sizeof shares[i]);
        int64_t gradients = th_layer_parameters_of_rank(&(th_work_context){.t = &model, .p = &p},
                                                        TH_LAYER_EMBEDDING_STEP) +
                            th_layer_parameters_of_rank(&(th_work_context){.t = &model, .p = &p},
                                                        TH_LAYER_HEAD_STEP);
        for (int32_t k = 0; k < model.layers; k++)
            gradients += th_layer_parameters_of_rank(&(th_work_context){.t = &model, .p = &p}, k);
        th_collective_times *x = th_collective_times_new(s, &p, &err);
        const th_time reduce =
            th_collective_time(x, TH_ALL_REDUCE, TH_GROUP_GRADIENT, 4 * gradients, &err);
        th_collective_times_free(x);
        const th_time fast = shares[i][0] * each[0], slow = shares[i][1] * each[1];
        const th_time expected = (fast > slow ? fast : slow) + reduce + update[1];
        CU_ASSERT_EQUAL(step_of(s, &p, true), expected);
        CU_ASSERT_EQUAL(step_of(s, &p, false), expected);
    }
}

static void become_alike(th_system *s)
{
    const th_accel *first = &s->nodes[s->accel_node[0]].a;
    for (int32_t k = 1; k < s->n_accels; k++) {
        th_accel *a = &s->nodes[s->accel_node[k]].a;
        a->designs[0] = first->designs[0];
        a->dram_bits_per_s = first->dram_bits_per_s;
        a->dram_bytes = first->dram_bytes;
    }
}

/* Shares that are equal are no shares, whatever overlaps and is sharded, with one rank for all and
 * with every rank. */
TEST(equal_shares_change_nothing)
{
    auto_rng *r = th_random_stream(49, "equal shares", 0);
    for (int i = 0; i < 12; i++) {
        auto_system *s = unlike_system(2, 4);
        const int32_t tensor = 1 << pick(r, 0, 1), pipeline = 1 << pick(r, 0, 1);
        th_parallel_plan p = plan_of(tensor, pipeline, 8 / tensor / pipeline, 32);
        p.n.zero = (int32_t)pick(r, 0, 2);
        p.overlaps_data = i % 2, p.overlaps_tensor = pick(r, 0, 1),
        p.overlaps_pipeline = pick(r, 0, 1);
        p.schedule = th_pipeline_find(pick(r, 0, 1) ? "1f1b" : "zb_h1");
        if (pick(r, 0, 1)) { /* each stage is of one kind */
            p.order[2] = TH_AXIS_DATA;
            p.order[3] = TH_AXIS_PIPELINE;
        }
        const bool merges = i % 3;
        become_alike(s); /* else ranks of one kind would wait for those of another */
        const th_time without = step_of(s, &p, merges);
        p.n_shares = 2;
        p.shares[0] = p.shares[1] = 32 / p.n.data;
        CU_ASSERT_EQUAL(step_of(s, &p, merges), without);
    }
}

/* With every rank on the network, a step takes as long as with one of each share. */
TEST(a_rank_stands_for_all_of_its_share)
{
    static const struct {
        int32_t tensor, pipeline, zero, shares[4], n;
        bool overlaps;
    } of[] = {{4, 1, 0, {12, 4}, 2, false},
              {4, 1, 1, {11, 5}, 2, true},
              {2, 2, 0, {10, 6}, 2, false},
              {2, 1, 2, {6, 5, 3, 2}, 4, false},
              {1, 4, 0, {13, 3}, 2, false}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        auto_system *s = unlike_system(2, 4);
        const int32_t data = 8 / of[i].tensor / of[i].pipeline;
        th_parallel_plan p = plan_of(of[i].tensor, of[i].pipeline, data, 0);
        p.n.zero = of[i].zero;
        p.overlaps_data = of[i].overlaps;
        p.n_shares = of[i].n;
        memcpy(p.shares, of[i].shares, sizeof of[i].shares);
        for (int32_t k = 0; k < of[i].n; k++)
            p.batch.global_batch += p.shares[k] * data / of[i].n;
        const th_time one = step_of(s, &p, true), all = step_of(s, &p, false);
        const int64_t longer = (all - one) * 1000000 / one;
        CU_ASSERT_TRUE(longer >= -1 && longer <= (of[i].pipeline > 1 ? 20000 : 1));
        if (longer < -1 || longer > 1)
            printf("# plan %zu: %lld ppm\n", i, (long long)longer);
    }
}

/* gpipe keeps all micro-batches of its share: the fuller accelerators are those whose share is
 * larger for their memory, 80 and 40 GB. */
TEST(memory_is_that_of_the_share)
{
    auto_system *s = unlike_system(2, 4);
    th_parallel_plan p = plan_of(4, 1, 2, 16);
    p.schedule = th_pipeline_find("gpipe");
    p.n_shares = 2;
    const th_work_context c = context_of(s, &p);
    double fill[2];
    int64_t bytes[2];
    for (int k = 0; k < 2; k++) {
        th_error err;
        th_plan_schedules schedules;
        p.shares[k] = 14, p.shares[1 - k] = 2;
        CU_ASSERT_EQUAL_FATAL(th_plan_schedules_make(&schedules, &p, &err), 0);
        bytes[k] = th_plan_memory_most(&c, schedules.of, NULL, &fill[k]);
        th_plan_schedules_clear(&schedules);
    }
    CU_ASSERT_EQUAL(bytes[0], bytes[1]);
    CU_ASSERT_TRUE(fill[1] > 1.99 * fill[0] && fill[1] < 2.01 * fill[0]);
}

static const char *refused(th_parallel_plan p, const th_transformer *t)
{
    static th_error err;
    err = (th_error){.id = ""};
    th_plan_check(&p, t, 64, &err);
    return err.id;
}

TEST(what_is_refused)
{
    th_transformer sparse = model;
    sparse.experts = (th_experts){.n = 8, .top_k = 2, .ffn = 1024};
    th_parallel_plan p = plan_of(2, 1, 8, 32);
    p.n_shares = 2;
    p.shares[0] = 6, p.shares[1] = 2;
    TAP_ASSERT_TEXT(refused(p, &model), "");
    p.n_shares = 3;
    TAP_ASSERT_TEXT(refused(p, &model), "MAP-0795");
    p.n_shares = 2;
    p.n.zero = 3;
    TAP_ASSERT_TEXT(refused(p, &model), "MAP-0796");
    p.n.zero = 0;
    p.n.expert = 8;
    TAP_ASSERT_TEXT(refused(p, &sparse), "");
    p.experts_apart = true;
    TAP_ASSERT_TEXT(refused(p, &sparse), "MAP-0796");
    p.n.expert = 1;
    p.shares[0] = 7;
    TAP_ASSERT_TEXT(refused(p, &model), "MAP-0797");
}

TAP_MAIN("shares")
