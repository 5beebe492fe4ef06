/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slack.c - how much later each task of a run could have ended without moving the end of the run.
 *
 *   rank (tasks after their predecessors) -> order (by time) -> backwards: latest ends
 * The latest end of a task is the least latest start of those that follow it: its successors, and the
 * task that ran next on its accelerator or host. Tasks stand in the order of their starts, then ends,
 * then ranks; so what must follow a task stands behind it even where both took no time. Not modelled:
 * a task that comes later may meet others on its links and DRAM, and others then run before it. */
#include <config.h>

#include <stdlib.h>

#include "base/alloc.h"
#include "sim/critical_path.h"

typedef struct {
    th_time start, end;
    int32_t rank, task;
} place;

static int by_time(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Numbers tasks so that each comes after its predecessors; those of a cycle, which never run, get none.
 * waiting and queue: scratch, one per task. */
static void find_ranks(const th_program *p, int32_t *rank, int32_t *waiting, int32_t *queue)
{
    int32_t n = 0;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        rank[t] = p->n_tasks;
        waiting[t] = p->n_predecessors[t];
        if (waiting[t] == 0)
            queue[n++] = t;
    }
    for (int32_t i = 0; i < n; i++) {
        rank[queue[i]] = i;
        for (int32_t k = p->successor_start[queue[i]]; k < p->successor_start[queue[i] + 1]; k++)
            if (--waiting[p->successors[k]] == 0)
                queue[n++] = p->successors[k];
    }
}

/* Those that have ended, by time; returns how many. */
static int32_t find_order(const th_result *r, const int32_t *rank, place *order)
{
    int32_t n = 0;
    for (int32_t t = 0; t < r->n_tasks; t++)
        if (r->tasks[t].end_ps >= 0)
            order[n++] = (place){r->tasks[t].start_ps, r->tasks[t].end_ps, rank[t], t};
    qsort(order, (size_t)n, sizeof *order, by_time);
    return n;
}

/* The node on which a task takes its turn, or -1. */
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

/* A task must end before the latest start of one behind it. */
static void stay_before(const th_result *r, const th_time *slack, int32_t behind, th_time *latest)
{
    if (r->tasks[behind].end_ps >= 0 && r->tasks[behind].start_ps + slack[behind] < *latest)
        *latest = r->tasks[behind].start_ps + slack[behind];
}

/* next: by engine, the task that runs next on it; -1: none. */
static void go_back(const th_program *p, const th_result *r, const place *order, int32_t n, int32_t *next,
                    th_time *slack)
{
    th_time last = 0;
    for (int32_t i = 0; i < n; i++)
        last = order[i].end > last ? order[i].end : last;
    for (int32_t i = n - 1; i >= 0; i--) {
        int32_t t = order[i].task, engine = engine_of(&p->tasks[t]);
        th_time latest = last;
        for (int32_t k = p->successor_start[t]; k < p->successor_start[t + 1]; k++)
            stay_before(r, slack, p->successors[k], &latest);
        if (engine >= 0 && next[engine] >= 0)
            stay_before(r, slack, next[engine], &latest);
        if (engine >= 0)
            next[engine] = t;
        slack[t] = latest - order[i].end;
    }
}

int th_slacks(const th_program *p, const th_result *r, th_time *slack, th_error *err)
{
    size_t tasks = (size_t)p->n_tasks + 1;
    int32_t engines = count_engines(p);
    int32_t *rank = th_alloc_array(tasks, sizeof *rank), *waiting = th_alloc_array(tasks, sizeof *waiting);
    int32_t *queue = th_alloc_array(tasks, sizeof *queue);
    int32_t *next = th_alloc_array((size_t)engines + 1, sizeof *next);
    place *order = th_alloc_array(tasks, sizeof *order);
    bool is_there = rank && waiting && queue && next && order;
    if (is_there) {
        for (int32_t e = 0; e < engines; e++)
            next[e] = -1;
        for (int32_t t = 0; t < p->n_tasks; t++)
            slack[t] = -1;
        find_ranks(p, rank, waiting, queue);
        go_back(p, r, order, find_order(r, rank, order), next, slack);
    }
    th_free(rank);
    th_free(waiting);
    th_free(queue);
    th_free(next);
    th_free(order);
    return is_there ? 0 : th_error_no_memory(err);
}
