/* SPDX-License-Identifier: GPL-3.0-or-later */
/* critical_path.c - the critical path: from the task that ended last back through the causes of
 * starts.
 *
 * The cause of a task's start is the task that delayed it: its last predecessor, or, if the task
 * was ready earlier, the task that ran before it on its accelerator or host. The machine records it
 * for every task. If a task waited for its release after the end of its last predecessor, the path
 * begins there, and the wait is its first entry. So waits and durations add up to the makespan
 * exactly. */
#include <config.h>

#include "sim/analysis/critical_path.h"

#include "base/alloc.h"

const char *th_cause_name(int32_t kind)
{
    static const char *const names[] = {"begin", "arrival", "data", "engine"};
    return names[kind];
}

th_cause th_cause_of(const th_result *r, int32_t task)
{
    const th_task_result *x = &r->tasks[task];
    if (x->start_ps > x->ready_ps && x->cause >= 0)
        return (th_cause){TH_CAUSE_ENGINE, x->cause};
    if (x->cause >= 0 && r->tasks[x->cause].end_ps == x->ready_ps)
        return (th_cause){TH_CAUSE_DATA, x->cause};
    return (th_cause){x->ready_ps > 0 ? TH_CAUSE_ARRIVAL : TH_CAUSE_BEGIN, -1};
}

static int32_t last_task(const th_result *r)
{
    int32_t last = -1;
    for (int32_t t = 0; t < r->n_tasks; t++)
        if (r->tasks[t].end_ps >= 0 && (last < 0 || r->tasks[t].end_ps > r->tasks[last].end_ps))
            last = t;
    return last;
}

int th_critical_path(const th_result *r, th_path_entry **path, th_error *err)
{
    int n = 0, last = last_task(r);
    for (int32_t t = last; t >= 0; t = th_cause_of(r, t).task)
        n++;
    th_path_entry *p = th_alloc_zero((size_t)n + 1, sizeof *p);
    if (!p)
        return th_error_no_memory(err);
    int i = n;
    for (int32_t t = last; t >= 0; t = p[i].cause.task) {
        const th_task_result *x = &r->tasks[t];
        th_cause cause = th_cause_of(r, t);
        th_time since = cause.task >= 0 ? r->tasks[cause.task].end_ps : 0;
        p[--i] = (th_path_entry){t, cause, x->start_ps - since, x->start_ps, x->end_ps};
    }
    *path = p;
    return n;
}
