/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learned.c - a GPU whose layer times are predicted from measurements.
 *
 * predictor/op/layer_op.c converts a shard into an operation, and the shard takes the predicted
 * execution time of that operation: one step that moves no bytes, because the measured time
 * includes the memory traffic (as in table.c). host() gives the time of the host before and after
 * the layer; the transfers of inputs and outputs are tasks of the program. The GPU runs every layer
 * itself, including layers without multiply-accumulates and the sums of partial results.
 *   prepare: model file -> GPU by name, or by its numbers -> schedule*, host* -> release
 * Not modelled: slow-down by other users of the DRAM; precision and density (the measurements are
 * in single precision); layers that run concurrently. docs/models/gpu_system.md. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/data_file.h"
#include "predictor/law/law_power.h"
#include "predictor/op/layer_op.h"
#include "predictor/model/phases.h"
#include "sim/design/designs.h"
#include "sim/design/tiles.h"

enum { MODEL, GPU, ACTIVATION, NUMBERS };

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
    {.name = NULL},
};

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
    return 0;
}

/* The energies of the data sheet, where the block has none. Its tasks move no bytes that would be
 * counted. */
static void use_board_power(th_design_config *c, const th_gpu *gpu)
{
    static const th_op_precision of[TH_N_PRECISIONS] = {
        [TH_FP32] = TH_PRECISION_FP32, [TH_FP16] = TH_PRECISION_FP16,
        [TH_BF16] = TH_PRECISION_BF16, [TH_INT16] = TH_PRECISION_FP16,
        [TH_INT8] = TH_PRECISION_FP8,  [TH_INT4] = TH_PRECISION_FP4};
    th_board b;
    if (c->energy.is_known || !th_law_board(gpu, &b))
        return;
    c->energy = (th_design_energy){.is_known = true,
                                   .static_w = b.static_w,
                                   .dram_j_per_byte = b.dram_byte_j + b.cache_byte_j,
                                   .source = "board and energies of the GPU's data sheet"};
    for (int p = 0; p < TH_N_PRECISIONS; p++)
        c->energy.mac_j[p] = 2 * b.operation_j[of[p]];
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

static th_layer_part part_of(const th_design_config *c, const th_shard *s)
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
                       .has_bias = s->has_bias,
                       .activation = (th_op_activation)c->value[ACTIVATION]};
    memcpy(p.dim, s->dim, sizeof p.dim);
    return p;
}

/* The operation of the shard and its predicted times; op->times is 0 if there is nothing to run. */
static int predict(const th_design_config *c, const th_shard *s, th_layer_op *op, th_phases *phases,
                   th_error *err)
{
    const learned *l = c->data;
    th_layer_part part = part_of(c, s);
    *phases = (th_phases){.is_estimated = false};
    if (th_layer_op_of(&part, op, err))
        return -1;
    return op->times > 0 ? th_phases_predict(l->predictor, &op->op, &l->gpu, phases, err) : 0;
}

static int schedule(const th_design_config *c, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    th_layer_op op;
    th_phases phases;
    (void)memory;
    if (predict(c, s, &op, &phases, err))
        return -1;
    *out = th_measured_schedule(op.times * th_phases_ps(phases.execution_ms),
                                op.times == 0 ? "another view" : th_origin_name(phases.origin));
    return 0;
}

/* The GPU runs asynchronously to its host, so every launch but the first is hidden. Data layouts
 * are converted once on the way in and once on the way out; the host waits for both. */
static void host(const th_design_config *c, const th_shard *s, th_host_times *out)
{
    th_layer_op op;
    th_phases phases;
    *out = (th_host_times){0, 0};
    if (predict(c, s, &op, &phases, NULL) || op.times == 0)
        return;
    out->before_ps = th_phases_ps(phases.launch_ms) + th_phases_ps(phases.layout_ms);
    out->after_ps = th_phases_ps(phases.relayout_ms);
}

static double sheet_peak(const th_design_config *c)
{
    static const double GIGA = 1e9;
    const learned *l = c->data;
    th_op_precision p = th_gpu_nearest_precision(&l->gpu, TH_PRECISION_FP16);
    return th_gpu_peak(&l->gpu, p) * GIGA;
}

const th_design_type th_design_learned = {
    .name = "learned",
    .synopsis = "a GPU whose layer times are predicted from measurements",
    .keys = keys,
    .schedule = schedule,
    .sheet_peak = sheet_peak,
    .host = host,
    .kinds = 1u << TH_LAYER_LSTM | 1u << TH_LAYER_GRU | 1u << TH_LAYER_RNN,
    .runs_all = true,
    .is_measured = true,
    .prepare = prepare,
    .release = release,
};
