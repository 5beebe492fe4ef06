/* SPDX-License-Identifier: GPL-3.0-or-later */
/* event.h - the pending events of one machine: a priority queue with handles.
 *   new -> (push | pop | cancel | reschedule)* -> free
 * Events leave in the order of (time, priority, object, sequence). The caller sets the sequence,
 * which counts within an object, so the order depends on the model only, never on the order of
 * pushing. An event is plain data: it can be copied, compared and written to a file. */
#ifndef TH_SIM_KERNEL_EVENT_H
#define TH_SIM_KERNEL_EVENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/units.h"

/* The order of events at one time, with the reason for each place. */
typedef enum {
    TH_PRIORITY_PROPERTY,     /* property changes and faults apply to all events of their time */
    TH_PRIORITY_TRANSFER_END, /* data that have arrived are available to everything that starts */
    TH_PRIORITY_COMPUTE_END,  /* stores and computes end before free units are searched */
    TH_PRIORITY_RELEASE,      /* resources become free */
    TH_PRIORITY_READY,        /* then all ready tasks are known */
    TH_PRIORITY_START,        /* loads, computes and transfers start, with all ready tasks known */
    TH_PRIORITY_SAMPLE        /* observers see the state after all events of this time */
} th_priority;

typedef struct th_event {
    th_time time;
    uint32_t priority; /* th_priority */
    uint32_t object;   /* its number in the machine */
    uint32_t sequence; /* within (time, priority, object) */
    uint32_t argument; /* kind of event, within its priority */
} th_event;

typedef struct th_events th_events;
typedef int32_t th_event_handle; /* >= 0; TH_NO_EVENT: no event */
enum { TH_NO_EVENT = -1 };

th_events *th_events_new(void);     /* NULL: memory is out */
void th_events_free(th_events *q);  /* accepts NULL */
void th_events_reset(th_events *q); /* empty again, memory kept */
int64_t th_events_count(const th_events *q);

/* Returns a handle that stays valid until the event leaves, or TH_NO_EVENT when memory is out. */
th_event_handle th_events_push(th_events *q, const th_event *e);
/* The next event; false when there is none. */
bool th_events_peek(const th_events *q, th_event *out);
bool th_events_pop(th_events *q, th_event *out);
/* handle must be pending. */
void th_events_cancel(th_events *q, th_event_handle handle);
void th_events_reschedule(th_events *q, th_event_handle handle, th_time time);

/* --- private: inlined in the machine's loop --------------------------------------------------- */

typedef struct th_events_node {
    th_time time;
    uint64_t rank; /* priority << 32 | object */
    uint32_t sequence;
    uint32_t argument;
    int32_t handle;
} th_events_node;

struct th_events {
    th_events_node *heap;
    size_t n, capacity;
    th_events_node *run; /* sorted, a ring buffer; run_capacity: a power of two, or 0 */
    size_t run_capacity;
    size_t first, end; /* of the run, modulo its capacity; end - first nodes, gaps included */
    size_t n_gaps;     /* cancelled nodes in the run; their handle is TH_NO_EVENT */
    const th_events_node *next; /* heap[0] or the first node of the run; NULL: none */
    int32_t
        *place; /* by handle: index in heap, RUN_PLACE + index in run, or -2 - next free handle */
    size_t place_capacity;
    int32_t n_handles, free_handle; /* free_handle: -1 when there is none */
};

static inline bool th_events_before(const th_events_node *a, const th_events_node *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->sequence < b->sequence;
}

static inline th_events_node *th_events_run_at(const th_events *q, size_t i)
{
    return &q->run[i & (q->run_capacity - 1)];
}

/* Time and priority of the next event; false: none. */
static inline bool th_events_next(const th_events *q, th_time *time, uint32_t *priority)
{
    if (!q->next)
        return false;
    *time = q->next->time;
    *priority = (uint32_t)(q->next->rank >> 32);
    return true;
}

#endif
