/* SPDX-License-Identifier: GPL-3.0-or-later */
/* op.h - an operation of a network whose time is measured or predicted: its kind and its numbers.
 *
 *   conv         batch images, channels_in x in_h x in_w, a kernel, strides, padding (both sides
 *                together) along each axis, channels_out
 *   pooling      the same without weights, channels_out = channels_in
 *   dense        batch rows of channels_in numbers to channels_out: a fully connected layer
 *   matmul       batch products of rows x channels_in by channels_in x channels_out
 *   elementwise  a function of batch rows of channels_in numbers; norm, rms_norm, softmax,
 *                cross_entropy, router (softmax and the largest of a row) along the rows
 *   attention    fused: batch sequences of rows queries each against keys (with the queries' own),
 *                heads of channels_in numbers (keys) and channels_out (values), kv_heads of them
 *                shared; causal; window keys at most (0: all); latent: keys and values are expanded
 *                from so many numbers a token, or, where channels_out are as many, are read from
 *                them as they lie
 *   experts      feed-forward of batch tokens (of all ranks) of channels_in numbers by top_k of
 *                n_experts gated experts of channels_out numbers inside
 * Numbers have the precision of the operation, single precision unless said; sums, statistics of
 * rows and states of optimizers are of single precision throughout. */
#ifndef TH_PREDICTOR_OP_OP_H
#define TH_PREDICTOR_OP_OP_H
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef enum {
    TH_OP_CONV,
    TH_OP_POOLING,
    TH_OP_DENSE,
    TH_OP_MATMUL,
    TH_OP_ELEMENTWISE,
    TH_OP_NORM,
    TH_OP_SOFTMAX,
    TH_OP_RMS_NORM,
    TH_OP_CROSS_ENTROPY,
    TH_OP_ROUTER,
    TH_OP_ATTENTION,
    TH_OP_EXPERTS,
    TH_N_OP_KINDS
} th_op_kind;

typedef enum {
    TH_OP_BATCH,
    TH_OP_ROWS,
    TH_OP_IN_H,
    TH_OP_IN_W,
    TH_OP_CHANNELS_IN,
    TH_OP_CHANNELS_OUT,
    TH_OP_KERNEL_H,
    TH_OP_KERNEL_W,
    TH_OP_STRIDE_H,
    TH_OP_STRIDE_W,
    TH_OP_PAD_H, /* zeros above and below together */
    TH_OP_PAD_W,
    TH_OP_BIAS,         /* 0 or 1 */
    TH_OP_ACTIVATION,   /* th_op_activation */
    TH_OP_FUNCTION,     /* th_op_function, of elementwise */
    TH_OP_OPTIMIZER,    /* th_op_optimizer, of a training step */
    TH_OP_PRECISION,    /* th_op_precision */
    TH_OP_HEADS,        /* of attention: of queries */
    TH_OP_KV_HEADS,     /* of keys and values */
    TH_OP_KEYS,         /* per sequence: cached tokens and the queries' own */
    TH_OP_CAUSAL,       /* 0 or 1: a query sees the keys up to its own */
    TH_OP_WINDOW,       /* keys that a query sees at most; 0: all */
    TH_OP_UNSPLIT,      /* 1: a sequence's keys are never split over multiprocessors */
    TH_OP_KERNEL,       /* th_op_kernel of attention */
    TH_OP_KV_PRECISION, /* th_op_precision of keys and values; 0: that of the operation */
    TH_OP_PAGED,        /* 1: keys and values lie in pages, where those of the rows are put first */
    TH_OP_LATENT,       /* numbers of a token that its keys and values are made of; 0: none */
    TH_OP_N_EXPERTS,    /* of all ranks */
    TH_OP_TOP_K,        /* experts of a token */
    TH_OP_RANKS,        /* that share the experts; the operation is what the fullest one runs */
    TH_OP_SKEW,         /* hundredths of the exponent of the experts' power law; 0: equal shares */
    TH_N_OP_FIELDS
} th_op_field;
_Static_assert(TH_N_OP_FIELDS <= 64, "th_op_fields has a bit for each");

/* Of numbers: products of four stay exact in doubles where networks are. */
enum { TH_OP_EXTENT_MAX = 1 << 24, TH_OP_EXPERTS_MAX = 4096 };

typedef enum { TH_ACT_NONE, TH_ACT_RELU, TH_ACT_TANH, TH_ACT_SIGMOID, TH_N_ACTS } th_op_activation;

typedef enum {
    TH_OPTIMIZER_NONE,
    TH_OPTIMIZER_SGD,
    TH_OPTIMIZER_ADADELTA,
    TH_OPTIMIZER_ADAGRAD,
    TH_OPTIMIZER_MOMENTUM,
    TH_OPTIMIZER_ADAM,
    TH_OPTIMIZER_RMSPROP,
    TH_N_OPTIMIZERS
} th_op_optimizer;

/* With two operands, or with one and a number. */
typedef enum {
    TH_EW_ADD,
    TH_EW_MUL,
    TH_EW_DIV,
    TH_EW_POW,
    TH_EW_ADD_NUMBER,
    TH_EW_MUL_NUMBER,
    TH_EW_DIV_NUMBER,
    TH_EW_POW_NUMBER,
    TH_EW_RELU,
    TH_EW_GELU,
    TH_EW_TANH,
    TH_EW_ADD_THREE,  /* a + b + c, by two kernels */
    TH_EW_SILU_GATE,  /* silu(a) * b */
    TH_EW_ROTARY,     /* rotary positions */
    TH_EW_EMBEDDING,  /* rows of a table */
    TH_EW_PERMUTE,    /* rows in another order: tokens to experts and back */
    TH_EW_QUANTIZE,   /* 16 bits to the operation's precision, with scales */
    TH_EW_DEQUANTIZE, /* and back */
    TH_EW_ADAM,       /* an optimizer's step; states and weights of single precision */
    TH_EW_SGD,        /* with momentum */
    TH_N_EWS
} th_op_function;

/* Of tensor cores, but for single precision. fp8 and fp4 products have results of 16 bits. */
typedef enum {
    TH_PRECISION_FP32,
    TH_PRECISION_TF32,
    TH_PRECISION_FP16,
    TH_PRECISION_BF16,
    TH_PRECISION_FP8,
    TH_PRECISION_FP4,
    TH_N_OP_PRECISIONS
} th_op_precision;

/* Which kernels compute an attention: those of a generation of FlashAttention, or of cuDNN, or
 * what runs everywhere (Triton, FlashInfer). The best: what its vendor has for the device. */
typedef enum {
    TH_KERNEL_BEST,
    TH_KERNEL_FLASH2,
    TH_KERNEL_FLASH3,
    TH_KERNEL_FLASH4,
    TH_KERNEL_CUDNN,
    TH_KERNEL_PORTABLE,
    TH_N_KERNELS
} th_op_kernel;

/* The part of an operation that was timed. */
typedef enum {
    TH_PHASE_CALL, /* as a framework calls it: the input lies on the device, the output comes to the
                      host */
    TH_PHASE_EXECUTION, /* the kernels alone */
    TH_PHASE_STEP,      /* a call of forward, backward and the optimiser's update */
    TH_PHASE_PRE,       /* launch, input copied and laid out */
    TH_PHASE_POST,      /* output laid out and copied back */
    TH_PHASE_FORWARD,   /* of a training step */
    TH_PHASE_BACKWARD,
    TH_PHASE_LOSS,
    TH_PHASE_UPDATE,
    TH_N_PHASES
} th_phase;

typedef struct th_op {
    th_op_kind kind;
    int32_t x[TH_N_OP_FIELDS]; /* fields that the kind does not have are 0 */
} th_op;

const char *th_op_kind_name(th_op_kind k); /* "conv" */
/* Of those at less than single precision: "narrow dense"; else the name. */
const char *th_op_kind_title(th_op_kind k, bool is_narrow);
const char *th_op_field_name(th_op_field f); /* "channels_in" */
int32_t th_op_field_min(th_op_field f);      /* that a number can be */
const char *th_phase_name(th_phase p);       /* "call" */
/* The word for a value of a field that is a choice (activation, function, optimizer); NULL for
 * numbers. */
const char *th_op_word(th_op_field f, int32_t value);
/* The value of a word or a number; -1: neither. */
int32_t th_op_value(th_op_field f, const char *text);
int th_op_kind_find(const char *name); /* -1: none */
int th_phase_find(const char *name);

bool th_op_has(th_op_kind k, th_op_field f);
#define TH_OP_BIT(FIELD) ((uint64_t)1 << (FIELD))
uint64_t th_op_fields(th_op_kind k); /* those that it has: TH_OP_BIT of each */
/* Takes the first field out of some. */
static inline th_op_field th_op_take_field(uint64_t *fields)
{
    int first = __builtin_ctzll(*fields);
    *fields &= *fields - 1;
    return (th_op_field)first;
}
/* 0, or -1: a field is out of its range, or the kernel is larger than the padded input. */
int th_op_check(const th_op *op, th_error *err);

/* Of conv and pooling: zeros that make the output ceil(input / stride) long; and the length it has.
 */
int32_t th_op_same_padding(int32_t in, int32_t kernel, int32_t stride);
int32_t th_op_out_h(const th_op *op);
int32_t th_op_out_w(const th_op *op);

double th_op_precision_bytes(th_op_precision p); /* of a number: 4, 4, 2, 2, 1, 0.5 */
/* Does the operation run at less than single precision? Models of both are learned apart, for other
 * kernels run them. */
bool th_op_is_narrow(const th_op *op);
/* What a memory-bound operation reads and writes in all; 0 of others. */
void th_op_traffic(const th_op *op, double *read, double *written);

/* Of an attention: keys and values of a token, bytes. */
double th_op_token_bytes(const th_op *op);

/* Exact below 2^53. Bytes of the operands, floating point operations (2 per multiply-accumulate).
 */
double th_op_input_bytes(const th_op *op);
double th_op_weight_bytes(const th_op *op); /* of a matmul: the second factor */
double th_op_output_bytes(const th_op *op);

/* All of these at once, for those who need most of them. */
typedef struct th_op_sizes {
    int32_t out_h, out_w; /* 0: the kind has none */
    double input, weights, output, flops;
} th_op_sizes;
th_op_sizes th_op_sizes_of(const th_op *op);

#endif
