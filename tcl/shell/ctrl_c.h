/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctrl_c.h - Ctrl-C without a signal handler.
 *   block (main, before Tcl starts) -> start
 * Tcl_AsyncMark in a signal handler deadlocks on threaded Tcl 8.6. SIGINT is therefore blocked in
 * every thread; one small thread waits for it, raises the interrupt flag and marks the handler. A
 * loop that polls the flag (run, map_workload) handles it at a consistent state; otherwise Tcl
 * handles it between two commands and cancels the script. */
#ifndef TH_TCL_SHELL_CTRL_C_H
#define TH_TCL_SHELL_CTRL_C_H
#include <stdbool.h>
#include <tcl.h>

void th_ctrl_c_block(void);
int th_ctrl_c_start(Tcl_Interp *interp); /* 0, or -1: Ctrl-C does nothing then */
/* While an editor reads a line, Ctrl-C calls this function in the interpreter's thread. NULL: no
 * editor reads. */
void th_ctrl_c_set_reader(void (*on_ctrl_c)(void));

#endif
