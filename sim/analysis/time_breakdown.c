/* SPDX-License-Identifier: GPL-3.0-or-later */
/* time_breakdown.c - see time_breakdown.h. The parts are derived after the run: the time of a task
 * without contention follows from its compute cost (sim/design/compute_cost.h) or its route; the
 * rest of its duration is contention, but for what the machine has recorded of faults. */
#include <config.h>

#include "sim/analysis/time_breakdown.h"

#include <string.h>

#include "topology/routing/route.h"

const char *th_time_part_name(int part)
{
    static const char *const names[] = {"array",  "memory",   "latency", "link",      "contention",
                                        "faults", "slowdown", "host",    "collective"};
    return names[part];
}

/* Takes up to `wanted` of the rest of the duration. */
static th_time take(th_time *left, th_time wanted)
{
    th_time taken = wanted < *left ? wanted : *left;
    *left -= taken;
    return taken;
}

static void split_compute(const th_compute_cost *w, th_time left, th_time slowed, th_time *part)
{
    part[TH_PART_SLOWDOWN] = take(&left, slowed);
    part[TH_PART_ARRAY] = take(&left, w->collapsed.busy_ps);
    part[TH_PART_MEMORY] = take(&left, w->collapsed_ps - w->collapsed.busy_ps);
    part[TH_PART_CONTENTION] = left;
}

static int split_transfer(const th_system *s, const th_task *t, th_time left, th_time lost,
                          th_time *part, th_error *err)
{
    enum { ROUNDING_PS = 4 }; /* of changes of rates and routes */
    th_route_summary route;
    int answer = th_route_of_message(s, t->node, t->peer, t->bytes, &route);
    if (answer < 0)
        return th_route_error(s, t->node, t->peer, answer, err);
    th_time bytes_ps = route.n_links > 0 ? th_duration_ps(t->bytes, route.bits_per_s) : 0;
    part[TH_PART_LATENCY] = take(&left, th_time_add(t->delay_ps, route.latency_ps));
    part[TH_PART_LINK] = take(&left, bytes_ps);
    if (lost > 0)
        part[TH_PART_FAULTS] = take(&left, left - lost <= ROUNDING_PS ? left : lost);
    part[TH_PART_CONTENTION] = left;
    return 0;
}

int th_time_breakdown(const th_run_view *run, int32_t task, th_time part[TH_N_PARTS], th_error *err)
{
    const th_task *t = &run->program->tasks[task];
    th_time lost = run->result->fault_ps ? run->result->fault_ps[task] : 0;
    th_time all = run->result->tasks[task].end_ps - run->result->tasks[task].start_ps;
    memset(part, 0, TH_N_PARTS * sizeof *part);
    switch ((th_task_kind)t->kind) {
    case TH_TASK_COMPUTE:
        split_compute(th_compute_cost_get(run->costs, t->compute_cost), all, lost, part);
        break;
    case TH_TASK_TRANSFER:
        return split_transfer(run->system, t, all, lost, part, err);
    case TH_TASK_HOST:
        part[TH_PART_HOST] = all;
        break;
    case TH_TASK_COLLECTIVE:
        part[TH_PART_COLLECTIVE] = all;
        break;
    }
    return 0;
}
