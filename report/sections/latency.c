/* SPDX-License-Identifier: GPL-3.0-or-later */
/* latency.c - the durations of transfers that started in a window of time. The p-th percentile of n
 * is the ceil(p n / 100)-th smallest (nearest rank). */
#include <config.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "report/sections/sections.h"

static int by_time(const void *a, const void *b)
{
    th_time x = *(const th_time *)a, y = *(const th_time *)b;
    return (x > y) - (x < y);
}

static th_quantity percentile(const th_time *sorted, int64_t n, int64_t p)
{
    return n > 0 ? th_ps(sorted[(p * n + 99) / 100 - 1]) : th_absent(TH_KIND_TIME);
}

/* What gather finds. */
typedef struct sample {
    th_time *times; /* of those that have ended */
    int64_t n, n_started;
    int64_t bytes; /* that arrived in the span, whenever they started */
    double sum_ps;
} sample;

static void gather(const th_program *p, const th_result *x, th_time since, th_time until,
                   sample *out)
{
    for (int32_t t = 0; t < p->n_tasks; t++) {
        const th_task_result *when = &x->tasks[t];
        if (p->tasks[t].kind != TH_TASK_TRANSFER || when->start_ps < 0)
            continue;
        if (when->end_ps >= since && when->end_ps < until)
            out->bytes += p->tasks[t].bytes;
        if (when->start_ps < since || when->start_ps >= until)
            continue;
        out->n_started++;
        if (when->end_ps < 0)
            continue;
        out->times[out->n++] = when->end_ps - when->start_ps;
        out->sum_ps += (double)(when->end_ps - when->start_ps);
    }
}

static th_quantity rate_of(int64_t bytes, th_time span_ps)
{
    if (span_ps <= 0)
        return th_absent(TH_KIND_BANDWIDTH);
    return th_bandwidth((int64_t)(8 * (double)bytes * (double)TH_PS_PER_S / (double)span_ps + 0.5));
}

int th_section_latency(th_session *s, th_report *r, th_time since, th_time until, th_error *err)
{
    static const th_column columns[] = {
        {"transfers", "transfers started", TH_KIND_COUNT},
        {"done", "of these, done", TH_KIND_COUNT},
        {"mean", "mean latency", TH_KIND_TIME},
        {"median", "median", TH_KIND_TIME},
        {"percentile_95", "95th percentile", TH_KIND_TIME},
        {"percentile_99", "99th percentile", TH_KIND_TIME},
        {"longest", "longest", TH_KIND_TIME},
        {"delivered", "delivered bandwidth", TH_KIND_BANDWIDTH},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    if (!x)
        return -1;
    sample found = {.times = th_alloc_array((size_t)x->n_tasks + 1, sizeof(th_time))};
    if (!found.times)
        return th_error_no_memory(err);
    gather(s->simulation->program, x, since, until, &found);
    qsort(found.times, (size_t)found.n, sizeof *found.times, by_time);
    th_time last = until < x->elapsed_ps ? until : x->elapsed_ps;
    th_quantity cells[] = {
        th_count(found.n_started),
        th_count(found.n),
        found.n > 0 ? th_ps((th_time)(found.sum_ps / (double)found.n + 0.5))
                    : th_absent(TH_KIND_TIME),
        percentile(found.times, found.n, 50),
        percentile(found.times, found.n, 95),
        percentile(found.times, found.n, 99),
        percentile(found.times, found.n, 100),
        rate_of(found.bytes, last - since),
    };
    th_free(found.times);
    th_table_row(th_report_record(r, "latency", NULL, columns), cells);
    return 0;
}
