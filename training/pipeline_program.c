/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_program.c - see pipeline_program.h.
 *   for each operation in an order of execution: bring what it gets from another step, by a
 *   transfer where that is on another stage -> add its task -> depend on these and on the one
 *   before it on the stage */
#include <config.h>
#include "training/pipeline_program.h"
#include <string.h>
#include "base/alloc.h"

typedef struct lowering {
    const th_pipeline_schedule *s;
    const th_pipeline_work *w;
    th_program *p;
    int32_t *task;  /* by operation */
    int32_t *end;   /* the task of an operation by kind, step and micro-batch */
    int32_t *chain; /* by stage: the task before; -1: none */
} lowering;

static int32_t add_compute(const lowering *l, int32_t stage, int kind, int32_t step, th_error *err)
{
    int32_t steps = l->s->shape.stages * l->s->shape.chunks;
    th_fixed_work work = {.duration_ps = l->w->duration_ps[kind * steps + step]};
    th_task t = {.kind = TH_TASK_COMPUTE, .node = l->w->node[stage], .peer = -1, .layer = -1};
    t.compute_cost = th_program_add_work(l->p, &work, err);
    return t.compute_cost < 0 ? -1 : th_program_add(l->p, &t, err);
}

/* The task that brings what `before` made from one stage to another. */
static int32_t add_transfer(const lowering *l, int32_t before, int32_t from, int32_t to,
                            th_error *err)
{
    th_task t = {.kind = TH_TASK_HOST,
                 .node = -1,
                 .peer = -1,
                 .compute_cost = -1,
                 .delay_ps = l->w->transfer_ps,
                 .layer = -1};
    if (l->w->bytes >= 0) {
        t.kind = TH_TASK_TRANSFER;
        t.node = l->w->node[from];
        t.peer = l->w->node[to];
        t.bytes = l->w->bytes;
        t.delay_ps = 0;
    }
    int32_t n = th_program_add(l->p, &t, err);
    return n < 0 || th_program_depend(l->p, n, before, err) ? -1 : n;
}

/* The task that brings an operation of a stage what it gets from another step. -1: nothing, or it
 * is of the same stage, whose order says so; -2 on failure. */
static int32_t bring(const lowering *l, const th_pipeline_op *op, int32_t stage, int32_t step,
                     th_error *err)
{
    int32_t last = l->s->shape.stages * l->s->shape.chunks - 1;
    int32_t other = op->kind == TH_PIPELINE_FORWARD ? step - 1 : step + 1;
    if (op->kind == TH_PIPELINE_WEIGHTS || other < 0 || other > last)
        return -1;
    int32_t before = l->end[th_pipeline_number(l->s, op->kind, other, op->micro_batch)];
    int32_t from = th_pipeline_stage_of(l->s, other);
    if (from == stage)
        return -1;
    if (l->w->bytes < 0 && l->w->transfer_ps == 0)
        return before;
    int32_t task = add_transfer(l, before, from, stage, err);
    return task < 0 ? -2 : task;
}

static int add_op(lowering *l, int32_t i, th_error *err)
{
    const th_pipeline_schedule *s = l->s;
    const th_pipeline_op *op = &s->ops[i];
    int32_t stage = i / s->n_ops, step = th_pipeline_step(s, stage, op->chunk);
    int32_t brought = bring(l, op, stage, step, err);
    int32_t task = brought == -2 ? -1 : add_compute(l, stage, op->kind, step, err);
    if (task < 0 || (brought >= 0 && th_program_depend(l->p, task, brought, err)) ||
        (l->chain[stage] >= 0 && th_program_depend(l->p, task, l->chain[stage], err)))
        return -1;
    l->chain[stage] = task;
    l->end[th_pipeline_number(s, op->kind, step, op->micro_batch)] = task;
    if (l->task)
        l->task[i] = task;
    return 0;
}

int th_pipeline_lower(const th_pipeline_schedule *s, const th_pipeline_work *w,
                      const int32_t *after, th_program *p, int32_t *task, th_error *err)
{
    size_t stages = (size_t)s->shape.stages;
    lowering l = {.s = s, .w = w, .p = p, .task = task};
    l.end = th_alloc_array(th_pipeline_number(s, TH_PIPELINE_N_KINDS, 0, 0), sizeof *l.end);
    l.chain = th_alloc_array(stages, sizeof *l.chain);
    int status = l.end && l.chain ? 0 : th_error_no_memory(err);
    for (size_t i = 0; status == 0 && i < stages; i++)
        l.chain[i] = after ? after[i] : -1;
    for (int32_t k = 0; status == 0 && k < s->shape.stages * s->n_ops; k++)
        status = add_op(&l, s->order[k], err);
    th_free(l.end);
    th_free(l.chain);
    return status;
}
