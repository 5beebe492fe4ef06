/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unknown.c - see unknown.h. */
#include <config.h>
#include "tcl/shell/unknown.h"
#include <string.h>
#include "base/names.h"
#include "tcl/command.h"
#include "tcl/init.h"
#include "tcl/tcl_session.h"

/* 1 if Tcl's libraries know the command and have loaded it. */
static int auto_load(Tcl_Interp *interp, Tcl_Obj *name)
{
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::auto_load", -1), name};
    int is_loaded = 0;
    if (th_eval_words(interp, 2, words) == TCL_OK)
        Tcl_GetBooleanFromObj(NULL, Tcl_GetObjResult(interp), &is_loaded);
    Tcl_ResetResult(interp);
    return is_loaded;
}

/* The most similar command name; NULL: none is similar. */
static const char *nearest(const char *name)
{
    const char *names[TH_COMMANDS_MAX + 1];
    return th_name_nearest(name, names, th_command_names(names));
}

/* The names of the commands that begin so, sorted; referenced. */
static Tcl_Obj *commands_with_prefix(Tcl_Interp *interp, const char *prefix)
{
    Tcl_Obj **all, *found = Tcl_NewListObj(0, NULL);
    Tcl_Size n = 0;
    Tcl_IncrRefCount(found);
    if (Tcl_EvalEx(interp, "lsort [info commands]", -1, TCL_EVAL_GLOBAL) == TCL_OK &&
        Tcl_ListObjGetElements(NULL, Tcl_GetObjResult(interp), &n, &all) == TCL_OK)
        for (Tcl_Size i = 0; i < n; i++)
            if (strncmp(Tcl_GetString(all[i]), prefix, strlen(prefix)) == 0)
                Tcl_ListObjAppendElement(NULL, found, all[i]);
    Tcl_ResetResult(interp);
    return found;
}

static int run_as(Tcl_Interp *interp, Tcl_Obj *name, int objc, Tcl_Obj *const objv[])
{
    Tcl_Obj *command = Tcl_NewListObj(objc, objv);
    Tcl_IncrRefCount(command);
    Tcl_ListObjReplace(NULL, command, 0, 1, 1, &name);
    int code = Tcl_EvalObjEx(interp, command, 0);
    Tcl_DecrRefCount(command);
    return code;
}

/* What the name may have meant, as far as it fits on a line. */
static Tcl_Obj *ambiguity(const char *name, Tcl_Obj *const *found, Tcl_Size n)
{
    enum { LINE = 80, REST = 12 }; /* columns; those of " and N more" */
    Tcl_Obj *text = Tcl_ObjPrintf("ambiguous command name \"%s\":", name);
    Tcl_Size i = 0;
    for (; i < n; i++) {
        Tcl_Size length, more;
        Tcl_GetStringFromObj(text, &length);
        Tcl_GetStringFromObj(found[i], &more);
        if (length + 1 + more > LINE - (i + 1 < n ? REST : 0))
            break;
        Tcl_AppendPrintfToObj(text, " %s", Tcl_GetString(found[i]));
    }
    if (i < n)
        Tcl_AppendPrintfToObj(text, " and %d more", (int)(n - i));
    return text;
}

/* Runs the command whose beginning was typed. False: there is none. */
static bool run_abbreviated(Tcl_Interp *interp, int objc, Tcl_Obj *const objv[], int *code)
{
    const char *name = Tcl_GetString(objv[0]);
    Tcl_Obj **found, *names = commands_with_prefix(interp, name);
    Tcl_Size n = 0;
    Tcl_ListObjGetElements(NULL, names, &n, &found);
    if (n == 1) {
        *code = run_as(interp, found[0], objc, objv);
    } else if (n > 1) {
        Tcl_SetObjResult(interp, ambiguity(name, found, n));
        Tcl_SetErrorCode(interp, "TCL", "LOOKUP", "COMMAND", name, NULL);
        *code = TCL_ERROR;
    }
    Tcl_DecrRefCount(names);
    return n > 0;
}

static int unknown(ClientData unused, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[])
{
    (void)unused;
    if (objc < 2)
        return TCL_ERROR;
    if (auto_load(interp, objv[1]))
        return Tcl_EvalObjv(interp, objc - 1, objv + 1, 0);
    const char *name = Tcl_GetString(objv[1]), *near = nearest(name);
    for (const th_command *row = th_removed_commands; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return run_as(interp, Tcl_ObjPrintf("::tharsis::%s", name), objc - 1, objv + 1);
    int code = TCL_ERROR;
    if (name[0] != '\0' && th_session_is_typed(th_session_of(interp)) &&
        run_abbreviated(interp, objc - 1, objv + 1, &code))
        return code;
    if (near)
        Tcl_SetObjResult(
            interp, Tcl_ObjPrintf("invalid command name \"%s\": did you mean \"%s\"?", name, near));
    else
        Tcl_SetObjResult(
            interp,
            Tcl_ObjPrintf("invalid command name \"%s\": \"help\" lists the commands", name));
    Tcl_SetErrorCode(interp, "TCL", "LOOKUP", "COMMAND", name, NULL);
    return TCL_ERROR;
}

void th_unknown_create(Tcl_Interp *interp)
{
    Tcl_CreateObjCommand(interp, "::tharsis::Unknown", unknown, NULL, NULL);
    Tcl_Eval(interp, "namespace eval :: {namespace unknown ::tharsis::Unknown}");
}
