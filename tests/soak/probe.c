/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probe.c - a shell for tests that look from outside: runs a Tcl script with Tharsis' commands for
 * it and for its interpreters, and three more, in the first interpreter:
 *   alloc fail K      the K-th allocation from now fails (0: none)
 *   alloc calls       allocations so far       alloc live   blocks that are allocated
 *   alloc bytes       bytes asked for so far
 *   interrupt at N    Ctrl-C at the N-th look for it from now (0: at none); the looks still to come
 *   interrupt take    whether there was one that nobody saw
 *   sql FILE TEXT     any statements on a database, by no command of Tharsis; whether they succeed
 *
 *   probe SCRIPT ?ARGUMENT ...? */
#include <config.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sqlite3.h>
#include <tcl.h>
#include "base/alloc.h"
#include "base/interrupt.h"
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

static int run_interrupt(ClientData data, Tcl_Interp *interp, int n, Tcl_Obj *const words[])
{
    (void)data;
    int at = 0;
    if (n > 2 && Tcl_GetIntFromObj(interp, words[2], &at) != TCL_OK)
        return TCL_ERROR;
    int answer = n > 2 ? th_interrupt_at_poll(at) : th_interrupt_take();
    Tcl_SetObjResult(interp, Tcl_NewIntObj(answer));
    return TCL_OK;
}

static int run_sql(ClientData data, Tcl_Interp *interp, int n, Tcl_Obj *const words[])
{
    (void)data;
    sqlite3 *db = NULL;
    bool is_done = n == 3 && sqlite3_open(Tcl_GetString(words[1]), &db) == SQLITE_OK &&
                   sqlite3_exec(db, Tcl_GetString(words[2]), NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    Tcl_SetObjResult(interp, Tcl_NewBooleanObj(is_done));
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
    Tcl_CreateObjCommand(interp, "interrupt", run_interrupt, NULL, NULL);
    Tcl_CreateObjCommand(interp, "sql", run_sql, NULL, NULL);
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
