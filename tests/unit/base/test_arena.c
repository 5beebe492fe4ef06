/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "tests/unit/tap.h"
#include <stdint.h>

TEST(aligns_every_piece)
{
    th_arena *a = th_arena_new();
    for (size_t size = 0; size < 200; size += 7) {
        unsigned char *piece = th_arena_alloc(a, size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(piece);
        CU_ASSERT_EQUAL((uintptr_t)piece % 16, 0);
        memset(piece, 0xA5, size);
    }
    th_arena_free(a);
}

/* 4000 pieces of 100 bytes cross several blocks; none may touch another. */
TEST(keeps_pieces_apart)
{
    enum { N = 4000, SIZE = 100 };
    th_arena *a = th_arena_new();
    unsigned char *piece[N];
    for (int i = 0; i < N; i++) {
        piece[i] = th_arena_alloc(a, SIZE);
        memset(piece[i], i % 251, SIZE);
    }
    int n_wrong = 0;
    for (int i = 0; i < N; i++)
        n_wrong += piece[i][0] != i % 251 || piece[i][SIZE - 1] != i % 251;
    CU_ASSERT_EQUAL(n_wrong, 0);
    th_arena_free(a);
}

TEST(gives_pieces_larger_than_a_block)
{
    th_arena *a = th_arena_new();
    char *small = th_arena_string(a, "tile");
    char *large = th_arena_alloc(a, 1000000);
    memset(large, 'x', 1000000);
    char *next = th_arena_string(a, "fold");
    TAP_ASSERT_TEXT(small, "tile");
    TAP_ASSERT_TEXT(next, "fold");
    th_arena_free(a);
}

TEST(reuses_its_blocks_after_reset)
{
    th_arena *a = th_arena_new();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            memset(th_arena_alloc(a, 5000), round, 5000);
        static int64_t live;
        if (round == 0)
            live = th_alloc_live();
        CU_ASSERT_EQUAL(th_alloc_live(), live);
        th_arena_reset(a);
    }
    th_arena_free(a);
}

/* Beyond some blocks they are larger ones; which are kept, too, and not mixed up. */
TEST(serves_large_users)
{
    enum { N = 1700, SIZE = 5000 }; /* some 8 MB */
    static unsigned char *piece[N];
    th_arena *a = th_arena_new();
    int64_t live = 0;
    for (int round = 0; round < 3; round++) {
        int n_wrong = 0;
        for (int i = 0; i < N; i++) {
            piece[i] = th_arena_alloc(a, SIZE);
            CU_ASSERT_PTR_NOT_NULL_FATAL(piece[i]);
            memset(piece[i], (i + round) % 251, SIZE);
        }
        for (int i = 0; i < N; i++)
            n_wrong += piece[i][0] != (i + round) % 251 || piece[i][SIZE - 1] != (i + round) % 251;
        CU_ASSERT_EQUAL(n_wrong, 0);
        live = round == 0 ? th_alloc_live() : live;
        CU_ASSERT_EQUAL(th_alloc_live(), live);
        th_arena_reset(a);
    }
    th_arena_free(a);
}

TEST(survives_failure)
{
    int64_t live = th_alloc_live();
    th_alloc_fail_at(1);
    CU_ASSERT_PTR_NULL(th_arena_new());
    th_arena *a = th_arena_new();
    th_alloc_fail_at(1);
    CU_ASSERT_PTR_NULL(th_arena_alloc(a, 10));
    CU_ASSERT_PTR_NULL(th_arena_alloc(a, SIZE_MAX - 3));
    CU_ASSERT_PTR_NULL(th_arena_alloc(a, SIZE_MAX - 20));
    char *text = th_arena_string(a, "stall");
    TAP_ASSERT_TEXT(text, "stall");
    th_arena_free(a);
    th_arena_free(NULL);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

TAP_MAIN("arena")
