/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interrupt.h - the flag that Ctrl-C sets and long work polls.
 *   raise (by the thread that waits for the signal) -> (take | is_pending)*
 * Code that sees the flag stops at a point where its state is consistent, and fails with BASE-0008.
 * The flag belongs to the process, as signals do. */
#ifndef TH_BASE_INTERRUPT_H
#define TH_BASE_INTERRUPT_H
#include <stdbool.h>

void th_interrupt_raise(void);
/* While it is held, Ctrl-C is for those who poll alone: no script is cancelled. */
void th_interrupt_hold(bool is_held);
bool th_interrupt_is_held(void);
bool th_interrupt_take(void);       /* true once per raise */
bool th_interrupt_is_pending(void); /* keeps the flag; also true after the deadline */
/* Sets a deadline for the work of this thread: the time limit of a point of a study. 0: no
 * limit. */
void th_interrupt_set_limit(double seconds);
/* The same, no later than the deadline that is set already; returns that, for
 * th_interrupt_restore_limit. */
double th_interrupt_tighten_limit(double seconds);
void th_interrupt_restore_limit(double before);
bool th_interrupt_is_late(void);
/* For tests: the n-th poll from here, by take or is_pending in any thread, returns true. 0: none
 * does. Returns how many polls were left. */
int th_interrupt_at_poll(int n);

#endif
