/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_search.c - what every search keeps, two_level, and lack of memory. */
#include <config.h>
#include "mapper/search/search.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/generated.h"
#include "tests/unit/random_net.h"
#include "tests/unit/search_main.h"

/* --- what every search keeps ------------------------------------------------------------------ */

static void assert_same(const th_search *a, const th_search *b)
{
    auto_strbuf x = TH_STRBUF_INIT, y = TH_STRBUF_INIT;
    th_mapping_write(a->best, a->problem.system, a->problem.workload, &x);
    th_mapping_write(b->best, b->problem.system, b->problem.workload, &y);
    TAP_ASSERT_TEXT(y.text, x.text);
    CU_ASSERT_TRUE(a->best_fitness.value == b->best_fitness.value &&
                   a->n_evaluations == b->n_evaluations && a->best_found_at == b->best_found_at &&
                   a->counts.stopped_early == b->counts.stopped_early &&
                   a->counts.infeasible == b->counts.infeasible && a->n_batches == b->n_batches &&
                   a->work == b->work);
}

TEST(the_same_twice_and_on_two_threads)
{
    enum { EVALUATIONS = TAP_REPEATS(250) };
    th_problem p = problem_of(f1, branches);
    for (int i = 0; th_search_types[i]; i++) {
        if (strcmp(th_search_types[i]->name, "exhaustive") == 0)
            continue; /* too large */
        th_search_options o = {.seed = 5, .evaluations = EVALUATIONS, .threads = 1};
        auto_search *first = found(th_search_types[i]->name, &p, &o);
        auto_search *again = found(th_search_types[i]->name, &p, &o);
        o.threads = 2;
        auto_search *two = found(th_search_types[i]->name, &p, &o);
        assert_same(first, again);
        assert_same(first, two);
        CU_ASSERT_EQUAL(fitness_of(&p, first->best), first->best_fitness.value);
        CU_ASSERT_TRUE(first->best_found_at >= 1 && first->best_found_at <= first->n_evaluations);
    }
}

TEST(seeds_matter)
{
    th_problem p = problem_of(f1, alexnet);
    th_search_options o = {.seed = 1, .evaluations = 40, .threads = 1};
    auto_search *a = found("random", &p, &o);
    o.seed = 2;
    auto_search *b = found("random", &p, &o);
    CU_ASSERT_FALSE(th_mapping_equal(a->best, b->best));
}

TEST(budgets_are_kept_exactly)
{
    static const int64_t budgets[] = {1, 31, 32, 33, TAP_REPEATS(157)};
    static const char *const names[] = {"portfolio", "two_level", "annealing", "random"};
    th_problem p = problem_of(f1, branches);
    for (int n = 0; n < 4; n++) {
        for (int i = 0; i < 5; i++) {
            th_search_options o = {.seed = 3, .evaluations = budgets[i], .threads = 1};
            auto_search *s = found(names[n], &p, &o);
            CU_ASSERT_EQUAL(s->n_evaluations, budgets[i]);
            CU_ASSERT_EQUAL(th_search_iterate(s, NULL), 0); /* done is done */
            CU_ASSERT_EQUAL(s->n_evaluations, budgets[i]);
        }
    }
}

/* A baseline ends by itself, or with the budget, and says which; then it has seen its first
 * mappings. */
TEST(a_budget_ends_a_baseline_early)
{
    th_problem p = problem_of(f1, branches);
    th_search_options o = {.threads = 1};
    auto_search *whole = found("uniform", &p, &o);
    int64_t all = whole->n_evaluations;
    CU_ASSERT_TRUE(all > 100 && !whole->is_out_of_budget);
    for (int64_t n = all - 1; n <= all + 1; n++) {
        o.evaluations = n;
        auto_search *s = found("uniform", &p, &o);
        CU_ASSERT_EQUAL(s->n_evaluations, n < all ? n : all);
        CU_ASSERT_EQUAL(s->is_out_of_budget, n < all);
        CU_ASSERT_TRUE(s->best_fitness.value >= whole->best_fitness.value);
    }
}

/* A few evaluations of the default search are those of dp, so they are near what the baselines
 * find; with a budget that all of these fit into it is behind none. */
TEST(a_short_portfolio_is_good_already)
{
    th_problem p = problem_of(f1, alexnet);
    th_search_options none = {.threads = 1}, few = {.seed = 1, .evaluations = 20, .threads = 1},
                      many = {.seed = 1, .evaluations = 500, .threads = 1};
    auto_search *dp = found("dp", &p, &few), *brief = found("portfolio", &p, &few),
                *long_one = found("portfolio", &p, &many);
    CU_ASSERT_EQUAL(brief->best_fitness.value, dp->best_fitness.value);
    for (int i = 0; th_search_types[i]; i++) {
        const char *name = th_search_types[i]->name;
        if (!th_search_types[i]->is_baseline || strcmp(name, "h2h") == 0)
            continue;
        auto_search *baseline = found(name, &p, &none);
        CU_ASSERT_TRUE(long_one->best_fitness.value <= baseline->best_fitness.value);
        CU_ASSERT_TRUE(brief->best_fitness.value <= 1.05 * baseline->best_fitness.value);
    }
}

/* On a large system greedy comes first, and dynamic programming is left out where it is far above:
 * the result is behind neither, on any number of threads. */
TEST(a_portfolio_on_a_large_system_begins_with_greedy)
{
    auto_system *torus = generated("torus", (const int[]){8, 4}, 2);
    th_problem p = problem_of(torus, branches);
    th_search_options o = {.seed = 1, .evaluations = 30, .threads = 1};
    auto_search *one = found("portfolio", &p, &o), *greedy = found("greedy", &p, &o);
    o.threads = 2;
    auto_search *two = found("portfolio", &p, &o);
    assert_same(one, two);
    TAP_ASSERT_TEXT(one->improvements.at[0].found_by->name, "greedy");
    CU_ASSERT_EQUAL(one->improvements.at[0].evaluation, 1);
    CU_ASSERT_TRUE(one->best_fitness.value <= greedy->best_fitness.value);
}

/* A budget of time: the evaluations that it took give the same. */
TEST(evaluations_give_what_time_gave)
{
    static const char *const names[] = {"portfolio", "two_level", "annealing"};
    th_problem p = problem_of(f1, branches);
    for (int n = 0; n < 3; n++) {
        th_search_options o = {.seed = 4, .seconds = 0.02, .threads = 1};
        auto_search *timed = found(names[n], &p, &o);
        o.seconds = 0;
        o.evaluations = timed->n_evaluations;
        auto_search *counted = found(names[n], &p, &o);
        CU_ASSERT_TRUE(counted->best_fitness.value == timed->best_fitness.value &&
                       counted->n_evaluations == timed->n_evaluations &&
                       counted->best_found_at == timed->best_found_at &&
                       th_mapping_equal(counted->best, timed->best));
    }
}

/* The default budget is one of work: the same end on any number of threads; the evaluations that it
 * took give the same; and it ends where nothing was gained for a third of it. A sixtieth of it
 * here. */
TEST(evaluations_give_what_the_default_budget_gave)
{
    enum { WORK = TAP_REPEATS(1000000) };
    auto_system *small = system_of(RANDOM_TOPOLOGY("type = \"ring\"; dims = [4];"));
    const th_problem problems[] = {problem_of(f1, branches), problem_of(f1, alexnet),
                                   problem_of(small, alexnet)};
    for (int i = 0; i < 3; i++) {
        th_search_options o = {.seed = 6, .threads = 1};
        auto_search *one = search_of("portfolio", &problems[i], &o);
        o.threads = 4;
        auto_search *four = search_of("portfolio", &problems[i], &o);
        CU_ASSERT_TRUE(one->work_budget < INT64_MAX && one->work_budget == four->work_budget);
        one->work_budget = four->work_budget = WORK;
        double least = INFINITY;
        int64_t gained = 0; /* the work when the best was found */
        while (!one->done || !four->done) {
            if (th_search_iterate(one, NULL) || th_search_iterate(four, NULL))
                break;
            if (one->best && one->best_fitness.value < least) {
                least = one->best_fitness.value;
                gained = one->work;
            }
        }
        assert_same(one, four);
        CU_ASSERT_TRUE(one->work >= WORK || one->work - gained >= WORK / 3);
        o = (th_search_options){.seed = 6, .evaluations = one->n_evaluations, .threads = 1};
        auto_search *counted = found("portfolio", &problems[i], &o);
        CU_ASSERT_TRUE(counted->best_fitness.value == one->best_fitness.value &&
                       counted->n_evaluations == one->n_evaluations && counted->work == one->work &&
                       counted->best_found_at == one->best_found_at &&
                       th_mapping_equal(counted->best, one->best));
    }
}

/* Where a search stood after a batch. */
typedef struct {
    int64_t evaluations;
    th_mapping *best;
    double value;
} standing;

static void assert_ends_there(const th_search *whole, const standing *at)
{
    th_search_options o = whole->options;
    o.seconds = 0;
    o.evaluations = at->evaluations;
    o.threads = 1 + (int)(at->evaluations % 2);
    auto_search *s = found(whole->type->name, &whole->problem, &o);
    bool is_same = s->n_evaluations == at->evaluations && s->best_fitness.value == at->value &&
                   th_mapping_equal(s->best, at->best);
    CU_ASSERT_TRUE(is_same);
    if (!is_same)
        printf("# %s: after %lld evaluations %g; as a budget %lld evaluations, %g\n",
               whole->type->name, (long long)at->evaluations, at->value,
               (long long)s->n_evaluations, s->best_fitness.value);
}

/* After the batches 1 2 4 7 11 17 ... */
static void check_ends(const th_search_type *type, const th_problem *p)
{
    enum { LAST = TAP_REPEATS(40) };
    th_search_options o = {.seed = 5, .seconds = 1e6, .threads = 2};
    auto_search *s = search_of(type->name, p, &o);
    for (int next = 1; !s->done && next <= LAST && th_search_iterate(s, NULL) == 0;) {
        if (s->n_batches < next || !s->best)
            continue;
        standing at = {s->n_evaluations, s->best, s->best_fitness.value};
        assert_ends_there(s, &at);
        next += 1 + next / 2;
    }
}

/* Wherever a search is stopped, its evaluations are a budget that gives the same again. On the
 * small system exhaustive goes through all mappings. */
TEST(any_end_is_that_of_a_budget)
{
    auto_system *small = system_of(RANDOM_TOPOLOGY("type = \"ring\"; dims = [4];"));
    auto_workload *few =
        workload_of("name = \"few\"; batch = 1; input = { channels = 3; height = 6; width = 6; };"
                    "layers = ({ name = \"a\"; type = \"conv\"; outputs = 4; },"
                    "{ name = \"b\"; type = \"conv\"; outputs = 2; });");
    const th_problem problems[] = {problem_of(f1, branches), problem_of(small, few)};
    for (int k = 0; k < 2; k++)
        for (int i = 0; th_search_types[i]; i++)
            if (k == 1 || strcmp(th_search_types[i]->name, "exhaustive") != 0)
                check_ends(th_search_types[i], &problems[k]);
}

TEST(the_table_is_in_order)
{
    for (int i = 0; th_search_types[i]; i++)
        CU_ASSERT_PTR_EQUAL(th_search_find(th_search_types[i]->name), th_search_types[i]);
    TAP_ASSERT_TEXT(th_search_types[0]->name, "portfolio");
    CU_ASSERT_PTR_NULL(th_search_find("two"));
    CU_ASSERT_TRUE(th_search_find("uniform")->is_baseline &&
                   !th_search_find("random")->is_baseline);
}

/* --- two_level -------------------------------------------------------------------------------- */

TEST(two_level_beats_baselines_and_chance)
{
    th_problem p = problem_of(f1, alexnet);
    th_search_options o = {.seed = 1, .evaluations = 600, .threads = 2};
    auto_search *two = found("two_level", &p, &o), *random = found("random", &p, &o),
                *baseline = found("computation_prioritized", &p, &o),
                *uniform = found("uniform", &p, &o);
    printf("# alexnet on f1_16xlarge, ms: two_level %.3f, random %.3f, uniform %.3f, "
           "computation_prioritized %.3f\n",
           two->best_fitness.value * 1e-9, random->best_fitness.value * 1e-9,
           uniform->best_fitness.value * 1e-9, baseline->best_fitness.value * 1e-9);
    CU_ASSERT_TRUE(two->best_fitness.value <= baseline->best_fitness.value);
    CU_ASSERT_TRUE(two->best_fitness.value <= uniform->best_fitness.value);
    CU_ASSERT_TRUE(two->best_fitness.value <= random->best_fitness.value);
    CU_ASSERT_TRUE(two->n_evaluations == 600 && random->n_evaluations == 600);
}

/* Both begin at the same mappings, and have as many evaluations; sometimes it finds more. */
TEST(two_level_is_never_behind_chance_with_the_same_seeds)
{
    auto_system *few = system_of(
        "name = \"few\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [4]; "
                                                  "bandwidth = \"8Gbps\"; latency = \"1us\"; };");
    const struct {
        const th_system *system;
        const th_workload *workload;
    } small[] = {{f1, branches}, {few, branches}};
    int ahead = 0;
    for (int i = 0; i < 2; i++) {
        th_problem p = problem_of(small[i].system, small[i].workload);
        for (uint64_t seed = 1; seed <= TAP_REPEATS(6); seed++) {
            th_search_options o = {
                .seed = seed, .evaluations = 200, .threads = 1, .initial = TH_INITIAL_HEURISTIC};
            auto_search *two = found("two_level", &p, &o), *random = found("random", &p, &o);
            CU_ASSERT_EQUAL(two->n_evaluations, random->n_evaluations);
            CU_ASSERT_TRUE(two->best_fitness.value <= random->best_fitness.value);
            ahead += two->best_fitness.value < random->best_fitness.value;
        }
    }
    CU_ASSERT_TRUE(ahead > 0);
}

TEST(sets_stay_inside_groups_when_asked_to)
{
    th_problem p = problem_of(f1, branches);
    for (int n = 0; th_search_types[n]; n++) {
        if (strcmp(th_search_types[n]->name, "exhaustive") == 0)
            continue; /* too large */
        th_search_options o = {
            .seed = 1, .evaluations = 200, .threads = 1, .sets_inside_groups = true};
        auto_search *s = search_of(th_search_types[n]->name, &p, &o);
        while (!s->done) {
            CU_ASSERT_EQUAL_FATAL(th_search_iterate(s, NULL), 0);
            for (int i = 0; s->best && i < s->best->n_sets; i++)
                for (int a = 1; a < s->best->sets[i].n_accels; a++)
                    CU_ASSERT_EQUAL(s->best->sets[i].accels[a] / 4, s->best->sets[i].accels[0] / 4);
        }
    }
}

/* A stream of 6: the time between inputs; never worse than the baseline's mapping, and better than
 * what the search for latency finds. */
TEST(searches_for_throughput)
{
    th_problem p = problem_of(f1, branches), q = p;
    p.stream.n_inputs = 6;
    p.objective = TH_OBJECTIVE_THROUGHPUT;
    th_search_options o = {.seed = 1, .evaluations = 300, .threads = 2};
    auto_search *s = found("two_level", &p, &o),
                *baseline = found("computation_prioritized", &p, &o),
                *latency = found("two_level", &q, &o);
    CU_ASSERT_EQUAL(fitness_of(&p, s->best), s->best_fitness.value);
    CU_ASSERT_TRUE(s->best_fitness.value <= baseline->best_fitness.value);
    CU_ASSERT_TRUE(s->best_fitness.value <= fitness_of(&p, latency->best));
    CU_ASSERT_EQUAL(s->counts.stopped_early, 0);
}

TEST(micro_batches_bound_the_strategies)
{
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 5; input = { channels = 6; height = 10; width = 10; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; },"
        "{ name = \"b\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; } );");
    th_problem p = problem_of(f1, w);
    p.stream = (th_stream){2, 0, 3, 0}; /* 1, 2 and 2 images: B cannot be split */
    for (int i = 0; th_search_types[i]; i++) {
        th_search_options o = {.seed = 1, .evaluations = 100, .threads = 1};
        auto_search *s = found(th_search_types[i]->name, &p, &o);
        CU_ASSERT_EQUAL(s->counts.infeasible, 0);
        for (int l = 0; l < 2; l++)
            CU_ASSERT_EQUAL(s->best->strategy[l].split[TH_DIM_B], 1);
    }
}

/* One layer: sets and boundaries have nothing to be moved. */
TEST(one_layer_is_enough)
{
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 64; height = 14; width = 14; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 96; kernel = 3; padding = 1; } );");
    th_problem p = problem_of(f1, w);
    for (int i = 0; th_search_types[i]; i++) {
        th_search_options o = {.seed = 1, .evaluations = 400, .threads = 1};
        th_search_free(found(th_search_types[i]->name, &p, &o));
    }
}

/* 24 MiB for each of eight, and 85 MiB of weights: dynamic programming finds splits of all eight,
 * in three orders, and of four that fit, where the fastest do not. */
TEST(seeds_fit_into_little_memory)
{
    auto_system *s = shipped_system("f1_16xlarge_small");
    auto_workload *w = shipped_workload("resnet101");
    th_problem p = problem_of(s, w);
    th_search_options o = {.seed = 1, .evaluations = 4, .threads = 1};
    auto_search *x = found("dp", &p, &o);
    CU_ASSERT_EQUAL(x->counts.infeasible, 0);
}

/* Nothing but a pool: no layer with weights, so no offspring. */
TEST(layers_without_weights_alone)
{
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 8; height = 14; width = 14; }; layers = ( "
        "{ name = \"a\"; type = \"max_pool\"; kernel = 2; }, { name = \"b\"; type = \"relu\"; } "
        ");");
    th_problem p = problem_of(f1, w);
    for (int i = 0; th_search_types[i]; i++) {
        th_search_options o = {.seed = 1, .evaluations = 100, .threads = 1};
        th_search_free(found(th_search_types[i]->name, &p, &o));
    }
}

/* --- failure ---------------------------------------------------------------------------------- */

static th_problem searched;

static int search_once(const void *type, th_error *e)
{
    th_search_options o = {.seed = 1, .evaluations = 40, .threads = 1};
    auto_search *s = th_search_new(type, &searched, &o, e);
    int failed = s ? 0 : -1;
    while (s && !failed && !s->done)
        failed = th_search_iterate(s, e);
    return failed;
}

TEST(out_of_memory_leaks_nothing)
{
    auto_system *s = system_of("name = \"t\"; " MAP_HELP_ACCEL(
        "1GiB") "topology = { type = \"ring\"; "
                "dims = [4]; bandwidth = \"8Gbps\"; latency = \"100ns\"; };");
    searched = problem_of(s, branches);
    for (int i = 0; th_search_types[i]; i++)
        CU_ASSERT_TRUE(fail_each_allocation(search_once, th_search_types[i]) > 20);
}

TAP_MAIN_WITH("search", make_search_cases)
