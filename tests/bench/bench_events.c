/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_events.c - the hold model of event queues: the next event leaves and comes back a random
 * time later, so that their number stays.
 *
 * D. W. Jones, "An empirical comparison of priority-queue and event-set implementations", CACM 29
 * (1986) 300-311. Increments are drawn before the clock runs: exponential, or all the same, as in a
 * system that works in lockstep; then all pending events carry the same time, and their order is
 * that of their objects. */
#include <config.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/random.h"
#include "tests/bench/bench.h"
#include "tests/bench/queues.h"

enum { N_INCREMENTS = 1 << 22, WARM_UP_SHARE = 2 };
static const double mean_increment_ps = 1e6;

/* ---- chained events, for the rivals ---- */

int th_chain_take(th_pool_of_events *p, const th_event *e)
{
    int i = p->free_item;
    if (i >= 0) {
        p->free_item = p->item[i].next;
    } else {
        if (th_grow(&p->item, &p->capacity, p->n + 1, sizeof *p->item))
            return -1;
        i = (int)p->n++;
    }
    p->item[i] = (th_chained){*e, -1};
    return i;
}

void th_chain_give(th_pool_of_events *p, int number)
{
    p->item[number].next = p->free_item;
    p->free_item = number;
}

void th_chain_insert(th_pool_of_events *p, int *first, int number)
{
    const th_event *e = &p->item[number].event;
    while (*first >= 0 && th_event_before(&p->item[*first].event, e))
        first = &p->item[*first].next;
    p->item[number].next = *first;
    *first = number;
}

/* ---- the queue of the machine ---- */

static void *heap_create(void)
{
    return th_events_new();
}

static void heap_destroy(void *q)
{
    th_events_free(q);
}

static bool heap_push(void *q, const th_event *e)
{
    return th_events_push(q, e) != TH_NO_EVENT;
}

static bool heap_pop(void *q, th_event *out)
{
    return th_events_pop(q, out);
}

const th_queue_type th_queue_heap = {"4-ary heap", heap_create, heap_destroy, heap_push, heap_pop};

/* ---- hold ---- */

static th_time *draw_increments(bool are_equal)
{
    th_time *increment = th_alloc_array(N_INCREMENTS, sizeof *increment);
    gsl_rng *r = th_random_stream(1, "hold", 0);
    if (!increment || !r)
        exit(1);
    for (int i = 0; i < N_INCREMENTS; i++)
        increment[i] = are_equal ? (th_time)mean_increment_ps
                                 : 1 + (th_time)gsl_ran_exponential(r, mean_increment_ps);
    gsl_rng_free(r);
    return increment;
}

/* Holds of a queue with n pending events per CPU second; *last tells rivals that err. */
static double holds_per_s(const th_queue_type *type, int n, const th_time *increment, th_time *last)
{
    void *q = type->create();
    th_event e = {.priority = TH_PRIORITY_COMPUTE_END};
    double start = 0;
    for (int i = 0; i < n; i++) {
        e.object = (uint32_t)i;
        e.time = increment[i];
        if (!q || !type->push(q, &e))
            exit(1);
    }
    for (int i = 0; i < N_INCREMENTS; i++) {
        if (i == N_INCREMENTS / WARM_UP_SHARE)
            start = th_bench_cpu_seconds();
        if (!type->pop(q, &e))
            exit(1);
        e.time += increment[i];
        if (!type->push(q, &e))
            exit(1);
    }
    double seconds = th_bench_cpu_seconds() - start;
    *last = e.time;
    type->destroy(q);
    return (N_INCREMENTS - N_INCREMENTS / WARM_UP_SHARE) / seconds;
}

/* A calendar keeps one instant in one day, whose chain is walked from the front: left out where all
 * times are equal. */
static void bench_increments(bool are_equal)
{
    const th_queue_type *const queues[] = {&th_queue_heap, &th_queue_ladder, &th_queue_calendar};
    static const int pending[] = {1000, 16000, 64000, 1000000};
    th_time *increment = draw_increments(are_equal);
    int n_queues = are_equal ? 2 : 3;
    printf("hold model, %s increments: million events per CPU second\n%-12s",
           are_equal ? "equal" : "exponential", "pending");
    for (int k = 0; k < n_queues; k++)
        printf(" %11s", queues[k]->name);
    printf("\n");
    for (int i = 0; i < 4; i++) {
        th_time last[3];
        bool is_same = true;
        printf("%-12d", pending[i]);
        for (int k = 0; k < n_queues; k++) {
            printf(" %11.2f", holds_per_s(queues[k], pending[i], increment, &last[k]) * 1e-6);
            is_same = is_same && last[k] == last[0];
        }
        printf("%s\n", is_same ? "" : "  DIFFERENT ORDERS");
    }
    th_free(increment);
}

void th_bench_events(void)
{
    bench_increments(false);
    bench_increments(true);
}
