/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "base/map.h"
#include "tests/unit/tap.h"

enum { N = 5000 };

static size_t key_of(int i, char key[32])
{
    return (size_t)snprintf(key, 32, "layer/conv%d", i);
}

static int fill(th_map *m, int n)
{
    char key[32];
    for (int i = 0; i < n; i++)
        if (th_map_put(m, key, key_of(i, key), 3 * i - 7) != 0)
            return -1;
    return 0;
}

static int count_wrong(const th_map *m, int n)
{
    char key[32];
    int n_wrong = 0;
    for (int i = 0; i < n; i++) {
        int64_t value = 0;
        n_wrong += !th_map_get(m, key, key_of(i, key), &value) || value != 3 * i - 7;
    }
    return n_wrong;
}

TEST(finds_what_was_put)
{
    auto_map *m = th_map_new();
    int64_t value = 41;
    CU_ASSERT_FALSE(th_map_get(m, "a", 1, &value));
    CU_ASSERT_EQUAL(fill(m, N), 0);
    CU_ASSERT_EQUAL(th_map_count(m), N);
    CU_ASSERT_EQUAL(count_wrong(m, N), 0);
    CU_ASSERT_FALSE(th_map_get(m, "layer/conv", 10, &value));
    CU_ASSERT_EQUAL(value, 41);
}

TEST(replaces)
{
    auto_map *m = th_map_new();
    int64_t value = 0;
    CU_ASSERT_EQUAL(th_map_put(m, "a", 1, 5), 0);
    CU_ASSERT_EQUAL(th_map_put(m, "a", 1, INT64_MIN), 0);
    CU_ASSERT_EQUAL(th_map_count(m), 1);
    CU_ASSERT_TRUE(th_map_get(m, "a", 1, &value));
    CU_ASSERT_EQUAL(value, INT64_MIN);
}

TEST(tells_keys_by_every_byte_and_length)
{
    auto_map *m = th_map_new();
    int64_t value = 0;
    th_map_put(m, "", 0, 1);
    th_map_put(m, "\0", 1, 2);
    th_map_put(m, "\0\0", 2, 3);
    th_map_put(m, "12345678", 8, 4);
    th_map_put(m, "12345678\0", 9, 5);
    CU_ASSERT_EQUAL(th_map_count(m), 5);
    CU_ASSERT(th_map_get(m, "", 0, &value) && value == 1);
    CU_ASSERT(th_map_get(m, "\0\0", 2, &value) && value == 3);
    CU_ASSERT(th_map_get(m, "12345678", 8, &value) && value == 4);
}

TEST(clears)
{
    auto_map *m = th_map_new();
    int64_t value = 0;
    th_map_clear(m);
    fill(m, 100);
    th_map_clear(m);
    CU_ASSERT_EQUAL(th_map_count(m), 0);
    CU_ASSERT_FALSE(th_map_get(m, "layer/conv7", 11, &value));
    fill(m, 50);
    CU_ASSERT_EQUAL(count_wrong(m, 50), 0);
    th_map_free(NULL);
}

/* Fails every allocation of a fill in turn: the put says so, what was there stays, nothing
 * leaks. */
TEST(survives_every_failure)
{
    int64_t live = th_alloc_live();
    int k = 1;
    for (int done = 0; !done && k < 1000; k++) {
        th_alloc_fail_at(k);
        th_map *m = th_map_new();
        done = m && fill(m, 300) == 0;
        if (m)
            CU_ASSERT_EQUAL(count_wrong(m, (int)th_map_count(m)), 0);
        th_map_free(m);
        th_alloc_fail_at(0);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    CU_ASSERT(k > 5 && k < 1000);
}

/* Pinned: digests may be written to files, so they are the same for ever and everywhere. */
TEST(digest_is_stable)
{
    CU_ASSERT_EQUAL(th_hash("", 0, 0), 0xA706DD2F4D197E6Fu);
    CU_ASSERT_EQUAL(th_hash("resnet34", 8, 0), 0xCA22FE0CA2014823u);
    CU_ASSERT_EQUAL(th_hash("f1_16xlarge", 11, 7), 0xD3CE268B216F34BFu);
}

/* A flipped bit flips half of the digest: of 64 bits, between 16 and 48 in each of these cases
 * (standard deviation 4). */
TEST(digest_spreads)
{
    unsigned char key[24] = "0123456789abcdefghijklm";
    uint64_t plain = th_hash(key, sizeof key, 0);
    for (unsigned bit = 0; bit < 8 * sizeof key; bit++) {
        key[bit / 8] ^= (unsigned char)(1u << bit % 8);
        int n = __builtin_popcountll(plain ^ th_hash(key, sizeof key, 0));
        CU_ASSERT(n >= 16 && n <= 48);
        key[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

TAP_MAIN("map")
