/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes.h - reads the nodes of an ONNX graph, each after those that make its inputs.
 *   th_onnx_count_uses -> th_onnx_add_constants -> inputs are defined -> th_onnx_read_nodes
 * What stands in the place of one node is read in a scope of its own:
 *   th_onnx_enter -> define what it reads -> th_onnx_read_nodes -> th_onnx_bind_output* ->
 *   th_onnx_leave */
#ifndef TH_WORKLOADS_ONNX_NODES_H
#define TH_WORKLOADS_ONNX_NODES_H
#include "workloads/onnx/value.h"

int th_onnx_count_uses(th_onnx_reader *r); /* of all names of the model */
int th_onnx_count_use(th_onnx_reader *r, const char *name);
int th_onnx_add_constants(th_onnx_reader *r, const ThOnnx__Graph *g);
int th_onnx_read_nodes(th_onnx_reader *r, th_onnx_node *const *nodes, size_t n);

/* A new scope, not yet that of the reader. -1: too deep. */
int th_onnx_enter(th_onnx_reader *r, th_onnx_scope *inner);
/* What the inner scope calls name is what the node's output, in the outer one, is. */
int th_onnx_bind_output(th_onnx_reader *r, th_onnx_scope *inner, const char *name, size_t output);
void th_onnx_leave(th_onnx_reader *r, th_onnx_scope *inner);

#endif
