/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.h - a tensor of a graph as a view of the output of its layer.
 *
 * Every axis is a list of factors, the slowest first, each of which walks along one coordinate
 * (batch, channels, height or width) of the layer's output. Extents of 1 have no factor. Splitting
 * an axis splits its factors, and a transposition reorders them; no element moves. A tensor that no
 * list of factors describes is copied into another layout (th_onnx_arrange in emit.h). */
#ifndef TH_WORKLOADS_ONNX_LAYOUT_H
#define TH_WORKLOADS_ONNX_LAYOUT_H
#include "workloads/onnx/shape/value.h"

/* Adds a factor, unless the extent is 1. -1: there are TH_ONNX_FACTORS_MAX already. */
int th_onnx_layout_add(th_onnx_value *v, int32_t axis, th_onnx_coordinate c, int64_t extent,
                       int64_t stride);
/* Merges neighbouring factors of an axis that walk contiguously along one coordinate. */
void th_onnx_layout_merge(th_onnx_value *v);
/* Gives v other axes with the same elements in the same order. False: no list of factors describes
 * them; v is unchanged. */
bool th_onnx_layout_reshape(th_onnx_value *v, const int64_t *dim, int32_t rank);
/* Axis i of the result is axis order[i]. */
void th_onnx_layout_transpose(th_onnx_value *v, const int32_t *order);
/* Do the axes from first to last (inclusive; empty if last < first) walk along all of the
 * coordinates in the list (ended by -1), in this order, and nothing else? */
bool th_onnx_layout_is(const th_onnx_value *v, int32_t first, int32_t last, const int *coordinates);
bool th_onnx_layout_same(const th_onnx_value *a,
                         const th_onnx_value *b); /* both have the same shape */
bool th_onnx_has_batch(const th_onnx_value *v);   /* the batch is a factor of some axis */
bool th_onnx_axis_has_batch(const th_onnx_value *v, int32_t axis);
/* The axis whose slowest factor is the batch; -1: no axis has the batch; -2: the batch is a faster
 * factor of an axis. */
int32_t th_onnx_batch_axis(const th_onnx_value *v);
/* Appends the factors of an axis of another tensor to those of v, for this axis. */
void th_onnx_layout_copy(th_onnx_value *v, int32_t axis, const th_onnx_value *from,
                         int32_t from_axis);
/* Lays the factors of like (which may be v), except the batch, contiguously along the coordinate of
 * their axis; sets c, h, w. -1: an extent is too large. */
int th_onnx_layout_assign(th_onnx_value *v, const th_onnx_value *like, const int *coordinates);
/* Gives each axis one factor, for th_onnx_layout_assign, and batch_axis the batch as its slowest
 * factor (-1: no axis). -1: the batch does not divide the axis. */
int th_onnx_layout_fill(th_onnx_value *v, int32_t batch_axis);
/* Removes the gaps that shortened or removed factors left: recomputes strides in the order along
 * each coordinate; sets c, h, w. */
void th_onnx_layout_compact(th_onnx_value *v);

#endif
