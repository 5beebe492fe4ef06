/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_stuck.h - what of a trace did not come to its end, and why. */
#ifndef TH_SIM_EXECUTION_TRACE_TRACE_STUCK_H
#define TH_SIM_EXECUTION_TRACE_TRACE_STUCK_H
#include "sim/program/result.h"
#include "workloads/trace/trace.h"
#include "topology/system.h"

typedef struct th_trace_explainer th_trace_explainer;

/* times: of the tasks of all nodes, at the end of a run; all must outlive it. NULL on failure. */
th_trace_explainer *th_trace_explainer_new(const th_trace *t, const th_system *s,
                                           const th_task_result *times, th_error *err);
void th_trace_explainer_free(th_trace_explainer *x); /* accepts NULL */

/* 1: *why names ranks, nodes and tags; 0: all nodes are done, and all messages received; -1. */
int th_trace_explain(th_trace_explainer *x, th_error *why, th_error *err);
/* The same of one rank; "": nothing is left. Valid until the next call. NULL on failure. */
const char *th_trace_explain_rank(th_trace_explainer *x, int32_t rank, th_error *err);

#endif
