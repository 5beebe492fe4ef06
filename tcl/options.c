/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c - see options.h. */
#include <config.h>
#include "tcl/options.h"
#include "tcl/tcl_session.h"
#include <stdio.h>

const char *th_network_name(int i)
{
    return th_network_types[i] ? th_network_types[i]->name : NULL;
}

const char *th_weights_name(int i)
{
    static const char *const names[] = {"equal", "latency", NULL};
    return names[i];
}

const char *th_deadlock_name(int i)
{
    static const char *const names[] = {"refuse", "allow", NULL};
    return names[i];
}

/* ---- the network ---- */

/* The network model that each option belongs to; NULL: every model. */
static const th_network_type *model_of(int option)
{
    switch (option) {
    case TH_NETWORK_MODEL:
        return NULL;
    case TH_NETWORK_WEIGHTS:
        return th_network_find("fluid");
    default:
        return th_network_find("packet");
    }
}

/* Refuses an option that the chosen model ignores. */
static int check_models(th_call *c, int first, const th_network_type *network)
{
    for (int i = 0; i < TH_N_NETWORK_OPTIONS; i++)
        if (th_call_has(c, first + i) && model_of(i) && model_of(i) != network)
            return th_error_set(&c->err, "TCL-0154", "%s: is for -network %s, not for %s",
                                c->command->options[first + i].name, model_of(i)->name,
                                network->name);
    return 0;
}

/* 0 stands for the default. */
static int check_sizes(th_call *c, int first)
{
    static const int sizes[] = {TH_NETWORK_PACKET, TH_NETWORK_BUFFER, TH_NETWORK_CHANNELS,
                                TH_NETWORK_CROSSBAR};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (th_call_has(c, first + sizes[i]) && th_call_number(c, first + sizes[i], 0) == 0)
            return th_error_set(&c->err, "TCL-0264", "%s \"%.40s\": must be more than 0",
                                c->command->options[first + sizes[i]].name,
                                th_call_text(c, first + sizes[i], ""));
    return 0;
}

static void take_options(th_call *c, int first, th_network_options *o)
{
    if (th_call_has(c, first + TH_NETWORK_WEIGHTS))
        o->weigh_by_latency = th_call_number(c, first + TH_NETWORK_WEIGHTS, 0) == 1;
    o->packet_bytes = th_call_number(c, first + TH_NETWORK_PACKET, o->packet_bytes);
    o->buffer_bytes = th_call_number(c, first + TH_NETWORK_BUFFER, o->buffer_bytes);
    o->n_virtual_channels =
        (int32_t)th_call_number(c, first + TH_NETWORK_CHANNELS, o->n_virtual_channels);
    o->credit_delay_ps = th_call_number(c, first + TH_NETWORK_CREDIT, o->credit_delay_ps);
    o->router_delay_ps = th_call_number(c, first + TH_NETWORK_ROUTER, o->router_delay_ps);
    o->terminal_bits_per_s = th_call_number(c, first + TH_NETWORK_TERMINAL, o->terminal_bits_per_s);
    o->n_crossbar_inputs =
        (int32_t)th_call_number(c, first + TH_NETWORK_CROSSBAR, o->n_crossbar_inputs);
    o->allocation_cycle_ps = th_call_number(c, first + TH_NETWORK_CYCLE, o->allocation_cycle_ps);
    if (th_call_has(c, first + TH_NETWORK_DEADLOCK))
        o->may_deadlock = th_call_number(c, first + TH_NETWORK_DEADLOCK, 0) == 1;
}

int th_network_parse(th_call *c, int first, th_run_options *out)
{
    const th_network_type *network = out->network;
    int model = first + TH_NETWORK_MODEL;
    if (th_call_has(c, model))
        network = th_network_types[th_call_number(c, model, 0)];
    if (check_models(c, first, network) != 0 || check_sizes(c, first) != 0)
        return -1;
    out->network = network;
    take_options(c, first, &out->network_options);
    return 0;
}

/* ---- the stream ---- */

/* Stream options are refused for hand-built programs: only a mapping is lowered for a stream. */
static int refuse_stream(th_call *c, int first)
{
    for (int i = 0; i < TH_N_STREAM_OPTIONS; i++)
        if (th_call_has(c, first + i))
            return th_error_set(&c->err, "TCL-0155",
                                "%s: is for mappings, not for the program \"%s\"",
                                c->command->options[first + i].name, c->session->hand_built->name);
    return 0;
}

int th_stream_parse(th_call *c, int first, th_run_options *out)
{
    if (c->session->hand_built)
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
