/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_graph.h - an ONNX file as its nodes, their attributes, and tensors that are known without
 * running it.
 *   open -> attributes, constants -> close
 * The messages are those that protoc-c makes of onnx.proto. */
#ifndef TH_WORKLOADS_ONNX_GRAPH_H
#define TH_WORKLOADS_ONNX_GRAPH_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "workloads/onnx.pb-c.h"

typedef ThOnnx__Node th_onnx_node;
typedef ThOnnx__Tensor th_onnx_tensor;

enum { TH_ONNX_RANK_MAX = 8, TH_ONNX_FLOAT = 1, TH_ONNX_INT64 = 7, TH_ONNX_FILE_MAX = INT32_MAX };

/* NULL on failure, what was wrong in err. Every message below it is there: optional ones, too, that
 * a model cannot do without. */
ThOnnx__Model *th_onnx_open(const char *path, th_error *err);
void th_onnx_close(ThOnnx__Model *m); /* accepts NULL */

/* What a node is called: its name, or its first output. */
const char *th_onnx_node_name(const th_onnx_node *n);
int64_t th_onnx_int(const th_onnx_node *n, const char *attribute, int64_t otherwise);
bool th_onnx_has(const th_onnx_node *n, const char *attribute);
/* Is the attribute this text? */
bool th_onnx_is(const th_onnx_node *n, const char *attribute, const char *text);
const th_onnx_tensor *th_onnx_tensor_of(const th_onnx_node *n,
                                        const char *attribute); /* NULL: none */
/* How many integers the attribute has, at most max of them in out; 0: it has none. */
int th_onnx_ints(const th_onnx_node *n, const char *attribute, int64_t *out, int max);
/* The same of a tensor of int64; -1: it is none. */
int th_onnx_integers(const th_onnx_tensor *t, int64_t *out, int max);

#endif
