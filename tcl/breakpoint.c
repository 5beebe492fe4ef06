/* SPDX-License-Identifier: GPL-3.0-or-later */
/* breakpoint.c - see breakpoint.h. */
#include <config.h>
#include "tcl/breakpoint.h"
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"

static void free_breakpoint(th_breakpoint *b)
{
    th_free(b->name);
    th_free(b->script);
    th_free(b);
}

void th_breakpoints_clear(th_session *s)
{
    for (size_t i = 0; i < s->n_breakpoints; i++)
        free_breakpoint(s->breakpoints[i]);
    th_free(s->breakpoints);
    s->breakpoints = NULL;
    s->n_breakpoints = s->breakpoint_capacity = 0;
}

int th_breakpoint_add(th_session *s, const th_breakpoint *b, th_error *err)
{
    th_breakpoint *copy = th_alloc_zero(1, sizeof *copy);
    if (copy == NULL)
        return th_error_no_memory(err);
    *copy = *b;
    copy->name = th_alloc_string(b->name);
    copy->script = b->script != NULL ? th_alloc_string(b->script) : NULL;
    bool is_whole = copy->name != NULL && (b->script == NULL || copy->script != NULL);
    if (!is_whole ||
        th_grow(&s->breakpoints, &s->breakpoint_capacity, s->n_breakpoints + 1, sizeof copy) != 0) {
        free_breakpoint(copy);
        return th_error_no_memory(err);
    }
    s->breakpoints[s->n_breakpoints++] = copy;
    s->breakpoints_made++;
    return 0;
}

th_breakpoint *th_breakpoint_find(th_session *s, const char *name)
{
    for (size_t i = 0; i < s->n_breakpoints; i++)
        if (strcmp(s->breakpoints[i]->name, name) == 0)
            return s->breakpoints[i];
    return NULL;
}

void th_breakpoint_delete(th_session *s, th_breakpoint *b)
{
    size_t i = 0;
    while (s->breakpoints[i] != b)
        i++;
    s->n_breakpoints--;
    memmove(&s->breakpoints[i], &s->breakpoints[i + 1], (s->n_breakpoints - i) * sizeof b);
    free_breakpoint(b);
}

void th_breakpoints_reset(th_session *s)
{
    for (size_t i = 0; i < s->n_breakpoints; i++)
        s->breakpoints[i]->is_passed = false;
}

th_breakpoint *th_breakpoint_next(th_session *s)
{
    th_breakpoint *next = NULL;
    for (size_t i = 0; i < s->n_breakpoints; i++) {
        th_breakpoint *b = s->breakpoints[i];
        if (!b->is_passed && (next == NULL || b->at_ps < next->at_ps))
            next = b;
    }
    return next;
}

/* bp(name) and bp(time) tell the script why it runs. */
static void set_variables(th_session *s, const th_breakpoint *b)
{
    char time[64];
    Tcl_SetVar2(s->interp, "bp", "name", b->name, TCL_GLOBAL_ONLY);
    Tcl_SetVar2(s->interp, "bp", "time", th_format_time(b->at_ps, time, sizeof time),
                TCL_GLOBAL_ONLY);
}

int th_breakpoint_hit(th_session *s, th_breakpoint *b, bool *stops, char *stopped_by, size_t size)
{
    int code = TCL_OK;
    b->is_passed = true;
    b->hits++;
    *stops = !b->goes_on;
    snprintf(stopped_by, size, "%s", b->name);
    Tcl_Obj *script = b->script != NULL ? Tcl_NewStringObj(b->script, -1) : NULL;
    set_variables(s, b);
    if (b->is_once)
        th_breakpoint_delete(s, b); /* b is gone: its own script may add one of the same name */
    if (script != NULL) {
        Tcl_IncrRefCount(script);
        code = Tcl_EvalObjEx(s->interp, script, TCL_EVAL_GLOBAL);
        Tcl_DecrRefCount(script);
    }
    *stops = *stops || s->stop_asked;
    return code == TCL_OK ? 0 : -1;
}
