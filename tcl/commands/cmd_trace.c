/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_trace.c - open_trace, add_trace, close_trace.
 *   open -> add* -> the run -> close
 * Objects and signals are checked before the first of them is added. */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "session/objects/objects.h"
#include "tcl/objects/breakpoint.h"
#include "tcl/objects/object_name.h"

#define GROUP "trace"

/* ---- open_trace ---- */

enum { TRACE_FORMAT, TRACE_RESOLUTION, TRACE_SINCE, TRACE_UNTIL };

TH_CHOICE(trace_name, th_trace_types[i] ? th_trace_type_name(th_trace_types[i]) : NULL)

static const th_option open_options[] = {
    [TRACE_FORMAT] = {"-format", TH_OPTION_CHOICE, "FORMAT",
                      "What is written: a table, a value change dump for GTKWave, or a timeline "
                      "for ui.perfetto.dev and chrome://tracing. Default, by the extension of "
                      "FILE: .vcd, .json (chrome), .pftrace or .perfetto-trace, csv otherwise.",
                      .choice = trace_name},
    [TRACE_RESOLUTION] =
        {"-resolution", TH_OPTION_TIME, "TIME",
         "Times are multiples of it, rounded down, and of several values within it the last is "
         "written: 1, 10 or 100 of ps, ns, us or ms, or 1s (1ps; perfetto: 1ns)."},
    [TRACE_SINCE] = {"-since", TH_OPTION_TIME, "TIME", "Omits earlier events (0)."},
    [TRACE_UNTIL] = {"-until", TH_OPTION_TIME, "TIME", "Omits later events."},
    {.name = NULL},
};

static const th_trace_type *type_of(const th_call *c)
{
    static const struct {
        const char *ending, *type;
    } endings[] = {{".vcd", "vcd"},
                   {".json", "chrome"},
                   {".pftrace", "perfetto"},
                   {".perfetto-trace", "perfetto"}};
    const char *file = th_call_word(c, 0), *dot = strrchr(file, '.'),
               *name = th_trace_type_name(th_trace_types[0]);
    int i = 0;
    if (th_call_has(c, TRACE_FORMAT))
        return th_trace_types[th_call_number(c, TRACE_FORMAT, 0)];
    for (size_t e = 0; dot && e < sizeof endings / sizeof *endings; e++)
        if (strcmp(dot, endings[e].ending) == 0)
            name = endings[e].type;
    while (strcmp(th_trace_type_name(th_trace_types[i]), name) != 0)
        i++;
    return th_trace_types[i];
}

/* The file is created after all other checks. */
static int run_open_trace(th_call *c)
{
    th_session *s = c->session;
    th_trace_options o = {.resolution_ps = th_call_number(c, TRACE_RESOLUTION, 0),
                          .since_ps = th_call_number(c, TRACE_SINCE, 0),
                          .until_ps = th_call_number(c, TRACE_UNTIL, TH_TIME_MAX)};
    if (th_call_has(c, TRACE_RESOLUTION) &&
        th_trace_check_resolution(o.resolution_ps, &c->err) != 0)
        return -1;
    if (o.until_ps < o.since_ps)
        return th_error_set(&c->err, "TCL-0390", "-until \"%s\": is before -since",
                            th_call_text(c, TRACE_UNTIL, ""));
    if (th_session_need_system(s, &c->err) != 0 ||
        (!s->hand_built && th_session_need_workload(s, &c->err) != 0) ||
        th_session_need_no_trace(s, &c->err) != 0 ||
        th_session_make_folder_of(s, th_call_word(c, 0), &c->err) != 0)
        return -1;
    const char *path = Tcl_FSGetNativePath(c->words[0]);
    if (!path)
        return th_error_set(&c->err, "TCL-0131", "\"%s\": is not a file name", th_call_word(c, 0));
    s->trace = th_trace_open(path, type_of(c), &o, s->system, s->workload, &c->err);
    if (!s->trace)
        return -1;
    if (th_probes_update(s, &c->err) != 0) {
        th_session_close_trace(s, NULL);
        return -1;
    }
    Tcl_SetObjResult(c->interp, c->words[0]);
    return 0;
}

/* ---- add_trace ---- */

enum { ADD_SIGNALS };

static const th_option add_options[] = {
    [ADD_SIGNALS] =
        {"-signals", TH_OPTION_TEXT, "{SIGNAL ...}", .least = 1, .most = TH_MANY,
         .help =
             "Of accelerators: state task layer sending receiving busy queue_depth health, "
             "and inside tasks buffer_fill array load_input load_weight load_partial store; "
             "of links: busy flows queue_depth health; of hosts and switches: task layer sending "
             "receiving busy. Glob patterns select the matching signals of each object (*, "
             "load_*). Default: all signals but those inside tasks, and health where there are "
             "faults.",
         .choice = th_signal_name},
    {.name = NULL},
};

static int need_open_trace(th_session *s, th_error *err)
{
    return s->trace ? 0 : th_error_set(err, "TCL-0132", "no trace is open");
}

/* The signals that a name or a glob pattern means, as bits; 0: none. */
static unsigned signals_like(const char *pattern)
{
    unsigned bits = 0;
    for (int k = 0; k < TH_N_SIGNALS; k++)
        if (Tcl_StringMatch(th_signal_name(k), pattern))
            bits |= 1u << k;
    return bits;
}

static bool is_pattern(const char *text)
{
    return strpbrk(text, "*?[");
}

typedef struct traced {
    th_traced_class class;
    int index;
} traced;

static traced traced_of(th_object o)
{
    th_traced_class class = o.class == TH_CLASS_LINK    ? TH_TRACED_LINK
                            : o.class == TH_CLASS_ACCEL ? TH_TRACED_ACCEL
                                                        : TH_TRACED_NODE;
    return (traced){class, o.index};
}

/* The option -signals. A named signal must exist for every object; of a pattern, each object takes
 * the signals that it has. */
typedef struct asked {
    unsigned named, meant;
} asked;

/* The word of -signals; there: the signals of all objects. */
static int add_signals(th_call *c, const char *word, unsigned there, asked *out)
{
    const char *names[TH_N_SIGNALS + 1];
    unsigned bits = signals_like(word);
    for (int k = 0; k <= TH_N_SIGNALS; k++)
        names[k] = th_signal_name(k);
    if (bits == 0)
        return th_error_unknown(&c->err, "TCL-0392", "signal", word, names);
    if (!is_pattern(word))
        out->named |= bits;
    else if ((bits & there) == 0)
        return th_error_set(&c->err, "TCL-0722",
                            "-signals \"%.40s\": none of the objects has such a signal", word);
    else
        out->meant |= bits;
    return 0;
}

static int parse_signals(th_call *c, const traced *all, int n_traced, asked *out)
{
    const th_value *signals = &c->option[ADD_SIGNALS];
    unsigned there = 0;
    *out = (asked){0, 0};
    for (int i = 0; i < n_traced; i++)
        there |= th_signals_of(all[i].class, true);
    for (int i = 0; i < signals->n; i++)
        if (add_signals(c, Tcl_GetString(signals->words[i]), there, out) != 0)
            return -1;
    return 0;
}

/* The requested signals of an object; 0: a named one is missing, or there are none. */
static unsigned signals_of(th_call *c, const traced *t, const char *text, const asked *a)
{
    unsigned has = th_signals_of(t->class, true), missing = a->named & ~has;
    if (missing == 0 && ((a->named | a->meant) & has) != 0)
        return (a->named | a->meant) & has;
    if (missing == 0)
        missing = a->meant;
    int k = 0;
    while (!(missing >> k & 1u))
        k++;
    th_error_set(&c->err, "TCL-0394", "\"%s\": has no signal %s", text, th_signal_name(k));
    return 0;
}

/* Checks all objects before the first is traced. */
static int add_all(th_call *c, traced *all)
{
    const th_value *objects = &c->word[0];
    int n = objects->n;
    asked a;
    bool is_asked = th_call_has(c, ADD_SIGNALS);
    unsigned health = c->session->events.n > 0 ? 1u << TH_SIGNAL_HEALTH : 0;
    for (int i = 0; i < n; i++)
        all[i] = traced_of(objects->objects[i]);
    if (is_asked && parse_signals(c, all, n, &a) != 0)
        return -1;
    for (int i = 0; is_asked && i < n; i++)
        if (signals_of(c, &all[i], Tcl_GetString(objects->words[i]), &a) == 0)
            return -1;
    for (int i = 0; i < n; i++)
        th_trace_add(c->session->trace, all[i].class, all[i].index,
                     is_asked ? signals_of(c, &all[i], "", &a)
                              : th_signals_of(all[i].class, false) |
                                    (th_signals_of(all[i].class, true) & health));
    return 0;
}

static const th_option trace_words[] = {
    {"OBJECTS", TH_OPTION_OBJECT, "OBJECTS", .most = TH_MANY,
     .classes = TH_BIT(TH_CLASS_ACCEL) | TH_BIT(TH_CLASS_LINK) | TH_BIT(TH_CLASS_NODE)},
    {.name = NULL},
};

static int run_add_trace(th_call *c)
{
    if (th_trace_has_begun(c->session->trace))
        return th_error_set(&c->err, "TCL-0395",
                            "the trace has begun: add_trace before run, or restart first");
    traced *all = th_alloc_array((size_t)c->word[0].n + 1, sizeof *all);
    int failed = all ? add_all(c, all) : th_error_no_memory(&c->err);
    th_free(all);
    return failed ? -1 : th_probes_update(c->session, &c->err);
}

/* ---- close_trace ---- */

static int run_close_trace(th_call *c)
{
    return th_session_close_trace(c->session, &c->err);
}

const th_command th_trace_commands[] = {
    {"open_trace", GROUP, "FILE", 1, 1, open_options,
     "open a trace file: VCD, Chrome, Perfetto or CSV",
     "The trace has the starts and ends of tasks, the transfers from sender to receiver, and the "
     "values of signals. add_trace chooses the objects; without it, all are traced, but not the "
     "inside of tasks. The trace begins now; there is one at a time; restart begins it anew. "
     "System, workload and program can be replaced only after close_trace. A trace changes no "
     "simulated time. Missing folders are created; an existing file is emptied, and grows during "
     "the run. Returns FILE.",
     .run = run_open_trace},
    {"add_trace", GROUP, "OBJECTS", 1, 1, add_options, "choose the objects and signals to trace",
     "OBJECTS are accelerators, links and nodes, or glob patterns of their names. Signals add to "
     "those of earlier add_trace commands. Signals inside tasks show tile by tile what a run "
     "otherwise skips; this slows the simulation down between -since and -until, but changes no "
     "simulated time.",
     .run = run_add_trace, .kinds = trace_words, .needs = {need_open_trace}},
    {"close_trace", GROUP, "", 0, 0, NULL, "finish the trace file",
     "An open trace is closed when the session ends. If not all of it could be written, "
     "close_trace fails, or, at the end of the program, the exit status is 1. With a VCD file "
     "comes NAME.gtkw, which GTKWave opens: it groups the signals, one group per accelerator with "
     "the links that leave it. A NAME.gtkw that GTKWave has saved is kept.",
     .run = run_close_trace, .needs = {need_open_trace}},
    {.name = NULL},
};
