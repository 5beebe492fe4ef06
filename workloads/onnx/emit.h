/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emit.h - adds layers for the nodes of an ONNX model, and brings tensors into the layout that a
 * layer reads. Names are those of the nodes. A function that fails returns -1 or NULL. */
#ifndef TH_WORKLOADS_ONNX_EMIT_H
#define TH_WORKLOADS_ONNX_EMIT_H
#include "workloads/onnx/layout.h"

/* A layer (not yet added) whose output has the shape of the layer that makes v. */
th_layer th_onnx_layer_over(const th_onnx_reader *r, th_layer_kind kind, const th_onnx_value *v);
/* Adds a layer that is named after the node (with the suffix) and reads the layers in from.
 * Returns its number, or -1. */
int32_t th_onnx_add_layer(th_onnx_reader *r, th_layer *l, int32_t *from, int32_t n,
                          const char *suffix);
/* Ties a layer that was added to the first one with the same weights, if their shapes fit.
 * inputs_first: w has the axis of the layer's inputs before that of its outputs; more: what else
 * must be the same. 0, or -1: memory is out. */
int th_onnx_tie(th_onnx_reader *r, int32_t layer, const th_onnx_value *w, bool inputs_first,
                int64_t more);
/* The value of out[output] as the output of this layer; its axes have no layout yet. */
th_onnx_value th_onnx_made(const th_onnx_reader *r, size_t output, int32_t layer);
/* Adds l, which reads v's layer, and defines the node's first output as its output, with v's
 * layout. */
int th_onnx_add_same_shape(th_onnx_reader *r, th_layer *l, const th_onnx_value *v);

/* Returns v in the layout in which the factors of each axis lie along coordinates[axis], in the
 * order of the axes; the batch keeps its place. If v has another layout, adds a copy layer, whose
 * name ends in suffix. */
const th_onnx_value *th_onnx_arrange(th_onnx_reader *r, th_onnx_value *v, const int *coordinates,
                                     const char *suffix);
/* Returns v in the layout of images: axis 0 is the batch, axis 1 the channels, the last one the
 * width, those between the height. */
const th_onnx_value *th_onnx_arrange_image(th_onnx_reader *r, th_onnx_value *v);
/* Returns v in the layout of another tensor of the same shape. */
const th_onnx_value *th_onnx_arrange_like(th_onnx_reader *r, th_onnx_value *v,
                                          const th_onnx_value *like);
/* Default coordinates of the axes: an image's as in th_onnx_arrange_image; else the last axis but
 * one that holds more than the batch is the rows, all others are channels. */
void th_onnx_usual_coordinates(const th_onnx_value *v, bool is_image, int *coordinates);

/* Adds a layer with function f that reads all tensors among the node's inputs and makes
 * out[output], in the default layout. */
int th_onnx_gather_inputs(th_onnx_reader *r, th_function f, size_t output, const char *suffix);

/* Returns the layer that makes v, input number `input` of the node, if this node is its only reader
 * and the layer has no activation yet (the node can be fused into it); else NULL. */
th_layer *th_onnx_layer_before(const th_onnx_reader *r, const th_onnx_value *v, size_t input);

#endif
