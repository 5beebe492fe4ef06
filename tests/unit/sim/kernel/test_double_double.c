/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_double_double.c - against integers of 128 bits. */
#include <config.h>
#include "sim/kernel/double_double.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

/* Of values below 2^106, whose two doubles hold all digits. */
static __int128 whole(th_double_double x)
{
    return (__int128)x.hi + (__int128)x.lo;
}

/* 53 digits times 53, and 53 digits times the 63 of an integer that is a multiple of 2^10. */
TEST(products_are_exact)
{
    auto_rng *r = th_random_stream(1, "double_double", 0);
    int wrong = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t a = pick(r, 1, INT64_C(1) << 53), b = pick(r, 1, INT64_C(1) << 53);
        wrong += whole(th_dd_product((double)a, (double)b)) != (__int128)a * b;
        wrong += whole(th_dd_times((double)a, b)) != (__int128)a * b;
        a >>= pick(r, 10, 40);
        b = (b << 9) + 1;
        wrong += whole(th_dd_times((double)a, b)) != (__int128)a * b;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* 2^100 + 1 - 2^100 is 1, which doubles lose; and 1 ps at 1/3 GB/s, a million times over, brings as
 * much as a million ps at once. */
TEST(sums_keep_what_doubles_lose)
{
    th_double_double big = th_dd_sum(0x1p100, 1), sum = {1e13, 0};
    CU_ASSERT_EQUAL(th_dd_subtract(big, (th_double_double){0x1p100, 0}).hi, 1);
    const double level = 1e9 / 3;
    for (int i = 0; i < 1000000; i++)
        sum = th_dd_add(sum, th_dd_times(level, 1));
    th_double_double at_once = th_dd_times(level, 1000000);
    sum = th_dd_subtract(sum, (th_double_double){1e13, 0});
    CU_ASSERT_TRUE(fabs(th_dd_subtract(sum, at_once).hi) < 1e-9);
}

TEST(the_lower_half_decides)
{
    th_double_double a = th_dd_sum(1e20, 1), b = th_dd_sum(1e20, 2);
    CU_ASSERT_TRUE(a.hi == b.hi && th_dd_is_less(a, b));
    CU_ASSERT_FALSE(th_dd_is_less(b, a));
    CU_ASSERT_FALSE(th_dd_is_less(a, a));
}

TAP_MAIN("double_double")
