/* SPDX-License-Identifier: GPL-3.0-or-later */
/* op.c - kinds of operations and the numbers they have, as tables. */
#include <config.h>

#include "predictor/op/op.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BIT TH_OP_BIT
#define PLANE                                                                                      \
    (BIT(TH_OP_IN_H) | BIT(TH_OP_IN_W) | BIT(TH_OP_KERNEL_H) | BIT(TH_OP_KERNEL_W) |               \
     BIT(TH_OP_STRIDE_H) | BIT(TH_OP_STRIDE_W) | BIT(TH_OP_PAD_H) | BIT(TH_OP_PAD_W))
#define LAYER (BIT(TH_OP_BATCH) | BIT(TH_OP_CHANNELS_IN) | BIT(TH_OP_PRECISION))
#define WEIGHTED                                                                                   \
    (BIT(TH_OP_CHANNELS_OUT) | BIT(TH_OP_BIAS) | BIT(TH_OP_ACTIVATION) | BIT(TH_OP_OPTIMIZER))

/* Its name, and that at less than single precision. */
#define KIND(name) name, "narrow " name
static const struct {
    const char *name, *narrow_title;
    uint64_t fields;
} kinds[TH_N_OP_KINDS] = {
    [TH_OP_CONV] = {KIND("conv"), LAYER | PLANE | WEIGHTED},
    [TH_OP_POOLING] = {KIND("pooling"), LAYER | PLANE},
    [TH_OP_DENSE] = {KIND("dense"), LAYER | WEIGHTED},
    [TH_OP_MATMUL] = {KIND("matmul"), LAYER | BIT(TH_OP_ROWS) | BIT(TH_OP_CHANNELS_OUT)},
    [TH_OP_ELEMENTWISE] = {KIND("elementwise"), LAYER | BIT(TH_OP_FUNCTION)},
    [TH_OP_NORM] = {KIND("norm"), LAYER},
    [TH_OP_SOFTMAX] = {KIND("softmax"), LAYER},
    [TH_OP_RMS_NORM] = {KIND("rms_norm"), LAYER},
    [TH_OP_CROSS_ENTROPY] = {KIND("cross_entropy"), LAYER},
    [TH_OP_ROUTER] = {KIND("router"), LAYER},
    [TH_OP_ATTENTION] = {KIND("attention"),
                         LAYER | BIT(TH_OP_ROWS) | BIT(TH_OP_CHANNELS_OUT) | BIT(TH_OP_HEADS) |
                             BIT(TH_OP_KV_HEADS) | BIT(TH_OP_KEYS) | BIT(TH_OP_CAUSAL) |
                             BIT(TH_OP_WINDOW) | BIT(TH_OP_UNSPLIT) | BIT(TH_OP_KERNEL) |
                             BIT(TH_OP_KV_PRECISION) | BIT(TH_OP_PAGED) | BIT(TH_OP_LATENT)},
    [TH_OP_EXPERTS] = {KIND("experts"), LAYER | BIT(TH_OP_CHANNELS_OUT) | BIT(TH_OP_N_EXPERTS) |
                                            BIT(TH_OP_TOP_K) | BIT(TH_OP_RANKS) | BIT(TH_OP_SKEW)},
};
#undef KIND

static const char *const activations[TH_N_ACTS] = {"none", "relu", "tanh", "sigmoid"};
static const char *const optimizers[TH_N_OPTIMIZERS] = {"none",     "sgd",  "adadelta", "adagrad",
                                                        "momentum", "adam", "rmsprop"};
static const char *const functions[TH_N_EWS] = {
    "add",        "mul",     "div",      "pow",        "add_number", "mul_number", "div_number",
    "pow_number", "relu",    "gelu",     "tanh",       "add_three",  "silu_gate",  "rotary",
    "embedding",  "permute", "quantize", "dequantize", "adam",       "sgd"};
static const char *const precisions[TH_N_OP_PRECISIONS] = {"fp32", "tf32", "fp16",
                                                           "bf16", "fp8",  "fp4"};
static const char *const kv_precisions[TH_N_OP_PRECISIONS] = {"same", "tf32", "fp16",
                                                              "bf16", "fp8",  "fp4"};
static const char *const kernels[TH_N_KERNELS] = {"best",   "flash2", "flash3",
                                                  "flash4", "cudnn",  "portable"};

static const struct {
    const char *name;
    int32_t minimum, maximum;
    const char *const *words;
} fields[TH_N_OP_FIELDS] = {
    [TH_OP_BATCH] = {"batch", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_ROWS] = {"rows", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_IN_H] = {"in_h", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_IN_W] = {"in_w", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_CHANNELS_IN] = {"channels_in", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_CHANNELS_OUT] = {"channels_out", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_KERNEL_H] = {"kernel_h", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_KERNEL_W] = {"kernel_w", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_STRIDE_H] = {"stride_h", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_STRIDE_W] = {"stride_w", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_PAD_H] = {"pad_h", 0, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_PAD_W] = {"pad_w", 0, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_BIAS] = {"bias", 0, 1, NULL},
    [TH_OP_ACTIVATION] = {"activation", 0, TH_N_ACTS - 1, activations},
    [TH_OP_FUNCTION] = {"function", 0, TH_N_EWS - 1, functions},
    [TH_OP_OPTIMIZER] = {"optimizer", 0, TH_N_OPTIMIZERS - 1, optimizers},
    [TH_OP_PRECISION] = {"precision", 0, TH_N_OP_PRECISIONS - 1, precisions},
    [TH_OP_HEADS] = {"heads", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_KV_HEADS] = {"kv_heads", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_KEYS] = {"keys", 1, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_CAUSAL] = {"causal", 0, 1, NULL},
    [TH_OP_WINDOW] = {"window", 0, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_UNSPLIT] = {"unsplit", 0, 1, NULL},
    [TH_OP_KERNEL] = {"attention", 0, TH_N_KERNELS - 1, kernels},
    [TH_OP_KV_PRECISION] = {"kv_precision", 0, TH_N_OP_PRECISIONS - 1, kv_precisions},
    [TH_OP_PAGED] = {"paged", 0, 1, NULL},
    [TH_OP_LATENT] = {"latent", 0, TH_OP_EXTENT_MAX, NULL},
    [TH_OP_N_EXPERTS] = {"n_experts", 1, TH_OP_EXPERTS_MAX, NULL},
    [TH_OP_TOP_K] = {"top_k", 1, TH_OP_EXPERTS_MAX, NULL},
    [TH_OP_RANKS] = {"ranks", 1, TH_OP_EXPERTS_MAX, NULL},
    [TH_OP_SKEW] = {"skew", 0, 400, NULL},
};

static const char *const phases[TH_N_PHASES] = {"call",    "execution", "step", "pre",   "post",
                                                "forward", "backward",  "loss", "update"};

const char *th_op_kind_name(th_op_kind k)
{
    return kinds[k].name;
}

const char *th_op_kind_title(th_op_kind k, bool is_narrow)
{
    return is_narrow ? kinds[k].narrow_title : kinds[k].name;
}

const char *th_op_field_name(th_op_field f)
{
    return fields[f].name;
}

int32_t th_op_field_min(th_op_field f)
{
    return fields[f].minimum;
}

const char *th_phase_name(th_phase p)
{
    return phases[p];
}

const char *th_op_word(th_op_field f, int32_t value)
{
    return fields[f].words && value >= 0 && value <= fields[f].maximum ? fields[f].words[value]
                                                                       : NULL;
}

int32_t th_op_value(th_op_field f, const char *text)
{
    for (int32_t i = 0; fields[f].words && i <= fields[f].maximum; i++)
        if (strcmp(fields[f].words[i], text) == 0)
            return i;
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && value >= 0 && value <= INT32_MAX
               ? (int32_t)value
               : -1;
}

int th_op_kind_find(const char *name)
{
    for (int k = 0; k < TH_N_OP_KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return k;
    return -1;
}

int th_phase_find(const char *name)
{
    for (int p = 0; p < TH_N_PHASES; p++)
        if (strcmp(phases[p], name) == 0)
            return p;
    return -1;
}

uint64_t th_op_fields(th_op_kind k)
{
    return kinds[k].fields;
}

bool th_op_has(th_op_kind k, th_op_field f)
{
    return kinds[k].fields >> f & 1u;
}

static int check_attention(const th_op *op, th_error *err)
{
    if (op->x[TH_OP_HEADS] % op->x[TH_OP_KV_HEADS] != 0)
        return th_error_set(err, "PRED-0160", "attention: kv_heads %d: must divide heads, %d",
                            op->x[TH_OP_KV_HEADS], op->x[TH_OP_HEADS]);
    if (op->x[TH_OP_KEYS] < op->x[TH_OP_ROWS] && op->x[TH_OP_CAUSAL])
        return th_error_set(err, "PRED-0161",
                            "attention: keys %d: must contain the %d rows, where it is causal",
                            op->x[TH_OP_KEYS], op->x[TH_OP_ROWS]);
    return 0;
}

static int check_experts(const th_op *op, th_error *err)
{
    int32_t n = op->x[TH_OP_N_EXPERTS];
    if (n % op->x[TH_OP_RANKS] != 0)
        return th_error_set(err, "PRED-0710", "experts: ranks %d: must divide n_experts, %d",
                            op->x[TH_OP_RANKS], n);
    if (op->x[TH_OP_TOP_K] > n)
        return th_error_set(err, "PRED-0711", "experts: top_k %d: must be at most n_experts, %d",
                            op->x[TH_OP_TOP_K], n);
    return 0;
}

int th_op_check(const th_op *op, th_error *err)
{
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        if (th_op_has(op->kind, (th_op_field)f) &&
            (op->x[f] < fields[f].minimum || op->x[f] > fields[f].maximum))
            return th_error_set(err, "PRED-0001", "%s: %s %d: must be %d to %d",
                                kinds[op->kind].name, fields[f].name, op->x[f], fields[f].minimum,
                                fields[f].maximum);
    if (th_op_has(op->kind, TH_OP_IN_H) && (th_op_out_h(op) < 1 || th_op_out_w(op) < 1))
        return th_error_set(
            err, "PRED-0002", "%s: kernel %d x %d: must fit into the padded input, %d x %d",
            kinds[op->kind].name, op->x[TH_OP_KERNEL_H], op->x[TH_OP_KERNEL_W],
            op->x[TH_OP_IN_H] + op->x[TH_OP_PAD_H], op->x[TH_OP_IN_W] + op->x[TH_OP_PAD_W]);
    if (op->kind == TH_OP_EXPERTS)
        return check_experts(op, err);
    return op->kind == TH_OP_ATTENTION ? check_attention(op, err) : 0;
}

int32_t th_op_same_padding(int32_t in, int32_t kernel, int32_t stride)
{
    int64_t out = (in - 1) / stride + 1, zeros = (out - 1) * stride + kernel - in;
    return zeros > 0 ? (int32_t)zeros : 0;
}

static int32_t out_of(int32_t in, int32_t pad, int32_t kernel, int32_t stride)
{
    return in + pad < kernel ? 0 : (in + pad - kernel) / stride + 1;
}

int32_t th_op_out_h(const th_op *op)
{
    return out_of(op->x[TH_OP_IN_H], op->x[TH_OP_PAD_H], op->x[TH_OP_KERNEL_H],
                  op->x[TH_OP_STRIDE_H]);
}

int32_t th_op_out_w(const th_op *op)
{
    return out_of(op->x[TH_OP_IN_W], op->x[TH_OP_PAD_W], op->x[TH_OP_KERNEL_W],
                  op->x[TH_OP_STRIDE_W]);
}

static double number(const th_op *op, th_op_field f)
{
    return (double)op->x[f];
}

static bool is_plane(const th_op *op)
{
    return th_op_has(op->kind, TH_OP_IN_H);
}

/* --- bytes ------------------------------------------------------------------------------------ */

enum { SINGLE = 4, HALF = 2 }; /* bytes */
enum { GATED = 3 };            /* products of an expert */

double th_op_precision_bytes(th_op_precision p)
{
    static const double bytes[TH_N_OP_PRECISIONS] = {SINGLE, SINGLE, HALF, HALF, 1, 0.5};
    return bytes[p];
}

bool th_op_is_narrow(const th_op *op)
{
    return op->x[TH_OP_PRECISION] != TH_PRECISION_FP32;
}

static double bytes_of(const th_op *op)
{
    return th_op_precision_bytes((th_op_precision)op->x[TH_OP_PRECISION]);
}

/* Of a result: products of fewer bits have results of 16. */
static double result_bytes(const th_op *op)
{
    double bytes = bytes_of(op);
    return bytes < HALF ? HALF : bytes;
}

double th_op_input_bytes(const th_op *op)
{
    double n = bytes_of(op) * number(op, TH_OP_BATCH) * number(op, TH_OP_CHANNELS_IN);
    if (is_plane(op))
        return n * number(op, TH_OP_IN_H) * number(op, TH_OP_IN_W);
    if (op->kind == TH_OP_ATTENTION)
        return n * number(op, TH_OP_ROWS) * number(op, TH_OP_HEADS);
    return op->kind == TH_OP_MATMUL ? n * number(op, TH_OP_ROWS) : n;
}

double th_op_token_bytes(const th_op *op)
{
    th_op_precision own = (th_op_precision)op->x[TH_OP_KV_PRECISION];
    double values = number(op, TH_OP_CHANNELS_OUT);
    if (op->x[TH_OP_LATENT] > 0 && op->x[TH_OP_LATENT] == op->x[TH_OP_CHANNELS_OUT])
        values = 0; /* they are the first numbers of the key */
    return (own ? th_op_precision_bytes(own) : bytes_of(op)) * number(op, TH_OP_KV_HEADS) *
           (number(op, TH_OP_CHANNELS_IN) + values);
}

/* Keys and values that some query sees. */
static double cache_bytes(const th_op *op)
{
    double keys = number(op, TH_OP_KEYS), window = number(op, TH_OP_WINDOW);
    if (window > 0 && window + number(op, TH_OP_ROWS) < keys)
        keys = window + number(op, TH_OP_ROWS);
    return number(op, TH_OP_BATCH) * keys * th_op_token_bytes(op);
}

double th_op_weight_bytes(const th_op *op)
{
    double n = bytes_of(op) * number(op, TH_OP_CHANNELS_IN) * number(op, TH_OP_CHANNELS_OUT);
    switch (op->kind) {
    case TH_OP_CONV:
        return n * number(op, TH_OP_KERNEL_H) * number(op, TH_OP_KERNEL_W);
    case TH_OP_DENSE:
        return n;
    case TH_OP_MATMUL:
        return n * number(op, TH_OP_BATCH);
    case TH_OP_ATTENTION:
        return cache_bytes(op);
    case TH_OP_EXPERTS: /* gate, up, down of those that are there at least: no token asks twice */
        return GATED * n * ceil(fmax(1, number(op, TH_OP_TOP_K) / number(op, TH_OP_RANKS)));
    case TH_OP_POOLING:
    case TH_OP_ELEMENTWISE:
    case TH_OP_NORM:
    case TH_OP_SOFTMAX:
    case TH_OP_RMS_NORM:
    case TH_OP_CROSS_ENTROPY:
    case TH_OP_ROUTER:
    case TH_N_OP_KINDS:
        break;
    }
    return 0;
}

/* Numbers of the result. */
static double outputs_of(const th_op *op, int32_t out_h, int32_t out_w)
{
    double n = number(op, TH_OP_BATCH);
    switch (op->kind) {
    case TH_OP_CONV:
        return n * number(op, TH_OP_CHANNELS_OUT) * out_h * out_w;
    case TH_OP_POOLING:
        return n * number(op, TH_OP_CHANNELS_IN) * out_h * out_w;
    case TH_OP_DENSE:
        return n * number(op, TH_OP_CHANNELS_OUT);
    case TH_OP_MATMUL:
        return n * number(op, TH_OP_ROWS) * number(op, TH_OP_CHANNELS_OUT);
    case TH_OP_ATTENTION:
        return n * number(op, TH_OP_ROWS) * number(op, TH_OP_HEADS) *
               number(op, TH_OP_CHANNELS_OUT);
    case TH_OP_ELEMENTWISE:
    case TH_OP_NORM:
    case TH_OP_SOFTMAX:
    case TH_OP_RMS_NORM:
    case TH_OP_CROSS_ENTROPY:
    case TH_OP_ROUTER:
    case TH_OP_EXPERTS:
    case TH_N_OP_KINDS:
        break;
    }
    return n * number(op, TH_OP_CHANNELS_IN);
}

/* Keys that all queries of a sequence see together: each the least of all, its window, and those up
 * to its own. */
static double keys_seen(const th_op *op)
{
    double rows = number(op, TH_OP_ROWS), keys = number(op, TH_OP_KEYS),
           window = number(op, TH_OP_WINDOW);
    if (!op->x[TH_OP_CAUSAL])
        return rows * (window > 0 && window < keys ? window : keys);
    double first = keys - rows + 1; /* keys of the first query; the last sees all */
    if (window <= 0 || window >= keys)
        return rows * (first + keys) / 2;
    if (window <= first)
        return rows * window;
    double growing = window - first;
    return growing * (first + window - 1) / 2 + (rows - growing) * window;
}

static double flops(const th_op *op, double outputs)
{
    switch (op->kind) {
    case TH_OP_CONV:
        return 2 * outputs * number(op, TH_OP_CHANNELS_IN) * number(op, TH_OP_KERNEL_H) *
               number(op, TH_OP_KERNEL_W);
    case TH_OP_POOLING:
        return outputs * number(op, TH_OP_KERNEL_H) * number(op, TH_OP_KERNEL_W);
    case TH_OP_DENSE:
    case TH_OP_MATMUL:
        return 2 * outputs * number(op, TH_OP_CHANNELS_IN);
    case TH_OP_ATTENTION:
        return 2 * number(op, TH_OP_BATCH) * number(op, TH_OP_HEADS) * keys_seen(op) *
               (number(op, TH_OP_CHANNELS_IN) + number(op, TH_OP_CHANNELS_OUT));
    case TH_OP_EXPERTS: /* of a rank's equal share */
        return 2 * GATED * outputs * number(op, TH_OP_CHANNELS_OUT) * number(op, TH_OP_TOP_K) /
               number(op, TH_OP_RANKS);
    case TH_OP_ELEMENTWISE:
    case TH_OP_NORM:
    case TH_OP_SOFTMAX:
    case TH_OP_RMS_NORM:
    case TH_OP_CROSS_ENTROPY:
    case TH_OP_ROUTER:
    case TH_N_OP_KINDS:
        break;
    }
    return outputs;
}

th_op_sizes th_op_sizes_of(const th_op *op)
{
    th_op_sizes s = {.out_h = 0};
    if (is_plane(op)) {
        s.out_h = th_op_out_h(op);
        s.out_w = th_op_out_w(op);
    }
    double outputs = outputs_of(op, s.out_h, s.out_w);
    s.input = th_op_input_bytes(op);
    s.weights = th_op_weight_bytes(op);
    s.output = outputs * result_bytes(op);
    s.flops = flops(op, outputs);
    return s;
}

double th_op_output_bytes(const th_op *op)
{
    return th_op_sizes_of(op).output;
}

/* Bytes of an element that a memory-bound operation reads and writes: in numbers of its precision,
 * and further ones whatever the precision. */
typedef struct {
    double read, written, read_bytes, written_bytes;
} passes;

static passes passes_of(const th_op *op)
{
    static const passes by_function[TH_N_EWS] = {
        [TH_EW_ADD] = {2, 1, 0, 0},
        [TH_EW_MUL] = {2, 1, 0, 0},
        [TH_EW_DIV] = {2, 1, 0, 0},
        [TH_EW_POW] = {2, 1, 0, 0},
        [TH_EW_ADD_NUMBER] = {1, 1, 0, 0},
        [TH_EW_MUL_NUMBER] = {1, 1, 0, 0},
        [TH_EW_DIV_NUMBER] = {1, 1, 0, 0},
        [TH_EW_POW_NUMBER] = {1, 1, 0, 0},
        [TH_EW_RELU] = {1, 1, 0, 0},
        [TH_EW_GELU] = {1, 1, 0, 0},
        [TH_EW_TANH] = {1, 1, 0, 0},
        [TH_EW_ADD_THREE] = {4, 2, 0, 0},
        [TH_EW_SILU_GATE] = {2, 1, 0, 0},
        [TH_EW_ROTARY] = {1, 1, 0, 0},
        [TH_EW_EMBEDDING] = {1, 1, 0, 0},
        [TH_EW_PERMUTE] = {1, 1, 0, 0},
        [TH_EW_QUANTIZE] = {0, 1, 2, 0},
        [TH_EW_DEQUANTIZE] = {1, 0, 0, 2},
        /* a gradient; weight and two moments (momentum: one) of single precision, and the weight's
         * copy of the operation's precision */
        [TH_EW_ADAM] = {1, 1, 12, 12},
        [TH_EW_SGD] = {1, 1, 8, 8},
    };
    switch (op->kind) {
    case TH_OP_ELEMENTWISE:
        return by_function[op->x[TH_OP_FUNCTION]];
    case TH_OP_NORM:
    case TH_OP_SOFTMAX:
    case TH_OP_RMS_NORM:
        return (passes){1, 1, 0, 0};
    case TH_OP_CROSS_ENTROPY: /* the loss of a row is one number */
    case TH_OP_ROUTER:
        return (passes){1, 0, 0, 0};
    case TH_OP_CONV:
    case TH_OP_POOLING:
    case TH_OP_DENSE:
    case TH_OP_MATMUL:
    case TH_OP_ATTENTION:
    case TH_OP_EXPERTS:
    case TH_N_OP_KINDS:
        break;
    }
    return (passes){0, 0, 0, 0};
}

void th_op_traffic(const th_op *op, double *read, double *written)
{
    passes p = passes_of(op);
    double n = number(op, TH_OP_BATCH) * number(op, TH_OP_CHANNELS_IN), bytes = bytes_of(op);
    bool has_copy = p.read_bytes == p.written_bytes && p.read_bytes > 0; /* of an optimizer */
    if (op->kind == TH_OP_POOLING) {
        *read = th_op_input_bytes(op);
        *written = th_op_output_bytes(op);
        return;
    }
    *read = n * (p.read * bytes + p.read_bytes);
    *written = n * ((has_copy && !th_op_is_narrow(op) ? 0 : p.written * bytes) + p.written_bytes);
}
