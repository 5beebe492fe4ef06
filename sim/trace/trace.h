/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.h - a file that records how signals of a system and its tasks change during a run.
 *
 *   open -> add* -> th_machine_observe(th_trace_observer) -> the run -> advance -> close
 * A trace is an observer (sim/program/observer.h) of one machine; a restart of the run starts the
 * file again. One writer per format is a row of th_trace_types. A trace never changes a run. close
 * reports failures during the run (memory, full disks). */
#ifndef TH_SIM_TRACE_H
#define TH_SIM_TRACE_H
#include "base/error.h"
#include "base/units.h"
#include "sim/program/observer.h"
#include "topology/system.h"
#include "workloads/workload.h"

typedef struct th_trace th_trace;
typedef struct th_trace_type th_trace_type;

extern const th_trace_type *const th_trace_types[]; /* ends in NULL */
const th_trace_type *th_trace_find(const char *name);
const char *th_trace_type_name(const th_trace_type *type); /* csv, vcd, perfetto, chrome */

/* Signals of an object. */
typedef enum {
    TH_SIGNAL_STATE,       /* accelerator: idle or computing */
    TH_SIGNAL_TASK,        /* accelerator, host: number of the running task, -1: none */
    TH_SIGNAL_LAYER,       /* accelerator, host: the layer of that task */
    TH_SIGNAL_SENDING,     /* node: transfers and messages that it sends */
    TH_SIGNAL_RECEIVING,   /* node: and that it receives */
    TH_SIGNAL_BUSY,        /* accelerator, host: runs a task; link: has a flow */
    TH_SIGNAL_FLOWS,       /* link: transfers, messages or packets on it */
    TH_SIGNAL_QUEUE_DEPTH, /* accelerator: tasks that wait for it; link: flows beyond the first */
    TH_SIGNAL_HEALTH,      /* accelerator, link: up, degraded, down, avoided, slow, fast, dead */
    /* Inside a task, tile by tile (sim/pipeline/pipeline.h). */
    TH_SIGNAL_BUFFER_FILL, /* accelerator: tiles in its buffers, of inputs and outputs */
    TH_SIGNAL_ARRAY,       /* accelerator: idle, computing, or the engine that it waits for */
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
    th_time since_ps;      /* events in [since, until] are written */
    th_time until_ps;      /* TH_TIME_MAX: to the end */
} th_trace_options;

/* 0, or -1: not 1, 10 or 100 of ps ... s. */
int th_trace_check_resolution(th_time resolution_ps, th_error *err);

/* Opens path for writing; system and workload give the names and must outlive the trace (workload
 * may be NULL). NULL on failure. o NULL: the whole run, at the finest resolution of the format. */
th_trace *th_trace_open(const char *path, const th_trace_type *type, const th_trace_options *o,
                        const th_system *s, const th_workload *w, th_error *err);
/* Traces these signals of an accelerator, link or node. Called before the first event. Without any
 * call, all objects are traced with all signals except those inside tasks, and health where the
 * run has faults. */
void th_trace_add(th_trace *t, th_traced_class class, int index, unsigned signals);
/* The observer that the machine notifies. */
th_observer *th_trace_observer(th_trace *t);
/* The program will be dropped: no events until restart. */
void th_trace_leave(th_trace *t);
bool th_trace_has_begun(const th_trace *t); /* true after the first event */
/* 0, or -1 if not everything was written to the file (disk full). Frees t in both cases; accepts
 * NULL. */
int th_trace_close(th_trace *t, th_error *err);

/* Advances to now without further events. */
void th_trace_advance(th_trace *t, th_time now);

#endif
