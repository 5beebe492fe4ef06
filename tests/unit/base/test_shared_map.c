/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <pthread.h>
#include <stdbool.h>
#include "base/alloc.h"
#include "base/shared_map.h"
#include "tests/unit/tap.h"

enum { N = 5000, THREADS = 4 };

static int values[THREADS][N];

static size_t key_of(int i, char key[32])
{
    return (size_t)snprintf(key, 32, "edge/%d", i);
}

static int count_wrong(const th_shared_map *m, const int *value, int n)
{
    char key[32];
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += th_shared_map_find(m, key, key_of(i, key)) != (i < n ? &value[i] : NULL);
    return wrong;
}

TEST(finds_what_was_added)
{
    auto_shared_map *m = th_shared_map_new();
    char key[32];
    CU_ASSERT_EQUAL(count_wrong(m, values[0], 0), 0);
    for (int i = 0; i < N; i++)
        CU_ASSERT_PTR_EQUAL(th_shared_map_add(m, key, key_of(i, key), &values[0][i]),
                            &values[0][i]);
    CU_ASSERT_EQUAL(count_wrong(m, values[0], N), 0);
    CU_ASSERT_EQUAL(th_shared_map_count(m), N);
    CU_ASSERT_PTR_EQUAL(th_shared_map_add(m, "", 0, &values[1][0]), &values[1][0]);
    CU_ASSERT_PTR_EQUAL(th_shared_map_find(m, "", 0), &values[1][0]);
    th_shared_map_free(NULL);
}

TEST(the_first_value_stays_until_all_go)
{
    auto_shared_map *m = th_shared_map_new();
    char key[32];
    CU_ASSERT_PTR_EQUAL(th_shared_map_add(m, "a", 2, &values[0][0]), &values[0][0]);
    CU_ASSERT_PTR_EQUAL(th_shared_map_add(m, "a", 2, &values[0][1]), &values[0][0]);
    CU_ASSERT_EQUAL(th_shared_map_count(m), 1);
    for (int i = 0; i < 300; i++)
        th_shared_map_add(m, key, key_of(i, key), &values[0][i]);
    th_shared_map_clear(m);
    CU_ASSERT_EQUAL(th_shared_map_count(m), 0);
    CU_ASSERT_PTR_NULL(th_shared_map_find(m, "a", 2));
    for (int i = 0; i < 700; i++)
        th_shared_map_add(m, key, key_of(i, key), &values[1][i]);
    CU_ASSERT_EQUAL(count_wrong(m, values[1], 700), 0);
}

TEST(numbers_come_in_turn)
{
    auto_shared_map *m = th_shared_map_new();
    char key[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 200; i++)
            CU_ASSERT_EQUAL(th_shared_map_number(m, key, key_of(i, key)), i);
}

TEST(no_memory_leaves_it_as_it_was)
{
    int64_t live = th_alloc_live();
    int failed = 0;
    for (int64_t k = 1; k < 4; k++) {
        th_alloc_fail_at(k);
        th_shared_map *none = th_shared_map_new();
        CU_ASSERT_PTR_NULL(none);
        th_alloc_fail_at(0);
    }
    th_shared_map *m = th_shared_map_new();
    for (int i = 0; i < 200; i++) {
        char key[32];
        size_t n = key_of(i, key);
        th_alloc_fail_at(1);
        bool is_there = th_shared_map_add(m, key, n, &values[0][i]) != NULL;
        th_alloc_fail_at(0);
        CU_ASSERT_EQUAL(count_wrong(m, values[0], i + is_there), 0);
        failed += !is_there;
        CU_ASSERT_PTR_EQUAL(th_shared_map_add(m, key, n, &values[0][i]), &values[0][i]);
    }
    CU_ASSERT_TRUE(failed >= 3);
    th_shared_map_free(m);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

/* Every thread adds all keys with values of its own, each from another key on, and looks for all of
 * them meanwhile. */
typedef struct {
    th_shared_map *map;
    int number, n_wrong;
    const void *got[N];
} adder;

static void *add_all(void *argument)
{
    adder *a = argument;
    char key[32];
    for (int j = 0; j < N; j++) {
        int i = (j * 7 + a->number * (N / THREADS)) % N;
        a->got[i] = th_shared_map_add(a->map, key, key_of(i, key), &values[a->number][i]);
        int other = (i * 31 + 11) % N;
        const int *found = th_shared_map_find(a->map, key, key_of(other, key));
        a->n_wrong += found && *found != other;
    }
    return NULL;
}

TEST(threads_agree)
{
    static adder adders[THREADS];
    pthread_t thread[THREADS];
    auto_shared_map *m = th_shared_map_new();
    int n_firsts[THREADS] = {0}, differ = 0;
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < N; i++)
            values[t][i] = i;
    for (int t = 0; t < THREADS; t++) {
        adders[t] = (adder){.map = m, .number = t};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[t], NULL, add_all, &adders[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int i = 0; i < N; i++)
        for (int t = 0; t < THREADS; t++) {
            differ += adders[t].got[i] != adders[0].got[i];
            n_firsts[t] += adders[t].got[i] == &values[t][i];
        }
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT_EQUAL(n_firsts[0] + n_firsts[1] + n_firsts[2] + n_firsts[3], N);
    CU_ASSERT_EQUAL(adders[0].n_wrong + adders[1].n_wrong + adders[2].n_wrong + adders[3].n_wrong,
                    0);
    CU_ASSERT_EQUAL(th_shared_map_count(m), N);
}

TAP_MAIN("shared_map")
