/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.h - the nodes of an ONNX graph in an order in which each follows those whose outputs it
 * reads. */
#ifndef TH_WORKLOADS_ONNX_ORDER_H
#define TH_WORKLOADS_ONNX_ORDER_H
#include "workloads/onnx/shape/value.h"

/* Returns the numbers of the nodes in a topological order, which is that of the file if that is
 * one; freed by the caller. NULL: the nodes have a cycle, which the error names, or out of memory.
 */
size_t *th_onnx_order(th_onnx_reader *r, th_onnx_node *const *nodes, size_t n);

#endif
