/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefetch.c - accelerators that load the first weights of their next task while this one drains.
 *
 *   load -> (task_begins -> set_begin -> (has_more -> set_begin)?)*
 *
 * What comes next on an accelerator is fixed by the program: the first task, in program order, that
 * has weights and has not started (its target). Where its weights follow from its inputs (rows of
 * an embedding, products of activations) or arrive over the network, nothing of it can be loaded
 * ahead. When the running task's own weights are in, the weight engine goes on with the target's,
 * into slots that the array has left (sim/pipeline/pipeline.c); when no task runs, it goes on alone
 * (LOADING). The target finds them in its slots. A task without weights leaves them there; another
 * task with weights that overtakes the target throws them away, and their bytes count for the
 * accelerator alone.
 * Such an accelerator has no collapsed tasks: their ends depend on what came before, so they are
 * known by that too (the digest of their history). Invariant: ahead is what is done for target when
 * the running task starts, or, between two tasks, when the last one ended. */
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

/* What may be loaded of a task before it starts. */
static const th_prefetch_plan *plan_of(const th_machine *m, int32_t task)
{
    static const th_prefetch_plan nothing;
    return m->program->tasks[task].weights_arrive ? &nothing : &cost_of_task(m, task)->prefetch;
}

/* The accelerator of a task with weights, if it loads ahead; else NULL. */
static th_accel_state *loader_of(th_machine *m, int32_t task)
{
    const th_task *t = &m->program->tasks[task];
    if (t->kind != TH_TASK_COMPUTE)
        return NULL;
    int accel = m->system->nodes[t->node].accel;
    return th_prefetch_is_on(m, accel) && has_weights(m, task) ? &m->accels[accel] : NULL;
}

/* Tasks with weights, in program order, the first accelerator's first: counted, then dealt out. */
static void deal_out(th_machine *m)
{
    int32_t n = 0;
    for (int32_t t = 0; t < m->program->n_tasks; t++) {
        th_accel_state *a = loader_of(m, t);
        if (a)
            a->end_weighted++;
    }
    for (int i = 0; i < m->system->n_accels; i++) {
        th_accel_state *a = &m->accels[i];
        int32_t own = a->end_weighted;
        a->next_weighted = a->end_weighted = n;
        n += own;
    }
    for (int32_t t = 0; t < m->program->n_tasks; t++) {
        th_accel_state *a = loader_of(m, t);
        if (a)
            m->prefetch.tasks[a->end_weighted++] = t;
    }
}

int th_prefetch_load(th_machine *m)
{
    m->prefetch.is_used = false;
    for (int i = 0; i < m->system->n_accels; i++) {
        th_accel_state *a = &m->accels[i];
        a->target = -1;
        a->inherited = a->prefetched = (th_prefetch_state){0};
        a->end_weighted = 0;
        a->was_freed = th_prefetch_is_on(m, i);
        m->prefetch.is_used |= a->was_freed;
    }
    if (!m->prefetch.is_used)
        return 0;
    if (th_grow(&m->prefetch.tasks, &m->prefetch.capacity, (size_t)m->program->n_tasks + 1,
                sizeof *m->prefetch.tasks))
        return -1;
    deal_out(m);
    return 0;
}

static int32_t next_target(const th_machine *m, th_accel_state *a)
{
    while (a->next_weighted < a->end_weighted &&
           m->times[m->prefetch.tasks[a->next_weighted]].start_ps >= 0)
        a->next_weighted++;
    return a->next_weighted < a->end_weighted ? m->prefetch.tasks[a->next_weighted] : -1;
}

void th_prefetch_task_starts(th_machine *m, th_accel_state *a)
{
    a->inherited = (th_prefetch_state){0};
    if (!has_weights(m, a->task)) { /* leaves the slots as they are */
        if (a->target < 0)
            a->target = next_target(m, a);
        return;
    }
    if (a->task == a->target)
        a->inherited = a->prefetched;
    else
        a->sum.did.moved_bytes[TH_ENGINE_WEIGHT] += a->prefetched.moved_bytes;
    a->prefetched = (th_prefetch_state){0};
    a->target = next_target(m, a);
}

void th_prefetch_set_options(const th_machine *m, const th_accel_state *a, th_pipeline_options *b)
{
    if (!th_prefetch_is_on(m, (int)(a - m->accels)))
        return;
    b->inherited = a->task >= 0 ? &a->inherited : NULL;
    b->next = a->target >= 0 ? plan_of(m, a->target) : NULL;
    b->next_done = &a->prefetched;
}

/* What a task's end depends on besides its work and the draws. */
void th_prefetch_digest(const th_machine *m, th_accel_state *a)
{
    bool any = a->target >= 0 && plan_of(m, a->target)->n > 0;
    const int32_t next = any ? m->program->tasks[a->target].compute_cost : -1;
    for (int i = 0; i < 2; i++) {
        uint64_t *d = &a->history.digest[i];
        *d = th_hash(&a->inherited, sizeof a->inherited, *d);
        *d = th_hash(&a->prefetched, sizeof a->prefetched, *d);
        *d = th_hash(&next, sizeof next, *d);
    }
}

bool th_prefetch_is_incomplete(const th_machine *m, th_accel_state *a)
{
    if (a->target < 0)
        a->target = next_target(m, a);
    return a->target >= 0 && a->prefetched.n_done < plan_of(m, a->target)->n;
}
