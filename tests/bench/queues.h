/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queues.h - the event queues that sim/kernel/event.c was chosen among, as a table for the hold
 * model. new -> (push | pop)* -> free The rivals know no handles: they neither cancel nor
 * reschedule, which flatters them. */
#ifndef TH_TESTS_BENCH_QUEUES_H
#define TH_TESTS_BENCH_QUEUES_H
#include <stdbool.h>
#include <stddef.h>
#include "sim/kernel/event.h"

typedef struct th_queue_type {
    const char *name;
    void *(*create)(void); /* NULL: memory is out */
    void (*destroy)(void *q);
    bool (*push)(void *q, const th_event *e);
    bool (*pop)(void *q, th_event *out);
} th_queue_type;

extern const th_queue_type th_queue_heap, th_queue_calendar, th_queue_ladder;

/* The order in which events leave. */
static inline bool th_event_before(const th_event *a, const th_event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->priority != b->priority)
        return a->priority < b->priority;
    if (a->object != b->object)
        return a->object < b->object;
    return a->sequence < b->sequence;
}

/* Events in a pool, chained by number. */
typedef struct th_chained {
    th_event event;
    int next; /* -1: the last one */
} th_chained;

typedef struct th_pool_of_events {
    th_chained *item;
    size_t n, capacity;
    int free_item; /* -1: none */
} th_pool_of_events;

int th_chain_take(th_pool_of_events *p, const th_event *e); /* its number; -1: memory is out */
void th_chain_give(th_pool_of_events *p, int number);
/* Puts number into the sorted chain that begins at *first. */
void th_chain_insert(th_pool_of_events *p, int *first, int number);

#endif
