/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map.c - a hash map from byte strings to int64 values: open addressing, linear probing.
 *   new -> (put | get | clear)* -> free
 * Invariants: capacity is 0 or a power of two; at most 3/4 of the slots are used, so every probe
 * ends; keys are in an arena, because keys are only removed all at once. The digest is a chain of
 * the finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * OOPSLA 2014) over words of eight bytes, read little-endian. */
#include <config.h>
#include "base/map.h"
#include "base/alloc.h"
#include "base/arena.h"
#include <string.h>

typedef struct slot {
    const unsigned char *key; /* NULL: free */
    size_t n;
    uint64_t hash;
    int64_t value;
} slot;

struct th_map {
    slot *slots;
    size_t capacity, count;
    th_arena *keys;
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Eight bytes as a number, the first byte lowest, on any machine; written out, for then compilers
 * see that it is one load. */
static uint64_t read_whole_word(const unsigned char *b)
{
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
           (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
           (uint64_t)b[7] << 56;
}

/* n <= 8 bytes likewise. */
static uint64_t read_word(const unsigned char *bytes, size_t n)
{
    uint64_t word = 0;
    if (n == 8)
        return read_whole_word(bytes);
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

uint64_t th_hash(const void *bytes, size_t n, uint64_t seed)
{
    enum { WORD = 8 };
    const uint64_t golden = 0x9E3779B97F4A7C15u;
    const unsigned char *p = bytes;
    uint64_t h = mix(seed + golden * (n + 1)); /* the length tells "a" from "a\0" */
    for (; n > WORD; n -= WORD, p += WORD)
        h = th_hash_word(h, read_whole_word(p));
    return th_hash_word(h, read_word(p, n));
}

th_map *th_map_new(void)
{
    th_map *m = th_alloc_zero(1, sizeof *m);
    if (m && !(m->keys = th_arena_new())) {
        th_free(m);
        return NULL;
    }
    return m;
}

/* The slot that holds the key, or the free one where it belongs. capacity > 0. */
static slot *find(slot *slots, size_t capacity, const void *key, size_t n, uint64_t hash)
{
    size_t mask = capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        slot *s = &slots[i];
        if (!s->key || (s->hash == hash && s->n == n && memcmp(s->key, key, n) == 0))
            return s;
    }
}

bool th_map_get(const th_map *m, const void *key, size_t n, int64_t *value)
{
    if (m->capacity == 0)
        return false;
    const slot *s = find(m->slots, m->capacity, key, n, th_hash(key, n, 0));
    if (!s->key)
        return false;
    *value = s->value;
    return true;
}

/* Makes room for one more key. */
static int make_room(th_map *m)
{
    enum { FIRST = 16 }; /* slots */
    if (m->count < m->capacity / 4 * 3)
        return 0;
    size_t capacity = m->capacity ? m->capacity * 2 : FIRST;
    slot *slots = th_alloc_zero(capacity, sizeof *slots);
    if (!slots)
        return -1;
    for (size_t i = 0; i < m->capacity; i++) {
        const slot *s = &m->slots[i];
        if (s->key)
            *find(slots, capacity, s->key, s->n, s->hash) = *s;
    }
    th_free(m->slots);
    m->slots = slots;
    m->capacity = capacity;
    return 0;
}

int th_map_put(th_map *m, const void *key, size_t n, int64_t value)
{
    if (make_room(m) != 0)
        return -1;
    uint64_t hash = th_hash(key, n, 0);
    slot *s = find(m->slots, m->capacity, key, n, hash);
    if (!s->key) {
        void *copy = th_arena_alloc(m->keys, n);
        if (!copy)
            return -1;
        if (n > 0)
            memcpy(copy, key, n);
        *s = (slot){.key = copy, .n = n, .hash = hash};
        m->count++;
    }
    s->value = value;
    return 0;
}

size_t th_map_count(const th_map *m)
{
    return m->count;
}

void th_map_clear(th_map *m)
{
    if (m->capacity > 0)
        memset(m->slots, 0, m->capacity * sizeof *m->slots);
    m->count = 0;
    th_arena_reset(m->keys);
}

void th_map_free(th_map *m)
{
    if (!m)
        return;
    th_free(m->slots);
    th_arena_free(m->keys);
    th_free(m);
}
