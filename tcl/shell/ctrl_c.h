/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctrl_c.h - Ctrl-C without a signal handler, and the end by SIGTERM and SIGHUP.
 *   block (main, before Tcl starts) -> start
 * Tcl_AsyncMark in a signal handler deadlocks on threaded Tcl 8.6. SIGINT is therefore blocked in
 * every thread; one small thread waits for it, raises the interrupt flag and marks the handler. A
 * loop that polls the flag (run, map_workload) handles it at a consistent state; otherwise Tcl
 * handles it between two commands and cancels the script.
 * SIGTERM and SIGHUP, where they are not ignored, have a handler that wakes the same thread (so
 * children inherit no blocked signal): it removes files without a name and ends the process by the
 * same signal. */
#ifndef TH_TCL_SHELL_CTRL_C_H
#define TH_TCL_SHELL_CTRL_C_H
#include <stdbool.h>
#include <tcl.h>

void th_ctrl_c_block(void);
/* Scripts of this interpreter are cancelled; NULL: Ctrl-C does nothing. 0, or -1: it does nothing
 * then, and signals end the process at once. */
int th_ctrl_c_start(Tcl_Interp *interp);
/* What a process does first that is ended by SIGTERM; it may end it by itself. */
void th_ctrl_c_set_last_words(void (*say)(void));
/* While an editor reads a line, Ctrl-C calls this function in the interpreter's thread. NULL: no
 * editor reads. */
void th_ctrl_c_set_reader(void (*on_ctrl_c)(void));

#endif
