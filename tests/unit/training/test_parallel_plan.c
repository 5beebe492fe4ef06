/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_parallel_plan.c - ranks and groups by hand, what does not divide, work and memory of a layer
 * by hand, and the times that one group and one rank stand for against the whole system. */
#include <config.h>
#include "training/lower_step.h"
#include "training/plan_file.h"
#include "sim/machine/machine.h"
#include "tests/unit/refused.h"
#include "tests/unit/tap.h"
#include "tests/unit/training/plan_help.h"
#include "tests/unit/workload_help.h"
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
    assert_group(&p, TH_GROUP_EXPERT_SHARED, 7, (int32_t[]){6, 7}, 2);
    p.n.expert = 6, p.experts_on_node = 2;
    assert_group(&p, TH_GROUP_EXPERT_LOCAL, 7, (int32_t[]){5, 7}, 2);
    assert_group(&p, TH_GROUP_EXPERT_NODES, 7, (int32_t[]){3, 7, 11}, 3);
    p.n.expert = 3, p.experts_on_node = 0;
    const char *order[] = {"tensor", "context", "data", "expert", "pipeline"};
    CU_ASSERT_EQUAL(th_plan_set_order(&p, order, 5, &(th_error){.id = ""}), 0);
    assert_group(&p, TH_GROUP_EXPERT, 7, (int32_t[]){3, 7, 11}, 3);
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
    p.layout =
        TH_LAYOUT_WITH_EMBEDDING; /* 14 over 2: 6 and 6 layers, with the embeddings 7 and 7 */
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 0).n, 6);
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 1).first, 6);
    p.layout = TH_LAYOUT_UNEVEN; /* 12 layers over 5 stages: 3, 3, 2, 2, 2 */
    p.n.pipeline = 5;
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 1).n, 3);
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 2).first, 6);
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 4).first, 10);
    CU_ASSERT_EQUAL(th_plan_layers(&p, &model, 4).n, 2);
    th_error err;
    p.n.pipeline = 13;
    CU_ASSERT_EQUAL(th_plan_check(&p, &model, 100, &err), -1);
    TAP_ASSERT_TEXT(err.id, "MAP-0431");
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
    TAP_ASSERT_TEXT(err.text, "-tensor 3: must divide the heads, 8");
    n = degrees, n.context = 3;
    TAP_ASSERT_TEXT(refused(n, 100, &err), "MAP-0421");
    n = degrees, n.expert = 2;
    TAP_ASSERT_TEXT(refused(n, 100, &err), "MAP-0423");
    n = degrees, n.pipeline = 5;
    TAP_ASSERT_TEXT(refused(n, 100, &err), "MAP-0424");
    n = degrees, n.data = 5;
    TAP_ASSERT_TEXT(refused(n, 100, &err), "MAP-0425");
    TAP_ASSERT_TEXT(err.text, "-global_batch 96: must be a multiple of -micro_batch x -data, 10");
    TAP_ASSERT_TEXT(refused(degrees, 23, &err), "MAP-0426");
    n = degrees, n.zero_group = 4;
    TAP_ASSERT_TEXT(refused(n, 24, &err), "MAP-0428");
    th_parallel_plan p = plan_of(degrees);
    const char *twice[] = {"tensor", "context", "data", "tensor"};
    CU_ASSERT_EQUAL(th_plan_set_order(&p, twice, 4, &err), -1);
    TAP_ASSERT_TEXT(err.id, "MAP-0429");
    p = plan_of(degrees);
    th_transformer sparse = model;
    sparse.experts = (th_experts){.n = 10, .top_k = 2, .ffn = 64};
    p = plan_of(degrees), p.n.expert = 4;
    CU_ASSERT_EQUAL(th_plan_check(&p, &sparse, 24, &err), -1);
    TAP_ASSERT_TEXT(err.id, "MAP-0422");
    p.n.expert = 10;
    CU_ASSERT_EQUAL(th_plan_check(&p, &sparse, 24, &err), -1);
    TAP_ASSERT_TEXT(err.id, "MAP-0427");
}

/* ---- files ---- */

TEST(files_come_back)
{
    th_error err;
    th_plan_file f = {.plan = plan_of(degrees), .numbers = th_training_numbers_shipped()}, g;
    f.plan.experts_apart = f.plan.overlaps_tensor = true;
    f.plan.layout = TH_LAYOUT_UNEVEN;
    f.plan.overlaps_pipeline = f.plan.exchanges_by_node = true;
    f.plan.order[0] = TH_AXIS_DATA, f.plan.order[2] = TH_AXIS_TENSOR;
    f.plan.gradient_bytes = 2;
    f.numbers.of[TH_NUMBER_ATTENTION] = 0.5;
    auto_strbuf text = TH_STRBUF_INIT, again = TH_STRBUF_INIT;
    th_plan_file_write(&f, &text);
    g = (th_plan_file){.ignores_memory = true};
    CU_ASSERT_EQUAL_FATAL(th_plan_file_read_text(text.text, "p.map", &g, &err), 0);
    th_plan_file_write(&g, &again);
    TAP_ASSERT_TEXT(again.text, text.text);
    CU_ASSERT_EQUAL(g.numbers.of[TH_NUMBER_ATTENTION], 0.5);
    CU_ASSERT_TRUE(g.plan.exchanges_by_node && g.plan.overlaps_pipeline && !g.plan.overlaps_data);
    CU_ASSERT_EQUAL(g.plan.order[0], TH_AXIS_DATA);
    CU_ASSERT_EQUAL(g.plan.layout, TH_LAYOUT_UNEVEN);
    th_plan_file_clear(&g);
    g = (th_plan_file){.merges = false};
    CU_ASSERT_EQUAL_FATAL(
        th_plan_file_read_text("plan = { global_batch = 8; tensor = 2; virtual = 2; };", "p.map",
                               &g, &err),
        0);
    CU_ASSERT_EQUAL(th_plan_file_fill(&g, 8, &err), 0);
    CU_ASSERT_EQUAL(g.plan.n.data, 4);
    CU_ASSERT_EQUAL(g.plan.n.zero_group, 4);
    CU_ASSERT_TRUE(g.merges && g.plan.has_fused_kernels && g.plan.gradient_bytes == 4);
    TAP_ASSERT_TEXT(g.plan.schedule->name, "interleaved");
    th_plan_file_clear(&g);
}

static int read_plan(const char *text, th_error *e)
{
    th_plan_file f = {.schedule_file = NULL};
    return th_plan_file_read_text(text, "p.map", &f, e);
}

TEST(files_with_mistakes)
{
    static const refusing_reader readers[] = {{"plan", read_plan}, {NULL, NULL}};
    assert_refusals("training/plan_file.refused", readers);
}

/* ---- work ---- */

static th_work_context context_of(const th_transformer *t, const th_parallel_plan *p)
{
    return (th_work_context){
        .t = t, .p = p, .device = device_of(1e15, 1e12), .numbers = th_training_numbers_shipped()};
}

/* arXiv 2205.05198, equation 2: s b h (34 + 5 a s / h) bytes without parallelism, of which 2 s b h
 * are masks of dropout, which we do not keep. GPT-3: 2048 x 12288 (32 + 80). */
TEST(activations_as_published)
{
    const th_transformer_preset *of = th_transformer_presets;
    while (strcmp(of->shape.name, "gpt3_175b") != 0)
        of++;
    const th_transformer *t = &of->shape;
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
    p.precision = TH_TRAIN_FP8; /* 6 h of the 16 h numbers are inputs of products */
    CU_ASSERT_EQUAL(th_layer_activation_bytes(&c, 0), INT64_C(2048) * 12288 * 26 / 8);
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

/* Parameters on all stages: those of the model, and of tied embeddings a copy where the first and
 * the last layers are on different stages. */
TEST(every_stage_holds_what_it_computes_with)
{
    th_error err;
    for (const th_pipeline_type *type = th_pipeline_types; type->name; type++)
        for (int32_t stages = 1; stages <= 4; stages++)
            for (int is_tied = 0; is_tied < 2; is_tied++) {
                th_transformer t = model;
                th_parallel_plan p = plan_of(degrees);
                th_pipeline_schedule s;
                t.tied = is_tied;
                t.layers = 24;
                p.n.tensor = 1;
                p.n.pipeline = stages;
                p.n.chunks = type->min_chunks;
                p.schedule = type;
                th_work_context c = context_of(&t, &p);
                if (th_pipeline_make(type, &(th_pipeline_shape){stages, type->min_chunks, 16}, &s,
                                     &err))
                    continue;
                int64_t sum = 0, copy = stages > 1 && !type->is_v ? 1000 * 512 : 0;
                for (int32_t i = 0; i < stages; i++)
                    sum += th_plan_memory_of(&c, &s, i).of[TH_MEMORY_WEIGHTS] / 2;
                CU_ASSERT_EQUAL(sum, transformer_parameters(&t) + (is_tied ? copy : 0));
                th_pipeline_clear(&s);
            }
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
    auto_system *one =
        th_system_read_text("name = \"one\"; designs = ( { name = \"h100\"; type = "
                            "\"roofline\"; clock = \"1GHz\"; macs_per_cycle = 1000; } "
                            "); accelerators = ( { dram = { capacity = \"80GB\"; "
                            "bandwidth = \"1TB/s\"; latency = \"100ns\"; }; vector = "
                            "{ clock = \"1GHz\"; elements_per_cycle = 100; }; designs "
                            "= [\"h100\"]; } );",
                            "one", &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(one);
    th_system *s = th_topology_create("pod", th_topology_find("islands"), &o, one, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

/* When the first of all groups of stage 0 ends, and the last, with all of them at once. */
static void run_all(const th_system *s, const th_parallel_plan *p, th_collective_kind kind,
                    th_plan_group group, int64_t bytes, th_time *first, th_time *last)
{
    th_error err;
    int32_t n = th_plan_group_size(p, group), ranks[64], nodes[64];
    auto_program *program = th_program_new(&err);
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
    auto_costs *costs = th_compute_cost_cache_new(s, &err);
    auto_machine *m = th_machine_new(s, costs, &(th_machine_options){.network = NULL}, &err);
    CU_ASSERT_EQUAL(th_program_finish(program, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_machine_load(m, program, &err), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &err), TH_STOP_DONE);
    *first = TH_TIME_MAX, *last = 0;
    for (int32_t t = 0; t < program->n_tasks; t++) {
        th_time end = th_machine_times(m)[t].end_ps;
        *first = end < *first ? end : *first;
        *last = end > *last ? end : *last;
    }
}

/* Every group of the stage ends when the one does that stands for it, to a picosecond's rounding of
 * shared rates, with all of them on the network at once. */
TEST(one_group_stands_for_all)
{
    th_error err;
    auto_system *s = pod(4, 8);
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
    th_collective_times *x = th_collective_times_new(s, &p, &err);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        th_time first, last;
        th_time one = th_collective_time(x, calls[i].kind, calls[i].group, 64000000, &err);
        run_all(s, &p, calls[i].kind, calls[i].group, 64000000, &first, &last);
        CU_ASSERT_TRUE(one > 0);
        CU_ASSERT_TRUE(llabs(one - first) <= 1000);
        CU_ASSERT_TRUE(llabs(one - last) <= 1000);
    }
    th_collective_times_free(x);
}

/* ---- one rank for all ---- */

static const th_transformer sparse_model = {.name = "s",
                                            .layers = 4,
                                            .hidden = 1024,
                                            .heads = 8,
                                            .kv_heads = 8,
                                            .head_dim = 128,
                                            .ffn = 4096,
                                            .vocab = 1000,
                                            .norm_size = 1,
                                            .window_every = 1,
                                            .experts = {.n = 8, .top_k = 2, .ffn = 1024}};

static th_program *program_of(const th_system *s, const th_parallel_plan *p,
                              const th_transformer *t, bool merges)
{
    th_error err;
    th_pipeline_schedule schedule;
    th_training_step step;
    th_program *program = th_program_new(&err);
    th_pipeline_shape shape = {p->n.pipeline, p->n.chunks, th_plan_micro_batches(p)};
    th_work_context c = context_of(t, p);
    th_program_clear(program);
    CU_ASSERT_EQUAL_FATAL(th_plan_check(p, c.t, s->n_accels, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_pipeline_make(p->schedule, &shape, &schedule, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_lower_step(s, &c, &schedule, merges, program, &step, &err), 0);
    CU_ASSERT_EQUAL(step.is_merged, merges && step.n_ranks > 1);
    th_training_step_clear(&step);
    th_pipeline_clear(&schedule);
    return program;
}

/* The time of a step, with one rank for all of its stage or with every rank. */
static th_time time_of(const th_system *s, th_program *program)
{
    th_error err;
    auto_costs *costs = th_compute_cost_cache_new(s, &err);
    auto_machine *m = th_machine_new(s, costs, &(th_machine_options){.network = NULL}, &err);
    CU_ASSERT_EQUAL(th_program_finish(program, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_program_look_up_works(program, costs, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_machine_load(m, program, &err), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &err), TH_STOP_DONE);
    th_time end = th_machine_elapsed(m);
    th_program_free(program);
    return end;
}

static th_time step_time(const th_system *s, const th_parallel_plan *p, bool merges)
{
    return time_of(s, program_of(s, p, p->n.expert > 1 ? &sparse_model : &model, merges));
}

/* Ranks that share experts gather the tokens of all before, and scatter their sums behind, each way
 * of a layer: as many bytes as tokens came to all of them. */
TEST(ranks_that_share_experts_exchange_tokens)
{
    th_parallel_plan p = plan_of((th_degrees){1, 1, 1, 1, 8, 2, 4, 0, 1});
    th_work_context c = context_of(&sparse_model, &p);
    th_pieces pieces;
    for (int kind = TH_PIPELINE_FORWARD; kind <= TH_PIPELINE_BACKWARD; kind++) {
        int64_t exchanged = 0;
        int n_gathers = 0, n_scatters = 0;
        th_layer_work(&c, 0, (th_pipeline_kind)kind, false, &pieces);
        for (int i = 0; i < pieces.n; i++) {
            const th_piece *x = &pieces.of[i];
            if (x->bytes > 0 && x->group == TH_GROUP_EXPERT)
                exchanged = x->bytes;
        }
        for (int i = 0; i < pieces.n; i++) {
            const th_piece *x = &pieces.of[i];
            if (x->bytes == 0 || x->group != TH_GROUP_EXPERT_SHARED)
                continue;
            CU_ASSERT_EQUAL(x->bytes, 4 * exchanged);
            n_gathers += x->collective == TH_ALL_GATHER;
            n_scatters += x->collective == TH_REDUCE_SCATTER;
        }
        CU_ASSERT_TRUE(exchanged > 0 && n_gathers == 1 && n_scatters == 1);
    }
}

/* GPipe on two stages of one layer: of a micro-batch, stage 0 computes embedding and layer (two
 * pieces), stage 1 layer and output layer, and back. The slower stage sets the pace; where messages
 * do not overlap, each stage also waits for its own. */
TEST(messages_between_stages)
{
    enum { MICRO_BATCHES = 5 };
    th_error err;
    th_transformer two = model;
    two.layers = 2, two.vocab = 128; /* no computation waits for the host */
    th_parallel_plan p = plan_of((th_degrees){1, 2, 1, 1, 1, 1, 1, 0, 1});
    p.schedule = th_pipeline_find("gpipe");
    p.batch = (th_batch){.sequence = 16384, .micro_batch = 1, .global_batch = 1};
    auto_system *s = pod(1, 8);
    th_work_context c = context_of(&two, &p);
    th_collective_times *x = th_collective_times_new(s, &p, &err);
    th_time message = th_stage_message_time(x, 0, 1, th_boundary_bytes(&c), &err), part[14];
    th_collective_times_free(x);
    th_program *one = program_of(s, &p, &two, true);
    int n = 0;
    for (int32_t t = 0; t < one->n_tasks; t++)
        if (one->tasks[t].kind == TH_TASK_COMPUTE && n < 14)
            part[n++] = one->works[one->tasks[t].compute_cost].duration_ps;
    th_program_free(one);
    CU_ASSERT_EQUAL_FATAL(n, 14);
    th_time f0 = part[0] + part[1] + part[2], f1 = part[3] + part[4] + part[5];
    th_time b1 = part[6] + part[7] + part[8], b0 = part[9] + part[10] + part[11];
    CU_ASSERT_TRUE(message > 0 && f1 < f0 + message && b0 < b1 + message);
    p.batch.global_batch = MICRO_BATCHES;
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        th_time wait = overlaps ? 0 : message;
        th_time forward = f0 + wait > f1 ? f0 + wait : f1;
        th_time backward = b1 + wait > b0 ? b1 + wait : b0;
        p.overlaps_pipeline = overlaps;
        th_time expected =
            f0 + f1 + b1 + b0 + 2 * message + part[12] + (MICRO_BATCHES - 1) * (forward + backward);
        CU_ASSERT_EQUAL(time_of(s, program_of(s, &p, &two, true)), expected);
        CU_ASSERT_EQUAL(time_of(s, program_of(s, &p, &two, false)), expected);
    }
}

/* Every rank on the network, groups of the same kind on the same links and cards: the same time as
 * of one rank for all, to the rounding of shared rates. What no merged step sees is messages of
 * different kinds that meet on a link: the last rows, which may be so many parts
 * per million longer. */
TEST(one_rank_stands_for_all)
{
    static const struct {
        int32_t nodes, each;
        th_degrees
            n; /* tensor, pipeline, chunks, context, data, expert, expert_tensor, zero, group */
        bool sequence, data, tensor;
        int64_t longer_ppm;
    } plans[] = {{1, 8, {8, 1, 1, 1, 1, 1, 1, 0, 1}, false, false, false, 1},
                 {1, 8, {8, 1, 1, 1, 1, 1, 1, 0, 1}, true, false, false, 1},
                 {2, 4, {4, 1, 1, 1, 2, 1, 1, 1, 2}, true, true, false, 1},
                 {2, 4, {4, 2, 1, 1, 1, 1, 1, 0, 1}, false, false, false, 1},
                 {2, 4, {1, 1, 1, 1, 8, 1, 1, 3, 8}, false, true, false, 1},
                 {2, 4, {1, 1, 1, 1, 8, 1, 1, 3, 4}, false, false, false, 1},
                 {2, 4, {2, 1, 1, 2, 2, 1, 1, 1, 4}, false, false, false, 1},
                 {2, 4, {1, 1, 1, 1, 8, 8, 1, 1, 8}, false, false, false, 1},
                 {2, 4, {1, 2, 1, 1, 4, 4, 1, 1, 4}, false, false, false, 1},
                 {1, 8, {8, 1, 1, 1, 1, 1, 1, 0, 1}, true, false, true, 20000},
                 {2, 4, {2, 2, 1, 1, 2, 1, 1, 1, 2}, true, true, true, 20000},
                 {1, 8, {2, 4, 1, 1, 1, 1, 1, 0, 1}, false, false, false, 20000},
                 {2, 4, {1, 1, 1, 1, 8, 4, 1, 1, 8}, false, true, false, 20000}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        th_parallel_plan p = plan_of(plans[i].n);
        auto_system *s = pod(plans[i].nodes, plans[i].each);
        p.batch = (th_batch){.sequence = 2048, .micro_batch = 1, .global_batch = 16};
        p.sequence_parallel = plans[i].sequence;
        p.overlaps_data = plans[i].data, p.overlaps_tensor = plans[i].tensor;
        p.overlaps_pipeline = i % 2;
        th_time one = step_time(s, &p, true), all = step_time(s, &p, false);
        int64_t longer = (all - one) * 1000000 / one;
        CU_ASSERT_TRUE(longer >= -1 && longer <= plans[i].longer_ppm);
        if (longer < -1 || longer > plans[i].longer_ppm)
            printf("# plan %zu: %lld ppm\n", i, (long long)longer);
    }
}

TEST(too_many_tasks)
{
    th_error err;
    th_degrees n = {8, 1, 1, 1, 4, 1, 1, 0, 1};
    th_parallel_plan p = plan_of(n);
    auto_system *s = pod(4, 8);
    th_pipeline_schedule schedule;
    th_training_step step;
    p.batch.global_batch = 4 * 20000;
    th_work_context c = context_of(&model, &p);
    auto_program *program = th_program_new(&err);
    th_program_clear(program);
    CU_ASSERT_EQUAL_FATAL(
        th_pipeline_make(p.schedule, &(th_pipeline_shape){1, 1, 20000}, &schedule, &err), 0);
    CU_ASSERT_EQUAL(th_lower_step(s, &c, &schedule, false, program, &step, &err), -1);
    TAP_ASSERT_TEXT(err.id, "MAP-0440");
    th_pipeline_clear(&schedule);
}

TAP_MAIN("parallel_plan")
