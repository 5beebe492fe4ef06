/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/kernel/ready_queue.h"
#include "base/alloc.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

enum { VALUES = 50 };

static int32_t least_of(const int *count)
{
    for (int32_t v = 0; v < VALUES; v++)
        if (count[v] > 0)
            return v;
    return -1;
}

/* Against counts of each value; a value may be there several times. */
TEST(the_lowest_leaves_first)
{
    auto_rng *r = th_random_stream(3, "least first", 0);
    th_ready_queue q = {0};
    int count[VALUES] = {0}, wrong = 0;
    for (int i = 0; i < 20000; i++) {
        if (q.n > 0 && pick(r, 0, i / 100 % 2 ? 3 : 1) == 0) {
            int32_t expected = least_of(count);
            wrong += th_ready_queue_peek(&q) != expected || th_ready_queue_take(&q) != expected;
            count[expected]--;
        } else {
            int32_t value = (int32_t)pick(r, 0, VALUES - 1);
            wrong += th_ready_queue_add(&q, value) != 0;
            count[value]++;
        }
    }
    while (q.n > 0)
        count[th_ready_queue_take(&q)]--;
    CU_ASSERT_EQUAL(least_of(count), -1);
    CU_ASSERT_EQUAL(wrong, 0);
    th_ready_queue_clear(&q);
}

TEST(an_add_without_memory_changes_nothing)
{
    th_ready_queue q = {0};
    th_alloc_fail_at(1);
    CU_ASSERT_EQUAL(th_ready_queue_add(&q, 4), -1);
    CU_ASSERT_TRUE(q.n == 0 && th_ready_queue_add(&q, 4) == 0 && th_ready_queue_take(&q) == 4);
    th_ready_queue_clear(&q);
}

TAP_MAIN("least_first")
