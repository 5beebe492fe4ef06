/* SPDX-License-Identifier: GPL-3.0-or-later */
/* append.c - see append.h. */
#include <config.h>

#include "sim/program/append.h"

#include "base/alloc.h"

/* ---- accelerators ---- */

static void use(const th_system *s, int32_t node, bool *is_used, int32_t *n)
{
    int accel = node >= 0 ? s->nodes[node].accel : -1;
    if (accel < 0 || is_used[accel])
        return;
    is_used[accel] = true;
    ++*n;
}

int32_t th_program_accels(const th_system *s, const th_program *p, bool *is_used)
{
    int32_t n = 0;
    for (int a = 0; a < s->n_accels; a++)
        is_used[a] = false;
    for (int32_t i = 0; i < p->n_tasks; i++) {
        const th_task *t = &p->tasks[i];
        use(s, t->node, is_used, &n);
        if (t->kind == TH_TASK_TRANSFER)
            use(s, t->peer, is_used, &n);
        for (int32_t r = 0;
             t->kind == TH_TASK_COLLECTIVE && r < p->collectives[t->collective].n_ranks; r++)
            use(s, p->collectives[t->collective].rank_node[r], is_used, &n);
    }
    return n;
}

/* ---- tasks ---- */

static int32_t place(const th_program_part *x, int32_t node)
{
    return node >= 0 && x->node_of ? x->node_of[node] : node;
}

static bool has_design(const th_accel *a, int32_t design)
{
    bool any = design < 0;
    for (int i = 0; i < a->n_designs; i++)
        any |= a->designs[i] == design;
    return any;
}

static int32_t add_placed(th_program *p, const th_program_part *x, const th_placed_work *work,
                          int32_t node, th_error *err)
{
    th_placed_work w = *work;
    w.accel = x->system->nodes[node].accel;
    if (!has_design(&x->system->nodes[node].a, w.design))
        return th_error_set(err, "SIM-0232",
                            "accel/%s does not have the design \"%s\" that a task of accel/%s "
                            "needs",
                            x->system->nodes[node].name, x->system->designs[w.design].name,
                            x->system->nodes[x->system->accel_node[work->accel]].name);
    return th_program_add_placed_work(p, &w, err);
}

/* The number in p of the cost of a computation that will run on node. */
static int32_t add_work(th_program *p, const th_program_part *x, const th_task *t, int32_t node,
                        th_error *err)
{
    if (!x->costs) {
        const th_placed_work *placed = th_program_placed(x->from, t->compute_cost);
        return placed ? add_placed(p, x, placed, node, err)
                      : th_program_add_work(p, &x->from->works[t->compute_cost], err);
    }
    const th_compute_cost *cost = th_compute_cost_get(x->costs, t->compute_cost);
    th_placed_work w = {
        .accel = x->system->nodes[t->node].accel, .design = cost->design, .shard = cost->shard};
    return add_placed(p, x, &w, node, err);
}

static int32_t add_collective(th_program *p, const th_program_part *x, int32_t number,
                              th_error *err)
{
    th_collective c = x->from->collectives[number], one;
    int32_t *nodes = th_alloc_array((size_t)c.n_ranks + 1, sizeof *nodes);
    if (!nodes)
        return th_error_no_memory(err);
    for (int32_t r = 0; r < c.n_ranks; r++)
        nodes[r] = place(x, c.rank_node[r]);
    c.rank_node = nodes;
    one = c;
    if (one.chunks < 1)
        one.chunks = 1;
    int32_t added = -1;
    th_collective_schedule trial;
    int failed =
        x->node_of && one.algorithm ? th_collective_schedule_init(&trial, &one, x->system, err) : 0;
    if (!failed && x->node_of && one.algorithm)
        th_collective_schedule_clear(&trial);
    if (!failed)
        added = th_program_add_collective(p, &c, err);
    th_free(nodes);
    return added;
}

static int add_task(th_program *p, const th_program_part *x, const th_task *from, th_error *err)
{
    th_task t = *from;
    t.node = place(x, from->node);
    t.layer = -1;
    t.input = 0;
    t.release_ps = th_time_add(from->release_ps, x->shift_ps);
    switch ((th_task_kind)t.kind) {
    case TH_TASK_COMPUTE:
        t.compute_cost = add_work(p, x, from, t.node, err);
        if (t.compute_cost < 0)
            return -1;
        break;
    case TH_TASK_COLLECTIVE:
        t.collective = add_collective(p, x, from->collective, err);
        if (t.collective < 0)
            return -1;
        break;
    case TH_TASK_TRANSFER:
        t.peer = place(x, from->peer);
        break;
    case TH_TASK_HOST:
        if (t.slowdown > 0)
            t.peer = place(x, from->peer);
        break;
    }
    return th_program_add(p, &t, err) < 0 ? -1 : 0;
}

/* ---- the whole ---- */

static bool is_in(const th_program_part *x, int32_t task)
{
    return task >= x->first && task - x->first < x->n;
}

static int add_all(th_program *p, const th_program_part *x, th_error *err)
{
    const th_program *from = x->from;
    int32_t to = p->n_tasks - x->first;
    for (int32_t i = x->first; i < x->first + x->n; i++)
        if (add_task(p, x, &from->tasks[i], err))
            return -1;
    for (int64_t e = 0; e < from->n_dependencies; e++)
        if (is_in(x, from->edge_from[e]) && is_in(x, from->edge_to[e]) &&
            th_program_depend(p, from->edge_to[e] + to, from->edge_from[e] + to, err))
            return -1;
    for (size_t i = 0; i < from->n_blocked; i++)
        if (is_in(x, from->blocked[i]) && th_program_block(p, from->blocked[i] + to, err))
            return -1;
    return 0;
}

int th_program_append(th_program *p, const th_program_part *x, th_error *err)
{
    th_program_mark before = th_program_mark_of(p);
    if (add_all(p, x, err) == 0)
        return 0;
    th_program_cut(p, before);
    return -1;
}
