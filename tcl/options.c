/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c - see options.h. */
#include <config.h>
#include "tcl/options.h"
#include <stdio.h>

const char *th_network_name(int i)
{
    return th_network_types[i] != NULL ? th_network_types[i]->name : NULL;
}

const char *th_weights_name(int i)
{
    static const char *const names[] = {"equal", "latency", NULL};
    return names[i];
}

const char *th_objective_name(int i)
{
    static const char *const names[] = {"latency", "throughput", NULL};
    return names[i];
}

/* ---- the network ---- */

/* The model that each option is for. */
static const th_network_type *model_of(int option)
{
    static const char *const names[TH_N_NETWORK_OPTIONS] = {[TH_NETWORK_WEIGHTS] = "fluid"};
    return names[option] != NULL ? th_network_find(names[option]) : NULL;
}

/* An option that the model in force would not look at is a mistake. */
static int check_models(th_call *c, int first, const th_network_type *network)
{
    for (int i = 0; i < TH_N_NETWORK_OPTIONS; i++)
        if (th_call_has(c, first + i) && model_of(i) != NULL && model_of(i) != network)
            return th_error_set(&c->err, "TCL-0154", "%s: is for -network %s, not for %s",
                                c->command->options[first + i].name, model_of(i)->name,
                                network->name);
    return 0;
}

int th_network_parse(th_call *c, int first, th_run_options *out)
{
    const th_network_type *network = out->network;
    int model = first + TH_NETWORK_MODEL, weights = first + TH_NETWORK_WEIGHTS;
    if (th_call_has(c, model))
        network = th_network_types[th_call_number(c, model, 0)];
    if (check_models(c, first, network) != 0)
        return -1;
    out->network = network;
    if (th_call_has(c, weights))
        out->network_options.weigh_by_latency = th_call_number(c, weights, 0) == 1;
    return 0;
}

char *th_network_describe_options(const th_run_options *o, char *out, size_t size)
{
    bool is_fluid = o->network == th_network_find("fluid");
    snprintf(out, size, "%s",
             is_fluid && o->network_options.weigh_by_latency ? ", weights latency" : "");
    return out;
}

char *th_network_describe(const th_run_options *o, char *out, size_t size)
{
    char options[100];
    snprintf(out, size, "%s%s", o->network->name,
             th_network_describe_options(o, options, sizeof options));
    return out;
}

/* ---- the stream ---- */

/* A made program is what it is; only a mapping is lowered for a stream. */
static int refuse_stream(th_call *c, int first)
{
    for (int i = 0; i < TH_N_STREAM_OPTIONS; i++)
        if (th_call_has(c, first + i))
            return th_error_set(&c->err, "TCL-0155",
                                "%s: is for mappings, not for the program \"%s\"",
                                c->command->options[first + i].name, c->session->made->name);
    return 0;
}

int th_stream_parse(th_call *c, int first, th_run_options *out)
{
    if (c->session->made != NULL)
        return refuse_stream(c, first);
    int64_t parts = th_call_number(c, first + TH_STREAM_MICRO_BATCHES, out->stream.micro_batches);
    if (parts > c->session->workload->batch)
        return th_error_set(&c->err, "TCL-0054",
                            "-micro_batches \"%lld\": must be at most the batch, %d",
                            (long long)parts, (int)c->session->workload->batch);
    out->stream.n_inputs =
        (int32_t)th_call_number(c, first + TH_STREAM_INPUTS, out->stream.n_inputs);
    out->stream.interval_ps =
        th_call_number(c, first + TH_STREAM_INTERVAL, out->stream.interval_ps);
    out->stream.micro_batches = (int32_t)parts;
    return 0;
}
