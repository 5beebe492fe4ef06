/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ticks.c - when values are written.
 *
 *   reset -> (event -> the changes of earlier ticks are written)* -> leave -> finish
 * When an event arrives at a later multiple of the resolution, the changes of the current tick are
 * written (changes.c). Spans are written at once. */
#include <config.h>

#include "sim/trace/trace_state.h"

static void begin_spans(th_trace *t)
{
    th_span s;
    for (size_t i = 0; t->type->span_begin && th_lanes_open(t->lanes, i, &s); i++)
        t->type->span_begin(t, t->at.tick, &s);
}

/* Spans that run at the end of the window are cut there. */
static void end_spans(th_trace *t, th_time last)
{
    th_span s;
    for (size_t i = 0; t->type->span_end && th_lanes_open(t->lanes, i, &s); i++)
        t->type->span_end(t, last, &s);
}

/* The window begins: the writer gets the objects, their values and the running spans. */
static void begin(th_trace *t)
{
    t->is.has_begun = true;
    th_trace_drop_changes(t);
    t->type->begin(t, t->at.tick);
    begin_spans(t);
}

static void set_tick(th_trace *t, th_time tick)
{
    t->at.tick = tick;
    t->at.next = th_time_add(tick, t->options.resolution_ps);
}

static bool is_open(const th_trace *t)
{
    return t->is.has_begun && !t->is.is_over;
}

/* All events of this tick have been reported; the next one is at `now`. */
static void pass_tick(th_trace *t, th_time now)
{
    th_time tick = th_trace_tick_of(t, now);
    if (!t->is.has_begun && tick > t->options.since_ps) {
        set_tick(t, t->options.since_ps);
        begin(t);
    }
    if (is_open(t))
        th_trace_write_changes(t);
    if (!t->is.is_over && now > t->options.until_ps) {
        end_spans(t, t->options.until_ps);
        t->is.is_over = true;
    }
    set_tick(t, tick);
}

/* Before the first event. Without memory nothing is traced. */
static void prepare(th_trace *t)
{
    t->is.has_events = true;
    if (!t->is.is_chosen)
        th_trace_choose_all(t);
    if (!t->is.is_out_of_memory && th_trace_make_variables(t) == 0)
        return;
    t->is.is_out_of_memory = true;
    for (int32_t i = 0; i < t->n_objects; i++)
        t->objects[i].signals = 0;
}

void th_trace_event(th_trace *t, th_time now)
{
    if (!t->is.has_events)
        prepare(t);
    if (now >= t->at.next)
        pass_tick(t, now);
    t->at.now = now;
    if (!t->is.has_begun && t->at.tick >= t->options.since_ps && !t->is.is_over)
        begin(t);
}

void th_trace_advance(th_trace *t, th_time now)
{
    if (now > t->at.now)
        th_trace_event(t, now);
}

void th_trace_leave(th_trace *t)
{
    if (is_open(t))
        th_trace_write_changes(t);
    t->program = NULL;
}

void th_trace_reset(th_trace *t)
{
    for (int32_t i = 0; i < t->n_objects; i++) {
        th_traced *o = &t->objects[i];
        o->task = -1;
        o->n_queued = o->sending = o->receiving = o->flows = o->health = 0;
        o->tiles = 0;
        o->changed = 0;
        o->is_listed = false;
    }
    t->n_changed = 0;
    t->n_arrows = 0;
    t->is.may_fail = false;
    t->is.has_events = t->is.has_begun = t->is.is_over = false;
    t->at.now = 0;
    set_tick(t, 0);
    if (t->lanes)
        th_lanes_reset(t->lanes);
}

void th_trace_finish(th_trace *t)
{
    if (!t->is.has_events)
        prepare(t);
    if (!t->is.has_begun) {
        set_tick(t, t->at.tick < t->options.since_ps ? t->options.since_ps : t->at.tick);
        begin(t);
    }
    if (!t->is.is_over)
        th_trace_write_changes(t);
    th_time last = t->at.now < t->options.until_ps ? t->at.tick : t->options.until_ps;
    if (!t->is.is_over)
        end_spans(t, last);
    if (t->type->end)
        t->type->end(t, last);
}
