/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.h - what a run does, written to a file as it happens: the table of writers, and what is
 * traced.
 *
 *   open -> add* -> (task_starts | task_ends | waits | link | message_* | follow | draws | tiles)*
 * -> close; restart begins the file anew. The machine tells what happens (sim/observe/watch.h);
 * signals.c keeps the values of the signals that are traced, and hands a writer those that have
 * changed when time goes on. What is told never changes a run. Memory that runs out and disks that
 * are full are told at close. */
#ifndef TH_SIM_TRACE_H
#define TH_SIM_TRACE_H
#include "base/error.h"
#include "base/units.h"
#include "sim/network/network.h"
#include "sim/pipeline/pipeline.h"
#include "sim/program/program.h"
#include "sim/trace/tile_streams.h"
#include "topology/system.h"
#include "workloads/workload.h"

typedef struct th_trace th_trace;
typedef struct th_trace_type th_trace_type;

extern const th_trace_type *const th_trace_types[]; /* ends in NULL */
const th_trace_type *th_trace_find(const char *name);
const char *th_trace_type_name(const th_trace_type *type); /* csv, vcd, perfetto, chrome */

/* What can be traced of an object. */
typedef enum {
    TH_SIGNAL_STATE,       /* accelerator: idle or computing */
    TH_SIGNAL_TASK,        /* accelerator, host: number of the task that it runs, -1: none */
    TH_SIGNAL_LAYER,       /* accelerator, host: the layer of that task */
    TH_SIGNAL_SENDING,     /* node: transfers and messages that it sends */
    TH_SIGNAL_RECEIVING,   /* node: and that it receives */
    TH_SIGNAL_BUSY,        /* accelerator, host: runs a task; link: something is on it */
    TH_SIGNAL_FLOWS,       /* link: how many transfers, messages or packets */
    TH_SIGNAL_QUEUE_DEPTH, /* accelerator: tasks that wait for it; link: flows beyond the first */
    /* Inside a task, tile by tile (tile_streams.h). */
    TH_SIGNAL_BUFFER_FILL, /* accelerator: tiles in its buffers, of inputs and outputs */
    TH_SIGNAL_ARRAY,       /* accelerator: idle, computing, or what it waits for */
    TH_SIGNAL_LOAD_INPUT,  /* accelerator: 1 while this engine moves data */
    TH_SIGNAL_LOAD_WEIGHT,
    TH_SIGNAL_LOAD_PARTIAL,
    TH_SIGNAL_STORE,
    TH_N_SIGNALS
} th_signal;
enum { TH_FIRST_TILE_SIGNAL = TH_SIGNAL_BUFFER_FILL };

const char *th_signal_name(int i); /* NULL after the last */

typedef enum { TH_TRACED_ACCEL, TH_TRACED_LINK, TH_TRACED_NODE } th_traced_class;
/* Bit of every signal that objects of the class have; all: those inside tasks too. */
unsigned th_signals_of(th_traced_class class, bool all);

typedef struct th_trace_options {
    th_time resolution_ps; /* 1, 10 or 100 of a unit; 0: that of the format */
    th_time since_ps;      /* what happens in [since, until] is written */
    th_time until_ps;      /* TH_TIME_MAX: to the end */
} th_trace_options;

/* 0, or -1: not 1, 10 or 100 of ps ... s. */
int th_trace_check_resolution(th_time resolution_ps, th_error *err);

/* Opens path for writing; system and workload give the names and must outlive it (workload may be
 * NULL). NULL on failure. o NULL: all of the run, as finely as the format can. */
th_trace *th_trace_open(const char *path, const th_trace_type *type, const th_trace_options *o,
                        const th_system *s, const th_workload *w, th_error *err);
/* Traces these signals of an accelerator, link or node from the beginning on: before anything is
 * told. Where nothing is added, all objects are traced with all signals but those inside tasks. */
void th_trace_add(th_trace *t, th_traced_class class, int index, unsigned signals);
/* Does it follow a run of p? */
bool th_trace_is_of(const th_trace *t, const th_program *p);
/* The program is about to go: nothing is told any more, until restart. */
void th_trace_leave(th_trace *t);
bool th_trace_has_begun(const th_trace *t); /* something was told */
/* Does a signal inside tasks of accelerator accel count? */
bool th_trace_wants_tiles(const th_trace *t, int accel);
/* 0, or -1 when not everything reached the file (disk full). Frees t either way; accepts NULL. */
int th_trace_close(th_trace *t, th_error *err);

/* --- for the machine ----------------------------------------------------------------------------
 */

/* A run of p begins at time 0: what was written is dropped. */
void th_trace_restart(th_trace *t, const th_program *p);
void th_trace_task_starts(th_trace *t, th_time now, int32_t number);
void th_trace_task_ends(th_trace *t, th_time now, int32_t number);
/* One more compute task waits for the accelerator, until it starts. */
void th_trace_waits(th_trace *t, th_time now, int accel);
/* flows are on the link from now on. */
void th_trace_link(th_trace *t, th_time now, int link, int32_t flows);
/* A message of a collective, as flow number flow (>= the number of tasks). */
void th_trace_message_starts(th_trace *t, th_time now, int32_t flow, const th_message *m);
void th_trace_message_ends(th_trace *t, th_time now, int32_t flow, const th_message *m);

/* Tiles of the accelerator's task: from now on they change as those of the source's pipeline, until
 * one of the others is told, or the task ends. */
void th_trace_follow(th_trace *t, th_time now, int accel, const th_tile_source *source);
/* Others draw so much from its DRAM from now on. */
void th_trace_draws(th_trace *t, th_time now, int accel, double bytes_per_s);
/* The machine goes through its tiles itself, and tells of each; it has died, and nothing goes on.
 */
void th_trace_tiles(th_trace *t, th_time now, int accel, const th_tiles *tiles);
void th_trace_dies(th_trace *t, th_time now, int accel);
/* Nothing else has happened up to now. */
void th_trace_advance(th_trace *t, th_time now);

#endif
