/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.h - the nodes of an ONNX graph in an order in which each follows those whose outputs it
 * reads. */
#ifndef TH_WORKLOADS_ONNX_ORDER_H
#define TH_WORKLOADS_ONNX_ORDER_H
#include "workloads/onnx/value.h"

/* Numbers of the nodes, which keep their order where it is one; to be freed. NULL: a cycle, which
 * is named, or memory is out. */
size_t *th_onnx_order(th_onnx_reader *r, th_onnx_node *const *nodes, size_t n);

#endif
