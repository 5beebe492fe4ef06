/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_check.c - is a schedule complete, and does every operation come to its turn?
 *   count every operation -> execute: each stage in its order, as far as what it waits for is done
 * F of step k waits for F of step k - 1, B for B of step k + 1 and, at the last step, for its own
 * F; W for its own B. An order of execution in which nothing is left is a proof that no stage waits
 * for ever. */
#include <config.h>
#include <assert.h>
#include <string.h>
#include "base/alloc.h"
#include "training/pipeline_schedule.h"

typedef struct execution {
    th_pipeline_schedule *s;
    uint8_t *done; /* by kind, step of the model and micro-batch */
    int32_t *next; /* by stage */
    int32_t n_done;
} execution;

/* ---- every operation once ---- */

static bool is_of_shape(const th_pipeline_schedule *s, const th_pipeline_op *op)
{
    return op->chunk >= 0 && op->chunk < s->shape.chunks && op->micro_batch >= 0 &&
           op->micro_batch < s->shape.micro_batches &&
           (s->splits_backward || op->kind != TH_PIPELINE_WEIGHTS);
}

/* As many operations as there are, and none twice: then all of them. */
static int count_ops(const execution *x, const char *what, th_error *err)
{
    const th_pipeline_schedule *s = x->s;
    for (int32_t stage = 0; stage < s->shape.stages; stage++)
        for (int32_t i = 0; i < s->n_ops; i++) {
            const th_pipeline_op *op = &s->ops[(int64_t)stage * s->n_ops + i];
            assert(is_of_shape(s, op));
            size_t at = th_pipeline_number(s, op->kind, th_pipeline_step(s, stage, op->chunk),
                                           op->micro_batch);
            if (x->done[at]++)
                return th_error_set(
                    err, "MAP-0406", "%s: stage %d: %c%d.%d: stands twice: must stand once", what,
                    (int)stage, th_pipeline_letter(op->kind), (int)op->micro_batch, op->chunk);
        }
    return 0;
}

/* ---- execution ---- */

/* What an operation waits for; false: nothing. */
static bool awaited(const th_pipeline_schedule *s, const th_pipeline_op *op, int32_t step,
                    th_pipeline_op *what, int32_t *at)
{
    int32_t last = s->shape.stages * s->shape.chunks - 1;
    *what = *op;
    *at = step;
    if (op->kind == TH_PIPELINE_WEIGHTS)
        what->kind = TH_PIPELINE_BACKWARD;
    else if (op->kind == TH_PIPELINE_BACKWARD && step == last)
        what->kind = TH_PIPELINE_FORWARD;
    else
        *at += op->kind == TH_PIPELINE_BACKWARD ? 1 : -1;
    what->chunk = (int16_t)(*at / s->shape.stages);
    return *at >= 0;
}

static bool is_ready(const execution *x, int32_t stage, const th_pipeline_op *op)
{
    const th_pipeline_schedule *s = x->s;
    int32_t step = th_pipeline_step(s, stage, op->chunk), at;
    th_pipeline_op what;
    if (op->kind == TH_PIPELINE_BACKWARD &&
        !x->done[th_pipeline_number(s, TH_PIPELINE_FORWARD, step, op->micro_batch)])
        return false;
    return !awaited(s, op, step, &what, &at) ||
           x->done[th_pipeline_number(s, what.kind, at, op->micro_batch)];
}

/* Runs a stage as far as it goes. */
static void advance(execution *x, int32_t stage)
{
    const th_pipeline_schedule *s = x->s;
    for (; x->next[stage] < s->n_ops; x->next[stage]++) {
        int32_t i = stage * s->n_ops + x->next[stage];
        const th_pipeline_op *op = &s->ops[i];
        if (!is_ready(x, stage, op))
            return;
        x->done[th_pipeline_number(s, op->kind, th_pipeline_step(s, stage, op->chunk),
                                   op->micro_batch)] = 1;
        s->order[x->n_done++] = i;
    }
}

static int tell_deadlock(const execution *x, const char *what, th_error *err)
{
    const th_pipeline_schedule *s = x->s;
    int32_t stage = 0, at;
    while (x->next[stage] == s->n_ops)
        stage++;
    const th_pipeline_op *op = &s->ops[(int64_t)stage * s->n_ops + x->next[stage]];
    th_pipeline_op other = *op;
    int32_t step = th_pipeline_step(s, stage, op->chunk);
    if (!awaited(s, op, step, &other, &at) ||
        x->done[th_pipeline_number(s, other.kind, at, op->micro_batch)])
        at = step, other = (th_pipeline_op){op->micro_batch, op->chunk, TH_PIPELINE_FORWARD};
    return th_error_set(err, "MAP-0407",
                        "%s: deadlock: operation %d of stage %d, %c%d.%d, waits for %c%d.%d of "
                        "stage %d, which never has its turn: the order must give it one",
                        what, (int)x->next[stage], (int)stage, th_pipeline_letter(op->kind),
                        (int)op->micro_batch, op->chunk, th_pipeline_letter(other.kind),
                        (int)other.micro_batch, other.chunk, (int)th_pipeline_stage_of(s, at));
}

static int execute(execution *x, const char *what, th_error *err)
{
    const th_pipeline_schedule *s = x->s;
    int32_t all = s->shape.stages * s->n_ops;
    while (x->n_done < all) {
        int32_t before = x->n_done;
        for (int32_t stage = 0; stage < s->shape.stages; stage++)
            advance(x, stage);
        if (x->n_done == before)
            return tell_deadlock(x, what, err);
    }
    return 0;
}

int th_pipeline_check(th_pipeline_schedule *s, const char *what, th_error *err)
{
    size_t stages = (size_t)s->shape.stages;
    size_t n = th_pipeline_number(s, TH_PIPELINE_N_KINDS, 0, 0);
    execution x = {.s = s,
                   .done = th_alloc_zero(n, sizeof *x.done),
                   .next = th_alloc_zero(stages, sizeof *x.next)};
    int32_t *order = th_alloc_array(stages * (size_t)s->n_ops, sizeof *order);
    int status = x.done && x.next && order ? 0 : th_error_no_memory(err);
    if (status == 0)
        status = count_ops(&x, what, err);
    if (status == 0) {
        th_free(s->order);
        s->order = order;
        order = NULL;
        memset(x.done, 0, n);
        status = execute(&x, what, err);
    }
    th_free(order);
    th_free(x.done);
    th_free(x.next);
    return status;
}
