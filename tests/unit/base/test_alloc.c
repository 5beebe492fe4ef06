/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "tests/unit/tap.h"
#include <stdint.h>

TEST(counts_live_blocks_and_calls)
{
    int64_t live = th_alloc_live(), calls = th_alloc_calls();
    void *a = th_alloc(3), *b = th_alloc_zero(4, 5), *c = th_alloc_array(6, 7);
    CU_ASSERT_EQUAL(th_alloc_live(), live + 3);
    CU_ASSERT_EQUAL(th_alloc_calls(), calls + 3);
    th_free(a);
    th_free(b);
    th_free(c);
    th_free(NULL);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

TEST(clears_when_asked)
{
    unsigned char *a = th_alloc_zero(100, 3);
    int sum = 0;
    for (int i = 0; i < 300; i++)
        sum += a[i];
    CU_ASSERT_EQUAL(sum, 0);
    th_free(a);
}

TEST(gives_a_block_for_zero_bytes)
{
    void *a = th_alloc(0), *b = th_alloc_zero(0, 8), *c = th_alloc_array(0, 8);
    CU_ASSERT(a && b && c);
    a = th_realloc_array(a, 0, 8);
    CU_ASSERT_PTR_NOT_NULL(a);
    th_free(a);
    th_free(b);
    th_free(c);
}

TEST(refuses_sizes_that_overflow)
{
    int *block = th_alloc_array(2, sizeof *block);
    CU_ASSERT_PTR_NULL(th_alloc_array(SIZE_MAX / 2, 3));
    CU_ASSERT_PTR_NULL(th_alloc_zero(SIZE_MAX / 2, 3));
    CU_ASSERT_PTR_NULL(th_realloc_array(block, SIZE_MAX / 2, 3));
    th_free(block);
}

TEST(copies_text)
{
    char *copy = th_alloc_string("folds");
    TAP_ASSERT_TEXT(copy, "folds");
    th_free(copy);
}

TEST(fails_the_kth_call_alone)
{
    void *block[4];
    th_alloc_fail_at(3);
    for (int i = 0; i < 4; i++)
        block[i] = th_alloc(8);
    CU_ASSERT(block[0] && block[1] && !block[2] && block[3]);
    for (int i = 0; i < 4; i++)
        th_free(block[i]);
    th_alloc_fail_at(1);
    th_alloc_fail_at(0);
    void *after = th_alloc(8);
    CU_ASSERT_PTR_NOT_NULL(after);
    th_free(after);
}

/* From 0: 1 -> 8 (the first size), 9 -> 16 (doubled), 100 -> 100 (more than double). */
TEST(grows_by_doubling)
{
    int *block = NULL;
    size_t capacity = 0;
    CU_ASSERT_EQUAL(th_grow(&block, &capacity, 1, sizeof *block), 0);
    CU_ASSERT_EQUAL(capacity, 8);
    block[7] = 41;
    CU_ASSERT_EQUAL(th_grow(&block, &capacity, 9, sizeof *block), 0);
    CU_ASSERT_EQUAL(capacity, 16);
    CU_ASSERT_EQUAL(block[7], 41);
    CU_ASSERT_EQUAL(th_grow(&block, &capacity, 100, sizeof *block), 0);
    CU_ASSERT_EQUAL(capacity, 100);
    CU_ASSERT_EQUAL(th_grow(&block, &capacity, 100, sizeof *block), 0);
    CU_ASSERT_EQUAL(capacity, 100);
    th_free(block);
}

TEST(keeps_all_when_growing_fails)
{
    int *block = NULL;
    size_t capacity = 0;
    th_alloc_fail_at(1);
    CU_ASSERT_EQUAL(th_grow(&block, &capacity, 1, sizeof *block), -1);
    CU_ASSERT_PTR_NULL(block);
    CU_ASSERT_EQUAL(capacity, 0);
    CU_ASSERT_EQUAL(th_grow(&block, &capacity, 1, sizeof *block), 0);
    int *before = block;
    CU_ASSERT_EQUAL(th_grow(&block, &capacity, SIZE_MAX / 2, sizeof *block), -1);
    CU_ASSERT_PTR_EQUAL(block, before);
    CU_ASSERT_EQUAL(capacity, 8);
    th_free(block);
}

TAP_MAIN("alloc")
