/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interrupt.h - Ctrl-C without a signal handler.
 *
 *   block (main, before Tcl starts) -> start -> take*
 * Tcl_AsyncMark from a signal handler deadlocks on threaded Tcl 8.6. So SIGINT is blocked in every
 * thread and one small thread waits for it, sets a flag and marks the handler. Whoever sees the
 * flag first takes it: a loop that polls (run, map_workload) stops where its state is whole; else
 * Tcl itself, between two commands, has the script cancelled. Signals belong to the process, so
 * this state does too. */
#ifndef TH_REPORT_SESSION_INTERRUPT_H
#define TH_REPORT_SESSION_INTERRUPT_H
#include <stdbool.h>
#include <tcl.h>

void th_interrupt_block(void);
int th_interrupt_start(Tcl_Interp *interp); /* 0, or -1: Ctrl-C does nothing then */
/* True once per Ctrl-C. Never true where start was not called (a plain tclsh keeps its own
 * Ctrl-C). */
bool th_interrupt_take(void);
bool th_interrupt_is_pending(void); /* as take, but it stays so; or this thread is late */
/* What this thread does is to be over so many seconds from now: a time limit of the point of a
 * study, which whoever looks for Ctrl-C finds too. 0: there is none (any more). */
void th_interrupt_set_limit(double seconds);
bool th_interrupt_is_late(void);
/* For tests, which would be of how quick a machine is if they waited: the n-th look from now on, by
 * take or is_pending and from any thread, finds Ctrl-C. 0: none does. Returns how many looks were
 * still to come. */
int th_interrupt_at_look(int n);
/* At the prompt there is nothing to stop: Ctrl-C shows this prompt anew, and what was typed of a
 * command so far is to be dropped. NULL: a command is at work. */
void th_interrupt_set_prompt(const char *prompt);
bool th_interrupt_take_dropped(void); /* true once after that */
/* While an editor reads a line, it is told instead, in the interpreter's thread. NULL: nobody
 * reads. */
void th_interrupt_set_reader(void (*is_told)(void));

#endif
