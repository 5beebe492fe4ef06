/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learned.c - a GPU whose layer times are predicted from measurements.
 *
 * predictor/op/layer_op.c converts a shard into an operation, and the shard takes the predicted
 * execution time of that operation: one step that moves no bytes, because the measured time
 * includes the memory traffic (as in table.c). host() gives the time of the host before and after
 * the layer; the transfers of inputs and outputs are tasks of the program. The GPU runs every layer
 * itself, including layers without multiply-accumulates and the sums of partial results. An
 * attention is its scores, softmax and context, and one fused kernel at less than single precision.
 *   prepare: model file -> GPU by name, or by its numbers -> schedule*, host* -> release
 * Not modelled: slow-down by other users of the DRAM; density; integers; layers that run
 * concurrently. docs/models/gpu_system.md. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/data_file.h"
#include "predictor/law/law_power.h"
#include "predictor/op/layer_op.h"
#include "predictor/model/phases.h"
#include "sim/pipeline/attention.h"
#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum { MODEL, GPU, ACTIVATION, NUMBERS, PEAKS = NUMBERS + TH_N_GPU_NUMBERS };

static const char *const activations[] = {"none", "relu", "tanh", "sigmoid", NULL};

static const th_design_key keys[] = {
    [MODEL] =
        {"model", TH_KEY_FILE, true, 0, 0, 0,
         "of the predictor: a file beside the system file, or the name of one that comes with "
         "Tharsis",
         NULL},
    [GPU] = {"gpu", TH_KEY_TEXT, true, 0, 0, 0,
             "its name; one that no table has is described by the numbers below", NULL},
    [ACTIVATION] = {"activation", TH_KEY_CHOICE, false, 0, 3, 0,
                    "that every conv, fc and matmul has as a part", activations},
    [NUMBERS + TH_GPU_BANDWIDTH] = {"bandwidth", TH_KEY_BANDWIDTH, false, 8e6, 8e16, 0,
                                    "of its memory", NULL},
    [NUMBERS + TH_GPU_SMS] = {"sms", TH_KEY_INTEGER, false, 1, 1e6, 0, "multiprocessors", NULL},
    [NUMBERS + TH_GPU_CORES] = {"cores", TH_KEY_INTEGER, false, 1, 1e6, 0,
                                "single-precision units of each", NULL},
    [NUMBERS +
        TH_GPU_CLOCK] = {"clock", TH_KEY_FREQUENCY, false, 1e6, 1e12, 0, "boost clock", NULL},
    [NUMBERS + TH_GPU_PEAK] = {"peak", TH_KEY_NUMBER, false, 1, 1e9, 0,
                               "single precision, 1e9 operations/s, 2 per multiply-accumulate",
                               NULL},
    [NUMBERS + TH_GPU_L2] = {"l2", TH_KEY_BYTES, false, 1024, 1e12, 0, "its cache", NULL},
    [NUMBERS +
        TH_GPU_MEMORY] = {"memory", TH_KEY_BYTES, false, 1048576, 1e15, 0, "its memory", NULL},
    [PEAKS + TH_GPU_TF32] = {"peak_tf32", TH_KEY_NUMBER, false, 1, 1e9, 0,
                             "likewise, of tensor cores, without sparsity", NULL},
    [PEAKS + TH_GPU_FP16] = {"peak_fp16", TH_KEY_NUMBER, false, 1, 1e9, 0, "likewise", NULL},
    [PEAKS + TH_GPU_BF16] = {"peak_bf16", TH_KEY_NUMBER, false, 1, 1e9, 0, "likewise", NULL},
    [PEAKS + TH_GPU_FP8] = {"peak_fp8", TH_KEY_NUMBER, false, 1, 1e9, 0, "likewise", NULL},
    [PEAKS + TH_GPU_FP4] = {"peak_fp4", TH_KEY_NUMBER, false, 1, 1e9, 0, "likewise", NULL},
    {.name = NULL},
};

/* By th_precision; -1: GPUs have no such numbers. */
static const int precisions[TH_N_PRECISIONS] = {[TH_FP32] = TH_PRECISION_FP32,
                                                [TH_FP16] = TH_PRECISION_FP16,
                                                [TH_BF16] = TH_PRECISION_BF16,
                                                [TH_INT16] = -1,
                                                [TH_INT8] = -1,
                                                [TH_INT4] = -1,
                                                [TH_TF32] = TH_PRECISION_TF32,
                                                [TH_FP8] = TH_PRECISION_FP8,
                                                [TH_FP4] = TH_PRECISION_FP4};

/* What prepare makes of a block. */
typedef struct {
    th_predictor *predictor;
    th_gpu gpu;
} learned;

/* --- life ------------------------------------------------------------------------------------- */

static void release(th_design_config *c)
{
    learned *l = c->data;
    if (!l)
        return;
    th_predictor_free(l->predictor);
    th_free(l);
    c->data = NULL;
}

static th_predictor *read_model(const th_design_block *b, const char *name, th_error *err)
{
    th_strbuf path = TH_STRBUF_INIT;
    const th_data_file file = {name, ".model", b->file, "predictor/models"};
    th_error reason = {"", ""};
    th_predictor *p = NULL;
    int found = th_data_file_find(&file, &path);
    if (found < 0)
        th_error_no_memory(err);
    else if (found > 0)
        th_error_set(err, "SIM-0200",
                     "%s:%d: design \"%s\": model \"%s\": must be beside the system file, along "
                     "$THARSIS_PATH, or a predictor that comes with Tharsis",
                     b->file, b->line, b->name, name);
    else if (!(p = th_predictor_read(path.text, &reason)))
        th_error_set(err, reason.id, "%s:%d: design \"%s\": %s", b->file, b->line, b->name,
                     reason.text);
    th_strbuf_clear(&path);
    return p;
}

/* Looks the name up in the table of GPUs that comes with Tharsis, then in the model. False: in
 * neither; series says what is like it. */
static bool find_gpu(const th_predictor *p, const char *name, th_gpu *out, char series[300])
{
    th_gpus all;
    const th_gpu *found = th_gpus_read_shipped(&all, NULL) == 0 ? th_gpus_find(&all, name) : NULL;
    if (!found)
        found = th_predictor_gpu(p, name);
    if (found)
        *out = *found;
    else
        th_gpus_describe_series(&all, name, series, 300);
    th_gpus_clear(&all);
    return found;
}

/* The value of a key in the unit of the table. */
static double in_table_unit(th_gpu_number i, double value)
{
    static const double BITS_PER_GB = 8e9, MEGA = 1e6, MIB = 0x1p20, GIB = 0x1p30;
    switch (i) {
    case TH_GPU_BANDWIDTH:
        return value / BITS_PER_GB;
    case TH_GPU_CLOCK:
        return value / MEGA;
    case TH_GPU_L2:
        return value / MIB;
    case TH_GPU_MEMORY:
        return value / GIB;
    case TH_GPU_SMS:
    case TH_GPU_CORES:
    case TH_GPU_PEAK:
    case TH_N_GPU_NUMBERS:
        break;
    }
    return value;
}

/* The GPU of that name. Numbers in the block override those of the table. */
static int describe_gpu(const th_design_config *c, const th_design_block *b, learned *l,
                        th_error *err)
{
    const char *name = c->text[GPU];
    char series[300];
    bool is_known = find_gpu(l->predictor, name, &l->gpu, series);
    if (!is_known)
        snprintf(l->gpu.name, sizeof l->gpu.name, "%s", name);
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++) {
        double value = c->value[NUMBERS + i];
        if (value > 0)
            l->gpu.x[i] = in_table_unit((th_gpu_number)i, value);
        else if (!is_known)
            return th_error_set(
                err, "SIM-0201",
                "%s:%d: design \"%s\": gpu \"%s\": must be one that is described, or the block "
                "must "
                "have all of bandwidth, sms, cores, clock, peak, l2, memory: %s is missing%s",
                b->file, b->line, b->name, name, keys[NUMBERS + i].name, series);
    }
    for (int i = 0; i <= TH_GPU_FP4; i++)
        if (c->value[PEAKS + i] > 0)
            l->gpu.extra[i] = c->value[PEAKS + i];
    return 0;
}

/* The energies of the data sheet, where the block has none. Its tasks move no bytes that would be
 * counted. */
static void use_board_power(th_design_config *c, const th_gpu *gpu)
{
    th_board b;
    if (c->energy.is_known || !th_law_board(gpu, &b))
        return;
    c->energy = (th_design_energy){.is_known = true,
                                   .static_w = b.static_w,
                                   .dram_j_per_byte = b.dram_byte_j + b.cache_byte_j,
                                   .source = "board and energies of the GPU's data sheet"};
    for (int p = 0; p < TH_N_PRECISIONS; p++)
        c->energy.mac_j[p] = precisions[p] < 0 ? 0 : 2 * b.operation_j[precisions[p]];
}

static int prepare(th_design_config *c, const th_design_block *block, th_error *err)
{
    learned *l = th_alloc_zero(1, sizeof *l);
    if (!l)
        return th_error_no_memory(err);
    c->data = l;
    l->predictor = read_model(block, c->text[MODEL], err);
    if (l->predictor && describe_gpu(c, block, l, err) == 0) {
        use_board_power(c, &l->gpu);
        return 0;
    }
    release(c);
    return -1;
}

/* --- shards ----------------------------------------------------------------------------------- */

/* Keys and mask of a fused attention: its rows are the last ones that the keys have, or see as many
 * keys as they do in the mean. */
static void set_attention(const th_shard *s, th_layer_part *p)
{
    int64_t rows = s->dim[TH_DIM_H], all = s->dim[TH_DIM_R];
    p->key_heads = (int32_t)th_gcd(s->groups, s->key_groups);
    if (s->scores == rows * (2 * all - rows + 1) / 2 && all >= rows)
        p->causal_rows = (int32_t)rows;
    else
        p->dim[TH_DIM_R] = (int32_t)th_ceil_div(s->scores, rows);
}

static th_layer_part part_of(const th_design_config *c, const th_shard *s,
                             th_op_precision precision)
{
    th_layer_part p = {.kind = (th_layer_kind)s->kind,
                       .function = (th_function)s->function,
                       .groups = s->groups,
                       .in_h = s->in_h,
                       .in_w = s->in_w,
                       .stride_h = s->stride_h,
                       .stride_w = s->stride_w,
                       .dilation_h = s->dilation_h,
                       .dilation_w = s->dilation_w,
                       .up_h = s->up_h,
                       .up_w = s->up_w,
                       .n_operands = s->n_operands,
                       .precision = precision,
                       .has_bias = s->has_bias,
                       .activation = (th_op_activation)c->value[ACTIVATION]};
    memcpy(p.dim, s->dim, sizeof p.dim);
    if (s->kind == TH_LAYER_ATTENTION)
        set_attention(s, &p);
    return p;
}

/* Predicted times of a shard. */
typedef struct {
    th_time execution;
    th_host_times host;
    const char *origin;
} shard_times;

static int predict_one(const th_design_config *c, const th_shard *s, th_op_precision precision,
                       shard_times *out, th_error *err)
{
    const learned *l = c->data;
    th_layer_part part = part_of(c, s, precision);
    th_layer_op op;
    th_phases phases;
    *out = (shard_times){.origin = "another view"};
    if (th_layer_op_of(&part, &op, err))
        return -1;
    if (op.times == 0)
        return 0;
    if (th_phases_predict(l->predictor, &op.op, &l->gpu, &phases, err))
        return -1;
    out->execution = op.times * th_phases_ps(phases.execution_ms);
    out->host = (th_host_times){th_phases_ps(phases.launch_ms) + th_phases_ps(phases.layout_ms),
                                th_phases_ps(phases.relayout_ms)};
    out->origin = th_origin_name(phases.origin);
    return 0;
}

/* One after the other, for the scores that are not hidden. */
static int predict_parts(const th_design_config *c, const th_shard *s, shard_times *out,
                         th_error *err)
{
    th_shard parts[TH_N_ATTENTION_PARTS];
    th_attention_shards(s, parts);
    for (int i = 0; i < TH_N_ATTENTION_PARTS; i++) {
        shard_times part;
        if (predict_one(c, &parts[i], TH_PRECISION_FP32, &part, err))
            return -1;
        if (i == 0)
            *out = (shard_times){.host = part.host, .origin = part.origin};
        out->execution +=
            th_part_of(part.execution, s->scores, (int64_t)s->dim[TH_DIM_H] * s->dim[TH_DIM_R]);
        out->host.after_ps = part.host.after_ps;
    }
    return 0;
}

static int predict(const th_design_config *c, const th_shard *s, shard_times *out, th_error *err)
{
    th_precision wanted = th_shard_is_for_arrays(s) ? th_shard_mac_precision(s)
                                                    : (th_precision)s->precision[TH_TENSOR_INPUT];
    int precision = precisions[wanted];
    if (precision < 0)
        return th_error_set(err, "SIM-0202",
                            "precision %s: times of GPUs are of floating point: must be fp32, "
                            "tf32, fp16, bf16, fp8 or fp4",
                            th_precision_name(wanted));
    return s->kind == TH_LAYER_ATTENTION && precision == TH_PRECISION_FP32
               ? predict_parts(c, s, out, err)
               : predict_one(c, s, (th_op_precision)precision, out, err);
}

static int schedule(const th_design_config *c, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    shard_times times;
    (void)memory;
    if (predict(c, s, &times, err))
        return -1;
    *out = th_measured_schedule(times.execution, times.origin);
    return 0;
}

/* The GPU runs asynchronously to its host, so every launch but the first is hidden. Data layouts
 * are converted once on the way in and once on the way out; the host waits for both. */
static void host(const th_design_config *c, const th_shard *s, th_host_times *out)
{
    shard_times times;
    *out = predict(c, s, &times, NULL) == 0 ? times.host : (th_host_times){0, 0};
}

static double sheet_peak(const th_design_config *c, th_precision p)
{
    static const double GIGA = 1e9;
    const learned *l = c->data;
    th_op_precision wanted = precisions[p] < 0 ? TH_PRECISION_FP16 : (th_op_precision)precisions[p];
    return th_gpu_peak(&l->gpu, th_gpu_nearest_precision(&l->gpu, wanted)) * GIGA;
}

static th_design_device device(const th_design_config *c)
{
    const learned *l = c->data;
    return (th_design_device){.gpu = &l->gpu};
}

const th_design_type th_design_learned = {
    .name = "learned",
    .synopsis = "a GPU whose layer times are predicted from measurements",
    .keys = keys,
    .schedule = schedule,
    .sheet_peak = sheet_peak,
    .device = device,
    .host = host,
    .kinds =
        1u << TH_LAYER_LSTM | 1u << TH_LAYER_GRU | 1u << TH_LAYER_RNN | 1u << TH_LAYER_ATTENTION,
    .runs_all = true,
    .is_measured = true,
    .prepare = prepare,
    .release = release,
};
