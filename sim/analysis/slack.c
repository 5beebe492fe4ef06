/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slack.c - the slack of each task of a run: how much later it could have ended without moving the
 * end of the run.
 *
 *   find_queue (topological order) -> find_order (by time) -> go_back: latest ends
 * The latest end of a task is the minimum latest start of its followers: its successors, and the
 * task that ran next on its accelerator or host. Tasks are ordered by start, then end, then
 * topologically, so every follower comes later in the order even if both took no time. Not
 * modelled: a delayed task may contend with other tasks, and the order of tasks on its accelerator
 * may change. */
#include <config.h>

#include "base/alloc.h"
#include "base/sort_by_time.h"
#include "sim/analysis/critical_path.h"

/* Sorts tasks topologically, except those on a cycle, which never run; returns their number. */
static int32_t find_queue(const th_program *p, int32_t *waiting, int32_t *queue)
{
    int32_t n = 0;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        waiting[t] = p->n_predecessors[t];
        if (waiting[t] == 0)
            queue[n++] = t;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = p->successor_start[queue[i]]; k < p->successor_start[queue[i] + 1]; k++)
            if (--waiting[p->successors[k]] == 0)
                queue[n++] = p->successors[k];
    return n;
}

/* Sorts the tasks of a queue that have ended by start, then end, then position in the queue;
 * returns their number. */
static int32_t find_order(const th_result *r, const int32_t *queue, int32_t n_queue,
                          th_timed *order, th_timed *scratch)
{
    int32_t n = 0;
    for (int32_t i = 0; i < n_queue; i++)
        if (r->tasks[queue[i]].end_ps >= 0)
            order[n++] = (th_timed){r->tasks[queue[i]].end_ps, queue[i]};
    th_sort_by_time(order, (size_t)n, scratch);
    for (int32_t i = 0; i < n; i++)
        order[i].at = r->tasks[order[i].number].start_ps;
    th_sort_by_time(order, (size_t)n, scratch);
    return n;
}

/* The accelerator or host that runs the task, or -1. */
static int32_t engine_of(const th_task *t)
{
    return t->kind == TH_TASK_COMPUTE || t->kind == TH_TASK_HOST ? t->node : -1;
}

static int32_t count_engines(const th_program *p)
{
    int32_t n = 0;
    for (int32_t t = 0; t < p->n_tasks; t++)
        if (engine_of(&p->tasks[t]) >= n)
            n = engine_of(&p->tasks[t]) + 1;
    return n;
}

/* A task must end before the latest start of each follower. */
static void stay_before(const th_result *r, const th_time *slack, int32_t behind, th_time *latest)
{
    if (r->tasks[behind].end_ps >= 0 && r->tasks[behind].start_ps + slack[behind] < *latest)
        *latest = r->tasks[behind].start_ps + slack[behind];
}

/* next: by accelerator or host, the task that runs next on it; -1: none. */
static void go_back(const th_program *p, const th_result *r, const th_timed *order, int32_t n,
                    int32_t *next, th_time *slack)
{
    th_time last = 0;
    for (int32_t i = 0; i < n; i++) {
        th_time end = r->tasks[order[i].number].end_ps;
        last = end > last ? end : last;
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        int32_t t = order[i].number, engine = engine_of(&p->tasks[t]);
        th_time latest = last;
        for (int32_t k = p->successor_start[t]; k < p->successor_start[t + 1]; k++)
            stay_before(r, slack, p->successors[k], &latest);
        if (engine >= 0 && next[engine] >= 0)
            stay_before(r, slack, next[engine], &latest);
        if (engine >= 0)
            next[engine] = t;
        slack[t] = latest - r->tasks[t].end_ps;
    }
}

int th_slacks(const th_program *p, const th_result *r, th_time *slack, th_error *err)
{
    size_t tasks = (size_t)p->n_tasks + 1;
    int32_t engines = count_engines(p);
    int32_t *waiting = th_alloc_array(tasks, sizeof *waiting),
            *queue = th_alloc_array(tasks, sizeof *queue);
    int32_t *next = th_alloc_array((size_t)engines + 1, sizeof *next);
    th_timed *order = th_alloc_array(tasks, sizeof *order),
             *scratch = th_alloc_array(tasks, sizeof *scratch);
    bool is_there = waiting && queue && next && order && scratch;
    if (is_there) {
        for (int32_t e = 0; e < engines; e++)
            next[e] = -1;
        for (int32_t t = 0; t < p->n_tasks; t++)
            slack[t] = -1;
        int32_t n_queue = find_queue(p, waiting, queue);
        go_back(p, r, order, find_order(r, queue, n_queue, order, scratch), next, slack);
    }
    th_free(waiting);
    th_free(queue);
    th_free(next);
    th_free(order);
    th_free(scratch);
    return is_there ? 0 : th_error_no_memory(err);
}
