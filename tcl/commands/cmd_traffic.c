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

static const th_option traffic_options[] = {
    [TRAFFIC_PATTERN] = {"-pattern", TH_OPTION_CHOICE, "PATTERN", "Who sends to whom.",
                         .choice = pattern_name, .required = true},
    [TRAFFIC_RATE] = {"-rate", TH_OPTION_BANDWIDTH, "RATE",
                      "Mean rate at which every accelerator sends.", .required = true},
    [TRAFFIC_MESSAGE] = {"-message_bytes", TH_OPTION_BYTES, "SIZE", "Size of every message.", 1,
                         TH_HAND_BUILT_BYTES_MAX, .required = true},
    [TRAFFIC_DURATION] = {"-duration", TH_OPTION_TIME, "TIME",
                          "Length of the time in which messages begin.", .minimum = 1,
                          .required = true},
    [TRAFFIC_START] = {"-start", TH_OPTION_TIME, "TIME", "Start of that time (0)."},
    [TRAFFIC_PROCESS] = {"-process", TH_OPTION_CHOICE, "PROCESS",
                         "Times between messages: bernoulli starts one in each cycle with the same "
                         "probability; poisson draws exponential times.",
                         .names =
                             TH_NAMES([TH_TRAFFIC_BERNOULLI] = "bernoulli", [TH_TRAFFIC_POISSON] =
                                                                                "poisson")},
    [TRAFFIC_CYCLE] = {"-cycle", TH_OPTION_TIME, "TIME", "bernoulli: length of a cycle."},
    [TRAFFIC_HOTSPOT] = {"-hotspot", TH_OPTION_NODE, "ACCEL", .classes = TH_BIT(TH_CLASS_ACCEL),
                         .help =
                             "hotspot: the accelerator that receives more messages (the first)."},
    [TRAFFIC_SHARE] =
        {"-hotspot_share", TH_OPTION_NUMBER, "SHARE", .high = 1, .range = TH_ABOVE,
         .help = "hotspot: the share of messages that go there, above 0, at most 1 (0.1)."},
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
        .hotspot_share = th_call_real(c, TRAFFIC_SHARE, 0.1),
        .seed = (uint64_t)th_call_number(c, TRAFFIC_SEED, 1),
        .is_interrupted = th_interrupt_is_pending,
    };
    th_session *s = c->session;
    if (check_together(c, &o) != 0)
        return -1;
    if (th_call_has(c, TRAFFIC_HOTSPOT))
        o.hotspot = s->system->nodes[c->option[TRAFFIC_HOTSPOT].number].accel;
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
     .run = run_add_traffic, .needs = {th_session_open_hand_built}, .ignores_run = true,
     .not_while_running = true, .after_interrupt = TH_PROGRAM_IS_AS_IT_WAS},
    {.name = NULL},
};
