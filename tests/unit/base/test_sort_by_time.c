/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/random.h"
#include "base/sort_by_time.h"
#include "tests/unit/tap.h"

TEST(nothing_and_one)
{
    th_timed one = {7, 3}, scratch;
    th_sort_by_time(NULL, 0, NULL);
    th_sort_by_time(&one, 1, &scratch);
    CU_ASSERT(one.at == 7 && one.number == 3);
}

TEST(equal_times_stay_as_they_are)
{
    th_timed all[] = {{5, 9}, {INT64_MAX, 0}, {5, 1}, {0, 4}, {5, 7}, {0, 2}}, scratch[6];
    static const int32_t want[] = {4, 2, 9, 1, 7, 0};
    th_sort_by_time(all, 6, scratch);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(all[i].number, want[i]);
}

static bool is_in_order(const th_timed *all, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (all[i - 1].at > all[i].at ||
            (all[i - 1].at == all[i].at && all[i - 1].number >= all[i].number))
            return false;
    return true;
}

/* Numbered as they come, so the order of equal times is that of the numbers; all are still there
 * where their times are what they were. */
TEST(random_times)
{
    enum { MOST = 3000 };
    static th_timed all[MOST], scratch[MOST];
    static th_time time_of[MOST];
    auto_rng *r = th_random_stream(1, "time order", 0);
    for (int round = 0; round < 63; round++) {
        size_t n = th_random_below(r, MOST);
        for (size_t i = 0; i < n; i++) {
            time_of[i] = (th_time)th_random_below(r, (uint64_t)1 << round);
            all[i] = (th_timed){time_of[i], (int32_t)i};
        }
        th_sort_by_time(all, n, scratch);
        CU_ASSERT(is_in_order(all, n));
        for (size_t i = 0; i < n; i++)
            CU_ASSERT_EQUAL(all[i].at, time_of[all[i].number]);
    }
}

TAP_MAIN("sort_by_time")
