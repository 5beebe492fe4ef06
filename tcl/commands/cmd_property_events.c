/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_property_events.c - set_property, inject_fault: change a property of an object during a
 * run. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "report/session/property_events.h"
#include "report/objects/objects.h"

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
    for (int k = 0; s->mapping && k < s->mapping->n_sets; k++)
        for (int i = 0; i < s->mapping->sets[k].n_accels; i++)
            if (s->mapping->sets[k].accels[i] == accel)
                return th_set_design(&s->mapping->sets[k], i, s->system) == design;
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

/* A link, or an accelerator by any of its names. */
static int parse_changed(th_call *c, const char *text, th_property_event *out)
{
    th_object o;
    if (th_object_parse(c->session, text, &o, &c->err) != 0)
        return -1;
    int accel = o.class == TH_CLASS_ACCEL  ? o.index
                : o.class == TH_CLASS_NODE ? c->session->system->nodes[o.index].accel
                                           : -1;
    if (o.class != TH_CLASS_LINK && accel < 0)
        return th_error_set(&c->err, "TCL-0408",
                            "\"%s\": only links and accelerators can be changed", text);
    out->kind = accel >= 0 ? TH_PROPERTY_FREQUENCY : TH_PROPERTY_BANDWIDTH;
    out->object = accel >= 0 ? accel : o.index;
    return 0;
}

/* ---- set_property ---- */

static int parse_change(th_call *c, const char *object, th_property_event *out)
{
    const char *name = th_call_word(c, 1), *value = th_call_word(c, 2);
    *out = (th_property_event){.at = 0};
    if (parse_changed(c, object, out) != 0)
        return -1;
    bool is_link = out->kind == TH_PROPERTY_BANDWIDTH;
    if (strcmp(name, is_link ? "bandwidth" : "clock") != 0)
        return th_error_set(&c->err, "TCL-0409", "\"%s\": of %s only %s can be set", name,
                            is_link ? "links" : "accelerators", is_link ? "bandwidth" : "clock");
    return is_link ? parse_bandwidth(c, out->object, value, &out->factor)
                   : parse_clock(c, out->object, value, &out->factor);
}

static int run_set_property(th_call *c)
{
    Tcl_Obj **objects;
    Tcl_Size n;
    if (Tcl_ListObjGetElements(NULL, c->words[0], &n, &objects) != TCL_OK || n < 1)
        return th_error_set(&c->err, "TCL-0417",
                            "\"%s\": must be a list of at least one link or accelerator",
                            th_call_word(c, 0));
    th_property_event *changes = th_alloc_array((size_t)n, sizeof *changes);
    if (!changes)
        return th_error_no_memory(&c->err);
    int failed = 0;
    for (Tcl_Size i = 0; i < n && !failed; i++)
        failed = parse_change(c, Tcl_GetString(objects[i]), &changes[i]);
    if (!failed)
        failed = th_property_events_add(c->session, changes, (size_t)n, false, &c->err);
    th_free(changes);
    return failed;
}

/* ---- inject_fault ---- */

enum { FAULT_AT, FAULT_FOR, FAULT_BANDWIDTH, FAULT_CLOCK };

static const th_option fault_options[] = {
    [FAULT_AT] = {"-at", TH_OPTION_TIME, "TIME", "Time of the fault (now)."},
    [FAULT_FOR] = {"-for", TH_OPTION_TIME, "TIME",
                   "Length of the fault; not for a dead accelerator."},
    [FAULT_BANDWIDTH] = {"-bandwidth", TH_OPTION_TEXT, "VALUE",
                         "A link carries only this, a factor as x0.5 or a bandwidth as 8Gbps; "
                         "without it, nothing."},
    [FAULT_CLOCK] = {"-clock", TH_OPTION_TEXT, "VALUE",
                     "An accelerator runs at this clock, a factor as x0.5 or a clock as 100MHz; "
                     "without it, it is dead."},
    {.name = NULL},
};

static int parse_severity(th_call *c, th_property_event *change)
{
    bool is_link = change->kind == TH_PROPERTY_BANDWIDTH;
    int own = is_link ? FAULT_BANDWIDTH : FAULT_CLOCK,
        other = is_link ? FAULT_CLOCK : FAULT_BANDWIDTH;
    if (th_call_has(c, other))
        return th_error_set(&c->err, "TCL-0410", "%s: is not for %s",
                            c->command->options[other].name, is_link ? "links" : "accelerators");
    change->factor = 0;
    if (!th_call_has(c, own))
        return 0;
    return is_link ? parse_bandwidth(c, change->object, th_call_text(c, own, ""), &change->factor)
                   : parse_clock(c, change->object, th_call_text(c, own, ""), &change->factor);
}

static int run_inject_fault(th_call *c)
{
    th_property_event change;
    if (parse_changed(c, th_call_word(c, 0), &change) != 0 || parse_severity(c, &change) != 0)
        return -1;
    th_simulation *sim = th_session_simulation(c->session, &c->err);
    if (!sim)
        return -1;
    th_time now = th_machine_now(sim->machine);
    change.at = th_call_number(c, FAULT_AT, now);
    if (change.at < now)
        return th_error_set(&c->err, "TCL-0411", "-at \"%s\": the run is already past this time",
                            th_call_text(c, FAULT_AT, ""));
    if (th_call_has(c, FAULT_FOR) && change.kind == TH_PROPERTY_FREQUENCY && change.factor == 0)
        return th_error_set(&c->err, "TCL-0412", "-for: a dead accelerator stays dead");
    if (th_call_has(c, FAULT_FOR) && th_call_number(c, FAULT_FOR, 0) == 0)
        return th_error_set(&c->err, "TCL-0419", "-for \"%s\": must be more than 0",
                            th_call_text(c, FAULT_FOR, ""));
    th_property_event back = change;
    back.factor =
        th_machine_property_factor(sim->machine, (th_property_kind)change.kind, change.object);
    back.at = th_time_add(change.at, th_call_number(c, FAULT_FOR, 0));
    return th_property_events_add(c->session, (th_property_event[]){change, back},
                                  th_call_has(c, FAULT_FOR) ? 2 : 1, true, &c->err);
}

const th_command th_property_event_commands[] = {
    {"set_property", OBJECTS, "OBJECTS ATTRIBUTE VALUE", 3, 3, NULL,
     "change links or accelerators in a run",
     "VALUE is a factor of the value in the system (x0.5), or a quantity with its unit (8Gbps, "
     "100MHz); a number without either is refused. The bandwidth of a link: at most that of the "
     "system, on the fluid network; transfers under way continue at the new rates. The clock of an "
     "accelerator: a clock with a unit is that of its array, and its vector unit changes by the "
     "same factor, which get_property gives; it applies to tasks that start from now on, with the "
     "tiles that were chosen for the clock of the system. All objects or, on an error, none. Until "
     "restart, or a run with other options, which warns. Reports say in their heads what was "
     "changed.",
     .run = run_set_property},
    {"inject_fault", SIMULATE, "OBJECT", 1, 1, fault_options, "make a link or an accelerator fail",
     "A link goes down, or is degraded (-bandwidth); an accelerator dies, or is slowed (-clock). "
     "Transfers on a link that is down wait; the task that a dead accelerator runs never ends, and "
     "none starts there, while its memory still serves transfers. A run that cannot end fails with "
     "the reason. Faults happen again after restart, until another system is read.",
     .run = run_inject_fault},
    {.name = NULL},
};
