/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet_time.h - what the packet network keeps: what is to happen when, and sets of small integers
 * that are taken least first.
 *
 *   instants: init -> (post | next | take)* -> clear
 *   sets:     init -> (add | take)* -> clear
 * What happens at one instant is taken together and in no order: its effects must commute. */
#ifndef TH_SIM_NETWORK_PACKET_PACKET_TIME_H
#define TH_SIM_NETWORK_PACKET_PACKET_TIME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/units.h"

typedef struct th_happening {
    int32_t next;   /* of the same instant, -1: none */
    int32_t kind;   /* the caller's */
    int32_t object; /* the caller's */
    int32_t bytes;
} th_happening;

typedef struct th_instant {
    th_time time; /* -1: free */
    int32_t first;
} th_instant;

enum { TH_RECENT_INSTANTS = 256 }; /* a power of two */

typedef struct th_instants {
    th_happening *pool;
    size_t n_pool, pool_room;
    int32_t free_happening;
    th_instant *instant; /* one time may have several */
    size_t n_instants, instant_room;
    int32_t free_instant;
    struct th_instant_key {
        th_time time;
        int32_t instant;
    } * heap;
    size_t n_heap, heap_room;
    int32_t recent[TH_RECENT_INSTANTS]; /* by digest of its time; may be out of date */
} th_instants;

void th_instants_init(th_instants *q);
void th_instants_reset(th_instants *q); /* empty again, memory kept */
void th_instants_clear(th_instants *q);
/* 0, or -1: memory is out, nothing has changed. */
int th_instants_post(th_instants *q, th_time time, const th_happening *what);
/* The time of the first; TH_TIME_MAX: there is none. */
th_time th_instants_next(const th_instants *q);
/* Takes something that happens at the first time; -1: nothing there. The chain that it begins
 * (pool[].next) must be given back. */
int32_t th_instants_take(th_instants *q);
void th_instants_give_back(th_instants *q, int32_t happening);

/* A set of integers in [0, n): a bit each, and a bit for each word of bits, and so on. */
enum { TH_SET_LEVELS = 6 }; /* 64^6 > 2^31 */
typedef struct th_small_set {
    uint64_t *level[TH_SET_LEVELS];
    size_t n_words[TH_SET_LEVELS];
    int n_levels;
} th_small_set;

int th_small_set_init(th_small_set *s, size_t n); /* 0 or -1 (call clear all the same) */
void th_small_set_reset(th_small_set *s);
void th_small_set_clear(th_small_set *s);

static inline void th_small_set_add(th_small_set *s, int32_t item)
{
    size_t at = (size_t)item;
    for (int l = 0; l < s->n_levels; l++, at >>= 6) {
        uint64_t *word = &s->level[l][at >> 6], bit = UINT64_C(1) << (at & 63);
        if (*word & bit)
            return;
        *word |= bit;
    }
}

static inline bool th_small_set_is_empty(const th_small_set *s)
{
    return s->level[s->n_levels - 1][0] == 0;
}

/* The least, which leaves the set; the set must not be empty. */
static inline int32_t th_small_set_take(th_small_set *s)
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
