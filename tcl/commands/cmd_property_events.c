/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_property_events.c - set_property, inject_fault: change a property of an object during a
 * run. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/random.h"
#include "tcl/command.h"
#include "tcl/reliability/failure_option.h"
#include "tcl/reliability/fault_times.h"
#include "tcl/reliability/system_mtbf.h"
#include "tcl/tcl_session.h"
#include "tcl/warning.h"
#include "session/property_events.h"
#include "session/objects/objects.h"

#define OBJECTS  "objects"
#define SIMULATE "simulate"

/* ---- values: a factor, or an absolute value ---- */

/* 0: the design has no clock of its own. */
static int64_t clock_of_design(const th_design_block *d)
{
    int64_t hz = 0;
    for (int p = 0; p < d->n_params; p++)
        if (strcmp(d->params[p].key, "clock") == 0 && d->params[p].kind == TH_PARAM_TEXT &&
            th_parse_frequency(d->params[p].text, &hz, NULL) == 0)
            return hz;
    return 0;
}

/* Does the accelerator use this design under the mapping; without a mapping, can it? */
static bool may_have_design(const th_session *s, int accel, int design)
{
    const th_accel *a = &s->system->nodes[s->system->accel_node[accel]].a;
    th_place place = th_mapping_find(s->mapping, accel);
    if (place.set >= 0)
        return th_set_design(&s->mapping->sets[place.set], place.at, s->system) == design;
    for (int d = 0; d < a->n_designs; d++)
        if (a->designs[d] == design)
            return true;
    return false;
}

/* The clock of its array in the system; 0: its designs have none, or several. */
static int64_t clock_of_accel(const th_session *s, int accel)
{
    int64_t clock = -1;
    for (int d = 0; d < s->system->n_designs; d++) {
        if (!may_have_design(s, accel, d))
            continue;
        int64_t hz = clock_of_design(&s->system->designs[d]);
        if (clock >= 0 && hz != clock)
            return 0;
        clock = hz;
    }
    return clock > 0 ? clock : 0;
}

/* "x0.5" or "50Gbps" of a link. 0 or -1. */
static int parse_bandwidth(th_call *c, int link, const char *text, double *factor)
{
    int64_t bits;
    const th_system *s = c->session->system;
    if (th_parse_factor(text, factor, NULL) == 0 && *factor > 0)
        return 0;
    if (th_parse_bandwidth(text, &bits, NULL) != 0)
        return th_error_set(&c->err, "TCL-0406",
                            "bandwidth \"%.40s\": must be a factor above 0 of what the system says "
                            "as x0.5, or a bandwidth as 8Gbps",
                            text);
    *factor = (double)bits / (double)s->media[s->links[link].medium].bits_per_s;
    return 0;
}

/* "x0.5" or "100MHz" of an accelerator. 0 or -1. */
static int parse_clock(th_call *c, int accel, const char *text, double *factor)
{
    int64_t hz;
    const th_system *s = c->session->system;
    if (th_parse_factor(text, factor, NULL) != 0) {
        if (th_parse_frequency(text, &hz, NULL) != 0)
            return th_error_set(&c->err, "TCL-0407",
                                "clock \"%.40s\": must be a factor of what the system says as "
                                "x0.5, or a clock as 200MHz",
                                text);
        int64_t clock = clock_of_accel(c->session, accel);
        if (clock == 0)
            return th_error_set(&c->err, "TCL-0420",
                                "clock \"%.40s\": the designs of accel/%s have different clocks, "
                                "or none: must be a factor as x0.5",
                                text, s->nodes[s->accel_node[accel]].name);
        *factor = (double)hz / (double)clock;
    }
    if (*factor > 0 && *factor <= TH_FACTOR_MAX)
        return 0;
    return th_error_set(&c->err, "TCL-0421",
                        "clock \"%.40s\": must be above 0, at most x%d of what the system says",
                        text, (int)TH_FACTOR_MAX);
}

/* A link or an accelerator. */
static void take_changed(th_object o, th_property_event *out)
{
    out->kind = o.class == TH_CLASS_ACCEL ? TH_PROPERTY_FREQUENCY : TH_PROPERTY_BANDWIDTH;
    out->object = o.index;
}

static void warn_of_end(th_call *c)
{
    const th_simulation *sim = c->session->simulation;
    if (sim && th_machine_is_done(sim->machine))
        th_warn(c, "TCL-3146", "a run that has ended does not change any more: restart first");
}

/* ---- set_property ---- */

static const th_option property_words[] = {
    {"OBJECTS", TH_OPTION_OBJECT, "LINKS or ACCELERATORS", .least = 1, .most = TH_MANY,
     .classes = TH_BIT(TH_CLASS_LINK) | TH_BIT(TH_CLASS_ACCEL)},
    {.name = NULL},
};

static int parse_change(th_call *c, th_object o, th_property_event *out)
{
    const char *name = th_call_word(c, 1), *value = th_call_word(c, 2);
    *out = (th_property_event){.at = 0};
    take_changed(o, out);
    bool is_link = out->kind == TH_PROPERTY_BANDWIDTH;
    if (strcmp(name, is_link ? "bandwidth" : "clock") != 0)
        return th_error_set(&c->err, "TCL-0409", "\"%s\": of %s only %s can be set", name,
                            is_link ? "links" : "accelerators", is_link ? "bandwidth" : "clock");
    return is_link ? parse_bandwidth(c, out->object, value, &out->factor)
                   : parse_clock(c, out->object, value, &out->factor);
}

static int run_set_property(th_call *c)
{
    const th_value *objects = &c->word[0];
    th_property_event *changes = th_alloc_array((size_t)objects->n, sizeof *changes);
    int failed = changes ? 0 : th_error_no_memory(&c->err);
    for (int i = 0; i < objects->n && !failed; i++)
        failed = parse_change(c, objects->objects[i], &changes[i]);
    if (!failed)
        failed = th_property_events_add(c->session, changes, (size_t)objects->n, false, &c->err);
    th_free(changes);
    if (!failed)
        warn_of_end(c);
    return failed;
}

/* ---- inject_fault ---- */

/* Of the index of draws, beside th_property_kind: of hosts and switches. */
enum { NODE_DRAWS = 16 };

static const th_option fault_words[] = {
    {"OBJECTS", TH_OPTION_OBJECT, "LINKS, ACCELERATORS or NODES", .least = 1, .most = TH_MANY,
     .classes = TH_BIT(TH_CLASS_LINK) | TH_BIT(TH_CLASS_ACCEL) | TH_BIT(TH_CLASS_NODE)},
    {.name = NULL},
};

enum {
    FAULT_AT,
    FAULT_FOR,
    FAULT_UNTIL,
    FAULT_BANDWIDTH,
    FAULT_CLOCK,
    FAULT_JITTER,
    FAULT_PERIOD,
    FAULT_DUTY,
    FAULT_MTBF,
    FAULT_SHAPE,
    FAULT_TIMES,
    FAULT_PICK,
    FAULT_SEED,
    FAULT_REROUTE
};

static const th_option fault_options[] = {
    [FAULT_AT] = {"-at", TH_OPTION_TIME, "TIME", "Time of the fault (now)."},
    [FAULT_FOR] = {"-for", TH_OPTION_TIME, "TIME", "Length of the fault (for good).", .minimum = 1},
    [FAULT_UNTIL] = {"-until", TH_OPTION_TIME, "TIME",
                     "Instead of -for: the end of the fault. With -period, -mtbf and -times: no "
                     "fault begins from then on."},
    [FAULT_BANDWIDTH] = {"-bandwidth", TH_OPTION_TEXT, "VALUE",
                         "A link carries only this, a factor as x0.5 or a bandwidth as 8Gbps; "
                         "without it, nothing."},
    [FAULT_CLOCK] = {"-clock", TH_OPTION_TEXT, "VALUE",
                     "An accelerator runs at this clock, a factor as x0.5 or a clock as 100MHz; "
                     "without it, it is dead."},
    [FAULT_JITTER] =
        {"-jitter", TH_OPTION_PERCENT, "SHARE", .high = 10, .range = TH_ABOVE, .without = "-clock",
         .help = "The tasks of an accelerator take longer, each by a random share of its time, "
                 "in the mean this one, as 2%."},
    [FAULT_PERIOD] = {"-period", TH_OPTION_TIME, "TIME",
                      "It flaps from -at to -until: each period begins with a fault.", .minimum = 2,
                      .with = "-until", .without = "-mtbf -times -for"},
    [FAULT_DUTY] = {"-duty", TH_OPTION_NUMBER, "X", "The part of a period that is faulty (0.5).",
                    .high = 1, .range = TH_BETWEEN, .with = "-period"},
    [FAULT_MTBF] =
        {"-mtbf", TH_OPTION_DURATION, "TIME", .range = TH_ABOVE, .names = TH_NAMES("system"),
         .without = "-times",
         .help = "Random faults of the length -for: from -at, and from each repair, it takes "
                 "this time in the mean until the object fails; system: the mtbf that the "
                 "system file states for it, where both directions of a cable fail together. "
                 "Without -for, one fault for good."},
    [FAULT_SHAPE] = {"-shape", TH_OPTION_NUMBER, "K", .low = 0.05, .high = 20, .range = TH_BETWEEN,
                     .with = "-mtbf", .help = "Of a Weibull law of these times (1: exponential)."},
    [FAULT_TIMES] = {"-times", TH_OPTION_TEXT, "FILE",
                     "Faults of the length -for at the times of a file, one in a line."},
    [FAULT_PICK] = {"-pick", TH_OPTION_INTEGER, "N", "Only N of the objects, at random.", 1,
                    INT32_MAX},
    [FAULT_SEED] = {"-seed", TH_OPTION_INTEGER, "N", "Of -mtbf, -pick and -jitter (1).", 0,
                    INT64_MAX, .with = "-mtbf -pick -jitter"},
    [FAULT_REROUTE] = {"-reroute_after", TH_OPTION_TIME, "TIME",
                       "From then on in a fault, routes go round the link, also of transfers in "
                       "flight, where there is another route (never)."},
    {.name = NULL},
};

/* Jitter of an accelerator. 0 or -1. */
static int parse_jitter(th_call *c, th_property_event *change)
{
    if (change->kind == TH_PROPERTY_BANDWIDTH)
        return th_error_set(&c->err, "TCL-1160", "-jitter: is not for links");
    change->kind = TH_PROPERTY_JITTER;
    change->factor = c->option[FAULT_JITTER].real;
    change->seed = (uint64_t)th_call_number(c, FAULT_SEED, 1);
    return 0;
}

static int parse_severity(th_call *c, th_property_event *change)
{
    bool is_link = change->kind == TH_PROPERTY_BANDWIDTH,
         is_down = !th_call_has(c, FAULT_BANDWIDTH) && !th_call_has(c, FAULT_JITTER);
    if (th_call_has(c, FAULT_REROUTE) && (!is_link || !is_down))
        return th_error_set(&c->err, "TCL-1132", "-reroute_after: is for links that are down");
    if (th_call_has(c, FAULT_JITTER))
        return parse_jitter(c, change);
    int own = is_link ? FAULT_BANDWIDTH : FAULT_CLOCK,
        other = is_link ? FAULT_CLOCK : FAULT_BANDWIDTH;
    if (th_call_has(c, other))
        return th_error_set(&c->err, "TCL-0410", "%s: is not for %s",
                            c->command->options[other].name, is_link ? "links" : "accelerators");
    change->factor = 0;
    if (th_call_has(c, own) &&
        (is_link ? parse_bandwidth(c, change->object, th_call_text(c, own, ""), &change->factor)
                 : parse_clock(c, change->object, th_call_text(c, own, ""), &change->factor)) != 0)
        return -1;
    return 0;
}

/* Which options go together. 0 or -1. */
static int check_pattern(th_call *c)
{
    bool has_mtbf = th_call_has(c, FAULT_MTBF), has_times = th_call_has(c, FAULT_TIMES),
         has_for = th_call_has(c, FAULT_FOR), has_until = th_call_has(c, FAULT_UNTIL);
    if (has_for && has_until && !has_mtbf && !has_times)
        return th_error_set(&c->err, "TCL-1124", "-for and -until exclude each other here");
    if (has_mtbf && has_for && !has_until)
        return th_error_set(&c->err, "TCL-1125", "-mtbf with -for: must have an end: -until TIME");
    return 0;
}

/* out->times_s is the caller's (th_free), on failure too. 0 or -1. */
static int parse_pattern(th_call *c, th_time now, th_fault_pattern *out, double **times)
{
    *out = (th_fault_pattern){.from = th_call_number(c, FAULT_AT, now),
                              .until = th_call_number(c, FAULT_UNTIL, TH_TIME_MAX),
                              .length = th_call_number(c, FAULT_FOR, TH_TIME_MAX),
                              .period = th_call_number(c, FAULT_PERIOD, 0),
                              .duty = th_call_real(c, FAULT_DUTY, 0.5),
                              .shape = th_call_real(c, FAULT_SHAPE, 1),
                              .mtbf_s = th_call_real(c, FAULT_MTBF, 0),
                              .seed = (uint64_t)th_call_number(c, FAULT_SEED, 1)};
    if (check_pattern(c) != 0)
        return -1;
    if (out->from < now)
        return th_error_set(&c->err, "TCL-0411", "-at \"%s\": the run is already past this time",
                            th_call_text(c, FAULT_AT, ""));
    if (out->until <= out->from)
        return th_error_set(&c->err, "TCL-1129", "-until \"%s\": must be after the fault begins",
                            th_call_text(c, FAULT_UNTIL, ""));
    if (th_call_has(c, FAULT_UNTIL) && !th_call_has(c, FAULT_MTBF) && !th_call_has(c, FAULT_TIMES))
        out->length = out->until - out->from;
    if (!th_call_has(c, FAULT_TIMES))
        return 0;
    if (th_call_failure_times(c, c->option[FAULT_TIMES].word, times, &out->n_times, &c->err) != 0)
        return -1;
    out->times_s = *times;
    return 0;
}

/* Leaves -pick of the n objects, in their order; the number. 0: an error. */
static int pick_objects(th_call *c, th_object *objects, int n)
{
    int left = (int)th_call_number(c, FAULT_PICK, n), kept = 0;
    if (left > n) {
        th_error_set(&c->err, "TCL-1130", "-pick %d: there are %d objects", left, n);
        return 0;
    }
    gsl_rng *random = th_random_stream((uint64_t)th_call_number(c, FAULT_SEED, 1), "pick", 0);
    if (!random)
        th_error_no_memory(&c->err);
    for (int i = 0; random && i < n; i++) /* each with the chance left / (those to come) */
        if ((int)th_random_below(random, (uint64_t)(n - i)) < left - kept)
            objects[kept++] = objects[i];
    if (random)
        gsl_rng_free(random);
    return kept;
}

/* The mean of the system file and the number of its draws, where -mtbf is `system`. o: NULL
 * otherwise. 0 or -1. */
static int set_mtbf(th_call *c, th_object o, const int32_t *cable, th_fault_pattern *p)
{
    const double s_per_us = 1e-6;
    if (!c->option[FAULT_MTBF].is_name)
        return 0;
    p->mtbf_s = (double)th_system_mtbf_us(c->session->system, o) * s_per_us;
    if (o.class == TH_CLASS_LINK)
        p->index = (uint64_t)cable[o.index];
    if (p->mtbf_s > 0)
        return 0;
    return th_error_set(&c->err, "TCL-1171",
                        "-mtbf system: the system states no mtbf of %s/%s: must be -mtbf TIME",
                        th_class_name(o.class), th_object_short_name(c->session, o));
}

/* The faults of one link or accelerator; index: of their draws. */
static int add_faults(th_call *c, th_property_event fault, th_fault_pattern *p,
                      th_fault_events *out)
{
    if (parse_severity(c, &fault) != 0)
        return -1;
    double back = th_property_events_without_faults(c->session, &fault);
    size_t first = out->n;
    if (th_fault_events_add(out, p, &fault, back, &c->err) != 0)
        return -1;
    return th_call_has(c, FAULT_REROUTE)
               ? th_fault_events_reroute(out, first, th_call_number(c, FAULT_REROUTE, 0), &c->err)
               : 0;
}

/* A host or switch that fails takes its links with it, those of both directions. */
static int add_links_of(th_call *c, int node, th_fault_pattern *p, th_fault_events *out)
{
    const th_system *s = c->session->system;
    int failed = 0;
    for (int l = 0; l < s->n_links && !failed; l++)
        if (s->links[l].from == node || s->links[l].to == node)
            failed = add_faults(c, (th_property_event){.kind = TH_PROPERTY_BANDWIDTH, .object = l},
                                p, out);
    return failed;
}

static int add_object(th_call *c, th_object o, const int32_t *cable, th_fault_pattern *p,
                      th_fault_events *out)
{
    th_property_event fault = {.at = 0};
    bool is_node = o.class == TH_CLASS_NODE;
    take_changed(o, &fault);
    p->index = (uint64_t)(is_node ? NODE_DRAWS : fault.kind) << 32 |
               (uint32_t)(is_node ? o.index : fault.object);
    if (set_mtbf(c, o, cable, p) != 0)
        return -1;
    return is_node ? add_links_of(c, o.index, p, out) : add_faults(c, fault, p, out);
}

/* By link: the first link of its cable. NULL: memory is out. */
static int32_t *cables_of(const th_system *s)
{
    int32_t *cable = th_alloc_array((size_t)s->n_links + 1, sizeof *cable);
    for (int l = 0, n; cable && l < s->n_links; l += n) {
        n = th_system_cable_links(s, l);
        for (int i = 0; i < n; i++)
            cable[l + i] = l;
    }
    return cable;
}

/* The events of all objects. 0 or -1. */
static int add_objects(th_call *c, th_fault_pattern *p, th_fault_events *out)
{
    int32_t *cable = cables_of(c->session->system);
    if (!cable)
        return th_error_no_memory(&c->err);
    int n = pick_objects(c, c->word[0].objects, c->word[0].n);
    int failed = n < 1;
    for (int i = 0; i < n && !failed; i++)
        failed = add_object(c, c->word[0].objects[i], cable, p, out);
    th_free(cable);
    return failed ? -1 : 0;
}

static int run_inject_fault(th_call *c)
{
    th_fault_pattern pattern;
    th_fault_events events = {.n = 0};
    double *times = NULL;
    th_time now;
    if (th_property_events_begin(c->session, &now, &c->err) != 0)
        return -1;
    int failed = parse_pattern(c, now, &pattern, &times) || add_objects(c, &pattern, &events);
    if (!failed)
        failed = th_property_events_add(c->session, events.all, events.n, true, &c->err);
    th_fault_events_clear(&events);
    th_free(times);
    if (!failed)
        warn_of_end(c);
    return failed ? -1 : 0;
}

const th_command th_property_event_commands[] = {
    {"set_property", OBJECTS, "OBJECTS ATTRIBUTE VALUE", 3, 3, NULL,
     "change a link or an accelerator during a run",
     "VALUE is a factor of the value in the system (x0.5), or a quantity with its unit (8Gbps, "
     "100MHz); a number without either is refused. The bandwidth of a link: at most that of the "
     "system, on the fluid network; transfers under way continue at the new rates. The clock of an "
     "accelerator: a clock with a unit is that of its array, and its vector unit changes by the "
     "same factor, which get_property gives; tasks that start from now on are what they would be "
     "with those clocks in the system file. An accelerator at x0 is dead; a clock repairs it. All "
     "objects or, on an error, none. Until restart, or a run with other options, which warns; "
     "after the end of a run it changes nothing, which warns, too. Reports say in their heads what "
     "was changed.",
     .run = run_set_property, .kinds = property_words, .needs_every_rank = true,
     .ignores_run = true},
    {"inject_fault", SIMULATE, "OBJECTS", 1, 1, fault_options,
     "make links and accelerators fail, or slow them down",
     "A link goes down, or is degraded (-bandwidth), with a host or switch all of its links; an "
     "accelerator dies, is slowed (-clock), or its tasks vary (-jitter). Of faults of an object "
     "that "
     "overlap, the strictest is in force, until the last has ended; set_property ends them. "
     "Transfers on a link that is down wait, or go round it (-reroute_after); on a dead "
     "accelerator "
     "no task starts, and the one that ran begins again after a repair; its memory still serves "
     "transfers. A run that cannot end fails with "
     "the reason. Once, periodically (-period), at random (-mtbf) or at the times of a file; the "
     "random faults of an object depend on the seed and the object alone. All objects or, on an "
     "error, none. Faults happen again after restart and with the next program, until a system is "
     "read or created, also the same one.",
     .run = run_inject_fault, .kinds = fault_words, .needs_every_rank = true, .ignores_run = true},
    {.name = NULL},
};
