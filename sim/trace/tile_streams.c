/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tile_streams.c - what happens inside the tasks of accelerators, for a trace that asks for it.
 *
 *   new -> (follow -> draws* -> drop)* and wake -> (next -> take)* -> free
 * A stream goes through the record of the state that its task is in (tile_records.h), and into another one
 * where others begin to draw more or less. Streams that are awake are a heap by the time of their next
 * event, then by accelerator; one that sleeps has no record, and only notes what is drawn.
 * Invariants: order[place] is the stream's own number for all that are followed and awake; those have a
 * record, and event[next] of it is the first that was not taken. */
#include <config.h>

#include "sim/trace/tile_streams.h"

#include "base/alloc.h"
#include "sim/machine.h"
#include "sim/trace/tile_records.h"

typedef struct stream {
    bool is_followed;
    th_tile_source source; /* its from and digest: below, or NULL */
    th_pipeline from;
    uint64_t digest[2]; /* of the state, as far as it is known */
    th_draw_change *draws; /* while it sleeps */
    size_t n_draws, draw_room;
    th_tile_record *record;
    size_t next;
    th_tiles tiles;
    th_time at; /* of its next event */
    int32_t place; /* in order */
} stream;

struct th_tile_streams {
    stream *of; /* by accelerator */
    int32_t *order; /* a heap */
    int32_t n_accels, n_awake;
    bool is_awake, has_failed;
    th_tile_records *records;
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
    t->records = th_tile_records_new();
    if (t->of && t->order && t->records)
        return t;
    th_tile_streams_free(t);
    return NULL;
}

void th_tile_streams_free(th_tile_streams *t)
{
    if (!t)
        return;
    for (int32_t i = 0; t->of && i < t->n_accels; i++) {
        th_tile_records_release(t->of[i].record);
        th_free(t->of[i].draws);
    }
    th_tile_records_free(t->records);
    th_free(t->of);
    th_free(t->order);
    th_free(t);
}

void th_tile_streams_reset(th_tile_streams *t)
{
    for (int32_t i = 0; i < t->n_accels; i++) {
        th_tile_records_release(t->of[i].record);
        t->of[i].record = NULL;
        t->of[i].is_followed = false;
    }
    th_tile_records_forget(t->records);
    t->n_awake = 0;
    t->is_awake = false;
}

bool th_tile_streams_have_failed(const th_tile_streams *t)
{
    return t->has_failed;
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

/* Into a record that was just got, NULL where memory was out: then nothing happens any more. */
static void enter_record(th_tile_streams *t, stream *x, th_tile_record *r)
{
    th_tile_records_release(x->record);
    x->record = r;
    x->next = 0;
    if (r)
        x->tiles = r->first;
    else
        t->has_failed = true;
}

/* Is there an event that was not taken? */
static bool has_more(th_tile_streams *t, stream *x)
{
    if (!x->record)
        return false;
    if (x->next < x->record->n)
        return true;
    int more = th_tile_records_more(t->records, &x->record, &x->next);
    t->has_failed |= more < 0;
    return more > 0;
}

/* Up to `to`, of the task's own time, what happens then included. */
static void advance(th_tile_streams *t, stream *x, th_time to)
{
    const th_tile_event *e = NULL;
    while (has_more(t, x) && (e = &x->record->event[x->next])->at <= to) {
        x->tiles = e->tiles;
        x->next++;
    }
    x->at = x->record && x->next < x->record->n
                ? th_time_add(x->source.started, x->record->event[x->next].at)
                : TH_TIME_MAX;
}

static void start_pipeline(const stream *x, th_pipeline *p)
{
    if (x->source.from)
        *p = x->from;
    else
        th_pipeline_start(p, x->source.schedule, x->source.port, 0, false);
}

/* From the beginning of what is followed. */
static th_tile_record *first_record(th_tile_streams *t, const stream *x)
{
    const uint64_t *digest = x->source.digest ? x->digest : NULL;
    th_tile_record *r = digest ? th_tile_records_find(t->records, digest) : NULL;
    if (r)
        return r;
    th_pipeline p;
    start_pipeline(x, &p);
    return th_tile_records_add(t->records, digest, &p, x->source.schedule, x->source.port);
}

/* A task that is under way, after all draws. Whole periods are jumped. */
static th_tile_record *record_of_now(th_tile_streams *t, const stream *x, th_time now)
{
    const th_tile_source *s = &x->source;
    th_pipeline p;
    start_pipeline(x, &p);
    p.skip = true;
    for (size_t i = 0; i < x->n_draws; i++) {
        th_pipeline_advance(&p, s->schedule, s->port, x->draws[i].at);
        th_pipeline_set_foreign(&p, s->port, x->draws[i].bytes_per_s);
    }
    th_pipeline_advance(&p, s->schedule, s->port, now);
    return th_tile_records_add(t->records, NULL, &p, s->schedule, s->port);
}

void th_tile_streams_follow(th_tile_streams *t, int32_t accel, const th_tile_source *source)
{
    stream *x = &t->of[accel];
    th_tile_streams_drop(t, accel);
    x->is_followed = true;
    x->source = *source;
    x->n_draws = 0;
    if (source->from)
        x->from = *source->from;
    if (source->digest)
        for (int i = 0; i < 2; i++)
            x->digest[i] = source->digest[i];
    if (!t->is_awake)
        return;
    enter_record(t, x, first_record(t, x));
    advance(t, x, -1);
    enter(t, accel);
}

static th_tile_record *record_after(th_tile_streams *t, const stream *x, const th_draw_change *c)
{
    const uint64_t *digest = x->source.digest ? x->digest : NULL;
    th_tile_record *r = digest ? th_tile_records_find(t->records, digest) : NULL;
    if (r || !x->record)
        return r;
    th_pipeline p;
    th_tile_record_state(x->record, c->at, &p);
    th_pipeline_set_foreign(&p, x->source.port, c->bytes_per_s);
    return th_tile_records_add(t->records, digest, &p, x->source.schedule, x->source.port);
}

void th_tile_streams_draws(th_tile_streams *t, int32_t accel, th_time now, double bytes_per_s)
{
    stream *x = &t->of[accel];
    th_draw_change c = {now - x->source.started, bytes_per_s};
    if (!x->is_followed)
        return;
    th_draw_digest(x->digest, &c);
    if (t->is_awake) {
        enter_record(t, x, record_after(t, x, &c));
        advance(t, x, c.at);
        settle(t, x->place);
    } else if (th_grow(&x->draws, &x->draw_room, x->n_draws + 1, sizeof *x->draws)) {
        t->has_failed = true;
        x->is_followed = false;
    } else {
        x->draws[x->n_draws++] = c;
    }
}

void th_tile_streams_drop(th_tile_streams *t, int32_t accel)
{
    stream *x = &t->of[accel];
    if (x->is_followed && t->is_awake)
        leave(t, accel);
    th_tile_records_release(x->record);
    x->record = NULL;
    x->is_followed = false;
}

bool th_tile_streams_follows(const th_tile_streams *t, int32_t accel)
{
    return t->of[accel].is_followed;
}

th_tiles th_tile_streams_look(th_tile_streams *t, int32_t accel, th_time now)
{
    stream *x = &t->of[accel];
    if (x->at <= now) {
        advance(t, x, now - x->source.started);
        settle(t, x->place);
    }
    return x->tiles;
}

void th_tile_streams_wake(th_tile_streams *t, th_time now)
{
    t->is_awake = true;
    for (int32_t i = 0; i < t->n_accels; i++) {
        stream *x = &t->of[i];
        if (!x->is_followed)
            continue;
        th_time own = now - 1 - x->source.started;
        enter_record(t, x, own < 0 && x->n_draws == 0 ? first_record(t, x) : record_of_now(t, x, own));
        advance(t, x, own);
        enter(t, i);
    }
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
    advance(t, x, last - x->source.started);
    settle(t, 0);
    *tiles = x->tiles;
    return accel;
}
