/* SPDX-License-Identifier: GPL-3.0-or-later */
/* breakpoint.c - see breakpoint.h. The script of a breakpoint may add and delete breakpoints, so
 * all hits are collected by number before the first script runs. */
#include <config.h>
#include "tcl/objects/breakpoint.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/object_name.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

static const struct {
    const char *name;
    th_record_kind kind;
} events[] = {
    [TH_ON_TASK_START] = {"task_start", TH_RECORD_TASK_START},
    [TH_ON_TASK_END] = {"task_end", TH_RECORD_TASK_END},
    [TH_ON_TRANSFER_START] = {"transfer_start", TH_RECORD_TASK_START},
    [TH_ON_TRANSFER_END] = {"transfer_end", TH_RECORD_TASK_END},
    [TH_ON_STALL] = {"stall", TH_RECORD_STALL},
    [TH_ON_BUFFER_FULL] = {"buffer_full", TH_RECORD_BUFFER_FULL},
    [TH_N_ON] = {NULL, TH_N_RECORD_KINDS},
};

const char *th_on_name(int i)
{
    return events[i].name;
}

static void free_breakpoint(th_breakpoint *b)
{
    th_free(b->name);
    th_free(b->text);
    th_free(b->script);
    th_free(b->of);
    th_condition_free(b->when);
    th_free(b);
}

void th_breakpoints_clear(th_session *s)
{
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++)
        free_breakpoint(th_tcl_of(s)->breakpoints[i]);
    th_free(th_tcl_of(s)->breakpoints);
    th_tcl_of(s)->breakpoints = NULL;
    th_tcl_of(s)->n_breakpoints = th_tcl_of(s)->breakpoint_capacity = 0;
}

static int by_class_and_index(const void *a, const void *b)
{
    const th_object *x = a, *y = b;
    if (x->class != y->class)
        return (x->class > y->class) - (x->class < y->class);
    return (x->index > y->index) - (x->index < y->index);
}

/* A text's copy; NULL stays NULL. False: memory is out. */
static bool copy_text(char **out, const char *text)
{
    *out = text ? th_alloc_string(text) : NULL;
    return !text || *out;
}

int th_breakpoint_add(th_session *s, const th_breakpoint *b, th_error *err)
{
    th_breakpoint *copy = th_alloc_zero(1, sizeof *copy);
    if (!copy) {
        th_free(b->of);
        th_condition_free(b->when);
        return th_error_no_memory(err);
    }
    *copy = *b;
    bool has_name = copy_text(&copy->name, b->name), has_text = copy_text(&copy->text, b->text);
    bool has_script = copy_text(&copy->script, b->script);
    if (!has_name || !has_text || !has_script ||
        th_grow(&th_tcl_of(s)->breakpoints, &th_tcl_of(s)->breakpoint_capacity,
                th_tcl_of(s)->n_breakpoints + 1, sizeof copy) != 0) {
        free_breakpoint(copy);
        return th_error_no_memory(err);
    }
    if (copy->n_of > 0)
        qsort(copy->of, (size_t)copy->n_of, sizeof *copy->of, by_class_and_index);
    copy->was_true = copy->when && th_condition_holds(copy->when, s);
    copy->number = ++th_tcl_of(s)->breakpoints_made;
    th_tcl_of(s)->breakpoints[th_tcl_of(s)->n_breakpoints++] = copy;
    if (th_probes_update(s, err) == 0)
        return 0;
    th_breakpoint_delete(s, copy);
    th_tcl_of(s)->breakpoints_made--;
    return -1;
}

th_breakpoint *th_breakpoint_find(th_session *s, const char *name)
{
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++)
        if (strcmp(th_tcl_of(s)->breakpoints[i]->name, name) == 0)
            return th_tcl_of(s)->breakpoints[i];
    return NULL;
}

static th_breakpoint *find_number(th_session *s, int64_t number)
{
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++)
        if (th_tcl_of(s)->breakpoints[i]->number == number)
            return th_tcl_of(s)->breakpoints[i];
    return NULL;
}

static void take_out(th_session *s, th_breakpoint *b)
{
    size_t i = 0;
    while (th_tcl_of(s)->breakpoints[i] != b)
        i++;
    th_tcl_of(s)->n_breakpoints--;
    memmove(&th_tcl_of(s)->breakpoints[i], &th_tcl_of(s)->breakpoints[i + 1],
            (th_tcl_of(s)->n_breakpoints - i) * sizeof b);
    free_breakpoint(b);
}

/* With one breakpoint fewer there is less to record, which cannot fail. */
void th_breakpoint_delete(th_session *s, th_breakpoint *b)
{
    take_out(s, b);
    th_probes_update(s, NULL);
}

static bool is_of_program(const th_object *o)
{
    return o->class == TH_CLASS_LAYER || o->class == TH_CLASS_TASK;
}

static bool is_bound(const th_breakpoint *b, bool any)
{
    if (b->when && (any || th_condition_names_tasks(b->when)))
        return true;
    for (int i = 0; i < b->n_of; i++)
        if (any || is_of_program(&b->of[i]))
            return true;
    return false;
}

void th_breakpoints_drop_bound(th_session *s, bool any)
{
    for (size_t i = th_tcl_of(s)->n_breakpoints; i-- > 0;)
        if (is_bound(th_tcl_of(s)->breakpoints[i], any))
            take_out(s, th_tcl_of(s)->breakpoints[i]);
    th_probes_update(s, NULL);
}

void th_breakpoints_reset(th_session *s)
{
    const th_simulation *sim = s->simulation;
    th_time past = sim && sim->has_begun ? th_machine_now(sim->machine) : -1;
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++) {
        th_breakpoint *b = th_tcl_of(s)->breakpoints[i];
        b->is_passed = b->at_ps <= past;
        b->was_true = b->when && th_condition_holds(b->when, s);
    }
}

th_breakpoint *th_breakpoint_next(th_session *s)
{
    th_breakpoint *next = NULL;
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++) {
        th_breakpoint *b = th_tcl_of(s)->breakpoints[i];
        if (b->at_ps >= 0 && !b->is_passed && !b->is_disabled && (!next || b->at_ps < next->at_ps))
            next = b;
    }
    return next;
}

/* ---- scripts ---- */

/* bp(name), bp(time) and bp(object) tell the script why it runs. */
static void set_variables(th_session *s, const th_breakpoint *b, const th_object *o)
{
    char time[64];
    th_time at = b->at_ps >= 0 ? b->at_ps : th_machine_now(s->simulation->machine);
    Tcl_SetVar2(th_tcl_of(s)->interp, "bp", "name", b->name, TCL_GLOBAL_ONLY);
    Tcl_SetVar2(th_tcl_of(s)->interp, "bp", "time", th_format_time(at, time, sizeof time),
                TCL_GLOBAL_ONLY);
    Tcl_SetVar2Ex(th_tcl_of(s)->interp, "bp", "object", o ? th_object_name(s, *o) : Tcl_NewObj(),
                  TCL_GLOBAL_ONLY);
}

/* Why b stops the run, in words: "link/3_4.queue_depth > 16", "stall", "at 5us". */
static void describe(const th_breakpoint *b, const th_object *o, th_stopped_by *by)
{
    char at[64];
    *by = (th_stopped_by){.has_object = o, .object = o ? *o : (th_object){TH_CLASS_ACCEL, 0}};
    snprintf(by->name, sizeof by->name, "%s", b->name);
    if (b->text)
        snprintf(by->why, sizeof by->why, "%s", b->text);
    else if (b->on >= 0)
        snprintf(by->why, sizeof by->why, "%s", events[b->on].name);
    else
        snprintf(by->why, sizeof by->why, "at %s", th_format_time(b->at_ps, at, sizeof at));
}

static int hit(th_session *s, th_breakpoint *b, const th_object *o, bool *stops, th_stopped_by *by)
{
    int code = TCL_OK;
    b->is_passed = true;
    b->hits++;
    *stops = !b->goes_on;
    describe(b, o, by);
    Tcl_Obj *script = b->script ? Tcl_NewStringObj(b->script, -1) : NULL;
    set_variables(s, b, o);
    if (b->is_once)
        th_breakpoint_delete(s, b); /* the script may have deleted b and added one of its name */
    if (script) {
        Tcl_IncrRefCount(script);
        code = Tcl_EvalObjEx(th_tcl_of(s)->interp, script, TCL_EVAL_GLOBAL);
        Tcl_DecrRefCount(script);
    }
    *stops = *stops || th_tcl_of(s)->stop_asked;
    return code == TCL_OK ? 0 : -1;
}

int th_breakpoint_hit(th_session *s, th_breakpoint *b, bool *stops, th_stopped_by *by)
{
    return hit(s, b, NULL, stops, by);
}

/* ---- what was recorded ---- */

/* A breakpoint that an event was recorded for. */
typedef struct call {
    int64_t number;
    th_object object;
} call;

typedef struct calls {
    call *all;
    size_t n, room;
} calls;

static bool is_of(th_session *s, const th_breakpoint *b, th_object o)
{
    if (b->n_of == 0 || bsearch(&o, b->of, (size_t)b->n_of, sizeof *b->of, by_class_and_index))
        return true;
    for (int i = 0; i < b->n_of; i++)
        if (b->of[i].class != o.class && th_objects_touch(s, o, b->of[i]))
            return true;
    return false;
}

static bool waits_for(th_session *s, const th_breakpoint *b, const th_event_record *record,
                      th_object *o)
{
    if (b->on < 0 || b->is_disabled || events[b->on].kind != (th_record_kind)record->kind)
        return false;
    if (b->on == TH_ON_STALL || b->on == TH_ON_BUFFER_FULL) {
        *o = (th_object){TH_CLASS_ACCEL, record->object};
        return is_of(s, b, *o);
    }
    bool is_transfer = s->simulation->program->tasks[record->object].kind == TH_TASK_TRANSFER;
    bool wants_transfers = b->on == TH_ON_TRANSFER_START || b->on == TH_ON_TRANSFER_END;
    *o = (th_object){TH_CLASS_TASK, record->object};
    return is_transfer == wants_transfers && is_of(s, b, *o);
}

static int add_call(calls *c, int64_t number, th_object o, th_error *err)
{
    if (th_grow(&c->all, &c->room, c->n + 1, sizeof *c->all) != 0)
        return th_error_no_memory(err);
    c->all[c->n++] = (call){number, o};
    return 0;
}

/* Has its condition become true? */
static bool turns_true(th_session *s, th_breakpoint *b)
{
    bool is_about = false;
    if (!b->when || b->is_disabled)
        return false;
    for (size_t i = 0; !is_about && i < th_tcl_of(s)->recorder.n_records; i++)
        is_about = th_condition_is_about(b->when, &th_tcl_of(s)->recorder.record[i]);
    if (!is_about)
        return false;
    bool was_true = b->was_true;
    b->was_true = th_condition_holds(b->when, s);
    return b->was_true && !was_true;
}

static int collect_calls(th_session *s, calls *c, th_error *err)
{
    th_object o;
    for (size_t i = 0; i < th_tcl_of(s)->recorder.n_records; i++)
        for (size_t k = 0; k < th_tcl_of(s)->n_breakpoints; k++)
            if (waits_for(s, th_tcl_of(s)->breakpoints[k], &th_tcl_of(s)->recorder.record[i], &o) &&
                add_call(c, th_tcl_of(s)->breakpoints[k]->number, o, err) != 0)
                return -1;
    for (size_t k = 0; k < th_tcl_of(s)->n_breakpoints; k++)
        if (turns_true(s, th_tcl_of(s)->breakpoints[k]) &&
            add_call(c, th_tcl_of(s)->breakpoints[k]->number,
                     th_condition_object(th_tcl_of(s)->breakpoints[k]->when), err) != 0)
            return -1;
    return th_event_recorder_forget(&th_tcl_of(s)->recorder, err);
}

int th_breakpoints_handle_records(th_session *s, bool *stops, th_stopped_by *by, th_error *err)
{
    calls c = {NULL, 0, 0};
    int failed = collect_calls(s, &c, err);
    *stops = false;
    for (size_t i = 0; !failed && i < c.n; i++) {
        th_stopped_by here;
        bool stops_here = false;
        th_breakpoint *b = find_number(s, c.all[i].number);
        if (!b) /* deleted by an earlier script, or hit already */
            continue;
        failed = hit(s, b, &c.all[i].object, &stops_here, &here);
        if (stops_here && !*stops)
            *by = here;
        *stops = *stops || stops_here;
    }
    th_free(c.all);
    return failed;
}

/* ---- observers of the machine ---- */

/* The kinds of events that must be recorded: bits of th_record_kind. Where links matter, named (by
 * link) says which; only_named false: all do. */
static unsigned recorded_kinds(const th_session *s, bool *named, bool *only_named)
{
    unsigned kinds = 0;
    *only_named = true;
    for (size_t i = 0; i < th_tcl_of(s)->n_breakpoints; i++) {
        const th_breakpoint *b = th_tcl_of(s)->breakpoints[i];
        if (b->is_disabled)
            continue;
        if (b->on >= 0)
            kinds |= 1u << events[b->on].kind;
        if (!b->when)
            continue;
        kinds |= th_condition_kinds(b->when);
        *only_named = th_condition_links(b->when, named) && *only_named;
    }
    return kinds;
}

/* Sets the kinds of events, and the links, that the recorder records for breakpoints. 0 or -1. */
/* Allocates at most once for a system: who removes an observer cannot fail. */
static int configure_recorder(th_session *s, th_error *err)
{
    bool only_named;
    th_tcl_session *t = th_tcl_of(s);
    size_t n = (size_t)s->system->n_links + 1;
    if (th_grow(&t->watched_links, &t->watched_links_capacity, n, sizeof *t->watched_links) != 0)
        return th_error_no_memory(err);
    memset(t->watched_links, 0, n * sizeof *t->watched_links);
    t->recorder.kinds = recorded_kinds(s, t->watched_links, &only_named);
    t->recorder.links = only_named ? t->watched_links : NULL;
    return 0;
}

int th_probes_update(th_session *s, th_error *err)
{
    if (!s->simulation)
        return 0;
    if (configure_recorder(s, err) != 0)
        return -1;
    th_observer *trace = s->trace ? th_trace_observer(s->trace) : NULL,
                *recorder =
                    th_tcl_of(s)->recorder.kinds != 0 ? &th_tcl_of(s)->recorder.observer : NULL,
                *probe = th_tcl_of(s)->probe ? &th_tcl_of(s)->probe->observer : NULL;
    if (recorder)
        recorder->next = probe;
    if (trace)
        trace->next = recorder ? recorder : probe;
    return th_machine_observe(s->simulation->machine,
                              trace      ? trace
                              : recorder ? recorder
                                         : probe,
                              err);
}
