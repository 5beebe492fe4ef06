/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_custom.h - collectives whose algorithm is a trace, a file for each member: ASTRA-sim's
 * custom collectives. */
#ifndef TH_WORKLOADS_TRACE_TRACE_CUSTOM_H
#define TH_WORKLOADS_TRACE_TRACE_CUSTOM_H
#include "workloads/trace/trace.h"

/* Puts the nodes of PREFIX.0.et, PREFIX.1.et ... in the place of every collective of this kind:
 * rank N of them is the N-th member of the group. The files are read only where there is one. 0,
 * or -1 and the trace may only be freed. */
int th_trace_use_custom(th_trace *t, th_trace_collective kind, const char *prefix, th_error *err);

#endif
