/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "mapper/evaluate/evaluate.h"
#include "tests/unit/pool_help.h"
#include "tests/unit/tap.h"

static th_system *f1;
static th_workload *alexnet;

/* Random strategies on the groups of f1. */
static th_mapping *random_mapping(gsl_rng *r)
{
    th_mapping *m = mapping_on(pick(r, 0, 1) ? "0123 4567" : "41 0257 36", alexnet);
    for (int i = 0; i < m->n_sets; i++)
        m->sets[i].design = (int32_t)pick(r, 0, 2);
    choose_at_random(m, r, alexnet);
    return m;
}

static th_problem problem_of(th_objective objective, th_stream stream)
{
    return (th_problem){
        .system = f1, .workload = alexnet, .stream = stream, .objective = objective};
}

/* The same, by a lowering and a machine of our own. */
static th_result replay(const th_problem *p, const th_mapping *m)
{
    th_error e = {"", ""};
    th_result r = {0};
    auto_lower *l = th_lower_new(p->system, p->workload, &e);
    auto_program *program = th_program_new(&e);
    CU_ASSERT_EQUAL_FATAL(th_lower_program(l, m, &p->stream, program, &e), 0);
    auto_machine *machine = th_machine_new(p->system, th_lower_costs(l), NULL, &e);
    CU_ASSERT_EQUAL(th_machine_load(machine, program, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(machine, TH_TIME_MAX, &e), TH_STOP_DONE);
    CU_ASSERT_EQUAL(th_machine_result(machine, &r, &e), 0);
    return r;
}

/* The value of a mapping that fits; -1: stopped, -2: does not fit. */
static th_time time_of(const th_fitness *f)
{
    return f->fit == TH_FIT ? (th_time)f->value : f->fit == TH_FIT_STOPPED ? -1 : -2;
}

static th_time fitness_of(th_evaluator *e, const th_mapping *m, double bound)
{
    th_error err = {"", ""};
    th_fitness fitness;
    CU_ASSERT_EQUAL(th_evaluator_run(e, m, bound, &fitness, &err), 0);
    return time_of(&fitness);
}

/* One evaluator, whose memos fill up, against fresh ones; and the first mapping again at the end.
 */
TEST(latency_is_the_makespan_of_the_machine)
{
    auto_rng *r = th_random_stream(1, "latency", 0);
    th_problem p = problem_of(TH_OBJECTIVE_LATENCY, th_stream_single);
    auto_evaluator *e = th_evaluator_new(&p, NULL);
    auto_mapping *first = random_mapping(r);
    th_time first_fitness = fitness_of(e, first, INFINITY);
    for (int i = 0; i < 20; i++) {
        auto_mapping *m = random_mapping(r);
        auto_result expected = replay(&p, m);
        CU_ASSERT_EQUAL(fitness_of(e, m, INFINITY), expected.elapsed_ps);
    }
    CU_ASSERT_EQUAL(fitness_of(e, first, INFINITY), first_fitness);
}

/* Seven inputs: (t_7 - t_3) / 4, rounded down to a picosecond. */
TEST(throughput_is_the_time_between_inputs)
{
    auto_rng *r = th_random_stream(2, "throughput", 0);
    th_problem p = problem_of(TH_OBJECTIVE_THROUGHPUT, (th_stream){7, 0, 1, 2});
    auto_evaluator *e = th_evaluator_new(&p, NULL);
    for (int i = 0; i < 5; i++) {
        auto_mapping *m = random_mapping(r);
        auto_result x = replay(&p, m);
        th_time t = fitness_of(e, m, 5); /* no bound on a throughput */
        CU_ASSERT_EQUAL(t, (x.input_end_ps[6] - x.input_end_ps[2]) / 4);
        CU_ASSERT_DOUBLE_EQUAL((double)t * 1e-12 * th_result_throughput(&x), 1, 1e-6);
    }
}

TEST(one_input_has_its_latency_for_throughput)
{
    auto_rng *r = th_random_stream(3, "one", 0);
    th_problem p = problem_of(TH_OBJECTIVE_THROUGHPUT, th_stream_single),
               q = problem_of(TH_OBJECTIVE_LATENCY, th_stream_single);
    auto_evaluator *e = th_evaluator_new(&p, NULL), *f = th_evaluator_new(&q, NULL);
    auto_mapping *m = random_mapping(r);
    CU_ASSERT_EQUAL(fitness_of(e, m, INFINITY), fitness_of(f, m, INFINITY));
}

TEST(a_bound_stops_what_passes_it)
{
    auto_rng *r = th_random_stream(4, "bound", 0);
    th_problem p = problem_of(TH_OBJECTIVE_LATENCY, th_stream_single);
    auto_evaluator *e = th_evaluator_new(&p, NULL);
    auto_mapping *m = random_mapping(r);
    th_time t = fitness_of(e, m, INFINITY);
    CU_ASSERT_EQUAL(fitness_of(e, m, (double)t), t);
    CU_ASSERT_EQUAL(fitness_of(e, m, (double)t - 1), -1);
    CU_ASSERT_EQUAL(fitness_of(e, m, (double)t / 3), -1);
    CU_ASSERT_EQUAL(fitness_of(e, m, 0), -1);
    CU_ASSERT_EQUAL(fitness_of(e, m, (double)t + 1), t); /* a stopped run leaves nothing behind */
}

/* AlexNet's 122 MB do not fit into 24 MiB. */
TEST(what_does_not_fit_is_no_error)
{
    auto_system *small = shipped_system("f1_16xlarge_small");
    th_problem p = {.system = small, .workload = alexnet, .stream = th_stream_single};
    auto_evaluator *e = th_evaluator_new(&p, NULL);
    auto_mapping *m = mapping_on("3", alexnet);
    CU_ASSERT_EQUAL(fitness_of(e, m, INFINITY), -2);
    CU_ASSERT_EQUAL(fitness_of(e, m, 7), -2);
}

TEST(a_stream_that_cannot_be_is_an_error)
{
    th_error e = {"", ""};
    th_problem p = problem_of(TH_OBJECTIVE_LATENCY, (th_stream){2, 0, 2, 0});
    CU_ASSERT_PTR_NULL(th_evaluator_new(&p, &e));
    TAP_ASSERT_ERROR(e, "MAP-0021",
                     "2 inputs in 2 micro-batches of a batch of 1: must be at least one input, "
                     "1 .. batch micro-batches, and less than 2^31 in all");
}

/* H3 rK of 13 rows: the slowest of three positions, each with three phases. */
TEST(shard_time_is_of_the_slowest_position)
{
    th_problem p = problem_of(TH_OBJECTIVE_LATENCY, th_stream_single);
    auto_evaluator *e = th_evaluator_new(&p, NULL);
    int32_t accels[] = {5, 1, 2};
    th_set set = {1, 3, accels, NULL};
    int c3 = th_workload_find(alexnet, "c3");
    th_strategy s = strategy_of("H3 rK");
    th_placed at;
    th_plans *plans = th_lower_plans(th_evaluator_lower(e));
    th_time expected = 0, t = th_evaluator_shard_time(e, &set, c3, &s, NULL);
    CU_ASSERT_EQUAL(th_plans_place(plans, c3, &set, &s, &at, NULL), 0);
    const th_layer_plan *plan = th_plans_layer(plans, &at, 1, NULL);
    for (int r = 0; r < 3; r++) {
        th_time sum = 0;
        for (int i = 0; i < 3; i++)
            sum += th_compute_cost_get(th_plans_costs(plans), plan->cost[3 * r + i])->collapsed_ps;
        expected = sum > expected ? sum : expected;
    }
    CU_ASSERT_TRUE(t == expected && t > 0);
}

static void make_all(void)
{
    f1 = shipped_system("f1_16xlarge");
    alexnet = shipped_workload("alexnet");
}

TAP_MAIN_WITH("evaluate", make_all)
