/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "topology/name_index.h"
#include "base/alloc.h"
#include "tests/unit/tap.h"
#include <stdio.h>

typedef struct thing {
    const char *name;
    int other;
} thing;

enum { N = 3000 };

static char texts[N][8];
static thing things[N];
static const th_named named = {things, sizeof things[0]};

static void name_things(void)
{
    for (int i = 0; i < N; i++) {
        snprintf(texts[i], sizeof texts[i], "n%d", i * 7);
        things[i] = (thing){texts[i], i};
    }
}

static void finds_what_was_added(void)
{
    th_name_index x = {0};
    name_things();
    CU_ASSERT_EQUAL(th_name_index_find(&x, named, "n0"), -1);
    for (int i = 0; i < N; i++) {
        CU_ASSERT_EQUAL(th_name_index_find(&x, named, texts[i]), -1);
        CU_ASSERT_EQUAL(th_name_index_add(&x, named, i), 0);
    }
    CU_ASSERT_EQUAL(x.n, N);
    for (int i = 0; i < N; i++)
        CU_ASSERT_EQUAL(th_name_index_find(&x, named, texts[i]), i);
    CU_ASSERT_EQUAL(th_name_index_find(&x, named, "n1"), -1);
    CU_ASSERT_EQUAL(th_name_index_find(&x, named, ""), -1);
    th_name_index_clear(&x);
    CU_ASSERT_EQUAL(th_name_index_find(&x, named, "n0"), -1);
}

/* An add that fails leaves what was there, and works when tried again. */
static void survives_every_failing_allocation(void)
{
    int64_t live = th_alloc_live();
    th_name_index x = {0};
    int n_failed = 0;
    name_things();
    for (int i = 0; i < N; i++) {
        th_alloc_fail_at(1);
        if (th_name_index_add(&x, named, i) < 0) {
            n_failed++;
            CU_ASSERT_EQUAL(x.n, i);
            CU_ASSERT_EQUAL(i > 0 ? th_name_index_find(&x, named, texts[i - 1]) : -1, i - 1);
            CU_ASSERT_EQUAL(th_name_index_add(&x, named, i), 0);
        }
    }
    th_alloc_fail_at(0);
    CU_ASSERT_EQUAL(n_failed, 10); /* 16, 32, ... 8,192 slots, half of them taken */
    th_name_index_clear(&x);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {TAP(finds_what_was_added),
                                     TAP(survives_every_failing_allocation), TAP_END};
    return tap_main("name_index", tests, argc, argv);
}
