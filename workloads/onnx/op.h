/* SPDX-License-Identifier: GPL-3.0-or-later */
/* op.h - the operators of ONNX: one row each (op_table.c).
 *
 * A row has three functions: shape computes the shapes of the outputs; read adds the layers of the
 * node if an input is a tensor; fold computes the output if all inputs are known constants. One
 * rule covers all versions of an operator: a value that is an input in newer versions and an
 * attribute in older ones is read from either; other differences are decided by
 * th_onnx_reader.opset. */
#ifndef TH_WORKLOADS_ONNX_OP_H
#define TH_WORKLOADS_ONNX_OP_H
#include "workloads/onnx/emit.h"

typedef enum {
    TH_ONNX_PRODUCT, /* multiplies and accumulates */
    TH_ONNX_PASS,    /* reads and writes its data once */
    TH_ONNX_VIEW,    /* no work */
    TH_ONNX_SHAPE,   /* depends on shapes and constants alone */
    TH_ONNX_REFUSED  /* depends on the data */
} th_onnx_class;

typedef struct th_onnx_operator th_onnx_operator;
struct th_onnx_operator {
    const char *name;
    th_onnx_class class;
    /* Fills r->out: rank, extents, type (0: that of the first input). 0 or -1. */
    int (*shape)(th_onnx_reader *r, const th_onnx_operator *o);
    /* Defines the outputs and adds layers. NULL: a view or a copy of the inputs, by class. */
    int (*read)(th_onnx_reader *r, const th_onnx_operator *o);
    /* Computes the numbers of r->out. 1: done; 0: they are not known; -1: error. NULL: it is
     * never computed. */
    int (*fold)(th_onnx_reader *r, const th_onnx_operator *o);
    /* Reads other nodes in the place of this one, or defines its outputs in another way. 1: it is
     * one that shape, read and fold are for. Neither shape nor replace: there is no rule. */
    int (*replace)(th_onnx_reader *r, const th_onnx_operator *o);
    /* which operator of a family this row is; its meaning is given at each rule function */
    int variant;
    th_function function; /* of the layer that a pass becomes */
    bool is_microsoft;    /* of the domain com.microsoft, else of ai.onnx */
    const char *body;     /* the statements in its place, for th_onnx_replace_body */
};

/* By name; NULL: there is none. */
const th_onnx_operator *th_onnx_operator_find(const char *name, bool is_microsoft);
const th_onnx_operator *th_onnx_operator_at(int i); /* NULL after the last */

/* ---- shape rules: shape.c, shape_axes.c, shape_window.c ---- */
#define TH_ONNX_RULE(name) int name(th_onnx_reader *r, const th_onnx_operator *o)
TH_ONNX_RULE(th_onnx_shape_same);      /* all outputs have the shape of the first input */
TH_ONNX_RULE(th_onnx_shape_broadcast); /* of all inputs */
TH_ONNX_RULE(th_onnx_shape_boolean);   /* the same, with truth values */
TH_ONNX_RULE(th_onnx_shape_matmul);
TH_ONNX_RULE(th_onnx_shape_gemm);
TH_ONNX_RULE(th_onnx_shape_einsum);
TH_ONNX_RULE(th_onnx_shape_norm); /* and statistics */
TH_ONNX_RULE(th_onnx_shape_batch_norm);
TH_ONNX_RULE(th_onnx_shape_cast);
TH_ONNX_RULE(th_onnx_shape_constant);
TH_ONNX_RULE(th_onnx_shape_filled); /* of the shape in the first input or an attribute */
TH_ONNX_RULE(th_onnx_shape_shape);
TH_ONNX_RULE(th_onnx_shape_scalar);
TH_ONNX_RULE(th_onnx_shape_range);
TH_ONNX_RULE(th_onnx_shape_one_hot);
TH_ONNX_RULE(th_onnx_shape_data); /* refuses: it depends on the data */
TH_ONNX_RULE(th_onnx_shape_reduce);
TH_ONNX_RULE(th_onnx_shape_arg);
TH_ONNX_RULE(th_onnx_shape_det);
TH_ONNX_RULE(th_onnx_shape_concat);
TH_ONNX_RULE(th_onnx_shape_split);
TH_ONNX_RULE(th_onnx_shape_slice);
TH_ONNX_RULE(th_onnx_shape_gather);
TH_ONNX_RULE(th_onnx_shape_gather_elements);
TH_ONNX_RULE(th_onnx_shape_gather_nd);
TH_ONNX_RULE(th_onnx_shape_transpose);
TH_ONNX_RULE(th_onnx_shape_reshape);
TH_ONNX_RULE(th_onnx_shape_flatten);
TH_ONNX_RULE(th_onnx_shape_squeeze);
TH_ONNX_RULE(th_onnx_shape_unsqueeze);
TH_ONNX_RULE(th_onnx_shape_expand);
TH_ONNX_RULE(th_onnx_shape_tile);
TH_ONNX_RULE(th_onnx_shape_pad);
TH_ONNX_RULE(th_onnx_shape_resize);
TH_ONNX_RULE(th_onnx_shape_depth_to_space);
TH_ONNX_RULE(th_onnx_shape_space_to_depth);
TH_ONNX_RULE(th_onnx_shape_top_k);
TH_ONNX_RULE(th_onnx_shape_conv);
TH_ONNX_RULE(th_onnx_shape_conv_transpose);
TH_ONNX_RULE(th_onnx_shape_pool);
TH_ONNX_RULE(th_onnx_shape_global_pool);
TH_ONNX_RULE(th_onnx_shape_recurrent);
TH_ONNX_RULE(th_onnx_shape_grid);
TH_ONNX_RULE(th_onnx_shape_roi);
TH_ONNX_RULE(th_onnx_shape_unpool);
TH_ONNX_RULE(th_onnx_shape_col2im);
TH_ONNX_RULE(th_onnx_shape_dft);
TH_ONNX_RULE(th_onnx_shape_stft);
TH_ONNX_RULE(th_onnx_shape_window_function);
TH_ONNX_RULE(th_onnx_shape_affine_grid);
TH_ONNX_RULE(th_onnx_shape_quantize); /* scale and zero are numbers */
TH_ONNX_RULE(th_onnx_shape_center_crop_pad);
TH_ONNX_RULE(th_onnx_shape_multinomial);
TH_ONNX_RULE(th_onnx_shape_loss);

/* ---- layers of nodes: read_pass.c, read_view.c, read_window.c, read_product.c ... ---- */
TH_ONNX_RULE(th_onnx_read_unary);
TH_ONNX_RULE(th_onnx_read_activation); /* may be fused into the layer before it */
TH_ONNX_RULE(th_onnx_read_binary);     /* two or more inputs, broadcast */
TH_ONNX_RULE(th_onnx_read_batch_norm);
TH_ONNX_RULE(th_onnx_read_norm);
TH_ONNX_RULE(th_onnx_read_image_norm);
TH_ONNX_RULE(th_onnx_read_softmax);
TH_ONNX_RULE(th_onnx_read_reduce);
TH_ONNX_RULE(th_onnx_read_copy);
TH_ONNX_RULE(th_onnx_read_concat);
TH_ONNX_RULE(th_onnx_read_part); /* slice, split, gather of one place */
TH_ONNX_RULE(th_onnx_read_gather);
TH_ONNX_RULE(th_onnx_read_same);
TH_ONNX_RULE(th_onnx_read_reshaped);
TH_ONNX_RULE(th_onnx_read_transpose);
TH_ONNX_RULE(th_onnx_read_expand);
TH_ONNX_RULE(th_onnx_read_conv);
TH_ONNX_RULE(th_onnx_read_conv_transpose);
TH_ONNX_RULE(th_onnx_read_pool);
TH_ONNX_RULE(th_onnx_read_global_pool);
TH_ONNX_RULE(th_onnx_read_matmul);
TH_ONNX_RULE(th_onnx_read_gemm);
TH_ONNX_RULE(th_onnx_read_einsum);
TH_ONNX_RULE(th_onnx_read_recurrent);

/* ---- numbers: fold.c, fold_axes.c ---- */
TH_ONNX_RULE(th_onnx_fold_unary);
TH_ONNX_RULE(th_onnx_fold_binary);
TH_ONNX_RULE(th_onnx_fold_where);
TH_ONNX_RULE(th_onnx_fold_same); /* the same numbers in the same order */
TH_ONNX_RULE(th_onnx_fold_cast);
TH_ONNX_RULE(th_onnx_fold_constant);
TH_ONNX_RULE(th_onnx_fold_filled);
TH_ONNX_RULE(th_onnx_fold_shape);
TH_ONNX_RULE(th_onnx_fold_size);
TH_ONNX_RULE(th_onnx_fold_range);
TH_ONNX_RULE(th_onnx_fold_gather);
TH_ONNX_RULE(th_onnx_fold_concat);
TH_ONNX_RULE(th_onnx_fold_slice);
TH_ONNX_RULE(th_onnx_fold_split);
TH_ONNX_RULE(th_onnx_fold_transpose);
TH_ONNX_RULE(th_onnx_fold_expand);
TH_ONNX_RULE(th_onnx_fold_tile);
TH_ONNX_RULE(th_onnx_fold_reduce);
TH_ONNX_RULE(th_onnx_fold_nonzero);
TH_ONNX_RULE(th_onnx_fold_scatter_nd);
TH_ONNX_RULE(th_onnx_fold_cumsum);
TH_ONNX_RULE(th_onnx_fold_eye);

/* ---- other nodes in the place of one: fused.c, sequence.c, unrolled.c ---- */
TH_ONNX_RULE(th_onnx_replace_body); /* those of a text */
TH_ONNX_RULE(th_onnx_replace_quantized_concat);
TH_ONNX_RULE(th_onnx_replace_sum); /* one without an input, which is added behind it */
TH_ONNX_RULE(th_onnx_replace_einsum);
TH_ONNX_RULE(th_onnx_replace_attention); /* attention.c */
TH_ONNX_RULE(th_onnx_replace_own_attention);
TH_ONNX_RULE(th_onnx_replace_packed_attention);
TH_ONNX_RULE(th_onnx_replace_multi_head_attention);
TH_ONNX_RULE(th_onnx_replace_group_query_attention);
TH_ONNX_RULE(th_onnx_replace_embed_layer_norm);
TH_ONNX_RULE(th_onnx_replace_channels_last); /* channels behind the pixels */
TH_ONNX_RULE(th_onnx_replace_group_norm);
TH_ONNX_RULE(th_onnx_replace_experts); /* experts.c */
TH_ONNX_RULE(th_onnx_replace_sequence);
TH_ONNX_RULE(th_onnx_replace_sequence_at);
TH_ONNX_RULE(th_onnx_replace_sequence_insert);
TH_ONNX_RULE(th_onnx_replace_sequence_length);
TH_ONNX_RULE(th_onnx_replace_split_to_sequence);
TH_ONNX_RULE(th_onnx_replace_concat_from_sequence);
TH_ONNX_RULE(th_onnx_replace_optional);
TH_ONNX_RULE(th_onnx_replace_loop);
TH_ONNX_RULE(th_onnx_replace_scan);
TH_ONNX_RULE(th_onnx_replace_sequence_map);

/* Functions of one and two numbers, and reductions of them, of th_onnx_operator.variant. */
typedef enum {
    TH_ONNX_NEG,
    TH_ONNX_ABS,
    TH_ONNX_FLOOR,
    TH_ONNX_CEIL,
    TH_ONNX_ROUND,
    TH_ONNX_SQRT,
    TH_ONNX_RECIPROCAL,
    TH_ONNX_EXP,
    TH_ONNX_LOG,
    TH_ONNX_SIGN,
    TH_ONNX_NOT,
    TH_ONNX_RELU,
    TH_ONNX_ADD,
    TH_ONNX_SUB,
    TH_ONNX_MUL,
    TH_ONNX_DIV,
    TH_ONNX_MOD,
    TH_ONNX_POW,
    TH_ONNX_MIN,
    TH_ONNX_MAX,
    TH_ONNX_AND,
    TH_ONNX_OR,
    TH_ONNX_XOR,
    TH_ONNX_BIT_AND,
    TH_ONNX_BIT_OR,
    TH_ONNX_BIT_XOR,
    TH_ONNX_EQUAL,
    TH_ONNX_LESS,
    TH_ONNX_LESS_OR_EQUAL,
    TH_ONNX_GREATER,
    TH_ONNX_GREATER_OR_EQUAL,
    TH_ONNX_SUM,
    TH_ONNX_PROD,
    TH_ONNX_MEAN
} th_onnx_arithmetic;

/* ---- shared by rules ---- */

/* Gives all outputs the shape of the first input, which it returns; NULL: refused. */
const th_onnx_value *th_onnx_begin(th_onnx_reader *r);
/* The extents of a and b broadcast against each other, into out; -1: refused. */
int th_onnx_broadcast(th_onnx_reader *r, th_onnx_value *out, const th_onnx_value *b);
/* A slice of one axis: n elements from first on, step apart. */
typedef struct {
    int64_t first, n, step;
} th_onnx_range;
/* The slices of all axes of the first input of a Slice. 0 or -1. */
int th_onnx_slices(th_onnx_reader *r, th_onnx_range *axes);
/* The axes that a reduction reduces, as a mask. 0, or -1: refused. */
int th_onnx_reduced_axes(th_onnx_reader *r, const th_onnx_value *in, uint32_t *mask);

typedef struct {
    int n; /* axes behind the first two */
    int64_t kernel[TH_ONNX_RANK_MAX], stride[TH_ONNX_RANK_MAX], dilation[TH_ONNX_RANK_MAX],
        before[TH_ONNX_RANK_MAX], after[TH_ONNX_RANK_MAX], out[TH_ONNX_RANK_MAX];
} th_onnx_window;
/* The window of a convolution (weights: the number of that input), of a transposed convolution, or
 * of a pool (weights < 0). */
int th_onnx_window_of(th_onnx_reader *r, int weights, bool is_transposed, th_onnx_window *out);

#endif
