/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.h - what a word of a command line could become: commands, options and their choices,
 * objects, files, variables. */
#ifndef TH_TCL_SHELL_COMPLETE_H
#define TH_TCL_SHELL_COMPLETE_H
#include "tcl/tcl_session.h"

/* Creates ::tharsis::Complete WORD START END LINE, as tclreadline asks: LINE from START to END is
 * WORD. It returns a list: the longest beginning that all candidates have, then the candidates, if
 * they are several. */
void th_complete_create(Tcl_Interp *interp, th_session *s);

#endif
