/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error_text.h - an error as the shell prints it. */
#ifndef TH_TCL_SHELL_ERROR_TEXT_H
#define TH_TCL_SHELL_ERROR_TEXT_H
#include <stdbool.h>
#include <tcl.h>

/* The message of the present error, and a line for each procedure, loop body and file that it left,
 * the innermost first, each with its line number; is_full: the whole errorInfo of Tcl. For the
 * caller to drop. */
Tcl_Obj *th_error_text(Tcl_Interp *interp, int code, bool is_full);

#endif
