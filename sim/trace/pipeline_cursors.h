/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_cursors.h - pipeline cursors: the tile pipelines of all accelerators, merged in time
 * order, for a trace of signals inside tasks.
 *
 *   new -> (follow -> demand* -> drop)* and start -> (next -> take)* -> free
 * A machine does not simulate the tiles of every task. A cursor steps through the cached pipeline
 * trace of the task that its accelerator runs; it takes every change or, at a coarse resolution,
 * only the state at the ticks. Before start, a cursor only records the demand of flows. Times are
 * those of the run. */
#ifndef TH_SIM_TRACE_PIPELINE_CURSORS_H
#define TH_SIM_TRACE_PIPELINE_CURSORS_H
#include "sim/program/observer.h"
#include "sim/trace/pipeline_traces.h"

typedef struct th_pipeline_cursors th_pipeline_cursors;

th_pipeline_cursors *th_pipeline_cursors_new(int32_t n_accels); /* NULL: memory is out */
void th_pipeline_cursors_free(th_pipeline_cursors *t);          /* accepts NULL */
void th_pipeline_cursors_reset(th_pipeline_cursors *t);         /* as new; the cache is emptied */
/* True if memory was out at some time, so that changes are missing. */
bool th_pipeline_cursors_have_failed(const th_pipeline_cursors *t);

void th_pipeline_cursors_follow(th_pipeline_cursors *t, int32_t accel,
                                const th_tile_source *source);
/* The DRAM bandwidth that flows demand from this time on. */
void th_pipeline_cursors_demand(th_pipeline_cursors *t, int32_t accel, th_time now,
                                double bytes_per_s);
void th_pipeline_cursors_drop(th_pipeline_cursors *t, int32_t accel);
bool th_pipeline_cursors_follows(const th_pipeline_cursors *t, int32_t accel);
/* The state of a followed accelerator at `now`, which is not before the last change taken. After
 * start. */
th_tile_state th_pipeline_cursors_state(th_pipeline_cursors *t, int32_t accel, th_time now);

/* Changes from `now` on, inclusive, can be taken after this call. */
void th_pipeline_cursors_start(th_pipeline_cursors *t, th_time now);
/* Time of the next change of any accelerator; TH_TIME_MAX: there is none. */
th_time th_pipeline_cursors_next(const th_pipeline_cursors *t);
/* The accelerator with the next change: moves its cursor past all changes up to `last`, and sets
 * *tiles to its state then. -1: there is no change up to `last`. */
int32_t th_pipeline_cursors_take(th_pipeline_cursors *t, th_time last, th_tile_state *tiles);

#endif
