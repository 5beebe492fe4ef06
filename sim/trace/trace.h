/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.h - the table of trace writers: told when tasks start and end.
 *   open -> (start | end)* -> close */
#ifndef TH_SIM_TRACE_H
#define TH_SIM_TRACE_H
#include "base/error.h"
#include "base/units.h"
#include "sim/program.h"
#include "topology/system.h"
#include "workloads/workload.h"

typedef struct th_trace th_trace;

typedef struct th_trace_type {
    const char *name; /* csv */
    void (*open)(th_trace *t);
    void (*start)(th_trace *t, th_time now, int32_t number, const th_task *task);
    void (*end)(th_trace *t, th_time now, int32_t number, const th_task *task);
} th_trace_type;

extern const th_trace_type *const th_trace_types[]; /* ends in NULL */
const th_trace_type *th_trace_find(const char *name);

/* Opens path for writing; system and workload give the names and must outlive it (workload may be
 * NULL). NULL on failure. */
th_trace *th_trace_open(const char *path, const th_trace_type *type, const th_system *s,
                        const th_workload *w, th_error *err);
/* 0, or -1 when not everything reached the file (disk full). Frees t either way; accepts NULL. */
int th_trace_close(th_trace *t, th_error *err);

/* For the machine. */
void th_trace_start(th_trace *t, th_time now, int32_t number, const th_task *task);
void th_trace_end(th_trace *t, th_time now, int32_t number, const th_task *task);

#endif
