/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_traffic.c - add_traffic: synthetic traffic among all accelerators, as transfers of a
 * hand-built program. */
#include <config.h>
#include "sim/program/traffic.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "report/interrupt.h"
#include "report/objects/objects.h"
#include "tcl/program_options.h"

enum {
    TRAFFIC_PATTERN,
    TRAFFIC_RATE,
    TRAFFIC_MESSAGE,
    TRAFFIC_DURATION,
    TRAFFIC_START,
    TRAFFIC_PROCESS,
    TRAFFIC_CYCLE,
    TRAFFIC_HOTSPOT,
    TRAFFIC_SHARE,
    TRAFFIC_DELAY,
    TRAFFIC_SEED
};

static const char *pattern_name(int i)
{
    return th_traffic_patterns[i] ? th_traffic_patterns[i]->name : NULL;
}

static const char *process_name(int i)
{
    static const char *const names[] = {
        [TH_TRAFFIC_BERNOULLI] = "bernoulli", [TH_TRAFFIC_POISSON] = "poisson", NULL};
    return names[i];
}

static const th_option traffic_options[] = {
    [TRAFFIC_PATTERN] = {"-pattern", TH_OPTION_CHOICE, "PATTERN", "Who sends to whom.",
                         .choice = pattern_name, .required = true},
    [TRAFFIC_RATE] = {"-rate", TH_OPTION_BANDWIDTH, "RATE",
                      "Mean rate at which every accelerator sends.", .required = true},
    [TRAFFIC_MESSAGE] = {"-message_bytes", TH_OPTION_BYTES, "SIZE", "Size of every message.",
                         .required = true},
    [TRAFFIC_DURATION] = {"-duration", TH_OPTION_TIME, "TIME",
                          "Length of the time in which messages begin.", .required = true},
    [TRAFFIC_START] = {"-start", TH_OPTION_TIME, "TIME", "Start of that time (0)."},
    [TRAFFIC_PROCESS] = {"-process", TH_OPTION_CHOICE, "PROCESS",
                         "Times between messages: bernoulli starts one in each cycle with the same "
                         "probability; poisson draws exponential times.",
                         .choice = process_name},
    [TRAFFIC_CYCLE] = {"-cycle", TH_OPTION_TIME, "TIME", "bernoulli: length of a cycle."},
    [TRAFFIC_HOTSPOT] = {"-hotspot", TH_OPTION_TEXT, "ACCEL",
                         "hotspot: the accelerator that receives more messages (the first)."},
    [TRAFFIC_SHARE] = {"-hotspot_share", TH_OPTION_TEXT, "SHARE",
                       "hotspot: the share of messages that go there, above 0, at most 1 (0.1)."},
    [TRAFFIC_DELAY] = {"-delay", TH_OPTION_TIME, "TIME",
                       "Overhead of every message, before its first byte goes (0)."},
    [TRAFFIC_SEED] = {"-seed", TH_OPTION_INTEGER, "N", "Seed of the random numbers (1).", 0,
                      INT64_MAX},
    {.name = NULL},
};

/* Refuses options that the chosen pattern ignores, and missing ones. */
static int check_together(th_call *c, const th_traffic_options *o)
{
    bool is_hotspot = o->pattern == th_traffic_find_pattern("hotspot");
    if (!is_hotspot && (th_call_has(c, TRAFFIC_HOTSPOT) || th_call_has(c, TRAFFIC_SHARE)))
        return th_error_set(&c->err, "TCL-0176",
                            "-hotspot and -hotspot_share: are for -pattern hotspot, not for %s",
                            o->pattern->name);
    if ((o->process == TH_TRAFFIC_BERNOULLI) != th_call_has(c, TRAFFIC_CYCLE))
        return th_error_set(&c->err, "TCL-0177", "-cycle TIME: belongs to -process bernoulli");
    if (o->message_bytes == 0)
        return th_error_set(&c->err, "TCL-0182", "-message_bytes: must be greater than zero");
    if (o->duration_ps == 0)
        return th_error_set(&c->err, "TCL-0183", "-duration: must be greater than zero");
    return th_size_check(c, "-message_bytes", o->message_bytes);
}

static int parse_hotspot(th_call *c, th_traffic_options *o)
{
    if (th_call_has(c, TRAFFIC_SHARE) &&
        Tcl_GetDoubleFromObj(NULL, c->option[TRAFFIC_SHARE].word, &o->hotspot_share) != TCL_OK)
        return th_error_set(&c->err, "TCL-0178", "-hotspot_share \"%.60s\": must be a number",
                            th_call_text(c, TRAFFIC_SHARE, ""));
    if (!th_call_has(c, TRAFFIC_HOTSPOT))
        return 0;
    const char *text = th_call_text(c, TRAFFIC_HOTSPOT, "");
    int node = th_node_parse(c->session, text, &c->err);
    if (node < 0)
        return th_call_prefix_error(c, "-hotspot", &c->err);
    o->hotspot = c->session->system->nodes[node].accel;
    if (o->hotspot < 0)
        return th_error_set(&c->err, "TCL-0179", "-hotspot \"%s\": must be an accelerator", text);
    return 0;
}

static int run_add_traffic(th_call *c)
{
    enum { BITS_PER_BYTE = 8 };
    th_traffic_options o = {
        .pattern = th_traffic_patterns[th_call_number(c, TRAFFIC_PATTERN, 0)],
        .process = (th_traffic_process)th_call_number(c, TRAFFIC_PROCESS, TH_TRAFFIC_POISSON),
        .bytes_per_s = (double)th_call_number(c, TRAFFIC_RATE, 0) / BITS_PER_BYTE,
        .message_bytes = th_call_number(c, TRAFFIC_MESSAGE, 0),
        .cycle_ps = th_call_number(c, TRAFFIC_CYCLE, 0),
        .start_ps = th_call_number(c, TRAFFIC_START, 0),
        .duration_ps = th_call_number(c, TRAFFIC_DURATION, 0),
        .delay_ps = th_call_number(c, TRAFFIC_DELAY, 0),
        .hotspot_share = 0.1,
        .seed = (uint64_t)th_call_number(c, TRAFFIC_SEED, 1),
        .is_interrupted = th_interrupt_is_pending,
    };
    th_session *s = c->session;
    if (th_session_open_hand_built(s, &c->err) != 0 || check_together(c, &o) != 0 ||
        parse_hotspot(c, &o) != 0)
        return -1;
    int64_t n = th_traffic_add(s->hand_built->program, s->system, &o, &c->err);
    if (n < 0)
        return -1;
    Tcl_SetObjResult(c->interp, Tcl_NewWideIntObj(n));
    return 0;
}

const th_command th_traffic_commands[] = {
    {"add_traffic", "program", "", 0, 0, traffic_options,
     "add synthetic traffic among all accelerators",
     "Every message is a transfer of its own. The same options and seed give the same messages. "
     "Returns their number; report_latency prints their latencies. Refused once the program has "
     "begun to run, until restart.",
     .run = run_add_traffic, .ignores_run = true, .not_while_running = true,
     .after_interrupt = TH_PROGRAM_IS_AS_IT_WAS},
    {.name = NULL},
};
