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
#include "sim/kernel/event.h"

enum { N_INCREMENTS = 1 << 22, WARM_UP_SHARE = 2 };
static const double mean_increment_ps = 1e6;

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

/* Holds of a queue with n pending events per CPU second. */
static double holds_per_s(int n, const th_time *increment)
{
    th_events *q = th_events_new();
    th_event e = {.priority = TH_PRIORITY_COMPUTE_END};
    double start = 0;
    for (int i = 0; i < n; i++) {
        e.object = (uint32_t)i;
        e.time = increment[i];
        if (!q || th_events_push(q, &e) == TH_NO_EVENT)
            exit(1);
    }
    for (int i = 0; i < N_INCREMENTS; i++) {
        if (i == N_INCREMENTS / WARM_UP_SHARE)
            start = th_bench_cpu_seconds();
        if (!th_events_pop(q, &e))
            exit(1);
        e.time += increment[i];
        if (th_events_push(q, &e) == TH_NO_EVENT)
            exit(1);
    }
    double seconds = th_bench_cpu_seconds() - start;
    th_events_free(q);
    return (N_INCREMENTS - N_INCREMENTS / WARM_UP_SHARE) / seconds;
}

static void bench_increments(bool are_equal)
{
    static const int pending[] = {1000, 16000, 64000, 1000000};
    th_time *increment = draw_increments(are_equal);
    printf("hold model, %s increments: million events per CPU second\n",
           are_equal ? "equal" : "exponential");
    for (int i = 0; i < 4; i++)
        printf("%-12d %11.2f\n", pending[i], holds_per_s(pending[i], increment) * 1e-6);
    th_free(increment);
}

void th_bench_events(void)
{
    bench_increments(false);
    bench_increments(true);
}
