/* SPDX-License-Identifier: GPL-3.0-or-later */
/* signals.c - what is traced, and what it is worth now.
 *
 *   add* -> restart -> (told -> values of the instant before are written)* -> finish
 * An object that something happens to is put on a list; when time goes on to another multiple of the
 * resolution, the signals of the objects on it that have other values than before are written. So
 * however much happens at an instant, its outcome is written once. Spans are written as they come.
 *
 * Invariant: an object is on the list if and only if any of its signals is noted as changed. */
#include <config.h>

#include <limits.h>

#include "base/alloc.h"
#include "sim/trace/signals.h"
#include "sim/trace/timeline.h"

static const char *const signal_names[] = {
    [TH_SIGNAL_STATE] = "state",
    [TH_SIGNAL_TASK] = "task",
    [TH_SIGNAL_LAYER] = "layer",
    [TH_SIGNAL_SENDING] = "sending",
    [TH_SIGNAL_RECEIVING] = "receiving",
    [TH_SIGNAL_BUSY] = "busy",
    [TH_SIGNAL_FLOWS] = "flows",
    [TH_SIGNAL_QUEUE_DEPTH] = "queue_depth",
    [TH_SIGNAL_BUFFER_FILL] = "buffer_fill",
    [TH_SIGNAL_ARRAY] = "array",
    [TH_SIGNAL_LOAD_INPUT] = "load_input",
    [TH_SIGNAL_LOAD_WEIGHT] = "load_weight",
    [TH_SIGNAL_LOAD_PARTIAL] = "load_partial",
    [TH_SIGNAL_STORE] = "store",
    [TH_N_SIGNALS] = NULL,
};

#define BIT(signal) (1u << (signal))

const char *th_signal_name(int i)
{
    return signal_names[i];
}

unsigned th_signals_of(th_traced_class class, bool all)
{
    unsigned inside = BIT(TH_N_SIGNALS) - BIT(TH_FIRST_TILE_SIGNAL);
    unsigned node = BIT(TH_SIGNAL_TASK) | BIT(TH_SIGNAL_LAYER) | BIT(TH_SIGNAL_SENDING) |
                    BIT(TH_SIGNAL_RECEIVING) | BIT(TH_SIGNAL_BUSY);
    switch (class) {
    case TH_TRACED_ACCEL:
        return node | BIT(TH_SIGNAL_STATE) | BIT(TH_SIGNAL_QUEUE_DEPTH) | (all ? inside : 0);
    case TH_TRACED_LINK:
        return BIT(TH_SIGNAL_BUSY) | BIT(TH_SIGNAL_FLOWS) | BIT(TH_SIGNAL_QUEUE_DEPTH);
    case TH_TRACED_NODE:
        return node;
    }
    return 0;
}

/* ---- objects --------------------------------------------------------------------------------- */

const char *th_traced_class_name(const th_trace *t, int32_t object)
{
    if (object >= t->n_nodes)
        return "link";
    return t->system->nodes[object].accel >= 0 ? "accel" : "node";
}

const char *th_traced_name(const th_trace *t, int32_t object)
{
    const char *name = object >= t->n_nodes ? t->system->links[object - t->n_nodes].name
                                            : t->system->nodes[object].name;
    return name ? name : "";
}

static int32_t object_of(const th_trace *t, th_traced_class class, int index)
{
    switch (class) {
    case TH_TRACED_ACCEL:
        return t->system->accel_node[index];
    case TH_TRACED_NODE:
        return index;
    case TH_TRACED_LINK:
        break;
    }
    return t->n_nodes + index;
}

void th_trace_add(th_trace *t, th_traced_class class, int index, unsigned signals)
{
    t->objects[object_of(t, class, index)].signals |= signals;
    t->is_chosen = true;
}

static void choose_all(th_trace *t)
{
    for (int32_t i = 0; i < t->n_nodes; i++) {
        const th_node *n = &t->system->nodes[i];
        if (n->accel >= 0)
            t->objects[i].signals = th_signals_of(TH_TRACED_ACCEL, false);
        else if (n->kind == TH_NODE_HOST)
            t->objects[i].signals = th_signals_of(TH_TRACED_NODE, false);
    }
    for (int32_t i = t->n_nodes; i < t->n_objects; i++)
        t->objects[i].signals = th_signals_of(TH_TRACED_LINK, false);
}

bool th_trace_wants_tiles(const th_trace *t, int accel)
{
    return t->objects[t->system->accel_node[accel]].signals >> TH_FIRST_TILE_SIGNAL != 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int64_t layer_of(const th_trace *t, int32_t task)
{
    return task >= 0 && t->program ? t->program->tasks[task].layer : -1;
}

static int64_t value_of(const th_trace *t, const th_traced *o, const th_variable *v)
{
    bool is_link = v->object >= t->n_nodes;
    switch ((th_signal)v->signal) {
    case TH_SIGNAL_STATE:
        return o->task >= 0;
    case TH_SIGNAL_TASK:
        return o->task;
    case TH_SIGNAL_LAYER:
        return layer_of(t, o->task);
    case TH_SIGNAL_SENDING:
        return o->sending;
    case TH_SIGNAL_RECEIVING:
        return o->receiving;
    case TH_SIGNAL_BUSY:
        return is_link ? o->flows > 0 : o->task >= 0;
    case TH_SIGNAL_FLOWS:
        return o->flows;
    case TH_SIGNAL_QUEUE_DEPTH:
        return is_link ? (o->flows > 0 ? o->flows - 1 : 0) : o->n_waiting;
    case TH_SIGNAL_BUFFER_FILL:
        return o->tiles.fill;
    case TH_SIGNAL_ARRAY:
        return o->tiles.array;
    case TH_SIGNAL_LOAD_INPUT:
    case TH_SIGNAL_LOAD_WEIGHT:
    case TH_SIGNAL_LOAD_PARTIAL:
    case TH_SIGNAL_STORE:
        return o->tiles.moving >> (v->signal - TH_SIGNAL_LOAD_INPUT) & 1u;
    case TH_N_SIGNALS:
        break;
    }
    return 0;
}

bool th_signal_is_text(th_signal s)
{
    return s == TH_SIGNAL_STATE || s == TH_SIGNAL_LAYER || s == TH_SIGNAL_ARRAY;
}

bool th_signal_is_bit(th_signal s)
{
    return s == TH_SIGNAL_BUSY || s >= TH_SIGNAL_LOAD_INPUT;
}

const char *th_value_text(const th_trace *t, const th_variable *v)
{
    if (v->signal == TH_SIGNAL_STATE)
        return v->value ? "computing" : "idle";
    if (v->signal == TH_SIGNAL_ARRAY)
        return th_array_state_name((int32_t)v->value);
    if (v->signal != TH_SIGNAL_LAYER)
        return NULL;
    return v->value >= 0 && t->workload ? t->workload->layers[v->value].name : "";
}

static int make_variables(th_trace *t)
{
    t->n_variables = 0;
    for (int32_t i = 0; i < t->n_objects; i++) {
        th_traced *o = &t->objects[i];
        o->first = t->n_variables;
        for (int32_t s = 0; s < TH_N_SIGNALS; s++) {
            if (!(o->signals >> s & 1u))
                continue;
            if (th_grow(&t->variables, &t->variable_room, (size_t)t->n_variables + 1,
                        sizeof *t->variables))
                return -1;
            o->place[s] = (int8_t)(t->n_variables - o->first);
            t->variables[t->n_variables++] = (th_variable){.object = i, .signal = s};
        }
    }
    return 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void begin_spans(th_trace *t)
{
    th_span s;
    for (size_t i = 0; t->type->span_begins && th_lanes_open(t->lanes, i, &s); i++)
        t->type->span_begins(t, t->tick, &s);
}

/* What is under way when the window ends is shown up to there. */
static void end_spans(th_trace *t, th_time last)
{
    th_span s;
    for (size_t i = 0; t->type->span_ends && th_lanes_open(t->lanes, i, &s); i++)
        t->type->span_ends(t, last, &s);
}

/* Streams come up to now, what happens at it not included. */
static void wake_streams(th_trace *t, th_time now)
{
    th_tile_streams_wake(t->streams, now);
    for (int32_t a = 0; a < t->system->n_accels; a++)
        if (th_tile_streams_follows(t->streams, a))
            t->objects[t->system->accel_node[a]].tiles = th_tile_streams_look(t->streams, a, now - 1);
}

/* The window has begun: the writer learns what there is, and how it stands. */
static void begin(th_trace *t)
{
    t->has_begun = true;
    wake_streams(t, t->tick);
    for (int32_t i = 0; i < t->n_variables; i++) {
        th_variable *v = &t->variables[i];
        v->value = value_of(t, &t->objects[v->object], v);
    }
    for (int32_t i = 0; i < t->n_changed; i++)
        t->objects[t->changed[i]].changed = 0;
    t->n_changed = 0;
    t->type->begin(t, t->tick);
    begin_spans(t);
}

static void change_signals(th_trace *t, int32_t object, unsigned signals)
{
    th_traced *o = &t->objects[object];
    signals &= o->signals;
    if (signals == 0)
        return;
    if (o->changed == 0)
        t->changed[t->n_changed++] = object;
    o->changed |= signals;
}

static void change(th_trace *t, int32_t object)
{
    change_signals(t, object, UINT_MAX);
}

static void set_tiles(th_trace *t, int32_t accel, const th_tiles *tiles)
{
    int32_t object = t->system->accel_node[accel];
    th_tiles *old = &t->objects[object].tiles;
    unsigned signals = (unsigned)(old->fill != tiles->fill) << TH_SIGNAL_BUFFER_FILL |
                       (unsigned)(old->array != tiles->array) << TH_SIGNAL_ARRAY |
                       (old->moving ^ tiles->moving) << TH_SIGNAL_LOAD_INPUT;
    *old = *tiles;
    change_signals(t, object, signals);
}

/* The time first, unless *is_told. */
static void write_variable(th_trace *t, const th_traced *o, th_variable *v, bool *is_told)
{
    int64_t value = value_of(t, o, v);
    if (value == v->value)
        return;
    v->value = value;
    if (!*is_told)
        t->type->time(t, t->tick);
    *is_told = true;
    t->type->value(t, v, t->tick);
}

static void write_changes(th_trace *t)
{
    bool is_told = t->type->time == NULL;
    for (int32_t i = 0; i < t->n_changed; i++) {
        th_traced *o = &t->objects[t->changed[i]];
        for (unsigned left = o->changed; left; left &= left - 1)
            write_variable(t, o, &t->variables[o->first + o->place[__builtin_ctz(left)]], &is_told);
        o->changed = 0;
    }
    t->n_changed = 0;
}

static void set_tick(th_trace *t, th_time tick)
{
    t->tick = tick;
    t->next = th_time_add(tick, t->options.resolution_ps);
}

static th_time tick_of(const th_trace *t, th_time now)
{
    return now - now % t->options.resolution_ps;
}

/* All that happens before end, at this tick and in streams after it, is written. */
static void write_until(th_trace *t, th_time end)
{
    for (;;) {
        th_time last = (t->next < end ? t->next : end) - 1, at;
        th_tiles tiles;
        int32_t accel;
        while ((accel = th_tile_streams_take(t->streams, last, &tiles)) >= 0)
            set_tiles(t, accel, &tiles);
        write_changes(t);
        at = th_tile_streams_next(t->streams);
        if (at >= end || at > t->options.until_ps)
            return;
        set_tick(t, tick_of(t, at));
    }
}

static bool is_open(const th_trace *t)
{
    return t->has_begun && !t->is_over;
}

/* What was told is all of its instants; now something is told at another one. */
void th_trace_go_on(th_trace *t, th_time now)
{
    th_time tick = tick_of(t, now);
    if (!t->has_begun && tick > t->options.since_ps) {
        set_tick(t, t->options.since_ps);
        begin(t);
    }
    if (is_open(t))
        write_until(t, tick);
    if (!t->is_over && now > t->options.until_ps) {
        end_spans(t, t->options.until_ps);
        t->is_over = true;
        th_tile_streams_reset(t->streams);
    }
    set_tick(t, tick);
}

/* ---- from the machine ------------------------------------------------------------------------ */

static void prepare(th_trace *t)
{
    t->is_told = true;
    if (!t->is_chosen)
        choose_all(t);
    if (!t->is_out_of_memory && make_variables(t))
        t->is_out_of_memory = true;
}

void th_trace_hear(th_trace *t, th_time now)
{
    if (!t->is_told)
        prepare(t);
    if (now >= t->next)
        th_trace_go_on(t, now);
    t->now = now;
    if (!t->has_begun && t->tick >= t->options.since_ps && !t->is_over)
        begin(t);
}

static bool writes_spans(const th_trace *t)
{
    return t->type->span_begins && !t->is_out_of_memory;
}

static void begin_span(th_trace *t, th_span s)
{
    s.lane = th_lanes_take(t->lanes, &s);
    if (s.lane < 0)
        t->is_out_of_memory = true;
    else if (t->has_begun && !t->is_over)
        t->type->span_begins(t, t->tick, &s);
}

static void end_span(th_trace *t, th_span_kind kind, int32_t number)
{
    th_span s;
    if (th_lanes_give(t->lanes, (int32_t)kind, number, &s) && t->has_begun && !t->is_over)
        t->type->span_ends(t, t->tick, &s);
}

static const char *name_of_layer(const th_trace *t, const th_task *task)
{
    return t->workload && task->layer >= 0 ? t->workload->layers[task->layer].name : NULL;
}

/* ---- transfers and messages ------------------------------------------------------------------ */

static bool shows(const th_trace *t, int32_t node, th_signal s)
{
    return node >= 0 && t->objects[node].signals >> s & 1u;
}

static void send_begins(th_trace *t, const th_span *base)
{
    th_span s = *base;
    s.arrow = ++t->n_arrows;
    t->objects[s.from].sending++;
    t->objects[s.to].receiving++;
    change(t, s.from);
    change(t, s.to);
    if (!writes_spans(t))
        return;
    s.kind = TH_SPAN_SEND;
    s.object = s.from;
    if (shows(t, s.from, TH_SIGNAL_SENDING))
        begin_span(t, s);
    s.kind = TH_SPAN_RECEIVE;
    s.object = s.to;
    if (shows(t, s.to, TH_SIGNAL_RECEIVING))
        begin_span(t, s);
}

static void send_ends(th_trace *t, int32_t number, int32_t from, int32_t to)
{
    t->objects[from].sending--;
    t->objects[to].receiving--;
    change(t, from);
    change(t, to);
    if (writes_spans(t)) {
        end_span(t, TH_SPAN_SEND, number);
        end_span(t, TH_SPAN_RECEIVE, number);
    }
}

void th_trace_message_starts(th_trace *t, th_time now, int32_t flow, const th_message *m)
{
    th_trace_hear(t, now);
    send_begins(t, &(th_span){.number = flow,
                              .task = -1,
                              .name = "message",
                              .bytes = m->bytes,
                              .from = m->src,
                              .to = m->dst});
}

void th_trace_message_ends(th_trace *t, th_time now, int32_t flow, const th_message *m)
{
    th_trace_hear(t, now);
    if (t->objects[m->src].sending > 0) /* else it began before the trace */
        send_ends(t, flow, m->src, m->dst);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A task that its node runs, and no other beside it. */
static void run_at_node(th_trace *t, th_span_kind kind, int32_t number, const th_task *task,
                        bool starts)
{
    const unsigned of_tasks = BIT(TH_SIGNAL_STATE) | BIT(TH_SIGNAL_TASK) | BIT(TH_SIGNAL_LAYER) |
                              BIT(TH_SIGNAL_BUSY) | BIT(TH_SIGNAL_QUEUE_DEPTH);
    th_traced *o = &t->objects[task->node];
    o->task = starts ? number : -1;
    change(t, task->node);
    if (!writes_spans(t) || !(o->signals & of_tasks))
        return;
    if (!starts) {
        end_span(t, kind, number);
        return;
    }
    const char *layer = name_of_layer(t, task);
    begin_span(t, (th_span){.kind = (int32_t)kind,
                            .object = task->node,
                            .number = number,
                            .task = number,
                            .name = layer ? layer : th_span_kind_name((int32_t)kind),
                            .from = task->node,
                            .to = -1});
}

static void compute(th_trace *t, int32_t number, const th_task *task, bool starts)
{
    th_traced *o = &t->objects[task->node];
    o->n_waiting -= starts;
    if (!starts) {
        o->tiles = (th_tiles){0};
        th_tile_streams_drop(t->streams, t->system->nodes[task->node].accel);
    }
    run_at_node(t, TH_SPAN_COMPUTE, number, task, starts);
}

static void transfer(th_trace *t, int32_t number, const th_task *task, bool starts)
{
    const char *layer = name_of_layer(t, task);
    if (starts)
        send_begins(t, &(th_span){.number = number,
                                  .task = number,
                                  .name = layer ? layer : "transfer",
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
    const th_collective *c = &t->program->collectives[task->work];
    begin_span(t, (th_span){.kind = TH_SPAN_COLLECTIVE,
                            .object = -1,
                            .number = number,
                            .task = number,
                            .name = th_collective_names[c->kind],
                            .bytes = c->bytes,
                            .from = -1,
                            .to = -1});
}

/* Where objects were chosen, tasks that run at none of them are left out. */
static bool is_at_traced(const th_trace *t, const th_task *task)
{
    return !t->is_chosen || task->kind == TH_TASK_COLLECTIVE ||
           (task->node >= 0 && t->objects[task->node].signals) ||
           (task->kind == TH_TASK_TRANSFER && t->objects[task->peer].signals);
}

static void tell_task(th_trace *t, th_time now, int32_t number, bool starts)
{
    const th_task *task = &t->program->tasks[number];
    th_trace_hear(t, now);
    if (t->type->task && t->has_begun && !t->is_over && is_at_traced(t, task))
        t->type->task(t, t->tick, starts, number, task);
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
        if (task->node >= 0) /* else an input that arrives */
            run_at_node(t, TH_SPAN_HOST, number, task, starts);
        break;
    }
}

void th_trace_task_starts(th_trace *t, th_time now, int32_t number)
{
    tell_task(t, now, number, true);
}

void th_trace_task_ends(th_trace *t, th_time now, int32_t number)
{
    tell_task(t, now, number, false);
}

void th_trace_waits(th_trace *t, th_time now, int accel)
{
    int32_t object = t->system->accel_node[accel];
    th_trace_hear(t, now);
    t->objects[object].n_waiting++;
    change(t, object);
}

void th_trace_link(th_trace *t, th_time now, int link, int32_t flows)
{
    th_trace_hear(t, now);
    t->objects[t->n_nodes + link].flows = flows;
    change(t, t->n_nodes + link);
}

/* How it stands when all of this instant has happened. */
static void show_stream(th_trace *t, th_time now, int accel)
{
    if (!t->has_begun || !th_tile_streams_follows(t->streams, accel))
        return;
    th_tiles tiles = th_tile_streams_look(t->streams, accel, now);
    set_tiles(t, accel, &tiles);
}

void th_trace_follow(th_trace *t, th_time now, int accel, const th_tile_source *source)
{
    th_trace_hear(t, now);
    if (t->is_over)
        return;
    th_tile_streams_follow(t->streams, accel, source);
    show_stream(t, now, accel);
}

void th_trace_draws(th_trace *t, th_time now, int accel, double bytes_per_s)
{
    th_trace_hear(t, now);
    th_tile_streams_draws(t->streams, accel, now, bytes_per_s);
    show_stream(t, now, accel);
}

void th_trace_tiles(th_trace *t, th_time now, int accel, const th_tiles *tiles)
{
    th_trace_hear(t, now);
    th_tile_streams_drop(t->streams, accel);
    set_tiles(t, accel, tiles);
}

/* What would have happened at this instant does not. */
void th_trace_dies(th_trace *t, th_time now, int accel)
{
    th_trace_hear(t, now);
    if (!th_tile_streams_follows(t->streams, accel))
        return;
    th_tiles tiles = th_tile_streams_look(t->streams, accel, now - 1);
    th_tile_streams_drop(t->streams, accel);
    set_tiles(t, accel, &tiles);
}

void th_trace_advance(th_trace *t, th_time now)
{
    if (now > t->now)
        th_trace_hear(t, now);
}

void th_trace_leave(th_trace *t)
{
    if (is_open(t))
        write_until(t, th_time_add(t->now, 1));
    th_tile_streams_reset(t->streams);
    t->program = NULL;
}

/* ---- the ends of it -------------------------------------------------------------------------- */

void th_trace_reset_signals(th_trace *t)
{
    for (int32_t i = 0; i < t->n_objects; i++) {
        th_traced *o = &t->objects[i];
        o->task = -1;
        o->n_waiting = o->sending = o->receiving = o->flows = 0;
        o->tiles = (th_tiles){0};
        o->changed = 0;
    }
    t->n_changed = 0;
    t->n_arrows = 0;
    t->has_begun = t->is_over = false;
    t->now = 0;
    set_tick(t, 0);
    th_tile_streams_reset(t->streams);
    if (t->lanes)
        th_lanes_reset(t->lanes);
}

void th_trace_finish(th_trace *t)
{
    if (!t->is_told)
        prepare(t);
    if (!t->has_begun) {
        set_tick(t, t->tick < t->options.since_ps ? t->options.since_ps : t->tick);
        begin(t);
    }
    if (!t->is_over)
        write_until(t, th_time_add(t->now, 1));
    th_time last = t->now < t->options.until_ps ? t->tick : t->options.until_ps;
    if (!t->is_over)
        end_spans(t, last);
    t->type->end(t, last);
}
