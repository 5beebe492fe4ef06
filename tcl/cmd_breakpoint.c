/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_breakpoint.c - add_breakpoint, delete_breakpoint; report_breakpoints is with the reports. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/breakpoint.h"

#define GROUP "breakpoints"

enum { ADD_AT, ADD_NAME, ADD_ONCE, ADD_DO, ADD_CONTINUE };

static const th_option add_options[] = {
    [ADD_AT] = {"-at", TH_OPTION_TIME, "TIME",
                "When simulated time reaches this, after all events of that instant.",
                .required = true},
    [ADD_NAME] = {"-name", TH_OPTION_TEXT, "NAME",
                  "What run returns and delete_breakpoint takes; b1, b2, ... when "
                  "left out."},
    [ADD_ONCE] = {"-once", TH_OPTION_FLAG, NULL, "Deleted when it was hit."},
    [ADD_DO] = {"-do", TH_OPTION_TEXT, "SCRIPT",
                "Run at the global level; $bp(name) and $bp(time) tell why."},
    [ADD_CONTINUE] = {"-continue", TH_OPTION_FLAG, NULL,
                      "The run goes on after the script, unless it says stop."},
    {.name = NULL},
};

/* b1, b2, ...: the first one that is free. */
static void make_name(th_session *s, char *out, size_t size)
{
    int64_t n = s->breakpoints_made;
    do {
        snprintf(out, size, "b%lld", (long long)++n);
    } while (th_breakpoint_find(s, out) != NULL);
}

static int run_add_breakpoint(th_call *c)
{
    char made[40];
    make_name(c->session, made, sizeof made);
    const char *name = th_call_text(c, ADD_NAME, made);
    if (th_breakpoint_find(c->session, name) != NULL)
        return th_error_set(&c->err, "TCL-0110", "-name \"%s\": there is such a breakpoint already",
                            name);
    if (name[0] == '\0' || strlen(name) > 100)
        return th_error_set(&c->err, "TCL-0111", "-name \"%.20s\": must have 1 to 100 characters",
                            name);
    const th_simulation *sim = c->session->simulation;
    bool has_begun = sim != NULL && sim->has_begun;
    th_breakpoint b = {
        .name = (char *)name,
        .at_ps = c->option[ADD_AT].number,
        .script = (char *)th_call_text(c, ADD_DO, NULL),
        .is_once = th_call_has(c, ADD_ONCE),
        .goes_on = th_call_has(c, ADD_CONTINUE),
        .is_passed = has_begun && c->option[ADD_AT].number <= th_machine_now(sim->machine),
    };
    if (th_breakpoint_add(c->session, &b, &c->err) != 0)
        return -1;
    th_call_return_text(c, name);
    return 0;
}

static int unknown_breakpoint(th_call *c, const char *name)
{
    th_session *s = c->session;
    const char **names = th_alloc_array(s->n_breakpoints + 1, sizeof *names);
    if (names == NULL)
        return th_error_no_memory(&c->err);
    for (size_t i = 0; i < s->n_breakpoints; i++)
        names[i] = s->breakpoints[i]->name;
    names[s->n_breakpoints] = NULL;
    th_error_unknown(&c->err, "TCL-0112", "breakpoint", name, names);
    th_free(names);
    return -1;
}

/* All names are looked up before the first one goes. */
static int run_delete_breakpoint(th_call *c)
{
    for (int i = 0; i < c->n_words; i++)
        if (th_breakpoint_find(c->session, th_call_word(c, i)) == NULL)
            return unknown_breakpoint(c, th_call_word(c, i));
    for (int i = 0; i < c->n_words; i++) {
        th_breakpoint *b = th_breakpoint_find(c->session, th_call_word(c, i));
        if (b != NULL) /* a name may be given twice */
            th_breakpoint_delete(c->session, b);
    }
    return 0;
}

const th_command th_breakpoint_commands[] = {
    {"add_breakpoint", GROUP, "", 0, 0, add_options, "stop a run, or run a script, at an instant",
     "Returns the breakpoint's name. One that lies in the past counts from the next restart on. "
     "The script may not call run, step or restart.",
     .run = run_add_breakpoint},
    {"delete_breakpoint", GROUP, "NAME ...", 1, -1, NULL, "delete breakpoints", NULL,
     .run = run_delete_breakpoint},
    {.name = "bp", .group = GROUP, .alias_of = "add_breakpoint"},
    {.name = "bd", .group = GROUP, .alias_of = "delete_breakpoint"},
    {.name = NULL},
};
