/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <float.h>
#include "base/elementary.h"
#include "base/random.h"
#include "tests/unit/tap.h"

static const double worst = 1e-15;

/* Numbers of all magnitudes, and near 1, where the logarithm vanishes. */
static double draw(gsl_rng *r, int i)
{
    double u = th_random_unit(r);
    return i % 2 == 0 ? ldexp(0.5 + u, (int)th_random_below(r, 1200) - 600)
                      : 1 + (u - 0.5) / (1 << i % 20);
}

TEST(logarithms_are_those_of_the_library_but_for_the_last_bits)
{
    auto_rng *r = th_random_stream(1, "elementary", 0);
    for (int i = 0; i < 100000; i++) {
        double x = draw(r, i), right = log(x);
        CU_ASSERT(fabs(th_log(x) - right) <= worst * fabs(right));
    }
    CU_ASSERT_EQUAL(th_log(1), 0);
    CU_ASSERT_EQUAL(th_log(0), -INFINITY);
    CU_ASSERT(fabs(th_log(DBL_MIN) - log(DBL_MIN)) < 1e-12);
}

TEST(exponentials_are_those_of_the_library_but_for_the_last_bits)
{
    auto_rng *r = th_random_stream(2, "elementary", 0);
    for (int i = 0; i < 100000; i++) {
        double x = (th_random_unit(r) - 0.5) * (i % 2 ? 1400 : 2), right = exp(x);
        CU_ASSERT(fabs(th_exp(x) - right) <= worst * right);
    }
    CU_ASSERT_EQUAL(th_exp(0), 1);
    CU_ASSERT_EQUAL(th_exp(-1000), 0);
    CU_ASSERT_EQUAL(th_exp(1000), INFINITY);
}

TEST(powers_are_exponentials_of_logarithms)
{
    CU_ASSERT(fabs(th_pow(2, 10) - 1024) < 1024 * 1e-14);
    CU_ASSERT(fabs(th_pow(8, 1.0 / 3) - 2) < 1e-14);
    CU_ASSERT(fabs(th_pow(1e-4, 0.25) - 0.1) < 1e-15);
    CU_ASSERT_EQUAL(th_pow(1, 12.5), 1);
}

/* Bits, not values: what every machine must get. */
TEST(the_last_bit_is_fixed)
{
    CU_ASSERT_EQUAL(th_log(2.0 / 3), -0x1.9f323ecbf984cp-2);
    CU_ASSERT_EQUAL(th_log(1e9 + 7), 0x1.4b927f34a104dp+4);
    CU_ASSERT_EQUAL(th_exp(0.1), 0x1.1aec7b35a00d4p+0);
    CU_ASSERT_EQUAL(th_exp(-20.25), 0x1.b93de1e27ca3bp-30);
    CU_ASSERT_EQUAL(th_pow(0.003, 0.7), 0x1.18ce13ad4780ep-6);
}

TAP_MAIN("elementary")
