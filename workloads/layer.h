/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer.h - one layer of a neural network: its kind and its dimensions, everything else derived.
 *
 * Dimensions: B batch, K output channels, C input channels, H x W output pixels, R x S kernel. Every kind
 * is a loop nest over these:
 *   conv     out[b,k,h,w] += in[b, c, h*stride_h - pad_top + r*dilation_h, ...] * weight[k,c,r,s]
 *   fc       a conv whose kernel covers its whole input: H = W = 1, R x S = the input's height x width,
 *            no padding. (Flattening C x R x S and a 1 x 1 kernel over C*R*S channels are the same numbers.)
 *   matmul   M x N x K of linear algebra: B batch, H = M rows, K = N columns, C = K inner; W = R = S = 1
 *   pool     channel by channel (K = C): max or mean over R x S
 *   add      elementwise sum of all inputs (K = C, R = S = 1)
 *   relu     elementwise on one input;  norm: per-channel scale and shift on one input
 * Activations and batch norm that follow a conv are part of it (has_norm: 2K parameters, folded when it
 * runs). Depthwise convolution is conv with groups = C. */
#ifndef TH_WORKLOADS_LAYER_H
#define TH_WORKLOADS_LAYER_H
#include <stdbool.h>
#include <stdint.h>

typedef enum {
    TH_LAYER_CONV, TH_LAYER_FC, TH_LAYER_MATMUL, TH_LAYER_POOL, TH_LAYER_ADD, TH_LAYER_RELU, TH_LAYER_NORM
} th_layer_kind;

typedef enum { TH_DIM_B, TH_DIM_K, TH_DIM_C, TH_DIM_H, TH_DIM_W, TH_DIM_R, TH_DIM_S, TH_N_DIMS } th_dim;

/* Half-open box [lo, hi) in the index space of a tensor: batch, channel, row, column. */
enum { TH_TENSOR_DIMS = 4 };
typedef struct th_box {
    int32_t lo[TH_TENSOR_DIMS], hi[TH_TENSOR_DIMS];
} th_box;

/* Half-open box in the loop nest of a layer, by th_dim. */
typedef struct th_loop_box {
    int32_t lo[TH_N_DIMS], hi[TH_N_DIMS];
} th_loop_box;

typedef struct th_layer {
    char *name;
    th_layer_kind kind;
    int32_t dim[TH_N_DIMS];      /* extents, all >= 1 */
    int32_t in_h, in_w;          /* the input's height and width, without padding */
    int32_t stride_h, stride_w;
    int32_t pad_top, pad_left;   /* bottom and right padding are implied by H, W */
    int32_t dilation_h, dilation_w;
    int32_t groups;
    bool is_mean_pool;           /* pool only */
    bool has_bias, has_norm;     /* K, 2K further parameters */
    int32_t element_bytes;       /* of inputs, weights and outputs */
    int32_t *inputs;             /* producers, by layer index; TH_EXTERNAL_INPUT: the workload's input */
    int32_t n_inputs;
    int line;                    /* in the file it came from, for messages; 0: none */
} th_layer;

enum { TH_EXTERNAL_INPUT = -1 };

const char *th_layer_kind_name(th_layer_kind kind);
extern const char th_dim_letters[TH_N_DIMS + 1];        /* "BKCHWRS" */

bool th_layer_has_weights(const th_layer *l);            /* conv, fc, matmul with weights */
bool th_layer_is_channelwise(const th_layer *l);         /* pool, add, relu, norm: input channel = output channel */
/* Is d a dimension that is summed over (C, R, S of conv, fc, matmul)? A pool's R and S are not split. */
bool th_layer_is_reduction(const th_layer *l, th_dim d);

int64_t th_layer_macs(const th_layer *l);                /* conv, fc, matmul; 0 for the rest */
int64_t th_layer_weights(const th_layer *l);             /* elements: K * C/groups * R * S; 0 without */
int64_t th_layer_parameters(const th_layer *l);          /* weights + bias + norm */
int64_t th_layer_input_elements(const th_layer *l);      /* of one input: B * C * in_h * in_w */
int64_t th_layer_output_elements(const th_layer *l);     /* B * K * H * W */

/* The whole loop nest, and the whole output and input tensors as boxes. */
th_loop_box th_layer_loops(const th_layer *l);
th_box th_layer_output_box(const th_layer *l);
th_box th_layer_input_box(const th_layer *l);

/* The part of one input tensor that a loop box reads (halos of stride, dilation and kernel included,
 * padding clipped off, channels by groups), and the part of the output that it writes. May be empty
 * (lo == hi) where a box lies wholly in the padding. */
th_box th_layer_input_of(const th_layer *l, const th_loop_box *loops);
th_box th_layer_output_of(const th_layer *l, const th_loop_box *loops);

int64_t th_box_elements(const th_box *b);                /* 0 when empty */
bool th_box_is_empty(const th_box *b);
bool th_box_equal(const th_box *a, const th_box *b);
th_box th_box_intersect(const th_box *a, const th_box *b);  /* empty boxes are normalised to all zero */
bool th_box_contains(const th_box *outer, const th_box *inner);

#endif
