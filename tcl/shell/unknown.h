/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unknown.h - a command that there is not: load it, or say which one may have been meant.
 * In the shell this takes the place of Tcl's own handler, which at a prompt would complete
 * abbreviations and run programs of the system. */
#ifndef TH_TCL_SHELL_UNKNOWN_H
#define TH_TCL_SHELL_UNKNOWN_H
#include <tcl.h>

void th_unknown_create(Tcl_Interp *interp);

#endif
