/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tile_streams.c - what happens inside the tasks of accelerators, for a trace that asks for it.
 *
 *   new -> (follow -> draws* -> drop)* and wake -> (next -> take)* -> free
 * Streams that are awake are a heap by the time of their next event, then by accelerator. A pipeline
 * changes by no look (sim/pipeline.h), so a stream shows what the machine's own would.
 * Invariants: order[place] is the stream's own number for all that are followed and awake; those draws
 * that are not applied yet lie after the pipeline's present, and there are none when it is awake. */
#include <config.h>

#include "sim/trace/tile_streams.h"

#include "base/alloc.h"
#include "sim/machine.h"

typedef struct stream {
    bool is_followed;
    th_pipeline pipeline;
    const th_schedule *schedule;
    const th_port *port;
    th_time started;
    th_time at; /* of its next event */
    th_draw_change *draws;
    size_t n_draws, n_applied, draw_room;
    int32_t place; /* in order */
} stream;

struct th_tile_streams {
    stream *of; /* by accelerator */
    int32_t *order; /* a heap */
    int32_t n_accels, n_awake;
    bool is_awake;
};

th_tile_streams *th_tile_streams_new(int32_t n_accels)
{
    size_t n = (size_t)n_accels + 1;
    th_tile_streams *t = th_alloc_zero(1, sizeof *t);
    if (!t)
        return NULL;
    t->n_accels = n_accels;
    t->of = th_alloc_zero(n, sizeof *t->of);
    t->order = th_alloc_array(n, sizeof *t->order);
    if (t->of && t->order)
        return t;
    th_tile_streams_free(t);
    return NULL;
}

void th_tile_streams_free(th_tile_streams *t)
{
    if (!t)
        return;
    for (int32_t i = 0; t->of && i < t->n_accels; i++)
        th_free(t->of[i].draws);
    th_free(t->of);
    th_free(t->order);
    th_free(t);
}

void th_tile_streams_reset(th_tile_streams *t)
{
    for (int32_t i = 0; i < t->n_accels; i++)
        t->of[i].is_followed = false;
    t->n_awake = 0;
    t->is_awake = false;
}

/* ---- the heap -------------------------------------------------------------------------------- */

static bool is_before(const th_tile_streams *t, int32_t a, int32_t b)
{
    return t->of[a].at != t->of[b].at ? t->of[a].at < t->of[b].at : a < b;
}

static void put(th_tile_streams *t, int32_t place, int32_t accel)
{
    t->order[place] = accel;
    t->of[accel].place = place;
}

/* The time of the stream at a place has changed, or another one stands there. */
static void settle(th_tile_streams *t, int32_t place)
{
    int32_t accel = t->order[place];
    for (; place > 0 && is_before(t, accel, t->order[(place - 1) / 2]); place = (place - 1) / 2)
        put(t, place, t->order[(place - 1) / 2]);
    for (;;) {
        int32_t child = 2 * place + 1;
        if (child + 1 < t->n_awake && is_before(t, t->order[child + 1], t->order[child]))
            child++;
        if (child >= t->n_awake || !is_before(t, t->order[child], accel))
            break;
        put(t, place, t->order[child]);
        place = child;
    }
    put(t, place, accel);
}

static void enter(th_tile_streams *t, int32_t accel)
{
    put(t, t->n_awake++, accel);
    settle(t, t->of[accel].place);
}

static void leave(th_tile_streams *t, int32_t accel)
{
    int32_t place = t->of[accel].place, last = t->order[--t->n_awake];
    if (last == accel)
        return;
    put(t, place, last);
    settle(t, place);
}

/* ---- streams --------------------------------------------------------------------------------- */

static void find_next(stream *x)
{
    x->at = x->pipeline.done ? TH_TIME_MAX : th_time_add(x->started, th_pipeline_next(&x->pipeline));
}

/* Up to now, what happens at it included. Whole periods are jumped where many events lie between. */
static void advance(stream *x, th_time now)
{
    enum { MANY = 32 };
    th_pipeline *p = &x->pipeline;
    th_time to = now - x->started, step = x->at - x->started - p->now;
    p->skip = step < (to - p->now) / MANY;
    for (; x->n_applied < x->n_draws && x->draws[x->n_applied].at <= to; x->n_applied++) {
        th_pipeline_advance(p, x->schedule, x->port, x->draws[x->n_applied].at);
        th_pipeline_set_foreign(p, x->port, x->draws[x->n_applied].bytes_per_s);
    }
    th_pipeline_advance(p, x->schedule, x->port, to);
    find_next(x);
}

void th_tile_streams_follow(th_tile_streams *t, int32_t accel, th_time started, const th_pipeline *p,
                            const th_schedule *s, const th_port *port)
{
    stream *x = &t->of[accel];
    th_tile_streams_drop(t, accel);
    x->is_followed = true;
    x->pipeline = *p;
    x->schedule = s;
    x->port = port;
    x->started = started;
    x->n_draws = x->n_applied = 0;
    find_next(x);
    if (t->is_awake)
        enter(t, accel);
}

int th_tile_streams_draws(th_tile_streams *t, int32_t accel, th_time now, double bytes_per_s)
{
    stream *x = &t->of[accel];
    if (!x->is_followed)
        return 0;
    if (th_grow(&x->draws, &x->draw_room, x->n_draws + 1, sizeof *x->draws)) {
        th_tile_streams_drop(t, accel);
        return -1;
    }
    x->draws[x->n_draws++] = (th_draw_change){now - x->started, bytes_per_s};
    if (!t->is_awake)
        return 0;
    advance(x, now);
    settle(t, x->place);
    return 0;
}

void th_tile_streams_drop(th_tile_streams *t, int32_t accel)
{
    if (t->of[accel].is_followed && t->is_awake)
        leave(t, accel);
    t->of[accel].is_followed = false;
}

bool th_tile_streams_follows(const th_tile_streams *t, int32_t accel)
{
    return t->of[accel].is_followed;
}

th_tiles th_tile_streams_look(th_tile_streams *t, int32_t accel, th_time now)
{
    stream *x = &t->of[accel];
    if (now > x->started + x->pipeline.now) {
        advance(x, now);
        if (t->is_awake)
            settle(t, x->place);
    }
    return th_pipeline_tiles(&x->pipeline, x->schedule);
}

void th_tile_streams_wake(th_tile_streams *t)
{
    t->is_awake = true;
    for (int32_t i = 0; i < t->n_accels; i++)
        if (t->of[i].is_followed)
            enter(t, i);
}

th_time th_tile_streams_next(const th_tile_streams *t)
{
    return t->n_awake > 0 ? t->of[t->order[0]].at : TH_TIME_MAX;
}

int32_t th_tile_streams_take(th_tile_streams *t, th_time last, th_tiles *tiles)
{
    if (th_tile_streams_next(t) > last)
        return -1;
    int32_t accel = t->order[0];
    stream *x = &t->of[accel];
    advance(x, last);
    settle(t, 0);
    *tiles = th_pipeline_tiles(&x->pipeline, x->schedule);
    return accel;
}
