/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log.h - a log file: the commands of a script and everything it prints. begin -> (the interpreter
 * runs)* -> end */
#ifndef TH_TCL_LOG_H
#define TH_TCL_LOG_H
#include <tcl.h>
#include "base/error.h"

typedef struct th_log th_log;

/* Starts the log: every top-level command is written after "% ", and so is all standard output and
 * standard error. There is one log per process. NULL: the file cannot be opened, or another log is
 * open. */
th_log *th_log_begin(Tcl_Interp *interp, const char *path, int appends, th_error *err);
/* Between these two, commands are not logged: Tharsis runs them itself. Both accept NULL. */
void th_log_pause(th_log *log, int is_paused);
/* 0, or -1: the log is closed, but not all of it could be written. */
int th_log_end(th_log *log, th_error *err);

#endif
