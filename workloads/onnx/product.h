/* SPDX-License-Identifier: GPL-3.0-or-later */
/* product.h - products of two tensors, whose axes are said to be batch, rows, inner or columns. */
#ifndef TH_WORKLOADS_ONNX_PRODUCT_H
#define TH_WORKLOADS_ONNX_PRODUCT_H
#include "workloads/onnx/op.h"

enum { TH_ONNX_PRODUCT_AXES = 2 * TH_ONNX_RANK_MAX };

/* Every axis of the product has a number: where it is in the first, the second and the output; -1:
 * it is not there. */
typedef struct {
    int n;
    int32_t first[TH_ONNX_PRODUCT_AXES], second[TH_ONNX_PRODUCT_AXES], out[TH_ONNX_PRODUCT_AXES];
} th_onnx_product;

/* Adds the layer of a product and defines the node's output. has_bias: a bias is added to it.
 * Either of the two may be a constant. */
int th_onnx_add_product(th_onnx_reader *r, const th_onnx_product *p, th_onnx_value *first,
                        th_onnx_value *second, bool has_bias, const char *suffix);

#endif
