/* SPDX-License-Identifier: GPL-3.0-or-later */
/* value.h - shared by the files that read an ONNX model: the tensors of its graph, and what makes
 * them.
 *
 * A constant depends on no input of the graph; its numbers are known where they are small and in
 * the file, or follow from such. Any other tensor is a view of what a layer makes: batch x channels
 * x height x width there, other axes and another order here (layout.h).
 * A function that fails returns -1 or NULL, and the error names the node. Values stay where they
 * are. */
#ifndef TH_WORKLOADS_ONNX_VALUE_H
#define TH_WORKLOADS_ONNX_VALUE_H
#include "base/map.h"
#include "workloads/onnx/graph.h"
#include "workloads/onnx/options.h"
#include "workloads/workload.h"

enum {
    TH_ONNX_EXTENT_MAX = 1 << 28,
    TH_ONNX_NUMBERS_MAX = 1 << 14, /* elements of a constant that is evaluated */
    TH_ONNX_FACTORS_MAX = 24
};

/* Coordinates of a tensor as its layer makes it. */
typedef enum { TH_ONNX_B, TH_ONNX_C, TH_ONNX_H, TH_ONNX_W } th_onnx_coordinate;

/* A part of one axis: extent steps along a coordinate, each of stride. */
typedef struct {
    int32_t axis;
    th_onnx_coordinate coordinate;
    int64_t extent, stride;
} th_onnx_factor;

typedef struct th_onnx_value {
    int32_t rank;
    int64_t dim[TH_ONNX_RANK_MAX];
    int32_t type; /* TensorProto.DataType; 0: not known */
    bool is_constant;
    /* Constant whose numbers are known: ints, or reals where the type is one; else NULL. */
    int64_t *ints;
    double *reals;
    struct th_onnx_value **items; /* of a sequence, else NULL */
    int32_t n_items;
    bool is_sequence;
    /* Else: the layer that makes it, its extents there, and the axes in terms of these. */
    int32_t layer, b, c, h, w, n_factors;
    th_onnx_factor factor[TH_ONNX_FACTORS_MAX];
    bool is_shared;    /* others read what this is a view of */
    bool is_activated; /* the layer ends in an activation that was a node of its own */
    struct th_onnx_value *other_layout; /* the same, copied into another layout; or NULL */
} th_onnx_value;

typedef struct th_onnx_reader th_onnx_reader;

/* Names of one graph, of those around it too, or of one function. */
typedef struct th_onnx_scope {
    th_map *number; /* of values, by name */
    const struct th_onnx_scope *outer;
} th_onnx_scope;

struct th_onnx_reader {
    const char *path;
    const ThOnnx__Model *model;
    const th_onnx_options *options;
    th_onnx_notes *notes;     /* or NULL */
    const th_onnx_node *node; /* that is read now */
    int64_t opset;            /* of the default domain */
    th_onnx_scope *scope;
    int depth; /* of branches and functions */
    th_workload *w;
    th_map *uses;        /* by name: how many nodes read it, or it is an output of the graph */
    th_map *layer_names; /* those taken */
    th_onnx_value **values;
    size_t n_values, room;
    void **blocks; /* numbers of constants, freed at the end */
    size_t n_blocks, block_room;
    int64_t batch;    /* of the tensors of the model; 1: the batch is an extent like any other */
    bool mixes_batch; /* a node that cannot be read image by image was met */
    bool has_inputs_of_their_own;
    int32_t n_copied; /* operators that -unknown copy let pass */
    th_precision precision;
    th_error *err;
    /* Of the node: shapes of its outputs, as the table's rule gives them. */
    th_onnx_value *out;
    size_t n_out, out_room;
};

/* -1 */
int th_onnx_refuse(th_onnx_reader *r, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int th_onnx_expected(th_onnx_reader *r, const char *what); /* was, or were, and is not there */
int th_onnx_refuse_large(th_onnx_reader *r);               /* an extent of a layer */
int th_onnx_refuse_extent(th_onnx_reader *r, int64_t extent, int64_t least, int64_t most);
int th_onnx_refuse_number(th_onnx_reader *r, const char *what, double x);
int th_onnx_refuse_rank(th_onnx_reader *r, int32_t rank);
int th_onnx_refuse_unknown(th_onnx_reader *r, size_t input); /* its numbers are needed */
/* -1, without an error: what the node does mixes the images of a batch, and the model is to be read
 * with a batch of 1. */
int th_onnx_mixes_batch(th_onnx_reader *r);

/* A copy of v, as the tensor called name. NULL: memory is out. */
th_onnx_value *th_onnx_define(th_onnx_reader *r, const char *name, const th_onnx_value *v);
int th_onnx_define_output(th_onnx_reader *r, size_t i, const th_onnx_value *v);
th_onnx_value *th_onnx_find(const th_onnx_reader *r, const char *name);
/* n zeroed elements that live as long as the reader; NULL with an error. */
void *th_onnx_room(th_onnx_reader *r, int64_t n, size_t size);

/* An input of the node, by number from 0. NULL: it is not given. */
th_onnx_value *th_onnx_input_or_none(const th_onnx_reader *r, size_t i);
th_onnx_value *th_onnx_input(th_onnx_reader *r, size_t i); /* NULL: refused */
int64_t th_onnx_uses_of(const th_onnx_reader *r, const char *name);
bool th_onnx_is_sole_reader(const th_onnx_reader *r, size_t i);
bool th_onnx_is_used(const th_onnx_reader *r, size_t output);
bool th_onnx_is_tensor(const th_onnx_value *v); /* there, and no constant */

/* Elements; -1: beyond 2^53 */
int64_t th_onnx_elements(const th_onnx_value *v);
bool th_onnx_is_known(const th_onnx_value *v);             /* a constant whose numbers are */
int64_t th_onnx_number(const th_onnx_value *v, int64_t i); /* of a known one, as an integer */
double th_onnx_real_number(const th_onnx_value *v, int64_t i);

/* A list of integers that newer versions of an operator take as an input and older ones as an
 * attribute (NULL: never; input < 0: never). Their number, -1: absent, -2: refused, as the input is
 * not known. */
int th_onnx_list(th_onnx_reader *r, int input, const char *attribute, int64_t *out, int max);
/* The same of one integer. 0, or -1: refused. */
int th_onnx_scalar(th_onnx_reader *r, int input, const char *attribute, int64_t *out);
/* An axis from -rank to rank - 1 as one from 0; -1: refused. */
int32_t th_onnx_axis(th_onnx_reader *r, int64_t axis, int32_t rank);

#endif
