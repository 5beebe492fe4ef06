/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.h - the inputs of an ONNX graph: their axes, their batch and their layouts. */
#ifndef TH_WORKLOADS_ONNX_INPUTS_H
#define TH_WORKLOADS_ONNX_INPUTS_H
#include "workloads/onnx/emit.h"

/* given.c: defines the inputs that the options give numbers, before any other value. */
int th_onnx_add_given(th_onnx_reader *r, const ThOnnx__Graph *g);
bool th_onnx_is_given(const th_onnx_reader *r, const char *name);
/* Defines the inputs that are no initializers, and makes the workload. keeps_batch: the batch of
 * the inputs is kept as the batch of the tensors; else tensors have a batch of 1. */
int th_onnx_add_inputs(th_onnx_reader *r, const ThOnnx__Graph *g, bool keeps_batch);

/* No layer is left, as an input has no elements. -1 */
int th_onnx_refuse_empty(th_onnx_reader *r);

#endif
