/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vector.c - the vector unit beside the array: it runs all layers without multiply-accumulates, and
 * adds the partial results of a split reduction.
 *   th_vector_schedule: only renamed | embedding_schedule | rows_schedule: start_pieces ->
 *   set_accounts
 *
 * The model is ours: elements_per_cycle lanes, each of which does one operation per cycle: an
 * addition, multiplication, multiply-add or comparison. An exponential, a reciprocal or a
 * reciprocal root takes E operations; E = 4 is the ratio of an Nvidia multiprocessor of compute
 * capability 8.0 (64 additions, 16 special functions per cycle; CUDA C++ Programming Guide,
 * arithmetic instructions). Operations per output element, c the elements of a row:
 *   pool R S     add, mul of n operands n - 1     relu, batch norm (folded into one multiply-add) 1
 *   scale, shift, copy, dropout (which copies) 1     power x^a = e^(a ln x): 2 E + 1
 *   sigmoid 1/(1 + e^-x): 2 E + 1     tanh = 2 sigmoid(2 x) - 1: 2 E + 2
 *   silu = x sigmoid(x): 2 E + 2
 *   gelu = x sigmoid(2 x (a + b x^2)) (the tanh form of D. Hendrycks, K. Gimpel, 2016): 2 E + 5
 *   layer norm: sum and sum of squares 2, normalise 1, scale and shift 1; per row 3 + E
 *   rms norm: sum of squares 1, normalise 1, scale 1; per row 1 + E
 *   softmax: max 1, subtract 1, exponential E, sum 1, times the reciprocal of the sum 1; per row E
 *   concat, slice, embedding: a copy, 1
 * A row is the channels of a pixel; for softmax, the channels of one group. Norms pass over a row
 * twice, softmax three times (as the safe softmax of M. Milakov, N. Gimelshein, "Online normalizer
 * calculation for softmax", 2018). A row that does not fit the buffer of the unit is read again in
 * every further pass, and softmax computes its exponentials twice: 1 + E more.
 *
 * The rows of an image are cut into PIECES pieces, which are pipelined; each byte moves once per
 * pass. An embedding reads the rows that it selects, each with a request of its own. Not modelled:
 * reuse of pool windows inside the unit, the parameters of norms (2 K elements). */
#include <config.h>

#include "sim/design/design.h"
#include "sim/design/tiles.h"

enum { PIECES = 16, SLOTS = 2 }; /* fill and drain are 1/16 of an image; double buffering */
enum { DEFAULT_EXP_OPERATIONS = 4, ALL_BUT_LAST_H = TH_N_STEP_KINDS - 1 - TH_LAST_H };

/* The operations of a layer. */
typedef struct {
    int64_t per_output, per_row;
    int64_t recompute; /* additional operations per output if the row does not stay in the buffer */
    int passes;        /* over the row */
} cost;

static int64_t exp_operations(const th_accel *a)
{
    return a->vector_exp_operations > 0 ? a->vector_exp_operations : DEFAULT_EXP_OPERATIONS;
}

/* Input elements for each output element. */
static int64_t reduced_elements(const th_shard *s)
{
    int64_t outputs = (int64_t)s->dim[TH_DIM_K] * s->dim[TH_DIM_H] * s->dim[TH_DIM_W];
    return th_ceil_div((int64_t)s->dim[TH_DIM_C] * s->in_h * s->in_w, outputs);
}

static cost function_cost(const th_shard *s, int64_t exp)
{
    switch ((th_function)s->function) {
    case TH_FUNCTION_SIGMOID:
    case TH_FUNCTION_POWER:
        return (cost){2 * exp + 1, 0, 0, 1};
    case TH_FUNCTION_TANH:
    case TH_FUNCTION_SILU:
        return (cost){2 * exp + 2, 0, 0, 1};
    case TH_FUNCTION_GELU:
    case TH_FUNCTION_GATE: /* a silu and a product, or at most a gelu */
        return (cost){2 * exp + 5, 0, 0, 1};
    case TH_FUNCTION_ROTARY: /* x cos + turned x sin */
        return (cost){3, 0, 0, 1};
    case TH_FUNCTION_LAYER_NORM:
        return (cost){4, 3 + exp, 0, 2};
    case TH_FUNCTION_RMS_NORM:
        return (cost){3, 1 + exp, 0, 2};
    case TH_FUNCTION_REDUCE:
        return (cost){reduced_elements(s), 0, 0, 1};
    case TH_FUNCTION_ADD:
    case TH_FUNCTION_MUL:
        return (cost){s->n_operands > 1 ? s->n_operands - 1 : 1, 0, 0, 1};
    case TH_FUNCTION_NONE:
    case TH_FUNCTION_RELU:
    case TH_FUNCTION_SCALE:
    case TH_FUNCTION_SHIFT:
    case TH_FUNCTION_COPY:
    case TH_FUNCTION_DROPOUT:
    case TH_FUNCTION_BATCH_NORM:
        break;
    }
    return (cost){1, 0, 0, 1};
}

static cost cost_of(const th_accel *a, const th_shard *s)
{
    int64_t exp = exp_operations(a);
    if (s->kind == TH_LAYER_POOL)
        return (cost){(int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S], 0, 0, 1};
    if (s->kind == TH_LAYER_SOFTMAX)
        return (cost){4 + exp, exp, 1 + exp, 3};
    return function_cost(s, exp);
}

static int64_t row_elements(const th_shard *s)
{
    return s->kind == TH_LAYER_SOFTMAX ? th_group_outputs(s) : s->dim[TH_DIM_K];
}

static bool row_fits(const th_accel *a, const th_shard *s)
{
    return a->vector_buffer_bytes == 0 ||
           th_shard_bytes(s, TH_TENSOR_INPUT, row_elements(s)) <= a->vector_buffer_bytes;
}

static bool copies(const th_shard *s)
{
    return s->kind == TH_LAYER_CONCAT || s->kind == TH_LAYER_SLICE;
}

/* Elements of one image, read once. */
static int64_t input_elements(const th_shard *s)
{
    int64_t k = s->dim[TH_DIM_K];
    if (copies(s))
        return k * s->dim[TH_DIM_H] * s->dim[TH_DIM_W];
    if (s->kind == TH_LAYER_ELEMENTWISE)
        k = s->dim[TH_DIM_C];
    return k * s->in_h * s->in_w * s->n_operands;
}

/* Sets the buffer sizes and access counts of reports; the steps must be set. */
static void set_accounts(const th_shard *s, int64_t reads_per_output, th_schedule *out)
{
    int64_t outputs =
        (int64_t)s->dim[TH_DIM_B] * s->dim[TH_DIM_K] * s->dim[TH_DIM_H] * s->dim[TH_DIM_W];
    const th_step *piece =
        &out->step[out->count[TH_LOOP_H] > 1 ? ALL_BUT_LAST_H : TH_N_STEP_KINDS - 1];
    out->accesses =
        (th_accesses){.input_reads = outputs * reads_per_output, .output_writes = outputs};
    out->slots_in = out->slots_out = SLOTS;
    out->buffer_bytes[TH_TENSOR_INPUT] = SLOTS * piece->input_bytes;
    out->buffer_bytes[TH_TENSOR_WEIGHT] = SLOTS * piece->weight_bytes;
    out->buffer_bytes[TH_TENSOR_OUTPUT] =
        SLOTS *
        out->output_bytes[(out->count[TH_LOOP_H] > 1 ? ALL_BUT_LAST_H : TH_N_STEP_KINDS - 1) &
                          (TH_N_STORE_KINDS - 1)];
}

static void start_pieces(const th_accel *a, const th_shard *s, int64_t *piece, th_schedule *out)
{
    int64_t h = s->dim[TH_DIM_H];
    *piece = th_ceil_div(h, PIECES);
    *out = (th_schedule){.hz = a->vector_hz,
                         .count = {s->dim[TH_DIM_B], (int32_t)th_ceil_div(h, *piece), 1, 1, 1}};
}

static void rows_schedule(const th_accel *a, const th_shard *s, th_schedule *out)
{
    int64_t piece, h = s->dim[TH_DIM_H], row = (int64_t)s->dim[TH_DIM_K] * s->dim[TH_DIM_W];
    int64_t inputs = th_shard_bytes(s, TH_TENSOR_INPUT, input_elements(s));
    cost c = cost_of(a, s);
    bool fits = row_fits(a, s);
    if (!fits)
        inputs *= c.passes;
    start_pieces(a, s, &piece, out);
    int64_t n = out->count[TH_LOOP_H], per_output = c.per_output + (fits ? 0 : c.recompute);
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        bool is_last = mask & TH_LAST_H;
        int64_t outputs = row * th_tile_extent(h, piece, is_last);
        int64_t operations = outputs * per_output + outputs / row_elements(s) * c.per_row;
        out->step[mask].input_bytes = is_last ? inputs - inputs / n * (n - 1) : inputs / n;
        out->step[mask].cycles = th_ceil_div(operations, a->vector_elements_per_cycle);
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] =
            th_shard_bytes(s, TH_TENSOR_OUTPUT, outputs);
    }
    int64_t window = s->kind == TH_LAYER_POOL ? c.per_output : s->n_operands;
    set_accounts(s, (copies(s) ? 1 : window) * c.passes, out);
    if (c.passes > 1)
        out->variant = fits ? "row in the buffer" : "row read in every pass";
}

/* The indices are loaded as the input, the rows that they select as the weights. */
static void embedding_schedule(const th_accel *a, const th_shard *s, th_schedule *out)
{
    int64_t piece, h = s->dim[TH_DIM_H], k = s->dim[TH_DIM_K], w = s->dim[TH_DIM_W];
    start_pieces(a, s, &piece, out);
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        int64_t rows = w * th_tile_extent(h, piece, mask & TH_LAST_H);
        out->step[mask] = (th_step){th_shard_bytes(s, TH_TENSOR_INPUT, rows),
                                    rows * th_shard_bytes(s, TH_TENSOR_WEIGHT, k),
                                    th_ceil_div(rows * k, a->vector_elements_per_cycle)};
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] =
            th_shard_bytes(s, TH_TENSOR_OUTPUT, rows * k);
    }
    out->run_bytes[TH_ENGINE_WEIGHT] = th_shard_bytes(s, TH_TENSOR_WEIGHT, k);
    set_accounts(s, 0, out);
    out->accesses.input_reads = (int64_t)s->dim[TH_DIM_B] * h * w;
    out->accesses.weight_reads = out->accesses.output_writes;
}

void th_vector_schedule(const th_accel *a, const th_shard *s, th_schedule *out)
{
    if (copies(s) && a->concat_is_free)
        *out = (th_schedule){.hz = a->vector_hz,
                             .count = {1, 1, 1, 1, 1},
                             .slots_in = SLOTS,
                             .slots_out = SLOTS,
                             .variant = "only renamed"};
    else if (s->kind == TH_LAYER_EMBEDDING)
        embedding_schedule(a, s, out);
    else
        rows_schedule(a, s, out);
}

int64_t th_vector_operations(const th_accel *a, const th_shard *s)
{
    int64_t outputs =
        (int64_t)s->dim[TH_DIM_B] * s->dim[TH_DIM_K] * s->dim[TH_DIM_H] * s->dim[TH_DIM_W];
    cost c = cost_of(a, s);
    if (copies(s) && a->concat_is_free)
        return 0;
    return outputs * (c.per_output + (row_fits(a, s) ? 0 : c.recompute)) +
           outputs / row_elements(s) * c.per_row;
}
