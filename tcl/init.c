/* SPDX-License-Identifier: GPL-3.0-or-later */
/* init.c - Tharsis as a package: a session for the interpreter, and its commands in ::tharsis. */
#include <config.h>
#include "tcl/init.h"
#include "tcl/session.h"

static const char session_key[] = "tharsis";

static void free_session(ClientData data, Tcl_Interp *interp)
{
    (void)interp;
    th_session_free(data);
}

int th_init_commands(Tcl_Interp *interp)
{
    if (th_session_of(interp) == NULL) {
        th_session *s = th_session_new(interp);
        if (s == NULL) {
            Tcl_SetObjResult(interp, Tcl_NewStringObj("tharsis: memory is out", -1));
            return TCL_ERROR;
        }
        Tcl_SetAssocData(interp, session_key, free_session, s);
        th_commands_create(interp, s);
    }
    return Tcl_PkgProvide(interp, "tharsis", PACKAGE_VERSION);
}

bool th_find_tcl(Tcl_Interp *interp)
{
    return Tcl_InitStubs(interp, "8.6-", 0) != NULL;
}

DLLEXPORT int Tharsis_Init(Tcl_Interp *interp)
{
    return th_find_tcl(interp) ? th_init_commands(interp) : TCL_ERROR;
}

th_session *th_session_of(Tcl_Interp *interp)
{
    return Tcl_GetAssocData(interp, session_key, NULL);
}
