/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_bound.c - see plan_bound.h; plan_quick.c has the quick bounds.
 *   operations work of units (classes, embedding, output layer) -> a walk over the layers of a step
 *   schedule   each operation of the order: what came, the stage before -> its end -> the message
 * The walk does what lower_step.c does to a stage (wait, beside, ahead_s, engine), with times in
 * the place of tasks. Left out, so that no bound is above the step: computations that slow down for
 * weights and gradients beside them, gradients that wait for those of other stages, weights that
 * the first forward pass waits for. Times are rounded down where tasks round up. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/min_max.h"
#include "training/search/plan_bound.h"
#include "training/plan_stages.h"
#include "training/step_tasks.h"

/* ---- the work of units ---- */

/* A computation, or a collective. */
typedef struct piece_time {
    th_time compute_ps;
    double host_s;
    th_time exchange_ps, longest_ps; /* -1: a computation */
    double share;                    /* that computations beside it lose; 0: it is waited for */
} piece_time;

typedef struct unit_work {
    piece_time *of[TH_PIPELINE_N_KINDS];
    int n[TH_PIPELINE_N_KINDS];
    th_time gather_ps, reduce_ps; /* of its weights, of its gradients */
    int64_t parameters;
} unit_work;

/* An operation on a step of the model, from the last computation of its stage before. */
typedef struct operation {
    th_time gather_ps;           /* the weights of the first layer */
    th_time lead_ps;             /* up to the first computation; */
    th_time first_ps, beside_ps; /* which is beside a message that costs it a share */
    double first_host_s, share;
    th_time rest_ps, made_ps; /* behind it: to the end; to what the next stage gets */
    th_time work_ps;          /* of all its computations, alone */
    double ahead_s;           /* that the host is then */
    bool computes;
} operation;

/* What the operations of a plan take on each step of the model, for the ranks of a share. */
typedef struct th_plan_operations {
    const th_plan_units *units;
    const th_work_context *c;
    const th_pipeline_schedule *s;
    th_pipeline_shape shape;
    bool splits;
    int32_t share;                              /* -1: all take as many micro-batches */
    int32_t n_sets;                             /* 1, or stages, of unlike accelerators */
    unit_work *work;                            /* of a set: classes, embedding, output layer */
    operation *of;                              /* by kind * steps + step */
    th_time *message_ps;                        /* by stage: to the one before, and the next */
    th_time *engine_ps, *end_ps, *optimizer_ps; /* by stage */
    double message_host_s;
} th_plan_operations;

static unit_work *work_of(const th_plan_operations *x, int32_t stage, int32_t unit)
{
    return &x->work[(x->n_sets > 1 ? stage : 0) * (x->units->n + 2) + unit];
}

static th_time floor_ps(double s)
{
    return (th_time)fmin(s * (double)TH_PS_PER_S, 0x1p60);
}

static int time_piece(const th_plan_operations *x, const th_piece *piece,
                      th_collective_times *times, piece_time *out, th_error *err)
{
    *out =
        (piece_time){.host_s = piece->host_s, .compute_ps = floor_ps(piece->s), .exchange_ps = -1};
    if (piece->bytes == 0)
        return 0;
    out->exchange_ps =
        th_collective_time(times, piece->collective, piece->group, piece->bytes, err);
    th_time local = th_collective_time(times, piece->collective, TH_GROUP_EXPERT_LOCAL,
                                       piece->local_bytes, err);
    out->longest_ps = th_max(out->exchange_ps, local);
    out->share =
        piece->overlaps ? (float)th_overlap_share(x->c, piece->group) : 0; /* as a task has it */
    return out->exchange_ps < 0 || local < 0 ? -1 : 0;
}

/* Of so many bytes of gradients or weights. -1 on failure. */
static th_time exchange_ps(const th_plan_operations *x, th_collective_times *times,
                           th_collective_kind kind, int64_t bytes, th_error *err)
{
    th_step_exchange of[2];
    th_time sum = 0, ps = 0;
    const int n = th_step_exchanges_of(x->c->p, kind, bytes, of);
    for (int i = 0; i < n && ps >= 0; i++)
        sum += ps = th_collective_time(times, of[i].kind, of[i].group, of[i].bytes, err);
    return ps < 0 ? -1 : sum;
}

static int32_t layer_of_unit(const th_plan_units *u, int32_t unit)
{
    return unit < u->n    ? u->first[unit]
           : unit == u->n ? TH_LAYER_EMBEDDING_STEP
                          : TH_LAYER_HEAD_STEP;
}

/* c: of the stage. */
static int time_unit(th_plan_operations *x, const th_work_context *c, unit_work *w, int32_t unit,
                     th_collective_times *times, th_error *err)
{
    const int32_t layer = layer_of_unit(x->units, unit);
    th_pieces pieces;
    for (int kind = 0; kind < (x->splits ? 3 : 2); kind++) {
        th_layer_work(c, layer, (th_pipeline_kind)kind, x->splits, &pieces);
        w->of[kind] = th_alloc_array((size_t)pieces.n + 1, sizeof *w->of[kind]);
        if (!w->of[kind])
            return th_error_no_memory(err);
        w->n[kind] = pieces.n;
        for (int i = 0; i < pieces.n; i++)
            if (time_piece(x, &pieces.of[i], times, &w->of[kind][i], err))
                return -1;
    }
    w->parameters = th_layer_parameters_of_rank(x->c, layer);
    if (x->c->p->frozen_weights)
        return 0;
    w->gather_ps =
        exchange_ps(x, times, TH_ALL_GATHER, th_plan_number_bytes(x->c->p) * w->parameters, err);
    w->reduce_ps =
        exchange_ps(x, times, TH_REDUCE_SCATTER, w->parameters * x->c->p->gradient_bytes, err);
    return w->gather_ps < 0 || w->reduce_ps < 0 ? -1 : 0;
}

/* ---- a walk over the layers of a step ---- */

/* Since the start, or since the first computation has ended with what was beside it. */
typedef struct walk {
    operation *of;
    th_time now, made; /* all that is waited for; the newest computation or exchange */
    th_time beside;    /* end of the message that the next computation overlaps */
    double share, ahead_s;
} walk;

/* With a message beside it. The machine rounds to the nearest picosecond, twice. */
static th_time slowed(th_time compute, th_time beside, double share)
{
    enum { ROUNDED = 2 };
    if (beside <= 0)
        return compute;
    if ((double)compute >= (double)beside * (1 - share))
        return compute + (th_time)((double)beside * share) - ROUNDED;
    return share < 1 ? (th_time)((double)compute / (1 - share)) - ROUNDED : compute;
}

static th_time host_ps(double s)
{
    return s > 0 ? floor_ps(s) : 0;
}

static void walk_compute(walk *w, const piece_time *x)
{
    operation *o = w->of;
    o->work_ps += x->compute_ps;
    const th_time beside = th_max(w->beside - w->now, (th_time)0);
    if (!o->computes) {
        o->computes = true;
        o->lead_ps = w->now;
        o->first_ps = x->compute_ps;
        o->first_host_s = x->host_s - w->ahead_s;
        o->beside_ps = beside;
        o->share = w->share;
        w->now = w->made = 0;
    } else {
        th_time ps =
            th_max(slowed(x->compute_ps, beside, w->share), host_ps(x->host_s - w->ahead_s));
        w->made = w->now + ps;
        w->now = th_max(w->made, w->now + beside);
    }
    w->beside = 0;
    w->ahead_s = w->share = 0;
}

static void walk_exchange(walk *w, const piece_time *x)
{
    w->ahead_s -= x->host_s;
    if (x->share > 0 && w->now + x->exchange_ps > w->beside) {
        w->beside = w->now + x->exchange_ps;
        w->share = x->share;
    }
    if (x->share > 0)
        return;
    w->made = w->now + x->exchange_ps;
    w->now += x->longest_ps;
    w->ahead_s += th_seconds(x->longest_ps);
}

static void walk_unit(const th_plan_operations *x, walk *w, int kind, const unit_work *u)
{
    const th_parallel_plan *p = x->c->p;
    if (p->n.zero == 3 && !p->overlaps_data && kind != TH_PIPELINE_WEIGHTS) {
        if (w->now == 0 && !w->of->computes)
            w->of->gather_ps = th_max(w->of->gather_ps, u->gather_ps);
        else
            w->now = th_max(w->now, w->made + u->gather_ps);
    }
    for (int i = 0; i < u->n[kind]; i++) {
        const piece_time *piece = &u->of[kind][i];
        if (piece->exchange_ps < 0)
            walk_compute(w, piece);
        else
            walk_exchange(w, piece);
    }
}

/* The units of a step of the model, in order: the embedding is in front of its first layer, the
 * output layer behind its last. */
static int32_t count_units(const th_plan_operations *x, int32_t step)
{
    const int32_t last = x->shape.stages * x->shape.chunks - 1;
    return (step == 0) + th_plan_layers(x->c->p, x->c->t, step).n + (step == last);
}

static const unit_work *unit_at(const th_plan_operations *x, int32_t step, int32_t i)
{
    const th_layer_range r = th_plan_layers(x->c->p, x->c->t, step);
    const int32_t k = i - (step == 0), n = x->units->n;
    return work_of(x, th_pipeline_stage_of(x->s, step),
                   k < 0     ? n
                   : k < r.n ? x->units->class_of[r.first + k]
                             : n + 1);
}

static operation walk_step(const th_plan_operations *x, int kind, int32_t step)
{
    operation out = {.computes = false};
    walk w = {.of = &out};
    const int32_t n = count_units(x, step);
    for (int32_t i = 0; i < n; i++)
        walk_unit(x, &w, kind, unit_at(x, step, kind == TH_PIPELINE_FORWARD ? i : n - 1 - i));
    if (!out.computes)
        out.lead_ps = w.now;
    out.rest_ps = out.computes ? w.now : 0;
    out.made_ps = w.made;
    out.ahead_s = w.ahead_s;
    return out;
}

/* ---- the end of a step ---- */

/* How often a unit's weights and gradients are on the engine of its stage, in ps. */
static th_time engine_of_unit(const th_plan_operations *x, const unit_work *u)
{
    const th_parallel_plan *p = x->c->p;
    if (!p->overlaps_data)
        return 0;
    if (p->n.zero == 3)
        return x->shape.micro_batches * (2 * u->gather_ps + u->reduce_ps);
    return u->reduce_ps + u->gather_ps;
}

/* What a stage does once its last gradients are there. */
static int time_end(th_plan_operations *x, const th_work_context *c, int32_t stage,
                    int64_t parameters, th_collective_times *times, th_error *err)
{
    const th_parallel_plan *p = c->p;
    th_time reduce = 0, gather = 0;
    if (!p->overlaps_data && !p->frozen_weights) {
        const int64_t times_reduced = p->n.zero == 3 ? x->shape.micro_batches : 1;
        reduce = exchange_ps(x, times, TH_REDUCE_SCATTER,
                             parameters * p->gradient_bytes * times_reduced, err);
        if (p->n.zero < 3)
            gather =
                exchange_ps(x, times, TH_ALL_GATHER, th_plan_number_bytes(p) * parameters, err);
    }
    const th_time optimizer = floor_ps(th_optimizer_s(c, parameters));
    x->optimizer_ps[stage] = optimizer;
    x->engine_ps[stage] += optimizer;
    x->end_ps[stage] = reduce + optimizer + gather;
    return reduce < 0 || gather < 0 ? -1 : 0;
}

static int time_stage(th_plan_operations *x, const th_work_context *c, int32_t stage,
                      th_collective_times *times, th_error *err)
{
    int64_t parameters = 0;
    for (int32_t chunk = 0; chunk < x->shape.chunks; chunk++) {
        const int32_t step = th_pipeline_step(x->s, stage, chunk);
        for (int32_t i = 0; i < count_units(x, step); i++) {
            parameters += unit_at(x, step, i)->parameters;
            x->engine_ps[stage] += engine_of_unit(x, unit_at(x, step, i));
        }
    }
    return time_end(x, c, stage, parameters, times, err);
}

/* ---- operations ---- */

/* Round the ring of stages where there are chunks. */
static int time_messages(th_plan_operations *x, th_collective_times *times, th_error *err)
{
    const int32_t n = x->shape.stages;
    const int64_t bytes = th_boundary_bytes(x->c);
    for (int32_t i = 0; i < 2 * n; i++) {
        const int32_t from = i / 2, to = from + (i % 2 ? 1 : -1);
        if ((to < 0 || to == n) && x->shape.chunks == 1 && n > 2)
            continue;
        x->message_ps[i] = th_stage_message_time(times, from, (to + n) % n, bytes, err);
        if (x->message_ps[i] < 0)
            return -1;
    }
    return 0;
}

/* A stage, and all others if they are like it. */
static int fill_set(th_plan_operations *x, int32_t set, th_error *err)
{
    th_work_context c = *x->c;
    const bool is_seen = x->n_sets > 1 && th_plan_has_views(c.p, x->units->system);
    const th_parallel_plan seen = is_seen ? th_plan_seen_from(c.p, set) : *c.p;
    const int32_t end = x->n_sets > 1 ? set + 1 : x->shape.stages;
    th_collective_times *times = th_collective_times_new(x->units->system, &seen, err);
    c.device = th_stage_device(x->c, set, x->share);
    int status = times ? 0 : -1;
    if (times)
        th_collective_times_use(times, c.memo);
    for (int32_t unit = 0; status == 0 && unit < x->units->n + 2; unit++)
        status = time_unit(x, &c, work_of(x, set, unit), unit, times, err);
    for (int32_t stage = set; status == 0 && stage < end; stage++)
        status = time_stage(x, &c, stage, times, err);
    if (status == 0 && set == 0)
        status = time_messages(x, times, err);
    th_collective_times_free(times);
    return status;
}

static int fill(th_plan_operations *x, th_error *err)
{
    const int32_t steps = x->shape.stages * x->shape.chunks;
    for (int32_t set = 0; set < x->n_sets; set++)
        if (fill_set(x, set, err))
            return -1;
    for (int kind = 0; kind < (x->splits ? 3 : 2); kind++)
        for (int32_t step = 0; step < steps; step++)
            x->of[kind * steps + step] = walk_step(x, kind, step);
    x->message_host_s = th_message_host_s(x->c);
    return 0;
}

static int prepare(th_plan_operations *x, th_error *err)
{
    const size_t stages = (size_t)x->shape.stages, steps = stages * (size_t)x->shape.chunks;
    x->work = th_alloc_zero((size_t)x->n_sets * ((size_t)x->units->n + 2), sizeof *x->work);
    x->of = th_alloc_array(TH_PIPELINE_N_KINDS * steps, sizeof *x->of);
    x->engine_ps = th_alloc_zero(5 * stages, sizeof *x->engine_ps);
    if (!x->work || !x->of || !x->engine_ps)
        return th_error_no_memory(err);
    x->end_ps = x->engine_ps + stages;
    x->optimizer_ps = x->end_ps + stages;
    x->message_ps = x->optimizer_ps + stages;
    return fill(x, err);
}

static void clear(th_plan_operations *x)
{
    for (int32_t i = 0; x->work && i < x->n_sets * (x->units->n + 2); i++)
        for (int kind = 0; kind < TH_PIPELINE_N_KINDS; kind++)
            th_free(x->work[i].of[kind]);
    th_free(x->work);
    th_free(x->of);
    th_free(x->engine_ps);
}

/* ---- the bounds ---- */

/* Where a stage stands: all that it waits for, its newest computation, how far ahead its host
 * is. */
typedef struct standing {
    th_time now, made;
    th_time reduced; /* its last gradients, where they overlap */
    double ahead_s;
    bool has_begun;
} standing;

static void run_operation(const operation *o, standing *g)
{
    th_time now = th_max(g->now, g->made + o->gather_ps) + o->lead_ps;
    if (!o->computes) {
        g->made = o->made_ps > 0 ? now : g->made;
        g->ahead_s += o->ahead_s;
        g->now = now;
        return;
    }
    const th_time first =
        th_max(slowed(o->first_ps, o->beside_ps, o->share), host_ps(o->first_host_s - g->ahead_s));
    const th_time end = th_max(first, o->beside_ps);
    g->now = now + end + o->rest_ps;
    g->made = now + (o->made_ps > 0 ? end + o->made_ps : first);
    g->ahead_s = o->ahead_s;
}

/* Computations C of a stage lose a share c of their rate to its messages E of weights and
 * gradients. Where they meet for a time O, it computes for C + c O, and messages alone take E - O:
 * T >= C + c O and T >= C + c O + E - O. The larger of both is least for O = E: T >= C + c E. */
static th_time shared_ps(const th_plan_operations *x, int32_t stage)
{
    const int32_t steps = x->shape.stages * x->shape.chunks;
    const double share = (float)th_overlap_share(x->c, TH_GROUP_GRADIENT) * (1 - 1e-6);
    const th_time engine = x->engine_ps[stage] - x->optimizer_ps[stage];
    th_time work = 0;
    if (engine == 0 || share >= 1)
        return 0;
    for (int32_t step = 0; step < steps; step++)
        for (int kind = 0; th_pipeline_stage_of(x->s, step) == stage && kind < (x->splits ? 3 : 2);
             kind++)
            work += x->of[kind * steps + step].work_ps;
    return x->shape.micro_batches * work + (th_time)(share * (double)engine) +
           x->optimizer_ps[stage];
}

typedef struct follow {
    const th_plan_operations *x;
    const th_pipeline_schedule *s;
    standing *stages;
    th_time *came; /* by th_pipeline_number */
} follow;

static void follow_operation(follow *f, int32_t i)
{
    const th_plan_operations *x = f->x;
    const th_pipeline_op *op = &f->s->ops[i];
    const int32_t at = i / f->s->n_ops, steps = x->shape.stages * x->shape.chunks;
    const int32_t step = th_pipeline_step(f->s, at, op->chunk);
    const int32_t way = op->kind == TH_PIPELINE_FORWARD ? 1 : -1;
    const bool moves = op->kind != TH_PIPELINE_WEIGHTS;
    const int32_t from = step - way, to = step + way;
    standing *g = &f->stages[at];
    if (moves && from >= 0 && from < steps && th_pipeline_stage_of(x->s, from) != at) {
        const th_time came = f->came[th_pipeline_number(f->s, op->kind, from, op->micro_batch)];
        if (!g->has_begun)
            g->made = came;
        g->now = th_max(g->now, came);
        g->ahead_s -= x->message_host_s;
    }
    run_operation(&x->of[op->kind * steps + step], g);
    g->has_begun = true;
    if (x->c->p->overlaps_data && op->micro_batch == x->shape.micro_batches - 1 &&
        op->kind == (x->splits ? TH_PIPELINE_WEIGHTS : TH_PIPELINE_BACKWARD))
        g->reduced = th_max(g->reduced, g->made + unit_at(x, step, 0)->reduce_ps);
    if (!moves || to < 0 || to >= steps || th_pipeline_stage_of(x->s, to) == at)
        return;
    const bool is_next = th_pipeline_stage_of(x->s, to) == (at + 1) % x->shape.stages;
    const th_time there = g->made + x->message_ps[2 * at + is_next];
    f->came[th_pipeline_number(f->s, op->kind, step, op->micro_batch)] = there;
    if (!x->c->p->overlaps_pipeline)
        g->now = th_max(g->now, there);
    g->ahead_s -= x->message_host_s;
}

static th_time follow_schedule(const th_plan_operations *x, th_error *err)
{
    const th_pipeline_schedule *s = x->s;
    follow f = {.x = x, .s = s};
    f.stages = th_alloc_zero((size_t)s->shape.stages, sizeof *f.stages);
    f.came = th_alloc_array(th_pipeline_number(s, TH_PIPELINE_N_KINDS, 0, 0), sizeof *f.came);
    th_time most = f.stages && f.came ? 0 : th_error_no_memory(err);
    for (int32_t k = 0; most == 0 && k < s->shape.stages * s->n_ops; k++)
        follow_operation(&f, s->order[k]);
    for (int32_t i = 0; most >= 0 && i < s->shape.stages; i++) {
        const th_time behind = f.stages[i].reduced + x->optimizer_ps[i];
        most = th_max(most, f.stages[i].now + x->end_ps[i]);
        most = th_max(most, th_max(behind, th_max(x->engine_ps[i], shared_ps(x, i))));
    }
    th_free(f.stages);
    th_free(f.came);
    return most;
}

/* The ranks of each share by themselves: they wait for no others but at the end. */
th_time th_plan_bound_schedule(const th_plan_units *u, const th_work_context *c,
                               const th_pipeline_schedule *schedules, th_error *err)
{
    th_time most = 0;
    for (int32_t k = 0; most >= 0 && k < th_plan_n_shares(c->p); k++) {
        const th_pipeline_schedule *s = &schedules[k];
        th_plan_operations x = {.units = u,
                                .c = c,
                                .s = s,
                                .shape = s->shape,
                                .splits = s->splits_backward,
                                .share = c->p->n_shares > 0 ? k : -1,
                                .n_sets = c->devices.n > 1 ? s->shape.stages : 1};
        const th_time of_share = prepare(&x, err) ? -1 : follow_schedule(&x, err);
        most = of_share < 0 ? -1 : th_max(most, of_share);
        clear(&x);
    }
    return most;
}
