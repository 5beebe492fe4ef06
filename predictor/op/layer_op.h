/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_op.h - the operation on a GPU of a layer of a network, or of a part of a layer.
 * docs/models/gpu_system.md has the table. */
#ifndef TH_PREDICTOR_OP_LAYER_OP_H
#define TH_PREDICTOR_OP_LAYER_OP_H
#include "predictor/op/op.h"
#include "workloads/layer.h"

/* The numbers of a layer, or of the part that an accelerator runs. */
typedef struct th_layer_part {
    th_layer_kind kind;
    th_function function;
    int32_t dim[TH_N_DIMS]; /* C: the input channels that it reads, of all groups */
    int32_t groups, in_h, in_w, stride_h, stride_w, dilation_h, dilation_w, up_h, up_w;
    int32_t n_operands, vocabulary;
    th_op_precision precision;
    int32_t key_heads, causal_rows, window; /* of an attention: workloads/layer.h */
    bool has_bias, is_training;
    th_op_activation activation; /* of conv and fc: part of the operation */
} th_layer_part;

/* An operation, and the number of times that it runs, one after the other. */
typedef struct th_layer_op {
    th_op op;
    int32_t times;
} th_layer_op;

/* The whole of a layer, for a batch; 0: its own. In single precision. */
th_layer_part th_layer_part_of(const th_layer *l, int32_t batch);
/* An attention of single precision as layers that run one after the other: scores, softmax,
 * context. */
enum { TH_ATTENTION_OPS = 3 };
void th_layer_attention_parts(const th_layer_part *attention, th_layer_part out[TH_ATTENTION_OPS]);
/* Fills *out; times is 0 where nothing runs, for the layer is another view of its input. 0, or -1
 * where no operation is like it; err names the kind. */
int th_layer_op_of(const th_layer_part *p, th_layer_op *out, th_error *err);

#endif
