/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unknown.c - see unknown.h. */
#include <config.h>
#include "tcl/shell/unknown.h"
#include "base/names.h"
#include "tcl/command.h"
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
