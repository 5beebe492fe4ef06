/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_guard.h - a message in the place of a crash where nesting has used up the stack.
 *   th_stack_guard_install (a program, once) -> th_stack_guard_thread (each thread that runs
 *   scripts)
 * Readers of files limit nesting by themselves. Tcl's own parser does not: it calls itself for each
 * "[" of a word, each "(" of a regular expression, each list in a list. */
#ifndef TH_TCL_STACK_GUARD_H
#define TH_TCL_STACK_GUARD_H

/* From here on a fault at the end of the stack of a thread that has asked for it ends the process,
 * status 1; other faults are left as they are. */
void th_stack_guard_install(void);
void th_stack_guard_thread(void);

#endif
