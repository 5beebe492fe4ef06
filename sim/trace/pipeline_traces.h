/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_traces.h - cached pipeline traces: the changes of a tile pipeline from a state on,
 * shared by all tasks that reach an equal state.
 *
 *   new -> (find or add -> (more | state)* -> release)* -> forget | free
 * A pipeline trace lists the changes of a pipeline while the demand of flows on its DRAM is
 * constant. It is extended on request, so equal tasks under equal demand are simulated once. Times
 * are relative to the start of the task. */
#ifndef TH_SIM_TRACE_PIPELINE_TRACES_H
#define TH_SIM_TRACE_PIPELINE_TRACES_H
#include "sim/pipeline/pipeline.h"

/* The traced state of a pipeline in one word: buffer fill, array state, moving engines. 0: no task.
 */
typedef uint16_t th_tile_state;
enum {
    TH_TILE_FILL = 0xff,
    TH_TILE_ARRAY = 0xf00,
    TH_TILE_ARRAY_SHIFT = 8,
    TH_TILE_MOVING_SHIFT = 12
};
static inline th_tile_state th_tile_state_of(const th_tiles *t)
{
    return (th_tile_state)((uint32_t)t->fill | (uint32_t)t->array << TH_TILE_ARRAY_SHIFT |
                           t->moving << TH_TILE_MOVING_SHIFT);
}

typedef struct th_pipeline_change {
    th_time at;
    th_tile_state tiles; /* from then on */
} th_pipeline_change;

typedef struct th_pipeline_trace {
    th_tile_state first; /* before the first change */
    th_pipeline_change *change;
    size_t n;
    /* private */
    size_t capacity;
    int32_t n_users;
    bool is_cached;
    const th_schedule *schedule;
    const th_port *port;
    th_pipeline start, middle, last; /* before the first change, at a late one, after all */
} th_pipeline_trace;

typedef struct th_pipeline_traces th_pipeline_traces;

th_pipeline_traces *th_pipeline_traces_new(void);    /* NULL: memory is out */
void th_pipeline_traces_free(th_pipeline_traces *k); /* accepts NULL */
/* Empties the cache; traces in use are freed when they are released. */
void th_pipeline_traces_forget(th_pipeline_traces *k);

/* The trace from the state with this digest (two words) on, or NULL. To be released. */
th_pipeline_trace *th_pipeline_traces_find(th_pipeline_traces *k, const uint64_t *digest);
/* A trace from state *p on; s and port must outlive it. digest NULL: it is not shared. NULL: memory
 * is out. To be released. */
th_pipeline_trace *th_pipeline_traces_add(th_pipeline_traces *k, const uint64_t *digest,
                                          const th_pipeline *p, const th_schedule *s,
                                          const th_port *port);
void th_pipeline_trace_release(th_pipeline_trace *r); /* accepts NULL */

/* Extends *r for a user that has passed its last change. *r may become another trace; *next is the
 * first new change. 1, or 0 if the pipeline has ended, or -1: memory is out. */
int th_pipeline_traces_more(th_pipeline_traces *k, th_pipeline_trace **r, size_t *next);
/* The pipeline at a time not before the last change that the user has passed, changes at that time
 * included. */
void th_pipeline_trace_state(const th_pipeline_trace *r, th_time at, th_pipeline *p);

#endif
