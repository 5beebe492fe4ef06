/* SPDX-License-Identifier: GPL-3.0-or-later */
/* safe_interp.h - the only place where Tharsis makes interpreters, each with the policy of who will
 * run in it: that of the shell, those of studies' points, that of -where, those of procedures of
 * designs.
 *   th_interp_confine_all (once, with -safe) -> th_interp_new*
 * Nobody else calls Tcl_CreateInterp, but for the programs' first steps to Tcl's functions
 * (th_shell_find_tcl). In a confined process (shell/confine.h) no interpreter has exec, load,
 * socket or interp, and its session starts no programs. Tharsis_SafeInit is for an interpreter that
 * its owner has made safe. */
#ifndef TH_TCL_SAFE_INTERP_H
#define TH_TCL_SAFE_INTERP_H
#include <stdbool.h>
#include <tcl.h>

/* From here on every interpreter is one for a stranger's script, whose commands open the files that
 * may() allows; the kernel holds the same limits, but tells which files are there. */
void th_interp_confine_all(bool (*may)(const char *path, bool writes));

/* An interpreter with the commands of Tharsis in its global namespace, as this process has it: a
 * safe one has only what Tcl calls safe, without what makes other interpreters, but with standard
 * output and standard error, and its session's commands open only files that come with Tharsis. A
 * Tcl return code; *out is the caller's also after a failure, which its result describes. */
int th_interp_new(bool is_safe, Tcl_Interp **out);
/* For the calling thread: safe, without channels, with two scripts that text lists: packages, which
 * are loaded before it is made safe, and procedures. What keeps a state, tells the time or draws at
 * random is taken away. As th_interp_new. */
int th_interp_new_for_procedures(const char *text, Tcl_Interp **out);
/* For expressions alone, safe, below a parent, in the place of an earlier one; its command in the
 * parent is TH_WHERE_INTERP. NULL: no memory. */
Tcl_Interp *th_interp_new_for_expressions(Tcl_Interp *parent);
#define TH_WHERE_INTERP "::tharsis::where_interp"

#endif
