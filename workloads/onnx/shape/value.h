/* SPDX-License-Identifier: GPL-3.0-or-later */
/* value.h - shared by the files that read an ONNX model: the tensors of its graph, and the
 * state of the reader.
 *
 * A constant depends on no input of the graph. Its elements are known if there are few of them and
 * the file holds them, or if they are computed from such constants. Any other tensor is a view of
 * the output of a layer: batch x channels x height x width in the layer, other axes in another
 * order in the graph (layout.h). A function that fails returns -1 or NULL, and the error names the
 * node. Values do not move in memory. */
#ifndef TH_WORKLOADS_ONNX_SHAPE_VALUE_H
#define TH_WORKLOADS_ONNX_SHAPE_VALUE_H
#include "base/map.h"
#include "workloads/onnx/graph.h"
#include "workloads/onnx/options.h"
#include "workloads/workload.h"

enum {
    TH_ONNX_EXTENT_MAX = 1 << 28,
    TH_ONNX_NUMBERS_MAX = 1 << 14,     /* elements of a constant that is evaluated */
    TH_ONNX_ALL_NUMBERS_MAX = 1 << 22, /* of all of them: 32 MiB */
    TH_ONNX_FACTORS_MAX = 24
};

/* Coordinates of a layer's output. */
typedef enum { TH_ONNX_B, TH_ONNX_C, TH_ONNX_H, TH_ONNX_W } th_onnx_coordinate;

/* A part of one axis: `extent` steps of size `stride` along a coordinate. */
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
    bool is_of_data; /* a constant for its lack of elements, not as it depends on no input */
    /* Elements of a known constant: reals if the type is a floating-point one, else ints. NULL in
     * other values. */
    int64_t *ints;
    double *reals;
    /* Of a constant: the one whose elements it has, all of them: a number from 1 on, below 0 of a
     * transposed matrix. 0: not a constant. */
    int64_t source;
    struct th_onnx_value **items; /* of a sequence, else NULL */
    int32_t n_items;
    bool is_sequence;
    /* Neither constant nor sequence: the layer, the extents of its output, and the layout of the
     * axes. */
    int32_t layer, b, c, h, w, n_factors;
    th_onnx_factor factor[TH_ONNX_FACTORS_MAX];
    bool is_shared;                     /* other nodes read the same output of the layer */
    bool is_activated;                  /* an activation node was fused into the layer */
    struct th_onnx_value *other_layout; /* a copy of it in another layout, or NULL */
    const char *origin; /* the smallest input of the graph that it depends on, or NULL; its size */
    int64_t origin_n;
    /* Where the numbers of a constant are not known: the tensor of the file that has none, or the
     * node that is not computed; neither: they depend on the inputs. */
    const th_onnx_tensor *unread;
    const th_onnx_node *uncomputed;
} th_onnx_value;

typedef struct th_onnx_reader th_onnx_reader;

/* Names of values: those of one graph and of the graphs around it, or those of one function. */
typedef struct th_onnx_scope {
    th_map *number; /* of values, by name */
    const struct th_onnx_scope *outer;
    const ThOnnx__Graph *graph; /* whose names these are; NULL: none's */
    th_map *stated;             /* numbers of graph's shapes, by name (stated.c), or NULL */
} th_onnx_scope;

/* Memory that the reader owns and frees at the end. */
typedef struct th_onnx_pointers {
    void **at;
    size_t n, room;
} th_onnx_pointers;

struct th_onnx_reader {
    const char *path;
    const ThOnnx__Model *model;
    const th_onnx_options *options;
    th_onnx_notes *notes;
    const th_onnx_node *node; /* the one being read */
    const th_onnx_node *call; /* the one in whose place it is read (body.h), or NULL */
    int64_t opset;            /* version of the default domain */
    th_onnx_scope *scope;
    int depth; /* of nested branches and functions */
    th_workload *w;
    th_map *uses; /* by name: number of readers; being an output of the graph counts as one */
    th_map *layer_names;     /* names in use */
    th_map *weights;         /* by their source: the first layer that has them */
    th_map *sources;         /* by tensor of the file: th_onnx_value.source */
    th_onnx_pointers values; /* th_onnx_value * */
    th_onnx_pointers blocks; /* memory of th_onnx_room */
    const char *empty_input; /* one of an axis that the file states as 0 long, or NULL */
    int32_t empty_axis;
    int64_t batch;    /* batch of all tensors; 1: the batch axis is treated like any other axis */
    bool mixes_batch; /* a node combines several images of the batch */
    bool has_own_inputs;      /* inputs are layers of their own (several inputs) */
    int64_t n_read, read_max; /* nodes and their outputs so far, with those of functions */
    int64_t n_numbers;        /* of constants that are evaluated */
    int64_t last_number;      /* that was appended to a name */
    th_map *functions;        /* the model's, by domain and name; NULL: not looked for yet */
    th_precision precision;
    th_error *err;
    /* Outputs of the node; the rule of the operator table fills in their shapes. */
    th_onnx_value *out;
    size_t n_out, out_room;
};

typedef struct th_onnx_words {
    char text[320];
} th_onnx_words;

/* The version of a domain that the model imports; 0: none. */
int64_t th_onnx_version(const th_onnx_reader *r, const char *domain);
/* A node's operator, domain and version: "Gemm of ai.onnx 17". */
th_onnx_words th_onnx_kind(const th_onnx_reader *r, const th_onnx_node *node);

/* Each reports an error that names the node, and the first shape before it that is guessed or not
 * as the file states; returns -1. */
int th_onnx_refuse(th_onnx_reader *r, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int th_onnx_expected(th_onnx_reader *r, const char *what); /* what is missing */
int th_onnx_refuse_large(th_onnx_reader *r);               /* an extent of a layer is too large */
int th_onnx_refuse_extent(th_onnx_reader *r, int64_t extent, int64_t least, int64_t most);
int th_onnx_refuse_number(th_onnx_reader *r, const char *what, double x);
int th_onnx_refuse_rank(th_onnx_reader *r, int32_t rank);
th_onnx_words th_onnx_why(const th_onnx_reader *r, const th_onnx_value *v); /* not known */
int th_onnx_refuse_unknown(th_onnx_reader *r,
                           size_t input); /* the elements of an input are needed */
/* Returns -1 without an error: the node combines several images of the batch, so the model is read
 * again with a batch of 1. */
int th_onnx_mixes_batch(th_onnx_reader *r);

/* ---- what is not read as the file has it: stated.c ---- */
/* The scope has the names of g from now on. */
int th_onnx_state_shapes(th_onnx_reader *r, th_onnx_scope *s, const ThOnnx__Graph *g);
/* Gives out[output] of a node without a rule the stated shape; what that leaves open is as in
 * `like`, and noted. */
void th_onnx_set_stated(th_onnx_reader *r, size_t output, const th_onnx_value *like);
/* Notes it if a value has another shape than the file states. */
void th_onnx_check_stated(th_onnx_reader *r, const char *name, const th_onnx_value *v);
/* Notes what the node, whose layers begin with number `first`, leaves out: its operations, where it
 * computes products (has_products) and its layers only copy; and inputs that nothing reads. */
void th_onnx_note_left_out(th_onnx_reader *r, int32_t first, bool has_products);

/* Notes that the node has no layer, if its output, which has no elements, is one of data. */
void th_onnx_note_empty(th_onnx_reader *r);

/* Defines the tensor called name as a copy of v. NULL: out of memory. */
th_onnx_value *th_onnx_define(th_onnx_reader *r, const char *name, const th_onnx_value *v);
int th_onnx_define_output(th_onnx_reader *r, size_t i, const th_onnx_value *v);
th_onnx_value *th_onnx_find(const th_onnx_reader *r, const char *name);
/* n zeroed elements that live as long as the reader; NULL with an error. */
void *th_onnx_room(th_onnx_reader *r, int64_t n, size_t size);

/* Input i of the node, from 0. NULL: it is not given. */
th_onnx_value *th_onnx_input_or_none(const th_onnx_reader *r, size_t i);
th_onnx_value *th_onnx_input(th_onnx_reader *r, size_t i); /* NULL: refused */
int64_t th_onnx_uses_of(const th_onnx_reader *r, const char *name);
bool th_onnx_is_sole_reader(const th_onnx_reader *r, size_t i);
bool th_onnx_is_used(const th_onnx_reader *r, size_t output);
bool th_onnx_is_tensor(const th_onnx_value *v); /* v is neither NULL nor a constant */

/* The number of elements; -1: more than 2^53. */
int64_t th_onnx_elements(const th_onnx_value *v);
bool th_onnx_is_known(const th_onnx_value *v); /* a constant whose elements are known */
int64_t th_onnx_whole(double x);               /* towards zero, within 64 bits; NAN: 0 */
int64_t th_onnx_number(const th_onnx_value *v,
                       int64_t i); /* element i of a known constant, as an integer */
double th_onnx_real_number(const th_onnx_value *v, int64_t i);

/* Reads a list of integers that newer versions of an operator take as an input (input < 0: none do)
 * and older ones as an attribute (NULL: none do). Returns their number; -1: absent; -2: refused, as
 * the input is not known. */
int th_onnx_list(th_onnx_reader *r, int input, const char *attribute, int64_t *out, int max);
/* Reads one such integer. 0, or -1: refused. */
int th_onnx_scalar(th_onnx_reader *r, int input, const char *attribute, int64_t *out);
/* Converts an axis in -rank .. rank - 1 to 0 .. rank - 1. -1: refused. */
int32_t th_onnx_axis(th_onnx_reader *r, int64_t axis, int32_t rank);

#endif
