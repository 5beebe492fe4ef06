/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.h - the inputs of an ONNX graph: their axes, their batch and their layouts. */
#ifndef TH_WORKLOADS_ONNX_INPUTS_H
#define TH_WORKLOADS_ONNX_INPUTS_H
#include "workloads/onnx/emit.h"

/* Defines the inputs that are no initializers, and makes the workload. keeps_batch: the batch of
 * the inputs is kept as the batch of the tensors; else tensors have a batch of 1. */
int th_onnx_add_inputs(th_onnx_reader *r, const ThOnnx__Graph *g, bool keeps_batch);

#endif
