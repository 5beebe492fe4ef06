/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ticks.c - when what is traced is written.
 *
 *   reset -> (hear -> what was told before is written)* -> leave -> finish
 * When time goes on to another multiple of the resolution, what has changed (changes.c) is written,
 * and then what happens inside tasks up to there. Spans are written as they come. */
#include <config.h>

#include "sim/trace/signals.h"
#include "sim/trace/stretches.h"

const th_stamp *th_trace_new_stamp(th_trace *t, th_time now)
{
    int32_t n = t->stamp.n;
    th_stamp_set(t, &t->stamp, now);
    if (t->stamp.n != n)
        th_phrases_forget(t->phrases);
    return &t->stamp;
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
            t->objects[t->system->accel_node[a]].tiles =
                th_tile_streams_look(t->streams, a, now - 1);
}

/* The window has begun: the writer learns what there is, and how it stands. */
static void begin(th_trace *t)
{
    t->has_begun = true;
    wake_streams(t, t->tick);
    th_trace_forget_changes(t);
    t->type->begin(t, t->tick);
    begin_spans(t);
}

static void set_tick(th_trace *t, th_time tick)
{
    t->tick = tick;
    t->next = th_time_add(tick, t->options.resolution_ps);
}

static void note_change(th_trace *t, const th_tile_change *c)
{
    th_traced *o = &t->objects[t->system->accel_node[c->accel]];
    o->tiles_before = o->tiles_at;
    o->tiles_at = c->at;
    if (!c->is_one) /* of which the outcome is written */
        th_stretches_drop(t);
}

/* What happens at this tick before end. Returns when something happens next in streams. */
static th_time write_tick(th_trace *t, th_time end)
{
    th_time last = (t->next < end ? t->next : end) - 1;
    th_tile_change c = th_tile_streams_take(t->streams, last);
    if (c.accel >= 0 && t->n_changed == 0 && c.next > last) {
        note_change(t, &c);
        th_trace_write_tiles_alone(t, c.accel, c.tiles);
        return c.next;
    }
    for (; c.accel >= 0; c = th_tile_streams_take(t->streams, last)) {
        note_change(t, &c);
        th_trace_set_tiles(t, c.accel, c.tiles);
    }
    th_trace_write_changes(t);
    return c.next;
}

static void write_ticks(th_trace *t, th_time next, th_time end)
{
    while (next < end && next <= t->options.until_ps) {
        set_tick(t, th_trace_tick_of(t, next));
        next = write_tick(t, end);
    }
}

/* All that happens before end, at this tick and in streams after it, is written. Something is told
 * next at `until`, which end may be the tick of. */
static void write_until(th_trace *t, th_time end, th_time until)
{
    bool may_begin;
    th_time next = write_tick(t, end);
    if (next >= end || end > t->options.until_ps || end != th_trace_tick_of(t, end)) {
        write_ticks(t, next, end);
        return;
    }
    const th_stretch *known = th_stretches_find(t, until, &may_begin);
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
    th_time tick = th_trace_tick_of(t, now);
    if (!t->has_begun && tick > t->options.since_ps) {
        set_tick(t, t->options.since_ps);
        begin(t);
    }
    if (is_open(t))
        write_until(t, tick, now);
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
        write_until(t, th_time_add(t->now, 1), th_time_add(t->now, 1));
    th_tile_streams_reset(t->streams);
    t->program = NULL;
}

/* ---- the ends of it -------------------------------------------------------------------------- */

void th_trace_reset_signals(th_trace *t)
{
    for (int32_t i = 0; i < t->n_objects; i++) {
        th_traced *o = &t->objects[i];
        o->task = -1;
        o->n_waiting = o->sending = o->receiving = o->flows = o->written_flows = 0;
        o->tiles = o->written = 0;
        o->tiles_at = o->tiles_before = 0;
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

void th_trace_finish(th_trace *t)
{
    if (!t->is_told)
        prepare(t);
    if (!t->has_begun) {
        set_tick(t, t->tick < t->options.since_ps ? t->options.since_ps : t->tick);
        begin(t);
    }
    if (!t->is_over)
        write_until(t, th_time_add(t->now, 1), th_time_add(t->now, 1));
    th_time last = t->now < t->options.until_ps ? t->tick : t->options.until_ps;
    if (!t->is_over)
        end_spans(t, last);
    th_trace_settle_values(t);
    t->type->end(t, last);
}
