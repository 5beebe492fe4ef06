/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tcl_session.c - output and Ctrl-C of a session, see tcl_session.h. */
#include <config.h>
#include "tcl/tcl_session.h"
#include <errno.h>
#include <sys/stat.h>
#include "base/files/open_file.h"
#include "base/files/write_file.h"
#include "base/interrupt.h"

/* ---- files ---- */

void th_session_refuse_files(th_session *s)
{
    th_tcl_of(s)->files = &th_shipped_files_only;
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

static bool is_folder(Tcl_Obj *path)
{
    struct stat s;
    return th_file_stat(Tcl_GetString(path), &s) == 0 && S_ISDIR(s.st_mode);
}

/* All folders on the way to the last of the elements. Safe interpreters have no "file mkdir". */
static int make_folders(Tcl_Obj *elements, th_error *err)
{
    Tcl_Obj *last;
    int failed = 0;
    for (int i = 1; Tcl_ListObjIndex(NULL, elements, i, &last) == TCL_OK && last && !failed; i++) {
        Tcl_Obj *folder = Tcl_FSJoinPath(elements, i);
        Tcl_IncrRefCount(folder);
        bool may = th_file_may(Tcl_GetString(folder), true); /* not above what -safe grants */
        if (may && !is_folder(folder) && Tcl_FSCreateDirectory(folder) != TCL_OK &&
            !is_folder(folder))
            failed = th_error_set(err, "TCL-0026", "can't create directory \"%s\": %s",
                                  Tcl_GetString(folder), Tcl_ErrnoMsg(Tcl_GetErrno()));
        Tcl_DecrRefCount(folder);
    }
    return failed;
}

int th_session_make_folder_of(th_session *s, const char *path, th_error *err)
{
    (void)s;
    if (!th_file_may(path, true))
        return th_error_set(err, "TCL-0990", "\"%.200s\": %s", path, th_file_problem(errno));
    Tcl_Obj *name = Tcl_NewStringObj(path, -1);
    Tcl_IncrRefCount(name);
    Tcl_Obj *elements = Tcl_FSSplitPath(name, NULL);
    Tcl_IncrRefCount(elements);
    int failed = make_folders(elements, err);
    Tcl_DecrRefCount(elements);
    Tcl_DecrRefCount(name);
    return failed;
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

/* ---- Ctrl-C ---- */

bool th_session_is_interrupted(th_session *s)
{
    bool is_asked = th_tcl_of(s)->is_item ? th_interrupt_is_pending() : th_interrupt_take();
    return is_asked || th_interrupt_is_late() || Tcl_Canceled(th_tcl_of(s)->interp, 0) == TCL_ERROR;
}

/* ---- typed commands ---- */

/* The shell sets is_typed while it runs a line of the prompt; within that line, the level of
 * procedures and the name of the script tell what was typed from what it calls. */
bool th_session_is_typed(const th_session *s)
{
    const th_tcl_session *t = th_tcl_of(s);
    int is_typed = 0;
    if (!t->is_typed || t->is_running)
        return false;
    Tcl_InterpState saved = Tcl_SaveInterpState(t->interp, TCL_OK);
    Tcl_Obj *test = Tcl_NewStringObj("[info level] == 0 && [info script] eq {}", -1);
    Tcl_IncrRefCount(test);
    if (Tcl_ExprBooleanObj(t->interp, test, &is_typed) != TCL_OK)
        is_typed = 0;
    Tcl_DecrRefCount(test);
    Tcl_RestoreInterpState(t->interp, saved);
    return is_typed;
}
