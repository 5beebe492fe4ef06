/* SPDX-License-Identifier: GPL-3.0-or-later */
/* body.h - nodes of standard operators in the place of one node, in a scope of their own.
 *   begin -> (give | bind | do)* -> (end | values)
 * After a failure the other functions do nothing, and end returns -1. Layers are called
 * NODE.OUTPUT, and those of the output that is TH_ONNX_WHOLE as the node. */
#ifndef TH_WORKLOADS_ONNX_BODY_H
#define TH_WORKLOADS_ONNX_BODY_H
#include "workloads/onnx/shape/value.h"

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

#define TH_ONNX_WHOLE "." /* the name of an output */

void th_onnx_body_begin(th_onnx_body *b, th_onnx_reader *r);
/* An input of the node, by this name. false: it is not given. */
bool th_onnx_body_give(th_onnx_body *b, const char *name, size_t input);
void th_onnx_body_bind(th_onnx_body *b, const char *name, const th_onnx_value *v);
/* Adds nodes, one statement each: OP INPUT ... > OUTPUT ... ATTRIBUTE=VALUE ...; "-" is an input or
 * output that is not there, ?INPUT one that may not be bound, * all attributes of the node but
 * channels_last. A value is a number, numbers with commas behind them, or a text. */
void th_onnx_body_do(th_onnx_body *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The numbers as such a value, even if there is but one. */
const char *th_onnx_body_list(th_onnx_body *b, const int64_t *numbers, int n);
const char *th_onnx_body_name(th_onnx_body *b, const char *prefix, size_t i); /* PREFIXi */
/* PREFIX0 PREFIX1 ..., n of them */
const char *th_onnx_body_names(th_onnx_body *b, const char *prefix, int64_t n);
/* Joins n items, every step-th of the list, along an axis, which may be new, as prefix. */
void th_onnx_body_join(th_onnx_body *b, const char *prefix, th_onnx_value *const *items, int64_t n,
                       int64_t step, int64_t axis, bool is_new);
/* Reads the nodes; the values of these words, *n of them, "-" for none; no words: what the last
 * node makes. NULL: refused. */
th_onnx_value **th_onnx_body_values(th_onnx_body *b, const char *words, size_t *n);
/* Defines these as the node's outputs in order. 0 or -1. */
int th_onnx_body_end(th_onnx_body *b, const char *outputs);

#endif
