/* SPDX-License-Identifier: GPL-3.0-or-later */
/* init.h - the entry points for the shell, and for "load" in a plain tclsh. */
#ifndef TH_TCL_INIT_H
#define TH_TCL_INIT_H
#include "tcl/command.h"

/* Creates session and commands (once), and provides the package. Returns a Tcl return code. */
extern DLLEXPORT int Tharsis_Init(Tcl_Interp *interp);
/* The same for a safe interpreter: the commands open no files but those that come with Tharsis. */
extern DLLEXPORT int Tharsis_SafeInit(Tcl_Interp *interp);
/* Session and commands alone, for interpreters that Tharsis creates itself. */
int th_init_commands(Tcl_Interp *interp);
/* Loads the table of Tcl's functions (stubs), once in a process, for all code in tcl/. Returns
 * false with a message in the interpreter where Tcl is too old. Tharsis_Init calls it. */
bool th_find_tcl(Tcl_Interp *interp);
th_session *th_session_of(Tcl_Interp *interp); /* NULL before Tharsis_Init */

#endif
