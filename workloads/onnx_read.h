/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_read.h - reads a workload from an ONNX model: convolutional networks and perceptrons;
 * docs/formats.md lists the operators. */
#ifndef TH_WORKLOADS_ONNX_READ_H
#define TH_WORKLOADS_ONNX_READ_H
#include "workloads/workload.h"

/* A finished workload, named after the file. batch: in the place of the model's, 0: that one (1
 * where it is open). precision: of all tensors; -1: that of the model's input. NULL on failure,
 * FILE and node in err. */
th_workload *th_workload_read_onnx(const char *path, int32_t batch, int precision, th_error *err);

#endif
