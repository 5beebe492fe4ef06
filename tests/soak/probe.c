/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probe.c - a shell for tests that count allocations or make them fail: runs a Tcl script with
 * Tharsis' commands for it and for its interpreters, and one more, in the first interpreter:
 *   alloc fail K    the K-th allocation from now fails (0: none)
 *   alloc calls     allocations so far       alloc live   blocks that are allocated
 *   alloc bytes     bytes asked for so far
 *
 *   probe SCRIPT ?ARGUMENT ...? */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include <tcl.h>
#include "base/alloc.h"
#include "tcl/init.h"

static int run_alloc(ClientData data, Tcl_Interp *interp, int n, Tcl_Obj *const words[])
{
    (void)data;
    const char *what = n > 1 ? Tcl_GetString(words[1]) : "";
    Tcl_WideInt k = 0;
    if (strcmp(what, "fail") == 0) {
        if (n != 3 || Tcl_GetWideIntFromObj(interp, words[2], &k) != TCL_OK)
            return TCL_ERROR;
        th_alloc_fail_at(k);
        return TCL_OK;
    }
    k = strcmp(what, "calls") == 0   ? th_alloc_calls()
        : strcmp(what, "bytes") == 0 ? th_alloc_bytes()
                                     : th_alloc_live();
    Tcl_SetObjResult(interp, Tcl_NewWideIntObj(k));
    return TCL_OK;
}

int main(int argc, char **argv)
{
    Tcl_FindExecutable(argv[0]);
    Tcl_Interp *interp = Tcl_CreateInterp();
    if (argc < 2 || Tcl_Init(interp) != TCL_OK || Tharsis_Init(interp) != TCL_OK)
        return 2;
    Tcl_StaticPackage(interp, "Tharsis", Tharsis_Init, NULL);
    Tcl_CreateObjCommand(interp, "alloc", run_alloc, NULL, NULL);
    Tcl_Obj *words = Tcl_NewListObj(0, NULL);
    for (int i = 2; i < argc; i++)
        Tcl_ListObjAppendElement(interp, words, Tcl_NewStringObj(argv[i], -1));
    Tcl_SetVar2Ex(interp, "argv", NULL, words, TCL_GLOBAL_ONLY);
    int code = Tcl_EvalFile(interp, argv[1]);
    if (code != TCL_OK)
        fprintf(stderr, "%s\n", Tcl_GetVar(interp, "errorInfo", TCL_GLOBAL_ONLY));
    Tcl_DeleteInterp(interp);
    return code != TCL_OK;
}
