/* SPDX-License-Identifier: GPL-3.0-or-later */
/* event.c - the pending events of one machine, a 4-ary heap and a run in front of it.
 *   new -> (push | pop | cancel | reschedule)* -> free
 * Invariants: heap[i] never comes before heap[(i-1)/4] in (time, rank, sequence) order, where rank
 * packs priority and object; the run is a queue in that order, whose first event has not been
 * cancelled. place[h] is where the event of handle h stands in the heap or, from RUN_PLACE on, in
 * the run; free handles are chained through place as well. Not modelled: anything; this is a
 * container.
 *
 * Many events are pushed in the order in which they leave: the messages of a collective all go at
 * one instant. A push that comes after the last of the run joins it, and costs nothing but that
 * comparison; others go to the heap. A run of one gives way to what comes before it, so that an
 * event far away does not keep the run closed. What is cancelled or moved leaves a gap in the run.
 *
 * A ladder queue is about twice as quick under the hold model (docs/benchmarks.md), but knows no
 * handles; flows whose rates change move their end events all the time. */
#include <config.h>

#include "sim/kernel/event.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

typedef th_events_node node;

enum {
    ARITY = 4,
    CHILDREN_BYTES = ARITY * sizeof(node), /* what is aligned: one set of children */
    FIRST_CAPACITY = 64,
    RUN_PLACE = 1 << 30,
    IN_CACHE = 1 << 15 /* events that a second-level cache holds: above, memory is asked ahead */
};

th_events *th_events_new(void)
{
    th_events *q = th_alloc_zero(1, sizeof *q);
    if (q)
        q->free_handle = -1;
    return q;
}

void th_events_free(th_events *q)
{
    if (!q)
        return;
    th_free(q->block);
    th_free(q->run);
    th_free(q->place);
    th_free(q);
}

void th_events_reset(th_events *q)
{
    q->n = 0;
    q->first = q->end = q->n_gaps = 0;
    q->n_handles = 0;
    q->free_handle = -1;
    q->next = NULL;
}

int64_t th_events_count(const th_events *q)
{
    return (int64_t)(q->n + (q->end - q->first) - q->n_gaps);
}

static void find_next(th_events *q)
{
    const node *first = q->first != q->end ? th_events_run_at(q, q->first) : NULL;
    q->next = q->n > 0 && !(first && th_events_before(first, &q->heap[0])) ? &q->heap[0] : first;
}

static void put(th_events *q, size_t i, const node *e)
{
    q->heap[i] = *e;
    q->place[e->handle] = (int32_t)i;
}

static void sift_up(th_events *q, size_t i, node e)
{
    while (i > 0) {
        size_t parent = (i - 1) / ARITY;
        if (!th_events_before(&e, &q->heap[parent]))
            break;
        put(q, i, &q->heap[parent]);
        i = parent;
    }
    put(q, i, &e);
}

/* In large heaps the grandchildren, which lie side by side, are asked for while the children are
 * compared. */
static inline size_t first_child(const th_events *q, size_t i)
{
    size_t child = ARITY * i + 1, grandchild = ARITY * child + 1;
    if (q->n > IN_CACHE && grandchild + ARITY * ARITY <= q->n)
        for (size_t k = 0; k < ARITY * ARITY; k += 2)
            __builtin_prefetch(&q->heap[grandchild + k]);
    size_t end = child + ARITY < q->n ? child + ARITY : q->n;
    size_t best = child;
    for (size_t c = child + 1; c < end; c++)
        if (th_events_before(&q->heap[c], &q->heap[best]))
            best = c;
    return best;
}

static void sift_down(th_events *q, size_t i, node e)
{
    while (ARITY * i + 1 < q->n) {
        size_t child = first_child(q, i);
        if (!th_events_before(&q->heap[child], &e))
            break;
        put(q, i, &q->heap[child]);
        i = child;
    }
    put(q, i, &e);
}

static int32_t take_handle(th_events *q)
{
    int32_t h = q->free_handle;
    if (h >= 0) {
        q->free_handle = -2 - q->place[h];
        return h;
    }
    if (th_grow(&q->place, &q->place_capacity, (size_t)q->n_handles + 1, sizeof *q->place))
        return TH_NO_EVENT;
    return q->n_handles++;
}

static void give_handle(th_events *q, int32_t h)
{
    q->place[h] = -2 - q->free_handle;
    q->free_handle = h;
}

/* Doubles the room. heap[1], the first child of all, comes to stand on a multiple of
 * CHILDREN_BYTES. */
static int grow_heap(th_events *q)
{
    size_t capacity = q->capacity ? 2 * q->capacity : FIRST_CAPACITY;
    char *block = th_alloc_array(capacity + 2 * ARITY, sizeof *q->heap);
    if (!block)
        return -1;
    uintptr_t first = (uintptr_t)block + sizeof *q->heap + CHILDREN_BYTES - 1;
    node *heap = (node *)(first - first % CHILDREN_BYTES) - 1;
    if (q->n > 0)
        memcpy(heap, q->heap, q->n * sizeof *heap);
    th_free(q->block);
    q->block = block;
    q->heap = heap;
    q->capacity = capacity;
    find_next(q);
    return 0;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void put_run(th_events *q, size_t i, const node *e)
{
    size_t at = i & (q->run_capacity - 1);
    q->run[at] = *e;
    q->place[e->handle] = RUN_PLACE + (int32_t)at;
}

static void close_gaps(th_events *q)
{
    size_t kept = q->first;
    for (size_t i = q->first; i != q->end; i++)
        if (th_events_run_at(q, i)->handle != TH_NO_EVENT)
            put_run(q, kept++, th_events_run_at(q, i));
    q->end = kept;
    q->n_gaps = 0;
}

/* Room for one more in the run, whose room is taken. */
static int grow_run(th_events *q)
{
    close_gaps(q);
    size_t n = q->end - q->first, first = q->first;
    if (2 * n < q->run_capacity)
        return 0;
    th_events old = *q;
    size_t capacity = old.run_capacity ? 2 * old.run_capacity : FIRST_CAPACITY;
    node *run = capacity <= RUN_PLACE ? th_alloc_array(capacity, sizeof *run) : NULL;
    if (!run)
        return -1;
    q->run = run;
    q->run_capacity = capacity;
    q->first = q->end = 0;
    for (size_t i = 0; i < n; i++)
        put_run(q, q->end++, th_events_run_at(&old, first + i));
    th_free(old.run);
    find_next(q);
    return 0;
}

/* Events of the run that were cancelled or moved do not stand first. */
static void skip_gaps(th_events *q)
{
    for (; q->first != q->end && th_events_run_at(q, q->first)->handle == TH_NO_EVENT; q->first++)
        q->n_gaps--;
}

/* Where e can go: at the end of the run, which is made to be so if it is one event alone. */
static bool joins_run(th_events *q, const node *e)
{
    size_t n = q->end - q->first;
    if (n == 0 || th_events_before(th_events_run_at(q, q->end - 1), e))
        return true;
    if (n > 1)
        return false;
    sift_up(q, q->n++, *th_events_run_at(q, q->first));
    q->end = q->first;
    return true;
}

/* --- events ----------------------------------------------------------------------------------- */

th_event_handle th_events_push(th_events *q, const th_event *e)
{
    size_t in_run = q->end - q->first;
    if ((q->n + in_run >= q->capacity && grow_heap(q)) ||
        (in_run == q->run_capacity && grow_run(q)))
        return TH_NO_EVENT;
    int32_t h = take_handle(q);
    if (h < 0)
        return TH_NO_EVENT;
    node added = {e->time, (uint64_t)e->priority << 32 | e->object, e->sequence, e->argument, h};
    bool is_next = !q->next || th_events_before(&added, q->next), joins = joins_run(q, &added);
    if (joins)
        put_run(q, q->end++, &added);
    else
        sift_up(q, q->n++, added);
    if (is_next)
        q->next = joins ? th_events_run_at(q, q->first) : &q->heap[0];
    return h;
}

static void read_out(const node *e, th_event *out)
{
    out->time = e->time;
    out->priority = (uint32_t)(e->rank >> 32);
    out->object = (uint32_t)e->rank;
    out->sequence = e->sequence;
    out->argument = e->argument;
}

bool th_events_peek(const th_events *q, th_event *out)
{
    if (q->next)
        read_out(q->next, out);
    return q->next != NULL;
}

/* Closes the gap at i of the heap with its last event. */
static void remove_at(th_events *q, size_t i)
{
    node last = q->heap[--q->n];
    if (i == q->n)
        return;
    if (i > 0 && th_events_before(&last, &q->heap[(i - 1) / ARITY]))
        sift_up(q, i, last);
    else
        sift_down(q, i, last);
}

bool th_events_pop(th_events *q, th_event *out)
{
    const node *e = q->next;
    if (!e)
        return false;
    read_out(e, out);
    give_handle(q, e->handle);
    if (e == q->heap) {
        remove_at(q, 0);
    } else {
        q->first++;
        skip_gaps(q);
    }
    find_next(q);
    return true;
}

/* Takes the event that stands there out of the run. */
static node leave_run(th_events *q, int32_t place)
{
    node e = q->run[place - RUN_PLACE];
    q->run[place - RUN_PLACE].handle = TH_NO_EVENT;
    q->n_gaps++;
    skip_gaps(q);
    return e;
}

void th_events_cancel(th_events *q, th_event_handle handle)
{
    assert(handle >= 0 && handle < q->n_handles && q->place[handle] >= 0);
    int32_t place = q->place[handle];
    if (place >= RUN_PLACE)
        leave_run(q, place);
    else
        remove_at(q, (size_t)place);
    give_handle(q, handle);
    find_next(q);
}

/* An event that leaves the run finds room in the heap: that has enough for the run as well. */
void th_events_reschedule(th_events *q, th_event_handle handle, th_time time)
{
    assert(handle >= 0 && handle < q->n_handles && q->place[handle] >= 0);
    int32_t place = q->place[handle];
    size_t i = (size_t)place;
    node e;
    if (place >= RUN_PLACE) {
        e = leave_run(q, place);
        i = q->n++;
    } else {
        e = q->heap[i];
    }
    e.time = time;
    if (i > 0 && th_events_before(&e, &q->heap[(i - 1) / ARITY]))
        sift_up(q, i, e);
    else
        sift_down(q, i, e);
    find_next(q);
}
