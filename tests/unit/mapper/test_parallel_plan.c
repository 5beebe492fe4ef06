/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_parallel_plan.c - ranks and groups by hand, what does not divide, work and memory of a layer
 * by hand, and the time that one group stands for against the whole system. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include "mapper/parallel/lower_step.h"
#include "sim/machine/machine.h"
#include "tests/unit/tap.h"
#include "topology/files/system_read.h"
#include "topology/generate/generate.h"

/* 12 layers of 8 heads. */
static const th_transformer model = {.name = "m",
                                     .layers = 12,
                                     .hidden = 512,
                                     .heads = 8,
                                     .kv_heads = 8,
                                     .head_dim = 64,
                                     .ffn = 2048,
                                     .vocab = 1000,
                                     .norm_size = 1,
                                     .window_every = 1};

static th_parallel_plan plan_of(th_degrees n)
{
    return (th_parallel_plan){.n = n,
                              .batch = {.sequence = 1024, .micro_batch = 2, .global_batch = 96},
                              .order = {0, 1, 2, 3},
                              .schedule = th_pipeline_find("1f1b"),
                              .has_fused_kernels = true,
                              .gradient_bytes = 4,
                              .expert_skew = 1};
}

static const th_degrees degrees = {.tensor = 2,
                                   .context = 2,
                                   .data = 3,
                                   .pipeline = 2,
                                   .chunks = 1,
                                   .expert = 1,
                                   .expert_tensor = 1,
                                   .zero_group = 3};

static void assert_group(const th_parallel_plan *p, th_plan_group kind, int32_t rank,
                         const int32_t *expected, int32_t n)
{
    int32_t got[64];
    CU_ASSERT_EQUAL_FATAL(th_plan_group_size(p, kind), n);
    th_plan_group_of(p, kind, rank, got);
    for (int32_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL(got[i], expected[i]);
}

/* Rank = tensor + 2 (context + 2 data): rank 7 is tensor 1, context 1, data 1. */
TEST(groups_by_hand)
{
    th_parallel_plan p = plan_of(degrees);
    CU_ASSERT_EQUAL(th_plan_stage_ranks(&p), 12);
    CU_ASSERT_EQUAL(th_plan_accel(&p, 1, 7), 19);
    assert_group(&p, TH_GROUP_TENSOR, 7, (int32_t[]){6, 7}, 2);
    assert_group(&p, TH_GROUP_CONTEXT, 7, (int32_t[]){5, 7}, 2);
    assert_group(&p, TH_GROUP_GRADIENT, 7, (int32_t[]){1, 3, 5, 7, 9, 11}, 6);
    assert_group(&p, TH_GROUP_ZERO, 7, (int32_t[]){7, 9, 11}, 3);
    assert_group(&p, TH_GROUP_REPLICA, 7, (int32_t[]){1, 7}, 2);
    p.n.expert = 3, p.n.expert_tensor = 2;
    assert_group(&p, TH_GROUP_EXPERT, 7, (int32_t[]){7, 9, 11}, 3);
}

/* Pipeline first: the stages of a rank are neighbours. */
TEST(orders_of_ranks)
{
    th_parallel_plan p = plan_of(degrees);
    memcpy(p.order, (int32_t[]){TH_AXIS_PIPELINE, TH_AXIS_DATA, TH_AXIS_TENSOR, TH_AXIS_CONTEXT},
           sizeof p.order);
    CU_ASSERT_EQUAL(th_plan_accel(&p, 1, 0), 1);
    CU_ASSERT_EQUAL(th_plan_accel(&p, 0, 1), 2);
    CU_ASSERT_EQUAL(th_plan_accel(&p, 1, 11), 23);
    assert_group(&p, TH_GROUP_TENSOR, 4, (int32_t[]){1, 4}, 2);
    assert_group(&p, TH_GROUP_GRADIENT, 4, (int32_t[]){3, 4, 5, 9, 10, 11}, 6);
}

TEST(layers_of_chunks)
{
    th_parallel_plan p = plan_of(degrees);
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 1).first, 6);
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 1).n, 6);
    p.embedding_is_layer = true; /* 14 over 2: 6 and 6 layers, with the embeddings 7 and 7 */
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 0).n, 6);
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 1).first, 6);
}

static const char *refused(th_degrees n, int32_t n_accels, th_error *err)
{
    th_parallel_plan p = plan_of(n);
    *err = (th_error){.id = ""};
    CU_ASSERT_EQUAL(th_plan_check(&p, &model, n_accels, err), -1);
    return err->id;
}

TEST(numbers_that_do_not_divide)
{
    th_error err;
    th_degrees n = degrees;
    n.tensor = 3;
    TAP_ASSERT_TEXT(refused(n, 100, &err), "MAP-0420");
    TAP_ASSERT_TEXT(err.text, "-tensor 3: a divisor of the heads, 8, was expected");
    n = degrees, n.context = 3;
    TAP_ASSERT_TEXT(refused(n, 100, &err), "MAP-0421");
    n = degrees, n.expert = 2;
    TAP_ASSERT_TEXT(refused(n, 100, &err), "MAP-0423");
    n = degrees, n.pipeline = 5;
    TAP_ASSERT_TEXT(refused(n, 100, &err), "MAP-0424");
    n = degrees, n.data = 5;
    TAP_ASSERT_TEXT(refused(n, 100, &err), "MAP-0425");
    TAP_ASSERT_TEXT(err.text, "-global_batch 96: a multiple of -micro_batch x -data, 10, was "
                              "expected");
    TAP_ASSERT_TEXT(refused(degrees, 23, &err), "MAP-0426");
    n = degrees, n.zero_group = 4;
    TAP_ASSERT_TEXT(refused(n, 24, &err), "MAP-0428");
    th_parallel_plan p = plan_of(degrees);
    p.order[3] = 0;
    CU_ASSERT_EQUAL(th_plan_check(&p, &model, 24, &err), -1);
    TAP_ASSERT_TEXT(err.id, "MAP-0429");
    th_transformer sparse = model;
    sparse.experts = (th_experts){.n = 10, .top_k = 2, .ffn = 64};
    p = plan_of(degrees), p.n.expert = 4;
    CU_ASSERT_EQUAL(th_plan_check(&p, &sparse, 24, &err), -1);
    TAP_ASSERT_TEXT(err.id, "MAP-0422");
    p.n.expert = 10;
    CU_ASSERT_EQUAL(th_plan_check(&p, &sparse, 24, &err), -1);
    TAP_ASSERT_TEXT(err.id, "MAP-0427");
}

/* ---- work ---- */

static th_work_context context_of(const th_transformer *t, const th_parallel_plan *p)
{
    return (th_work_context){.t = t,
                             .p = p,
                             .device = {.operations_per_s = 1e15,
                                        .bytes_per_s = 1e12,
                                        .memory_bytes = INT64_C(80000000000),
                                        .generation = th_generation_find("other")},
                             .numbers = th_training_numbers_shipped()};
}

/* arXiv 2205.05198, equation 2: s b h (34 + 5 a s / h) bytes without parallelism, of which 2 s b h
 * are masks of dropout, which we do not keep. GPT-3: 2048 x 12288 (32 + 80). */
TEST(activations_as_published)
{
    const th_transformer *t = &th_transformer_find("gpt3_175b")->shape;
    th_degrees one = {1, 1, 1, 1, 1, 1, 1, 0, 1};
    th_parallel_plan p = plan_of(one);
    p.batch = (th_batch){.sequence = 2048, .micro_batch = 1, .global_batch = 1};
    p.attention = TH_ATTENTION_UNFUSED;
    th_work_context c = context_of(t, &p);
    CU_ASSERT_EQUAL(th_layer_activation_bytes(&c, 0), INT64_C(2048) * 12288 * (32 + 80));
    p.attention = TH_ATTENTION_FUSED;
    CU_ASSERT_EQUAL(th_layer_activation_bytes(&c, 0), INT64_C(2048) * 12288 * 32);
    p.n.tensor = 8;
    p.sequence_parallel = true;
    CU_ASSERT_EQUAL(th_layer_activation_bytes(&c, 0), INT64_C(2048) * 12288 * 32 / 8);
}

/* 96 / (2 x 3) = 16 micro-batches of 1F1B: stage 0 keeps 2 of them, 2 x 1024 tokens x 512 / 2 / 2
 * (context, tensor), of 6 layers. Parameters of stage 0, per tensor rank:
 * 6 (4 h^2 + 8 h^2 + 2 h) / 2 + 1000 h / 2. */
TEST(memory_by_hand)
{
    th_error err;
    th_parallel_plan p = plan_of(degrees);
    p.n.zero = 1;
    p.n.zero_group = 6;
    p.sequence_parallel = true;
    th_work_context c = context_of(&model, &p);
    th_pipeline_schedule s;
    CU_ASSERT_EQUAL_FATAL(th_pipeline_make(p.schedule, &(th_pipeline_shape){2, 1, 16}, &s, &err),
                          0);
    th_plan_memory m = th_plan_memory_of(&c, &s, 0);
    int64_t n = 6 * ((12 * 512 * 512 + 2 * 512) / 2) + 1000 * 512 / 2;
    CU_ASSERT_EQUAL(m.of[TH_MEMORY_WEIGHTS], 2 * n);
    CU_ASSERT_EQUAL(m.of[TH_MEMORY_GRADIENTS], 4 * n);
    CU_ASSERT_EQUAL(m.of[TH_MEMORY_STATES], 12 * n / 6);
    CU_ASSERT_EQUAL(m.of[TH_MEMORY_ACTIVATIONS], INT64_C(2) * 6 * 2048 / 2 * 32 * 512 / 2);
    CU_ASSERT_EQUAL(th_plan_memory_check(&c, &s, &err), 0);
    c.device.memory_bytes = 1000000;
    CU_ASSERT_EQUAL(th_plan_memory_check(&c, &s, &err), -1);
    TAP_ASSERT_TEXT(err.id, "MAP-0430");
    th_pipeline_clear(&s);
}

/* ---- one group for all ---- */

static th_system *pod(int nodes, int each)
{
    th_error err;
    th_topology_options o = {.dims = {nodes, each},
                             .n_dims = 2,
                             .bits_per_s = {INT64_C(3600000000000), INT64_C(400000000000)},
                             .latency_ps = {1000000, 3000000},
                             .n_bandwidths = 2,
                             .n_latencies = 2,
                             .host_latency_ps = -1};
    th_system *one = th_system_read_text("name = \"one\"; designs = ( { name = \"h100\"; type = "
                                         "\"roofline\"; clock = \"1GHz\"; macs_per_cycle = 1000; } "
                                         "); accelerators = ( { dram = { capacity = \"80GB\"; "
                                         "bandwidth = \"1TB/s\"; latency = \"100ns\"; }; vector = "
                                         "{ clock = \"1GHz\"; elements_per_cycle = 100; }; designs "
                                         "= [\"h100\"]; } );",
                                         "one", &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(one);
    th_system *s = th_topology_create("pod", th_topology_find("islands"), &o, one, &err);
    th_system_free(one);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

/* When the first of all groups of stage 0 ends, and the last, with all of them at once. */
static void run_all(const th_system *s, const th_parallel_plan *p, th_collective_kind kind,
                    th_plan_group group, int64_t bytes, th_time *first, th_time *last)
{
    th_error err;
    int32_t n = th_plan_group_size(p, group), ranks[64], nodes[64];
    th_program *program = th_program_new(&err);
    th_program_clear(program);
    for (int32_t rank = 0; rank < th_plan_stage_ranks(p); rank++) {
        th_plan_group_of(p, group, rank, ranks);
        if (ranks[0] != rank)
            continue;
        for (int32_t i = 0; i < n; i++)
            nodes[i] = s->accel_node[th_plan_accel(p, 0, ranks[i])];
        th_collective c = th_plan_collective(s, kind, nodes, n, bytes);
        th_task t = {.kind = TH_TASK_COLLECTIVE, .node = nodes[0], .peer = -1, .layer = -1};
        t.collective = th_program_add_collective(program, &c, &err);
        CU_ASSERT_TRUE(th_program_add(program, &t, &err) >= 0);
    }
    th_compute_cost_cache *costs = th_compute_cost_cache_new(s, &err);
    th_machine *m = th_machine_new(s, costs, &(th_machine_options){.network = NULL}, &err);
    CU_ASSERT_EQUAL(th_program_finish(program, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_machine_load(m, program, &err), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &err), TH_STOP_DONE);
    *first = TH_TIME_MAX, *last = 0;
    for (int32_t t = 0; t < program->n_tasks; t++) {
        th_time end = th_machine_times(m)[t].end_ps;
        *first = end < *first ? end : *first;
        *last = end > *last ? end : *last;
    }
    th_machine_free(m);
    th_compute_cost_cache_free(costs);
    th_program_free(program);
}

/* Every group of the stage ends when the one does that stands for it, to a picosecond's rounding of
 * shared rates, with all of them on the network at once. */
TEST(one_group_stands_for_all)
{
    th_error err;
    th_system *s = pod(4, 8);
    th_degrees n = {4, 1, 1, 2, 4, 1, 1, 1, 8};
    th_parallel_plan p = plan_of(n);
    static const struct {
        th_collective_kind kind;
        th_plan_group group;
    } calls[] = {{TH_ALL_REDUCE, TH_GROUP_TENSOR},
                 {TH_ALL_GATHER, TH_GROUP_CONTEXT},
                 {TH_REDUCE_SCATTER, TH_GROUP_GRADIENT},
                 {TH_ALL_GATHER, TH_GROUP_ZERO}};
    CU_ASSERT_EQUAL(th_plan_stage_ranks(&p), 32);
    th_collective_times *x = th_collective_times_new(s, &p, 1, &err);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        th_time first, last;
        th_time one = th_collective_time(x, calls[i].kind, calls[i].group, 64000000, &err);
        run_all(s, &p, calls[i].kind, calls[i].group, 64000000, &first, &last);
        CU_ASSERT_TRUE(one > 0);
        CU_ASSERT_TRUE(llabs(one - first) <= 1000);
        CU_ASSERT_TRUE(llabs(one - last) <= 1000);
    }
    th_collective_times_free(x);
    th_system_free(s);
}

TAP_MAIN("parallel_plan")
