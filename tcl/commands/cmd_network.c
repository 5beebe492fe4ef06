/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_network.c - set_network: options of the network models, which runs and searches take over for
 * the model that -network names. */
#include <config.h>
#include "base/units.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"

enum {
    NET_WEIGHTS,
    NET_PACKET,
    NET_BUFFER,
    NET_CHANNELS,
    NET_CREDIT,
    NET_ROUTER,
    NET_TERMINAL,
    NET_CROSSBAR,
    NET_CYCLE,
    NET_DEADLOCK,
    N_VALUES,
    NET_RESET = N_VALUES
};

static const char *const weights[] = {"equal", "latency", NULL};
static const char *const deadlock[] = {"refuse", "allow", NULL};
enum { PARTS_MAX = 1000000 }; /* channels, inputs */

static const th_option network_options[] = {
    [NET_WEIGHTS] = {"-weights", TH_OPTION_CHOICE, "WEIGHTS",
                     "fluid: flows share a link equally, or in proportion to the latency of their "
                     "routes.",
                     .names = weights},
    [NET_PACKET] = {"-packet_bytes", TH_OPTION_BYTES, "SIZE",
                    "packet: the largest payload of a packet (4096B).", 1},
    [NET_BUFFER] = {"-buffer_bytes", TH_OPTION_BYTES, "SIZE",
                    "packet: buffer of each virtual channel at the end of a link (as much as the "
                    "link needs).",
                    1},
    [NET_CHANNELS] = {"-virtual_channels", TH_OPTION_INTEGER, "N",
                      "packet: channels per link (4, or as many as routes need).", 1, PARTS_MAX},
    [NET_CREDIT] = {"-credit_delay", TH_OPTION_TIME, "TIME",
                    "packet: until a sender learns of free space (0)."},
    [NET_ROUTER] = {"-router_delay", TH_OPTION_TIME, "TIME",
                    "packet: delay added to the latency of every link (0)."},
    [NET_TERMINAL] = {"-terminal_bandwidth", TH_OPTION_BANDWIDTH, "BANDWIDTH",
                      "packet: the rate at which a node can inject, and receive, at most (that of "
                      "its links)."},
    [NET_CROSSBAR] = {"-crossbar_inputs", TH_OPTION_INTEGER, "N",
                      "packet: packets that leave the buffers of a link at once (any).", 1,
                      PARTS_MAX},
    [NET_CYCLE] = {"-allocation_cycle", TH_OPTION_TIME, "TIME",
                   "packet: cycle in which routers allocate channels and crossbar (0: at once, "
                   "without loss)."},
    [NET_DEADLOCK] = {"-deadlock", TH_OPTION_CHOICE, "WHAT",
                      "packet: whether routes that can deadlock are refused or simulated.",
                      .names = deadlock},
    [NET_RESET] = {"-reset", TH_OPTION_FLAG, NULL, "First sets all of them to their defaults."},
    {.name = NULL},
};

static void take_values(const th_call *c, th_network_options *o)
{
    o->weigh_by_latency = th_call_number(c, NET_WEIGHTS, o->weigh_by_latency);
    o->packet_bytes = th_call_number(c, NET_PACKET, o->packet_bytes);
    o->buffer_bytes = th_call_number(c, NET_BUFFER, o->buffer_bytes);
    o->n_virtual_channels = (int32_t)th_call_number(c, NET_CHANNELS, o->n_virtual_channels);
    o->credit_delay_ps = th_call_number(c, NET_CREDIT, o->credit_delay_ps);
    o->router_delay_ps = th_call_number(c, NET_ROUTER, o->router_delay_ps);
    o->terminal_bits_per_s = th_call_number(c, NET_TERMINAL, o->terminal_bits_per_s);
    o->n_crossbar_inputs = (int32_t)th_call_number(c, NET_CROSSBAR, o->n_crossbar_inputs);
    o->allocation_cycle_ps = th_call_number(c, NET_CYCLE, o->allocation_cycle_ps);
    o->may_deadlock = th_call_number(c, NET_DEADLOCK, o->may_deadlock);
}

/* A value as its option takes it. */
static const char *format(const th_option *o, int64_t value, char *out, size_t size)
{
    if (o->names)
        return o->names[value];
    if (value == 0 && o->kind != TH_OPTION_TIME)
        return "default";
    if (o->kind == TH_OPTION_TIME)
        return th_format_time(value, out, size);
    if (o->kind == TH_OPTION_BYTES)
        return th_format_bytes(value, out, size);
    if (o->kind == TH_OPTION_BANDWIDTH)
        return th_format_bandwidth(value, out, size);
    snprintf(out, size, "%lld", (long long)value);
    return out;
}

static int run_set_network(th_call *c)
{
    th_network_options *o = &c->session->network;
    char text[64];
    if (th_call_has(c, NET_RESET))
        *o = (th_network_options){.packet_bytes = 0};
    take_values(c, o);
    th_session_use_network(c->session, &c->session->defaults);
    const int64_t values[N_VALUES] = {
        [NET_WEIGHTS] = o->weigh_by_latency,     [NET_PACKET] = o->packet_bytes,
        [NET_BUFFER] = o->buffer_bytes,          [NET_CHANNELS] = o->n_virtual_channels,
        [NET_CREDIT] = o->credit_delay_ps,       [NET_ROUTER] = o->router_delay_ps,
        [NET_TERMINAL] = o->terminal_bits_per_s, [NET_CROSSBAR] = o->n_crossbar_inputs,
        [NET_CYCLE] = o->allocation_cycle_ps,    [NET_DEADLOCK] = o->may_deadlock};
    Tcl_Obj *now = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < N_VALUES; i++) {
        const char *value = format(&network_options[i], values[i], text, sizeof text);
        Tcl_ListObjAppendElement(NULL, now, Tcl_NewStringObj(network_options[i].name + 1, -1));
        Tcl_ListObjAppendElement(NULL, now, Tcl_NewStringObj(value, -1));
    }
    Tcl_SetObjResult(c->interp, now);
    return 0;
}

const th_command th_network_commands[] = {
    {"set_network", "simulate", "", 0, 0, network_options, "set the options of the network models",
     "The options hold for the runs and searches that follow, each for the model that it belongs "
     "to, until they are set again. A run that is under way keeps its options until restart. "
     "Returns all options and their values.",
     .run = run_set_network, .not_while_running = true, .ignores_run = true},
    {.name = NULL},
};
