/* SPDX-License-Identifier: GPL-3.0-or-later */
/* notify.c - the notify functions of a trace (sim/program/observer.h). Each first calls ticks.c,
 * which writes the changes of earlier ticks, then updates the objects concerned. Spans go to the
 * writer at once. */
#include <config.h>

#include <limits.h>

#include "sim/trace/timeline.h"

/* ---- spans ----------------------------------------------------------------------------------- */

static bool writes_spans(const th_trace *t)
{
    return t->type->span_begin && !t->is.is_out_of_memory;
}

static void begin_span(th_trace *t, th_span s)
{
    s.lane = th_lanes_acquire(t->lanes, &s);
    if (s.lane < 0)
        t->is.is_out_of_memory = true;
    else if (t->is.has_begun && !t->is.is_over)
        t->type->span_begin(t, t->at.tick, &s);
}

static void end_span(th_trace *t, th_span_kind kind, int32_t number)
{
    th_span s;
    if (th_lanes_release(t->lanes, (int32_t)kind, number, &s) && t->is.has_begun && !t->is.is_over)
        t->type->span_end(t, t->at.tick, &s);
}

/* The name of the layer or job that a task works for, if it is known. */
static const char *layer_name(const th_trace *t, int32_t task, const char *otherwise)
{
    const char *name = th_trace_layer_name(t, th_trace_layer_of(t, task));
    return name ? name : otherwise;
}

/* ---- transfers and messages ------------------------------------------------------------------ */

static bool is_traced(const th_trace *t, int32_t node, th_signal s)
{
    return node >= 0 && t->objects[node].signals >> s & 1u;
}

static void send_begins(th_trace *t, const th_span *base)
{
    th_span s = *base;
    s.arrow = ++t->n_arrows;
    t->objects[s.from].sending++;
    t->objects[s.to].receiving++;
    th_trace_change(t, s.from, TH_BIT(TH_SIGNAL_SENDING));
    th_trace_change(t, s.to, TH_BIT(TH_SIGNAL_RECEIVING));
    if (!writes_spans(t))
        return;
    s.kind = TH_SPAN_SEND;
    s.object = s.from;
    if (is_traced(t, s.from, TH_SIGNAL_SENDING))
        begin_span(t, s);
    s.kind = TH_SPAN_RECEIVE;
    s.object = s.to;
    if (is_traced(t, s.to, TH_SIGNAL_RECEIVING))
        begin_span(t, s);
}

static void send_ends(th_trace *t, int32_t number, int32_t from, int32_t to)
{
    t->objects[from].sending--;
    t->objects[to].receiving--;
    th_trace_change(t, from, TH_BIT(TH_SIGNAL_SENDING));
    th_trace_change(t, to, TH_BIT(TH_SIGNAL_RECEIVING));
    if (writes_spans(t)) {
        end_span(t, TH_SPAN_SEND, number);
        end_span(t, TH_SPAN_RECEIVE, number);
    }
}

static void message_start(th_observer *o, th_time now, int32_t task, int32_t flow,
                          const th_message *m)
{
    (void)task;
    th_trace *t = (th_trace *)o;
    th_trace_event(t, now);
    send_begins(t, &(th_span){.number = flow,
                              .task = -1,
                              .name = "message",
                              .bytes = m->bytes,
                              .from = m->src,
                              .to = m->dst});
}

static void message_end(th_observer *o, th_time now, int32_t flow, const th_message *m)
{
    th_trace *t = (th_trace *)o;
    th_trace_event(t, now);
    if (t->objects[m->src].sending > 0) /* otherwise it started before the trace */
        send_ends(t, flow, m->src, m->dst);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A compute or host task: one at a time per node. */
static void run_at_node(th_trace *t, th_span_kind kind, int32_t number, const th_task *task,
                        bool starts)
{
    const unsigned of_tasks = TH_BIT(TH_SIGNAL_STATE) | TH_BIT(TH_SIGNAL_TASK) |
                              TH_BIT(TH_SIGNAL_LAYER) | TH_BIT(TH_SIGNAL_BUSY) |
                              TH_BIT(TH_SIGNAL_QUEUE_DEPTH);
    th_traced *o = &t->objects[task->node];
    o->task = starts ? number : -1;
    th_trace_change(t, task->node, of_tasks);
    if (!writes_spans(t) || !(o->signals & of_tasks))
        return;
    if (!starts) {
        end_span(t, kind, number);
        return;
    }
    begin_span(t, (th_span){.kind = (int32_t)kind,
                            .object = task->node,
                            .number = number,
                            .task = number,
                            .name = layer_name(t, number, th_span_kind_name((int32_t)kind)),
                            .from = task->node,
                            .to = -1});
}

static void compute(th_trace *t, int32_t number, const th_task *task, bool starts)
{
    th_traced *o = &t->objects[task->node];
    o->n_queued -= starts;
    if (!starts)
        th_trace_set_tiles(t, t->system->nodes[task->node].accel, 0);
    run_at_node(t, TH_SPAN_COMPUTE, number, task, starts);
}

static void transfer(th_trace *t, int32_t number, const th_task *task, bool starts)
{
    if (starts)
        send_begins(t, &(th_span){.number = number,
                                  .task = number,
                                  .name = layer_name(t, number, "transfer"),
                                  .bytes = task->bytes,
                                  .from = task->node,
                                  .to = task->peer});
    else
        send_ends(t, number, task->node, task->peer);
}

static void collective(th_trace *t, int32_t number, const th_task *task, bool starts)
{
    if (!writes_spans(t))
        return;
    if (!starts) {
        end_span(t, TH_SPAN_COLLECTIVE, number);
        return;
    }
    const th_collective *c = &t->program->collectives[task->collective];
    const char *kind = th_collective_names[c->kind];
    begin_span(t, (th_span){.kind = TH_SPAN_COLLECTIVE,
                            .object = -1,
                            .number = number,
                            .task = number,
                            .name = t->program->n_jobs > 0 ? layer_name(t, number, kind) : kind,
                            .bytes = c->bytes,
                            .from = -1,
                            .to = -1});
}

/* If objects were selected, tasks of other objects are not traced. */
static bool is_at_traced(const th_trace *t, const th_task *task)
{
    return !t->is.is_chosen || task->kind == TH_TASK_COLLECTIVE ||
           (task->node >= 0 && t->objects[task->node].signals) ||
           (task->kind == TH_TASK_TRANSFER && t->objects[task->peer].signals);
}

static void change_task(th_trace *t, th_time now, int32_t number, bool starts)
{
    const th_task *task = &t->program->tasks[number];
    th_trace_event(t, now);
    if (t->type->task && t->is.has_begun && !t->is.is_over && is_at_traced(t, task))
        t->type->task(t, t->at.tick, starts, number, task);
    switch ((th_task_kind)task->kind) {
    case TH_TASK_COMPUTE:
        compute(t, number, task, starts);
        break;
    case TH_TASK_TRANSFER:
        transfer(t, number, task, starts);
        break;
    case TH_TASK_COLLECTIVE:
        collective(t, number, task, starts);
        break;
    case TH_TASK_HOST:
        if (task->node >= 0) /* otherwise the arrival of an input */
            run_at_node(t, TH_SPAN_HOST, number, task, starts);
        break;
    }
}

static void task_start(th_observer *o, th_time now, int32_t number)
{
    change_task((th_trace *)o, now, number, true);
}

static void task_end(th_observer *o, th_time now, int32_t number)
{
    change_task((th_trace *)o, now, number, false);
}

/* It has not been queued again. */
static void task_again(th_observer *o, th_time now, int32_t number)
{
    th_trace *t = (th_trace *)o;
    t->objects[t->program->tasks[number].node].n_queued++;
    change_task(t, now, number, true);
}

static void queued(th_observer *o, th_time now, int accel)
{
    th_trace *t = (th_trace *)o;
    int32_t object = t->system->accel_node[accel];
    th_trace_event(t, now);
    t->objects[object].n_queued++;
    th_trace_change(t, object, TH_BIT(TH_SIGNAL_QUEUE_DEPTH));
}

static void link_changes(th_observer *o, th_time now, int link, int32_t flows, int32_t change)
{
    th_trace *t = (th_trace *)o;
    (void)change;
    th_trace_event(t, now);
    t->objects[t->n_nodes + link].flows = flows;
    th_trace_change(t, t->n_nodes + link, UINT_MAX);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static void tiles_change(th_observer *o, th_time now, int accel, const th_tiles *tiles)
{
    th_trace *t = (th_trace *)o;
    th_trace_event(t, now);
    th_trace_set_tiles(t, accel, th_tile_state_of(tiles));
}

/* ---- health ---------------------------------------------------------------------------------- */

static void may_fail(th_observer *o, th_time now)
{
    (void)now;
    ((th_trace *)o)->is.may_fail = true;
}

static void health_changes(th_observer *o, th_time now, bool is_link, int index, th_health health)
{
    th_trace *t = (th_trace *)o;
    int32_t object = is_link ? t->n_nodes + index : t->system->accel_node[index];
    bool is_first = !t->is.has_events && now == t->at.now; /* of before the run: no event */
    if (!is_first)
        th_trace_event(t, now);
    t->objects[object].health = (int32_t)health;
    if (!is_first)
        th_trace_change(t, object, TH_BIT(TH_SIGNAL_HEALTH));
}

/* ---- the observer ---------------------------------------------------------------------------- */

static void restart(th_observer *o, const th_program *p)
{
    th_trace_restart((th_trace *)o, p);
}

static bool follows(const th_observer *o, const th_program *p)
{
    return ((const th_trace *)o)->program == p;
}

/* The window, up to the end of its last tick. */
static th_tile_window tile_window(const th_observer *o, int accel)
{
    const th_trace *t = (const th_trace *)o;
    unsigned signals = t->objects[t->system->accel_node[accel]].signals;
    th_time last_tick = th_trace_tick_of(t, t->options.until_ps);
    th_time until = th_time_add(last_tick, t->options.resolution_ps - 1);
    bool is_wanted = signals >> TH_FIRST_TILE_SIGNAL;
    return (th_tile_window){t->options.since_ps, is_wanted ? until : -1};
}

const th_observer_type th_trace_observer_type = {.restart = restart,
                                                 .follows = follows,
                                                 .tile_window = tile_window,
                                                 .task_start = task_start,
                                                 .task_end = task_end,
                                                 .queued = queued,
                                                 .link = link_changes,
                                                 .message_start = message_start,
                                                 .message_end = message_end,
                                                 .tiles = tiles_change,
                                                 .may_fail = may_fail,
                                                 .health = health_changes,
                                                 .task_stops = task_end,
                                                 .task_again = task_again};
