/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_memory.c - blocks that are freed together: cleared, aligned, none lost, failure noted. */
#include <config.h>

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "tests/unit/tap.h"

TEST(blocks_are_cleared_aligned_and_freed_together)
{
    th_memory m = {NULL, false};
    const int64_t live = th_alloc_live();
    for (size_t n = 0; n < 300; n += 7) {
        unsigned char *bytes = th_memory_take(&m, n, 3), *begin = bytes;
        CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
        CU_ASSERT_EQUAL((uintptr_t)bytes % 16, 0);
        int sum = 0;
        for (; bytes < begin + 3 * n; bytes++)
            sum += *bytes;
        CU_ASSERT_EQUAL(sum, 0);
        memset(begin, 0xff, 3 * n);
    }
    CU_ASSERT_TRUE(th_alloc_live() > live);
    CU_ASSERT_FALSE(m.is_out);
    th_memory_free(&m);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    CU_ASSERT_PTR_NULL(m.last);
}

TEST(a_refused_block_is_noted_until_all_are_freed)
{
    th_memory m = {NULL, false};
    const int64_t live = th_alloc_live();
    CU_ASSERT_PTR_NOT_NULL(th_memory_take(&m, 1, 8));
    th_alloc_fail_at(1);
    CU_ASSERT_PTR_NULL(th_memory_take(&m, 1, 8));
    CU_ASSERT_PTR_NOT_NULL(th_memory_take(&m, 1, 8));
    CU_ASSERT_TRUE(m.is_out);
    th_memory_free(&m);
    CU_ASSERT_FALSE(m.is_out);
    if (TAP_STRIDE == 1) { /* sanitizers end the program there */
        CU_ASSERT_PTR_NULL(th_memory_take(&m, SIZE_MAX / 8, 8));
        CU_ASSERT_PTR_NULL(th_memory_take(&m, SIZE_MAX, 2));
        CU_ASSERT_TRUE(m.is_out);
    }
    th_memory_free(&m);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

TAP_MAIN("memory")
