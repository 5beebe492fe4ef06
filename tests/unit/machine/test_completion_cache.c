/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <pthread.h>
#include "base/alloc.h"
#include "sim/pipeline/completion_cache.h"
#include "tests/unit/tap.h"

enum { N = 3000 };

/* Digests with equal first words, and with equal last ones; neighbours in the table either way. */
static void digest_of(int i, uint64_t digest[2])
{
    digest[0] = (uint64_t)(i / 3) * 7;
    digest[1] = (uint64_t)(i % 3);
}

static int count_known(const th_completion_cache *k)
{
    int n = 0;
    for (int i = 0; i < N; i++) {
        uint64_t digest[2];
        digest_of(i, digest);
        const th_compute_completion *e = th_completion_cache_find(k, digest);
        CU_ASSERT_TRUE(!e || (e->end == 10 + i && e->stats.busy_ps == 5 * i));
        n += e != NULL;
    }
    return n;
}

static int keep(th_completion_cache *k, int i)
{
    uint64_t digest[2];
    digest_of(i, digest);
    th_compute_completion e = {.end = 10 + i, .stats.busy_ps = 5 * i};
    return th_completion_cache_add(k, digest, &e);
}

TEST(finds_what_was_kept)
{
    th_completion_cache *k = th_completion_cache_new(N);
    CU_ASSERT_EQUAL(count_known(k), 0);
    for (int i = 0; i < N; i++)
        CU_ASSERT_EQUAL(keep(k, i), 0);
    CU_ASSERT_EQUAL(count_known(k), N);
    th_completion_cache_free(k);
    th_completion_cache_free(NULL);
}

/* 3000 = 29 * 101 + 71: after every 101 all are forgotten. */
TEST(forgets_when_it_is_full)
{
    th_completion_cache *k = th_completion_cache_new(101);
    for (int i = 0; i < N; i++)
        CU_ASSERT_EQUAL(keep(k, i), 0);
    CU_ASSERT_EQUAL(count_known(k), 71);
    th_completion_cache_free(k);
}

/* 101 are kept, and found, until they are trimmed. */
TEST(shared_ones_stay_until_they_are_trimmed)
{
    th_completion_cache *k = th_completion_cache_new(101);
    uint64_t digest[2];
    th_completion_cache_share(k);
    th_completion_cache_trim(k);
    for (int i = 0; i < 300; i++)
        CU_ASSERT_EQUAL(keep(k, i), 0);
    CU_ASSERT_EQUAL(count_known(k), 101);
    digest_of(5, digest);
    const th_compute_completion *fifth = th_completion_cache_find(k, digest);
    CU_ASSERT_EQUAL(keep(k, 5), 0); /* again: the first one stays */
    CU_ASSERT_PTR_EQUAL(th_completion_cache_find(k, digest), fifth);
    th_completion_cache_trim(k);
    CU_ASSERT_EQUAL(count_known(k), 0);
    for (int i = 0; i < 50; i++)
        CU_ASSERT_EQUAL(keep(k, i), 0);
    th_completion_cache_trim(k); /* there is room */
    CU_ASSERT_EQUAL(count_known(k), 50);
    th_completion_cache_free(k);
}

static void *keep_all(void *k)
{
    uint64_t digest[2];
    void *failed = NULL;
    for (int i = 0; i < N; i++) {
        digest_of(i, digest);
        if (keep(k, i) || th_completion_cache_find(k, digest)->end != 10 + i)
            failed = k;
    }
    return failed;
}

TEST(several_threads_keep_at_once)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    th_completion_cache *k = th_completion_cache_new(2 * N);
    th_completion_cache_share(k);
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, keep_all, k), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        CU_ASSERT_PTR_NULL(failed);
    }
    CU_ASSERT_EQUAL(count_known(k), N);
    th_completion_cache_free(k);
}

TEST(no_memory_leaves_it_as_it_was)
{
    int64_t live = th_alloc_live();
    th_completion_cache *k = th_completion_cache_new(N);
    int failed = 0;
    for (int i = 0; i < 200; i++) {
        th_alloc_fail_at(1);
        failed += keep(k, i) != 0;
        th_alloc_fail_at(0);
        if (count_known(k) == i)
            CU_ASSERT_EQUAL(keep(k, i), 0);
    }
    CU_ASSERT_TRUE(failed >= 2 && count_known(k) == 200);
    th_completion_cache_free(k);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

TAP_MAIN("completion_cache")
