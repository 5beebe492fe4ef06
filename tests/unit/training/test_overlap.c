/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_overlap.c - messages beside computations: what a machine makes of them by hand, and that
 * steps of random plans that overlap are between the step without overlap and what nothing can do
 * without; and that a merged step takes as long as that of all ranks where the messages of many
 * between two stages share links. */
#include <config.h>
#include "base/random.h"
#include "sim/machine/machine.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "tests/unit/training/plan_help.h"
#include "topology/generate/generate.h"
#include "training/lower_step.h"

/* ---- by hand ---- */

enum { COMPUTE_PS = 1000 };

static th_task compute_of(th_program *p, const th_system *s)
{
    const th_fixed_work w = {.duration_ps = COMPUTE_PS};
    return (th_task){.kind = TH_TASK_COMPUTE,
                     .node = s->accel_node[0],
                     .peer = -1,
                     .compute_cost = th_program_add_work(p, &w, NULL),
                     .layer = -1};
}

static th_task message_of(const th_system *s, th_time from, th_time until, float slowdown)
{
    return (th_task){.kind = TH_TASK_HOST,
                     .node = -1,
                     .peer = s->accel_node[0],
                     .slowdown = slowdown,
                     .release_ps = from,
                     .delay_ps = until - from,
                     .layer = -1};
}

typedef struct {
    th_time end, busy;
} outcome;

/* Of the first task. */
static outcome run(const th_system *s, th_program *p)
{
    th_error err;
    auto_costs *costs = th_compute_cost_cache_new(s, &err);
    auto_machine *m = th_machine_new(s, costs, NULL, &err);
    CU_ASSERT_EQUAL(th_program_finish(p, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_program_look_up_works(p, costs, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_machine_load(m, p, &err), 0);
    /* asked in between, nothing changes */
    CU_ASSERT_EQUAL(th_machine_run_until(m, COMPUTE_PS + 1, &err), TH_STOP_UNTIL);
    const th_accel_result half = th_machine_accel(m, 0);
    CU_ASSERT_EQUAL(half.stats.busy_ps, COMPUTE_PS + 1);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &err), TH_STOP_DONE);
    return (outcome){th_machine_times(m)[0].end_ps, th_machine_accel(m, 0).stats.busy_ps};
}

/* A computation of 1000 ps loses to a message what it takes of its rate, while both run. */
TEST(a_message_slows_what_runs_beside_it)
{
    static const struct {
        struct {
            th_time from, until;
            float slowdown;
        } message[2];
        th_time end;
    } rows[] = {
        {{{0, 400, 0.25F}, {9000, 9001, 0.25F}}, 1100},           /* ends first: 0.25 of 400 */
        {{{200, 9000, 0.5F}, {9000, 9001, 0.25F}}, 200 + 1600},   /* outlasts it */
        {{{0, 1100, 0.5F}, {0, 0, 0}}, 1100 + 450},               /* the rest alone */
        {{{0, 1000, 0.5F}, {1200, 1300, 0.5F}}, 1000 + 500 + 50}, /* one begins in the delay */
        {{{0, 400, 0.25F}, {200, 600, 0.5F}}, 1000 + 100 + 200},  /* two at a time: the sum */
        {{{0, 200, 0.5F}, {900, 1050, 0.5F}}, 1000 + 100 + 75},
    };
    auto_system *s = shipped_system("islands_4x8");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_program *p = th_program_new(NULL);
        th_program_clear(p);
        th_task t = compute_of(p, s);
        CU_ASSERT_EQUAL(th_program_add(p, &t, NULL), 0);
        for (int k = 0; k < 2; k++) {
            t = message_of(s, rows[i].message[k].from, rows[i].message[k].until,
                           rows[i].message[k].slowdown);
            CU_ASSERT_TRUE(th_program_add(p, &t, NULL) > 0);
        }
        const outcome o = run(s, p);
        CU_ASSERT_EQUAL(o.end, rows[i].end);
        CU_ASSERT_EQUAL(o.busy, rows[i].end);
    }
}

/* ---- random plans ---- */

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

static int32_t power(gsl_rng *r, int32_t most)
{
    int32_t n = 1;
    while (n < most && gsl_rng_uniform_int(r, 2))
        n *= 2;
    return n;
}

static th_parallel_plan random_plan(gsl_rng *r)
{
    static const char *const schedules[] = {"1f1b", "gpipe", "interleaved", "zb_h1"};
    th_parallel_plan p = {.n = {1, 1, 1, 1, 1, 1, 1, 0, 1},
                          .batch = {.sequence = 2048, .micro_batch = 1},
                          .order = {0, 1, 2, 3},
                          .has_fused_kernels = true,
                          .gradient_bytes = 4,
                          .expert_skew = 1};
    p.n.tensor = power(r, 4);
    p.n.pipeline = power(r, 4);
    p.n.data = power(r, 32 / p.n.tensor / p.n.pipeline);
    p.n.zero = p.n.data > 1 ? (int32_t)gsl_rng_uniform_int(r, 4) : 0;
    p.n.zero_group = p.n.zero > 0 ? p.n.data : 1;
    p.schedule = th_pipeline_find(schedules[gsl_rng_uniform_int(r, 4)]);
    if (p.schedule == th_pipeline_find("interleaved"))
        p.n.chunks = p.n.pipeline > 1 ? 2 : 1;
    if (p.n.pipeline == 1 || p.n.chunks < p.schedule->min_chunks)
        p.schedule = th_pipeline_find("1f1b"), p.n.chunks = 1;
    p.sequence_parallel = p.n.tensor > 1 && gsl_rng_uniform_int(r, 2);
    p.batch.global_batch = p.n.data * p.n.pipeline * (1 + (int32_t)gsl_rng_uniform_int(r, 4));
    p.overlaps_pipeline = gsl_rng_uniform_int(r, 2);
    return p;
}

typedef struct {
    th_time step, free, busiest; /* free: without the time of any message; busiest: one stage's */
} bounds;

static th_time elapsed(const th_system *s, th_program *p)
{
    th_error err;
    auto_costs *costs = th_compute_cost_cache_new(s, &err);
    auto_machine *m = th_machine_new(s, costs, NULL, &err);
    CU_ASSERT_EQUAL(th_program_finish(p, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_program_look_up_works(p, costs, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_machine_load(m, p, &err), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &err), TH_STOP_DONE);
    return th_machine_elapsed(m);
}

/* The program of a step, of which *step tells more. */
static th_program *program_of(const th_system *s, const th_parallel_plan *plan, bool merges,
                              th_training_step *step)
{
    th_error err;
    th_pipeline_schedule schedule;
    const th_pipeline_shape shape = {plan->n.pipeline, plan->n.chunks, th_plan_micro_batches(plan)};
    const th_work_context c = {.t = &model,
                               .p = plan,
                               .device = device_of(1e15, 1e12),
                               .numbers = th_training_numbers_shipped()};
    th_program *p = th_program_new(&err);
    th_program_clear(p);
    CU_ASSERT_EQUAL_FATAL(th_plan_check(plan, &model, s->n_accels, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_pipeline_make(plan->schedule, &shape, &schedule, &err), 0);
    CU_ASSERT_EQUAL_FATAL(th_lower_step(s, &c, &schedule, merges, p, step, &err), 0);
    th_pipeline_clear(&schedule);
    return p;
}

static bounds bounds_of(const th_system *s, const th_parallel_plan *plan)
{
    bounds b = {.busiest = 0};
    th_training_step step;
    auto_program *p = program_of(s, plan, true, &step);
    b.step = elapsed(s, p);
    for (int32_t node = 0; node < s->n_nodes; node++) {
        th_time data = 0;
        for (int32_t t = 0; t < p->n_tasks; t++)
            if (step.task[t] == TH_STEP_DATA && p->tasks[t].peer == node)
                data += p->tasks[t].delay_ps;
        b.busiest = data > b.busiest ? data : b.busiest;
    }
    for (int32_t t = 0; t < p->n_tasks; t++)
        p->tasks[t].delay_ps = 0;
    b.free = elapsed(s, p);
    th_training_step_clear(&step);
    return b;
}

/* What overlaps is never slower than what does not, and no faster than its computations with free
 * messages, or than the messages of the busiest stage. */
TEST(overlap_never_costs_more_than_waiting)
{
    enum { PLANS = 300 };
    int32_t n_faster = 0;
    auto_system *s = shipped_system("islands_4x8");
    auto_rng *r = th_random_stream(45, "plans that overlap", 0);
    for (int i = 0; i < PLANS; i++) {
        th_parallel_plan p = random_plan(r);
        const bounds waits = bounds_of(s, &p);
        p.overlaps_data = gsl_rng_uniform_int(r, 4) > 0;
        p.overlaps_tensor = gsl_rng_uniform_int(r, 2);
        const bounds overlaps = bounds_of(s, &p);
        const bool holds = (double)waits.step * 1.001 >= (double)overlaps.step &&
                           overlaps.step >= overlaps.free && overlaps.step >= overlaps.busiest;
        CU_ASSERT_TRUE(holds);
        n_faster += overlaps.step < waits.step;
        if (!holds)
            printf("# plan %d: tensor %d pipeline %d (%s, %d) data %d zero %d: %lld, waits %lld, "
                   "free %lld, busiest %lld\n",
                   i, p.n.tensor, p.n.pipeline, p.schedule->name, p.n.chunks, p.n.data, p.n.zero,
                   (long long)overlaps.step, (long long)waits.step, (long long)overlaps.free,
                   (long long)overlaps.busiest);
    }
    CU_ASSERT_TRUE(n_faster > PLANS / 3);
}

/* ---- one rank for all ---- */

/* Sixteen accelerators of the prototype: a fat tree of so many links down per link up; 0: a
 * torus. */
static th_system *fabric(const th_system *prototype, const char *type, double narrow)
{
    th_error err;
    const th_topology_options o = {.dims = {4, narrow > 0 ? 2 : 4},
                                   .n_dims = 2,
                                   .bits_per_s = {INT64_C(400000000000), INT64_C(400000000000)},
                                   .latency_ps = {500000, 500000},
                                   .oversubscription = narrow};
    th_system *s = th_topology_create("fabric", th_topology_find(type), &o, prototype, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

static th_time step_of(const th_system *s, const th_parallel_plan *plan, bool merges)
{
    th_training_step step;
    auto_program *p = program_of(s, plan, merges, &step);
    th_training_step_clear(&step);
    return elapsed(s, p);
}

/* Four messages of 1 MB from a leaf to the next, over four hops of 500 ns and as many uplinks as
 * there are: 20 us each where they share none. */
TEST(messages_of_all_ranks_share_uplinks)
{
    th_error err;
    auto_system *prototype = shipped_system("h100_sxm");
    for (int narrow = 1; narrow <= 4; narrow *= 2) {
        auto_system *s = fabric(prototype, "fattree", narrow);
        const th_parallel_plan p = {.n = {1, 4, 1, 1, 4, 1, 1, 0, 1}, .order = {0, 1, 2, 3}};
        th_collective_times *x = th_collective_times_new(s, &p, &err);
        for (int32_t i = 0; i < 3; i++) {
            const th_time expected = (20 * narrow + 2) * INT64_C(1000000);
            CU_ASSERT_EQUAL(th_stage_message_time(x, i, i + 1, 1000000, &err), expected);
            CU_ASSERT_EQUAL(th_stage_message_time(x, i + 1, i, 1000000, &err), expected);
        }
        th_collective_times_free(x);
    }
}

/* Replicas on one fabric, each with a chain of stages: their messages meet where it is narrow. No
 * step is faster than the merged one; where nothing else meets on a link (tensor ranks, weights of
 * ZeRO 3, messages beside each other), it is as long as promised (docs/models/training.md). */
TEST(a_merged_step_sees_the_messages_of_all_ranks)
{
    enum { PLANS = 160 };
    static const double promised = 0.02;
    static const struct {
        const char *type;
        double narrow;
    } fabrics[] = {{"fattree", 1}, {"fattree", 2}, {"fattree", 4}, {"torus", 0}};
    int32_t n_alone = 0;
    auto_system *prototype = shipped_system("h100_sxm");
    auto_rng *r = th_random_stream(45, "plans that are merged", 0);
    for (int i = 0; i < PLANS; i++) {
        auto_system *s = fabric(prototype, fabrics[i % 4].type, fabrics[i % 4].narrow);
        th_parallel_plan p = random_plan(r);
        while (th_plan_stage_ranks(&p) * p.n.pipeline > 16 || p.n.pipeline == 1)
            p = random_plan(r);
        const bool is_alone = p.n.tensor == 1 && p.n.zero < 3 && !p.overlaps_pipeline;
        const th_time one = step_of(s, &p, true), all = step_of(s, &p, false);
        const double longer = (double)(all - one) / (double)one;
        const bool holds = longer >= -1e-6 && (!is_alone || longer <= promised);
        CU_ASSERT_TRUE(holds);
        n_alone += is_alone;
        if (!holds)
            printf("# %s %g, plan %d: tensor %d pipeline %d (%s, %d) data %d zero %d: %.3f %%\n",
                   fabrics[i % 4].type, fabrics[i % 4].narrow, i, p.n.tensor, p.n.pipeline,
                   p.schedule->name, p.n.chunks, p.n.data, p.n.zero, longer * 100);
    }
    CU_ASSERT_TRUE(n_alone > PLANS / 5);
}

TAP_MAIN("overlap")
