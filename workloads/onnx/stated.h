/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stated.h - the shapes that an ONNX file states for the tensors of its graphs: those of copies, and
 * what others are held against; and notes of what is not read whole.
 * A tensor is in doubt if its shape is guessed or is not the stated one, or if it is made of such
 * tensors; the error about a node that reads one tells where the doubt began. */
#ifndef TH_WORKLOADS_ONNX_STATED_H
#define TH_WORKLOADS_ONNX_STATED_H
#include "workloads/onnx/value.h"

/* The scope has the names of g from now on. */
int th_onnx_state_shapes(th_onnx_reader *r, th_onnx_scope *s, const ThOnnx__Graph *g);
/* Gives out[output] of a node without a rule the stated shape, or else that of like, in doubt. */
int th_onnx_set_stated(th_onnx_reader *r, size_t output, const th_onnx_value *like);
/* Holds a value that is being defined against its stated shape. 0, or -1: memory is out. */
int th_onnx_check_stated(th_onnx_reader *r, const char *name, th_onnx_value *v);
/* The doubt of the node's inputs; NULL: none. */
const char *th_onnx_doubt(const th_onnx_reader *r);

void th_onnx_note_copy(th_onnx_reader *r); /* the node is read as a copy, without operations */
/* Notes the tensors among the node's inputs that neither a layer from number `first` on nor an
 * output of the node reads. */
void th_onnx_note_left_out(th_onnx_reader *r, int32_t first);

#endif
