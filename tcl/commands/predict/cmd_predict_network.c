/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_predict_network.c - predict_network: the time of the workload on one GPU, from the times of
 * its layers; calibrate_network: latency, overhead and bandwidth of links from measured
 * collectives. */
#include <config.h>
#include "predictor/model/network_prediction.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "session/gpu_models.h"
#include "tcl/gpu_option.h"
#include "tcl/report_call.h"
#include "tcl/warning.h"
#include "predictor/law/link_law.h"
#include <stdio.h>
#include <string.h>
#include <math.h>

enum {
    NET_GPU = REPORT_N_OPTIONS,
    NET_BATCH,
    NET_PHASE,
    NET_OPTIMIZER,
    NET_ACTIVATION,
    NET_COUNT,
    NET_BANDWIDTH,
    NET_LATENCY,
    NET_PER_LAYER,
    NET_PRECISION
};

enum { COUNT_ONCE, COUNT_CALLS };

TH_CHOICE(optimizer_name, th_op_word(TH_OP_OPTIMIZER, i))
TH_CHOICE(precision_name, th_op_word(TH_OP_PRECISION, i))
TH_CHOICE(activation_name, th_op_word(TH_OP_ACTIVATION, i))

static const th_option options[] = {
    TABLE_OPTIONS,
    [NET_GPU] = {"-gpu", TH_OPTION_TEXT, "NAME", "The GPU.", .required = true},
    [NET_BATCH] = {"-batch", TH_OPTION_INTEGER, "N", "Batch, instead of that of the workload.", 1,
                   1 << 24},
    [NET_PHASE] = {"-phase", TH_OPTION_CHOICE, "PHASE", "inference (the default) or training.",
                   .names = TH_NAMES("inference", "training")},
    [NET_OPTIMIZER] = {"-optimizer", TH_OPTION_CHOICE, "NAME",
                       "Optimizer of training; none (the default): weights are not updated.",
                       .choice = optimizer_name},
    [NET_ACTIVATION] = {"-activation", TH_OPTION_CHOICE, "NAME",
                        "Activation that is part of every conv, fc and matmul (none).",
                        .choice = activation_name},
    [NET_COUNT] = {"-host", TH_OPTION_CHOICE, "HOW",
                   "once (the default): launches but for the first are hidden behind execution; "
                   "calls: the sum of all layers, each called alone, its output returned.",
                   .names = TH_NAMES("once", "calls")},
    [NET_BANDWIDTH] = {"-link_bandwidth", TH_OPTION_BANDWIDTH, "BANDWIDTH",
                       "Bandwidth between host and GPU (as measured for outputs)."},
    [NET_LATENCY] = {"-link_latency", TH_OPTION_TIME, "TIME", "Latency between host and GPU (0)."},
    [NET_PER_LAYER] = {"-per_layer", TH_OPTION_FLAG, NULL,
                       "Prints the time of every layer, and returns nothing."},
    [NET_PRECISION] = {"-precision", TH_OPTION_CHOICE, "PRECISION",
                       "Of every layer: fp32 (the default); at less, kernels alone, what was not "
                       "measured by the data sheet.",
                       .choice = precision_name},
    {.name = NULL},
};

static const th_column phase_columns[] = {
    {"gpu", "GPU", TH_KIND_TEXT},
    {"pre", "launch and input", TH_KIND_TIME},
    {"execution", "execution", TH_KIND_TIME},
    {"backward", "backward", TH_KIND_TIME},
    {"loss", "loss", TH_KIND_TIME},
    {"update", "update", TH_KIND_TIME},
    {"post", "output", TH_KIND_TIME},
    {"total", "total", TH_KIND_TIME},
    {"calls", "sum of single calls", TH_KIND_TIME},
    {NULL, NULL, TH_KIND_TEXT},
};

static const th_column layer_columns[] = {
    {"layer", "layer", TH_KIND_TEXT},
    {"operation", "operation", TH_KIND_TEXT},
    {"times", "times", TH_KIND_COUNT},
    {"launch", "launch", TH_KIND_TIME},
    {"execution", "execution", TH_KIND_TIME},
    {"returned", "output", TH_KIND_TIME},
    {"backward", "backward", TH_KIND_TIME},
    {"update", "update", TH_KIND_TIME},
    {"phases", "phases", TH_KIND_TEXT},
    {"origin", "origin", TH_KIND_TEXT},
    {NULL, NULL, TH_KIND_TEXT},
};

static void add_layer(th_table *t, const th_layer *x, const th_layer_prediction *l)
{
    bool runs = l->op.times > 0;
    th_table_row(t, (th_quantity[]){
                        th_text(x->name),
                        th_text(runs ? th_op_kind_name(l->op.op.kind) : NULL),
                        th_count(l->op.times),
                        th_ps(l->launch),
                        th_ps(l->execution),
                        th_ps(l->returned),
                        th_ps(l->backward),
                        th_ps(l->update),
                        th_text(!runs             ? NULL
                                : l->is_by_rule   ? "by a rule"
                                : l->is_estimated ? "fitted to calls"
                                                  : "measured"),
                        th_text(runs ? th_origin_name(l->origin) : NULL),
                    });
}

/* Of the layers' time: "80.0 % measured device, 20.0 % outside the measured range". */
static void describe_origins(const th_network_prediction *f, char *text, size_t size)
{
    double of[TH_N_ORIGINS] = {0}, all = 0;
    size_t n = 0;
    for (int i = 0; i < f->n_layers; i++) {
        const th_layer_prediction *l = &f->layer[i];
        double time = (double)(l->execution + l->backward + l->update);
        of[l->origin] += time;
        all += time;
    }
    snprintf(text, size, "none");
    for (int o = 0; o < TH_N_ORIGINS; o++)
        if (of[o] > 0 && n < size)
            n += (size_t)snprintf(text + n, size - n, "%s%.1f %% %s", n > 0 ? ", " : "",
                                  100 * of[o] / all, th_origin_name((th_origin)o));
}

static int report(th_call *c, const th_network_prediction *f,
                  const th_network_prediction_options *o)
{
    const th_workload *w = c->session->workload;
    th_report *r = th_report_new("network", "Predicted time of a network");
    if (!r)
        return th_error_no_memory(&c->err);
    th_report_head_line(r, "workload", w->name);
    th_report_head_field(r, "batch", th_count(o->batch > 0 ? o->batch : w->batch));
    char origins[160];
    describe_origins(f, origins, sizeof origins);
    th_report_head_line(r, "time by origin", origins);
    th_table_row(th_report_record(r, "network", "Network", phase_columns),
                 (th_quantity[]){th_text(o->gpu->name), th_ps(f->pre), th_ps(f->execution),
                                 th_ps(f->backward), th_ps(f->loss), th_ps(f->update),
                                 th_ps(f->post), th_ps(f->total), th_ps(f->calls)});
    th_table *t = th_report_table(r, "layers", "Layers", layer_columns);
    th_table_note(t, "times", "times: calls of the operation");
    th_table_note(t, "returned", "output: its way back to the host");
    th_table_note(t, "origin", "origin: what the time of the layer's execution rests on");
    th_table_note(t, "phases", "phases: where the split of the time into phases comes from");
    for (int i = 0; i < f->n_layers; i++)
        add_layer(t, &w->layers[i], &f->layer[i]);
    return th_report_finish(c, r, 0, t);
}

/* Says where half of the batch is predicted to take longer. */
static void warn_of_half(th_call *c, th_network_prediction_options o, th_time total)
{
    th_network_prediction f;
    th_error ignored;
    int32_t batch = o.batch > 0 ? o.batch : c->session->workload->batch;
    o.batch = batch / 2;
    if (o.batch == 0 || th_predict_network(&f, c->session->gpu_models->predictor,
                                           c->session->workload, &o, &ignored) != 0)
        return;
    th_gpu_option_warn_of_fewer(c, o.batch, f.total, batch, total);
    th_network_prediction_clear(&f);
}

static int need_predictor(th_session *s, th_error *err)
{
    return th_gpu_models_predictor(s->gpu_models, err) ? 0 : -1;
}

static int run_predict_network(th_call *c)
{
    th_network_prediction f;
    const th_predictor *p = c->session->gpu_models->predictor;
    const th_network_prediction_options o = {
        .gpu = th_gpu_option_find(c->session, "-gpu", th_call_text(c, NET_GPU, ""), &c->err),
        .batch = (int32_t)th_call_number(c, NET_BATCH, 0),
        .is_training = th_call_number(c, NET_PHASE, 0) != 0,
        .precision = (th_op_precision)th_call_number(c, NET_PRECISION, TH_PRECISION_FP32),
        .optimizer = (th_op_optimizer)th_call_number(c, NET_OPTIMIZER, TH_OPTIMIZER_NONE),
        .activation = (th_op_activation)th_call_number(c, NET_ACTIVATION, TH_ACT_NONE),
        .link_bits_per_s = th_call_number(c, NET_BANDWIDTH, 0),
        .link_latency_ps = th_call_number(c, NET_LATENCY, 0),
    };
    if (!o.gpu || th_predict_network(&f, p, c->session->workload, &o, &c->err) != 0)
        return -1;
    for (int i = 0; o.precision != TH_PRECISION_FP32 && i < f.n_layers; i++)
        if (f.layer[i].op.times > 0 && f.layer[i].is_by_rule)
            th_gpu_option_warn_of_sheet(c, &f.layer[i].op.op, TH_PHASE_EXECUTION);
    if (f.n_outside > 0)
        th_warn(c, "TCL-0352", "outside the measured range: %s (%d of %d layers are outside)",
                f.outside, (int)f.n_outside, (int)f.n_layers);
    warn_of_half(c, o, f.total);
    int failed = 0;
    if (th_call_has(c, NET_PER_LAYER))
        failed = report(c, &f, &o);
    else
        th_call_return_time(c, th_call_number(c, NET_COUNT, COUNT_ONCE) == COUNT_CALLS ? f.calls
                                                                                       : f.total);
    th_network_prediction_clear(&f);
    return failed;
}

static const th_option calibrate_options[] = {
    {"-collective", TH_OPTION_CHOICE, "KIND", "What the log measures, where it does not say so.",
     .names = th_link_collectives},
    {"-system", TH_OPTION_TEXT, "NAME", "Only the rows of a CSV file with this system."},
    {"-link_bandwidth", TH_OPTION_BANDWIDTH, "RATE",
     "Bandwidth of the links of one GPU in one direction inside a node, for its "
     "efficiency."},
    {"-card_bandwidth", TH_OPTION_BANDWIDTH, "RATE",
     "Bandwidth of all network cards of a node in one direction, for their "
     "efficiency."},
    {.name = NULL},
};

const th_command th_predict_network_commands[] = {
    {"predict_network", "predict", "", 0, 0, options, "predict the time of the workload on one GPU",
     "Inference is the launch of the first layer, the copy of the input to the GPU, the execution "
     "of all layers, and the copy of the output back. Training has forward, backward, loss and "
     "update in the place of the copy back. A phase that was not measured follows from phases that "
     "were, or from a rule; -per_layer says which.",
     .run = run_predict_network, .needs = {need_predictor, th_session_need_workload},
     .is_report = true},
    {"calibrate_network", "program", "FILE", 1, 1, calibrate_options,
     "fit latencies and bandwidths to an nccl-tests log",
     "FILE is what a program of nccl-tests or rccl-tests printed, with all its lines of ranks "
     "(tags that srun or mpirun put in front of lines are skipped), or the JSON that it wrote "
     "(-J), or a CSV file with the columns nodes, gpus, collective, bytes and time_us, or a table "
     "of "
     "collectives of aiconfigurator (backend, operation, dtype, gpus, elements, time_ms). Returns "
     "a "
     "dictionary: rows, and how many lines of times were left out (cut off, of 0 bytes, of other "
     "collectives); launch_us, the time of a collective before its first message; the overhead of"
     " a message inside a node and between nodes; the bandwidth of a GPU inside its node, and of "
     "the cards of a node; the mean error that remains, and by size what remains unexplained, "
     "predicted minus measured. A warning tells where messages are too small to tell a bandwidth."
     " Overhead and launch can be told apart only by collectives of several kinds or numbers of "
     "ranks: otherwise the launch "
     "has all of it.",
     .run = th_lib_run},
    {.name = NULL},
};
