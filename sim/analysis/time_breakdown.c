/* SPDX-License-Identifier: GPL-3.0-or-later */
/* time_breakdown.c - see time_breakdown.h. Nothing is recorded during a run: what a task takes
 * alone follows from its work (sim/design/compute_cost.h) or its route, and the rest of its
 * duration is what held it up.
 */
#include <config.h>

#include "sim/analysis/time_breakdown.h"

#include <string.h>

#include "topology/routing/route.h"

const char *th_time_part_name(int part)
{
    static const char *const names[] = {"array",      "memory", "latency",   "link",
                                        "contention", "host",   "collective"};
    return names[part];
}

/* So much of what is left of the duration, at most. */
static th_time take(th_time *left, th_time wanted)
{
    th_time taken = wanted < *left ? wanted : *left;
    *left -= taken;
    return taken;
}

static void part_compute(const th_compute_cost *w, th_time left, th_time *part)
{
    part[TH_PART_ARRAY] = take(&left, w->collapsed.busy_ps);
    part[TH_PART_MEMORY] = take(&left, w->collapsed_ps - w->collapsed.busy_ps);
    part[TH_PART_CONTENTION] = left;
}

static int part_transfer(const th_system *s, const th_task *t, th_time left, th_time *part,
                         th_error *err)
{
    th_route_summary route;
    int answer = th_route_summarize(s, t->node, t->peer, &route);
    if (answer < 0)
        return th_route_error(s, t->node, t->peer, answer, err);
    th_time bytes_ps = route.n_links > 0 ? th_duration_ps(t->bytes, route.bits_per_s) : 0;
    part[TH_PART_LATENCY] = take(&left, th_time_add(t->delay_ps, route.latency_ps));
    part[TH_PART_LINK] = take(&left, bytes_ps);
    part[TH_PART_CONTENTION] = left;
    return 0;
}

int th_task_parts(const th_system *s, const th_compute_cost_cache *costs, const th_program *p,
                  const th_result *r, int32_t task, th_time part[TH_N_PARTS], th_error *err)
{
    const th_task *t = &p->tasks[task];
    th_time all = r->tasks[task].end_ps - r->tasks[task].start_ps;
    memset(part, 0, TH_N_PARTS * sizeof *part);
    switch ((th_task_kind)t->kind) {
    case TH_TASK_COMPUTE:
        part_compute(th_compute_cost_get(costs, t->compute_cost), all, part);
        break;
    case TH_TASK_TRANSFER:
        return part_transfer(s, t, all, part, err);
    case TH_TASK_HOST:
        part[TH_PART_HOST] = all;
        break;
    case TH_TASK_COLLECTIVE:
        part[TH_PART_COLLECTIVE] = all;
        break;
    }
    return 0;
}
