/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer.c - names of layers, the dimensions along which they may be cut, and their operation and
 * parameter counts.
 *
 * Multiply-accumulates follow the usual convention, padding included: B K (C/G) H W R S. Those of a
 * transposed convolution exclude the zeros between neighbours: every input pixel is multiplied by
 * every kernel element once, B K (C/G) in_h in_w R S, including products that padding crops. An
 * attention multiplies every query with every key that it sees and every score with a value: B
 * scores (C + K). An lstm or gru takes gates K (C + K) per time step. Functions here are pure and
 * may be called in any order; they assume valid extents (th_workload_finish checks them). Boxes are
 * in layer_boxes.c. */
#include <config.h>
#include "workloads/layer.h"

const char th_dim_letters[TH_N_DIMS + 1] = "BKCHWRS";

static const char *function_name(th_function f)
{
    switch (f) {
    case TH_FUNCTION_NONE:
        break;
    case TH_FUNCTION_ADD:
        return "add";
    case TH_FUNCTION_MUL:
        return "mul";
    case TH_FUNCTION_RELU:
        return "relu";
    case TH_FUNCTION_SIGMOID:
        return "sigmoid";
    case TH_FUNCTION_TANH:
        return "tanh";
    case TH_FUNCTION_GELU:
        return "gelu";
    case TH_FUNCTION_SILU:
        return "silu";
    case TH_FUNCTION_SCALE:
        return "scale";
    case TH_FUNCTION_SHIFT:
        return "shift";
    case TH_FUNCTION_POWER:
        return "power";
    case TH_FUNCTION_COPY:
        return "copy";
    case TH_FUNCTION_REDUCE:
        return "reduce";
    case TH_FUNCTION_DROPOUT:
        return "dropout";
    case TH_FUNCTION_ROTARY:
        return "rotary";
    case TH_FUNCTION_GATE:
        return "gate";
    case TH_FUNCTION_BATCH_NORM:
        return "norm";
    case TH_FUNCTION_LAYER_NORM:
        return "layer_norm";
    case TH_FUNCTION_RMS_NORM:
        return "rms_norm";
    }
    return "unknown";
}

th_layer th_layer_over(th_layer_kind kind, int32_t batch, int32_t c, int32_t h, int32_t w,
                       th_precision p)
{
    return (th_layer){.kind = kind,
                      .dim = {batch, c, c, h, w, 1, 1},
                      .in_h = h,
                      .in_w = w,
                      .stride_h = 1,
                      .stride_w = 1,
                      .dilation_h = 1,
                      .dilation_w = 1,
                      .up_h = 1,
                      .up_w = 1,
                      .groups = 1,
                      .precision = {p, p, p},
                      .density = {1, 1, 1}};
}

const char *th_layer_type_name(const th_layer *l)
{
    switch (l->kind) {
    case TH_LAYER_CONV:
        return "conv";
    case TH_LAYER_FC:
        return "fc";
    case TH_LAYER_MATMUL:
        return "matmul";
    case TH_LAYER_LSTM:
        return "lstm";
    case TH_LAYER_GRU:
        return "gru";
    case TH_LAYER_RNN:
        return "rnn";
    case TH_LAYER_EMBEDDING:
        return "embedding";
    case TH_LAYER_POOL:
        return l->is_mean_pool ? "mean_pool" : "max_pool";
    case TH_LAYER_ELEMENTWISE:
    case TH_LAYER_NORM:
        return function_name(l->function);
    case TH_LAYER_SOFTMAX:
        return "softmax";
    case TH_LAYER_CONCAT:
        return "concat";
    case TH_LAYER_SLICE:
        return "slice";
    case TH_LAYER_ATTENTION:
        return "fused_attention";
    }
    return "unknown";
}

const char *const th_precision_names[TH_N_PRECISIONS + 1] = {
    [TH_FP32] = "fp32",   [TH_FP16] = "fp16", [TH_BF16] = "bf16",
    [TH_INT16] = "int16", [TH_INT8] = "int8", [TH_INT4] = "int4",
    [TH_TF32] = "tf32",   [TH_FP8] = "fp8",   [TH_FP4] = "fp4",
};

const char *th_precision_name(th_precision p)
{
    return th_precision_names[p];
}

int th_precision_bits(th_precision p)
{
    static const int bits[TH_N_PRECISIONS] = {
        [TH_FP32] = 32, [TH_FP16] = 16, [TH_BF16] = 16, [TH_INT16] = 16, [TH_INT8] = 8,
        [TH_INT4] = 4,  [TH_TF32] = 32, [TH_FP8] = 8,   [TH_FP4] = 4,
    };
    return bits[p];
}

int64_t th_tensor_bytes(int64_t elements, th_precision p)
{
    return (elements * th_precision_bits(p) + 7) / 8;
}

int th_layer_gates(th_layer_kind kind)
{
    return kind == TH_LAYER_LSTM ? 4 : kind == TH_LAYER_GRU ? 3 : kind == TH_LAYER_RNN ? 1 : 0;
}

int32_t th_layer_key_heads(const th_layer *l)
{
    int32_t width = l->dim[TH_DIM_C] / l->groups;
    return l->input_shapes[3] / width;
}

bool th_layer_has_macs(const th_layer *l)
{
    return l->kind == TH_LAYER_CONV || l->kind == TH_LAYER_FC || l->kind == TH_LAYER_MATMUL ||
           l->kind == TH_LAYER_ATTENTION || th_layer_gates(l->kind) > 0;
}

bool th_layer_multiplies_activations(const th_layer *l)
{
    return l->kind == TH_LAYER_ATTENTION || (l->kind == TH_LAYER_MATMUL && l->n_inputs == 2);
}

bool th_layer_has_weights(const th_layer *l)
{
    return l->kind == TH_LAYER_EMBEDDING ||
           (th_layer_has_macs(l) && !th_layer_multiplies_activations(l));
}

bool th_layer_is_channelwise(const th_layer *l)
{
    return l->kind == TH_LAYER_POOL || (l->kind == TH_LAYER_ELEMENTWISE && !l->input_shapes) ||
           (l->kind == TH_LAYER_NORM && l->function == TH_FUNCTION_BATCH_NORM);
}

bool th_layer_is_reduction(const th_layer *l, th_dim d)
{
    return th_layer_has_macs(l) && th_layer_gates(l->kind) == 0 && l->kind != TH_LAYER_ATTENTION &&
           (d == TH_DIM_C || d == TH_DIM_R || d == TH_DIM_S);
}

/* ---- what may be cut ---- */

/* Is each of n pieces of the output channels inside one group, or made of whole groups? */
static bool respects_groups(const th_layer *l, int n)
{
    int64_t k = l->dim[TH_DIM_K], per_group = k / l->groups;
    for (int i = 0; i < n; i++) {
        int64_t lo = i * k / n, hi = (i + 1) * k / n;
        bool is_whole = lo % per_group == 0 && hi % per_group == 0;
        if (!is_whole && lo / per_group != (hi - 1) / per_group)
            return false;
    }
    return true;
}

static bool can_split_channels(const th_layer *l, int n)
{
    switch (l->kind) {
    case TH_LAYER_MATMUL:
        return l->groups == 1 || respects_groups(l, n);
    case TH_LAYER_SOFTMAX: /* a sum over a group needs all of it */
    case TH_LAYER_ATTENTION:
        return l->groups % n == 0;
    case TH_LAYER_NORM:
        return th_layer_is_channelwise(l);
    case TH_LAYER_LSTM: /* a unit needs the others' outputs at every step */
    case TH_LAYER_GRU:
    case TH_LAYER_RNN:
        return false;
    case TH_LAYER_CONV:
    case TH_LAYER_FC:
    case TH_LAYER_EMBEDDING:
    case TH_LAYER_POOL:
    case TH_LAYER_ELEMENTWISE:
    case TH_LAYER_CONCAT:
    case TH_LAYER_SLICE:
        break;
    }
    return true;
}

bool th_layer_can_split(const th_layer *l, th_dim d, int n)
{
    switch (d) {
    case TH_DIM_B:
        return true;
    case TH_DIM_K:
        return n <= 1 || can_split_channels(l, n);
    case TH_DIM_H:
    case TH_DIM_W:
        return n <= 1 || th_layer_gates(l->kind) == 0;
    case TH_DIM_C:
        return n <= 1 || (th_layer_is_reduction(l, d) && l->groups == 1);
    case TH_DIM_R:
    case TH_DIM_S:
        return n <= 1 || th_layer_is_reduction(l, d);
    case TH_N_DIMS:
        break;
    }
    return false;
}

/* ---- sizes ---- */

/* Elements that multiply the input: weights, or the second input of a matmul (of one image). */
static int64_t multipliers(const th_layer *l)
{
    int64_t k = l->dim[TH_DIM_K], c = l->dim[TH_DIM_C];
    if (th_layer_gates(l->kind) > 0)
        return th_layer_gates(l->kind) * k * (c + k);
    return k * (c / l->groups) * l->dim[TH_DIM_R] * l->dim[TH_DIM_S];
}

/* Keys that the first n tokens of a causal attention see together: of token i its own and all
 * before it, R - causal_rows + i + 1, but at most window. */
static int64_t scores_of_tokens(const th_layer *l, int64_t n)
{
    int64_t first = (int64_t)l->dim[TH_DIM_R] - l->causal_rows + 1, growing = n;
    if (l->window > 0 && l->window - first < n)
        growing = l->window > first ? l->window - first : 0;
    return growing * first + growing * (growing - 1) / 2 + (n - growing) * l->window;
}

/* Of rows [0, end), which are those of one query head after the other. */
static int64_t scores_before(const th_layer *l, int32_t end)
{
    if (l->causal_rows == 0)
        return (int64_t)end * l->dim[TH_DIM_R];
    return end / l->causal_rows * scores_of_tokens(l, l->causal_rows) +
           scores_of_tokens(l, end % l->causal_rows);
}

int64_t th_layer_scores(const th_layer *l, int32_t first, int32_t end)
{
    return scores_before(l, end) - scores_before(l, first);
}

int64_t th_layer_macs(const th_layer *l)
{
    if (!th_layer_has_macs(l))
        return 0;
    if (l->kind == TH_LAYER_ATTENTION)
        return l->dim[TH_DIM_B] * th_layer_scores(l, 0, l->dim[TH_DIM_H]) *
               ((int64_t)l->dim[TH_DIM_C] + l->dim[TH_DIM_K]);
    bool is_stuffed = l->up_h > 1 || l->up_w > 1;
    int64_t pixels =
        is_stuffed ? (int64_t)l->in_h * l->in_w : (int64_t)l->dim[TH_DIM_H] * l->dim[TH_DIM_W];
    return multipliers(l) * l->dim[TH_DIM_B] * pixels;
}

int64_t th_layer_weights(const th_layer *l)
{
    if (l->kind == TH_LAYER_EMBEDDING)
        return (int64_t)l->vocabulary * l->dim[TH_DIM_K];
    return th_layer_has_weights(l) ? multipliers(l) : 0;
}

/* Further parameters per output channel. An lstm or gru adds two biases at every gate, to what
 * comes from the input and to what comes from the step before, as PyTorch and cuDNN do. */
static int64_t parameters_per_channel(const th_layer *l)
{
    int64_t n = l->has_bias ? 1 : 0;
    if (th_layer_gates(l->kind) > 0)
        n *= 2 * th_layer_gates(l->kind);
    if (l->has_norm)
        n += 2; /* scale and shift */
    if (l->kind == TH_LAYER_NORM)
        n += l->function == TH_FUNCTION_RMS_NORM ? 1 : 2; /* rms: a scale only */
    return n;
}

int64_t th_layer_parameters(const th_layer *l)
{
    int64_t weights = l->tied_to > 0 ? 0 : th_layer_weights(l);
    return weights + parameters_per_channel(l) * l->dim[TH_DIM_K];
}

int64_t th_layer_output_elements(const th_layer *l)
{
    return (int64_t)l->dim[TH_DIM_B] * l->dim[TH_DIM_K] * l->dim[TH_DIM_H] * l->dim[TH_DIM_W];
}
