/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.c - phases of an operation.
 *   predict: measured phases | split of a call
 *
 * A call consists of launch, change of the input's layout, execution, change of the output's
 * layout, and return of the output. If the phases were not measured separately, each term of the
 * call's law belongs to a phase by its class and has its share of the call: calls to the launch,
 * bytes between host and device to the return, all others to execution. A change of layout counts
 * as a pass over the tensor (TH_TERM_PASS); the rest of a TH_TERM_LAYOUT term is execution. The
 * split is as accurate as the law: launch-bound layers determine the cost of a call, memory-bound
 * ones that of a pass. */
#include <config.h>

#include "predictor/model/phases.h"

#include <math.h>
#include <stdio.h>

#include "predictor/model/operator_time.h"

th_op th_phases_as_measured(const th_layer_model *m, const th_op *op)
{
    static const th_op_field flags[] = {TH_OP_BIAS, TH_OP_ACTIVATION};
    th_op x = *op;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (th_op_has(op->kind, flags[i]) && m->field_min[flags[i]] == m->field_max[flags[i]])
            x.x[flags[i]] = m->field_min[flags[i]];
    return x;
}

double th_phases_ms(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    th_op x = th_phases_as_measured(m, op);
    return th_layer_model_predict(m, &x, gpu);
}

/* Weight of a kernel that reads a tensor and writes it back: the mean over the law's passes. */
static double pass_weight(const th_terms *t, const double *weight)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < t->n; i++)
        if (t->class[i] == TH_TERM_PASS) {
            sum += weight[i];
            n++;
        }
    return n > 0 ? sum / n : 0;
}

/* ms of the law by class, and of the changes of layout in the first and second term that have one.
 * A change is a pass over the tensor; the rest of the term is the kernel's. */
typedef struct {
    double part[TH_N_TERM_CLASSES], layout[2], all;
} parts;

static parts parts_of(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    int device = th_layer_model_device(m, gpu->name), n_layouts = 0;
    const double *weight = m->weight + (size_t)device * (size_t)m->n_terms;
    parts p = {.all = 0};
    th_terms t;
    th_law_terms(op, m->phase, gpu, NULL, &t);
    p.all = th_law_parts(&t, weight, p.part);
    double pass = pass_weight(&t, weight);
    for (int i = 0; i < t.n && n_layouts < 2; i++)
        if (t.class[i] == TH_TERM_LAYOUT)
            p.layout[n_layouts++] = t.amount[i] * fmin(weight[i], pass);
    return p;
}

static th_phases split(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    th_op x = th_phases_as_measured(m, op);
    parts p = parts_of(m, &x, gpu);
    double ms = th_layer_model_predict(m, &x, gpu), by = p.all > 0 ? ms / p.all : 0;
    th_phases out = {.launch_ms = p.part[TH_TERM_HOST] * by,
                     .layout_ms = p.layout[0] * by,
                     .relayout_ms = p.layout[1] * by,
                     .return_ms = p.part[TH_TERM_TRANSFER] * by,
                     .is_estimated = true};
    out.execution_ms = ms - th_phases_sum(&out);
    out.send_ms = out.return_ms * th_op_input_bytes(op) / th_op_output_bytes(op);
    return out;
}

double th_phases_sum(const th_phases *x)
{
    return x->launch_ms + x->layout_ms + x->execution_ms + x->relayout_ms + x->return_ms;
}

static bool knows(const th_layer_model *m, const th_gpu *gpu)
{
    return m && th_layer_model_has_seen(m, gpu);
}

const th_layer_model *th_phases_model(const th_predictor *p, th_op_kind kind, const th_gpu *gpu)
{
    const th_layer_model *alone = th_predictor_find(p, kind, TH_PHASE_EXECUTION),
                         *call = th_predictor_find(p, kind, TH_PHASE_CALL);
    if (!alone || (knows(call, gpu) && !knows(alone, gpu)))
        return call;
    return alone;
}

static int fail_no_model(const th_predictor *p, th_op_kind kind, th_error *err)
{
    char known[200] = "";
    int n = 0;
    for (int i = 0; i < p->n_models && n < (int)sizeof known; i++)
        n += snprintf(known + n, sizeof known - (size_t)n, "%s%s %s", i > 0 ? ", " : "",
                      th_layer_model_name(&p->model[i]), th_phase_name(p->model[i].phase));
    return th_error_set(err, "PRED-0133",
                        "%s: the predictor must have a model of its execution or call; it has %s",
                        th_op_kind_name(kind), known);
}

/* Part of an execution that throttling adds, by the law of all devices: the law of one device
 * cannot separate it from operations. */
static double throttled_share(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    const double *weight = m->weight + (size_t)m->n_devices * (size_t)m->n_terms;
    th_op x = th_phases_as_measured(m, op);
    th_terms t;
    double part[TH_N_TERM_CLASSES];
    if (!th_gpu_throttles(gpu))
        return 0;
    th_law_terms(&x, m->phase, gpu, NULL, &t);
    double all = th_law_parts(&t, weight, part);
    return part[TH_TERM_THROTTLED] > 0 ? part[TH_TERM_THROTTLED] / all : 0;
}

/* Reads and writes everything once, at the data sheet's bandwidth. */
static int move_operands(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out,
                         th_error *err)
{
    static const double BYTES_PER_MS_AND_GB_S = 1e6;
    double read, written;
    if (op->kind == TH_OP_CONV || op->kind == TH_OP_DENSE || op->kind == TH_OP_MATMUL)
        return fail_no_model(p, op->kind, err);
    th_op_traffic(op, &read, &written);
    *out = (th_phases){.execution_ms =
                           (read + written) / (gpu->x[TH_GPU_BANDWIDTH] * BYTES_PER_MS_AND_GB_S),
                       .is_by_rule = true,
                       .origin = TH_FROM_SHEET};
    return 0;
}

/* Kernels alone. No longer than those of single precision, which numbers can be widened to on the
 * way, where the peak allows it. */
static int narrow(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out,
                  th_error *err)
{
    const th_operator o = {*op, TH_PHASE_EXECUTION, NULL};
    bool is_as_fast = th_gpu_peak(gpu, (th_op_precision)op->x[TH_OP_PRECISION]) >=
                      th_gpu_peak(gpu, TH_PRECISION_FP32),
         has_both = op->kind < TH_OP_RMS_NORM && op->x[TH_OP_FUNCTION] <= (int)TH_EW_TANH;
    th_op wide = *op;
    th_phases single;
    th_operator_time t;
    if (th_operator_predict(&t, p, &o, gpu, err))
        return -1;
    wide.x[TH_OP_PRECISION] = TH_PRECISION_FP32;
    *out = (th_phases){.execution_ms = t.ms, .is_by_rule = !t.model, .origin = t.origin};
    if (is_as_fast && has_both && th_phases_predict(p, &wide, gpu, &single, NULL) == 0 &&
        single.execution_ms < t.ms)
        *out = (th_phases){
            .execution_ms = fmax(single.execution_ms, th_law_least_ms(op, TH_PHASE_EXECUTION, gpu)),
            .is_by_rule = !t.model,
            .origin = t.origin > single.origin ? t.origin : single.origin};
    out->launch_ms = gpu->extra[TH_GPU_LAUNCH] * 1e-3;
    return 0;
}

int th_phases_predict(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out,
                      th_error *err)
{
    const th_layer_model *m = th_phases_model(p, op->kind, gpu),
                         *call = th_predictor_find(p, op->kind, TH_PHASE_CALL),
                         *pre = th_predictor_find(p, op->kind, TH_PHASE_PRE),
                         *post = th_predictor_find(p, op->kind, TH_PHASE_POST);
    if (th_op_is_narrow(op))
        return narrow(p, op, gpu, out, err);
    if (!m)
        return move_operands(p, op, gpu, out, err);
    *out = (th_phases){.is_estimated = false};
    if (call)
        *out = split(call, op, gpu);
    if (m != call) {
        out->execution_ms = th_phases_ms(m, op, gpu);
        out->throttled_ms = out->execution_ms * throttled_share(m, op, gpu);
        out->layout_ms = out->relayout_ms = 0;
    }
    if (pre) { /* a measured pre-processing contains the input's transfer */
        out->launch_ms = th_phases_ms(pre, op, gpu);
        out->send_ms = out->layout_ms = 0;
    }
    if (post) {
        out->return_ms = th_phases_ms(post, op, gpu);
        out->relayout_ms = 0;
    }
    th_op asked = th_phases_as_measured(m, op);
    out->origin = th_layer_model_origin(m, &asked, gpu);
    out->is_estimated = call && !(pre && post);
    return 0;
}

/* Forward and backward change the layout of tensors and of gradients alike. Nothing returns to the
 * host, so terms that grow with the output are execution. */
int th_phases_step(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out)
{
    const th_layer_model *step = th_predictor_find(p, op->kind, TH_PHASE_STEP),
                         *call = th_predictor_find(p, op->kind, TH_PHASE_CALL);
    if (!step)
        return -1;
    *out = split(step, op, gpu);
    double ms = th_phases_sum(out);
    out->layout_ms = out->relayout_ms = out->return_ms = out->send_ms = 0;
    if (call) {
        th_phases forward = split(call, op, gpu);
        out->layout_ms = 2 * forward.layout_ms;
        out->relayout_ms = 2 * forward.relayout_ms;
    }
    out->execution_ms = 0;
    out->execution_ms = fmax(0, ms - th_phases_sum(out));
    return 0;
}

th_time th_phases_ps(double ms)
{
    static const double PS_PER_MS = 1e9;
    double ps = ms * PS_PER_MS;
    return ps < 0 ? 0 : ps < 0x1p62 ? (th_time)llround(ps) : (th_time)1 << 62;
}
