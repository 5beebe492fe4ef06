/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_change.c - set_property, inject_fault: what is changed while a run is stopped, or at an instant. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/changes.h"
#include "tcl/objects.h"

#define OBJECTS "objects"
#define SIMULATE "simulate"

/* "50Gbps" of a link, as a share of what its system says. 0 or -1. */
static int parse_bandwidth(th_call *c, int link, const char *text, double *factor)
{
    int64_t bits;
    const th_system *s = c->session->system;
    if (th_parse_bandwidth(text, &bits, &c->err) != 0)
        return -1;
    *factor = (double)bits / (double)s->media[s->links[link].medium].bits_per_s;
    return 0;
}

static int parse_clock(th_call *c, const char *text, double *factor)
{
    char *end;
    *factor = strtod(text, &end);
    if (*text != '\0' && *end == '\0' && *factor > 0 && *factor <= TH_FACTOR_MAX)
        return 0;
    return th_error_set(&c->err, "TCL-0407",
                        "clock \"%.40s\": must be a share of what the system says, above 0, at most %d",
                        text, (int)TH_FACTOR_MAX);
}

/* A link, or an accelerator by any of its names. */
static int parse_changed(th_call *c, const char *text, th_alteration *out)
{
    th_object o;
    if (th_object_parse(c->session, text, &o, &c->err) != 0)
        return -1;
    int accel = o.class == TH_CLASS_ACCEL  ? o.index
                : o.class == TH_CLASS_NODE ? c->session->system->nodes[o.index].accel
                                           : -1;
    if (o.class != TH_CLASS_LINK && accel < 0)
        return th_error_set(&c->err, "TCL-0408", "\"%s\": only links and accelerators can be changed",
                            text);
    out->kind = accel >= 0 ? TH_CHANGE_CLOCK : TH_CHANGE_BANDWIDTH;
    out->object = accel >= 0 ? accel : o.index;
    return 0;
}

/* ---- set_property ---- */

static int parse_change(th_call *c, const char *object, th_alteration *out)
{
    const char *name = th_call_word(c, 1), *value = th_call_word(c, 2);
    *out = (th_alteration){.at = 0};
    if (parse_changed(c, object, out) != 0)
        return -1;
    bool is_link = out->kind == TH_CHANGE_BANDWIDTH;
    if (strcmp(name, is_link ? "bandwidth" : "clock") != 0)
        return th_error_set(&c->err, "TCL-0409", "\"%s\": of %s only %s can be set", name,
                            is_link ? "links" : "accelerators", is_link ? "bandwidth" : "clock");
    return is_link ? parse_bandwidth(c, out->object, value, &out->factor) : parse_clock(c, value, &out->factor);
}

static int run_set_property(th_call *c)
{
    Tcl_Obj **objects;
    Tcl_Size n;
    if (Tcl_ListObjGetElements(NULL, c->words[0], &n, &objects) != TCL_OK || n < 1)
        return th_error_set(&c->err, "TCL-0417", "\"%s\": must be a list of at least one link or accelerator",
                            th_call_word(c, 0));
    th_alteration *changes = th_alloc_array((size_t)n, sizeof *changes);
    if (changes == NULL)
        return th_error_no_memory(&c->err);
    int rc = 0;
    for (Tcl_Size i = 0; i < n && rc == 0; i++)
        rc = parse_change(c, Tcl_GetString(objects[i]), &changes[i]);
    if (rc == 0)
        rc = th_changes_add(c->session, changes, (size_t)n, false, &c->err);
    th_free(changes);
    return rc;
}

/* ---- inject_fault ---- */

enum { FAULT_AT, FAULT_FOR, FAULT_BANDWIDTH, FAULT_CLOCK };

static const th_option fault_options[] = {
    [FAULT_AT] = {"-at", TH_OPTION_TIME, "TIME", "When it begins (now)."},
    [FAULT_FOR] = {"-for", TH_OPTION_TIME, "TIME", "After so long all is as before; not for a dead accelerator."},
    [FAULT_BANDWIDTH] = {"-bandwidth", TH_OPTION_TEXT, "RATE", "A link carries only this; without it, nothing."},
    [FAULT_CLOCK] = {"-clock", TH_OPTION_TEXT, "SHARE",
                     "An accelerator runs at this share of its clock; without it, it is dead."},
    {.name = NULL},
};

static int parse_severity(th_call *c, th_alteration *change)
{
    bool is_link = change->kind == TH_CHANGE_BANDWIDTH;
    int own = is_link ? FAULT_BANDWIDTH : FAULT_CLOCK, other = is_link ? FAULT_CLOCK : FAULT_BANDWIDTH;
    if (th_call_has(c, other))
        return th_error_set(&c->err, "TCL-0410", "%s: is not for %s", c->command->options[other].name,
                            is_link ? "links" : "accelerators");
    change->factor = 0;
    if (!th_call_has(c, own))
        return 0;
    return is_link ? parse_bandwidth(c, change->object, th_call_text(c, own, ""), &change->factor)
                   : parse_clock(c, th_call_text(c, own, ""), &change->factor);
}

static int run_inject_fault(th_call *c)
{
    th_alteration change;
    if (parse_changed(c, th_call_word(c, 0), &change) != 0 || parse_severity(c, &change) != 0)
        return -1;
    th_simulation *sim = th_session_simulation(c->session, &c->err);
    if (sim == NULL)
        return -1;
    th_time now = th_machine_now(sim->machine);
    change.at = th_call_number(c, FAULT_AT, now);
    if (change.at < now)
        return th_error_set(&c->err, "TCL-0411", "-at \"%s\": it is later already",
                            th_call_text(c, FAULT_AT, ""));
    if (th_call_has(c, FAULT_FOR) && change.kind == TH_CHANGE_CLOCK && change.factor == 0)
        return th_error_set(&c->err, "TCL-0412", "-for: what a dead accelerator did is lost, so it stays dead");
    if (th_call_has(c, FAULT_FOR) && th_call_number(c, FAULT_FOR, 0) == 0)
        return th_error_set(&c->err, "TCL-0419", "-for \"%s\": must be more than 0", th_call_text(c, FAULT_FOR, ""));
    th_alteration back = change;
    back.factor = th_machine_factor(sim->machine, (th_change_kind)change.kind, change.object);
    back.at = th_time_add(change.at, th_call_number(c, FAULT_FOR, 0));
    return th_changes_add(c->session, (th_alteration[]){change, back}, th_call_has(c, FAULT_FOR) ? 2 : 1, true, &c->err);
}

const th_command th_change_commands[] = {
    {"set_property", OBJECTS, "OBJECTS ATTRIBUTE VALUE", 3, 3, NULL, "change links or accelerators in a run",
     "The bandwidth of a link: at most what the system says, on the fluid network; transfers under way go on "
     "at the new rates. The clock of an accelerator, as a share of what the system says (get_property "
     "gives it): tasks that start from now on have it, in the tiles that were chosen for the system's. All objects or, on an error, none. "
     "Until restart.",
     .run = run_set_property},
    {"inject_fault", SIMULATE, "OBJECT", 1, 1, fault_options, "let a link or an accelerator fail",
     "A link goes down, or is degraded (-bandwidth); an accelerator dies, or is slowed (-clock). What is on a "
     "link that is down waits; the task that a dead accelerator runs never ends, and none starts there, "
     "while its memory still serves transfers. A run that cannot end says why. Faults happen again after "
     "restart, until there is another system.",
     .run = run_inject_fault},
    {.name = NULL},
};
