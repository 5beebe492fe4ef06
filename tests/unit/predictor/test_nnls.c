/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/random.h"
#include "predictor/law/nnls.h"
#include "tests/unit/tap.h"

enum { COLUMNS_MAX = 12 };

static void normal_equations(const double *a, const double *b, int rows, int n, double *gram,
                             double *moment)
{
    for (int i = 0; i < n; i++) {
        moment[i] = 0;
        for (int r = 0; r < rows; r++)
            moment[i] += a[r * n + i] * b[r];
        for (int j = 0; j < n; j++) {
            gram[i * n + j] = 0;
            for (int r = 0; r < rows; r++)
                gram[i * n + j] += a[r * n + i] * a[r * n + j];
        }
    }
}

/* Two points (1, 2) and (2, 3): y = 1 + x. Forbidden to go down: (1, 3), (2, 2) has slope -1, so
 * the constant alone is left, their mean 2.5. */
TEST(lines_by_hand)
{
    const double a[] = {1, 1, 1, 2}, up[] = {2, 3}, down[] = {3, 2};
    double gram[4], moment[2], x[2];
    normal_equations(a, up, 2, 2, gram, moment);
    CU_ASSERT_EQUAL(th_nnls_solve(gram, moment, 2, x), 0);
    CU_ASSERT_DOUBLE_EQUAL(x[0], 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(x[1], 1, 1e-9);
    normal_equations(a, down, 2, 2, gram, moment);
    CU_ASSERT_EQUAL(th_nnls_solve(gram, moment, 2, x), 0);
    CU_ASSERT_DOUBLE_EQUAL(x[0], 2.5, 1e-9);
    CU_ASSERT_EQUAL(x[1], 0);
}

TEST(equal_and_empty_columns_do_no_harm)
{
    const double a[] = {1, 1, 0, 2, 2, 0, 3, 3, 0}, b[] = {2, 4, 6};
    double gram[9], moment[3], x[3];
    normal_equations(a, b, 3, 3, gram, moment);
    CU_ASSERT_EQUAL(th_nnls_solve(gram, moment, 3, x), 0);
    CU_ASSERT_DOUBLE_EQUAL(x[0] + x[1], 2, 1e-9);
    CU_ASSERT_EQUAL(x[2], 0);
}

/* The conditions of Kuhn and Tucker: the gradient is 0 where x > 0, and points into the bound
 * elsewhere. */
TEST(meets_the_conditions_of_an_optimum)
{
    auto_rng *rng = th_random_stream(3, "nnls", 0);
    for (int k = 0; k < 200; k++) {
        int n = 1 + (int)th_random_below(rng, COLUMNS_MAX),
            rows = n + (int)th_random_below(rng, 30);
        double a[42 * COLUMNS_MAX], b[42], gram[COLUMNS_MAX * COLUMNS_MAX], moment[COLUMNS_MAX],
            x[COLUMNS_MAX];
        for (int i = 0; i < rows * n; i++)
            a[i] = th_random_unit(rng) - (k % 2 ? 0.5 : 0);
        for (int r = 0; r < rows; r++)
            b[r] = 2 * th_random_unit(rng) - 0.7;
        normal_equations(a, b, rows, n, gram, moment);
        CU_ASSERT_EQUAL(th_nnls_solve(gram, moment, n, x), 0);
        for (int i = 0; i < n; i++) {
            double gradient = -moment[i];
            for (int j = 0; j < n; j++)
                gradient += gram[i * n + j] * x[j];
            CU_ASSERT(x[i] >= 0 && gradient > -1e-6);
            CU_ASSERT(x[i] == 0 || fabs(gradient) < 1e-6);
        }
    }
}

TAP_MAIN("nnls")
