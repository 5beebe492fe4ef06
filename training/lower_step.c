/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_step.c - see lower_step.h.
 *   for each operation in an order of execution: wait for what another stage made -> visit its
 *   layers -> piece by piece -> send; then, stage by stage: reduce what is left -> optimizer ->
 *   gather weights
 *
 * Of a stage, computations and the collectives that they wait for follow each other. A collective
 * that overlaps begins with the computation behind it, and what follows waits for both. Weights and
 * gradients travel on an engine of their own, in order: with ZeRO 3 the weights of a layer are
 * gathered while the one before it computes; gradients leave while the next layer computes.
 * Computations lose a share of their rate to a collective that overlaps, for as long as both run.
 * Without ZeRO 3 the stages exchange the gradients of a chunk together, once its first stage, which
 * is the last backward, has made its own, and of the last chunk when each has made all of its own:
 * else one stage after the other would slow what the next one waits for. Messages between stages
 * leave when what they carry is made, and the sender computes meanwhile, or waits until they are
 * there. Where replicas take shares of the micro-batches, the ranks of one share are lowered after
 * those of the other; what all exchange (weights of ZeRO 1 and 2, gradients) waits for all.
 * Operations of a pair (dualpipe_v) are two chains of tasks of one accelerator, which
 * computes in either while the other one waits for messages. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/min_max.h"
#include "training/lower_step.h"
#include "training/lowering.h"
#include "training/plan_stages.h"

void th_training_step_clear(th_training_step *x)
{
    th_free(x->task);
    th_free(x->work);
    th_free(x->work_of);
    th_free(x->place_of);
    th_free(x->memory);
    *x = (th_training_step){.task = NULL};
}

/* ---- tasks ---- */

static th_time ps_of(double s)
{
    double ps = ceil(s * (double)TH_PS_PER_S);
    return ps < 1 ? 1 : ps < 0x1p60 ? (th_time)ps : (th_time)0x1p60;
}

/* ---- pairs: two chains on one accelerator, which does what is ready ---- */

/* The backward operation of a pair starts where the forward one did. */
static void enter_pair(th_lowering *l, int32_t at, int32_t i)
{
    th_lowering_stage *g = &l->stages[at];
    const th_pipeline_op *op = &l->s->ops[i];
    if (th_pipeline_opens_pair(l->s, i)) {
        memcpy(g->forked.of, g->wait, sizeof g->wait);
        g->forked.n = g->n_wait;
    } else if (i % l->s->n_ops > 0 && th_pipeline_opens_pair(l->s, i - 1)) {
        memcpy(g->joins.of, g->wait, sizeof g->wait);
        g->joins.n = g->n_wait;
        memcpy(g->wait, g->forked.of, sizeof g->wait);
        g->n_wait = g->forked.n;
        g->paired = op->chunk;
    } else if (g->paired != NONE && !(op->kind == TH_PIPELINE_WEIGHTS && op->chunk == g->paired)) {
        g->paired = NONE;
        for (int32_t k = 0; k < g->joins.n; k++)
            th_lowering_wait_also(g, g->joins.of[k]);
    }
}

/* The parts of a computation. It takes at least the host's time; what they are rounded by is the
 * last one's. */
static th_step_work work_of(const th_piece *x, double host_s)
{
    th_step_work work = {.ps = {0}};
    th_time left = ps_of(fmax(x->s, host_s));
    int last = TH_WORK_HOST;
    for (int i = 0; i < TH_N_WORK_PARTS; i++) {
        work.ps[i] = (th_time)fmin(x->part_s[i] * (double)TH_PS_PER_S, (double)left);
        left -= work.ps[i];
        if (work.ps[i] > 0 && x->s >= host_s)
            last = i;
    }
    work.ps[last] += left;
    return work;
}

/* The host launches kernels in order, those of a computation while the exchanges before it run, and
 * the device waits for them. */
static int compute(th_lowering *l, int32_t at, const th_piece *x, th_step_task what, th_error *err)
{
    th_lowering_stage *g = &l->stages[at];
    th_step_work work = work_of(x, x->host_s - g->ahead_s);
    int32_t task = th_step_compute(l->tasks, at, &work, what, th_lowering_waits_of(g), err);
    if (task < 0)
        return -1;
    th_lowering_wait_for(g, task);
    for (int32_t i = 0; i < g->n_beside; i++)
        th_lowering_wait_also(g, g->beside[i]);
    g->n_beside = 0;
    g->ahead_s = 0;
    return 0;
}

/* An exchange that the stage waits for, and what goes on inside nodes at the same time. */
static int exchange(th_lowering *l, int32_t at, const th_piece *x, th_error *err)
{
    th_lowering_stage *g = &l->stages[at];
    th_step_exchange of[] = {{x->collective, x->group, x->bytes},
                             {x->collective, TH_GROUP_EXPERT_LOCAL, x->local_bytes}};
    int32_t task[2], n = x->local_bytes > 0 ? 2 : 1;
    th_time longest = 0;
    for (int32_t i = 0; i < n; i++) {
        th_time ps = th_step_exchange_ps(l->tasks, at, &of[i], err);
        task[i] =
            ps < 0 ? -1 : th_step_collective(l->tasks, at, &of[i], 0, th_lowering_waits_of(g), err);
        if (task[i] < 0)
            return -1;
        longest = th_max(longest, ps);
    }
    th_lowering_wait_for(g, task[0]);
    th_lowering_wait_also(g, n > 1 ? task[1] : NONE);
    g->ahead_s += th_seconds(longest) - x->host_s;
    return 0;
}

static int collective(th_lowering *l, int32_t at, const th_piece *x, th_error *err)
{
    if (!x->overlaps)
        return exchange(l, at, x, err);
    th_lowering_stage *g = &l->stages[at];
    th_step_exchange e = {x->collective, x->group, x->bytes};
    int32_t task = th_step_collective(l->tasks, at, &e, th_overlap_share(l->c, x->group),
                                      th_lowering_waits_of(g), err);
    if (task < 0)
        return -1;
    g->ahead_s -= x->host_s;
    if (g->n_beside < WAITS_MAX)
        g->beside[g->n_beside++] = task;
    return 0;
}

/* ---- operations ---- */

static int visit(th_lowering *l, int32_t at, int32_t layer, const th_pipeline_op *op, th_error *err)
{
    th_work_context *c = &l->of_stage[at];
    th_lowering_stage *g = &l->stages[at];
    th_pieces pieces;
    int32_t before = g->n_wait > 0 ? g->wait[0] : NONE;
    int64_t parameters = th_layer_parameters_of_rank(l->c, layer);
    bool splits = l->s->splits_backward;
    c->p = th_plan_recomputes(l->c->p, l->c->t, at, layer) ? &l->recomputed : l->c->p;
    th_layer_work(c, layer, (th_pipeline_kind)op->kind, splits, &pieces);
    l->tasks->place = (th_step_place){op->micro_batch, layer, op->kind};
    if (op->kind != TH_PIPELINE_WEIGHTS &&
        th_lowering_gather_weights(l, at, parameters,
                                   op->kind == TH_PIPELINE_FORWARD && op->micro_batch == 0, err))
        return -1;
    if (th_lowering_send_gradients(l, at, err))
        return -1;
    for (int i = 0; i < pieces.n; i++)
        if (pieces.of[i].bytes > 0 ? collective(l, at, &pieces.of[i], err)
                                   : compute(l, at, &pieces.of[i], TH_STEP_COMPUTE, err))
            return -1;
    g->gate = before;
    bool makes_gradients = op->kind == (splits ? TH_PIPELINE_WEIGHTS : TH_PIPELINE_BACKWARD);
    return makes_gradients ? th_lowering_reduce_gradients(l, at, op, parameters, err) : 0;
}

/* The layers of a step, with the embedding in front of the first and the output layer behind the
 * last; backward from the last to the first. */
static int visit_all(th_lowering *l, int32_t at, int32_t step, const th_pipeline_op *op,
                     th_error *err)
{
    const th_layer_range r = th_plan_layers(l->c->p, l->c->t, step);
    const int32_t last = l->s->shape.stages * l->s->shape.chunks - 1;
    const int32_t first = r.first - (step == 0), end = r.first + r.n + (step == last);
    for (int32_t i = first; i < end; i++) {
        const int32_t k = op->kind == TH_PIPELINE_FORWARD ? i : first + end - 1 - i;
        const int32_t layer = k < r.first         ? TH_LAYER_EMBEDDING_STEP
                              : k < r.first + r.n ? k
                                                  : TH_LAYER_HEAD_STEP;
        if (visit(l, at, layer, op, err))
            return -1;
    }
    return 0;
}

/* The step before (-1) or behind (1) an operation's, if another stage has it; NONE. */
static int32_t neighbour(const th_lowering *l, int32_t at, const th_pipeline_op *op, int way)
{
    int32_t last = l->s->shape.stages * l->s->shape.chunks - 1;
    int32_t other =
        th_pipeline_step(l->s, at, op->chunk) + (op->kind == TH_PIPELINE_FORWARD ? way : -way);
    if (op->kind == TH_PIPELINE_WEIGHTS || other < 0 || other > last ||
        th_pipeline_stage_of(l->s, other) == at)
        return NONE;
    return other;
}

/* Does the operation make the last gradients of a chunk on its stage? */
static bool is_last_gradient(const th_lowering *l, const th_pipeline_op *op)
{
    return op->kind == (l->s->splits_backward ? TH_PIPELINE_WEIGHTS : TH_PIPELINE_BACKWARD) &&
           op->micro_batch == l->s->shape.micro_batches - 1;
}

/* The message that brings another stage what an operation made; a stage that does not overlap it
 * waits until it is there. */
static int32_t send(th_lowering *l, int32_t from, int32_t to, int32_t made, th_error *err)
{
    int32_t task =
        th_step_message(l->tasks, from, to, l->message_bytes, (th_bundles){&made, 1}, err);
    if (task >= 0 && !l->c->p->overlaps_pipeline)
        th_lowering_wait_also(&l->stages[from], task);
    l->stages[from].ahead_s -= th_message_host_s(l->c);
    return task;
}

static int lower_op(th_lowering *l, int32_t i, th_error *err)
{
    const th_pipeline_op *op = &l->s->ops[i];
    int32_t at = i / l->s->n_ops, step = th_pipeline_step(l->s, at, op->chunk);
    int32_t from = neighbour(l, at, op, -1), to = neighbour(l, at, op, 1);
    th_lowering_stage *g = &l->stages[at];
    enter_pair(l, at, i);
    if (from != NONE) {
        th_lowering_wait_also(g,
                              l->came[th_pipeline_number(l->s, op->kind, from, op->micro_batch)]);
        g->ahead_s -= th_message_host_s(l->c);
    }
    if (visit_all(l, at, step, op, err))
        return -1;
    if (is_last_gradient(l, op) && th_lowering_release_gradients(l, at, op->chunk, err))
        return -1;
    if (to == NONE)
        return 0;
    int32_t made = g->n_wait > 0 ? g->wait[0] : NONE;
    int32_t task = send(l, at, th_pipeline_stage_of(l->s, to), made, err);
    l->came[th_pipeline_number(l->s, op->kind, step, op->micro_batch)] = task;
    return task < 0 ? -1 : 0;
}

/* ---- the end of a step ---- */

static void lower_share(th_lowering *l, int32_t share)
{
    l->share = share;
    l->s = &l->all[share];
    l->stages = th_lowering_stage_of(l, share, 0);
    l->of_stage = &l->all_of_stage[share * l->s->shape.stages];
    l->tasks->share = l->n_shares > 1 ? share : -1;
}

static int update_weights(th_lowering *l, int32_t at, int64_t parameters, th_error *err)
{
    th_piece x = {.s = th_optimizer_s(&l->of_stage[at], parameters)};
    x.part_s[TH_WORK_OPTIMIZER] = x.s;
    return x.s > 0 ? compute(l, at, &x, TH_STEP_OPTIMIZER, err) : 0;
}

static int end_stage(th_lowering *l, int32_t at, th_error *err)
{
    const th_parallel_plan *p = l->c->p;
    int64_t parameters = th_stage_parameters(l->c, l->s, at), pending = l->stages[at].pending_bytes;
    for (int32_t k = 0; k < l->n_shares; k++) {
        lower_share(l, k);
        if (th_lowering_send_gradients(l, at, err))
            return -1;
    }
    if (l->n_shares > 1 && th_lowering_exchange_joint(l, at, err))
        return -1;
    for (int32_t k = 0; k < l->n_shares; k++)
        th_lowering_wait_also(th_lowering_stage_of(l, k, at),
                              th_lowering_stage_of(l, k, at)->engine);
    if (th_lowering_exchange_now(l, at, TH_REDUCE_SCATTER, pending, err))
        return -1;
    for (int32_t k = 0; k < l->n_shares; k++) {
        lower_share(l, k);
        if (update_weights(l, at, parameters, err))
            return -1;
    }
    bool gathers = (p->n.zero == 1 || p->n.zero == 2) && !p->overlaps_data && !p->frozen_weights;
    return gathers ? th_lowering_exchange_now(l, at, TH_ALL_GATHER,
                                              parameters * th_plan_number_bytes(p), err)
                   : 0;
}

/* At least so many bundles: a computation for each half of a layer. */
static int64_t count_bundles(const th_lowering *l)
{
    const th_pipeline_shape *n = &l->s->shape;
    return (int64_t)l->s->n_ops * n->stages * 2 * l->c->t->layers / (n->stages * n->chunks);
}

static int lower(th_lowering *l, th_error *err)
{
    const int32_t stages = l->all->shape.stages;
    int64_t n_bundles = 0;
    for (l->share = 0; l->share < l->n_shares; l->share++) {
        l->s = &l->all[l->share];
        n_bundles += count_bundles(l);
    }
    if (th_step_tasks_check(l->tasks, n_bundles, err))
        return -1;
    l->recomputed = *l->c->p;
    l->recomputed.recompute = TH_RECOMPUTE_FULL;
    l->message_bytes = th_boundary_bytes(l->c);
    for (int32_t k = 0; k < l->n_shares; k++) {
        lower_share(l, k);
        for (int32_t i = 0; i < stages; i++) {
            l->of_stage[i] = *l->c;
            l->of_stage[i].device = th_stage_device(l->c, i, l->n_shares > 1 ? k : -1);
            l->stages[i] =
                (th_lowering_stage){.engine = NONE, .gate = NONE, .wait = {NONE}, .paired = NONE};
        }
        for (int32_t i = 0; i < l->s->shape.chunks; i++)
            l->made[i] = NONE;
        for (int32_t i = 0; i < stages * l->s->n_ops; i++)
            if (lower_op(l, l->s->order[i], err))
                return -1;
    }
    l->tasks->place = TH_STEP_AS_A_WHOLE;
    for (int32_t i = 0; i < stages; i++)
        if (end_stage(l, i, err))
            return -1;
    return 0;
}

/* The step takes over the kinds of tasks. */
static void take_tasks(th_training_step *out, th_step_tasks *tasks)
{
    out->task = tasks->kind;
    out->work = tasks->work;
    out->work_of = tasks->work_of;
    tasks->work = NULL;
    tasks->work_of = NULL;
    out->place_of = tasks->place_of;
    tasks->place_of = NULL;
    out->is_merged = tasks->is_merged && out->n_ranks > 1;
    tasks->kind = NULL;
}

/* Of the share whose ranks need most. */
static th_plan_memory memory_of(const th_work_context *c, const th_pipeline_schedule *s, int32_t at)
{
    th_plan_memory most = th_plan_memory_of(c, s, at);
    for (int32_t k = 1; k < th_plan_n_shares(c->p); k++) {
        const th_plan_memory m = th_plan_memory_of(c, &s[k], at);
        if (th_plan_memory_sum(&m) > th_plan_memory_sum(&most))
            most = m;
    }
    return most;
}

static void clear(th_lowering *l)
{
    th_free(l->all_stages);
    th_free(l->all_of_stage);
    th_free(l->came);
    th_free(l->made);
    th_free(l->held);
    th_free(l->joint);
    th_free(l->joint_layer);
    th_free(l->gathered);
}

static int allocate(th_lowering *l, th_error *err)
{
    const size_t stages = (size_t)l->all->shape.stages, layers = (size_t)l->c->t->layers + 2;
    const size_t n = (size_t)l->n_shares;
    int64_t n_ops = 0;
    for (size_t i = 0; i < n; i++)
        n_ops = th_max(n_ops, (int64_t)th_pipeline_number(&l->all[i], TH_PIPELINE_N_KINDS, 0, 0));
    l->all_of_stage = th_alloc_array(n * stages, sizeof *l->all_of_stage);
    l->all_stages = th_alloc_array(n * stages, sizeof *l->all_stages);
    l->made = th_alloc_array((size_t)l->all->shape.chunks, sizeof *l->made);
    l->came = th_alloc_array((size_t)n_ops, sizeof *l->came);
    l->joint = th_alloc_array(n * layers, sizeof *l->joint);
    l->joint_layer = th_alloc_array(layers, sizeof *l->joint_layer);
    l->gathered = th_alloc_array(layers, sizeof *l->gathered);
    const bool is_there = l->all_stages && l->all_of_stage && l->came && l->made && l->joint &&
                          l->joint_layer && l->gathered;
    return is_there ? 0 : th_error_no_memory(err);
}

int th_lower_step(const th_system *s, const th_work_context *c,
                  const th_pipeline_schedule *schedules, bool merges, th_program *p,
                  th_training_step *out, th_error *err)
{
    th_step_tasks tasks;
    th_lowering l = {
        .system = s, .c = c, .all = schedules, .n_shares = th_plan_n_shares(c->p), .tasks = &tasks};
    const int32_t stages = schedules->shape.stages;
    *out = (th_training_step){.model = *c->t,
                              .plan = *c->p,
                              .device = c->device,
                              .n_ranks = th_plan_stage_ranks(c->p) * c->p->n.pipeline};
    if (th_step_tasks_init(&tasks, s, c->p, merges, p, err))
        return -1;
    out->device.generation = th_plan_unmeasured_device(c)->generation;
    out->device.operations_per_s = th_plan_operations_per_s(c);
    out->memory = th_alloc_array((size_t)stages, sizeof *out->memory);
    int status = out->memory ? 0 : th_error_no_memory(err);
    if (status || th_step_tasks_use(&tasks, c->memo, err) || allocate(&l, err) || lower(&l, err))
        status = -1;
    for (int32_t i = 0; status == 0 && i < stages; i++)
        out->memory[i] = memory_of(c, schedules, i);
    out->model.name = NULL; /* the caller's may be gone when the step is read */
    out->plan.schedule_file = NULL;
    take_tasks(out, &tasks);
    th_step_tasks_clear(&tasks);
    clear(&l);
    if (status)
        th_training_step_clear(out);
    return status;
}
