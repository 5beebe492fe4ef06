/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_script.h - calls the Tcl procedures of script designs for sim/design/script_memo.h. */
#ifndef TH_TCL_DESIGN_SCRIPT_H
#define TH_TCL_DESIGN_SCRIPT_H
#include "sim/design/script_memo.h"
#include "tcl/command.h"

/* A design's "procedure" is one of this namespace, which every session has: a procedure is declared
 * for designs by making it there. It runs in an interpreter of the thread that asks, with the
 * procedures of this namespace and its children, the packages that the variable "packages" there
 * names, and nothing else. No data file calls another command. */
#define TH_DESIGN_NAMESPACE "::tharsis::design"

/* Where there is no session: procedures whose text comes from elsewhere. */
extern const th_script_provider th_design_scripts;
/* The memo of a session; its interpreter has the procedures. NULL on failure. */
th_script_memo *th_design_scripts_new(th_session *s, th_error *err);
/* Does every procedure of the system's script designs exist? 0, or -1 with the first that does
 * not. */
int th_design_scripts_exist(th_session *s, th_error *err);

#endif
