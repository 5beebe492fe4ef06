/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log.h - a file with copies of what a script says, and of what it prints.
 *   begin -> (the interpreter runs)* -> end */
#ifndef TH_TCL_LOG_H
#define TH_TCL_LOG_H
#include <tcl.h>
#include "base/error.h"

typedef struct th_log th_log;

/* From now on every command at the top level goes into the file, behind "% ", and all that is
 * written to standard output and standard error. One log a process. NULL: the file cannot be
 * opened, or another log is open. */
th_log *th_log_begin(Tcl_Interp *interp, const char *path, int appends, th_error *err);
/* What runs between is nobody's command. Both accept NULL. */
void th_log_pause(th_log *log, int is_paused);
/* 0; -1: the log ends, and not all of it could be written. */
int th_log_end(th_log *log, th_error *err);

#endif
