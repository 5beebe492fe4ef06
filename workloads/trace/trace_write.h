/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_write.h - writes an execution trace: PREFIX.0.et, PREFIX.1.et ..., one for each rank, and
 * PREFIX.groups.json where it has groups. */
#ifndef TH_WORKLOADS_TRACE_TRACE_WRITE_H
#define TH_WORKLOADS_TRACE_TRACE_WRITE_H
#include "workloads/trace/trace.h"

/* All files are replaced, or none. A file of a rank beyond the last would be read as part of the
 * trace: it is an error. 0 or -1. */
int th_trace_write(const th_trace *t, const char *prefix, th_error *err);

#endif
