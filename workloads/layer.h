/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer.h - one layer of a neural network: its kind and its dimensions, from which everything else
 * is derived.
 *
 * Dimensions: B batch, K output channels, C input channels, H x W output pixels, R x S kernel.
 * Every kind is a loop nest over these:
 *   conv     out[b,k,h,w] += in[b, c, h*stride_h - pad_top + r*dilation_h, ...] * weight[k,c,r,s]
 *   fc       a conv whose kernel covers its whole input: H = W = 1, R x S = the input's height x
 *            width, no padding. (Flattening C x R x S and a 1 x 1 kernel over C*R*S channels are
 *            the same numbers.)
 *   matmul   M x N x K of linear algebra: B batch, H = M rows, K = N columns, C = K inner; W = R =
 *            S = 1
 *   pool     channel by channel (K = C): max or mean over R x S
 *   elementwise  a function of one input (relu, sigmoid, tanh, gelu, silu, scale, shift, power,
 *                copy, reduce, dropout, rotary) or of all inputs (add, mul, gate). scale and shift
 *                may read a second, smaller tensor, rotary its angles, and copy, reduce and
 *                rotary may have an output of other extents than their inputs (input_shapes):
 *                along an axis where these differ, the whole input is read
 *   norm     batch (a scale and shift per channel, on one input), layer and rms (over the channels
 *            of a pixel)
 *   softmax  over the channels of a pixel; with groups over the channels of each group
 *   concat   the inputs' channels one after the other (K = C = their sum); slice (or split): K of
 *            the C channels of one input
 *   embedding  rows of a table: B x 1 x H indices in (C = 1), K channels out; the table has
 *              vocabulary rows
 *   lstm gru rnn  H time steps of one layer: C inputs, K hidden units, which are the outputs
 * A matmul of two inputs multiplies activations, in groups (attention heads). The second input
 * replaces the weights. With H = M rows and per group K/G columns and C/G inner,
 *     transposed      second[b, c + group C/G, column k]: its rows are the product's columns (Q
 *                     K^T)
 *     not transposed  second[b, k + group K/G, row c]: its rows are the inner dimension (P V)
 * attention: scores, softmax and context of G heads in one, so that the scores stay on the chip. It
 * reads queries (H rows of C channels), keys (R rows) and values (R rows), then masks of any shape,
 * which are added to the scores:
 *     out[b, head, h] = sum over r of softmax over r (q[b, head, h] k[b, head, r]) v[b, head, r]
 * Its K output channels are those of the values of all heads; W = S = 1. Heads may share keys and
 * values: these then have fewer channels, and head i reads those of head i / (G / key heads). The
 * extents of all inputs are in input_shapes. With causal_rows = n the rows are those of H / n query
 * heads, one head after the other, each of the last n tokens: a token sees the keys up to its own,
 * at most window of them. Hidden scores are neither computed nor counted, and keys that no row of a
 * part sees are not read.
 * TH_TENSOR_WEIGHT means the second input of a product of activations: its precision is that of the
 * inputs, its density its own. A
 * transposed convolution (up > 1) is a convolution with stride 1 over its input with up - 1 zeros
 * between neighbours; pad_top and pad_left refer to this view. Activations and batch norm that
 * follow a conv are part of it (has_norm: 2K parameters, folded at run time). Depthwise convolution
 * is conv with groups = C. */
#ifndef TH_WORKLOADS_LAYER_H
#define TH_WORKLOADS_LAYER_H
#include <stdbool.h>
#include <stdint.h>
#include "base/min_max.h"

typedef enum {
    TH_LAYER_CONV,
    TH_LAYER_FC,
    TH_LAYER_MATMUL,
    TH_LAYER_LSTM,
    TH_LAYER_GRU,
    TH_LAYER_EMBEDDING,
    TH_LAYER_POOL,
    TH_LAYER_ELEMENTWISE,
    TH_LAYER_NORM,
    TH_LAYER_SOFTMAX,
    TH_LAYER_CONCAT,
    TH_LAYER_SLICE,
    TH_LAYER_RNN,
    TH_LAYER_ATTENTION
} th_layer_kind;

/* Of elementwise and norm layers. */
typedef enum {
    TH_FUNCTION_NONE,
    TH_FUNCTION_ADD,
    TH_FUNCTION_MUL,
    TH_FUNCTION_RELU,
    TH_FUNCTION_SIGMOID,
    TH_FUNCTION_TANH,
    TH_FUNCTION_GELU,
    TH_FUNCTION_SILU,
    TH_FUNCTION_SCALE,   /* times a number */
    TH_FUNCTION_SHIFT,   /* plus a number, or a mask that is small compared with the tensor */
    TH_FUNCTION_POWER,   /* a number of times by itself */
    TH_FUNCTION_COPY,    /* copied into another layout */
    TH_FUNCTION_REDUCE,  /* sums, means, extremes over some of the elements */
    TH_FUNCTION_DROPOUT, /* no operation except in training */
    TH_FUNCTION_ROTARY,  /* pairs of channels turned by angles, which may be further inputs */
    TH_FUNCTION_GATE,    /* an activation of the first input times the second */
    TH_FUNCTION_BATCH_NORM,
    TH_FUNCTION_LAYER_NORM,
    TH_FUNCTION_RMS_NORM
} th_function;

typedef enum {
    TH_FP32,
    TH_FP16,
    TH_BF16,
    TH_INT16,
    TH_INT8,
    TH_INT4,
    TH_TF32, /* products of tensor cores; lies in memory as fp32 */
    TH_FP8,
    TH_FP4,
    TH_N_PRECISIONS
} th_precision;

/* The tensors of a layer. All inputs have one precision. */
typedef enum { TH_TENSOR_INPUT, TH_TENSOR_WEIGHT, TH_TENSOR_OUTPUT, TH_N_TENSORS } th_tensor;

typedef enum {
    TH_DIM_B,
    TH_DIM_K,
    TH_DIM_C,
    TH_DIM_H,
    TH_DIM_W,
    TH_DIM_R,
    TH_DIM_S,
    TH_N_DIMS
} th_dim;

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
    int32_t dim[TH_N_DIMS]; /* extents, all >= 1 */
    int32_t in_h, in_w;     /* the input's height and width, without padding */
    int32_t stride_h, stride_w;
    int32_t pad_top, pad_left; /* bottom and right padding are implied by H, W */
    int32_t dilation_h, dilation_w;
    int32_t up_h, up_w;      /* stride of a transposed convolution; 1: none */
    int32_t groups;          /* conv; matmul of two inputs, softmax, attention: heads; else 1 */
    th_function function;    /* elementwise, norm */
    bool is_mean_pool;       /* pool only */
    bool has_bias, has_norm; /* K, 2K further parameters */
    bool is_transposed;      /* matmul of two inputs: the second is read by columns */
    int32_t causal_rows;     /* attention, softmax: query tokens; see above. 0: not masked */
    int32_t window;          /* of a causal one: keys that a token sees at most; 0: all */
    int32_t vocabulary;      /* embedding: rows of the table */
    int32_t tied_to;         /* 1 + the layer that has its weights, of equal shape; 0: itself */
    int32_t first_channel;   /* slice: of the input */
    int32_t *input_channels; /* concat: of each input; else NULL */
    /* attention, and elementwise whose inputs have extents of their own: channels, height, width of
     * each; else NULL */
    int32_t *input_shapes;
    th_precision precision[TH_N_TENSORS];
    double density[TH_N_TENSORS]; /* part that is not zero, 0 .. 1 */
    int32_t sparse_n,
        sparse_m;    /* weights: at most n of m neighbours along C are not zero; 0: no structure */
    int32_t *inputs; /* producers, by layer index; TH_EXTERNAL_INPUT: the workload's input */
    int32_t n_inputs;
    int line; /* in the file it came from, for messages; 0: none */
} th_layer;

enum { TH_EXTERNAL_INPUT = -1 };

/* A layer of a kind whose output has the shape of its input, batch x c x h x w: a kernel, strides
 * and groups of 1, no padding, no zeros, one precision; without name and inputs. */
th_layer th_layer_over(th_layer_kind kind, int32_t batch, int32_t c, int32_t h, int32_t w,
                       th_precision p);

/* The type in a workload file: "conv", "add", "max_pool" ... */
const char *th_layer_type_name(const th_layer *l);
extern const char th_dim_letters[TH_N_DIMS + 1]; /* "BKCHWRS" */

extern const char *const th_precision_names[TH_N_PRECISIONS + 1]; /* end in NULL */
const char *th_precision_name(th_precision p);                    /* "fp16" */
int th_precision_bits(th_precision p);
int64_t th_tensor_bytes(int64_t elements, th_precision p); /* ceil(elements bits / 8) */

/* conv, fc, matmul, attention, lstm, gru: runs on an array */
bool th_layer_has_macs(const th_layer *l);
bool th_layer_multiplies_activations(const th_layer *l); /* attention, matmul of two inputs */
bool th_layer_has_weights(
    const th_layer *l); /* resident: those that do not multiply activations; embedding */
/* Without another shape. */
bool th_layer_is_channelwise(const th_layer *l); /* output channel k reads input channel k alone:
                                                  * batch norm, pool, elementwise */
/* True if d is summed over (C, R, S of conv, fc, matmul). R and S of a pool are not split. */
bool th_layer_is_reduction(const th_layer *l, th_dim d);
/* True if the extent of d may be cut into n pieces at i*extent/n without changing the result. In a
 * matmul of two inputs, every piece must lie inside a group or consist of whole groups. */
bool th_layer_can_split(const th_layer *l, th_dim d, int n);
int th_layer_gates(th_layer_kind kind);        /* lstm 4, gru 3, rnn 1, else 0 */
int32_t th_layer_key_heads(const th_layer *l); /* attention: those of its keys and values */

/* B K (C/G) H W R S, including products with padding; for a transposed convolution B K (C/G) in_h
 * in_w R S, without the zeros between neighbours; for an lstm or gru B H gates K (C + K); for an
 * attention B scores (C + K), where scores = H R unless it is causal. 0 for layers that do not run
 * on an array. */
int64_t th_layer_macs(const th_layer *l);
/* Attention: the pairs of a query and a key that it sees, in rows [first, end) of one head; sums
 * over parts are those of the whole. */
int64_t th_layer_scores(const th_layer *l, int32_t first, int32_t end);
/* Elements: K * C/groups * R * S; gates * K * (C + K); vocabulary * K; 0 without. */
int64_t th_layer_weights(const th_layer *l);
/* Weights, unless they are another layer's, + biases (lstm, gru: 2 gates K) + norm. */
int64_t th_layer_parameters(const th_layer *l);
/* The weights that a part of the loop nest reads: output channels (words of an embedding), input
 * channels of a group (of a recurrent layer, and hidden units), kernel rows (gates) and columns.
 * Empty without weights. */
th_box th_layer_weight_box(const th_layer *l, const th_loop_box *loops);
int64_t th_layer_output_elements(const th_layer *l); /* B * K * H * W */

/* The whole loop nest, and the whole output and input tensors as boxes. input: which one, 0 based.
 */
th_loop_box th_layer_loops(const th_layer *l);
th_box th_layer_output_box(const th_layer *l);
th_box th_layer_input_box(const th_layer *l, int input);

/* The part of one input tensor that a loop box reads (including halos of stride, dilation and
 * kernel, without padding, channels by groups), and the part of the output that it writes. May be
 * empty (lo == hi) if a box lies entirely in the padding, or in another input of a concat. */
th_box th_layer_input_of(const th_layer *l, int input, const th_loop_box *loops);
th_box th_layer_output_of(const th_layer *l, const th_loop_box *loops);

/* Inline, because planning a redistribution calls them for every pair of positions. */
static inline bool th_box_is_empty(const th_box *b)
{
    bool is_empty = false; /* without branches, because the outcome is unpredictable */
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        is_empty |= b->lo[d] >= b->hi[d];
    return is_empty;
}

/* True if they have an element in common. */
static inline bool th_box_meets(const th_box *a, const th_box *b)
{
    bool is_apart = false;
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        is_apart |= th_max(a->lo[d], b->lo[d]) >= th_min(a->hi[d], b->hi[d]);
    return !is_apart;
}

int64_t th_box_elements(const th_box *b); /* 0 when empty */
bool th_box_equal(const th_box *a, const th_box *b);
th_box th_box_intersect(const th_box *a,
                        const th_box *b); /* empty boxes are normalised to all zero */

#endif
