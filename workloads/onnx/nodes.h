/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes.h - reads the nodes of an ONNX graph, each after those that make its inputs.
 *   th_onnx_count_uses -> th_onnx_add_constants -> inputs are defined -> th_onnx_read_nodes
 * What stands in the place of one node is read in a scope of its own:
 *   th_onnx_enter -> define what it reads -> th_onnx_read_nodes -> th_onnx_take* ->
 *   th_onnx_leave */
#ifndef TH_WORKLOADS_ONNX_NODES_H
#define TH_WORKLOADS_ONNX_NODES_H
#include "workloads/onnx/shape/value.h"

int th_onnx_count_uses(th_onnx_reader *r); /* of all names of the model */
int th_onnx_count_use(th_onnx_reader *r, const char *name, int by);
/* Of what a graph reads; by: 1 more, or -1: it is not read after all. */
int th_onnx_count_graph(th_onnx_reader *r, const ThOnnx__Graph *g, int by);
int th_onnx_add_constants(th_onnx_reader *r, const ThOnnx__Graph *g);
int th_onnx_read_nodes(th_onnx_reader *r, th_onnx_node *const *nodes, size_t n);

/* So many nodes and outputs more are read. -1: too many, with those of functions and loops. */
int th_onnx_count_read(th_onnx_reader *r, int64_t n);
/* A new scope, not yet that of the reader. -1: too deep. */
int th_onnx_enter(th_onnx_reader *r, th_onnx_scope *inner);
/* A copy of input i of the node, for a scope inside. NULL: refused. */
th_onnx_value *th_onnx_given(th_onnx_reader *r, size_t i);
/* A copy of what the inner scope calls name. NULL: there is none. */
th_onnx_value *th_onnx_take(th_onnx_reader *r, th_onnx_scope *inner, const char *name);
void th_onnx_leave(th_onnx_reader *r, th_onnx_scope *inner);

/* Nodes that are read in the place of one, with the names of what they read and make. */
typedef struct th_onnx_inner {
    th_onnx_node *const *nodes;
    char **inputs, **outputs;
    size_t n_nodes, n_inputs, n_outputs;
    const ThOnnx__Graph *graph; /* NULL: of a function, which sees its inputs alone */
} th_onnx_inner;

/* Graph g; its names are allocated. -1: out of memory. */
int th_onnx_inner_of(th_onnx_reader *r, const ThOnnx__Graph *g, th_onnx_inner *x);
/* Reads them with these values (NULL: not given) as inputs; out receives the outputs. 0 or -1. */
int th_onnx_read_inner(th_onnx_reader *r, const th_onnx_inner *x, const th_onnx_value *const *in,
                       th_onnx_value **out);

#endif
