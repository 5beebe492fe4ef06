/* SPDX-License-Identifier: GPL-3.0-or-later */
/* typed_lines.h - the commands typed before, which Tcl's "history" lists, and their repetition. */
#ifndef TH_TCL_SHELL_TYPED_LINES_H
#define TH_TCL_SHELL_TYPED_LINES_H
#include <tcl.h>

/* Adds a command to the history. Where it is "!!", "!12", "!-2" or "!run", this is instead the last
 * command, number 12, the last but one, or the last that begins with "run"; what follows a blank is
 * added to it. Returns the command that is meant, for the caller to drop: *command itself where it
 * begins with no "!". NULL: there is no such command, and the interpreter has the error. */
Tcl_Obj *th_typed_record(Tcl_Interp *interp, Tcl_Obj *command);

#endif
