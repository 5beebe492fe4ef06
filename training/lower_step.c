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
 * there. Operations of a pair (dualpipe_v) are two chains of tasks of one accelerator, which
 * computes in either while the other one waits for messages. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "training/kernel_counts.h"
#include "training/lower_step.h"
#include "training/plan_stages.h"

enum { NONE = TH_NO_BUNDLE, WAITS_MAX = 16 };

/* Exchanges of weights or gradients, one after the other. */
typedef struct calls {
    th_step_exchange of[2];
    int n;
    th_step_place place;
} calls;

/* Bundles that something waits for. */
typedef struct waits {
    int32_t of[WAITS_MAX], n;
} waits;

/* Where a stage stands. */
typedef struct stage {
    waits wait;            /* bundles that the next one waits for */
    waits beside;          /* collectives that the next computation overlaps */
    double ahead_s;        /* that the host is; < 0: launches before, behind */
    int32_t engine;        /* last exchange of weights and gradients */
    int32_t gate;          /* end of the layer before: prefetching begins there */
    calls reduce;          /* gradients of the layer before, not on the engine yet */
    int32_t reduce_after;  /* its computation */
    int64_t pending_bytes; /* gradients that are reduced at the end */
    waits forked, joins;   /* of a pair: before its forward operation, and behind it */
    int32_t paired;        /* chunk of its backward operation; NONE: it is in no pair */
} stage;

/* Gradients of a stage that wait for the first stage of their chunk. */
typedef struct held_calls {
    int32_t stage, chunk, after;
    calls of;
} held_calls;

typedef struct lowering {
    const th_system *system;
    const th_work_context *c;
    const th_pipeline_schedule *s;
    th_step_tasks *tasks;
    stage *stages;
    th_work_context *of_stage;   /* with its device */
    th_parallel_plan recomputed; /* the plan, for layers that alone are computed again */
    int32_t *came;               /* messages of operations to other stages, by th_pipeline_number */
    int64_t message_bytes;
    int32_t *made; /* by chunk: the last computation of its first stage; NONE: not yet */
    held_calls *held;
    size_t n_held, held_capacity;
} lowering;

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

static th_bundles waits_of(const stage *g)
{
    return (th_bundles){g->wait.of, g->wait.n};
}

static void wait_for(stage *g, int32_t task)
{
    g->wait.of[0] = task;
    g->wait.n = 1;
}

static void wait_also(stage *g, int32_t task)
{
    if (task != NONE && g->wait.n < WAITS_MAX)
        g->wait.of[g->wait.n++] = task;
}

/* ---- pairs: two chains on one accelerator, which does what is ready ---- */

/* The backward operation of a pair starts where the forward one did. */
static void enter_pair(lowering *l, int32_t at, int32_t i)
{
    stage *g = &l->stages[at];
    const th_pipeline_op *op = &l->s->ops[i];
    if (th_pipeline_opens_pair(l->s, i)) {
        g->forked = g->wait;
    } else if (i % l->s->n_ops > 0 && th_pipeline_opens_pair(l->s, i - 1)) {
        g->joins = g->wait;
        g->wait = g->forked;
        g->paired = op->chunk;
    } else if (g->paired != NONE && !(op->kind == TH_PIPELINE_WEIGHTS && op->chunk == g->paired)) {
        g->paired = NONE;
        for (int32_t k = 0; k < g->joins.n; k++)
            wait_also(g, g->joins.of[k]);
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
static int compute(lowering *l, int32_t at, const th_piece *x, th_step_task what, th_error *err)
{
    stage *g = &l->stages[at];
    th_step_work work = work_of(x, x->host_s - g->ahead_s);
    int32_t task = th_step_compute(l->tasks, at, &work, what, waits_of(g), err);
    if (task < 0)
        return -1;
    wait_for(g, task);
    for (int32_t i = 0; i < g->beside.n; i++)
        wait_also(g, g->beside.of[i]);
    g->beside.n = 0;
    g->ahead_s = 0;
    return 0;
}

/* An exchange that the stage waits for, and what goes on inside nodes at the same time. */
static int exchange(lowering *l, int32_t at, const th_piece *x, th_error *err)
{
    stage *g = &l->stages[at];
    th_step_exchange of[] = {{x->collective, x->group, x->bytes},
                             {x->collective, TH_GROUP_EXPERT_LOCAL, x->local_bytes}};
    int32_t task[2], n = x->local_bytes > 0 ? 2 : 1;
    th_time longest = 0;
    for (int32_t i = 0; i < n; i++) {
        th_time ps = th_step_exchange_ps(l->tasks, at, &of[i], err);
        task[i] = ps < 0 ? -1 : th_step_collective(l->tasks, at, &of[i], waits_of(g), err);
        if (task[i] < 0)
            return -1;
        longest = ps > longest ? ps : longest;
    }
    wait_for(g, task[0]);
    wait_also(g, n > 1 ? task[1] : NONE);
    g->ahead_s += th_seconds(longest) - x->host_s;
    return 0;
}

/* The share of their rate that computations lose to a collective beside them. */
static double slowdown(const lowering *l, th_plan_group group)
{
    return l->c->numbers
        .of[group == TH_GROUP_TENSOR ? TH_NUMBER_OVERLAP_TENSOR : TH_NUMBER_OVERLAP_COST];
}

static int collective(lowering *l, int32_t at, const th_piece *x, th_error *err)
{
    if (!x->overlaps)
        return exchange(l, at, x, err);
    stage *g = &l->stages[at];
    th_step_exchange e = {x->collective, x->group, x->bytes};
    int32_t task =
        th_step_collective_beside(l->tasks, at, &e, slowdown(l, x->group), waits_of(g), err);
    if (task < 0)
        return -1;
    g->ahead_s -= x->host_s;
    if (g->beside.n < WAITS_MAX)
        g->beside.of[g->beside.n++] = task;
    return 0;
}

/* ---- weights and gradients ---- */

static void add_call(const lowering *l, calls *c, th_collective_kind kind, th_plan_group group,
                     int64_t bytes)
{
    if (bytes > 0 && th_plan_group_size(l->c->p, group) > 1)
        c->of[c->n++] = (th_step_exchange){kind, group, bytes};
}

/* The exchanges of so many bytes of gradients or weights over the ranks that share them. */
static calls calls_of(const lowering *l, th_collective_kind kind, int64_t bytes)
{
    const th_parallel_plan *p = l->c->p;
    calls c = {.n = 0, .place = l->tasks->place};
    if (p->n.zero > 0) {
        add_call(l, &c, kind, TH_GROUP_ZERO, bytes);
        if (kind == TH_REDUCE_SCATTER)
            add_call(l, &c, TH_ALL_REDUCE, TH_GROUP_REPLICA, bytes / p->n.zero_group);
    } else if (kind == TH_REDUCE_SCATTER) {
        add_call(l, &c, TH_ALL_REDUCE, TH_GROUP_GRADIENT, bytes);
    }
    return c;
}

/* On the engine, behind its last exchange and both bundles. The end, or -1. */
static int32_t on_engine(lowering *l, int32_t at, const calls *c, int32_t after, int32_t and_after,
                         th_error *err)
{
    stage *g = &l->stages[at];
    const th_step_place place = l->tasks->place;
    l->tasks->place = c->place;
    for (int i = 0; i < c->n; i++) {
        int32_t wait[] = {g->engine, after, and_after};
        double share = l->c->p->overlaps_data ? slowdown(l, c->of[i].group) : 0;
        int32_t task =
            th_step_collective_beside(l->tasks, at, &c->of[i], share, (th_bundles){wait, 3}, err);
        if (task < 0)
            return -1;
        g->engine = task;
    }
    l->tasks->place = place;
    return g->engine;
}

/* What the first computation of a layer waits for: its weights. ZeRO 3: every time; 1 and 2: once a
 * step, where the exchange overlaps. */
static int gather_weights(lowering *l, int32_t at, int64_t parameters, bool is_first, th_error *err)
{
    const th_parallel_plan *p = l->c->p;
    stage *g = &l->stages[at];
    bool every = p->n.zero == 3;
    if (p->frozen_weights || p->n.zero == 0 || (!every && (!is_first || !p->overlaps_data)))
        return 0;
    calls c = calls_of(l, TH_ALL_GATHER, parameters * th_plan_number_bytes(p));
    if (c.n == 0)
        return 0;
    int32_t gate = !every ? NONE : p->overlaps_data ? g->gate : g->wait.of[0];
    int32_t end = on_engine(l, at, &c, gate, NONE, err);
    if (end < 0)
        return -1;
    wait_also(g, end);
    return 0;
}

/* The stage with the first layers of a chunk, whose backward pass is the last. */
static int32_t first_stage(const lowering *l, int32_t chunk)
{
    return th_pipeline_stage_of(l->s, chunk * l->s->shape.stages);
}

/* Puts the gradients of the layer before on the engine, behind the weights of the next one, which a
 * computation waits for. */
static int send_gradients(lowering *l, int32_t at, th_error *err)
{
    stage *g = &l->stages[at];
    const calls c = g->reduce;
    g->reduce.n = 0;
    return c.n > 0 && on_engine(l, at, &c, g->reduce_after, NONE, err) < 0 ? -1 : 0;
}

/* Stage `at` has made all of its gradients of a chunk: those of the last chunk leave, or, where it
 * is the first stage, those of all stages. */
static int release_gradients(lowering *l, int32_t at, int32_t chunk, th_error *err)
{
    const bool of_all = at == first_stage(l, chunk);
    const int32_t made = l->stages[at].wait.of[0];
    size_t kept = 0;
    if (!of_all && chunk > 0)
        return 0;
    if (of_all)
        l->made[chunk] = made;
    for (size_t i = 0; i < l->n_held; i++) {
        const held_calls *h = &l->held[i];
        if (h->chunk != chunk || (!of_all && h->stage != at))
            l->held[kept++] = *h;
        else if (on_engine(l, h->stage, &h->of, h->after, made, err) < 0)
            return -1;
    }
    l->n_held = kept;
    return 0;
}

static int reduce_gradients(lowering *l, int32_t at, const th_pipeline_op *op, int64_t parameters,
                            th_error *err)
{
    bool is_last = op->micro_batch == l->s->shape.micro_batches - 1;
    const th_parallel_plan *p = l->c->p;
    stage *g = &l->stages[at];
    int64_t bytes = parameters * p->gradient_bytes;
    if (p->frozen_weights || (p->n.zero < 3 && !is_last))
        return 0;
    if (!p->overlaps_data) {
        g->pending_bytes += bytes;
        return 0;
    }
    const calls c = calls_of(l, TH_REDUCE_SCATTER, bytes);
    if (c.n == 0)
        return 0;
    if (p->n.zero == 3 || at == first_stage(l, op->chunk) || l->made[op->chunk] != NONE) {
        g->reduce = c;
        g->reduce_after = g->wait.of[0];
        return 0;
    }
    if (th_grow(&l->held, &l->held_capacity, l->n_held + 1, sizeof *l->held))
        return th_error_no_memory(err);
    l->held[l->n_held++] = (held_calls){at, op->chunk, g->wait.of[0], c};
    return 0;
}

/* ---- operations ---- */

static int visit(lowering *l, int32_t at, int32_t layer, const th_pipeline_op *op, th_error *err)
{
    th_work_context *c = &l->of_stage[at];
    stage *g = &l->stages[at];
    th_pieces pieces;
    int32_t before = g->wait.n > 0 ? g->wait.of[0] : NONE;
    int64_t parameters = th_layer_parameters_of_rank(l->c, layer);
    bool splits = l->s->splits_backward;
    c->p = th_plan_recomputes(l->c->p, l->c->t, at, layer) ? &l->recomputed : l->c->p;
    th_layer_work(c, layer, (th_pipeline_kind)op->kind, splits, &pieces);
    l->tasks->place = (th_step_place){op->micro_batch, layer, op->kind};
    if (op->kind != TH_PIPELINE_WEIGHTS &&
        gather_weights(l, at, parameters, op->kind == TH_PIPELINE_FORWARD && op->micro_batch == 0,
                       err))
        return -1;
    if (send_gradients(l, at, err))
        return -1;
    for (int i = 0; i < pieces.n; i++)
        if (pieces.of[i].bytes > 0 ? collective(l, at, &pieces.of[i], err)
                                   : compute(l, at, &pieces.of[i], TH_STEP_COMPUTE, err))
            return -1;
    g->gate = before;
    bool makes_gradients = op->kind == (splits ? TH_PIPELINE_WEIGHTS : TH_PIPELINE_BACKWARD);
    return makes_gradients ? reduce_gradients(l, at, op, parameters, err) : 0;
}

/* The layers of a step, with the embedding in front of the first and the output layer behind the
 * last; backward from the last to the first. */
static int visit_all(lowering *l, int32_t at, int32_t step, const th_pipeline_op *op, th_error *err)
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
static int32_t neighbour(const lowering *l, int32_t at, const th_pipeline_op *op, int way)
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
static bool is_last_gradient(const lowering *l, const th_pipeline_op *op)
{
    return op->kind == (l->s->splits_backward ? TH_PIPELINE_WEIGHTS : TH_PIPELINE_BACKWARD) &&
           op->micro_batch == l->s->shape.micro_batches - 1;
}

/* The host's calls at one end of a message between stages. */
static void launch_message(lowering *l, int32_t at)
{
    l->stages[at].ahead_s -= th_kernels_of(l->c->p, TH_KERNELS_MESSAGE, false) *
                             l->c->numbers.of[th_launch_number(l->c->p)];
}

/* The message that brings another stage what an operation made; a stage that does not overlap it
 * waits until it is there. */
static int32_t send(lowering *l, int32_t from, int32_t to, int32_t made, th_error *err)
{
    int32_t task =
        th_step_message(l->tasks, from, to, l->message_bytes, (th_bundles){&made, 1}, err);
    if (task >= 0 && !l->c->p->overlaps_pipeline)
        wait_also(&l->stages[from], task);
    launch_message(l, from);
    return task;
}

static int lower_op(lowering *l, int32_t i, th_error *err)
{
    const th_pipeline_op *op = &l->s->ops[i];
    int32_t at = i / l->s->n_ops, step = th_pipeline_step(l->s, at, op->chunk);
    int32_t from = neighbour(l, at, op, -1), to = neighbour(l, at, op, 1);
    stage *g = &l->stages[at];
    enter_pair(l, at, i);
    if (from != NONE) {
        wait_also(g, l->came[th_pipeline_number(l->s, op->kind, from, op->micro_batch)]);
        launch_message(l, at);
    }
    if (visit_all(l, at, step, op, err))
        return -1;
    if (is_last_gradient(l, op) && release_gradients(l, at, op->chunk, err))
        return -1;
    if (to == NONE)
        return 0;
    int32_t made = g->wait.n > 0 ? g->wait.of[0] : NONE;
    int32_t task = send(l, at, th_pipeline_stage_of(l->s, to), made, err);
    l->came[th_pipeline_number(l->s, op->kind, step, op->micro_batch)] = task;
    return task < 0 ? -1 : 0;
}

/* ---- the end of a step ---- */

static int exchange_now(lowering *l, int32_t at, th_collective_kind kind, int64_t bytes,
                        th_error *err)
{
    stage *g = &l->stages[at];
    calls c = calls_of(l, kind, bytes);
    for (int i = 0; i < c.n; i++) {
        int32_t task = th_step_collective(l->tasks, at, &c.of[i], waits_of(g), err);
        if (task < 0)
            return -1;
        wait_for(g, task);
    }
    return 0;
}

static int end_stage(lowering *l, int32_t at, th_error *err)
{
    const th_parallel_plan *p = l->c->p;
    stage *g = &l->stages[at];
    int64_t parameters = th_stage_parameters(l->c, l->s, at);
    th_piece x = {.s = th_optimizer_s(&l->of_stage[at], parameters)};
    x.part_s[TH_WORK_OPTIMIZER] = x.s;
    if (send_gradients(l, at, err))
        return -1;
    wait_also(g, g->engine);
    if (exchange_now(l, at, TH_REDUCE_SCATTER, g->pending_bytes, err) ||
        (x.s > 0 && compute(l, at, &x, TH_STEP_OPTIMIZER, err)))
        return -1;
    bool gathers = (p->n.zero == 1 || p->n.zero == 2) && !p->overlaps_data && !p->frozen_weights;
    return gathers ? exchange_now(l, at, TH_ALL_GATHER, parameters * th_plan_number_bytes(p), err)
                   : 0;
}

/* At least so many bundles: a computation for each half of a layer. */
static int64_t count_bundles(const lowering *l)
{
    const th_pipeline_shape *n = &l->s->shape;
    return (int64_t)l->s->n_ops * n->stages * 2 * l->c->t->layers / (n->stages * n->chunks);
}

static int lower(lowering *l, th_error *err)
{
    int32_t stages = l->s->shape.stages;
    if (th_step_tasks_check(l->tasks, count_bundles(l), err))
        return -1;
    for (int32_t i = 0; i < stages; i++) {
        l->of_stage[i] = *l->c;
        l->of_stage[i].device = th_stage_device(l->c, i);
        l->stages[i] = (stage){.engine = NONE, .gate = NONE, .wait = {{NONE}, 0}, .paired = NONE};
    }
    l->recomputed = *l->c->p;
    l->recomputed.recompute = TH_RECOMPUTE_FULL;
    for (int32_t i = 0; i < l->s->shape.chunks; i++)
        l->made[i] = NONE;
    l->message_bytes = th_boundary_bytes(l->c);
    for (int32_t k = 0; k < stages * l->s->n_ops; k++)
        if (lower_op(l, l->s->order[k], err))
            return -1;
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

int th_lower_step(const th_system *s, const th_work_context *c,
                  const th_pipeline_schedule *schedule, bool merges, th_program *p,
                  th_training_step *out, th_error *err)
{
    th_step_tasks tasks;
    lowering l = {.system = s, .c = c, .s = schedule, .tasks = &tasks};
    *out = (th_training_step){.model = *c->t,
                              .plan = *c->p,
                              .device = c->device,
                              .n_ranks = th_plan_stage_ranks(c->p) * c->p->n.pipeline};
    if (th_step_tasks_init(&tasks, s, c->p, merges, p, err))
        return -1;
    int status = th_step_tasks_use(&tasks, c->memo, err);
    out->device.generation = th_plan_unmeasured_device(c)->generation;
    out->device.operations_per_s = th_plan_operations_per_s(c);
    l.of_stage = th_alloc_array((size_t)schedule->shape.stages, sizeof *l.of_stage);
    l.stages = th_alloc_array((size_t)schedule->shape.stages, sizeof *l.stages);
    out->memory = th_alloc_array((size_t)schedule->shape.stages, sizeof *out->memory);
    l.made = th_alloc_array((size_t)schedule->shape.chunks, sizeof *l.made);
    l.came =
        th_alloc_array(th_pipeline_number(schedule, TH_PIPELINE_N_KINDS, 0, 0), sizeof *l.came);
    if (status == 0)
        status = !l.stages || !l.of_stage || !l.came || !l.made || !out->memory
                     ? th_error_no_memory(err)
                     : lower(&l, err);
    for (int32_t i = 0; status == 0 && i < schedule->shape.stages; i++)
        out->memory[i] = th_plan_memory_of(c, schedule, i);
    out->model.name = NULL; /* the caller's may be gone when the step is read */
    out->plan.schedule_file = NULL;
    take_tasks(out, &tasks);
    th_step_tasks_clear(&tasks);
    th_free(l.stages);
    th_free(l.of_stage);
    th_free(l.came);
    th_free(l.made);
    th_free(l.held);
    if (status)
        th_training_step_clear(out);
    return status;
}
