/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.h - the inputs of an ONNX graph: their axes, which one is the batch, and how they are laid
 * out. */
#ifndef TH_WORKLOADS_ONNX_INPUTS_H
#define TH_WORKLOADS_ONNX_INPUTS_H
#include "workloads/onnx/emit.h"

/* Defines the inputs that are no initializers, and makes the workload. batch: of the tensors, 0:
 * that of the inputs. */
int th_onnx_add_inputs(th_onnx_reader *r, const ThOnnx__Graph *g, bool keeps_batch);

#endif
