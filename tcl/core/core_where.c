/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_where.c - core commands about a run that stands still, and about the flows over a link.
 *
 * The next task of an accelerator is the first in program order that has not started. Programs list
 * successors alone, so what it waits for is found by a look at every dependency: the first
 * predecessor, in program order, that has not ended. */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "base/min_max.h"
#include "session/objects/objects.h"
#include "session/contention_run.h"
#include "session/link_flows.h"
#include "session/property_events.h"
#include "tcl/core/lib_report.h"
#include "tcl/tcl_session.h"

/* ---- where ---- */

/* The next task of each accelerator, and what it waits for; -1: none. */
typedef struct th_nexts {
    int32_t *task, *waits_for, *n_waits;
} th_nexts;

static void free_nexts(th_nexts *x)
{
    th_free(x->task);
    th_free(x->waits_for);
    th_free(x->n_waits);
}

static bool has_started(const th_simulation *sim, int32_t task)
{
    return th_machine_times(sim->machine)[task].start_ps >= 0;
}

static bool has_ended(const th_simulation *sim, int32_t task)
{
    return th_machine_times(sim->machine)[task].end_ps >= 0;
}

static int accel_of(const th_session *s, const th_task *t)
{
    return t->kind == TH_TASK_COMPUTE ? s->system->nodes[t->node].accel : -1;
}

static void find_next_tasks(const th_session *s, const th_nexts *x)
{
    const th_program *p = s->simulation->program;
    for (int a = 0; a < s->system->n_accels; a++)
        x->task[a] = x->waits_for[a] = -1;
    for (int32_t t = p->n_tasks; t-- > 0;) {
        int accel = accel_of(s, &p->tasks[t]);
        if (accel >= 0 && !has_started(s->simulation, t))
            x->task[accel] = t;
    }
}

static void find_predecessors(const th_session *s, const th_nexts *x)
{
    const th_program *p = s->simulation->program;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        if (has_ended(s->simulation, t))
            continue;
        for (int32_t i = p->successor_start[t]; i < p->successor_start[t + 1]; i++) {
            int accel = accel_of(s, &p->tasks[p->successors[i]]);
            if (accel < 0 || x->task[accel] != p->successors[i])
                continue;
            if (x->n_waits[accel]++ == 0)
                x->waits_for[accel] = t;
        }
    }
}

static int find_nexts(const th_session *s, th_nexts *x, th_error *err)
{
    size_t n = (size_t)s->system->n_accels + 1;
    x->task = th_alloc_array(n, sizeof *x->task);
    x->waits_for = th_alloc_array(n, sizeof *x->waits_for);
    x->n_waits = th_alloc_zero(n, sizeof *x->n_waits);
    if (!x->task || !x->waits_for || !x->n_waits)
        return th_error_no_memory(err);
    find_next_tasks(s, x);
    find_predecessors(s, x);
    return 0;
}

/* nexts: {TASK WAITS_FOR OTHERS} of each accelerator; empty: none. */
static int run_nexts(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_program(s, &c->err) != 0 || !th_session_simulation(s, &c->err))
        return -1;
    th_nexts x = {NULL, NULL, NULL};
    int failed = find_nexts(s, &x, &c->err);
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int a = 0; !failed && a < s->system->n_accels; a++) {
        bool waits = x.waits_for[a] >= 0;
        TH_LIB_ADD(all, th_lib_number_if(x.task[a] >= 0, x.task[a]),
                   th_lib_number_if(waits, x.waits_for[a]),
                   th_lib_number_if(waits, x.n_waits[a] - 1));
    }
    free_nexts(&x);
    Tcl_SetObjResult(c->interp, all);
    return failed;
}

/* tasks_now: {N_DONE N_RUNNING N_READY N_WAITING IN_FLIGHT}, the tasks that run elsewhere than on
 * accelerators. */
static int run_tasks_now(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_program(s, &c->err) != 0 || !th_session_simulation(s, &c->err))
        return -1;
    const th_program *p = s->simulation->program;
    int64_t n[TH_TASK_DONE + 1] = {0};
    Tcl_Obj *in_flight = Tcl_NewListObj(0, NULL);
    for (int32_t t = 0; t < p->n_tasks; t++) {
        th_task_state state = th_machine_task_state(s->simulation->machine, t);
        n[state]++;
        if (state == TH_TASK_RUNNING && p->tasks[t].kind != TH_TASK_COMPUTE)
            th_lib_append(in_flight, Tcl_NewIntObj(t));
    }
    return th_lib_give(c, TH_LIB_LIST(Tcl_NewWideIntObj(n[TH_TASK_DONE]),
                                      Tcl_NewWideIntObj(n[TH_TASK_RUNNING]),
                                      Tcl_NewWideIntObj(n[TH_TASK_READY]),
                                      Tcl_NewWideIntObj(n[TH_TASK_WAITING]), in_flight));
}

/* stopped: where and why the run has stopped; empty: it has not. */
static int run_stopped(th_call *c)
{
    th_strbuf text = TH_STRBUF_INIT;
    if (c->session->simulation && th_tcl_of(c->session)->stop.is_known)
        th_run_stop_describe(c->session, &th_tcl_of(c->session)->stop, &text);
    th_call_return_text(c, text.text ? text.text : "");
    th_strbuf_clear(&text);
    return 0;
}

/* ---- a link ---- */

int th_call_parse_link(th_call *c, const char *option, const char *text)
{
    th_object o;
    int bare = th_system_find_link(c->session->system, text);
    if (bare >= 0)
        return bare;
    int failed = strchr(text, '/') ? th_object_parse(c->session, text, &o, &c->err)
                                   : th_object_unknown(c->session, TH_CLASS_LINK, text, &c->err);
    if (failed) {
        th_call_prefix_error(c, option, &c->err);
        return -1;
    }
    if (o.class == TH_CLASS_LINK)
        return o.index;
    return th_error_set(&c->err, "TCL-0158", "%s \"%s\": must be a link", option, text);
}

/* link OPTION TEXT: its number. */
static int run_link(th_call *c)
{
    int link = th_call_parse_link(c, th_call_word(c, 0), th_call_word(c, 1));
    if (link >= 0)
        Tcl_SetObjResult(c->interp, Tcl_NewIntObj(link));
    return link >= 0 ? 0 : -1;
}

static const th_result *result_of(th_call *c)
{
    return th_session_need_run(c->session, &c->err) == 0
               ? th_simulation_result(c->session->simulation, &c->err)
               : NULL;
}

/* Is it the number of a link? 0, or -1 with c->err. */
static int read_link(th_call *c, Tcl_Obj *number, int *link)
{
    return Tcl_GetIntFromObj(NULL, number, link) == TCL_OK && *link >= 0 &&
                   *link < c->session->system->n_links
               ? 0
               : th_lib_fault(c, "a link");
}

static Tcl_Obj *flow_row(th_session *s, const th_result *x, const th_link_flow *f)
{
    const th_program *p = s->simulation->program;
    const th_task *task = &p->tasks[f->task];
    const th_task_result *when = &x->tasks[f->task];
    const char *node = th_task_trace_name(s, task);
    const char *what = node ? node
                       : task->kind == TH_TASK_COLLECTIVE
                           ? th_collective_names[p->collectives[task->collective].kind]
                       : task->layer >= 0 ? s->workload->layers[task->layer].name
                                          : th_task_kind_name(task->kind);
    int32_t job = th_program_job_of(p, f->task);
    return TH_LIB_LIST(
        Tcl_NewIntObj(f->task),
        job >= 0 ? Tcl_ObjPrintf("%s: %s", p->jobs[job].name, what) : th_lib_text(what),
        th_lib_text(s->system->nodes[f->from].name), th_lib_text(s->system->nodes[f->to].name),
        Tcl_NewWideIntObj(f->messages), Tcl_NewWideIntObj(f->bytes),
        th_lib_number_if(when->start_ps >= 0, when->start_ps),
        th_lib_number_if(when->end_ps >= 0, when->end_ps));
}

/* link_flows LINK: {TASK WHAT FROM TO MESSAGES BYTES START END} of each flow over it. */
static int run_link_flows(th_call *c)
{
    int link;
    th_link_flows f;
    th_session *s = c->session;
    const th_result *x = result_of(c);
    if (!x || read_link(c, c->words[0], &link) != 0 ||
        th_link_flows_collect(&f, s->system, s->simulation, x, link, &c->err) != 0)
        return -1;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (size_t i = 0; i < f.n; i++)
        th_lib_append(all, flow_row(s, x, &f.flows[i]));
    th_link_flows_clear(&f);
    return th_lib_give(c, all);
}

/* {START END MEAN_FLOWS MAX_FLOWS} of each window. */
static Tcl_Obj *windows_of(const th_contention_probe *w, int link, th_time end)
{
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int32_t i = 0; i < w->n_windows; i++) {
        const th_probe_window *at = &th_contention_probe_windows(w, link)[i];
        th_time from = i * w->window_ps, to = th_min((i + 1) * w->window_ps, end);
        TH_LIB_ADD(all, Tcl_NewWideIntObj(from), Tcl_NewWideIntObj(to),
                   Tcl_NewDoubleObj(th_ratio(at->flow_ps, (double)(to - from))),
                   Tcl_NewWideIntObj(at->peak_flows));
    }
    return all;
}

/* link_windows LINKS N: the windows of each; the run is repeated with a probe on the links. */
static int run_link_windows(th_call *c)
{
    int link, n_links, failed;
    Tcl_WideInt n;
    Tcl_Obj **number, *all = Tcl_NewListObj(0, NULL);
    th_contention_probe w;
    th_session *s = c->session;
    const th_result *x = result_of(c);
    if (!x || Tcl_GetWideIntFromObj(NULL, c->words[1], &n) != TCL_OK || n < 1 ||
        (n_links = th_lib_elements(c->words[0], -1, &number)) < 0)
        return x ? th_lib_fault(c, "link_windows") : -1;
    n = n < TH_PROBE_WINDOWS_MAX ? n : TH_PROBE_WINDOWS_MAX;
    failed = th_contention_probe_init(&w, s->system, NULL, x->elapsed_ps, (int32_t)n)
                 ? th_error_no_memory(&c->err)
                 : 0;
    for (int i = 0; !failed && i < n_links; i++)
        failed = read_link(c, number[i], &link)             ? -1
                 : th_contention_probe_watch_link(&w, link) ? th_error_no_memory(&c->err)
                                                            : 0;
    failed = failed || th_probe_run_again(s, &w, &c->err) != 0;
    for (int i = 0; !failed && i < n_links && read_link(c, number[i], &link) == 0; i++)
        th_lib_append(all, windows_of(&w, link, x->elapsed_ps));
    th_contention_probe_clear(&w);
    Tcl_SetObjResult(c->interp, all);
    return failed ? -1 : 0;
}

const th_command th_core_where_commands[] = {
    TH_CORE_ROW_OF_RUN("nexts", "", 0, run_nexts),
    TH_CORE_ROW_OF_RUN("tasks_now", "", 0, run_tasks_now),
    TH_CORE_ROW_OF_RUN("stopped", "", 0, run_stopped),
    TH_CORE_ROW_THAT_NEEDS("link", "OPTION TEXT", 2, run_link, th_session_need_system),
    TH_CORE_ROW_OF_RUN("link_flows", "LINK", 1, run_link_flows),
    TH_CORE_ROW_OF_RUN("link_windows", "LINKS N", 2, run_link_windows),
    {.name = NULL},
};
