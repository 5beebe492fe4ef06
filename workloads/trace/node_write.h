/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_write.h - the nodes of a rank as the bytes of a trace's file. For trace_write.c alone. */
#ifndef TH_WORKLOADS_TRACE_NODE_WRITE_H
#define TH_WORKLOADS_TRACE_NODE_WRITE_H
#include "base/strbuf.h"
#include "workloads/trace/trace.h"

/* Adds the bytes of the file of a rank. 0 or -1. */
int th_trace_pack_rank(const th_trace *t, int32_t rank, th_strbuf *out, th_error *err);

#endif
