/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unknown.c - see unknown.h. */
#include <config.h>
#include "tcl/shell/unknown.h"
#include "base/alloc.h"
#include "base/names.h"
#include "tcl/command.h"

/* 1 if Tcl's libraries know the command and have loaded it. */
static int auto_load(Tcl_Interp *interp, Tcl_Obj *name)
{
    Tcl_Obj *words[] = {Tcl_NewStringObj("::auto_load", -1), name};
    Tcl_Obj *call = Tcl_NewListObj(2, words);
    int is_loaded = 0;
    Tcl_IncrRefCount(call);
    if (Tcl_EvalObjEx(interp, call, TCL_EVAL_GLOBAL) == TCL_OK)
        Tcl_GetBooleanFromObj(NULL, Tcl_GetObjResult(interp), &is_loaded);
    Tcl_DecrRefCount(call);
    Tcl_ResetResult(interp);
    return is_loaded;
}

/* The command of the table that is near; NULL: none. */
static const char *nearest(const char *name)
{
    enum { COMMANDS_MAX = 120 };
    const char *names[COMMANDS_MAX];
    size_t n = 0;
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name && n < COMMANDS_MAX; row++)
            names[n++] = row->name;
    return th_name_nearest(name, names, n);
}

static int unknown(ClientData unused, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[])
{
    (void)unused;
    if (objc < 2)
        return TCL_ERROR;
    if (auto_load(interp, objv[1]))
        return Tcl_EvalObjv(interp, objc - 1, objv + 1, 0);
    const char *name = Tcl_GetString(objv[1]), *near = nearest(name);
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
