/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fold.h - functions that the rules share which compute the elements of known constants. */
#ifndef TH_WORKLOADS_ONNX_SHAPE_FOLD_H
#define TH_WORKLOADS_ONNX_SHAPE_FOLD_H
#include "workloads/onnx/shape/value.h"

/* Allocates the elements of out, by its shape and type. 1: done; 0: more than TH_ONNX_NUMBERS_MAX;
 * -1: out of memory. */
int th_onnx_fold_begin(th_onnx_reader *r, th_onnx_value *out);
bool th_onnx_fold_can(const th_onnx_reader *r); /* true if all inputs are known */
/* Copies element `from` of in to element `to` of out. */
void th_onnx_fold_copy(th_onnx_value *out, int64_t to, const th_onnx_value *in, int64_t from);
/* The index in v of the element that broadcasting places at index i of out. */
int64_t th_onnx_fold_place(const th_onnx_value *out, const th_onnx_value *v, int64_t i);
/* Reads the elements of a tensor that the file holds into out. Returns as th_onnx_fold_begin; 0
 * also if the file does not hold them. */
int th_onnx_fold_tensor(th_onnx_reader *r, th_onnx_value *out, const th_onnx_tensor *t);
/* external.c: the n numbers of a tensor that lie in another file, as th_onnx_tensor_numbers. -1:
 * that file does not have them. */
int64_t th_onnx_external_numbers(th_onnx_reader *r, const th_onnx_tensor *t, int64_t n,
                                 int64_t *ints, double *reals);

#endif
