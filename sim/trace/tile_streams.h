/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tile_streams.h - what happens inside the tasks of accelerators, for a trace that asks for it.
 *
 *   new -> (follow -> draws* -> drop)* and wake -> (next -> take)* -> free
 * A machine jumps over the tiles of a task; a stream is a copy of its pipeline that goes through them as
 * the trace wants to see them: every change, or how things stand at the ticks of a coarse resolution,
 * or nothing before the window of the trace. So a machine need not stop where tiles change. Until
 * wake, streams only note what is drawn from DRAMs. Times are of the run. */
#ifndef TH_SIM_TRACE_TILE_STREAMS_H
#define TH_SIM_TRACE_TILE_STREAMS_H
#include "sim/pipeline.h"

typedef struct th_tile_streams th_tile_streams;

th_tile_streams *th_tile_streams_new(int32_t n_accels); /* NULL: memory is out */
void th_tile_streams_free(th_tile_streams *t);          /* accepts NULL */
/* Nobody is followed, and all are asleep. */
void th_tile_streams_reset(th_tile_streams *t);

/* The accelerator's pipeline goes on from *p, its time 0 at started; s and port must stay. */
void th_tile_streams_follow(th_tile_streams *t, int32_t accel, th_time started, const th_pipeline *p,
                            const th_schedule *s, const th_port *port);
/* Others draw so much from its DRAM, from now on. 0, or -1: memory is out, and it is dropped. */
int th_tile_streams_draws(th_tile_streams *t, int32_t accel, th_time now, double bytes_per_s);
void th_tile_streams_drop(th_tile_streams *t, int32_t accel);
bool th_tile_streams_follows(const th_tile_streams *t, int32_t accel);
/* How an accelerator that is followed stands at an instant, not before what was taken. */
th_tiles th_tile_streams_look(th_tile_streams *t, int32_t accel, th_time now);

/* From now on events are asked for. */
void th_tile_streams_wake(th_tile_streams *t);
/* When something happens next in one of them; TH_TIME_MAX: never, or they sleep. */
th_time th_tile_streams_next(const th_tile_streams *t);
/* The next accelerator in which something happens up to last, how it stands then; -1: none. */
int32_t th_tile_streams_take(th_tile_streams *t, th_time last, th_tiles *tiles);

#endif
