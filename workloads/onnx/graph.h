/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.h - an ONNX file as its nodes, their attributes, and the tensors that it holds.
 *   open -> attributes, tensors -> close
 * The messages are those that protoc-c makes of onnx.proto. */
#ifndef TH_WORKLOADS_ONNX_GRAPH_H
#define TH_WORKLOADS_ONNX_GRAPH_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "workloads/onnx/onnx.pb-c.h"

typedef ThOnnx__Node th_onnx_node;
typedef ThOnnx__Tensor th_onnx_tensor;
typedef ThOnnx__Attribute th_onnx_attribute;

/* TensorProto.DataType */
enum {
    TH_ONNX_FLOAT = 1,
    TH_ONNX_UINT8,
    TH_ONNX_INT8,
    TH_ONNX_UINT16,
    TH_ONNX_INT16,
    TH_ONNX_INT32,
    TH_ONNX_INT64,
    TH_ONNX_STRING,
    TH_ONNX_BOOL,
    TH_ONNX_FLOAT16,
    TH_ONNX_DOUBLE,
    TH_ONNX_UINT32,
    TH_ONNX_UINT64,
    TH_ONNX_COMPLEX64,
    TH_ONNX_COMPLEX128,
    TH_ONNX_BFLOAT16,
    TH_ONNX_FLOAT8_FIRST, /* four forms of 8 bits */
    TH_ONNX_UINT4 = 21,
    TH_ONNX_INT4
};

enum { TH_ONNX_RANK_MAX = 12, TH_ONNX_FILE_MAX = INT32_MAX };

/* NULL on failure, what was wrong in err. Every message below it is there: optional ones, too, that
 * a model cannot do without. */
ThOnnx__Model *th_onnx_open(const char *path, th_error *err);
void th_onnx_close(ThOnnx__Model *m); /* accepts NULL */

/* What a node is called: its name, or its first output. */
const char *th_onnx_node_name(const th_onnx_node *n);
const th_onnx_attribute *th_onnx_attribute_of(const th_onnx_node *n, const char *name);
int64_t th_onnx_int(const th_onnx_node *n, const char *attribute, int64_t otherwise);
double th_onnx_real(const th_onnx_node *n, const char *attribute, double otherwise);
bool th_onnx_has(const th_onnx_node *n, const char *attribute);
/* Is the attribute this text? */
bool th_onnx_is(const th_onnx_node *n, const char *attribute, const char *text);
/* How many integers the attribute has, at most max of them in out; -1: there is no such attribute.
 */
int th_onnx_ints(const th_onnx_node *n, const char *attribute, int64_t *out, int max);

bool th_onnx_is_real(int32_t type); /* floating point */
/* The elements of a tensor of at most max: into ints or reals, by its type. Their number; -1: they
 * are not in the file, or too many, or of no number's type. */
int64_t th_onnx_tensor_numbers(const th_onnx_tensor *t, int64_t max, int64_t *ints, double *reals);

#endif
