/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_segment.c - makespans from segments against replays of the whole program: equal to the
 * picosecond, with empty and filled caches, with bounds and without. THARSIS_CASE=N runs one random
 * case alone. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/strategies.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"

static int n_compared, n_stopped, n_infeasible, n_wrong;

static th_fitness fitness_of(th_evaluator *e, const th_mapping *m, double bound)
{
    th_error err = {"", ""};
    th_fitness f;
    if (th_evaluator_run(e, m, bound, &f, &err))
        bail_out(&err);
    return f;
}

/* Of a run of the whole program, which does not know segments; stopped where it passes the bound.
 */
static th_fitness whole_fitness_of(th_evaluator *e, const th_mapping *m, double bound)
{
    th_error err = {"", ""};
    th_fitness f;
    if (th_evaluator_run_without_link(e, m, -1, &f, NULL, &err))
        bail_out(&err);
    if (f.fit == TH_FIT && f.value > bound)
        f = (th_fitness){.fit = TH_FIT_STOPPED, .value = INFINITY};
    return f;
}

static void compare_at(th_evaluator *by_segments, th_evaluator *whole, const th_mapping *m,
                       double bound)
{
    th_fitness f = fitness_of(by_segments, m, bound), g = whole_fitness_of(whole, m, bound);
    n_compared++;
    n_stopped += g.fit == TH_FIT_STOPPED;
    n_infeasible += g.fit == TH_FIT_INFEASIBLE;
    bool same = f.fit == g.fit && f.value == g.value;
    if (same && f.fit == TH_FIT)
        same = f.metrics.latency_ps == g.metrics.latency_ps &&
               f.metrics.interval_ps == g.metrics.interval_ps;
    if (!same && n_wrong++ == 0)
        printf("# fit %d and %d, %.0f and %.0f ps, bound %.0f\n", f.fit, g.fit, f.value, g.value,
               bound);
}

/* Bounds at the makespan, right below it, in its middle, and at nothing. */
static void compare(th_evaluator *by_segments, th_evaluator *whole, const th_mapping *m)
{
    compare_at(by_segments, whole, m, INFINITY);
    double t = whole_fitness_of(whole, m, INFINITY).value;
    const double bounds[] = {t, t - 1, t / 2, 0};
    for (int i = 0; isfinite(t) && i < 4; i++)
        compare_at(by_segments, whole, m, bounds[i]);
}

/* One layer gets another strategy. */
static void change(gsl_rng *r, const th_workload *w, th_mapping *m)
{
    int layer = (int)pick(r, 0, w->n_layers - 1);
    th_strategy *list;
    int n =
        th_strategies_list(&w->layers[layer], w->batch, m->sets[m->set_of[layer]].n_accels, &list);
    if (n > 0)
        m->strategy[layer] = list[pick(r, 0, n - 1)];
    th_free(list);
}

/* --- random networks -------------------------------------------------------------------------- */

enum { CASES = TAP_REPEATS(250), MAPPINGS = 3, CHANGES = 3 };

static int64_t n_asked, n_replayed, n_whole, n_evaluations;

static void count(const th_evaluator *e)
{
    th_segment_counts c = th_evaluator_segments(e);
    n_asked += c.lookups;
    n_replayed += c.replayed;
    n_whole += c.full_replays;
    n_evaluations += c.evaluations;
}

static void check_case(th_system *const *systems, int n_systems, int number)
{
    auto_rng *r = th_random_stream(11, "segments", (uint64_t)number);
    const th_system *s = systems[pick(r, 0, n_systems - 1)];
    auto_workload *w = random_workload(r);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    p.network = th_network_find(pick(r, 0, 3) ? "fluid" : "ideal");
    auto_evaluator *by_segments = evaluator_of(p), *whole = evaluator_of(p);
    for (int i = 0; i < MAPPINGS && n_wrong == 0; i++) {
        auto_mapping *m = random_mapping(r, s, w, w->batch);
        for (int k = 0; m && k < CHANGES; k++) {
            compare(by_segments, whole, m);
            change(r, w, m);
        }
    }
    count(by_segments);
}

TEST(random_networks_take_the_same)
{
    th_system *systems[] = {
        system_of(RANDOM_TOPOLOGY("type = \"ring\"; dims = [6];")),
        system_of(
            RANDOM_TOPOLOGY("type = \"ring\"; dims = [4]; host = { bandwidth = \"2Gbps\"; };")),
        system_of(RANDOM_TOPOLOGY("type = \"mesh\"; dims = [2, 4];")),
        shipped_system("f1_16xlarge"),
    };
    enum { N = sizeof systems / sizeof *systems };
    const char *only = getenv("THARSIS_CASE");
    n_compared = n_stopped = n_infeasible = n_wrong = 0;
    n_asked = n_replayed = n_whole = n_evaluations = 0;
    for (int i = only ? atoi(only) : 0; i < CASES && n_wrong == 0; i++) {
        check_case(systems, N, i);
        if (n_wrong > 0)
            printf("# case %d\n", i);
        if (only)
            break;
    }
    printf("# %d evaluations, %d stopped; %lld of %lld by the whole program, %lld of %lld segments "
           "replayed\n",
           n_compared, n_stopped, (long long)n_whole, (long long)n_evaluations,
           (long long)n_replayed, (long long)n_asked);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(only || (n_compared > TAP_REPEATS(5000) && n_stopped > TAP_REPEATS(2500) &&
                            n_whole * 4 < n_evaluations && n_asked > n_evaluations));
    for (int i = 0; i < N; i++)
        th_system_free(systems[i]);
}

/* --- networks that are shipped ---------------------------------------------------------------- */

/* Sets of two, four and eight, layers in ranges, every design. */
static th_mapping *mapping_of_ranges(gsl_rng *r, const th_workload *w)
{
    static const char *const sets[] = {"01234567", "0123 4567", "01 2345 67", "3210 75 46"};
    th_mapping *m = mapping_on(sets[pick(r, 0, 3)], w);
    int at = 0;
    for (int i = 0; i < m->n_sets; i++)
        m->sets[i].design = (int32_t)pick(r, 0, 2);
    for (int l = 0; l < w->n_layers; l++) {
        th_strategy *list;
        at = pick(r, 0, 9) ? at : (int)pick(r, 0, m->n_sets - 1);
        m->set_of[l] = at;
        int n = th_strategies_list(&w->layers[l], w->batch, m->sets[at].n_accels, &list);
        m->strategy[l] = list[pick(r, 0, n - 1)];
        th_free(list);
    }
    return m;
}

static void compare_on(const char *system, const char *network, int n, int n_changes)
{
    auto_rng *r = th_random_stream(12, network, 0);
    auto_system *s = shipped_system(system);
    auto_workload *w = shipped_workload(network);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_evaluator *by_segments = evaluator_of(p), *whole = evaluator_of(p);
    n_compared = n_stopped = n_infeasible = n_wrong = 0;
    for (int i = 0; i < n; i++) {
        auto_mapping *m = mapping_of_ranges(r, w);
        for (int k = 0; k < n_changes; k++) {
            compare(by_segments, whole, m);
            change(r, w, m);
        }
    }
    th_segment_counts c = th_evaluator_segments(by_segments);
    printf(
        "# %s on %s: %d evaluations, %d stopped, %d do not fit; %lld of %lld segments replayed\n",
        network, system, n_compared, n_stopped, n_infeasible, (long long)c.replayed,
        (long long)c.lookups);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(c.full_replays == 0 && c.replayed < c.lookups);
}

TEST(networks_take_the_same)
{
    compare_on("f1_16xlarge", "alexnet", 20, 4);
    compare_on("f1_16xlarge", "resnet34", 3, 3);
}

TEST(what_does_not_fit_is_the_same)
{
    compare_on("f1_16xlarge_small", "alexnet", 15, 3);
    CU_ASSERT_TRUE(n_infeasible > 5 && n_infeasible < n_compared);
}

/* --- what is known ---------------------------------------------------------------------------- */

/* Every block but the first of a stage is like the one before it, but for the state at its begin.
 */
TEST(cached_steps_are_not_replayed)
{
    auto_system *s = shipped_system("f1_16xlarge");
    auto_workload *w = shipped_workload("resnet34");
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_evaluator *e = evaluator_of(p);
    auto_mapping *m = mapping_on("0123", w);
    for (int l = 0; l < w->n_layers; l++)
        put_layer(m, l, 0, w->layers[l].kind == TH_LAYER_FC ? "K4" : "H4");
    put_layer(m, w->n_layers - 2, 0, "K4"); /* a pool of one row */
    th_fitness first = fitness_of(e, m, INFINITY);
    th_segment_counts cold = th_evaluator_segments(e);
    CU_ASSERT_TRUE(first.fit == TH_FIT && cold.replayed > 3);
    th_fitness again = fitness_of(e, m, INFINITY);
    th_segment_counts filled = th_evaluator_segments(e);
    CU_ASSERT_TRUE(again.value == first.value && filled.replayed == cold.replayed);
    CU_ASSERT_TRUE(filled.evaluations == 2 && filled.lookups == 2 * cold.lookups);
    put_layer(m, w->n_layers / 2, 0, "W4");
    fitness_of(e, m, INFINITY);
    th_segment_counts near = th_evaluator_segments(e);
    CU_ASSERT_TRUE(near.replayed > filled.replayed &&
                   2 * (near.replayed - filled.replayed) < cold.lookups);
}

/* With room for nothing, all is dropped before every run. */
TEST(dropped_steps_are_replayed)
{
    th_error e = {"", ""};
    auto_system *s = shipped_system("f1_16xlarge");
    auto_workload *w = shipped_workload("alexnet");
    auto_lower *l = th_lower_new(s, w, &e);
    auto_program *program = th_program_new(&e);
    auto_machine *machine = th_machine_new(s, th_lower_costs(l), NULL, &e);
    th_segments *x = th_segments_new(l, program, machine, 0);
    auto_mapping *m = mapping_on("0", w);
    th_segments_result r[3];
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(th_segments_run(x, m, TH_TIME_MAX, &r[i], &e), 0);
        CU_ASSERT_EQUAL(r[i].outcome, TH_SEGMENTS_DONE);
        CU_ASSERT_EQUAL(r[i].makespan, r[0].makespan);
    }
    th_segment_counts c = th_segments_counts(x);
    CU_ASSERT_TRUE(c.lookups == c.replayed && c.lookups > 3);
    th_segments_free(x);
}

static int64_t evaluations_by_segments(const th_system *s, th_stream stream, const char *network)
{
    auto_workload *w = shipped_workload("alexnet");
    th_problem p = {.system = s, .workload = w, .stream = stream};
    p.network = th_network_find(network);
    auto_evaluator *e = evaluator_of(p);
    auto_mapping *m = mapping_on("0", w);
    fitness_of(e, m, INFINITY);
    return th_evaluator_segments(e).evaluations;
}

TEST(others_are_replayed_whole)
{
    auto_system *s = shipped_system("f1_16xlarge");
    CU_ASSERT_EQUAL(evaluations_by_segments(s, th_stream_single, "fluid"), 1);
    CU_ASSERT_EQUAL(evaluations_by_segments(s, th_stream_single, "ideal"), 1);
    CU_ASSERT_EQUAL(evaluations_by_segments(s, th_stream_single, "packet"), 0);
    CU_ASSERT_EQUAL(evaluations_by_segments(s, (th_stream){3, 0, 1, 0}, "fluid"), 0);
    s->nodes[s->accel_node[0]].a.dram_bits_per_s /= 2; /* flows could saturate it */
    CU_ASSERT_EQUAL(evaluations_by_segments(s, th_stream_single, "fluid"), 0);
    CU_ASSERT_EQUAL(evaluations_by_segments(s, th_stream_single, "ideal"), 1);
}

TAP_MAIN("segment")
