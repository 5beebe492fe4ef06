/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_read.h - one message of a trace's file as a node. For trace_read.c alone. */
#ifndef TH_WORKLOADS_TRACE_NODE_READ_H
#define TH_WORKLOADS_TRACE_NODE_READ_H
#include "workloads/trace/trace.h"
#include "workloads/trace/trace.pb-c.h"

/* The file that is read. */
typedef struct th_trace_reader {
    th_trace *trace;
    int32_t rank;
    const char *path;
} th_trace_reader;

/* Fills *out but for its lists of nodes, its group and name. *group: the number that it names, 0:
 * all ranks. 0 or -1. */
int th_trace_read_node(const th_trace_reader *r, const ThTraceMessage__Node *m, th_trace_node *out,
                       int64_t *group, th_error *err);
/* NULL: the node has no such attribute. */
const ThTraceMessage__Attribute *th_trace_attribute(const ThTraceMessage__Node *m,
                                                    const char *name);
/* "FILE: node 7: it has no data": the message begins so. -1. */
int th_trace_node_error(const th_trace_reader *r, uint64_t id, th_error *err, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

#endif
