/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefetch.c - accelerators that prefetch the first weights of their next task.
 *
 *   load -> (task_starts -> set_options -> (is_incomplete -> set_options)?)*
 *
 * The program determines the next task of an accelerator, the target: the first task, in program
 * order, that has weights and has not started. If its weights depend on its inputs (rows of an
 * embedding, products of activations) or arrive over the network, none of them can be prefetched.
 * When the weights of the running task are loaded, the weight engine continues with those of the
 * target, into slots that the array has released (sim/pipeline/pipeline.c); without a running task
 * it continues alone (mode LOADING). The target finds the prefetched weights in its slots. A task
 * without weights leaves them there. Another task with weights that starts before the target
 * discards them, and their bytes count for the accelerator only.
 *
 * Tasks of such an accelerator are never collapsed: their ends depend on the prefetch state, which
 * is part of the digest of their history. Invariant: prefetch.done is the progress for the target
 * when the running task started, or, between two tasks, when the previous one ended. */
#include <config.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/machine/machine_state.h"

bool th_prefetch_is_on(const th_machine *m, int accel)
{
    return m->system->nodes[m->system->accel_node[accel]].a.prefetches;
}

static const th_compute_cost *cost_of_task(const th_machine *m, int32_t task)
{
    return th_compute_cost_get(m->costs, m->program->tasks[task].compute_cost);
}

static bool has_weights(const th_machine *m, int32_t task)
{
    return cost_of_task(m, task)->total.weight_bytes > 0;
}

/* The weights of a task that may be loaded before it starts. */
static const th_prefetch_plan *plan_of(const th_machine *m, int32_t task)
{
    static const th_prefetch_plan nothing;
    return m->program->tasks[task].weights_arrive ? &nothing : &cost_of_task(m, task)->prefetch;
}

/* The accelerator of a task with weights, if it prefetches; else NULL. */
static th_accel_state *loader_of(th_machine *m, int32_t task)
{
    const th_task *t = &m->program->tasks[task];
    if (t->kind != TH_TASK_COMPUTE)
        return NULL;
    int accel = m->system->nodes[t->node].accel;
    return th_prefetch_is_on(m, accel) && has_weights(m, task) ? &m->accels[accel] : NULL;
}

/* Sorts the tasks with weights by accelerator, then in program order (a counting sort). */
static void sort_tasks(th_machine *m)
{
    int32_t n = 0;
    for (int32_t t = 0; t < m->program->n_tasks; t++) {
        th_accel_state *a = loader_of(m, t);
        if (a)
            a->prefetch.end++;
    }
    for (int i = 0; i < m->system->n_accels; i++) {
        th_accel_state *a = &m->accels[i];
        int32_t own = a->prefetch.end;
        a->prefetch.next = a->prefetch.end = n;
        n += own;
    }
    for (int32_t t = 0; t < m->program->n_tasks; t++) {
        th_accel_state *a = loader_of(m, t);
        if (a)
            m->prefetch.tasks[a->prefetch.end++] = t;
    }
}

int th_prefetch_load(th_machine *m)
{
    m->prefetch.is_used = false;
    for (int i = 0; i < m->system->n_accels; i++) {
        th_accel_state *a = &m->accels[i];
        a->prefetch.target = -1;
        a->prefetch.inherited = a->prefetch.done = (th_prefetch_state){0};
        a->prefetch.end = 0;
        a->prefetch.just_ended = th_prefetch_is_on(m, i);
        m->prefetch.is_used |= a->prefetch.just_ended;
    }
    if (!m->prefetch.is_used)
        return 0;
    if (th_grow(&m->prefetch.tasks, &m->prefetch.capacity, (size_t)m->program->n_tasks + 1,
                sizeof *m->prefetch.tasks))
        return -1;
    sort_tasks(m);
    return 0;
}

static int32_t next_target(const th_machine *m, th_accel_state *a)
{
    while (a->prefetch.next < a->prefetch.end &&
           m->tasks.times[m->prefetch.tasks[a->prefetch.next]].start_ps >= 0)
        a->prefetch.next++;
    return a->prefetch.next < a->prefetch.end ? m->prefetch.tasks[a->prefetch.next] : -1;
}

void th_prefetch_task_starts(th_machine *m, th_accel_state *a)
{
    a->prefetch.inherited = (th_prefetch_state){0};
    if (!has_weights(m, a->task)) { /* the slots stay as they are */
        if (a->prefetch.target < 0)
            a->prefetch.target = next_target(m, a);
        return;
    }
    if (a->task == a->prefetch.target)
        a->prefetch.inherited = a->prefetch.done;
    else
        a->sum.stats.moved_bytes[TH_ENGINE_WEIGHT] += a->prefetch.done.moved_bytes;
    a->prefetch.done = (th_prefetch_state){0};
    a->prefetch.target = next_target(m, a);
}

void th_prefetch_set_options(const th_machine *m, const th_accel_state *a, th_pipeline_options *o)
{
    if (!th_prefetch_is_on(m, (int)(a - m->accels)))
        return;
    o->inherited = a->task >= 0 ? &a->prefetch.inherited : NULL;
    o->next = a->prefetch.target >= 0 ? plan_of(m, a->prefetch.target) : NULL;
    o->next_done = &a->prefetch.done;
}

/* Adds to the digest what the end of a task depends on besides its compute cost and demand. */
void th_prefetch_digest(const th_machine *m, th_accel_state *a)
{
    bool any = a->prefetch.target >= 0 && plan_of(m, a->prefetch.target)->n > 0;
    const int32_t next = any ? m->program->tasks[a->prefetch.target].compute_cost : -1;
    for (int i = 0; i < 2; i++) {
        uint64_t *d = &a->history.digest[i];
        *d = th_hash(&a->prefetch.inherited, sizeof a->prefetch.inherited, *d);
        *d = th_hash(&a->prefetch.done, sizeof a->prefetch.done, *d);
        *d = th_hash(&next, sizeof next, *d);
    }
}

bool th_prefetch_is_incomplete(const th_machine *m, th_accel_state *a)
{
    if (a->prefetch.target < 0)
        a->prefetch.target = next_target(m, a);
    return a->prefetch.target >= 0 && a->prefetch.done.n_done < plan_of(m, a->prefetch.target)->n;
}
