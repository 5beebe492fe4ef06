/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emit.h - adds layers for the nodes of an ONNX model, and brings tensors into the layout that a
 * layer reads. Names are those of the nodes. A function that fails returns -1 or NULL. */
#ifndef TH_WORKLOADS_ONNX_EMIT_H
#define TH_WORKLOADS_ONNX_EMIT_H
#include "workloads/onnx/layout.h"

/* A layer that keeps the shape of what makes v. */
th_layer th_onnx_layer_over(const th_onnx_reader *r, th_layer_kind kind, const th_onnx_value *v);
/* Named after the node; reads these layers. Its number, or -1. */
int32_t th_onnx_add_layer(th_onnx_reader *r, th_layer *l, int32_t *from, int32_t n,
                          const char *suffix);
/* A tensor of the shape of out[output] that this layer makes, without a layout yet. */
th_onnx_value th_onnx_made(const th_onnx_reader *r, size_t output, int32_t layer);
/* The node's first output is what the layer makes of v, with v's layout. */
int th_onnx_add_alike(th_onnx_reader *r, th_layer *l, const th_onnx_value *v);

/* v with the factors of each axis along its coordinate, in the order of the axes; the batch stays.
 * A layer copies it where it is not so. what: of the copy's name. */
const th_onnx_value *th_onnx_arrange(th_onnx_reader *r, th_onnx_value *v, const int *coordinates,
                                     const char *suffix);
/* As batch x channels x rows ..., the layout of images: axes 0 (images), 1 (channels), the last
 * (width) and those between (height). */
const th_onnx_value *th_onnx_arrange_image(th_onnx_reader *r, th_onnx_value *v);
/* In the layout of another tensor of the same shape. */
const th_onnx_value *th_onnx_arrange_like(th_onnx_reader *r, th_onnx_value *v,
                                          const th_onnx_value *like);
/* Where the axes of a tensor go that nothing is known of: the last to the channels, the one before
 * to the rows, others in front of the channels; an image's as th_onnx_arrange_image. */
void th_onnx_usual_coordinates(const th_onnx_value *v, bool is_image, int *coordinates);

/* A layer that makes out[output] of all the node's inputs that are tensors, in whatever way: a copy
 * or a reduction. like_image: the layout of the result. */
int th_onnx_gather_inputs(th_onnx_reader *r, th_function f, size_t output, const char *suffix);

/* The layer that makes the first input, where nothing else reads that and nothing but it may follow
 * (NULL: none): what follows may become part of it. */
th_layer *th_onnx_layer_before(const th_onnx_reader *r, const th_onnx_value *v, size_t input);

#endif
