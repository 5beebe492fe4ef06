/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.h - completion of a word of a command line: commands, options and their choices,
 * objects, files, variables. */
#ifndef TH_TCL_SHELL_COMPLETE_H
#define TH_TCL_SHELL_COMPLETE_H
#include "tcl/tcl_session.h"

/* Creates ::tharsis::Complete WORD START END LINE, as the line editor calls it: LINE from
 * START to END is WORD. It returns a list: the longest common prefix of the candidates, then the
 * candidates, if there are several. */
void th_complete_create(Tcl_Interp *interp, th_session *s);

#endif
