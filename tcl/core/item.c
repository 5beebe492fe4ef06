/* SPDX-License-Identifier: GPL-3.0-or-later */
/* item.c - see item.h.
 *   th_item_run: interpreter -> variables -> script -> FINISH -> files are closed */
#include <config.h>
#include "tcl/core/item.h"
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/interrupt.h"
#include "tcl/init.h"
#include "tcl/safe_interp.h"
#include "tcl/stack_guard.h"

typedef struct {
    Tcl_Obj **job; /* TH_JOB_WORDS words */
    Tcl_Interp *interp;
    th_session *session;
    Tcl_WideInt seconds;
    bool has_failed;
    Tcl_Obj *text;
    char digest[20];
} item;

/* ---- the interpreter ---- */

void th_items_begin_thread(void)
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
                               "    proc ::$name args [list error \"$name: refused in the script "
                               "of $of share a process\"]\n"
                               "}\n"
                               "unset name of\n";

Tcl_Interp *th_item_interp(bool is_safe, const char *of, th_error *err)
{
    Tcl_Interp *interp;
    if (th_interp_new(is_safe, &interp) == TCL_OK &&
        Tcl_SetVar(interp, "of", of, TCL_GLOBAL_ONLY) && Tcl_Eval(interp, refusals) == TCL_OK) {
        Tcl_ResetResult(interp);
        return interp;
    }
    th_error_set(err, "STUDY-0044", "no interpreter can be made: %s", Tcl_GetStringResult(interp));
    Tcl_DeleteInterp(interp);
    return NULL;
}

static void set_variables(item *e)
{
    Tcl_Obj **word;
    Tcl_Size n = 0;
    if (Tcl_ListObjGetElements(NULL, e->job[TH_JOB_VARIABLES], &n, &word) != TCL_OK)
        return;
    for (Tcl_Size i = 0; i + 1 < n; i += 2)
        Tcl_SetVar2Ex(e->interp, Tcl_GetString(word[i]), NULL, word[i + 1], TCL_GLOBAL_ONLY);
    if (Tcl_GetCharLength(e->job[TH_JOB_AUTO_PATH]) > 0)
        Tcl_SetVar2Ex(e->interp, "auto_path", NULL, e->job[TH_JOB_AUTO_PATH], TCL_GLOBAL_ONLY);
}

/* ---- what it leaves ---- */

static void say(item *e, bool has_failed, const char *text, size_t n)
{
    if (e->text)
        Tcl_DecrRefCount(e->text);
    e->text = Tcl_NewStringObj(text, (int)n);
    Tcl_IncrRefCount(e->text);
    e->has_failed = has_failed;
}

static void fail(item *e, const char *text)
{
    say(e, true, text, strcspn(text, "\n"));
}

static void fail_with(item *e, const th_error *err)
{
    char text[TH_ERROR_TEXT_MAX + 100];
    snprintf(text, sizeof text, "Error %s: %s", err->id, err->text);
    fail(e, text);
}

/* The first line of what Tcl says, and the line of the script. */
static void fail_with_script(item *e, int code)
{
    const char *said = Tcl_GetStringResult(e->interp);
    Tcl_Obj *text = Tcl_NewStringObj(said, (int)strcspn(said, "\n"));
    Tcl_IncrRefCount(text);
    if (code == TCL_ERROR)
        Tcl_AppendPrintfToObj(text, " (line %d of the script)", Tcl_GetErrorLine(e->interp));
    else
        Tcl_AppendPrintfToObj(text, "the script ended with code %d", code);
    fail(e, Tcl_GetString(text));
    Tcl_DecrRefCount(text);
}

static void finish(item *e)
{
    Tcl_Obj *words = Tcl_DuplicateObj(e->job[TH_JOB_FINISH]);
    Tcl_Size n = 0;
    int code = TCL_OK;
    Tcl_IncrRefCount(words);
    if (Tcl_ListObjLength(NULL, words, &n) == TCL_OK && n > 0) {
        Tcl_ListObjAppendElement(NULL, words, Tcl_GetObjResult(e->interp));
        code = Tcl_EvalObjEx(e->interp, words, TCL_EVAL_GLOBAL);
    }
    Tcl_DecrRefCount(words);
    const char *text = Tcl_GetStringResult(e->interp);
    if (code == TCL_OK)
        say(e, false, text, strlen(text));
    else
        fail(e, text);
    th_session_digest(e->session, e->digest, sizeof e->digest);
}

/* An item with an incomplete file has failed. */
static void close_files(item *e)
{
    th_error err;
    int failed = th_session_close_trace(e->session, &err);
    if (th_session_end_log(e->session, !failed ? &err : NULL) != 0)
        failed = -1;
    if (failed && !e->has_failed)
        fail_with(e, &err);
}

/* ---- the time limit ---- */

/* Commands of Tharsis check it where they poll for Ctrl-C; for all others Tcl has its own limit,
 * set a little later. A catch stops neither. */
static void begin_limit(const item *e)
{
    Tcl_Time until;
    if (e->seconds <= 0)
        return;
    th_interrupt_set_limit((double)e->seconds);
    Tcl_GetTime(&until);
    until.sec += (long)e->seconds;
    Tcl_LimitSetTime(e->interp, &until);
    Tcl_LimitTypeSet(e->interp, TCL_LIMIT_TIME);
}

/* An item that finished nevertheless keeps its result. */
static void end_limit(item *e)
{
    th_error err;
    bool is_late = th_interrupt_is_late();
    th_interrupt_set_limit(0);
    if (!is_late || !e->has_failed)
        return;
    th_error_set(&err, "STUDY-0091", "stopped after %lld s: the limit of run_study -seconds",
                 (long long)e->seconds);
    fail_with(e, &err);
}

/* ---- the item ---- */

static void run_script(item *e)
{
    begin_limit(e);
    int code = Tcl_EvalObjEx(e->interp, e->job[TH_JOB_SCRIPT], TCL_EVAL_GLOBAL);
    if (code == TCL_OK || code == TCL_RETURN)
        finish(e);
    else
        fail_with_script(e, code);
    close_files(e);
    end_limit(e);
}

/* Shows the interpreter to others, or no longer. Returns whether the item is to stop. */
static bool show(const th_item_guard *g, Tcl_Interp *interp)
{
    if (!g)
        return false;
    pthread_mutex_lock(g->lock);
    bool stops = *g->is_stopping;
    *g->interp = stops ? NULL : interp;
    pthread_mutex_unlock(g->lock);
    return stops;
}

/* Was it stopped? */
static bool run_in_interp(item *e, int threads, const th_item_guard *guard)
{
    Tcl_Preserve(e->interp);
    e->session = th_session_of(e->interp);
    e->session->threads = threads;
    e->session->is_quiet = true;
    th_tcl_of(e->session)->is_item = true;
    set_variables(e);
    bool is_late = show(guard, e->interp);
    if (!is_late)
        run_script(e);
    /* A run may have seen Ctrl-C before anybody who looks after it has. */
    bool was_stopped = show(guard, NULL) || th_interrupt_is_pending();
    Tcl_DeleteInterp(e->interp);
    Tcl_Release(e->interp);
    return is_late || (was_stopped && e->has_failed);
}

static char *outcome_of(item *e, bool was_stopped)
{
    const char *state = was_stopped ? "stopped" : e->has_failed ? "failed" : "done";
    bool has_digest = e->digest[0] != '\0' && strcmp(e->digest, "-") != 0;
    Tcl_Obj *words[] = {Tcl_NewStringObj(state, -1), e->text ? e->text : Tcl_NewObj(),
                        Tcl_NewStringObj(has_digest ? e->digest : "", -1)};
    Tcl_Obj *list = Tcl_NewListObj(3, words);
    Tcl_IncrRefCount(list);
    char *text = th_alloc_string(Tcl_GetString(list));
    Tcl_DecrRefCount(list);
    if (e->text)
        Tcl_DecrRefCount(e->text);
    return text;
}

char *th_item_run(const char *job, int threads, const th_item_guard *guard)
{
    item e = {.text = NULL};
    th_error err;
    Tcl_Obj *list = Tcl_NewStringObj(job, -1);
    Tcl_Size n = 0;
    int is_safe = 1;
    bool was_stopped = false;
    Tcl_IncrRefCount(list);
    if (Tcl_ListObjGetElements(NULL, list, &n, &e.job) != TCL_OK || n != TH_JOB_WORDS ||
        Tcl_GetWideIntFromObj(NULL, e.job[TH_JOB_SECONDS], &e.seconds) != TCL_OK ||
        Tcl_GetBooleanFromObj(NULL, e.job[TH_JOB_IS_SAFE], &is_safe) != TCL_OK)
        fail(&e, "a damaged message");
    else if (!(e.interp = th_item_interp(is_safe, Tcl_GetString(e.job[TH_JOB_OF]), &err)))
        fail_with(&e, &err);
    else
        was_stopped = run_in_interp(&e, threads, guard);
    Tcl_DecrRefCount(list);
    return outcome_of(&e, was_stopped);
}

int th_item_serve(void *unused, const void *bytes, size_t n, th_serializer *answer)
{
    (void)unused;
    char *job = th_alloc(n + 1), *outcome = NULL;
    if (job) {
        memcpy(job, bytes, n);
        job[n] = '\0';
        outcome = th_item_run(job, 1, NULL);
    }
    if (outcome)
        th_strbuf_add(&answer->out, outcome);
    int failed = outcome && !answer->out.failed ? 0 : -1;
    th_free(job);
    th_free(outcome);
    return failed;
}
