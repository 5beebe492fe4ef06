/* SPDX-License-Identifier: GPL-3.0-or-later */
/* critical_path.h - the critical path of a run, the chain of tasks and waits whose sum is the
 * makespan to the picosecond; what delayed each task; and the slack of every task. */
#ifndef TH_SIM_ANALYSIS_CRITICAL_PATH_H
#define TH_SIM_ANALYSIS_CRITICAL_PATH_H
#include "sim/program/result.h"

/* What delayed the start of a task. */
typedef enum {
    TH_CAUSE_BEGIN,   /* nothing: it started at time 0 */
    TH_CAUSE_ARRIVAL, /* its release */
    TH_CAUSE_DATA,    /* its last predecessor */
    TH_CAUSE_ENGINE   /* an earlier task on the same accelerator or host */
} th_cause_kind;

typedef struct th_cause {
    int32_t kind; /* th_cause_kind */
    int32_t task; /* the predecessor, or the task before it; -1: none */
} th_cause;
/* Of a task that has started. */
th_cause th_cause_of(const th_result *r, int32_t task);
const char *th_cause_name(int32_t kind); /* "begin" "arrival" "data" "engine" */

typedef struct th_path_entry {
    int32_t task;
    th_cause cause;
    th_time wait_ps; /* between the cause's end (or 0) and this start */
    th_time start_ps, end_ps;
} th_path_entry;

/* The path in order of time, *path owned by the caller (th_free). Returns its length, or -1. It
 * begins at time 0, or, after a wait, with an arrival. */
int th_critical_path(const th_result *r, th_path_entry **path, th_error *err);

/* slack[n_tasks]: how much later each task could have ended without moving the end of the run, with
 * unchanged durations, predecessors and order on accelerators and hosts; -1: it has not ended.
 * Tasks on the critical path have 0. Returns 0 or -1. */
int th_slacks(const th_program *p, const th_result *r, th_time *slack, th_error *err);

#endif
