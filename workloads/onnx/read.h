/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read.h - reads a workload from an ONNX model; docs/onnx.md lists the operators. */
#ifndef TH_WORKLOADS_ONNX_READ_H
#define TH_WORKLOADS_ONNX_READ_H
#include "workloads/onnx/options.h"
#include "workloads/workload.h"

/* A finished workload, named after the file. notes may be NULL. NULL on failure, FILE and node in
 * err. */
th_workload *th_workload_read_onnx(const char *path, const th_onnx_options *options,
                                   th_onnx_notes *notes, th_error *err);

#endif
