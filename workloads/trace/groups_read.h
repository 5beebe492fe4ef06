/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups_read.h - the JSON files beside a trace: its groups of ranks, and the memory outside the
 * accelerators. */
#ifndef TH_WORKLOADS_TRACE_GROUPS_READ_H
#define TH_WORKLOADS_TRACE_GROUPS_READ_H
#include "workloads/trace/trace.h"

/* {"1": [0, 1], "2": [2, 3]}. 0 or -1. */
int th_trace_read_groups(th_trace *t, const char *path, th_error *err);
/* What a node of process groups holds: ["[{pg_name: "1", ranks: [0, 1]}]"]; no ranks: all. Text of
 * another form is none, and passed over. 0, or -1: memory is out. */
int th_trace_read_process_groups(th_trace *t, const char *text, size_t n, th_error *err);
/* 0 or -1. */
int th_trace_read_memory(th_trace *t, const char *path, th_error *err);

#endif
