/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefetch.c - accelerators that load the first weights of their next task while this one drains.
 *
 *   load -> (task_begins -> task_ends -> idles?)*
 *
 * What comes next on an accelerator is fixed by the program: the first task, in program order, that
 * has weights and has not started (its target). When the running task's own weights are in, the weight
 * engine goes on with the target's, into slots that the array has left (sim/pipeline.c); when no task
 * runs, it goes on alone (LOADING). The target finds them in its slots. A task without weights leaves
 * them there; another task with weights that overtakes the target throws them away, and their bytes
 * count for the accelerator alone.
 * Such an accelerator has no folded tasks: their ends depend on what came before, so they are known by
 * that too (the digest of their history).
 * Invariant: ahead is what is done for target when the running task starts, or, between two tasks,
 * when the last one ended. */
#include <config.h>

#include "base/alloc.h"
#include "sim/machine_state.h"

bool th_prefetch_is_on(const th_machine *m, int accel)
{
    return m->system->nodes[m->system->accel_node[accel]].a.prefetches;
}

static const th_work *work_of_task(const th_machine *m, int32_t task)
{
    return th_works_get(m->works, m->program->tasks[task].work);
}

/* The accelerator of a task that may be loaded ahead, or -1. */
static int loads_on(const th_machine *m, int32_t task)
{
    const th_task *t = &m->program->tasks[task];
    if (t->kind != TH_TASK_COMPUTE)
        return -1;
    int accel = m->system->nodes[t->node].accel;
    return th_prefetch_is_on(m, accel) && work_of_task(m, task)->ahead.n > 0 ? accel : -1;
}

int th_prefetch_load(th_machine *m)
{
    int n_accels = m->system->n_accels, any = 0;
    for (int a = 0; a < n_accels; a++)
        any |= th_prefetch_is_on(m, a);
    if (!any)
        return 0;
    size_t tasks = (size_t)m->program->n_tasks + 1;
    if (th_grow(&m->weighted, &m->weighted_capacity, tasks, sizeof *m->weighted))
        return -1;
    int32_t n = 0;
    for (int a = 0; a < n_accels; a++) {
        th_accel_state *x = &m->accels[a];
        x->next_weighted = n;
        for (int32_t t = 0; th_prefetch_is_on(m, a) && t < m->program->n_tasks; t++)
            if (loads_on(m, t) == a)
                m->weighted[n++] = t;
        x->end_weighted = n;
        x->target = -1;
        x->own = x->ahead = (th_ahead){0};
        x->was_freed = th_prefetch_is_on(m, a);
    }
    m->any_prefetch = true;
    return 0;
}

static int32_t next_target(const th_machine *m, th_accel_state *a)
{
    while (a->next_weighted < a->end_weighted &&
           m->times[m->weighted[a->next_weighted]].start_ps >= 0)
        a->next_weighted++;
    return a->next_weighted < a->end_weighted ? m->weighted[a->next_weighted] : -1;
}

void th_prefetch_task_begins(th_machine *m, th_accel_state *a)
{
    a->own = (th_ahead){0};
    if (a->task != a->target && work_of_task(m, a->task)->ahead.n == 0)
        return; /* leaves the slots as they are */
    if (a->task == a->target)
        a->own = a->ahead;
    else
        a->sum.did.moved_bytes[TH_ENGINE_WEIGHT] += a->ahead.moved_bytes;
    a->ahead = (th_ahead){0};
    a->target = next_target(m, a);
}

void th_prefetch_start_pipeline(const th_machine *m, const th_accel_state *a, th_pipeline *p,
                                th_pipeline_begin *b)
{
    const th_work *w = a->task >= 0 ? work_of_task(m, a->task) : NULL;
    int accel = (int)(a - m->accels);
    if (th_prefetch_is_on(m, accel)) {
        b->own = a->task >= 0 ? &a->own : NULL;
        b->next = a->target >= 0 ? &work_of_task(m, a->target)->ahead : NULL;
        b->next_done = &a->ahead;
    }
    th_port port = w ? w->port : th_port_of(&m->system->nodes[m->system->accel_node[accel]].a);
    th_pipeline_start_with(p, w ? &w->schedule : &th_no_schedule, &port, b);
}

/* What a task's end depends on besides its work and the draws. */
void th_prefetch_digest(const th_machine *m, th_accel_state *a)
{
    const int32_t next = a->target >= 0 ? m->program->tasks[a->target].work : -1;
    for (int i = 0; i < 2; i++) {
        uint64_t *d = &a->history.digest[i];
        *d = th_hash(&a->own, sizeof a->own, *d);
        *d = th_hash(&a->ahead, sizeof a->ahead, *d);
        *d = th_hash(&next, sizeof next, *d);
    }
}

bool th_prefetch_has_more(const th_machine *m, th_accel_state *a)
{
    if (a->target < 0)
        a->target = next_target(m, a);
    return a->target >= 0 && a->ahead.n_done < work_of_task(m, a->target)->ahead.n;
}
