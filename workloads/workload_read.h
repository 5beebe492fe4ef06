/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_read.h - a workload from a libconfig file; the grammar is docs/formats.md. */
#ifndef TH_WORKLOADS_WORKLOAD_READ_H
#define TH_WORKLOADS_WORKLOAD_READ_H
#include "workloads/workload.h"

/* batch > 0 overrides the file's. NULL on failure, FILE:LINE in err. */
th_workload *th_workload_read(const char *path, int32_t batch, th_error *err);
th_workload *th_workload_read_text(const char *text, const char *name, int32_t batch,
                                   th_error *err);

#endif
