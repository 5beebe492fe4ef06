/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet_time.c - what is to happen when: a heap of instants, each with a chain of what happens.
 *
 * In a network of equal links most things happen at a few times, so a time that has been posted a
 * moment ago is found by a digest of it and its chain grows, without touching the heap. The memory
 * of recent times may forget: then a time has two instants, and both are taken, one after the
 * other.
 * Invariant: heap[i] is not earlier than heap[(i - 1) / 4]; instant[k].time is -1 for free ones,
 * which are chained through first. */
#include <config.h>

#include "sim/network/packet/packet_time.h"

#include <string.h>

#include "base/alloc.h"

enum { ARITY = 4 };

void th_instants_init(th_instants *q)
{
    *q = (th_instants){.free_happening = -1, .free_instant = -1};
    memset(q->recent, -1, sizeof q->recent);
}

void th_instants_reset(th_instants *q)
{
    q->n_pool = q->n_instants = q->n_heap = 0;
    q->free_happening = q->free_instant = -1;
    memset(q->recent, -1, sizeof q->recent);
}

void th_instants_clear(th_instants *q)
{
    th_free(q->pool);
    th_free(q->instant);
    th_free(q->heap);
}

/* --- the heap --------------------------------------------------------------------------------- */

static void sift_up(th_instants *q, th_time time, int32_t instant)
{
    size_t i = q->n_heap++;
    for (; i > 0 && time < q->heap[(i - 1) / ARITY].time; i = (i - 1) / ARITY)
        q->heap[i] = q->heap[(i - 1) / ARITY];
    q->heap[i].time = time;
    q->heap[i].instant = instant;
}

static void remove_first(th_instants *q)
{
    struct th_instant_key last = q->heap[--q->n_heap];
    size_t i = 0;
    for (;;) {
        size_t child = ARITY * i + 1, best = child;
        if (child >= q->n_heap)
            break;
        for (size_t c = child + 1; c < child + ARITY && c < q->n_heap; c++)
            if (q->heap[c].time < q->heap[best].time)
                best = c;
        if (q->heap[best].time >= last.time)
            break;
        q->heap[i] = q->heap[best];
        i = best;
    }
    q->heap[i] = last;
}

/* --- posting and taking ----------------------------------------------------------------------- */

static int32_t *recent_of(th_instants *q, th_time time)
{
    const uint64_t golden = 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio: spreads neighbours */
    return &q->recent[((uint64_t)time * golden >> 32) & (TH_RECENT_INSTANTS - 1)];
}

static int32_t new_happening(th_instants *q)
{
    int32_t h = q->free_happening;
    if (h >= 0) {
        q->free_happening = q->pool[h].next;
        return h;
    }
    if (th_grow(&q->pool, &q->pool_room, q->n_pool + 1, sizeof *q->pool))
        return -1;
    return (int32_t)q->n_pool++;
}

void th_instants_give_back(th_instants *q, int32_t happening)
{
    q->pool[happening].next = q->free_happening;
    q->free_happening = happening;
}

static int32_t new_instant(th_instants *q, th_time time)
{
    int32_t k = q->free_instant;
    if (th_grow(&q->heap, &q->heap_room, q->n_heap + 1, sizeof *q->heap))
        return -1;
    if (k >= 0) {
        q->free_instant = q->instant[k].first;
    } else {
        if (th_grow(&q->instant, &q->instant_room, q->n_instants + 1, sizeof *q->instant))
            return -1;
        k = (int32_t)q->n_instants++;
    }
    q->instant[k] = (th_instant){time, -1};
    sift_up(q, time, k);
    return k;
}

int th_instants_post(th_instants *q, th_time time, const th_happening *what)
{
    int32_t *recent = recent_of(q, time), h = new_happening(q);
    if (h < 0)
        return -1;
    if (*recent < 0 || q->instant[*recent].time != time) {
        int32_t k = new_instant(q, time);
        if (k < 0) {
            th_instants_give_back(q, h);
            return -1;
        }
        *recent = k;
    }
    th_instant *instant = &q->instant[*recent];
    q->pool[h] = *what;
    q->pool[h].next = instant->first;
    instant->first = h;
    return 0;
}

th_time th_instants_next(const th_instants *q)
{
    return q->n_heap > 0 ? q->heap[0].time : TH_TIME_MAX;
}

int32_t th_instants_take(th_instants *q)
{
    if (q->n_heap == 0)
        return -1;
    int32_t k = q->heap[0].instant, first = q->instant[k].first;
    remove_first(q);
    q->instant[k] = (th_instant){-1, q->free_instant};
    q->free_instant = k;
    return first;
}

/* --- sets ------------------------------------------------------------------------------------- */

int th_small_set_init(th_small_set *s, size_t n)
{
    *s = (th_small_set){0};
    do {
        n = (n + 63) / 64;
        n = n > 0 ? n : 1;
        s->n_words[s->n_levels] = n;
        s->level[s->n_levels] = th_alloc_zero(n, sizeof *s->level[0]);
        if (!s->level[s->n_levels++])
            return -1;
    } while (n > 1);
    return 0;
}

void th_small_set_reset(th_small_set *s)
{
    for (int l = 0; l < s->n_levels; l++)
        memset(s->level[l], 0, s->n_words[l] * sizeof *s->level[l]);
}

void th_small_set_clear(th_small_set *s)
{
    for (int l = 0; l < s->n_levels; l++)
        th_free(s->level[l]);
}
