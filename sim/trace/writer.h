/* SPDX-License-Identifier: GPL-3.0-or-later */
/* writer.h - private to the trace writers: what an open trace holds. */
#ifndef TH_SIM_TRACE_WRITER_H
#define TH_SIM_TRACE_WRITER_H
#include <stdio.h>
#include "sim/trace/trace.h"

struct th_trace {
    const th_trace_type *type;
    const th_system *system;
    const th_workload *workload;
    FILE *file;
    char *path;
};

extern const th_trace_type th_trace_csv;

#endif
