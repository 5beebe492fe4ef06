/* SPDX-License-Identifier: GPL-3.0-or-later */
/* body.h - nodes of standard operators in the place of one node, in a scope of their own.
 *   begin -> (give | bind | numbers)* -> (add -> set*)* -> (end | values)
 * After a failure the other functions do nothing, and end returns -1. Layers are called
 * NODE.OUTPUT, and those of the output that is th_onnx_body_whole as the node. */
#ifndef TH_WORKLOADS_ONNX_BODY_H
#define TH_WORKLOADS_ONNX_BODY_H
#include "workloads/onnx/value.h"

/* Attributes of the softmax of an attention, which ONNX does not have: th_layer's causal_rows and
 * window. */
#define TH_ONNX_CAUSAL_ROWS "tharsis_causal_rows"
#define TH_ONNX_WINDOW      "tharsis_window"

typedef struct th_onnx_body {
    th_onnx_reader *r;
    const th_onnx_node *call, *outer_call;
    th_onnx_scope scope, *outer;
    th_onnx_node **nodes;
    size_t n, room;
    int status;
    bool is_entered;
} th_onnx_body;

extern const char th_onnx_body_whole[]; /* the name of an output: "" */

void th_onnx_body_begin(th_onnx_body *b, th_onnx_reader *r);
/* An input of the node, by this name. false: it is not given. */
bool th_onnx_body_give(th_onnx_body *b, const char *name, size_t input);
void th_onnx_body_bind(th_onnx_body *b, const char *name, const th_onnx_value *v);
void th_onnx_body_numbers(th_onnx_body *b, const char *name, const int64_t *numbers, int n);
/* Names of inputs and outputs are words of a text. */
void th_onnx_body_add(th_onnx_body *b, const char *op, const char *inputs, const char *outputs);
/* Attributes of the node that was added last. */
void th_onnx_body_set(th_onnx_body *b, const char *attribute, int64_t value);
void th_onnx_body_set_text(th_onnx_body *b, const char *attribute, const char *text);
void th_onnx_body_set_list(th_onnx_body *b, const char *attribute, const int64_t *values, int n);
void th_onnx_body_copy_attributes(th_onnx_body *b); /* the node's, but channels_last */
/* Reads the nodes; the values of these words, *n of them, "-" for none. NULL: refused. */
th_onnx_value **th_onnx_body_values(th_onnx_body *b, const char *words, size_t *n);
/* Defines these as the node's outputs in order. 0 or -1. */
int th_onnx_body_end(th_onnx_body *b, const char *outputs);

#endif
