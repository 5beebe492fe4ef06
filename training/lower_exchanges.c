/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_exchanges.c - see lowering.h.
 *   gather_weights -> reduce_gradients -> send_gradients, release_gradients -> on the engine, or,
 *   with shares, noted: exchange_joint -> exchange_now */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "training/lowering.h"

static th_lowering_calls calls_of(const th_lowering *l, th_collective_kind kind, int64_t bytes)
{
    th_lowering_calls c = {.place = l->tasks->place};
    c.n = th_step_exchanges_of(l->c->p, kind, bytes, c.of);
    return c;
}

/* On the engine, behind its last exchange and those bundles. The end, or -1. */
static int32_t on_engine(th_lowering *l, int32_t at, const th_lowering_calls *c, th_bundles after,
                         th_error *err)
{
    th_lowering_stage *g = &l->stages[at];
    const th_step_place place = l->tasks->place;
    int32_t wait[2 * TH_SHARES_MAX + 1];
    l->tasks->place = c->place;
    for (int i = 0; i < c->n; i++) {
        wait[0] = g->engine;
        memcpy(wait + 1, after.of, (size_t)after.n * sizeof *wait);
        double share = l->c->p->overlaps_data ? th_overlap_share(l->c, c->of[i].group) : 0;
        int32_t task = th_step_collective(l->tasks, at, &c->of[i], share,
                                          (th_bundles){wait, after.n + 1}, err);
        if (task < 0)
            return -1;
        g->engine = task;
    }
    l->tasks->place = place;
    return g->engine;
}

static int32_t number_of_layer(const th_lowering *l, int32_t layer)
{
    return layer >= 0 ? layer : l->c->t->layers - 1 - layer; /* embedding, output layer */
}

static th_joint_calls *joint_of(const th_lowering *l, int32_t share, int32_t layer)
{
    return &l->joint[share * (l->c->t->layers + 2) + number_of_layer(l, layer)];
}

/* Starts an exchange of gradients, or, with shares, notes what it waits for. */
static int exchange_gradients(th_lowering *l, int32_t at, const th_lowering_calls *c, int32_t after,
                              int32_t and_after, th_error *err)
{
    if (l->n_shares == 1)
        return on_engine(l, at, c, (th_bundles){(int32_t[]){after, and_after}, 2}, err) < 0 ? -1
                                                                                            : 0;
    *joint_of(l, l->share, c->place.layer) = (th_joint_calls){at, after, and_after, *c};
    if (l->share == 0)
        l->joint_layer[l->n_joint++] = c->place.layer;
    return 0;
}

int th_lowering_gather_weights(th_lowering *l, int32_t at, int64_t parameters, bool is_first,
                               th_error *err)
{
    const th_parallel_plan *p = l->c->p;
    th_lowering_stage *g = &l->stages[at];
    bool every = p->n.zero == 3;
    if (p->frozen_weights || p->n.zero == 0 || (!every && (!is_first || !p->overlaps_data)))
        return 0;
    th_lowering_calls c = calls_of(l, TH_ALL_GATHER, parameters * th_plan_number_bytes(p));
    int32_t gate = !every ? NONE : p->overlaps_data ? g->gate : g->wait[0];
    int32_t *of_all = &l->gathered[number_of_layer(l, l->tasks->place.layer)];
    if (c.n == 0)
        return 0;
    if (l->share == 0) { /* shares are not for ZeRO 3: all gather at once */
        l->tasks->share = -1;
        *of_all = on_engine(l, at, &c, (th_bundles){&gate, 1}, err);
        l->tasks->share = l->n_shares > 1 ? 0 : -1;
    }
    g->engine = *of_all;
    if (*of_all < 0)
        return -1;
    th_lowering_wait_also(g, *of_all);
    return 0;
}

/* The stage with the first layers of a chunk, whose backward pass is the last. */
static int32_t first_stage(const th_lowering *l, int32_t chunk)
{
    return th_pipeline_stage_of(l->s, chunk * l->s->shape.stages);
}

int th_lowering_send_gradients(th_lowering *l, int32_t at, th_error *err)
{
    th_lowering_stage *g = &l->stages[at];
    const th_lowering_calls c = g->reduce;
    g->reduce.n = 0;
    return c.n > 0 && exchange_gradients(l, at, &c, g->reduce_after, NONE, err) ? -1 : 0;
}

int th_lowering_release_gradients(th_lowering *l, int32_t at, int32_t chunk, th_error *err)
{
    const bool of_all = at == first_stage(l, chunk);
    const int32_t made = l->stages[at].wait[0];
    size_t kept = 0;
    if (!of_all && chunk > 0)
        return 0;
    if (of_all)
        l->made[chunk] = made;
    for (size_t i = 0; i < l->n_held; i++) {
        const th_held_calls *h = &l->held[i];
        if (h->chunk != chunk || (!of_all && h->stage != at))
            l->held[kept++] = *h;
        else if (exchange_gradients(l, h->stage, &h->of, h->after, made, err))
            return -1;
    }
    l->n_held = kept;
    return 0;
}

int th_lowering_reduce_gradients(th_lowering *l, int32_t at, const th_pipeline_op *op,
                                 int64_t parameters, th_error *err)
{
    bool is_last = op->micro_batch == l->s->shape.micro_batches - 1;
    const th_parallel_plan *p = l->c->p;
    th_lowering_stage *g = &l->stages[at];
    int64_t bytes = parameters * p->gradient_bytes;
    if (p->frozen_weights || (p->n.zero < 3 && !is_last))
        return 0;
    if (!p->overlaps_data) {
        g->pending_bytes += bytes;
        return 0;
    }
    const th_lowering_calls c = calls_of(l, TH_REDUCE_SCATTER, bytes);
    if (c.n == 0)
        return 0;
    if (p->n.zero == 3 || at == first_stage(l, op->chunk) || l->made[op->chunk] != NONE) {
        g->reduce = c;
        g->reduce_after = g->wait[0];
        return 0;
    }
    if (th_grow(&l->held, &l->held_capacity, l->n_held + 1, sizeof *l->held))
        return th_error_no_memory(err);
    l->held[l->n_held++] = (th_held_calls){at, op->chunk, g->wait[0], c};
    return 0;
}

int th_lowering_exchange_joint(th_lowering *l, int32_t at, th_error *err)
{
    l->tasks->share = -1;
    for (int32_t i = 0; i < l->n_joint; i++) {
        int32_t wait[2 * TH_SHARES_MAX], n = 0, end = NONE;
        const int32_t layer = l->joint_layer[i];
        if (joint_of(l, 0, layer)->stage != at)
            continue;
        for (int32_t k = 0; k < l->n_shares; k++) {
            wait[n++] = joint_of(l, k, layer)->after;
            wait[n++] = joint_of(l, k, layer)->and_after;
        }
        l->stages = th_lowering_stage_of(l, 0, 0);
        end = on_engine(l, at, &joint_of(l, 0, layer)->of, (th_bundles){wait, n}, err);
        if (end < 0)
            return -1;
        for (int32_t k = 1; k < l->n_shares; k++)
            th_lowering_stage_of(l, k, at)->engine = end;
    }
    return 0;
}

int th_lowering_exchange_now(th_lowering *l, int32_t at, th_collective_kind kind, int64_t bytes,
                             th_error *err)
{
    th_lowering_calls c = calls_of(l, kind, bytes);
    l->tasks->share = -1;
    for (int i = 0; i < c.n; i++) {
        int32_t wait[TH_SHARES_MAX * WAITS_MAX], n = 0;
        for (int32_t k = 0; k < l->n_shares; k++) {
            const th_lowering_stage *g = th_lowering_stage_of(l, k, at);
            memcpy(wait + n, g->wait, (size_t)g->n_wait * sizeof *wait);
            n += g->n_wait;
        }
        int32_t task = th_step_collective(l->tasks, at, &c.of[i], 0, (th_bundles){wait, n}, err);
        if (task < 0)
            return -1;
        for (int32_t k = 0; k < l->n_shares; k++)
            th_lowering_wait_for(th_lowering_stage_of(l, k, at), task);
    }
    return 0;
}
