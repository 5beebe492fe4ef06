/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index_set.h - a set of integers in [0, n) that is taken lowest first.
 *   init -> (add | take)* -> reset -> ... -> clear
 * A tree of bits: level 0 has a bit per integer, each level above a bit per word of the one below.
 * Adding and taking touch one word per level. */
#ifndef TH_SIM_NETWORK_PACKET_INDEX_SET_H
#define TH_SIM_NETWORK_PACKET_INDEX_SET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TH_INDEX_SET_LEVELS = 6 }; /* 64^6 > 2^31 */
typedef struct th_index_set {
    uint64_t *level[TH_INDEX_SET_LEVELS];
    size_t n_words[TH_INDEX_SET_LEVELS];
    int n_levels;
} th_index_set;

int th_index_set_init(th_index_set *s, size_t n); /* 0 or -1 (call clear all the same) */
void th_index_set_reset(th_index_set *s);
void th_index_set_clear(th_index_set *s);

static inline void th_index_set_add(th_index_set *s, int32_t item)
{
    size_t at = (size_t)item;
    for (int l = 0; l < s->n_levels; l++, at >>= 6) {
        uint64_t *word = &s->level[l][at >> 6], bit = UINT64_C(1) << (at & 63);
        if (*word & bit)
            return;
        *word |= bit;
    }
}

static inline bool th_index_set_is_empty(const th_index_set *s)
{
    return s->level[s->n_levels - 1][0] == 0;
}

/* Removes and returns the lowest; the set must not be empty. */
static inline int32_t th_index_set_take(th_index_set *s)
{
    size_t at = 0;
    for (int l = s->n_levels - 1; l >= 0; l--)
        at = at << 6 | (size_t)__builtin_ctzll(s->level[l][at]);
    size_t item = at;
    for (int l = 0; l < s->n_levels; l++, at >>= 6) {
        uint64_t *word = &s->level[l][at >> 6];
        *word &= ~(UINT64_C(1) << (at & 63));
        if (*word)
            break;
    }
    return (int32_t)item;
}

#endif
