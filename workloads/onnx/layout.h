/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.h - a tensor of a graph as a view of what its layer makes.
 *
 * Every axis is a list of factors, the slowest first, each of which walks along one coordinate
 * (batch, channels, height or width) of the layer's output. Extents of 1 have no factor. Splitting
 * an axis splits its factors, and a transposition moves them: no element is touched. What cannot be
 * said in this way is copied into another layout (th_onnx_arrange in emit.h). */
#ifndef TH_WORKLOADS_ONNX_LAYOUT_H
#define TH_WORKLOADS_ONNX_LAYOUT_H
#include "workloads/onnx/value.h"

/* An extent of 1 adds none. -1: too many. */
int th_onnx_layout_add(th_onnx_value *v, int32_t axis, th_onnx_coordinate c, int64_t extent,
                       int64_t stride);
/* Neighbours that walk along one become one. */
void th_onnx_layout_merge(th_onnx_value *v);
/* The same elements in the same order with other axes; false: it cannot be said, v is unchanged. */
bool th_onnx_layout_reshape(th_onnx_value *v, const int64_t *dim, int32_t rank);
/* Axis i of the result is axis order[i]. */
void th_onnx_layout_transpose(th_onnx_value *v, const int32_t *order);
/* Do the axes from first to last (inclusive; empty if last < first) walk along all of the
 * coordinates in the list (ended by -1), in this order, and nothing else? */
bool th_onnx_layout_is(const th_onnx_value *v, int32_t first, int32_t last, const int *coordinates);
bool th_onnx_layout_same(const th_onnx_value *a, const th_onnx_value *b); /* of equal shape */
bool th_onnx_has_batch(const th_onnx_value *v); /* the batch is a factor of some axis */
bool th_onnx_axis_has_batch(const th_onnx_value *v, int32_t axis);
/* The axis whose slowest factor is the batch; -1: there is none, -2: it lies otherwise. */
int32_t th_onnx_batch_axis(const th_onnx_value *v);
/* Adds the factors of an axis of another tensor to the end. */
void th_onnx_layout_copy(th_onnx_value *v, int32_t axis, const th_onnx_value *from,
                         int32_t from_axis);
/* The factors of like (which may be v), the batch apart, one after the other along the coordinate
 * of their axis; sets c, h, w. -1: too large. */
int th_onnx_layout_assign(th_onnx_value *v, const th_onnx_value *like, const int *coordinates);
/* A factor for each axis, for th_onnx_layout_assign, and the batch before that of batch_axis (-1:
 * nowhere). -1: the batch does not divide it. */
int th_onnx_layout_fill(th_onnx_value *v, int32_t batch_axis);
/* After factors became shorter or left: strides without gaps, each coordinate's order as it was;
 * sets c, h, w. */
void th_onnx_layout_compact(th_onnx_value *v);
/* The extent of a coordinate. */
int64_t th_onnx_extent(const th_onnx_value *v, th_onnx_coordinate c);

#endif
