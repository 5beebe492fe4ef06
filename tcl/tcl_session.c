/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tcl_session.c - see tcl_session.h. */
#include <config.h>
#include "tcl/tcl_session.h"
#include "base/alloc.h"
#include "base/write_file.h"
#include "report/interrupt.h"
#include "tcl/design_script.h"
#include "tcl/log.h"
#include "tcl/objects/breakpoint.h"
#include "tcl/objects/probes.h"
#include "tcl/study/study_list.h"

/* ---- notifications from the session ---- */

static int run_replaced(th_session *s, th_error *err)
{
    th_breakpoints_reset(s);
    return th_probes_update(s, err);
}

static const th_session_observer observer = {run_replaced, th_breakpoints_drop_bound};

th_session *th_session_new(Tcl_Interp *interp)
{
    th_tcl_session *t = th_alloc_zero(1, sizeof *t);
    if (!t)
        return NULL;
    t->interp = interp;
    th_event_recorder_init(&t->recorder);
    if (th_session_init(&t->state, &observer) == 0 &&
        (t->state.scripts = th_design_scripts_new(&t->state, NULL)))
        return &t->state;
    th_session_free(&t->state);
    return NULL;
}

void th_session_free(th_session *s)
{
    if (!s)
        return;
    th_tcl_session *t = th_tcl_of(s);
    th_session_close_trace(s, NULL);
    th_session_end_log(s, NULL);
    th_session_drop_run(s);
    th_event_recorder_clear(&t->recorder);
    th_free(t->watched_links);
    th_breakpoints_clear(s);
    th_studies_free(t->studies);
    th_session_clear(s);
    th_free(t);
}

/* ---- output ---- */

int th_eval_words(Tcl_Interp *interp, int n, Tcl_Obj *const *words)
{
    for (int i = 0; i < n; i++)
        Tcl_IncrRefCount(words[i]);
    int code = Tcl_EvalObjv(interp, n, words, TCL_EVAL_GLOBAL);
    for (int i = 0; i < n; i++)
        Tcl_DecrRefCount(words[i]);
    return code;
}

int th_session_print(th_session *s, const char *text, th_error *err)
{
    if (!text)
        return th_error_no_memory(err);
    Tcl_Channel out = Tcl_GetChannel(th_tcl_of(s)->interp, "stdout", NULL);
    if (!out || Tcl_WriteChars(out, text, -1) < 0 || Tcl_Flush(out) != TCL_OK)
        return th_error_set(err, "TCL-0025", "standard output: cannot be written: %s",
                            Tcl_ErrnoMsg(Tcl_GetErrno()));
    return 0;
}

int th_session_make_folder_of(th_session *s, const char *path, th_error *err)
{
    Tcl_Interp *interp = th_tcl_of(s)->interp;
    Tcl_Obj *const dirname[] = {Tcl_NewStringObj("::file", -1), Tcl_NewStringObj("dirname", -1),
                                Tcl_NewStringObj(path, -1)};
    int code = th_eval_words(interp, 3, dirname);
    if (code == TCL_OK) {
        Tcl_Obj *const mkdir[] = {Tcl_NewStringObj("::file", -1), Tcl_NewStringObj("mkdir", -1),
                                  Tcl_GetObjResult(interp)};
        code = th_eval_words(interp, 3, mkdir);
    }
    if (code != TCL_OK)
        th_error_set(err, "TCL-0026", "%s", Tcl_GetStringResult(interp));
    Tcl_ResetResult(interp);
    return code == TCL_OK ? 0 : -1;
}

int th_session_write_file(th_session *s, const char *path, bool append, const th_strbuf *bytes,
                          th_error *err)
{
    if (!bytes->text || bytes->failed)
        return th_error_no_memory(err);
    if (th_session_make_folder_of(s, path, err) != 0)
        return -1;
    Tcl_Obj *name = Tcl_NewStringObj(path, -1);
    Tcl_IncrRefCount(name);
    const char *native = Tcl_FSGetNativePath(name);
    int failed;
    if (!native)
        failed = th_error_set(err, "TCL-0027", "\"%s\": is not a file name", path);
    else if (append)
        failed = th_append_file(native, bytes->text, bytes->length, err);
    else
        failed = th_replace_file(native, bytes->text, bytes->length, err);
    Tcl_DecrRefCount(name);
    return failed;
}

int th_session_close_trace(th_session *s, th_error *err)
{
    th_trace *trace = s->trace;
    if (!trace)
        return 0;
    if (s->simulation)
        th_trace_advance(trace, th_machine_now(s->simulation->machine));
    s->trace = NULL;
    int failed = th_probes_update(s, err);
    return th_trace_close(trace, err) != 0 ? -1 : failed;
}

int th_session_end_log(th_session *s, th_error *err)
{
    int failed = th_log_end(th_tcl_of(s)->log, err);
    th_tcl_of(s)->log = NULL;
    return failed;
}

/* ---- Ctrl-C ---- */

bool th_session_is_interrupted(th_session *s)
{
    bool is_asked = th_tcl_of(s)->is_in_study ? th_interrupt_is_pending() : th_interrupt_take();
    return is_asked || Tcl_Canceled(th_tcl_of(s)->interp, 0) == TCL_ERROR;
}

int th_call_cancel(th_call *c, const char *message)
{
    (void)th_session_is_interrupted(c->session); /* the cancellation ends here */
    if (Tcl_Canceled(c->interp, 0) != TCL_ERROR)
        Tcl_CancelEval(c->interp, Tcl_NewStringObj(message, -1), NULL, TCL_CANCEL_UNWIND);
    Tcl_SetObjResult(c->interp, Tcl_NewStringObj(message, -1));
    c->err.id[0] = '\0';
    return -1;
}
