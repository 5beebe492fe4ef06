/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program_trace.h - a program as an execution trace, the reverse of lower_trace.h: lowered again,
 * it takes the same times.
 *
 * Accelerator r is rank r, and every node has the number of its task as its id. A computation takes
 * what it took in the run. A transfer between accelerators is a send and a receive of the task's
 * number as their tag; one from or to another node is a load or a store. A collective has a node on
 * each of its ranks; so has a delay on each rank that waits for it. A task that waits for one of
 * another rank without a message names it (tharsis_after), which ASTRA-sim does not know.
 *
 * What a trace cannot express is an error: a transfer without an accelerator; a collective that is
 * none of the format's five, is uneven, follows a schedule, has extents of its own, or has members
 * that are no accelerators. */
#ifndef TH_SIM_EXECUTION_TRACE_PROGRAM_TRACE_H
#define TH_SIM_EXECUTION_TRACE_PROGRAM_TRACE_H
#include "sim/program/program.h"
#include "sim/program/result.h"
#include "workloads/trace/trace.h"
#include "workloads/workload.h"

typedef struct th_program_trace_options {
    const char *prefix; /* of its files */
    const th_program *program;
    const th_system *system;
    const th_workload *workload; /* whose layers name the nodes; NULL: none */
    /* Of a run that has ended, and what its tasks cost; NULL: all computations are of fixed work */
    const th_task_result *times;
    const th_compute_cost_cache *costs;
} th_program_trace_options;

/* *n_unordered: how many dependencies ASTRA-sim will not know. NULL on failure. */
th_trace *th_trace_of_program(const th_program_trace_options *o, int64_t *n_unordered,
                              th_error *err);

#endif
