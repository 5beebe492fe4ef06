/* SPDX-License-Identifier: GPL-3.0-or-later */
/* safe_interp.h - the only place where Tharsis makes interpreters, each with the policy of who will
 * run in it: that of the shell, those of studies' points, that of -where.
 *   th_interp_confine_all (once, with -safe) -> th_interp_new* -> th_interp_make_safe
 * In a confined process (shell/confine.h) no interpreter has exec, load, socket or interp, whatever
 * made it, and its session starts no programs. Tharsis_SafeInit is for an interpreter that its
 * owner has made safe. */
#ifndef TH_TCL_SAFE_INTERP_H
#define TH_TCL_SAFE_INTERP_H
#include <stdbool.h>
#include <tcl.h>

/* From here on every interpreter is one for a stranger's script. */
void th_interp_confine_all(void);
bool th_interp_is_confined(void);

/* An interpreter without commands of Tharsis. */
Tcl_Interp *th_interp_new(void);
/* The same for expressions alone, safe, below a parent. NULL: its name is taken, or no memory. */
Tcl_Interp *th_interp_new_for_expressions(Tcl_Interp *parent);

/* After the commands of Tharsis and the libraries of Tcl have come: takes away what a confined
 * process refuses; nothing in others. A Tcl return code. */
int th_interp_restrict(Tcl_Interp *interp);
/* Hides what Tcl calls unsafe, and what makes other interpreters; standard output and standard
 * error stay, and the session's commands open only files that come with Tharsis. A Tcl return
 * code. */
int th_interp_make_safe(Tcl_Interp *interp);

#endif
