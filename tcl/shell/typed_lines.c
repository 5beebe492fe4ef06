/* SPDX-License-Identifier: GPL-3.0-or-later */
/* typed_lines.c - see typed_lines.h. Only a "!" that begins a command is history's: elsewhere it is
 * Tcl's. Tcl's history counts back from the present command, so that one is recorded first, and
 * changed to what it stands for. */
#include <config.h>
#include "tcl/shell/typed_lines.h"
#include <string.h>
#include "tcl/init.h"
#include "tcl/log.h"
#include "tcl/tcl_session.h"

/* history SUBCOMMAND A B; B may be NULL. A Tcl code. */
static int history(Tcl_Interp *interp, const char *subcommand, Tcl_Obj *a, Tcl_Obj *b)
{
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::history", -1), Tcl_NewStringObj(subcommand, -1),
                              a, b};
    th_log *log = th_tcl_of(th_session_of(interp))->log;
    th_log_pause(log, 1);
    int code = th_eval_words(interp, b ? 4 : 3, words);
    th_log_pause(log, 0);
    return code;
}

/* The command that a word as "!12" means, in the interpreter's result. A Tcl code. */
static int find(Tcl_Interp *interp, const char *word, size_t length)
{
    bool is_last = length == 2 && word[1] == '!';
    if (length < 2)
        return TCL_ERROR;
    return history(interp, "event",
                   is_last ? Tcl_NewIntObj(-1) : Tcl_NewStringObj(word + 1, (int)length - 1), NULL);
}

static Tcl_Obj *expand(Tcl_Interp *interp, const char *text)
{
    size_t length = strcspn(text, " \t\n");
    if (find(interp, text, length) != TCL_OK) {
        Tcl_SetObjResult(interp, Tcl_ObjPrintf("\"%.*s\": no command typed before is meant: "
                                               "\"history\" lists them",
                                               (int)length, text));
        return NULL;
    }
    Tcl_Obj *expanded = Tcl_DuplicateObj(Tcl_GetObjResult(interp));
    Tcl_IncrRefCount(expanded);
    Tcl_AppendToObj(expanded, text + length, -1);
    history(interp, "change", expanded, Tcl_NewIntObj(0));
    return expanded;
}

/* Without the blanks and line ends behind it; referenced. */
static Tcl_Obj *trimmed(Tcl_Obj *command)
{
    const char *text = Tcl_GetString(command);
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\n", text[length - 1]))
        length--;
    Tcl_Obj *copy = Tcl_NewStringObj(text, (int)length);
    Tcl_IncrRefCount(copy);
    return copy;
}

Tcl_Obj *th_typed_record(Tcl_Interp *interp, Tcl_Obj *command)
{
    Tcl_Obj *line = trimmed(command), *meant = NULL;
    history(interp, "add", line, NULL);
    if (Tcl_GetString(line)[0] == '!') {
        meant = expand(interp, Tcl_GetString(line));
    } else {
        meant = command;
        Tcl_IncrRefCount(meant);
    }
    Tcl_DecrRefCount(line);
    return meant;
}
