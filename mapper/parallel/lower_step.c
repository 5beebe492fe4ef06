/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_step.c - see lower_step.h.
 *   for each operation in an order of execution: bring what another stage made -> visit its layers
 *   -> piece by piece; then, stage by stage: reduce what is left -> optimizer -> gather weights
 *
 * Of a stage, computations and the collectives that they wait for follow each other. A collective
 * that overlaps begins with the computation behind it, and what follows waits for both. Weights and
 * gradients travel on an engine of their own, in order: with ZeRO 3 the weights of a layer are
 * gathered while the one before it computes; gradients leave while the next layer computes. What
 * overlaps lengthens the computation by a share of its time. */
#include <config.h>
#include <math.h>
#include "base/alloc.h"
#include "mapper/parallel/lower_step.h"
#include "sim/design/compute_cost.h"

const char *const th_step_task_names[] = {
    [TH_STEP_COMPUTE] = "compute",   [TH_STEP_OPTIMIZER] = "optimizer",
    [TH_STEP_TENSOR] = "tensor",     [TH_STEP_CONTEXT] = "context",
    [TH_STEP_EXPERT] = "expert",     [TH_STEP_DATA] = "data",
    [TH_STEP_PIPELINE] = "pipeline", NULL};

enum { NONE = -1, WAITS_MAX = 16 };

/* Where a stage stands. */
typedef struct stage {
    int32_t wait[WAITS_MAX], n_wait;     /* what the next task waits for */
    int32_t beside[WAITS_MAX], n_beside; /* collectives that the next computation overlaps */
    double lost_s;                       /* of the next computation, to what overlaps it */
    int32_t engine;                      /* last task of weights and gradients */
    int32_t gate;                        /* end of the layer before: prefetching begins there */
    th_time reduce_ps;                   /* gradients of the layer before, not on the engine yet */
    int32_t reduce_after;                /* its computation */
    int64_t pending_bytes;               /* gradients that are reduced at the end */
    int64_t parameters;
} stage;

typedef struct lowering {
    const th_system *system;
    const th_work_context *c;
    const th_pipeline_schedule *s;
    th_collective_times *times;
    th_program *p;
    th_training_step *out;
    stage *stages;
    int32_t *end; /* of each operation, by kind, step and micro-batch */
    th_time message_ps;
} lowering;

void th_training_step_clear(th_training_step *x)
{
    th_free(x->task);
    th_free(x->memory);
    *x = (th_training_step){.task = NULL};
}

int th_training_device_of(const th_system *s, th_training_device *out, th_error *err)
{
    const th_accel *a = &s->nodes[s->accel_node[0]].a;
    th_compute_cost_cache *costs = th_compute_cost_cache_new(s, err);
    *out = (th_training_device){.memory_bytes = a->dram_bytes,
                                .generation = th_generation_find(s->designs[a->designs[0]].name)};
    int status =
        costs ? th_compute_cost_roofline(costs, 0, &out->operations_per_s, &out->bytes_per_s, err)
              : -1;
    th_compute_cost_cache_free(costs);
    return status;
}

/* ---- tasks ---- */

static th_time ps_of(double s)
{
    double ps = ceil(s * (double)TH_PS_PER_S);
    return ps < 1 ? 1 : ps < 0x1p60 ? (th_time)ps : (th_time)0x1p60;
}

/* A task that waits for what the stage waits for, and others. */
static int32_t add(lowering *l, const th_task *t, th_step_task what, const int32_t *wait, int32_t n,
                   th_error *err)
{
    size_t number = (size_t)l->p->n_tasks;
    if (th_grow(&l->out->task, &l->out->task_capacity, number + 1, sizeof *l->out->task))
        return th_error_no_memory(err);
    l->out->task[number] = (uint8_t)what;
    int32_t task = th_program_add(l->p, t, err);
    for (int32_t i = 0; task >= 0 && i < n; i++)
        if (wait[i] != NONE && th_program_depend(l->p, task, wait[i], err))
            return -1;
    return task;
}

static int32_t add_delay(lowering *l, th_time ps, th_step_task what, const int32_t *wait, int32_t n,
                         th_error *err)
{
    th_task t = {.kind = TH_TASK_HOST,
                 .node = -1,
                 .peer = -1,
                 .compute_cost = -1,
                 .delay_ps = ps,
                 .layer = -1};
    return add(l, &t, what, wait, n, err);
}

static void wait_for(stage *g, int32_t task)
{
    g->wait[0] = task;
    g->n_wait = 1;
}

static void wait_also(stage *g, int32_t task)
{
    if (task != NONE && g->n_wait < WAITS_MAX)
        g->wait[g->n_wait++] = task;
}

/* The next computation runs beside a message of this time. */
static void overlap(const lowering *l, stage *g, th_time ps, bool of_tensor)
{
    double share = l->c->numbers.of[of_tensor ? TH_NUMBER_OVERLAP_TENSOR : TH_NUMBER_OVERLAP_COST];
    g->lost_s += share * (double)ps / (double)TH_PS_PER_S;
}

static int compute(lowering *l, int32_t at, double s, th_step_task what, th_error *err)
{
    stage *g = &l->stages[at];
    th_fixed_work w = {.duration_ps = ps_of(s + g->lost_s)};
    th_task t = {.kind = TH_TASK_COMPUTE,
                 .node = l->system->accel_node[th_plan_accel(l->c->p, at, 0)],
                 .peer = -1,
                 .layer = -1};
    t.compute_cost = th_program_add_work(l->p, &w, err);
    int32_t task = t.compute_cost < 0 ? -1 : add(l, &t, what, g->wait, g->n_wait, err);
    if (task < 0)
        return -1;
    wait_for(g, task);
    for (int32_t i = 0; i < g->n_beside; i++)
        wait_also(g, g->beside[i]);
    g->n_beside = 0;
    g->lost_s = 0;
    return 0;
}

static th_step_task kind_of_group(th_plan_group group)
{
    switch (group) {
    case TH_GROUP_TENSOR:
        return TH_STEP_TENSOR;
    case TH_GROUP_CONTEXT:
        return TH_STEP_CONTEXT;
    case TH_GROUP_EXPERT:
        return TH_STEP_EXPERT;
    case TH_GROUP_GRADIENT:
    case TH_GROUP_ZERO:
    case TH_GROUP_REPLICA:
    case TH_N_GROUPS:
        break;
    }
    return TH_STEP_DATA;
}

static int collective(lowering *l, int32_t at, const th_piece *x, th_error *err)
{
    stage *g = &l->stages[at];
    th_time ps = th_collective_time(l->times, x->collective, x->group, x->bytes, err);
    int32_t task = ps < 0 ? -1 : add_delay(l, ps, kind_of_group(x->group), g->wait, g->n_wait, err);
    if (task < 0)
        return -1;
    if (!x->overlaps) {
        wait_for(g, task);
    } else if (g->n_beside < WAITS_MAX) {
        g->beside[g->n_beside++] = task;
        overlap(l, g, ps, x->group == TH_GROUP_TENSOR);
    }
    return 0;
}

/* ---- weights and gradients ---- */

/* On the engine, behind its last task and `after`. Its end, or -1. */
static int32_t on_engine(lowering *l, stage *g, th_time ps, int32_t after, th_error *err)
{
    int32_t wait[] = {g->engine, after};
    int32_t task = add_delay(l, ps, TH_STEP_DATA, wait, 2, err);
    return g->engine = task;
}

/* The time of gradients or weights of so many bytes over the ranks that share them. -1 on
 * failure. */
static th_time exchange_ps(lowering *l, th_collective_kind kind, int64_t bytes, th_error *err)
{
    const th_parallel_plan *p = l->c->p;
    if (p->n.zero == 0)
        return kind == TH_ALL_GATHER
                   ? 0
                   : th_collective_time(l->times, TH_ALL_REDUCE, TH_GROUP_GRADIENT, bytes, err);
    th_time a = th_collective_time(l->times, kind, TH_GROUP_ZERO, bytes, err), b = 0;
    if (a >= 0 && kind == TH_REDUCE_SCATTER)
        b = th_collective_time(l->times, TH_ALL_REDUCE, TH_GROUP_REPLICA, bytes / p->n.zero_group,
                               err);
    return a < 0 || b < 0 ? -1 : a + b;
}

/* What the first computation of a layer waits for: its weights. ZeRO 3: every time; 1 and 2: once a
 * step, where the exchange overlaps. */
static int gather_weights(lowering *l, int32_t at, int64_t parameters, bool is_first, th_error *err)
{
    enum { WEIGHT_BYTES = 2 };
    const th_parallel_plan *p = l->c->p;
    stage *g = &l->stages[at];
    bool every = p->n.zero == 3;
    if (p->frozen_weights || p->n.zero == 0 || (!every && (!is_first || !p->overlaps_data)))
        return 0;
    th_time ps = exchange_ps(l, TH_ALL_GATHER, parameters * WEIGHT_BYTES, err);
    if (ps <= 0)
        return (int)ps;
    int32_t gate = !every ? NONE : p->overlaps_data ? g->gate : g->wait[0];
    int32_t task = on_engine(l, g, ps, gate, err);
    if (task < 0)
        return -1;
    if (p->overlaps_data)
        overlap(l, g, ps, false);
    wait_also(g, task);
    return 0;
}

/* Puts the gradients of the layer before on the engine, behind the weights of the next one, which a
 * computation waits for. */
static int send_gradients(lowering *l, stage *g, th_error *err)
{
    th_time ps = g->reduce_ps;
    g->reduce_ps = 0;
    if (ps == 0)
        return 0;
    overlap(l, g, ps, false);
    return on_engine(l, g, ps, g->reduce_after, err) < 0 ? -1 : 0;
}

static int reduce_gradients(lowering *l, int32_t at, int64_t parameters, bool is_last,
                            th_error *err)
{
    const th_parallel_plan *p = l->c->p;
    stage *g = &l->stages[at];
    int64_t bytes = parameters * p->gradient_bytes;
    if (p->frozen_weights || (p->n.zero < 3 && !is_last))
        return 0;
    if (!p->overlaps_data) {
        g->pending_bytes += bytes;
        return 0;
    }
    th_time ps = exchange_ps(l, TH_REDUCE_SCATTER, bytes, err);
    if (ps < 0)
        return -1;
    g->reduce_ps = ps;
    g->reduce_after = g->wait[0];
    return 0;
}

/* ---- operations ---- */

static int visit(lowering *l, int32_t at, int32_t layer, const th_pipeline_op *op, th_error *err)
{
    stage *g = &l->stages[at];
    th_pieces pieces;
    int32_t before = g->n_wait > 0 ? g->wait[0] : NONE;
    int64_t parameters = th_layer_parameters_of_rank(l->c, layer);
    bool splits = l->s->splits_backward;
    th_layer_work(l->c, layer, (th_pipeline_kind)op->kind, splits, &pieces);
    if (op->kind != TH_PIPELINE_WEIGHTS &&
        gather_weights(l, at, parameters, op->kind == TH_PIPELINE_FORWARD && op->micro_batch == 0,
                       err))
        return -1;
    if (send_gradients(l, g, err))
        return -1;
    for (int i = 0; i < pieces.n; i++)
        if (pieces.of[i].bytes > 0 ? collective(l, at, &pieces.of[i], err)
                                   : compute(l, at, pieces.of[i].s, TH_STEP_COMPUTE, err))
            return -1;
    g->gate = before;
    bool makes_gradients = op->kind == (splits ? TH_PIPELINE_WEIGHTS : TH_PIPELINE_BACKWARD);
    bool is_last = op->micro_batch == l->s->shape.micro_batches - 1;
    return makes_gradients ? reduce_gradients(l, at, parameters, is_last, err) : 0;
}

static int visit_all(lowering *l, int32_t at, int32_t step, const th_pipeline_op *op, th_error *err)
{
    th_layer_range r = th_plan_layers(l->c->p, l->c->t, step);
    bool is_first = step == 0, is_forward = op->kind == TH_PIPELINE_FORWARD;
    bool is_last = step == l->s->shape.stages * l->s->shape.chunks - 1;
    if (is_forward && is_first && visit(l, at, TH_LAYER_EMBEDDING_STEP, op, err))
        return -1;
    if (!is_forward && is_last && visit(l, at, TH_LAYER_HEAD_STEP, op, err))
        return -1;
    for (int32_t i = 0; i < r.n; i++)
        if (visit(l, at, is_forward ? r.first + i : r.first + r.n - 1 - i, op, err))
            return -1;
    if (is_forward && is_last && visit(l, at, TH_LAYER_HEAD_STEP, op, err))
        return -1;
    return !is_forward && is_first ? visit(l, at, TH_LAYER_EMBEDDING_STEP, op, err) : 0;
}

static size_t number(const th_pipeline_schedule *s, int kind, int32_t step, int32_t micro_batch)
{
    size_t steps = (size_t)s->shape.stages * (size_t)s->shape.chunks;
    return ((size_t)kind * steps + (size_t)step) * (size_t)s->shape.micro_batches +
           (size_t)micro_batch;
}

/* What an operation gets from another stage. */
static int bring(lowering *l, int32_t at, int32_t step, const th_pipeline_op *op, th_error *err)
{
    int32_t last = l->s->shape.stages * l->s->shape.chunks - 1;
    int32_t other = op->kind == TH_PIPELINE_FORWARD ? step - 1 : step + 1;
    if (op->kind == TH_PIPELINE_WEIGHTS || other < 0 || other > last ||
        th_pipeline_stage_of(l->s, other) == at)
        return 0;
    int32_t before = l->end[number(l->s, op->kind, other, op->micro_batch)];
    int32_t task = add_delay(l, l->message_ps, TH_STEP_PIPELINE, &before, 1, err);
    if (task < 0)
        return -1;
    wait_also(&l->stages[at], task);
    return 0;
}

static int lower_op(lowering *l, int32_t i, th_error *err)
{
    const th_pipeline_op *op = &l->s->ops[i];
    int32_t at = i / l->s->n_ops, step = th_pipeline_step(l->s, at, op->chunk);
    stage *g = &l->stages[at];
    if (bring(l, at, step, op, err) || visit_all(l, at, step, op, err))
        return -1;
    l->end[number(l->s, op->kind, step, op->micro_batch)] = g->n_wait > 0 ? g->wait[0] : NONE;
    return 0;
}

/* ---- the end of a step ---- */

static int64_t parameters_of(const lowering *l, int32_t at)
{
    int32_t p = l->s->shape.stages, last = p * l->s->shape.chunks - 1;
    int64_t n = 0;
    for (int32_t chunk = 0; chunk < l->s->shape.chunks; chunk++) {
        int32_t step = th_pipeline_step(l->s, at, chunk);
        th_layer_range r = th_plan_layers(l->c->p, l->c->t, step);
        for (int32_t i = r.first; i < r.first + r.n; i++)
            n += th_layer_parameters_of_rank(l->c, i);
        if (step == 0)
            n += th_layer_parameters_of_rank(l->c, TH_LAYER_EMBEDDING_STEP);
        if (step == last)
            n += th_layer_parameters_of_rank(l->c, TH_LAYER_HEAD_STEP);
    }
    return n;
}

static int exchange_now(lowering *l, int32_t at, th_collective_kind kind, int64_t bytes,
                        th_error *err)
{
    stage *g = &l->stages[at];
    th_time ps = bytes > 0 ? exchange_ps(l, kind, bytes, err) : 0;
    if (ps <= 0)
        return (int)ps;
    int32_t task = add_delay(l, ps, TH_STEP_DATA, g->wait, g->n_wait, err);
    if (task < 0)
        return -1;
    wait_for(g, task);
    return 0;
}

static int end_stage(lowering *l, int32_t at, th_error *err)
{
    const th_parallel_plan *p = l->c->p;
    stage *g = &l->stages[at];
    int64_t parameters = parameters_of(l, at);
    double s = th_optimizer_s(l->c, parameters);
    if (send_gradients(l, g, err))
        return -1;
    wait_also(g, g->engine);
    g->lost_s = 0;
    if (exchange_now(l, at, TH_REDUCE_SCATTER, g->pending_bytes, err) ||
        (s > 0 && compute(l, at, s, TH_STEP_OPTIMIZER, err)))
        return -1;
    bool gathers = (p->n.zero == 1 || p->n.zero == 2) && !p->overlaps_data && !p->frozen_weights;
    return gathers ? exchange_now(l, at, TH_ALL_GATHER, 2 * parameters, err) : 0;
}

static int lower(lowering *l, th_error *err)
{
    int32_t stages = l->s->shape.stages;
    for (int32_t i = 0; i < stages; i++)
        l->stages[i] = (stage){.engine = NONE, .gate = NONE, .wait = {NONE}};
    l->message_ps = th_stage_message_time(l->times, th_boundary_bytes(l->c), err);
    if (l->message_ps < 0)
        return -1;
    for (int32_t k = 0; k < stages * l->s->n_ops; k++)
        if (lower_op(l, l->s->order[k], err))
            return -1;
    for (int32_t i = 0; i < stages; i++)
        if (end_stage(l, i, err))
            return -1;
    return 0;
}

int th_lower_step(const th_system *s, const th_work_context *c,
                  const th_pipeline_schedule *schedule, th_program *p, th_training_step *out,
                  th_error *err)
{
    lowering l = {.system = s, .c = c, .s = schedule, .p = p, .out = out};
    *out = (th_training_step){.model = *c->t,
                              .plan = *c->p,
                              .device = c->device,
                              .n_ranks = th_plan_stage_ranks(c->p) * c->p->n.pipeline};
    l.stages = th_alloc_array((size_t)schedule->shape.stages, sizeof *l.stages);
    out->memory = th_alloc_array((size_t)schedule->shape.stages, sizeof *out->memory);
    l.end = th_alloc_array(number(schedule, TH_PIPELINE_N_KINDS, 0, 0), sizeof *l.end);
    l.times = th_collective_times_new(s, c->p, c->numbers.of[TH_NUMBER_NETWORK], err);
    int status = !l.times                              ? -1
                 : !l.stages || !l.end || !out->memory ? th_error_no_memory(err)
                                                       : lower(&l, err);
    for (int32_t i = 0; status == 0 && i < schedule->shape.stages; i++)
        out->memory[i] = th_plan_memory_of(c, schedule, i);
    out->model.name = NULL; /* the caller's may be gone when the step is read */
    out->plan.schedule_file = NULL;
    th_collective_times_free(l.times);
    th_free(l.stages);
    th_free(l.end);
    if (status)
        th_training_step_clear(out);
    return status;
}
