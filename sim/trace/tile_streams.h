/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tile_streams.h - what happens inside the tasks of accelerators, for a trace that asks for it.
 *
 *   new -> (follow -> draws* -> drop)* and wake -> (next -> take)* -> free
 * A machine jumps over the tiles of a task; a stream goes through what its pipeline would show, as
 * the trace wants to see it: every change, or how things stand at the ticks of a coarse resolution,
 * or nothing before the window of the trace. So a machine need not stop where tiles change. Until
 * wake, streams only note what is drawn from DRAMs. Times are of the run. */
#ifndef TH_SIM_TRACE_TILE_STREAMS_H
#define TH_SIM_TRACE_TILE_STREAMS_H
#include "sim/program/observer.h"
#include "sim/trace/tile_records.h"

typedef struct th_tile_streams th_tile_streams;

th_tile_streams *th_tile_streams_new(int32_t n_accels); /* NULL: memory is out */
void th_tile_streams_free(th_tile_streams *t);          /* accepts NULL */
/* Nobody is followed, all are asleep, and nothing is kept of what was followed. */
void th_tile_streams_reset(th_tile_streams *t);
/* Memory was out at some time: events are missing. */
bool th_tile_streams_have_failed(const th_tile_streams *t);

void th_tile_streams_follow(th_tile_streams *t, int32_t accel, const th_tile_source *source);
/* Others draw so much from its DRAM, from now on. */
void th_tile_streams_draws(th_tile_streams *t, int32_t accel, th_time now, double bytes_per_s);
void th_tile_streams_drop(th_tile_streams *t, int32_t accel);
bool th_tile_streams_follows(const th_tile_streams *t, int32_t accel);
/* How an accelerator that is followed stands at an instant, not before what was taken. Awake. */
th_tile_state th_tile_streams_look(th_tile_streams *t, int32_t accel, th_time now);

/* From now on events are asked for; those followed stand as before what happens now. */
void th_tile_streams_wake(th_tile_streams *t, th_time now);
/* The next accelerator in which something happens up to last, -1: none; how it stands at last; and
 * when something happens next in any of them, TH_TIME_MAX: never, or they sleep. */
typedef struct th_tile_change {
    int32_t accel;
    th_tile_state tiles;
    bool is_one; /* else several things happened in it */
    th_time at;  /* of the first */
    th_time next;
} th_tile_change;
th_tile_change th_tile_streams_take(th_tile_streams *t, th_time last);

/* How far an awake stream has come in its record. */
typedef struct th_tile_place {
    int32_t accel;
    uint32_t next;
    th_time until_next; /* its next event, after `from`; TH_TIME_MAX: there is none */
    th_tile_state tiles;
} th_tile_place;
/* A digest of two words of all that happens in streams after `from` until `until`, where nothing
 * has happened in them after `from`; false: more than `most` of them are awake. */
bool th_tile_streams_digest(const th_tile_streams *t, int32_t most, th_time from, th_time until,
                            uint64_t digest[2]);
bool th_tile_streams_are_past(const th_tile_streams *t,
                              th_time from);            /* something after it was taken */
th_time th_tile_streams_next(const th_tile_streams *t); /* event in any; TH_TIME_MAX: none */
int64_t
th_tile_streams_left(const th_tile_streams *t); /* grows where a stream leaves a record behind it,
                                                   and its place is one in another */
/* Where they stand now: returns how many. Puts one where it stood in a state of equal digest, all
 * that happened in between done. */
size_t th_tile_streams_places(const th_tile_streams *t, th_time from, th_tile_place *out);
void th_tile_streams_put(th_tile_streams *t, const th_tile_place *p, th_time from);

#endif
