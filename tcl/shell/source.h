/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.h - "source -echo FILE": each command of the file is printed before it runs, and its
 * result after. Without -echo, and in everything else, it is Tcl's source. */
#ifndef TH_TCL_SHELL_SOURCE_H
#define TH_TCL_SHELL_SOURCE_H
#include <tcl.h>

/* Takes the place of ::source, which becomes ::tharsis::Source. 0 or a Tcl error. */
int th_source_create(Tcl_Interp *interp, const char *prompt);

#endif
