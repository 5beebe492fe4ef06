/* SPDX-License-Identifier: GPL-3.0-or-later */
/* critical_path.h - why a run took as long as it did: the chain of tasks and waits whose sum is the
 * makespan to the picosecond, what let each task begin, and how much later each could have been. */
#ifndef TH_SIM_ANALYSIS_CRITICAL_PATH_H
#define TH_SIM_ANALYSIS_CRITICAL_PATH_H
#include "sim/program/result.h"

/* What a task waited for last before it began. */
typedef enum {
    TH_CAUSE_BEGIN,   /* nothing: time began */
    TH_CAUSE_ARRIVAL, /* its release */
    TH_CAUSE_DATA,    /* a predecessor */
    TH_CAUSE_ENGINE   /* the task before it on its accelerator or host; it was ready itself */
} th_cause_kind;

typedef struct th_cause {
    int32_t kind; /* th_cause_kind */
    int32_t task; /* the predecessor, or the task before it; -1: none */
} th_cause;
/* Of a task that has begun. */
th_cause th_cause_of(const th_result *r, int32_t task);
const char *th_cause_name(int32_t kind); /* "begin" "arrival" "data" "engine" */

typedef struct th_path_entry {
    int32_t task;
    th_cause cause;
    th_time wait_ps; /* between the cause's end (or 0) and this start */
    th_time start_ps, end_ps;
} th_path_entry;

/* The path in order of time, *path owned by the caller (th_free). Returns its length, or -1. It
 * begins where nothing before had to end: at 0, or, after a wait, with an arrival. */
int th_critical_path(const th_result *r, th_path_entry **path, th_error *err);

/* How much later each task that has ended could have ended, all tasks taking as long as they did,
 * each after its predecessors and after the task that ran before it on its accelerator or host, and
 * nothing ending after the last end so far: into slack[n_tasks], -1 for tasks that have not ended.
 * Tasks on the critical path have 0. 0 or -1. */
int th_slacks(const th_program *p, const th_result *r, th_time *slack, th_error *err);

#endif
