/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fold.h - shared by the rules that compute numbers of known constants. */
#ifndef TH_WORKLOADS_ONNX_FOLD_H
#define TH_WORKLOADS_ONNX_FOLD_H
#include "workloads/onnx/value.h"

/* Room for the numbers of a shape and type. 1; 0: too many; -1: memory is out. */
int th_onnx_fold_begin(th_onnx_reader *r, th_onnx_value *out);
bool th_onnx_fold_can(const th_onnx_reader *r); /* all inputs of the node are known */
void th_onnx_fold_copy(th_onnx_value *out, int64_t to, const th_onnx_value *in, int64_t from);
/* Where element i of out comes from in v, which is broadcast to it. */
int64_t th_onnx_fold_place(const th_onnx_value *out, const th_onnx_value *v, int64_t i);
/* The numbers of a tensor of the file, if it has them. As th_onnx_fold_begin. */
int th_onnx_fold_tensor(th_onnx_reader *r, th_onnx_value *out, const th_onnx_tensor *t);

#endif
