/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tile_streams.c - what happens inside the tasks of accelerators, for a trace that asks for it.
 *
 *   new -> (follow -> draws* -> drop)* and wake -> (next -> take)* -> free
 * A stream goes through the record of the state that its task is in (tile_records.h), and into
 * another one where others begin to draw more or less. One that sleeps has no record, and only
 * notes what is drawn. The next event is that of the winner of a tournament whose players are the
 * accelerators. Invariants: a stream that is followed and awake has a record, unless memory was
 * out, and event[next] of it is the first that was not taken; all others play at TH_TIME_MAX. */
#include <config.h>

#include "sim/trace/tile_streams.h"

#include "base/alloc.h"
#include "base/map.h"
#include "sim/machine/machine.h"
#include "sim/trace/tournament.h"

typedef struct stream {
    bool is_followed;
    th_tile_state tiles;
    int32_t place; /* in awake */
    th_tile_record *record;
    size_t next;
    th_tile_source source;   /* its from and digest: below, or NULL */
    uint64_t digest[2];      /* of the state, as far as it is known */
    th_demand_change *draws; /* while it sleeps */
    size_t n_draws, draw_room;
    uint64_t weight[2], moment[2]; /* its share of the sums */
    th_pipeline from;
} stream;

struct th_tile_streams {
    stream *of;         /* by accelerator */
    th_tournament next; /* events, of those awake */
    int32_t *awake;     /* accelerators whose streams are, in no order */
    int32_t n_accels, n_awake;
    uint64_t weight[2], moment[2]; /* sums over those awake, for the digest */
    int64_t n_left;                /* records that streams have left for what is behind them */
    bool is_awake, has_failed;
    th_tile_records *records;
};

th_tile_streams *th_tile_streams_new(int32_t n_accels)
{
    th_tile_streams *t = th_alloc_zero(1, sizeof *t);
    if (!t)
        return NULL;
    t->n_accels = n_accels;
    t->of = th_alloc_zero((size_t)n_accels + 1, sizeof *t->of);
    t->awake = th_alloc_array((size_t)n_accels + 1, sizeof *t->awake);
    t->records = th_tile_records_new();
    if (th_tournament_init(&t->next, n_accels) == 0 && t->of && t->awake && t->records)
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
    th_tournament_clear(&t->next);
    th_free(t->awake);
    th_free(t);
}

/* The share in the sums of a stream that goes through a record; NONE: none. Digests see only its
 * number and when the task started, for these say how far it has come. */
enum { NONE = -1, NO_RECORD = 0 };
static void weigh(th_tile_streams *t, stream *x, int64_t number)
{
    uint64_t weight = (uint64_t)(x - t->of);
    for (int i = 0; i < 2; i++) {
        t->weight[i] -= x->weight[i];
        t->moment[i] -= x->moment[i];
        weight = th_hash_word(weight, (uint64_t)number);
        x->weight[i] = number == NONE ? 0 : weight | 1;
        x->moment[i] = x->weight[i] * (uint64_t)x->source.started;
        t->weight[i] += x->weight[i];
        t->moment[i] += x->moment[i];
    }
}

void th_tile_streams_reset(th_tile_streams *t)
{
    for (int32_t i = 0; i < t->n_accels; i++) {
        th_tile_records_release(t->of[i].record);
        t->of[i].record = NULL;
        t->of[i].is_followed = false;
        weigh(t, &t->of[i], NONE);
    }
    th_tile_records_forget(t->records);
    th_tournament_reset(&t->next);
    t->n_awake = 0;
    t->is_awake = false;
}

bool th_tile_streams_have_failed(const th_tile_streams *t)
{
    return t->has_failed;
}

static void enter(th_tile_streams *t, int32_t accel, th_time at)
{
    t->of[accel].place = t->n_awake;
    t->awake[t->n_awake++] = accel;
    th_tournament_set(&t->next, accel, at);
}

static void leave(th_tile_streams *t, int32_t accel)
{
    int32_t last = t->awake[--t->n_awake];
    t->awake[t->of[accel].place] = last;
    t->of[last].place = t->of[accel].place;
    weigh(t, &t->of[accel], NONE);
    th_tournament_set(&t->next, accel, TH_TIME_MAX);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Into a record that was just got, NULL where memory was out: then nothing happens any more. */
static void enter_record(th_tile_streams *t, stream *x, th_tile_record *r)
{
    th_tile_records_release(x->record);
    x->record = r;
    x->next = 0;
    weigh(t, x, r ? r->number : NO_RECORD);
    if (r)
        x->tiles = r->first;
    else
        t->has_failed = true;
}

/* The record goes on, maybe in another one. */
static bool has_more(th_tile_streams *t, stream *x)
{
    int64_t number = x->record->number;
    int more = th_tile_records_more(t->records, &x->record, &x->next);
    if (x->record->number != number) {
        t->n_left++;
        weigh(t, x, x->record->number);
    }
    t->has_failed |= more < 0;
    return more > 0;
}

/* Up to `to`, of the task's own time, what happens then included. Returns when the next event is.
 */
static th_time advance(th_tile_streams *t, stream *x, th_time to)
{
    while (x->record) {
        const th_tile_record *r = x->record;
        size_t next = x->next;
        while (next < r->n && r->event[next].at <= to)
            next++;
        if (next > x->next)
            x->tiles = r->event[next - 1].tiles;
        x->next = next;
        if (next < r->n)
            return th_time_add(x->source.started, r->event[next].at);
        if (!has_more(t, x))
            break;
    }
    return TH_TIME_MAX;
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
        th_pipeline_set_demand(&p, s->port, x->draws[i].bytes_per_s);
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
    enter(t, accel, advance(t, x, -1));
}

static th_tile_record *record_after(th_tile_streams *t, const stream *x, const th_demand_change *c)
{
    const uint64_t *digest = x->source.digest ? x->digest : NULL;
    if (!x->record)
        return NULL;
    th_tile_record *r =
        digest ? th_tile_records_find_after(t->records, x->record, c->at, c->bytes_per_s, digest)
               : NULL;
    if (r)
        return r;
    th_pipeline p;
    th_tile_record_state(x->record, c->at, &p);
    th_pipeline_set_demand(&p, x->source.port, c->bytes_per_s);
    return th_tile_records_add(t->records, digest, &p, x->source.schedule, x->source.port);
}

void th_tile_streams_draws(th_tile_streams *t, int32_t accel, th_time now, double bytes_per_s)
{
    stream *x = &t->of[accel];
    th_demand_change c = {now - x->source.started, bytes_per_s};
    if (!x->is_followed)
        return;
    th_demand_digest(x->digest, &c);
    if (t->is_awake) {
        enter_record(t, x, record_after(t, x, &c));
        th_tournament_set(&t->next, accel, advance(t, x, c.at));
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

th_tile_state th_tile_streams_look(th_tile_streams *t, int32_t accel, th_time now)
{
    stream *x = &t->of[accel];
    if (th_tournament_at(&t->next, accel) <= now)
        th_tournament_set(&t->next, accel, advance(t, x, now - x->source.started));
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
        enter_record(t, x,
                     own < 0 && x->n_draws == 0 ? first_record(t, x) : record_of_now(t, x, own));
        enter(t, i, advance(t, x, own));
    }
}

th_tile_change th_tile_streams_take(th_tile_streams *t, th_time last)
{
    th_tournament_place first = th_tournament_first(&t->next);
    if (first.at > last)
        return (th_tile_change){.accel = -1, .next = first.at};
    stream *x = &t->of[first.player];
    const th_tile_record *record = x->record;
    size_t next = x->next;
    th_tournament_set(&t->next, first.player, advance(t, x, last - x->source.started));
    bool is_one = x->record == record && x->next == next + 1;
    return (th_tile_change){first.player, x->tiles, is_one, first.at,
                            th_tournament_first(&t->next).at};
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool th_tile_streams_digest(const th_tile_streams *t, int32_t most, th_time from, th_time until,
                            uint64_t digest[2])
{
    if (t->n_awake > most)
        return false;
    for (int i = 0; i < 2; i++) {
        uint64_t which = th_hash_word((uint64_t)(until - from), t->weight[i]);
        digest[i] = th_hash_word(which, t->moment[i] - t->weight[i] * (uint64_t)from);
    }
    return true;
}

bool th_tile_streams_are_past(const th_tile_streams *t, th_time from)
{
    for (int32_t i = 0; i < t->n_awake; i++) {
        const stream *x = &t->of[t->awake[i]];
        if (x->next > 0 && x->source.started + x->record->event[x->next - 1].at > from)
            return true;
    }
    return false;
}

th_time th_tile_streams_next(const th_tile_streams *t)
{
    return th_tournament_first(&t->next).at;
}

int64_t th_tile_streams_left(const th_tile_streams *t)
{
    return t->n_left;
}

size_t th_tile_streams_places(const th_tile_streams *t, th_time from, th_tile_place *out)
{
    for (int32_t i = 0; i < t->n_awake; i++) {
        int32_t accel = t->awake[i];
        const stream *x = &t->of[accel];
        th_time next = th_tournament_at(&t->next, accel);
        out[i] = (th_tile_place){accel, (uint32_t)x->next, next == TH_TIME_MAX ? next : next - from,
                                 x->tiles};
    }
    return (size_t)t->n_awake;
}

void th_tile_streams_put(th_tile_streams *t, const th_tile_place *p, th_time from)
{
    stream *x = &t->of[p->accel];
    x->next = p->next;
    x->tiles = p->tiles;
    th_tournament_set(&t->next, p->accel, th_time_add(from, p->until_next));
}
