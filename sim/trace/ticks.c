/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ticks.c - when what is traced is written.
 *
 *   reset -> (hear -> what was told before is written)* -> leave -> finish
 * An object that something happens to is put on a list; when time goes on to another multiple of the
 * resolution, the signals of the objects on it that have other values than before are written. So
 * however much happens at an instant, its outcome is written once. Spans are written as they come.
 *
 * Invariant: an object is on the list if and only if it is noted to be there, next to those of its signals
 * that may have changed. Those of tiles are noted all together. */
#include <config.h>

#include "sim/trace/signals.h"
#include "sim/trace/stretches.h"

const th_stamp *th_trace_new_stamp(th_trace *t, th_time now)
{
    int32_t n = t->stamp.n;
    t->type->stamp(t, &t->stamp, now);
    t->stamp.at = now;
    if (t->stamp.n != n)
        th_phrases_forget(t->phrases);
    return &t->stamp;
}

/* ---- what changes ---------------------------------------------------------------------------- */

static const unsigned tile_signals = TH_BIT(TH_N_SIGNALS) - TH_BIT(TH_FIRST_TILE_SIGNAL);
static const unsigned is_listed = TH_BIT(TH_N_SIGNALS);

void th_trace_change(th_trace *t, int32_t object, unsigned signals)
{
    th_traced *o = &t->objects[object];
    if (o->signals == 0)
        return;
    if (o->changed == 0)
        t->changed[t->n_changed++] = object;
    o->changed |= is_listed | (signals & o->signals);
}

void th_trace_set_tiles(th_trace *t, int32_t accel, th_tile_state tiles)
{
    int32_t object = t->system->accel_node[accel];
    th_traced *o = &t->objects[object];
    if ((o->tiles ^ tiles) & o->tile_bits)
        th_trace_change(t, object, tile_signals);
    o->tiles = tiles;
}

static th_variable *variable_of(th_trace *t, const th_traced *o, int signal)
{
    return &t->variables[o->first + o->place[signal]];
}

/* Unless that was done at this tick. */
static void tell_time(th_trace *t, bool *is_told)
{
    if (!*is_told)
        th_out_stamp(&t->out, th_trace_stamp(t, t->tick));
    *is_told = true;
}

/* Of a change that comes again, for phrases; 0: it may not. Those of tiles have the first bit clear. */
static uint64_t key_of(const th_trace *t, const th_variable *v, int64_t value)
{
    enum { NONE = 1, END = 1 << 16 }; /* values from -NONE on */
    if (v->signal == TH_SIGNAL_TASK || v->value + NONE >= END || value + NONE >= END)
        return 0;
    uint64_t number = (uint64_t)(v - t->variables);
    return (uint64_t)1 << 63 | number << 32 | (uint64_t)(v->value + NONE) << 16 |
           (uint64_t)(value + NONE);
}

static void write_variable(th_trace *t, th_variable *v, bool *is_told)
{
    int64_t value = th_value_of(t, v);
    if (value == v->value)
        return;
    uint64_t key = key_of(t, v, value);
    v->before = v->value;
    v->value = value;
    tell_time(t, is_told);
    if (key != 0 && th_phrases_say(t->phrases, &t->out, th_trace_stamp(t, t->tick), key))
        return;
    if (key != 0)
        th_phrases_listen(&t->out);
    t->type->value(t, v, t->tick);
    if (key != 0)
        th_phrases_learn(t->phrases, &t->out, key);
}

/* The writer says it, and what it says is remembered. */
static void write_each_tile_signal(th_trace *t, const th_traced *o, th_tile_state from, th_tile_state to)
{
    for (int s = TH_FIRST_TILE_SIGNAL; s < TH_N_SIGNALS; s++) {
        if (!(o->signals >> s & 1u) || th_tile_value(s, from) == th_tile_value(s, to))
            continue;
        th_variable *v = variable_of(t, o, s);
        v->before = th_tile_value(s, from);
        v->value = th_tile_value(s, to);
        t->type->value(t, v, t->tick);
    }
}

/* There are many changes, and few that are different. */
static void write_tiles(th_trace *t, int32_t object, bool *is_told)
{
    th_traced *o = &t->objects[object];
    th_tile_state from = o->written, to = o->tiles & o->tile_bits;
    if (from == to)
        return;
    o->written = to;
    tell_time(t, is_told);
    uint64_t key = (uint64_t)object << 32 | (uint64_t)from << 16 | to;
    if (!th_phrases_say(t->phrases, &t->out, th_trace_stamp(t, t->tick), key)) {
        th_phrases_listen(&t->out);
        write_each_tile_signal(t, o, from, to);
        th_phrases_learn(t->phrases, &t->out, key);
    }
    th_stretches_note(t, key);
}

static void write_changes(th_trace *t)
{
    bool is_told = !t->type->tells_time;
    for (int32_t i = 0; i < t->n_changed; i++) {
        int32_t object = t->changed[i];
        th_traced *o = &t->objects[object];
        for (unsigned left = o->changed & ~tile_signals & ~is_listed; left; left &= left - 1)
            write_variable(t, variable_of(t, o, __builtin_ctz(left)), &is_told);
        if (o->changed & tile_signals)
            write_tiles(t, object, &is_told);
        o->changed = 0;
    }
    t->n_changed = 0;
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
        v->before = 0;
        v->value = th_value_of(t, v);
    }
    for (int32_t i = 0; i < t->n_objects; i++)
        t->objects[i].written = t->objects[i].tiles & t->objects[i].tile_bits;
    for (int32_t i = 0; i < t->n_changed; i++)
        t->objects[t->changed[i]].changed = 0;
    t->n_changed = 0;
    t->type->begin(t, t->tick);
    begin_spans(t);
}

static void set_tick(th_trace *t, th_time tick)
{
    t->tick = tick;
    t->next = th_time_add(tick, t->options.resolution_ps);
}

static th_time tick_of(const th_trace *t, th_time now)
{
    return t->options.resolution_ps == 1 ? now : now - now % t->options.resolution_ps;
}

/* Nothing else has changed at this tick. */
static void write_tiles_alone(th_trace *t, int32_t accel, th_tile_state tiles)
{
    int32_t object = t->system->accel_node[accel];
    bool is_told = !t->type->tells_time;
    t->objects[object].tiles = tiles;
    write_tiles(t, object, &is_told);
}

/* What happens at this tick before end. Returns when something happens next in streams. */
static th_time write_tick(th_trace *t, th_time end)
{
    th_time last = (t->next < end ? t->next : end) - 1;
    th_tile_change c = th_tile_streams_take(t->streams, last);
    if (c.accel >= 0 && t->n_changed == 0 && c.next > last) {
        write_tiles_alone(t, c.accel, c.tiles);
        return c.next;
    }
    for (; c.accel >= 0; c = th_tile_streams_take(t->streams, last))
        th_trace_set_tiles(t, c.accel, c.tiles);
    write_changes(t);
    return c.next;
}

static void write_ticks(th_trace *t, th_time next, th_time end)
{
    while (next < end && next <= t->options.until_ps) {
        set_tick(t, tick_of(t, next));
        next = write_tick(t, end);
    }
}

/* All that happens before end, at this tick and in streams after it, is written. */
static void write_until(th_trace *t, th_time end)
{
    bool may_begin;
    th_time next = write_tick(t, end);
    if (next >= end || end > t->options.until_ps || end != tick_of(t, end)) {
        write_ticks(t, next, end);
        return;
    }
    const th_stretch *known = th_stretches_find(t, end, &may_begin);
    if (known && th_stretch_say(t, known))
        return;
    if (may_begin && !known)
        th_stretches_begin(t);
    write_ticks(t, next, end);
    if (may_begin && !known)
        th_stretches_end(t);
}

static bool is_open(const th_trace *t)
{
    return t->has_begun && !t->is_over;
}

/* What was told is all of its instants; now something is told at another one. */
static void go_on(th_trace *t, th_time now)
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

static void prepare(th_trace *t)
{
    t->is_told = true;
    if (!t->is_chosen)
        th_trace_choose_all(t);
    if (!t->is_out_of_memory && th_trace_make_variables(t) == 0)
        return;
    t->is_out_of_memory = true;
    for (int32_t i = 0; i < t->n_objects; i++)
        t->objects[i].signals = 0;
}

void th_trace_hear(th_trace *t, th_time now)
{
    if (!t->is_told)
        prepare(t);
    if (now >= t->next)
        go_on(t, now);
    t->now = now;
    if (!t->has_begun && t->tick >= t->options.since_ps && !t->is_over)
        begin(t);
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
        o->tiles = o->written = 0;
        o->changed = 0;
    }
    t->n_changed = 0;
    t->n_arrows = 0;
    t->has_begun = t->is_over = false;
    t->now = 0;
    t->stamp.at = -1;
    th_phrases_forget(t->phrases);
    th_stretches_forget(t->stretches);
    set_tick(t, 0);
    th_tile_streams_reset(t->streams);
    if (t->lanes)
        th_lanes_reset(t->lanes);
}

/* Variables of tiles have the values that were written last. */
static void settle_tiles(th_trace *t)
{
    for (int32_t i = 0; i < t->n_variables; i++) {
        th_variable *v = &t->variables[i];
        if (v->signal >= TH_FIRST_TILE_SIGNAL)
            v->value = th_tile_value(v->signal, t->objects[v->object].written);
    }
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
    settle_tiles(t);
    t->type->end(t, last);
}
