/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_cursors.c - see pipeline_cursors.h.
 *
 * A cursor moves to another pipeline trace when the demand of flows changes. Each accelerator has
 * one pending event in a queue: its next change, or TH_TIME_MAX. Invariant: a started cursor that
 * follows a task has a trace, unless memory was out, and change[next] of it is the first that was
 * not taken. */
#include <config.h>

#include "sim/trace/pipeline_cursors.h"

#include "base/alloc.h"
#include "sim/kernel/event.h"
#include "sim/machine/machine.h"

typedef struct cursor {
    bool is_following;
    th_tile_state tiles;
    th_pipeline_trace *trace; /* after start */
    size_t next;
    th_event_handle event;
    th_tile_source source; /* its from and digest: below, or NULL */
    th_pipeline from;
    uint64_t digest[2];        /* of the present state, if the source has one */
    th_demand_change *demands; /* before start */
    size_t n_demands, demand_capacity;
} cursor;

struct th_pipeline_cursors {
    cursor *of; /* by accelerator */
    int32_t n_accels;
    th_events *events; /* object: the accelerator */
    bool is_started, has_failed;
    th_pipeline_traces *traces;
};

static int post_events(th_pipeline_cursors *t)
{
    for (int32_t i = 0; i < t->n_accels; i++) {
        th_event e = {.time = TH_TIME_MAX, .object = (uint32_t)i};
        t->of[i].event = th_events_push(t->events, &e);
        if (t->of[i].event == TH_NO_EVENT)
            return -1;
    }
    return 0;
}

th_pipeline_cursors *th_pipeline_cursors_new(int32_t n_accels)
{
    th_pipeline_cursors *t = th_alloc_zero(1, sizeof *t);
    if (!t)
        return NULL;
    t->n_accels = n_accels;
    t->of = th_alloc_zero((size_t)n_accels + 1, sizeof *t->of);
    t->events = th_events_new();
    t->traces = th_pipeline_traces_new();
    if (t->of && t->events && t->traces && post_events(t) == 0)
        return t;
    th_pipeline_cursors_free(t);
    return NULL;
}

void th_pipeline_cursors_free(th_pipeline_cursors *t)
{
    if (!t)
        return;
    for (int32_t i = 0; t->of && i < t->n_accels; i++) {
        th_pipeline_trace_release(t->of[i].trace);
        th_free(t->of[i].demands);
    }
    th_pipeline_traces_free(t->traces);
    th_events_free(t->events);
    th_free(t->of);
    th_free(t);
}

void th_pipeline_cursors_reset(th_pipeline_cursors *t)
{
    for (int32_t i = 0; i < t->n_accels; i++)
        th_pipeline_cursors_drop(t, i);
    th_pipeline_traces_forget(t->traces);
    t->is_started = false;
}

bool th_pipeline_cursors_have_failed(const th_pipeline_cursors *t)
{
    return t->has_failed;
}

/* ---- one cursor ------------------------------------------------------------------------------ */

/* To the start of a trace that was just added or found; NULL: memory was out. */
static void enter_trace(th_pipeline_cursors *t, cursor *x, th_pipeline_trace *trace)
{
    th_pipeline_trace_release(x->trace);
    x->trace = trace;
    x->next = 0;
    if (trace)
        x->tiles = trace->first;
    else
        t->has_failed = true;
}

static bool has_more(th_pipeline_cursors *t, cursor *x)
{
    int more = th_pipeline_traces_more(t->traces, &x->trace, &x->next);
    t->has_failed |= more < 0;
    return more > 0;
}

/* Past all changes up to `to`, in the time of the task. Returns when the next one is. */
static th_time advance(th_pipeline_cursors *t, cursor *x, th_time to)
{
    while (x->trace) {
        const th_pipeline_trace *r = x->trace;
        size_t next = x->next;
        while (next < r->n && r->change[next].at <= to)
            next++;
        if (next > x->next)
            x->tiles = r->change[next - 1].tiles;
        x->next = next;
        if (next < r->n)
            return th_time_add(x->source.started, r->change[next].at);
        if (!has_more(t, x))
            break;
    }
    return TH_TIME_MAX;
}

/* Past all changes up to `now`, of the run. */
static void advance_to(th_pipeline_cursors *t, cursor *x, th_time now)
{
    th_events_reschedule(t->events, x->event, advance(t, x, now - x->source.started));
}

static void start_pipeline(const cursor *x, th_pipeline *p)
{
    if (x->source.from)
        *p = x->from;
    else
        th_pipeline_start(p, x->source.schedule, x->source.port, &(th_pipeline_options){0});
}

static th_pipeline_trace *trace_of_start(th_pipeline_cursors *t, const cursor *x)
{
    const uint64_t *digest = x->source.digest ? x->digest : NULL;
    th_pipeline_trace *r = digest ? th_pipeline_traces_find(t->traces, digest) : NULL;
    if (r)
        return r;
    th_pipeline p;
    start_pipeline(x, &p);
    return th_pipeline_traces_add(t->traces, digest, &p, x->source.schedule, x->source.port);
}

/* Of a task that has been running for `now`, under all recorded demands. Jumps whole periods. */
static th_pipeline_trace *trace_of_present(th_pipeline_cursors *t, const cursor *x, th_time now)
{
    const th_tile_source *s = &x->source;
    th_pipeline p;
    start_pipeline(x, &p);
    p.skip = true;
    for (size_t i = 0; i < x->n_demands; i++) {
        th_pipeline_advance(&p, s->schedule, s->port, x->demands[i].at);
        th_pipeline_set_demand(&p, s->port, x->demands[i].bytes_per_s);
    }
    th_pipeline_advance(&p, s->schedule, s->port, now);
    return th_pipeline_traces_add(t->traces, NULL, &p, s->schedule, s->port);
}

void th_pipeline_cursors_follow(th_pipeline_cursors *t, int32_t accel, const th_tile_source *source)
{
    cursor *x = &t->of[accel];
    th_pipeline_cursors_drop(t, accel);
    x->is_following = true;
    x->source = *source;
    x->n_demands = 0;
    if (source->from)
        x->from = *source->from;
    if (source->digest)
        for (int i = 0; i < 2; i++)
            x->digest[i] = source->digest[i];
    if (!t->is_started)
        return;
    enter_trace(t, x, trace_of_start(t, x));
    advance_to(t, x, source->started - 1);
}

static th_pipeline_trace *trace_after(th_pipeline_cursors *t, const cursor *x,
                                      const th_demand_change *c)
{
    const uint64_t *digest = x->source.digest ? x->digest : NULL;
    if (!x->trace)
        return NULL;
    th_pipeline_trace *r = digest ? th_pipeline_traces_find(t->traces, digest) : NULL;
    if (r)
        return r;
    th_pipeline p;
    th_pipeline_trace_state(x->trace, c->at, &p);
    th_pipeline_set_demand(&p, x->source.port, c->bytes_per_s);
    return th_pipeline_traces_add(t->traces, digest, &p, x->source.schedule, x->source.port);
}

void th_pipeline_cursors_demand(th_pipeline_cursors *t, int32_t accel, th_time now,
                                double bytes_per_s)
{
    cursor *x = &t->of[accel];
    th_demand_change c = {now - x->source.started, bytes_per_s};
    if (!x->is_following)
        return;
    th_demand_digest(x->digest, &c);
    if (t->is_started) {
        enter_trace(t, x, trace_after(t, x, &c));
        advance_to(t, x, now);
    } else if (th_grow(&x->demands, &x->demand_capacity, x->n_demands + 1, sizeof *x->demands)) {
        t->has_failed = true;
        x->is_following = false;
    } else {
        x->demands[x->n_demands++] = c;
    }
}

void th_pipeline_cursors_drop(th_pipeline_cursors *t, int32_t accel)
{
    cursor *x = &t->of[accel];
    th_events_reschedule(t->events, x->event, TH_TIME_MAX);
    th_pipeline_trace_release(x->trace);
    x->trace = NULL;
    x->is_following = false;
}

bool th_pipeline_cursors_follows(const th_pipeline_cursors *t, int32_t accel)
{
    return t->of[accel].is_following;
}

th_tile_state th_pipeline_cursors_state(th_pipeline_cursors *t, int32_t accel, th_time now)
{
    advance_to(t, &t->of[accel], now);
    return t->of[accel].tiles;
}

/* ---- all cursors ----------------------------------------------------------------------------- */

void th_pipeline_cursors_start(th_pipeline_cursors *t, th_time now)
{
    t->is_started = true;
    for (int32_t i = 0; i < t->n_accels; i++) {
        cursor *x = &t->of[i];
        if (!x->is_following)
            continue;
        th_time elapsed = now - 1 - x->source.started;
        bool is_new = elapsed < 0 && x->n_demands == 0;
        enter_trace(t, x, is_new ? trace_of_start(t, x) : trace_of_present(t, x, elapsed));
        advance_to(t, x, now - 1);
    }
}

th_time th_pipeline_cursors_next(const th_pipeline_cursors *t)
{
    th_event e;
    return th_events_peek(t->events, &e) ? e.time : TH_TIME_MAX;
}

int32_t th_pipeline_cursors_take(th_pipeline_cursors *t, th_time last, th_tile_state *tiles)
{
    th_event e;
    if (!th_events_peek(t->events, &e) || e.time > last)
        return -1;
    cursor *x = &t->of[e.object];
    advance_to(t, x, last);
    *tiles = x->tiles;
    return (int32_t)e.object;
}
