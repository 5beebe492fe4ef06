/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/random.h"
#include "tests/unit/tap.h"

static unsigned long first_of(uint64_t seed, const char *name, uint64_t index)
{
    auto_rng *r = th_random_stream(seed, name, index);
    unsigned long value = gsl_rng_get(r);
    return value;
}

/* Pinned: a seed in an old report must give the old numbers. */
TEST(streams_are_stable)
{
    auto_rng *r = th_random_stream(7, "genetic", 0);
    CU_ASSERT_EQUAL(gsl_rng_get(r), 43364149);
    CU_ASSERT_EQUAL(gsl_rng_get(r), 1690542308);
    CU_ASSERT_EQUAL(th_random_below(r, 1000), 530);
    CU_ASSERT_EQUAL((uint64_t)(th_random_unit(r) * 1e9), 768948288);
}

TEST(streams_differ_by_every_part_of_their_name)
{
    unsigned long value = first_of(7, "genetic", 0);
    CU_ASSERT_EQUAL(value, first_of(7, "genetic", 0));
    CU_ASSERT_NOT_EQUAL(value, first_of(8, "genetic", 0));
    CU_ASSERT_NOT_EQUAL(value, first_of(7ull << 32, "genetic", 0));
    CU_ASSERT_NOT_EQUAL(value, first_of(7, "genetid", 0));
    CU_ASSERT_NOT_EQUAL(value, first_of(7, "genetic", 1));
    CU_ASSERT_NOT_EQUAL(first_of(7, "genetic", 1), first_of(8, "genetic", 0));
}

/* 60000 dice: each face 10000 expected, standard deviation sqrt(60000 * 5/36) = 91; 5 of them =
 * 456. */
TEST(dice_are_fair)
{
    int count[6] = {0};
    auto_rng *r = th_random_stream(1, "dice", 0);
    for (int i = 0; i < 60000; i++)
        count[th_random_below(r, 6)]++;
    for (int face = 0; face < 6; face++)
        CU_ASSERT(count[face] > 10000 - 456 && count[face] < 10000 + 456);
}

TEST(below_covers_its_range)
{
    const uint64_t huge = (1ull << 63) + 1; /* almost half of all draws are rejected */
    auto_rng *r = th_random_stream(1, "range", 0);
    uint64_t greatest = 0;
    for (int i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL(th_random_below(r, 1), 0);
        uint64_t value = th_random_below(r, huge);
        CU_ASSERT(value < huge);
        greatest = value > greatest ? value : greatest;
    }
    CU_ASSERT(greatest > huge / 100 * 98);
}

/* Mean of 100000: 1/2 with standard deviation 1 / sqrt(12 * 100000) = 0.00091; 5 of them. */
TEST(unit_is_uniform)
{
    auto_rng *r = th_random_stream(1, "unit", 0);
    double sum = 0, least = 1, greatest = 0;
    for (int i = 0; i < 100000; i++) {
        double value = th_random_unit(r);
        sum += value;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
    }
    CU_ASSERT(least >= 0 && greatest < 1);
    CU_ASSERT_DOUBLE_EQUAL(sum / 100000, 0.5, 5 * 0.00091);
}

TAP_MAIN("random")
