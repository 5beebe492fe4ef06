/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_read.h - reads execution traces: one file for each rank. */
#ifndef TH_WORKLOADS_TRACE_TRACE_READ_H
#define TH_WORKLOADS_TRACE_TRACE_READ_H
#include "base/strbuf.h"
#include "workloads/trace/trace.h"

typedef struct th_trace_files {
    const char
        *prefix; /* of PREFIX.0.et, PREFIX.1.et ...; or a folder of rank.0.et, rank.1.et ... */
    const char *groups; /* NULL: none */
    const char *memory; /* NULL: none */
    /* Data dependencies on nodes that are not in the file are dropped, as control dependencies
     * always are, and collectives without a known comm_type take their measured duration. */
    bool is_lenient;
} th_trace_files;

/* NULL on failure: one line with the file, the node, and what was expected. */
th_trace *th_trace_read(const th_trace_files *f, th_error *err);
/* What was read otherwise than it stands there, counted; nothing where there is none. */
void th_trace_note(const th_trace *t, th_strbuf *notes);
/* A trace whose ranks all have these bytes as their file. NULL on failure, as above. */
th_trace *th_trace_read_bytes(const void *bytes, size_t n, int32_t n_ranks, th_error *err);

#endif
