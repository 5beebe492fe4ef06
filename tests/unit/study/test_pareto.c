/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "study/pareto.h"
#include "base/alloc.h"
#include "base/random.h"
#include "tests/unit/tap.h"

enum { N_MAX = 300, OBJECTIVES_MAX = 4 };

/* By the definition: every pair. */
static bool is_dominated(const double *values, size_t n, int n_objectives, size_t i)
{
    for (size_t j = 0; j < n; j++) {
        bool no_worse = true, better = false;
        for (int k = 0; k < n_objectives; k++) {
            double a = values[j * (size_t)n_objectives + (size_t)k];
            double b = values[i * (size_t)n_objectives + (size_t)k];
            no_worse = no_worse && a <= b;
            better = better || a < b;
        }
        if (no_worse && better)
            return true;
    }
    return false;
}

/* (3, 1) and (1, 3) beat nobody of each other; (2, 2) stands between; (3, 2) and (2, 3) are beaten.
 */
TEST(knows_a_front_by_hand)
{
    static const double values[] = {3, 1, 3, 2, 2, 2, 1, 3, 2, 3};
    static const bool expected[] = {true, false, true, true, false};
    bool is_in[5];
    CU_ASSERT_EQUAL(th_pareto_front(values, 5, 2, is_in), 0);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(is_in[i], expected[i]);
}

TEST(keeps_equals_together)
{
    static const double values[] = {2, 2, 1, 5, 2, 2, 7, 7, 7, 7};
    bool is_in[5];
    CU_ASSERT_EQUAL(th_pareto_front(values, 5, 2, is_in), 0);
    CU_ASSERT_TRUE(is_in[0] && is_in[1] && is_in[2]);
    CU_ASSERT_FALSE(is_in[3] || is_in[4]);
}

TEST(takes_one_objective_and_none)
{
    static const double values[] = {4, 3, 3, 9};
    bool is_in[4];
    CU_ASSERT_EQUAL(th_pareto_front(values, 4, 1, is_in), 0);
    CU_ASSERT_TRUE(!is_in[0] && is_in[1] && is_in[2] && !is_in[3]);
    CU_ASSERT_EQUAL(th_pareto_front(values, 0, 2, is_in), 0);
}

/* Few different values, so that ties are many. */
TEST(agrees_with_every_pair)
{
    static double values[N_MAX * OBJECTIVES_MAX];
    bool is_in[N_MAX];
    gsl_rng *r = th_random_stream(5, "pareto", 0);
    int wrong = 0;
    for (int round = 0; round < 60; round++) {
        int n_objectives = 1 + (int)th_random_below(r, OBJECTIVES_MAX);
        size_t n = 1 + th_random_below(r, N_MAX);
        uint64_t levels = 2 + th_random_below(r, 40);
        for (size_t i = 0; i < n * (size_t)n_objectives; i++)
            values[i] = (double)th_random_below(r, levels) - 10;
        CU_ASSERT_EQUAL(th_pareto_front(values, n, n_objectives, is_in), 0);
        for (size_t i = 0; i < n; i++)
            wrong += is_in[i] == is_dominated(values, n, n_objectives, i);
    }
    gsl_rng_free(r);
    CU_ASSERT_EQUAL(wrong, 0);
}

TEST(survives_a_lack_of_memory)
{
    static const double values[] = {1, 2};
    bool is_in[2];
    th_alloc_fail_at(1);
    CU_ASSERT_EQUAL(th_pareto_front(values, 2, 1, is_in), -1);
    th_alloc_fail_at(0);
}

TAP_MAIN("pareto")
