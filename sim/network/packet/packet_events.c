/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet_events.c - pending events: a heap of time steps, each with a list of events.
 *
 * In a network of equal links most events fall on a few times. A small hash table of recently
 * posted times finds the step of a time without touching the heap; where it has forgotten a time,
 * that time gets a second step, and both are taken together. A heap of single
 * events makes the network 2.4 times as slow (bench packet).
 * Invariant: steps[k].time is -1 exactly for free slots. */
#include <config.h>

#include "sim/network/packet/packet_events.h"

#include <string.h>

#include "base/alloc.h"

#define TH_HEAP_ITEM                th_time_step_key
#define TH_HEAP_OWNER               th_packet_events
#define TH_HEAP_BEFORE(owner, a, b) ((a)->time < (b)->time)
#define TH_HEAP_MOVED(owner, item, i)
#include "base/heap.h"

void th_packet_events_init(th_packet_events *q)
{
    *q = (th_packet_events){0};
    th_packet_events_reset(q);
}

void th_packet_events_reset(th_packet_events *q)
{
    th_slots_reset(&q->event_slots);
    th_slots_reset(&q->step_slots);
    q->n_heap = 0;
    memset(q->recent, -1, sizeof q->recent);
}

void th_packet_events_clear(th_packet_events *q)
{
    th_free(q->events);
    th_free(q->steps);
    th_free(q->heap);
}

static int32_t *recent_of(th_packet_events *q, th_time time)
{
    const uint64_t golden = 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio: spreads neighbours */
    return &q->recent[((uint64_t)time * golden >> 32) & (TH_RECENT_STEPS - 1)];
}

void th_packet_events_give_back(th_packet_events *q, int32_t event)
{
    th_slots_give(&q->event_slots, &q->events[event], event);
}

static int32_t new_step(th_packet_events *q, th_time time)
{
    if (th_grow(&q->heap, &q->heap_room, q->n_heap + 1, sizeof *q->heap))
        return -1;
    int32_t k = th_slots_take(&q->step_slots, &q->steps, sizeof *q->steps);
    if (k < 0)
        return -1;
    q->steps[k] = (th_time_step){-1, time};
    th_heap_up(q, q->heap, q->n_heap++, (th_time_step_key){time, k});
    return k;
}

int th_packet_events_post(th_packet_events *q, th_time time, const th_packet_event *event)
{
    int32_t *recent = recent_of(q, time);
    int32_t e = th_slots_take(&q->event_slots, &q->events, sizeof *q->events);
    if (e < 0)
        return -1;
    if (*recent < 0 || q->steps[*recent].time != time) {
        int32_t k = new_step(q, time);
        if (k < 0) {
            th_packet_events_give_back(q, e);
            return -1;
        }
        *recent = k;
    }
    th_time_step *step = &q->steps[*recent];
    q->events[e] = *event;
    q->events[e].next = step->first;
    step->first = e;
    return 0;
}

th_time th_packet_events_next(const th_packet_events *q)
{
    return q->n_heap > 0 ? q->heap[0].time : TH_TIME_MAX;
}

static int32_t take_step(th_packet_events *q)
{
    int32_t k = q->heap[0].step, first = q->steps[k].first;
    th_heap_remove(q, q->heap, --q->n_heap, 0);
    q->steps[k].time = -1;
    th_slots_give(&q->step_slots, &q->steps[k], k);
    return first;
}

int32_t th_packet_events_take(th_packet_events *q)
{
    if (q->n_heap == 0)
        return -1;
    th_time time = q->heap[0].time;
    int32_t first = take_step(q);
    while (q->n_heap > 0 && q->heap[0].time == time) { /* a second step of that time */
        int32_t more = take_step(q), *end = &first;
        while (*end >= 0)
            end = &q->events[*end].next;
        *end = more;
    }
    return first;
}
