/* SPDX-License-Identifier: GPL-3.0-or-later */
/* init.c - Tharsis as a Tcl package: creates a session for the interpreter, and its commands in
 * ::tharsis.
 * A session ends with its interpreter. A program that exits does not delete its interpreters, so an
 * exit handler closes the files that are still open; if a trace or log could not be written, the
 * exit status becomes 1. */
#include <config.h>
#include "tcl/init.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "tcl/command.h"
#include "tcl/tcl_session.h"

static const char session_key[] = "tharsis";

/* ---- exit ---- */

static atomic_bool has_lost_output;

/* exit() calls this. Tcl has chosen the status before it closed anything. */
static void end_with_failure(void)
{
    if (!atomic_load(&has_lost_output))
        return;
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

static void say_lost(const th_error *err)
{
    Tcl_Channel to = Tcl_GetStdChannel(TCL_STDERR);
    atomic_store(&has_lost_output, true);
    if (!to)
        return;
    Tcl_Obj *line = Tcl_ObjPrintf("Error %s: %s\n", err->id, err->text);
    Tcl_IncrRefCount(line);
    Tcl_WriteObj(to, line);
    Tcl_Flush(to);
    Tcl_DecrRefCount(line);
}

/* The log comes last: messages about the trace go into it. */
static void close_files(ClientData session)
{
    th_error err;
    if (th_session_close_trace(session, &err) != 0)
        say_lost(&err);
    if (th_session_end_log(session, &err) != 0)
        say_lost(&err);
}

static void free_session(ClientData data, Tcl_Interp *interp)
{
    (void)interp;
    close_files(data);
    Tcl_DeleteThreadExitHandler(close_files, data);
    th_session_free(data);
}

/* With SIGXFSZ ignored, a write beyond the limit on file sizes fails like one on a full disk. */
static void ignore_file_size_signal(void)
{
    struct sigaction now;
    if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        signal(SIGXFSZ, SIG_IGN);
}

static void watch_the_end(th_session *s)
{
    static atomic_flag is_watched = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_watched)) {
        atexit(end_with_failure);
        ignore_file_size_signal();
    }
    Tcl_CreateThreadExitHandler(close_files, s);
}

/* ---- the package ---- */

int th_init_commands(Tcl_Interp *interp)
{
    if (!th_session_of(interp)) {
        th_session *s = th_session_new(interp);
        if (!s) {
            Tcl_SetObjResult(interp, Tcl_NewStringObj("tharsis: memory is out", -1));
            return TCL_ERROR;
        }
        Tcl_SetAssocData(interp, session_key, free_session, s);
        watch_the_end(s);
        th_commands_create(interp, s);
        if (Tcl_EvalEx(interp, th_lib_script, -1, TCL_EVAL_GLOBAL) != TCL_OK)
            return TCL_ERROR;
    }
    return Tcl_PkgProvide(interp, "tharsis", PACKAGE_VERSION);
}

bool th_find_tcl(Tcl_Interp *interp)
{
    return Tcl_InitStubs(interp, "8.6-", 0);
}

DLLEXPORT int Tharsis_Init(Tcl_Interp *interp)
{
    return th_find_tcl(interp) ? th_init_commands(interp) : TCL_ERROR;
}

DLLEXPORT int Tharsis_SafeInit(Tcl_Interp *interp)
{
    int code = Tharsis_Init(interp);
    if (code == TCL_OK)
        th_session_refuse_files(th_session_of(interp));
    return code;
}

th_session *th_session_of(Tcl_Interp *interp)
{
    return Tcl_GetAssocData(interp, session_key, NULL);
}
