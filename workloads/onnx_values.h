/* SPDX-License-Identifier: GPL-3.0-or-later */
/* onnx_values.h - shared by the files that read an ONNX model: the tensors of its graph, and the
 * layers that produce them.
 *
 * A constant has a shape and, if a shape depends on them, integer values. Any other value is a view
 * of the output of a layer: C x H x W there, other extents after a reshape. A function that fails
 * returns -1 or NULL, and the error names the node. Pointers to values are valid until the next one
 * is defined. */
#ifndef TH_WORKLOADS_ONNX_VALUES_H
#define TH_WORKLOADS_ONNX_VALUES_H
#include "base/map.h"
#include "workloads/onnx_graph.h"
#include "workloads/workload.h"

enum { TH_ONNX_EXTENT_MAX = 1 << 28, TH_ONNX_FLAT = 2, TH_ONNX_IMAGE = 4 /* ranks */ };

typedef struct {
    bool is_constant;
    bool is_permuted;  /* its elements stand in another order than the layer makes them */
    bool is_shared;    /* others read what this is a view of */
    bool is_activated; /* the layer ends in an activation that was a node of its own */
    int32_t rank;
    int64_t dim[TH_ONNX_RANK_MAX]; /* with the model's own batch */
    const th_onnx_tensor *tensor;  /* constant: its numbers, or NULL */
    int32_t layer, c, h, w;        /* else: who makes it, and what that is */
} th_onnx_value;

typedef struct {
    const char *path;
    const ThOnnx__Graph *graph;
    const th_onnx_node *node; /* that is read now */
    th_workload *w;
    th_map *number, *uses; /* by name: of its value; how many nodes read it */
    th_onnx_value *values;
    size_t n_values, room;
    int64_t batch; /* of the model */
    th_precision precision;
    th_error *err;
} th_onnx_reader;

/* How an operator is read; what: of it, a th_function or whether it takes means. */
typedef struct {
    const char *name;
    int (*read)(th_onnx_reader *r, int what);
    int what;
} th_onnx_operator;

extern const th_onnx_operator
    th_onnx_operators[]; /* of layers: onnx_operators.c; the last has no name */
extern const th_onnx_operator th_onnx_views[]; /* of shapes: onnx_views.c */

/* -1 */
int th_onnx_refuse(th_onnx_reader *r, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int th_onnx_define(th_onnx_reader *r, const char *name, const th_onnx_value *v);
int th_onnx_define_output(th_onnx_reader *r, const th_onnx_value *v); /* the first of the node */
th_onnx_value *th_onnx_find(const th_onnx_reader *r, const char *name);
/* An input of the node, by number from 0. */
const th_onnx_value *th_onnx_input_or_none(const th_onnx_reader *r, size_t i);
const th_onnx_value *th_onnx_input(th_onnx_reader *r, size_t i);
const th_onnx_value *th_onnx_tensor_input(th_onnx_reader *r, size_t i); /* that is no constant */
/* ... as its layer makes it: laid out anew by a layer where its elements were permuted. */
const th_onnx_value *th_onnx_image_input(th_onnx_reader *r, size_t i);
bool th_onnx_is_sole_reader(const th_onnx_reader *r, size_t i);

bool th_onnx_is_flat(const th_onnx_value *v); /* batch x all that the layer makes */
/* A layer that keeps the shape of its input. */
th_layer th_onnx_layer_over(const th_onnx_reader *r, th_layer_kind kind, const th_onnx_value *in);
/* Named after the node; reads these layers. Its number, or -1. */
int32_t th_onnx_add_layer(th_onnx_reader *r, th_layer *l, int32_t *from, int32_t n,
                          const char *suffix);
th_onnx_value th_onnx_value_of_layer(const th_onnx_reader *r, int32_t layer);
/* The node's output is what the layer makes of one tensor. */
int th_onnx_add_output_of(th_onnx_reader *r, th_layer *l, const th_onnx_value *in);
/* ... is the same view of it: the layer keeps the shape of its input. */
int th_onnx_add_alike(th_onnx_reader *r, th_layer *l, const th_onnx_value *in);

#endif
