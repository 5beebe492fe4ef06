/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_point.c - see study_point.h.
 *   th_point_evaluate: interpreter -> variables -> script -> figures of the run, and what the
 *   script returned */
#include <config.h>
#include "tcl/study/study_point.h"
#include "tcl/tcl_session.h"
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/init.h"
#include "tcl/safe_interp.h"
#include "tcl/stack_guard.h"
#include "report/interrupt.h"
#include "tcl/study/study_metric.h"

typedef struct {
    const th_point_job *job;
    th_outcome *out;
    Tcl_Interp *interp;
    th_session *session;
} evaluation;

/* ---- the interpreter ---- */

void th_points_begin_thread(void)
{
    static const int channels[] = {TCL_STDOUT, TCL_STDERR};
    th_stack_guard_thread();
    for (int i = 0; i < 2; i++) {
        Tcl_Channel nowhere = Tcl_OpenFileChannel(NULL, "/dev/null", "w", 0);
        if (!nowhere)
            return;                         /* output is then not discarded */
        Tcl_RegisterChannel(NULL, nowhere); /* stays open when an interpreter is deleted */
        Tcl_SetStdChannel(nowhere, channels[i]);
    }
}

/* Both affect the whole process. */
static const char refusals[] = "foreach name {exit cd} {\n"
                               "    proc ::$name args \"error {$name: refused in the script of a "
                               "study, whose points share a process}\"\n"
                               "}\n";

Tcl_Interp *th_point_interp(bool is_safe, th_error *err)
{
    Tcl_Interp *interp;
    if (th_interp_new(is_safe, &interp) == TCL_OK && Tcl_Eval(interp, refusals) == TCL_OK) {
        Tcl_ResetResult(interp);
        return interp;
    }
    th_error_set(err, "STUDY-0044", "no interpreter can be made: %s", Tcl_GetStringResult(interp));
    Tcl_DeleteInterp(interp);
    return NULL;
}

static void set_variable(evaluation *e, const char *name, Tcl_Obj *value)
{
    Tcl_SetVar2Ex(e->interp, name, NULL, value, TCL_GLOBAL_ONLY);
}

static void set_variables(evaluation *e)
{
    const th_study *s = e->job->study;
    set_variable(e, "point", Tcl_NewWideIntObj(e->job->number));
    set_variable(e, "seed", Tcl_NewWideIntObj(th_study_point_seed(s, e->job->cell)));
    for (int i = 0; i < s->n_parameters; i++)
        set_variable(e, s->parameters[i].name,
                     Tcl_NewStringObj(th_study_value(s, e->job->cell, i), -1));
    if (e->job->setting.auto_path)
        set_variable(e, "auto_path", Tcl_NewStringObj(e->job->setting.auto_path, -1));
}

static void set_session(evaluation *e)
{
    e->session = th_session_of(e->interp);
    e->session->threads = e->job->threads;
    e->session->is_quiet = true;
    th_tcl_of(e->session)->is_in_study = true;
}

/* ---- failures ---- */

static void fail(th_outcome *out, const char *text)
{
    static const char no_memory[] = "memory is out";
    size_t n = strcspn(text, "\n");
    th_free(out->error);
    out->error = th_alloc(n + 1);
    if (out->error)
        snprintf(out->error, n + 1, "%s", text);
    out->point.error = out->error ? out->error : no_memory;
    out->point.state = TH_POINT_FAILED;
}

static void fail_with(th_outcome *out, const th_error *err)
{
    char text[TH_ERROR_TEXT_MAX + 100];
    snprintf(text, sizeof text, "Error %s: %s", err->id, err->text);
    fail(out, text);
}

/* The first line of what Tcl says, and the line of the script. */
static void fail_with_script(evaluation *e, int code)
{
    const char *said = Tcl_GetStringResult(e->interp);
    th_strbuf text = TH_STRBUF_INIT;
    th_strbuf_add_bytes(&text, said, strcspn(said, "\n"));
    if (code == TCL_ERROR)
        th_strbuf_printf(&text, " (line %d of the script)", Tcl_GetErrorLine(e->interp));
    else
        th_strbuf_printf(&text, "the script ended with code %d", code);
    fail(e->out, text.text ? text.text : "");
    th_strbuf_clear(&text);
}

/* ---- figures ---- */

/* The value that the script returned for a metric. */
static int take_answer(Tcl_Obj *answer, const th_study_metric *m, th_quantity *out, th_error *err)
{
    Tcl_Obj *key = Tcl_NewStringObj(m->name, -1), *value = NULL;
    th_error cause;
    Tcl_IncrRefCount(key);
    int failed = Tcl_DictObjGet(NULL, answer, key, &value);
    Tcl_DecrRefCount(key);
    *out = th_absent(th_study_kind(m->kind));
    if (failed != TCL_OK || !value)
        return th_error_set(err, "STUDY-0045",
                            "the script must return a dictionary with \"%s\", not \"%.80s\"",
                            m->name, Tcl_GetString(answer));
    if (Tcl_GetString(value)[0] == '\0' && m->type != TH_FIGURE_TEXT)
        return 0;
    if (th_quantity_parse(out->kind, Tcl_GetString(value), out, &cause) != 0)
        return th_error_set(err, cause.id, "%s, in what the script returned: %s", m->name,
                            cause.text);
    return 0;
}

static int keep_figure(th_outcome *out, int i, const th_quantity *q, th_error *err)
{
    out->point.figures[i] = th_study_figure(q);
    if (q->kind != TH_KIND_TEXT || q->is_absent)
        return 0;
    out->texts[i] = th_alloc_string(q->text);
    out->point.figures[i].text = out->texts[i];
    return out->texts[i] ? 0 : th_error_no_memory(err);
}

static void take_figures(evaluation *e, Tcl_Obj *answer)
{
    const th_study *s = e->job->study;
    th_error err;
    int failed = 0;
    for (int i = 0; i < s->n_metrics && !failed; i++) {
        const th_study_metric *m = &s->metrics[i];
        th_quantity q;
        failed = m->is_own ? take_answer(answer, m, &q, &err)
                           : th_study_metric_ask(e->session, m, &q, &err);
        if (!failed)
            failed = keep_figure(e->out, i, &q, &err);
    }
    if (failed)
        fail_with(e->out, &err);
    th_session_digest(e->session, e->out->mapping, sizeof e->out->mapping);
    if (strcmp(e->out->mapping, "-") != 0)
        e->out->point.mapping = e->out->mapping;
}

/* ---- the time limit ---- */

/* Commands of Tharsis check it where they poll for Ctrl-C; for all others Tcl has its own limit,
 * set a little later. A catch stops neither. */
static void begin_limit(const evaluation *e)
{
    Tcl_Time until;
    if (e->job->setting.seconds == 0)
        return;
    th_interrupt_set_limit((double)e->job->setting.seconds);
    Tcl_GetTime(&until);
    until.sec += (long)e->job->setting.seconds;
    Tcl_LimitSetTime(e->interp, &until);
    Tcl_LimitTypeSet(e->interp, TCL_LIMIT_TIME);
}

/* A point that finished nevertheless keeps its result. */
static void end_limit(evaluation *e)
{
    th_error err;
    bool is_late = th_interrupt_is_late();
    th_interrupt_set_limit(0);
    if (!is_late || e->out->point.state != TH_POINT_FAILED)
        return;
    th_error_set(&err, "STUDY-0091", "stopped after %lld s: the limit of run_study -seconds",
                 (long long)e->job->setting.seconds);
    fail_with(e->out, &err);
}

/* ---- the point ---- */

/* A point with an incomplete file has failed. */
static void close_files(evaluation *e)
{
    th_error err;
    int failed = th_session_close_trace(e->session, &err);
    if (th_session_end_log(e->session, !failed ? &err : NULL) != 0)
        failed = -1;
    if (failed && e->out->point.state != TH_POINT_FAILED)
        fail_with(e->out, &err);
}

static void run_script(evaluation *e)
{
    Tcl_Obj *script = Tcl_NewStringObj(e->job->study->script, -1);
    Tcl_IncrRefCount(script);
    int code = Tcl_EvalObjEx(e->interp, script, TCL_EVAL_GLOBAL);
    Tcl_DecrRefCount(script);
    if (code == TCL_OK || code == TCL_RETURN) {
        Tcl_Obj *answer = Tcl_GetObjResult(e->interp);
        Tcl_IncrRefCount(answer);
        take_figures(e, answer);
        Tcl_DecrRefCount(answer);
    } else {
        fail_with_script(e, code);
    }
    close_files(e);
}

static void clear_figures(th_outcome *out)
{
    for (int i = 0; i < TH_STUDY_METRICS_MAX; i++)
        out->point.figures[i] = (th_figure){.is_absent = true};
}

void th_point_evaluate(const th_point_job *job, th_outcome *out)
{
    th_error err;
    const th_point_timer *timer = &job->timer;
    *out =
        (th_outcome){.point = {.number = job->number, .cell = job->cell, .state = TH_POINT_DONE}};
    evaluation e = {.job = job, .out = out, .interp = th_point_interp(job->setting.is_safe, &err)};
    clear_figures(out);
    if (!e.interp) {
        fail_with(out, &err);
        return;
    }
    Tcl_Preserve(e.interp);
    set_session(&e);
    set_variables(&e);
    bool may_begin = !timer->begin || timer->begin(timer->state, e.interp);
    if (may_begin) {
        begin_limit(&e);
        run_script(&e);
        end_limit(&e);
    }
    /* A run may have seen Ctrl-C before anybody who looks after it has. */
    bool was_stopped = timer->end && timer->end(timer->state);
    was_stopped |= th_interrupt_is_pending();
    out->was_stopped = !may_begin || (was_stopped && out->point.state == TH_POINT_FAILED);
    if (out->point.state == TH_POINT_FAILED)
        clear_figures(out);
    Tcl_DeleteInterp(e.interp);
    Tcl_Release(e.interp);
}

void th_outcome_clear(th_outcome *out)
{
    th_free(out->error);
    for (int i = 0; i < TH_STUDY_METRICS_MAX; i++)
        th_free(out->texts[i]);
    *out = (th_outcome){0};
}
