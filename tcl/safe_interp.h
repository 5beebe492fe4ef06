/* SPDX-License-Identifier: GPL-3.0-or-later */
/* safe_interp.h - interpreters for the scripts of strangers, inside a process that may do more: no
 * exec, open, socket, source, load or cd. With th_session_refuse_files (tcl_session.h) commands of
 * Tharsis open no files either but those that come with it. Both hold for the points of a study
 * from elsewhere; Tharsis_SafeInit is for an interpreter that its owner has made safe. A whole
 * process is limited by shell/confine.h. */
#ifndef TH_TCL_SAFE_INTERP_H
#define TH_TCL_SAFE_INTERP_H
#include <tcl.h>

/* Hides what Tcl calls unsafe; standard output and standard error stay. A Tcl return code. */
int th_interp_make_safe(Tcl_Interp *interp);

#endif
