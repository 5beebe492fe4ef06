/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unknown.h - handles an unknown command: loads it from a Tcl library, takes it for the beginning
 * of a command where it was typed at the prompt, or suggests the command that was meant. In the
 * shell this replaces the handler of Tcl, which at a prompt would also run programs of the
 * system. */
#ifndef TH_TCL_SHELL_UNKNOWN_H
#define TH_TCL_SHELL_UNKNOWN_H
#include <tcl.h>

void th_unknown_create(Tcl_Interp *interp);

#endif
