/* SPDX-License-Identifier: GPL-3.0-or-later */
/* product.h - products of two tensors, each of whose axes is a group, rows, inner or columns
 * (product.c). */
#ifndef TH_WORKLOADS_ONNX_PRODUCT_H
#define TH_WORKLOADS_ONNX_PRODUCT_H
#include "workloads/onnx/op.h"

enum { TH_ONNX_PRODUCT_AXES = 2 * TH_ONNX_RANK_MAX };

/* The axes of a product are numbered. first[i], second[i] and out[i] are the positions of axis i in
 * the two inputs and the output; -1: it has none. */
typedef struct {
    int n;
    int32_t first[TH_ONNX_PRODUCT_AXES], second[TH_ONNX_PRODUCT_AXES], out[TH_ONNX_PRODUCT_AXES];
} th_onnx_product;

/* Adds the layer of a product and defines the node's output. has_bias: the layer adds a bias.
 * Either input may be a constant. */
int th_onnx_add_product(th_onnx_reader *r, const th_onnx_product *p, th_onnx_value *first,
                        th_onnx_value *second, bool has_bias, const char *suffix);

#endif
