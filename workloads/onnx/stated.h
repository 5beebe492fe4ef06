/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stated.h - the shapes that an ONNX file states for the tensors of its graphs, and notes of what is
 * not read as the file has it. */
#ifndef TH_WORKLOADS_ONNX_STATED_H
#define TH_WORKLOADS_ONNX_STATED_H
#include "workloads/onnx/value.h"

/* The scope has the names of g from now on. */
int th_onnx_state_shapes(th_onnx_reader *r, th_onnx_scope *s, const ThOnnx__Graph *g);
/* Gives out[output] of a node without a rule the stated shape; what that leaves open is as in
 * `like`, and noted. */
void th_onnx_set_stated(th_onnx_reader *r, size_t output, const th_onnx_value *like);
/* Notes it if a value has another shape than the file states. */
void th_onnx_check_stated(th_onnx_reader *r, const char *name, const th_onnx_value *v);
/* Notes what the node, whose layers begin with number `first`, leaves out: its operations, where it
 * computes products (has_products) and its layers do not; and inputs that nothing reads. */
void th_onnx_note_left_out(th_onnx_reader *r, int32_t first, bool has_products);

#endif
