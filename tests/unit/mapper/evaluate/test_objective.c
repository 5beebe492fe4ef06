/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_objective.c - objectives of a run on paper, when runs are stopped, energy in searches. */
#include <config.h>
#include "mapper/search/search.h"
#include "sim/analysis/energy.h"
#include "tests/unit/pool_help.h"
#include "tests/unit/tap.h"

static th_system *costed;
static th_workload *alexnet;

/* 3 ms, 2 ms per input, 0.25 J. */
static const th_metrics run = {
    .latency_ps = INT64_C(3000000000), .interval_ps = INT64_C(2000000000), .energy_j = 0.25};

TEST(terms_on_paper)
{
    CU_ASSERT_EQUAL(th_objective_value(TH_OBJECTIVE_LATENCY, &run), 3e9);
    CU_ASSERT_EQUAL(th_objective_value(TH_OBJECTIVE_THROUGHPUT, &run), 2e9);
    CU_ASSERT_EQUAL(th_objective_value(TH_OBJECTIVE_ENERGY, &run), 0.25);
    CU_ASSERT_DOUBLE_EQUAL(th_objective_value(TH_OBJECTIVE_EDP, &run), 0.00075, 1e-18);
}

/* 2 * 0.003 + 3 * 0.002 + 0.5 * 0.25 + 10 * 0.00075 = 0.1445 */
TEST(a_weighted_sum_on_paper)
{
    th_goal g = {.objective = TH_OBJECTIVE_WEIGHTED, .weight = {2, 3, 0.5, 10}};
    CU_ASSERT_DOUBLE_EQUAL(th_goal_value(&g, &run), 0.1445, 1e-15);
    CU_ASSERT_TRUE(th_goal_needs_energy(&g));
    g = (th_goal){.objective = TH_OBJECTIVE_WEIGHTED, .weight = {2, 3, 0, 0}};
    CU_ASSERT_FALSE(th_goal_needs_energy(&g));
    g = (th_goal){.n_front = 2, .front = {TH_OBJECTIVE_LATENCY, TH_OBJECTIVE_EDP}};
    CU_ASSERT_TRUE(th_goal_needs_energy(&g));
}

/* Any lateness is worse than any value; a picosecond more is worse. */
TEST(late_is_worse_than_slow)
{
    th_goal g = {.objective = TH_OBJECTIVE_WEIGHTED, .weight = {1e9, 1e9, 1e9, 1e9}};
    th_metrics slow = {.latency_ps = TH_TIME_MAX, .interval_ps = TH_TIME_MAX, .energy_j = 1e3},
               late = run, later = run;
    late.lateness_ps = 1;
    later.lateness_ps = 2;
    CU_ASSERT_TRUE(th_goal_fitness(&g, &slow) < th_goal_fitness(&g, &late));
    CU_ASSERT_TRUE(th_goal_fitness(&g, &late) < th_goal_fitness(&g, &later));
    late.lateness_ps = INT64_C(1) << 52;
    later.lateness_ps = late.lateness_ps + 1;
    CU_ASSERT_TRUE(th_goal_fitness(&g, &late) < th_goal_fitness(&g, &later));
}

/* At the makespan where runs are stopped the least that they can have is just past the bound. */
TEST(stops_lie_where_the_floor_passes_the_bound)
{
    static const th_goal goals[] = {
        {.objective = TH_OBJECTIVE_ENERGY},
        {.objective = TH_OBJECTIVE_EDP},
        {.objective = TH_OBJECTIVE_WEIGHTED, .weight = {2, 3, 0.5, 10}},
        {.objective = TH_OBJECTIVE_WEIGHTED, .weight = {0, 1, 0, 0}},
    };
    const th_energy_floor floor = {0.1, 50};
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        double bound = th_goal_value(&goals[i], &(th_metrics){.latency_ps = run.latency_ps,
                                                              .interval_ps = run.latency_ps,
                                                              .energy_j = 0.25});
        /* 0.1 J + 50 W 3 ms = 0.25 J */
        th_time stop = th_goal_stop(&goals[i], bound, true, &floor);
        CU_ASSERT_DOUBLE_EQUAL((double)stop, (double)run.latency_ps, 100);
        CU_ASSERT_TRUE(stop >= run.latency_ps);
        CU_ASSERT_EQUAL(th_goal_stop(&goals[i], INFINITY, true, &floor), TH_TIME_MAX);
    }
    CU_ASSERT_EQUAL(th_goal_stop(&goals[3], 1, false, &floor), TH_TIME_MAX); /* of many inputs */
    CU_ASSERT_EQUAL(th_goal_stop(&goals[0], 0.1, true, &(th_energy_floor){0.05, 0}), TH_TIME_MAX);
    CU_ASSERT_EQUAL(th_goal_stop(&goals[0], 0.01, true, &floor), 0);
    CU_ASSERT_EQUAL(th_goal_stop(&goals[0], 0.01, true, &(th_energy_floor){0.05, 0}), 0);
}

TEST(deadlines_stop_what_cannot_count)
{
    th_goal g = {.objective = TH_OBJECTIVE_LATENCY, .deadline_ps = 1000};
    CU_ASSERT_EQUAL(th_goal_stop(&g, 400, true, NULL), 400);
    CU_ASSERT_EQUAL(th_goal_stop(&g, 4000, true, NULL), 1000);
    CU_ASSERT_EQUAL(th_goal_stop(&g, 250 * TH_LATE_VALUE, true, NULL), 1250);
    CU_ASSERT_EQUAL(th_goal_stop(&g, INFINITY, true, NULL), TH_TIME_MAX);
    g = (th_goal){.n_front = 2, .front = {TH_OBJECTIVE_LATENCY, TH_OBJECTIVE_THROUGHPUT}};
    CU_ASSERT_EQUAL(th_goal_stop(&g, 5, true, NULL), TH_TIME_MAX);
}

/* --- energy of mappings ----------------------------------------------------------------------- */

static th_mapping *random_mapping(const th_workload *w, gsl_rng *r)
{
    th_mapping *m = mapping_on(pick(r, 0, 1) ? "0123 4567" : "41 0257 36", w);
    for (int i = 0; i < m->n_sets; i++)
        m->sets[i].design = (int32_t)pick(r, 0, 2);
    choose_at_random(m, r, w);
    return m;
}

static double energy_of_result(const th_problem *p, const th_mapping *m)
{
    th_error e = {"", ""};
    auto_result r = {0};
    auto_lower *l = th_lower_new(p->system, p->workload, &e);
    auto_program *program = th_program_new(&e);
    CU_ASSERT_EQUAL_FATAL(th_lower_program(l, m, &p->stream, program, &e), 0);
    auto_machine *machine =
        th_machine_new(p->system, th_lower_costs(l), &(th_machine_options){.per_layer = true}, &e);
    CU_ASSERT_EQUAL(th_machine_load(machine, program, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(machine, TH_TIME_MAX, &e), TH_STOP_DONE);
    CU_ASSERT_EQUAL(th_machine_result(machine, &r, &e), 0);
    CU_ASSERT_EQUAL(
        th_energy_of_run(&(th_energy_source){p->system, th_lower_costs(l), program}, &r, &e), 0);
    return th_result_energy_j(&r);
}

static th_fitness fitness_of(th_evaluator *e, const th_mapping *m, double bound)
{
    th_error err = {"", ""};
    th_fitness f;
    CU_ASSERT_EQUAL(th_evaluator_run(e, m, bound, &f, &err), 0);
    return f;
}

/* Of one input and of five, to the bit. */
TEST(energy_is_that_of_the_result)
{
    auto_rng *r = th_random_stream(1, "energy", 0);
    static const th_stream streams[] = {{1, 0, 1, 0}, {5, 1000000, 1, 0}};
    for (int i = 0; i < 2; i++) {
        th_problem p = {.system = costed, .workload = alexnet, .stream = streams[i]};
        p.goal.objective = TH_OBJECTIVE_ENERGY;
        auto_evaluator *e = th_evaluator_new(&p, NULL);
        for (int k = 0; k < 8; k++) {
            auto_mapping *m = random_mapping(alexnet, r);
            th_fitness f = fitness_of(e, m, INFINITY);
            double expected = energy_of_result(&p, m);
            CU_ASSERT_TRUE(f.value == expected && f.metrics.energy_j == expected && expected > 0);
        }
    }
}

/* What is stopped would have passed the bound; what is a little below it never is. */
TEST(bounds_stop_by_energy)
{
    auto_rng *r = th_random_stream(2, "bounds", 0);
    static const th_goal goals[] = {
        {.objective = TH_OBJECTIVE_ENERGY},
        {.objective = TH_OBJECTIVE_EDP},
        {.objective = TH_OBJECTIVE_WEIGHTED, .weight = {2, 1, 0.5, 10}},
    };
    int stopped = 0;
    for (int i = 0; i < 12; i++) {
        th_problem p = {.system = costed, .workload = alexnet, .stream = th_stream_single};
        p.goal = goals[i % 3];
        auto_evaluator *e = th_evaluator_new(&p, NULL);
        auto_mapping *m = random_mapping(alexnet, r);
        double value = fitness_of(e, m, INFINITY).value;
        CU_ASSERT_EQUAL(fitness_of(e, m, value).value, value);
        CU_ASSERT_EQUAL(fitness_of(e, m, value * 1.5).value, value);
        stopped += fitness_of(e, m, value / 2).fit == TH_FIT_STOPPED;
    }
    CU_ASSERT_EQUAL(stopped, 12);
}

TEST(energy_of_what_costs_nothing_is_refused)
{
    th_error err = {"", ""};
    auto_system *f1 = shipped_system("f1_16xlarge");
    th_problem p = {.system = f1, .workload = alexnet, .stream = th_stream_single};
    p.goal.objective = TH_OBJECTIVE_EDP;
    CU_ASSERT_PTR_NULL(th_evaluator_new(&p, &err));
    TAP_ASSERT_ERROR(err, "MAP-0113",
                     "the objective needs energy, and the system \"f1_16xlarge\" does not say what "
                     "things cost: mac_energy, dram_energy, static_power ... of its designs, or "
                     "link_energy");
}

/* --- searches --------------------------------------------------------------------------------- */

static th_search *search_for(const th_goal *goal, bool keep_late, th_error *err)
{
    th_problem p = {.system = costed, .workload = alexnet, .stream = th_stream_single};
    th_search_options o = th_search_defaults;
    o.evaluations = 160;
    o.keep_late = keep_late;
    p.goal = *goal;
    th_search *s = th_search_new(th_search_find("random"), &p, &o, err);
    int failed = !s;
    while (!failed && !s->done)
        failed = th_search_iterate(s, err);
    if (failed) {
        th_search_free(s);
        return NULL;
    }
    return s;
}

/* Each search has the least of its own objective, by the same mappings. */
TEST(searches_make_their_objective_small)
{
    th_error err = {"", ""};
    th_metrics by[3];
    for (int o = 0; o < 3; o++) {
        static const th_objective of[] = {TH_OBJECTIVE_LATENCY, TH_OBJECTIVE_ENERGY,
                                          TH_OBJECTIVE_EDP};
        auto_search *s = search_for(&(th_goal){.objective = of[o]}, false, &err);
        CU_ASSERT_PTR_NOT_NULL_FATAL(s);
        by[o] = s->best_fitness.metrics;
        th_problem p = s->problem;
        by[o].energy_j = energy_of_result(&p, s->best);
    }
    for (int o = 1; o < 3; o++) {
        CU_ASSERT_TRUE(by[0].latency_ps <= by[o].latency_ps);
        CU_ASSERT_TRUE(by[1].energy_j <= by[o == 1 ? 0 : 2].energy_j);
        CU_ASSERT_TRUE(th_objective_value(TH_OBJECTIVE_EDP, &by[2]) <=
                       th_objective_value(TH_OBJECTIVE_EDP, &by[o - 1]));
    }
}

/* Least energy within 1.2 times the least latency; and a deadline that nothing meets. */
TEST(deadlines_are_met_or_told)
{
    th_error err = {"", ""};
    th_goal goal = {.objective = TH_OBJECTIVE_LATENCY};
    auto_search *fastest = search_for(&goal, false, &err);
    th_time least = fastest->best_fitness.metrics.latency_ps;
    goal = (th_goal){.objective = TH_OBJECTIVE_ENERGY, .deadline_ps = least * 6 / 5};
    auto_search *s = search_for(&goal, false, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT_TRUE(s->best_fitness.metrics.latency_ps <= goal.deadline_ps);
    CU_ASSERT_EQUAL(s->best_fitness.metrics.lateness_ps, 0);
    th_search_free(s);
    goal.deadline_ps = least - 1000;
    CU_ASSERT_PTR_NULL(search_for(&goal, false, &err));
    TAP_ASSERT_TEXT(err.id, "MAP-0114");
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ", 1ns late"));
    s = search_for(&goal, true, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT_EQUAL(s->best_fitness.metrics.latency_ps, least); /* the least late */
    CU_ASSERT_EQUAL(s->best_fitness.metrics.lateness_ps, 1000);
    CU_ASSERT_TRUE(th_mapping_equal(s->best, fastest->best));
}

/* --- starting from a mapping ------------------------------------------------------------------ */

static th_fitness best_from(const char *type, const th_mapping *start, int64_t evaluations)
{
    th_error err = {"", ""};
    th_problem p = {.system = costed, .workload = alexnet, .stream = th_stream_single};
    th_search_options o = th_search_defaults;
    o.evaluations = evaluations;
    o.start = start;
    o.seed = 9;
    auto_search *s = th_search_new(th_search_find(type), &p, &o, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    while (!s->done)
        CU_ASSERT_EQUAL(th_search_iterate(s, &err), 0);
    CU_ASSERT_TRUE(s->n_evaluations <= evaluations);
    return s->best_fitness;
}

/* What a long search found is kept by a search of one evaluation, and bettered by breeding alone.
 */
TEST(a_start_is_never_lost)
{
    th_error err = {"", ""};
    auto_search *s = search_for(&(th_goal){.objective = TH_OBJECTIVE_LATENCY}, false, &err);
    for (int i = 0; th_search_types[i]; i++) {
        const th_search_type *t = th_search_types[i];
        if (t->is_baseline || t->default_evaluations == 0)
            continue;
        CU_ASSERT_EQUAL(best_from(t->name, s->best, 1).value, s->best_fitness.value);
        CU_ASSERT_TRUE(best_from(t->name, s->best, TAP_REPEATS(40)).value <= s->best_fitness.value);
    }
    th_search_options o = {.seed = 1, .threads = 1, .start = s->best};
    CU_ASSERT_PTR_NULL(th_search_new(th_search_find("uniform"), &s->problem, &o, &err));
    TAP_ASSERT_ERROR(err, "MAP-0115",
                     "uniform: baselines take no initial mapping; only searches accept -start");
}

static void make_all(void)
{
    costed = shipped_system("f1_16xlarge_energy");
    alexnet = shipped_workload("alexnet");
}

TAP_MAIN_WITH("objective", make_all)
