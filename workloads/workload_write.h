/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_write.h - writes a workload as text for th_workload_read. */
#ifndef TH_WORKLOADS_WORKLOAD_WRITE_H
#define TH_WORKLOADS_WORKLOAD_WRITE_H
#include "base/strbuf.h"
#include "workloads/workload.h"

/* Adds the text of a finished workload, which reads back to the same layers in the same order. 0,
 * or -1: out of memory. */
int th_workload_write(const th_workload *w, th_strbuf *out, th_error *err);

#endif
