/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_front.c - ranks and crowding distances on paper and against brute force; NSGA-II. */
#include <config.h>
#include "mapper/search/searches.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

/* Of two objectives: a staircase of four, one behind it, one behind that one, and a late one.
 *   rank 0: (1, 9) (2, 5) (4, 4) (9, 1)   rank 1: (4, 6)   rank 2: (5, 7)   rank 3: late (0, 0)
 * Crowding of (2, 5): (4 - 1) / 8 + (9 - 4) / 8 = 1; of (4, 4): (9 - 2) / 8 + (5 - 1) / 8 = 11 / 8.
 */
TEST(a_staircase_on_paper)
{
    th_point p[] = {{.value = {4, 6}}, {.value = {2, 5}},
                    {.value = {9, 1}}, {.value = {0, 0}, .lateness_ps = 1},
                    {.value = {1, 9}}, {.value = {5, 7}},
                    {.value = {4, 4}}};
    static const int32_t ranks[] = {1, 0, 0, 3, 0, 2, 0};
    CU_ASSERT_EQUAL(th_points_rank(p, 7, 2), 0);
    for (int i = 0; i < 7; i++)
        CU_ASSERT_EQUAL(p[i].rank, ranks[i]);
    CU_ASSERT_DOUBLE_EQUAL(p[1].crowding, 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(p[6].crowding, 1.375, 1e-12);
    for (int i = 0; i < 7; i++)
        if (i != 1 && i != 6)
            CU_ASSERT_TRUE(isinf(p[i].crowding));
}

TEST(late_points_stand_behind_and_by_lateness)
{
    th_point soon = {.value = {9, 9}}, late = {.value = {1, 1}, .lateness_ps = 5},
             later = {.value = {0, 0}, .lateness_ps = 6},
             also = {.value = {2, 0}, .lateness_ps = 5};
    CU_ASSERT_TRUE(th_point_dominates(&soon, &late, 2) && !th_point_dominates(&late, &soon, 2));
    CU_ASSERT_TRUE(th_point_dominates(&late, &later, 2));
    CU_ASSERT_FALSE(th_point_dominates(&late, &also, 2) || th_point_dominates(&also, &late, 2));
    CU_ASSERT_FALSE(th_point_dominates(&soon, &soon, 2));
}

/* The rank of a point is the longest chain of points that dominate each other above it. */
static int chain_above(const th_point *p, int n, int k, int n_values)
{
    int longest = 0;
    for (int i = 0; i < n; i++) {
        if (!th_point_dominates(&p[i], &p[k], n_values))
            continue;
        int chain = 1 + chain_above(p, n, i, n_values);
        longest = chain > longest ? chain : longest;
    }
    return longest;
}

TEST(ranks_are_the_longest_chains_above)
{
    auto_rng *r = th_random_stream(1, "ranks", 0);
    for (int round = 0; round < 200; round++) {
        th_point p[12] = {{{0}, 0, 0, 0}};
        int n = (int)pick(r, 1, 12), n_values = (int)pick(r, 1, 4);
        for (int i = 0; i < n; i++) {
            p[i].lateness_ps = pick(r, 0, 3) ? 0 : pick(r, 1, 2);
            for (int v = 0; v < n_values; v++)
                p[i].value[v] = (double)pick(r, 0, 5);
        }
        CU_ASSERT_EQUAL(th_points_rank(p, n, n_values), 0);
        for (int i = 0; i < n; i++)
            CU_ASSERT_EQUAL(p[i].rank, chain_above(p, n, i, n_values));
    }
}

/* --- the search ------------------------------------------------------------------------------- */

static th_system *costed;
static th_workload *alexnet;

static const th_goal pareto = {.objective = TH_OBJECTIVE_LATENCY,
                               .n_front = 2,
                               .front = {TH_OBJECTIVE_LATENCY, TH_OBJECTIVE_ENERGY}};

static th_search *search_for(const char *type, const th_goal *goal, int64_t evaluations,
                             int threads, th_error *err)
{
    th_problem p = {.system = costed, .workload = alexnet, .stream = th_stream_single};
    th_search_options o = th_search_defaults;
    o.evaluations = evaluations;
    o.threads = threads;
    p.goal = *goal;
    th_search *s = th_search_new(th_search_find(type), &p, &o, err);
    int failed = !s;
    while (!failed && !s->done)
        failed = th_search_iterate(s, err);
    if (!failed)
        return s;
    th_search_free(s);
    return NULL;
}

TEST(a_front_is_one)
{
    th_error e = {"", ""};
    auto_search *s = search_for("nsga2", &pareto, TAP_REPEATS(300), 1, &e),
                *t = search_for("nsga2", &pareto, TAP_REPEATS(300), 2, &e);
    CU_ASSERT_TRUE_FATAL(s && t);
    auto_front *f = th_nsga2_front(s, &e), *g = th_nsga2_front(t, &e);
    CU_ASSERT_TRUE(f->n >= 3 && f->n == g->n);
    CU_ASSERT_EQUAL((double)f->metrics[0].latency_ps, s->best_fitness.value);
    for (int i = 1; i < f->n; i++)
        CU_ASSERT_TRUE(f->metrics[i].latency_ps > f->metrics[i - 1].latency_ps &&
                       f->metrics[i].energy_j < f->metrics[i - 1].energy_j);
    for (int i = 0; i < f->n && i < g->n; i++)
        CU_ASSERT_TRUE(
            th_mapping_equal(f->mapping[i], g->mapping[i])); /* on any number of threads */
    th_evaluator *ev = th_pool_evaluator(s->pool);
    for (int i = 0; i < f->n; i++) {
        th_fitness again;
        CU_ASSERT_EQUAL(th_evaluator_run(ev, f->mapping[i], INFINITY, &again, &e), 0);
        CU_ASSERT_TRUE(again.metrics.latency_ps == f->metrics[i].latency_ps &&
                       again.metrics.energy_j == f->metrics[i].energy_j);
    }
}

/* Nothing that as many random mappings find dominates a member; each end is near that of a search
 * for it alone. */
TEST(a_front_is_good)
{
    th_error e = {"", ""};
    auto_search *s = search_for("nsga2", &pareto, 400, 1, &e);
    auto_front *f = th_nsga2_front(s, &e);
    double ends[2] = {(double)f->metrics[0].latency_ps, f->metrics[f->n - 1].energy_j};
    for (int i = 0; i < 2; i++) {
        th_goal alone = {.objective = pareto.front[i]};
        auto_search *chance = search_for("random", &alone, 400, 1, &e),
                    *by = search_for("two_level", &alone, 400, 1, &e);
        printf("# %s: front %g, two_level %g, random %g\n", th_objective_name((int)pareto.front[i]),
               ends[i], by->best_fitness.value, chance->best_fitness.value);
        CU_ASSERT_TRUE(ends[i] <= chance->best_fitness.value);
        CU_ASSERT_TRUE(ends[i] <= 1.1 * by->best_fitness.value);
    }
}

TEST(deadlines_cut_the_front)
{
    th_error e = {"", ""};
    auto_search *s = search_for("nsga2", &pareto, TAP_REPEATS(400), 1, &e);
    th_goal goal = pareto;
    goal.deadline_ps = s->best_fitness.metrics.latency_ps * 5 / 4;
    auto_search *t = search_for("nsga2", &goal, TAP_REPEATS(400), 1, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    auto_front *f = th_nsga2_front(t, &e);
    for (int i = 0; i < f->n; i++)
        CU_ASSERT_TRUE(f->metrics[i].latency_ps <= goal.deadline_ps);
}

TEST(others_find_no_front)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(search_for("random", &pareto, 10, 1, &e));
    TAP_ASSERT_ERROR(e, "MAP-0116",
                     "random: finds one mapping: a Pareto front is what nsga2 finds");
}

static void make_all(void)
{
    costed = shipped_system("f1_16xlarge_energy");
    alexnet = shipped_workload("alexnet");
}

TAP_MAIN_WITH("front", make_all)
