/* SPDX-License-Identifier: GPL-3.0-or-later */
/* queue_ladder.c - a ladder queue: events are sorted only when they are about to leave.
 *
 * W. T. Tang, R. S. M. Goh, I. L.-J. Thng, "Ladder queue: an O(1) priority queue structure for
 * large-scale discrete event simulation", ACM TOMACS 15 (2005) 175-204. Far events lie unsorted in
 * the top; when nothing nearer is left they are spread over the buckets of a rung. A bucket that
 * comes up is sorted into the bottom when it is small, and spread over a finer rung when not. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "tests/bench/queues.h"

enum { SMALL = 50, MAX_RUNGS = 8, MAX_BUCKETS = 1 << 20 };

typedef struct {
    int *first; /* of each bucket */
    int *count;
    size_t n_buckets, capacity, count_capacity, current;
    th_time start, width;
} rung;

typedef struct {
    th_pool_of_events pool;
    int top, bottom;
    size_t n, n_top;
    th_time top_start, top_least, top_greatest;
    rung rungs[MAX_RUNGS];
    int n_rungs;
} ladder;

static void *create(void)
{
    ladder *l = th_alloc_zero(1, sizeof *l);
    if (!l)
        return NULL;
    l->pool.free_item = l->top = l->bottom = -1;
    l->top_least = INT64_MAX;
    return l;
}

static void destroy(void *q)
{
    ladder *l = q;
    for (int r = 0; r < MAX_RUNGS; r++) {
        th_free(l->rungs[r].first);
        th_free(l->rungs[r].count);
    }
    th_free(l->pool.item);
    th_free(l);
}

static void chain(ladder *l, int *first, int i)
{
    l->pool.item[i].next = *first;
    *first = i;
}

static void put(ladder *l, rung *r, int i)
{
    size_t b = (size_t)((l->pool.item[i].event.time - r->start) / r->width);
    chain(l, &r->first[b], i);
    r->count[b]++;
}

/* A new lowest rung over [start, end), with the n events of the chain. False: memory is out. */
static bool add_rung(ladder *l, int events, size_t n, th_time start, th_time end)
{
    rung *r = &l->rungs[l->n_rungs];
    size_t buckets = n < MAX_BUCKETS ? n : MAX_BUCKETS;
    th_time width = (end - start) / (th_time)buckets + 1;
    if (th_grow(&r->first, &r->capacity, buckets + 1, sizeof *r->first) ||
        th_grow(&r->count, &r->count_capacity, buckets + 1, sizeof *r->count))
        return false;
    memset(r->first, 0xff, (buckets + 1) * sizeof *r->first);
    memset(r->count, 0, (buckets + 1) * sizeof *r->count);
    r->n_buckets = buckets + 1;
    r->current = 0;
    r->start = start;
    r->width = width;
    l->n_rungs++;
    for (int i = events, next; i >= 0; i = next) {
        next = l->pool.item[i].next;
        put(l, r, i);
    }
    return true;
}

/* Merges two sorted chains. */
static int merged(ladder *l, int a, int b)
{
    int first = -1, *end = &first;
    while (a >= 0 && b >= 0) {
        int *less = th_event_before(&l->pool.item[b].event, &l->pool.item[a].event) ? &b : &a;
        *end = *less;
        end = &l->pool.item[*less].next;
        *less = *end;
    }
    *end = a >= 0 ? a : b;
    return first;
}

/* Merge sort from below: run[k] is a sorted chain of 2^k events, or empty. */
static void sort_into_bottom(ladder *l, int events)
{
    int run[32];
    memset(run, 0xff, sizeof run);
    for (int i = events, next; i >= 0; i = next) {
        next = l->pool.item[i].next;
        l->pool.item[i].next = -1;
        int k = 0;
        for (; run[k] >= 0; k++) {
            i = merged(l, run[k], i);
            run[k] = -1;
        }
        run[k] = i;
    }
    for (int k = 0; k < 32; k++)
        if (run[k] >= 0)
            l->bottom = merged(l, l->bottom, run[k]);
}

static bool spread_top(ladder *l)
{
    if (!add_rung(l, l->top, l->n_top, l->top_least, l->top_greatest + 1))
        return false;
    l->top_start = l->top_greatest + 1;
    l->top = -1;
    l->n_top = 0;
    l->top_least = INT64_MAX;
    l->top_greatest = 0;
    return true;
}

/* Brings the next events into the bottom; there are some. */
static bool fill_bottom(ladder *l)
{
    while (l->bottom < 0) {
        if (l->n_rungs == 0 && !spread_top(l))
            return false;
        rung *r = &l->rungs[l->n_rungs - 1];
        while (r->current < r->n_buckets && r->count[r->current] == 0)
            r->current++;
        if (r->current == r->n_buckets) {
            l->n_rungs--;
            continue;
        }
        size_t b = r->current++;
        int events = r->first[b], n = r->count[b];
        th_time start = r->start + (th_time)b * r->width;
        r->first[b] = -1;
        r->count[b] = 0;
        if (n <= SMALL || r->width <= 1 || l->n_rungs == MAX_RUNGS)
            sort_into_bottom(l, events);
        else if (!add_rung(l, events, (size_t)n, start, start + r->width))
            return false;
    }
    return true;
}

static bool push(void *q, const th_event *e)
{
    ladder *l = q;
    int i = th_chain_take(&l->pool, e);
    if (i < 0)
        return false;
    l->n++;
    if (e->time >= l->top_start) {
        chain(l, &l->top, i);
        l->n_top++;
        l->top_least = e->time < l->top_least ? e->time : l->top_least;
        l->top_greatest = e->time > l->top_greatest ? e->time : l->top_greatest;
        return true;
    }
    for (int k = 0; k < l->n_rungs; k++) {
        rung *r = &l->rungs[k];
        if (e->time >= r->start + (th_time)r->current * r->width) {
            put(l, r, i);
            return true;
        }
    }
    th_chain_insert(&l->pool, &l->bottom, i);
    return true;
}

static bool pop(void *q, th_event *out)
{
    ladder *l = q;
    if (l->n == 0 || !fill_bottom(l))
        return false;
    int i = l->bottom;
    *out = l->pool.item[i].event;
    l->bottom = l->pool.item[i].next;
    th_chain_give(&l->pool, i);
    l->n--;
    return true;
}

const th_queue_type th_queue_ladder = {"ladder", create, destroy, push, pop};
