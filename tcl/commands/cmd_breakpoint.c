/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_breakpoint.c - commands that add, delete and enable breakpoints. report_breakpoints
 * is in cmd_report.c. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "tcl/objects/breakpoint.h"

#define GROUP "breakpoints"

enum { ADD_AT, ADD_ON, ADD_OF, ADD_WHEN, ADD_NAME, ADD_ONCE, ADD_DO, ADD_CONTINUE, ADD_DISABLE };

#define DO_HELP "$bp(name), $bp(time) and $bp(object) tell why."

static const th_option add_options[] = {
    [ADD_AT] = {"-at", TH_OPTION_TIME, "TIME",
                "When simulated time reaches this, after all events of that time.",
                .without = "-on -when", .required = true, .unless = "-on -when"},
    [ADD_ON] = {"-on", TH_OPTION_CHOICE, "EVENT",
                "Whenever this happens. task_start and task_end are of all tasks but transfers; "
                "stall: an array begins to wait for an operand or for room; buffer_full: all "
                "buffers for operands, or all for outputs, hold a tile.",
                .choice = th_on_name, .without = "-when"},
    [ADD_OF] = {"-of", TH_OPTION_OBJECT, "OBJECTS",
                "With -on: only for these objects and related ones (tasks, layers, accelerators, "
                "nodes, links).",
                .least = 1, .most = TH_MANY, .with = "-on"},
    [ADD_WHEN] = {"-when", TH_OPTION_TEXT, "CONDITION",
                  "When it becomes true: OBJECT.ATTRIBUTE OP LITERAL, joined by && || ! ( ); OP is "
                  "== != < <= > >= or =~ (glob pattern). It is tested when an object that it names "
                  "changes; with attributes that grow with time, at every event."},
    [ADD_NAME] = {"-name", TH_OPTION_TEXT, "NAME",
                  "Name for delete_breakpoint, and returned by run (b1, b2, ...)."},
    [ADD_ONCE] = {"-once", TH_OPTION_FLAG, NULL, "Deletes the breakpoint at its first hit."},
    [ADD_DO] = {"-do", TH_OPTION_TEXT, "SCRIPT", "Run at the global level; " DO_HELP},
    [ADD_CONTINUE] = {"-continue", TH_OPTION_FLAG, NULL,
                      "The run continues after the script, unless it calls stop."},
    [ADD_DISABLE] = {"-disable", TH_OPTION_FLAG, NULL,
                     "Creates it disabled, until enable_breakpoint."},
    {.name = NULL},
};

/* b1, b2, ...: the first one that is free. */
static void make_name(th_session *s, char *out, size_t size)
{
    int64_t n = th_tcl_of(s)->breakpoints_made;
    do {
        snprintf(out, size, "b%lld", (long long)++n);
    } while (th_breakpoint_find(s, out));
}

static int check_name(th_call *c, const char *name)
{
    if (th_breakpoint_find(c->session, name))
        return th_error_set(&c->err, "TCL-0110", "-name \"%s\": a breakpoint of this name exists",
                            name);
    if (name[0] == '\0' || strlen(name) > 100)
        return th_error_set(&c->err, "TCL-0111", "-name \"%.20s\": must have 1 to 100 characters",
                            name);
    return 0;
}

/* ---- objects and events ---- */

static int parse_of(th_call *c, th_breakpoint *b)
{
    const th_value *of = &c->option[ADD_OF];
    bool is_inside = b->on == TH_ON_STALL || b->on == TH_ON_BUFFER_FULL;
    if (!of->word)
        return 0;
    for (int i = 0; is_inside && i < of->n; i++)
        if (of->objects[i].class != TH_CLASS_ACCEL && of->objects[i].class != TH_CLASS_NODE)
            return th_error_set(&c->err, "TCL-0404", "-of \"%s\": only accelerators have %ss",
                                Tcl_GetString(of->words[i]), th_on_name(b->on));
    if (!(b->of = th_alloc_array((size_t)of->n, sizeof *b->of)))
        return th_error_no_memory(&c->err);
    memcpy(b->of, of->objects, (size_t)of->n * sizeof *b->of);
    b->n_of = of->n;
    return 0;
}

static int parse_when(th_call *c, const char *text, th_breakpoint *b)
{
    if (!(b->when = th_condition_compile(c->session, text, &c->err)))
        return -1;
    b->text = (char *)text;
    if (th_condition_kinds(b->when) != 0)
        return 0;
    return th_error_set(&c->err, "TCL-0401",
                        "condition \"%.200s\": names no object that changes in a run", text);
}

static int parse_event(th_call *c, th_breakpoint *b)
{
    b->at_ps = th_call_number(c, ADD_AT, -1);
    b->on = (int)th_call_number(c, ADD_ON, -1);
    if (parse_of(c, b) != 0)
        return -1;
    return th_call_has(c, ADD_WHEN) ? parse_when(c, th_call_text(c, ADD_WHEN, ""), b) : 0;
}

static int check_script(th_call *c, const char *script)
{
    if (!script || Tcl_CommandComplete(script))
        return 0;
    return th_error_set(&c->err, "TCL-0418",
                        "script {%.100s}: is cut short: a brace, bracket or quote is not closed",
                        script);
}

static int add(th_call *c, th_breakpoint *b, bool is_parsed)
{
    if (!is_parsed) {
        th_free(b->of);
        th_condition_free(b->when);
        return -1;
    }
    if (th_breakpoint_add(c->session, b, &c->err) != 0)
        return -1;
    th_call_return_text(c, b->name);
    return 0;
}

static int run_add_breakpoint(th_call *c)
{
    char made[40];
    make_name(c->session, made, sizeof made);
    const char *name = th_call_text(c, ADD_NAME, made);
    const th_simulation *sim = c->session->simulation;
    th_breakpoint b = {
        .name = (char *)name,
        .script = (char *)th_call_text(c, ADD_DO, NULL),
        .is_once = th_call_has(c, ADD_ONCE),
        .goes_on = th_call_has(c, ADD_CONTINUE),
        .is_disabled = th_call_has(c, ADD_DISABLE),
    };
    bool is_parsed =
        check_name(c, name) == 0 && check_script(c, b.script) == 0 && parse_event(c, &b) == 0;
    b.is_passed = sim && sim->has_begun && b.at_ps <= th_machine_now(sim->machine);
    return add(c, &b, is_parsed);
}

/* ---- times and conditions ---- */

enum { WHEN_NAME, WHEN_ONCE };

static const th_option when_options[] = {
    [WHEN_NAME] = {"-name", TH_OPTION_TEXT, "NAME", "Name, as for add_breakpoint."},
    [WHEN_ONCE] = {"-once", TH_OPTION_FLAG, NULL, "Deletes the breakpoint at its first hit."},
    {.name = NULL},
};

static int run_when(th_call *c)
{
    char made[40];
    make_name(c->session, made, sizeof made);
    th_breakpoint b = {
        .name = (char *)th_call_text(c, WHEN_NAME, made),
        .at_ps = -1,
        .on = -1,
        .script = (char *)th_call_word(c, 1),
        .is_once = th_call_has(c, WHEN_ONCE),
        .goes_on = true,
    };
    return add(c, &b,
               check_name(c, b.name) == 0 && check_script(c, b.script) == 0 &&
                   parse_when(c, th_call_word(c, 0), &b) == 0);
}

/* ---- commands on existing breakpoints ---- */

static int unknown_breakpoint(th_call *c, const char *name)
{
    th_session *s = c->session;
    const char **names = th_alloc_array(th_tcl_of(s)->n_breakpoints + 1, sizeof *names);
    if (!names)
        return th_error_no_memory(&c->err);
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++)
        names[i] = th_tcl_of(s)->breakpoints[i]->name;
    names[th_tcl_of(s)->n_breakpoints] = NULL;
    th_error_unknown(&c->err, "TCL-0112", "breakpoint", name, names);
    th_free(names);
    return -1;
}

/* Is its name among the words, or matched by one? */
static bool is_meant(const th_call *c, const th_breakpoint *b)
{
    for (int i = 0; i < c->n_words; i++)
        if (strcmp(b->name, th_call_word(c, i)) == 0 ||
            Tcl_StringMatch(b->name, th_call_word(c, i)))
            return true;
    return false;
}

/* All names are looked up before anything is changed; a pattern may match nothing. */
static int check_breakpoints(th_call *c)
{
    for (int i = 0; i < c->n_words; i++) {
        const char *name = th_call_word(c, i);
        if (!th_breakpoint_find(c->session, name) && !strpbrk(name, "*?["))
            return unknown_breakpoint(c, name);
    }
    return 0;
}

static int run_delete_breakpoint(th_call *c)
{
    if (check_breakpoints(c) != 0)
        return -1;
    for (size_t i = th_tcl_of(c->session)->n_breakpoints; i-- > 0;)
        if (is_meant(c, th_tcl_of(c->session)->breakpoints[i]))
            th_breakpoint_delete(c->session, th_tcl_of(c->session)->breakpoints[i]);
    return 0;
}

static void restore(th_tcl_session *t, const th_breakpoint *before)
{
    for (size_t i = 0; i < t->n_breakpoints; i++)
        *t->breakpoints[i] = before[i];
}

static void disable(th_call *c, bool is_disabled)
{
    th_tcl_session *t = th_tcl_of(c->session);
    for (size_t i = 0; i < t->n_breakpoints; i++) {
        th_breakpoint *b = t->breakpoints[i];
        if (!is_meant(c, b))
            continue;
        b->is_disabled = is_disabled;
        if (b->when)
            b->was_true = th_condition_holds(b->when, c->session);
    }
}

static int set_disabled(th_call *c, bool is_disabled)
{
    th_tcl_session *t = th_tcl_of(c->session);
    if (check_breakpoints(c) != 0)
        return -1;
    th_breakpoint *before = th_alloc_array(t->n_breakpoints, sizeof *before);
    if (!before)
        return th_error_no_memory(&c->err);
    for (size_t i = 0; i < t->n_breakpoints; i++)
        before[i] = *t->breakpoints[i];
    disable(c, is_disabled);
    int failed = th_probes_update(c->session, &c->err);
    if (failed) {
        restore(t, before);
        th_probes_update(c->session, NULL);
    }
    th_free(before);
    return failed;
}

enum { ENABLE_OFF };
static const th_option enable_options[] = {
    [ENABLE_OFF] = {"-off", TH_OPTION_FLAG, NULL,
                    "Disables them: they are kept, with their hits, until they are enabled."},
    {.name = NULL},
};

static int run_enable_breakpoint(th_call *c)
{
    return set_disabled(c, th_call_has(c, ENABLE_OFF));
}

const th_command th_breakpoint_commands[] = {
    {"add_breakpoint", GROUP, "", 0, 0, add_options,
     "stop a run, or run a script, at a time or an event",
     "Returns the breakpoint's name. A time in the past takes effect after the next restart. The "
     "run stops right after the event, before other events of the same time. The script may not "
     "call run, step or restart; if it fails, the run stops there and run fails with its message. "
     "Breakpoints on objects are deleted with their system, workload or mapping.",
     .run = run_add_breakpoint, .ignores_run = true},
    {"delete_breakpoint", GROUP, "BREAKPOINT ...", 1, -1, NULL, "delete breakpoints",
     "BREAKPOINT is a name or a glob pattern; * deletes all.", .run = run_delete_breakpoint,
     .ignores_run = true},
    {"enable_breakpoint", GROUP, "BREAKPOINT ...", 1, -1, enable_options,
     "enable or disable breakpoints", "BREAKPOINT is a name or a glob pattern.",
     .run = run_enable_breakpoint, .ignores_run = true},
    {"when", GROUP, "CONDITION SCRIPT", 2, 2, when_options,
     "run a script whenever a condition becomes true",
     "The same as add_breakpoint -when CONDITION -do SCRIPT -continue: the run continues, unless "
     "the script calls stop. Returns the breakpoint's name.",
     .run = run_when, .ignores_run = true},
    {.name = "bp", .group = GROUP, .alias_of = "add_breakpoint"},
    {.name = "bd", .group = GROUP, .alias_of = "delete_breakpoint"},
    {.name = NULL},
};
