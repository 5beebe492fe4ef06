/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map.h - a hash map from byte strings to int64 values, and its digest function. The map is never
 * iterated, so no output can depend on the order of a hash table. */
#ifndef TH_BASE_MAP_H
#define TH_BASE_MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct th_map th_map;

th_map *th_map_new(void); /* NULL: memory is out */
/* Found? *value is set then, and else left as it was. */
bool th_map_get(const th_map *m, const void *key, size_t n, int64_t *value);
/* Adds the key or replaces its value. -1: memory is out, the map is unchanged. */
int th_map_put(th_map *m, const void *key, size_t n, int64_t value);
size_t th_map_count(const th_map *m);
void th_map_clear(th_map *m);
void th_map_free(th_map *m); /* accepts NULL */

/* 64-bit digest of n bytes, chained through seed. Stable over machines and versions (little-endian
 * reading). Good enough for a hash table, not a cryptographic one. */
uint64_t th_hash(const void *bytes, size_t n, uint64_t seed);

/* Of a text with the 0 at its end. */
static inline uint64_t th_hash_text(const char *text, uint64_t seed)
{
    return th_hash(text, strlen(text) + 1, seed);
}
/* One word more to a chain of words: a step of th_hash, for keys of few words. */
static inline uint64_t th_hash_word(uint64_t chain, uint64_t word)
{
    uint64_t z =
        (chain ^ word) + 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio, as splitmix64 has it */
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

#endif
