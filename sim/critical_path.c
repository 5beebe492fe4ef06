/* SPDX-License-Identifier: GPL-3.0-or-later */
/* critical_path.c - from the task that ended last back through what let each start.
 *
 * The machine notes for every task the one whose end let it start: its last predecessor, or the
 * task before it on its accelerator when it was ready earlier. A host task may wait for its release
 * besides, and that wait is in wait_ps; so waits and durations add up to the makespan exactly. */
#include <config.h>

#include "sim/critical_path.h"

#include "base/alloc.h"

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
    for (int32_t t = last; t >= 0; t = r->tasks[t].cause)
        n++;
    th_path_entry *p = th_alloc_zero((size_t)n + 1, sizeof *p);
    if (!p)
        return th_error_no_memory(err);
    int i = n;
    for (int32_t t = last; t >= 0; t = r->tasks[t].cause) {
        const th_task_result *x = &r->tasks[t];
        th_time since = x->cause >= 0 ? r->tasks[x->cause].end_ps : 0;
        p[--i] = (th_path_entry){t, x->start_ps - since, x->start_ps, x->end_ps};
    }
    *path = p;
    return n;
}
