/* SPDX-License-Identifier: GPL-3.0-or-later */
/* network_prediction.c - predicted time of a network on a GPU.
 *   make: { part -> op -> phases -> (backward, update) } for each layer -> power ->
 *         transfers of input and outputs -> sums
 *
 * All launches but the first overlap with the execution of earlier layers; a launch-bound network
 * is not modelled. Every time is rounded to the picosecond where it is made, so that sums equal
 * those of a simulated run. */
#include <config.h>

#include "predictor/model/network_prediction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "predictor/op/make_op.h"

typedef struct {
    th_network_prediction *out;
    const th_predictor *predictor;
    const th_workload *workload;
    const th_network_prediction_options *options;
} maker;

/* m: the model of the operation; NULL: none. */
static void note_outside(maker *k, const char *layer, const th_layer_model *m, const th_op *op)
{
    char why[100];
    bool is_first = k->out->n_outside == 0;
    if (!m)
        return;
    th_op asked = th_phases_as_measured(m, op);
    if (!th_layer_model_is_outside(m, &asked, k->options->gpu, why, is_first ? sizeof why : 0))
        return;
    k->out->n_outside++;
    if (is_first)
        th_print(k->out->outside, sizeof k->out->outside, "%.40s: %s, %s: %s", layer,
                 th_layer_model_name(m), th_phase_name(m->phase), why);
}

/* --- backward --------------------------------------------------------------------------------- */

static int sum_of_ops(maker *k, const th_layer_op *ops, int n, th_time *sum, th_time *throttled,
                      th_error *err)
{
    *sum = *throttled = 0;
    for (int i = 0; i < n; i++) {
        th_phases phases;
        if (th_phases_predict(k->predictor, &ops[i].op, k->options->gpu, &phases, err))
            return -1;
        *sum += ops[i].times * th_phases_ps(phases.execution_ms);
        *throttled += ops[i].times * th_phases_ps(phases.throttled_ms);
    }
    return 0;
}

static int measured_backward(maker *k, const th_layer_op *op, th_layer_prediction *l)
{
    const th_gpu *gpu = k->options->gpu;
    const th_layer_model *forward = th_predictor_find(k->predictor, op->op.kind, TH_PHASE_FORWARD),
                         *backward =
                             th_predictor_find(k->predictor, op->op.kind, TH_PHASE_BACKWARD),
                         *update = th_predictor_find(k->predictor, op->op.kind, TH_PHASE_UPDATE);
    th_phases step;
    th_op with = op->op;
    with.x[TH_OP_OPTIMIZER] =
        th_op_has(with.kind, TH_OP_OPTIMIZER) ? (int32_t)k->options->optimizer : 0;
    if (forward && backward) {
        l->execution = op->times * th_phases_ps(th_phases_ms(forward, &op->op, gpu));
        l->backward = op->times * th_phases_ps(th_phases_ms(backward, &op->op, gpu));
        l->update = update ? op->times * th_phases_ps(th_phases_ms(update, &with, gpu)) : 0;
        return 0;
    }
    if (k->options->optimizer == TH_OPTIMIZER_NONE ||
        th_phases_step(k->predictor, &with, gpu, &step))
        return -1;
    th_time whole = op->times * th_phases_ps(step.execution_ms);
    l->backward = whole > l->execution ? whole - l->execution : 0;
    return 0;
}

static int64_t weights_of(const th_layer *l)
{
    return th_layer_has_weights(l) ? th_layer_parameters(l) : 0;
}

/* Gradients of a tensor with several readers are summed. */
static int extra_gradients(const th_workload *w, int layer)
{
    int n = w->consumer_start[layer + 1] - w->consumer_start[layer];
    return n > 1 ? n - 1 : 0;
}

static int rule_backward(maker *k, int layer, const th_layer_part *part, th_layer_prediction *l,
                         th_error *err)
{
    th_layer_op ops[TH_BACKWARD_OPS_MAX + 2];
    int n = l->op.times > 0 ? th_backward_ops(part, &l->op, ops) : 0;
    int extra = extra_gradients(k->workload, layer);
    const th_layer *x = &k->workload->layers[layer];
    if (extra > 0 && th_predictor_find(k->predictor, TH_OP_ELEMENTWISE, TH_PHASE_EXECUTION)) {
        int32_t rows = part->dim[TH_DIM_B] * part->dim[TH_DIM_H] * part->dim[TH_DIM_W];
        ops[n++] = (th_layer_op){
            th_op_pass(TH_EW_ADD, rows, part->dim[TH_DIM_K], TH_PRECISION_FP32), extra};
    }
    if (x->tied_to > 0) /* gradients of weights with several readers are summed, too */
        n += th_update_ops(TH_OPTIMIZER_SGD, th_layer_weights(x), ops + n);
    l->is_by_rule = true;
    if (sum_of_ops(k, ops, n, &l->backward, &l->backward_throttled, err))
        return -1;
    th_time throttled;
    n = th_update_ops(k->options->optimizer, weights_of(x), ops);
    return sum_of_ops(k, ops, n, &l->update, &throttled, err);
}

/* --- layers ----------------------------------------------------------------------------------- */

static th_op_activation as_activation(const th_layer *l)
{
    bool is_one = l->kind == TH_LAYER_ELEMENTWISE && l->n_inputs == 1;
    if (is_one && l->function == TH_FUNCTION_RELU)
        return TH_ACT_RELU;
    if (is_one && l->function == TH_FUNCTION_TANH)
        return TH_ACT_TANH;
    return is_one && l->function == TH_FUNCTION_SIGMOID ? TH_ACT_SIGMOID : TH_ACT_NONE;
}

static bool has_elementwise(const maker *k)
{
    return th_phases_model(k->predictor, TH_OP_ELEMENTWISE, k->options->gpu);
}

static bool may_have_activation(const th_layer *l)
{
    return l->kind == TH_LAYER_CONV || l->kind == TH_LAYER_FC ||
           (l->kind == TH_LAYER_MATMUL && l->n_inputs == 1);
}

/* Where activations were not measured by themselves, one that is the only reader of a conv or fc is
 * fused into it. */
static th_op_activation activation_behind(const maker *k, int layer)
{
    const th_workload *w = k->workload;
    int32_t first = w->consumer_start[layer], n = w->consumer_start[layer + 1] - first;
    if (n != 1 || has_elementwise(k) || !may_have_activation(&w->layers[layer]))
        return k->options->activation;
    th_op_activation a = as_activation(&w->layers[w->consumers[first]]);
    return a != TH_ACT_NONE ? a : k->options->activation;
}

static bool is_in_producer(const maker *k, int layer)
{
    const th_workload *w = k->workload;
    const th_layer *l = &w->layers[layer];
    if (as_activation(l) == TH_ACT_NONE || l->inputs[0] < 0 || has_elementwise(k))
        return false;
    int32_t from = l->inputs[0];
    return may_have_activation(&w->layers[from]) &&
           w->consumer_start[from + 1] - w->consumer_start[from] == 1;
}

static int predict_forward(maker *k, th_layer_prediction *l, th_error *err)
{
    th_phases phases;
    if (th_phases_predict(k->predictor, &l->op.op, k->options->gpu, &phases, err))
        return -1;
    note_outside(k, k->workload->layers[l - k->out->layer].name,
                 th_op_is_narrow(&l->op.op)
                     ? th_predictor_find_op(k->predictor, &l->op.op, TH_PHASE_EXECUTION)
                     : th_phases_model(k->predictor, l->op.op.kind, k->options->gpu),
                 &l->op.op);
    l->is_estimated = phases.is_estimated;
    l->is_by_rule = phases.is_by_rule;
    l->origin = phases.origin;
    l->launch = th_phases_ps(phases.launch_ms);
    l->layout = th_phases_ps(phases.layout_ms);
    l->relayout = th_phases_ps(phases.relayout_ms);
    l->execution = l->op.times * th_phases_ps(phases.execution_ms);
    l->throttled = l->op.times * th_phases_ps(phases.throttled_ms);
    l->returned = th_phases_ps(phases.return_ms);
    k->out->calls += l->op.times * th_phases_ps(th_phases_sum(&phases));
    return 0;
}

/* Of a time for all scores, that for the ones that are not hidden; as in a simulated run. */
static th_time seen(const th_layer *x, th_time whole)
{
    return th_part_of(whole, th_layer_scores(x, 0, x->dim[TH_DIM_H]),
                      (int64_t)x->dim[TH_DIM_H] * x->dim[TH_DIM_R]);
}

/* Adds a part of an attention. */
static void add_times(th_layer_prediction *sum, const th_layer *x, const th_layer_prediction *l)
{
    sum->execution += seen(x, l->execution);
    sum->throttled += seen(x, l->throttled);
    sum->backward += seen(x, l->backward);
    sum->backward_throttled += seen(x, l->backward_throttled);
    sum->is_estimated |= l->is_estimated;
    sum->is_by_rule |= l->is_by_rule;
    sum->origin = l->origin > sum->origin ? l->origin : sum->origin;
    sum->relayout = l->relayout;
    sum->returned = l->returned;
}

static int predict_attention_backward(maker *k, const th_layer_part *part, th_layer_prediction *l,
                                      th_error *err)
{
    th_layer_op ops[TH_BACKWARD_OPS_MAX];
    if (!k->options->is_training || measured_backward(k, &l->op, l) == 0)
        return 0;
    l->is_by_rule = true;
    return sum_of_ops(k, ops, th_backward_ops(part, &l->op, ops), &l->backward,
                      &l->backward_throttled, err);
}

/* As its scores, softmax and context, one after the other; the first is its operation. */
static int predict_attention(maker *k, const th_layer *x, const th_layer_part *whole,
                             th_layer_prediction *l, th_error *err)
{
    th_layer_part parts[TH_ATTENTION_OPS];
    th_layer_prediction sum = {.execution = 0};
    int32_t n_outside = k->out->n_outside;
    th_layer_attention_parts(whole, parts);
    for (int i = 0; i < TH_ATTENTION_OPS; i++) {
        *l = (th_layer_prediction){.execution = 0};
        if (th_layer_op_of(&parts[i], &l->op, err) || predict_forward(k, l, err))
            return -1;
        k->out->calls -= l->execution - seen(x, l->execution);
        if (predict_attention_backward(k, &parts[i], l, err))
            return -1;
        if (i == 0)
            sum = (th_layer_prediction){.op = l->op, .launch = l->launch, .layout = l->layout};
        add_times(&sum, x, l);
    }
    *l = sum;
    if (k->out->n_outside > n_outside) /* the layer counts once */
        k->out->n_outside = n_outside + 1;
    return 0;
}

static int predict_layer(maker *k, int layer, th_error *err)
{
    const th_layer *x = &k->workload->layers[layer];
    th_layer_prediction *l = &k->out->layer[layer];
    th_layer_part part = th_layer_part_of(x, k->options->batch);
    part.is_training = k->options->is_training;
    part.precision = k->options->precision;
    if (may_have_activation(x))
        part.activation = activation_behind(k, layer);
    *l = (th_layer_prediction){.is_in_producer = is_in_producer(k, layer)};
    if (l->is_in_producer)
        return 0;
    bool is_narrow = part.precision != TH_PRECISION_FP32;
    if (x->kind == TH_LAYER_ATTENTION && !is_narrow)
        return predict_attention(k, x, &part, l, err);
    if (th_layer_op_of(&part, &l->op, err) || (l->op.times > 0 && predict_forward(k, l, err)))
        return -1;
    if (!k->options->is_training)
        return 0;
    if (is_narrow)
        return l->op.times > 0 ? th_network_narrow_training(k->predictor, x, k->options, l, err)
                               : 0;
    if (l->op.times > 0 && measured_backward(k, &l->op, l) == 0) {
        l->update = x->tied_to > 0 ? 0 : l->update;
        return 0;
    }
    return rule_backward(k, layer, &part, l, err);
}

/* --- power ------------------------------------------------------------------------------------ */

/* Of a GPU that throttles. A product that was measured alone and repeatedly drew the whole power
 * budget. In a network memory-bound kernels between products draw less (MEMORY_BOUND_POWER, of the
 * budget), the budget limits the mean over many kernels, and the clock rises with the cube root of
 * the power that is left for products (voltage rises with the clock). */
static const double MEMORY_BOUND_POWER = 2 / 3.0;

/* Divides a time by the factor, but subtracts at most what throttling added. */
static void shorten(th_time *time, th_time throttled, double by)
{
    double less = (double)*time * (1 - 1 / by);
    *time -= less < (double)throttled ? (th_time)less : throttled;
}

static void share_power(th_network_prediction *f)
{
    th_time all = 0, slow = 0;
    for (int i = 0; i < f->n_layers; i++) {
        const th_layer_prediction *l = &f->layer[i];
        all += l->execution + l->backward + l->update;
        slow +=
            (l->throttled > 0 ? l->execution : 0) + (l->backward_throttled > 0 ? l->backward : 0);
    }
    if (slow == 0)
        return;
    double share = (double)slow / (double)all,
           by = cbrt((1 - (1 - share) * MEMORY_BOUND_POWER) / share);
    for (int i = 0; i < f->n_layers; i++) {
        shorten(&f->layer[i].execution, f->layer[i].throttled, by);
        shorten(&f->layer[i].backward, f->layer[i].backward_throttled, by);
    }
}

/* --- the network ------------------------------------------------------------------------------ */

static th_time transfer(const th_network_prediction_options *o, int64_t bytes, th_time otherwise)
{
    if (o->link_bits_per_s == 0)
        return otherwise;
    return o->link_latency_ps + th_duration_ps(bytes, o->link_bits_per_s);
}

static int32_t batch_of(const maker *k)
{
    return k->options->batch > 0 ? k->options->batch : k->workload->batch;
}

static int64_t input_bytes(const maker *k)
{
    const th_workload *w = k->workload;
    return th_tensor_bytes((int64_t)batch_of(k) * w->input_c * w->input_h * w->input_w,
                           w->precision);
}

static int64_t output_bytes(const maker *k, int layer)
{
    const th_layer *l = &k->workload->layers[layer];
    const int32_t *d = l->dim;
    return th_tensor_bytes((int64_t)batch_of(k) * d[TH_DIM_K] * d[TH_DIM_H] * d[TH_DIM_W],
                           l->precision[TH_TENSOR_OUTPUT]);
}

/* The first layer that runs; -1: none. */
static int first_layer(const th_network_prediction *f)
{
    for (int i = 0; i < f->n_layers; i++)
        if (f->layer[i].op.times > 0)
            return i;
    return -1;
}

static int set_ends(maker *k, th_error *err)
{
    th_network_prediction *f = k->out;
    const th_workload *w = k->workload;
    int first = first_layer(f);
    th_phases phases = {0};
    if (first >= 0 &&
        th_phases_predict(k->predictor, &f->layer[first].op.op, k->options->gpu, &phases, err))
        return -1;
    f->pre = th_phases_ps(phases.launch_ms) + th_phases_ps(phases.layout_ms) +
             transfer(k->options, input_bytes(k), th_phases_ps(phases.send_ms));
    for (int i = 0; !k->options->is_training && i < w->n_outputs; i++)
        f->post +=
            f->layer[w->outputs[i]].relayout +
            transfer(k->options, output_bytes(k, w->outputs[i]), f->layer[w->outputs[i]].returned);
    return 0;
}

/* Of the last layer, where it was measured. */
static void set_loss(maker *k)
{
    const th_workload *w = k->workload;
    const th_layer_prediction *last = &k->out->layer[w->outputs[w->n_outputs - 1]];
    const th_layer_model *m = last->op.times > 0
                                  ? th_predictor_find(k->predictor, last->op.op.kind, TH_PHASE_LOSS)
                                  : NULL;
    if (m && k->options->precision == TH_PRECISION_FP32)
        k->out->loss = th_phases_ps(th_phases_ms(m, &last->op.op, k->options->gpu));
}

static int sum_up(maker *k, th_error *err)
{
    th_network_prediction *f = k->out;
    share_power(f);
    for (int i = 0; i < f->n_layers; i++) {
        f->execution += f->layer[i].execution;
        f->backward += f->layer[i].backward;
        f->update += f->layer[i].update;
    }
    if (set_ends(k, err))
        return -1;
    if (k->options->is_training)
        set_loss(k);
    f->total = f->pre + f->execution + f->post + f->backward + f->loss + f->update;
    return 0;
}

int th_predict_network(th_network_prediction *out, const th_predictor *p, const th_workload *w,
                       const th_network_prediction_options *o, th_error *err)
{
    th_network_prediction made = {.n_layers = w->n_layers};
    maker k = {&made, p, w, o};
    th_error reason = {"", ""};
    made.layer = th_alloc_zero((size_t)w->n_layers + 1, sizeof *made.layer);
    if (!made.layer)
        return th_error_no_memory(err);
    int i = 0;
    while (i < w->n_layers && predict_layer(&k, i, &reason) == 0)
        i++;
    if (i < w->n_layers)
        th_error_set(err, reason.id, "layer \"%s\": %s", w->layers[i].name, reason.text);
    if (i == w->n_layers && sum_up(&k, err) == 0) {
        *out = made;
        return 0;
    }
    th_free(made.layer);
    return -1;
}

void th_network_prediction_clear(th_network_prediction *f)
{
    th_free(f->layer);
    *f = (th_network_prediction){.n_layers = 0};
}
