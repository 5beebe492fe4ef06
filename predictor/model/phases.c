/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.c - phases of an operation.
 *   predict: measured phases | split of a call
 *
 * A call is the launch, the input laid out anew, the execution, the output laid out and returned.
 * Where they were not timed apart, each term of the call's law belongs to one of them by its class,
 * and has its share of the call: calls are the host's, bytes between host and device the way back,
 * all else execution. Of the way of a tensor that a kernel wants in another layout, as much is the
 * change of layout as a pass over a tensor takes. This is a fit, and as good as the law: what the
 * host takes per call is known from the layers that hardly take more, what passes take from those
 * that move most. */
#include <config.h>

#include "predictor/model/phases.h"

#include <math.h>
#include <stdio.h>

th_op th_phases_as_measured(const th_layer_model *m, const th_op *op)
{
    static const th_op_field flags[] = {TH_OP_BIAS, TH_OP_ACTIVATION};
    th_op x = *op;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (th_op_has(op->kind, flags[i]) && m->least[flags[i]] == m->most[flags[i]])
            x.x[flags[i]] = m->least[flags[i]];
    return x;
}

double th_phases_ms(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    th_op x = th_phases_as_measured(m, op);
    return th_layer_model_predict(m, &x, gpu);
}

/* What a kernel that reads a tensor and writes it back costs, in ways through memory at the data
 * sheet's bandwidth: the mean of the law's passes. */
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

/* ms of the law by class, and of the changes of layout in the first and second term that have one:
 * a change reads a tensor and writes it back, and what is beyond that is the kernel's own. */
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
    double pass = pass_weight(&t, weight);
    for (int i = 0; i < t.n; i++) {
        p.part[t.class[i]] += t.amount[i] * weight[i];
        p.all += t.amount[i] * weight[i];
        if (t.class[i] == TH_TERM_LAYOUT && n_layouts < 2)
            p.layout[n_layouts++] = t.amount[i] * fmin(weight[i], pass);
    }
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
                     .is_fit = true};
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
    return m && th_layer_model_knows(m, gpu);
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
                      th_op_kind_name(p->model[i].kind), th_phase_name(p->model[i].phase));
    return th_error_set(err, "PRED-0133",
                        "%s: the predictor must have a model of its execution or call; it has %s",
                        th_op_kind_name(kind), known);
}

/* Which part of an execution a clock adds that falls in long runs: by the law of all devices, since
 * that of one alone does not tell it from operations. */
static double slowed_share(const th_layer_model *m, const th_op *op, const th_gpu *gpu)
{
    const double *weight = m->weight + (size_t)m->n_devices * (size_t)m->n_terms;
    th_op x = th_phases_as_measured(m, op);
    th_terms t;
    double slowed = 0;
    if (!th_law_is_starved(gpu))
        return 0;
    th_law_terms(&x, m->phase, gpu, NULL, &t);
    for (int i = 0; i < t.n; i++)
        if (t.class[i] == TH_TERM_SLOWED)
            slowed += t.amount[i] * weight[i];
    return slowed > 0 ? slowed / th_law_ms(&t, weight) : 0;
}

/* Reads and writes everything once, at the data sheet's bandwidth. */
static int move_operands(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out,
                         th_error *err)
{
    static const double BYTES_PER_MS_AND_GB_S = 1e6;
    double read = th_op_input_bytes(op);
    if (op->kind == TH_OP_CONV || op->kind == TH_OP_DENSE || op->kind == TH_OP_MATMUL)
        return fail_no_model(p, op->kind, err);
    if (op->kind == TH_OP_ELEMENTWISE && op->x[TH_OP_FUNCTION] <= (int)TH_EW_POW)
        read *= 2;
    *out = (th_phases){.execution_ms = (read + th_op_output_bytes(op)) /
                                       (gpu->x[TH_GPU_BANDWIDTH] * BYTES_PER_MS_AND_GB_S),
                       .is_rule = true};
    return 0;
}

int th_phases_predict(const th_predictor *p, const th_op *op, const th_gpu *gpu, th_phases *out,
                      th_error *err)
{
    const th_layer_model *m = th_phases_model(p, op->kind, gpu),
                         *call = th_predictor_find(p, op->kind, TH_PHASE_CALL),
                         *pre = th_predictor_find(p, op->kind, TH_PHASE_PRE),
                         *post = th_predictor_find(p, op->kind, TH_PHASE_POST);
    if (!m)
        return move_operands(p, op, gpu, out, err);
    *out = (th_phases){.is_fit = false};
    if (call)
        *out = split(call, op, gpu);
    if (m != call) {
        out->execution_ms = th_phases_ms(m, op, gpu);
        out->slowed_ms = out->execution_ms * slowed_share(m, op, gpu);
        out->layout_ms = out->relayout_ms = 0;
    }
    if (pre) { /* as measured, the input's way is in it */
        out->launch_ms = th_phases_ms(pre, op, gpu);
        out->send_ms = out->layout_ms = 0;
    }
    if (post) {
        out->return_ms = th_phases_ms(post, op, gpu);
        out->relayout_ms = 0;
    }
    out->is_fit = call && !(pre && post);
    return 0;
}

/* Forward and backward lay tensors and gradients out alike. Nothing returns to the host, so what
 * grows with the output is execution. */
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
