/* SPDX-License-Identifier: GPL-3.0-or-later */
/* init.h - the way in for the shell, and for "load" in a plain tclsh. */
#ifndef TH_TCL_INIT_H
#define TH_TCL_INIT_H
#include "tcl/command.h"

/* Creates session and commands (once), provides the package. A Tcl return code. */
extern DLLEXPORT int Tharsis_Init(Tcl_Interp *interp);
/* The first part of it: session and commands. For interpreters that Tharsis makes itself. */
int th_init_commands(Tcl_Interp *interp);
/* Finds the functions of Tcl, once in a process, for all else in tcl/ that calls them: in the
 * package as in the programs, through the table of the interpreter. False, with a message there,
 * where Tcl is too old. Tharsis_Init does so. */
bool th_find_tcl(Tcl_Interp *interp);
th_session *th_session_of(Tcl_Interp *interp); /* NULL before Tharsis_Init */

#endif
