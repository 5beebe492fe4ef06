/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scalesim_read.h - a workload from SCALE-Sim's topology file; docs/formats.md says which columns.
 */
#ifndef TH_WORKLOADS_SCALESIM_READ_H
#define TH_WORKLOADS_SCALESIM_READ_H
#include "base/strbuf.h"
#include "workloads/workload.h"

/* A finished workload of independent layers (has_own_inputs), named after the file, all tensors in
 * one precision; batch >= 1. What is left out goes into notes (base/notes.h); NULL: not wanted, and
 * an unknown column is an error. NULL on failure, FILE:LINE in err. */
th_workload *th_workload_read_scalesim(const char *path, int32_t batch, th_precision precision,
                                       th_strbuf *notes, th_error *err);

enum { TH_SCALESIM_TOPOLOGY_MAX = 4 * 1024 * 1024 }; /* bytes of the file */

#endif
