/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_launches.c - kernels that the host launches, counted by hand, and steps that take as long as
 * the host does. */
#include <config.h>
#include <math.h>
#include "sim/machine/machine.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "tests/unit/training/plan_help.h"
#include "training/kernel_counts.h"
#include "training/lower_step.h"

/* Learned positions, as GPT; rotary where positions are 0. */
static th_transformer model_of(int32_t positions)
{
    return (th_transformer){.name = "m",
                            .layers = 2,
                            .hidden = 256,
                            .heads = 16,
                            .kv_heads = 16,
                            .head_dim = 16,
                            .ffn = 1024,
                            .vocab = 1000,
                            .norm_size = 1,
                            .positions = positions,
                            .window_every = 1};
}

static th_parallel_plan plan_of(int32_t tensor, int32_t pipeline)
{
    return (th_parallel_plan){.n = {tensor, pipeline, 1, 1, 1, 1, 1, 0, 1},
                              .batch = {.sequence = 64, .micro_batch = 1, .global_batch = 1},
                              .order = {0, 1, 2, 3},
                              .schedule = th_pipeline_find("1f1b"),
                              .gradient_bytes = 4,
                              .expert_skew = 1};
}

/* A launch takes a second, and all else next to nothing. */
static th_work_context context_of(const th_transformer *t, const th_parallel_plan *p)
{
    th_work_context c = {
        .t = t, .p = p, .device = device_of(1e18, 1e18), .numbers = th_training_numbers_shipped()};
    c.numbers.of[TH_NUMBER_HOST_PYTHON] = 1;
    c.numbers.of[TH_NUMBER_HOST_KERNEL] = 1;
    return c;
}

static double launches(const th_work_context *c, th_pipeline_kind kind)
{
    th_pieces pieces;
    double n = 0;
    th_layer_work(c, 0, kind, false, &pieces);
    for (int i = 0; i < pieces.n; i++)
        n += pieces.of[i].host_s;
    return n;
}

/* Eager, forward: norm, bias, dropout and sum in each half, 2 for the heads, 2 for the
 * activation, 4 products; fused softmax: 2 products, softmax, dropout; unfused: 4 more, 2 casts,
 * scale and mask. Backward: 2 per norm, 3 per residual, 4 for the heads, 3 for the activation, 8
 * products, 3 for each of 4 weights; 4 products and 2 more for fused softmax. Tensor ranks: an
 * all-reduce in each half. */
TEST(counts_by_hand)
{
    enum { EAGER_FORWARD = 2 * (1 + 3) + 2 + 2 + 4, EAGER_BACKWARD = 2 * (2 + 3) + 4 + 3 + 8 + 12 };
    static const struct {
        bool is_fused;
        th_attention attention;
        int32_t tensor, positions, forward, backward;
        th_recompute recompute;
    } rows[] = {
        {false, TH_ATTENTION_SOFTMAX, 1, 64, EAGER_FORWARD + 4, EAGER_BACKWARD + 6, 0},
        {false, TH_ATTENTION_UNFUSED, 1, 64, EAGER_FORWARD + 8, EAGER_BACKWARD + 10, 0},
        {false, TH_ATTENTION_PORTABLE, 1, 64, EAGER_FORWARD + 1, EAGER_BACKWARD + 3, 0},
        {false, TH_ATTENTION_PORTABLE, 1, 0, EAGER_FORWARD + 9, EAGER_BACKWARD + 11, 0},
        {false, TH_ATTENTION_SOFTMAX, 4, 64, EAGER_FORWARD + 6, EAGER_BACKWARD + 8, 0},
        /* two heads of a rank: the fused softmax takes four */
        {false, TH_ATTENTION_SOFTMAX, 8, 64, EAGER_FORWARD + 10, EAGER_BACKWARD + 12, 0},
        {false, TH_ATTENTION_SOFTMAX, 1, 64, 20, 43 + 20, TH_RECOMPUTE_FULL},
        {true, TH_ATTENTION_FUSED, 1, 64, 2 * 2 + 1 + 1 + 4 + 1, 2 * 3 + 1 + 1 + 8 + 3, 0},
        {true, TH_ATTENTION_FUSED, 1, 0, 12, 20, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const th_transformer t = model_of(rows[i].positions);
        th_parallel_plan p = plan_of(rows[i].tensor, 1);
        p.has_fused_kernels = rows[i].is_fused;
        p.attention = rows[i].attention;
        p.recompute = rows[i].recompute;
        const th_work_context c = context_of(&t, &p);
        CU_ASSERT_EQUAL(launches(&c, TH_PIPELINE_FORWARD), rows[i].forward);
        CU_ASSERT_EQUAL(launches(&c, TH_PIPELINE_BACKWARD), rows[i].backward);
    }
}

TEST(shapes_of_the_fused_softmax)
{
    static const struct {
        int32_t sequence, micro_batch, heads;
        th_attention how;
    } rows[] = {
        {64, 1, 4, TH_ATTENTION_SOFTMAX},   {64, 1, 2, TH_ATTENTION_UNFUSED},
        {64, 2, 2, TH_ATTENTION_SOFTMAX},   {62, 4, 4, TH_ATTENTION_UNFUSED},
        {2048, 1, 4, TH_ATTENTION_SOFTMAX}, {4096, 1, 4, TH_ATTENTION_UNFUSED},
        {16, 1, 4, TH_ATTENTION_UNFUSED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        th_parallel_plan p = plan_of(1, 1);
        p.batch.sequence = rows[i].sequence;
        p.batch.micro_batch = rows[i].micro_batch;
        p.attention = TH_ATTENTION_SOFTMAX;
        CU_ASSERT_EQUAL(th_attention_of(&p, rows[i].heads), rows[i].how);
        p.attention = TH_ATTENTION_PORTABLE;
        CU_ASSERT_EQUAL(th_attention_of(&p, rows[i].heads), TH_ATTENTION_PORTABLE);
    }
}

TEST(who_launches)
{
    static const struct {
        bool is_fused;
        th_launch launch;
        th_training_number number;
    } rows[] = {
        {false, TH_LAUNCH_AUTO, TH_NUMBER_HOST_PYTHON},
        {true, TH_LAUNCH_AUTO, TH_NUMBER_HOST_KERNEL},
        {true, TH_LAUNCH_PYTHON, TH_NUMBER_HOST_PYTHON},
        {false, TH_LAUNCH_COMPILED, TH_NUMBER_HOST_KERNEL},
        {false, TH_LAUNCH_GRAPH, TH_NUMBER_HOST_GRAPH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        th_parallel_plan p = plan_of(1, 1);
        p.has_fused_kernels = rows[i].is_fused;
        p.launch = rows[i].launch;
        CU_ASSERT_EQUAL(th_launch_number(&p), rows[i].number);
    }
}

static double step_s(const th_system *s, const th_work_context *c)
{
    th_error err;
    th_pipeline_schedule schedule;
    th_training_step step;
    const th_parallel_plan *plan = c->p;
    const th_pipeline_shape shape = {plan->n.pipeline, 1, th_plan_micro_batches(plan)};
    auto_program *p = th_program_new(&err);
    auto_costs *costs = th_compute_cost_cache_new(s, &err);
    auto_machine *m = th_machine_new(s, costs, NULL, &err);
    th_program_clear(p);
    CU_ASSERT_EQUAL_FATAL(th_pipeline_make(plan->schedule, &shape, &schedule, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_lower_step(s, c, &schedule, true, p, &step, &err), 0);
    CU_ASSERT_EQUAL(th_program_finish(p, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_program_look_up_works(p, costs, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_machine_load(m, p, &err), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &err), TH_STOP_DONE);
    th_training_step_clear(&step);
    th_pipeline_clear(&schedule);
    return th_seconds(th_machine_elapsed(m));
}

/* Two layers of 20 and 43, 2 for the embedding and 5 for the output layer, each way; in two stages
 * one micro-batch passes all of that, and 12 at each end of a message where somebody waits: when
 * it comes, and behind the first one's sending. */
TEST(a_step_takes_as_long_as_the_host)
{
    enum { ALL = 2 * (20 + 43) + 2 * (2 + 5) };
    static const struct {
        int32_t pipeline, micro_batches, launches;
    } rows[] = {{1, 1, ALL}, {1, 7, 7 * ALL}, {2, 1, ALL + 3 * 12}};
    const th_transformer t = model_of(64);
    auto_system *s = shipped_system("islands_4x8");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        th_parallel_plan p = plan_of(1, rows[i].pipeline);
        p.attention = TH_ATTENTION_SOFTMAX;
        p.batch.global_batch = rows[i].micro_batches;
        th_work_context c = context_of(&t, &p);
        CU_ASSERT_DOUBLE_EQUAL(step_s(s, &c), rows[i].launches, 1e-3);
        c.numbers.of[TH_NUMBER_HOST_PYTHON] = 0;
        CU_ASSERT_TRUE(step_s(s, &c) < 1e-3);
    }
}

/* s on the device of the first computation of an operation. */
static double first_s(const th_work_context *c, int32_t layer, th_pipeline_kind kind)
{
    th_pieces pieces;
    int i = 0;
    th_layer_work(c, layer, kind, false, &pieces);
    while (pieces.of[i].bytes > 0)
        i++;
    return pieces.of[i].s;
}

/* While an exchange runs, the host launches what comes behind it. Of two tensor ranks whose all-
 * reduces take 100 launches each, that is all but what has none in front: the embedding, and
 * backward the output layer. */
TEST(the_host_launches_while_messages_run)
{
    const th_transformer t = model_of(64);
    auto_system *s = shipped_system("islands_4x8");
    th_parallel_plan p = plan_of(2, 1);
    p.attention = TH_ATTENTION_SOFTMAX;
    p.batch.micro_batch = p.batch.global_batch =
        4096; /* messages are long beside kernels' starts */
    th_work_context c = context_of(&t, &p);
    c.numbers.of[TH_NUMBER_HOST_PYTHON] = 0;
    const double messages = step_s(s, &c);
    const double hidden = first_s(&c, TH_LAYER_EMBEDDING_STEP, TH_PIPELINE_FORWARD) +
                          first_s(&c, TH_LAYER_HEAD_STEP, TH_PIPELINE_BACKWARD);
    /* two all-reduces in each of two layers and ways, of the embedding, and of the output layer */
    const double host = messages / 10 / 100;
    c.numbers.of[TH_NUMBER_HOST_PYTHON] = host;
    CU_ASSERT_DOUBLE_EQUAL((step_s(s, &c) - messages + hidden) / host, 2 + 5, 0.1);
}

TAP_MAIN("launches")
