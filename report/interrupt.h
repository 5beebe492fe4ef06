/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interrupt.h - the flag that Ctrl-C sets and long work polls.
 *   raise (by whatever waits for the signal) -> (take | is_pending)*
 * Whoever sees the flag stops where its state is whole and fails with BASE-0008. The flag belongs
 * to the process, as signals do. */
#ifndef TH_REPORT_INTERRUPT_H
#define TH_REPORT_INTERRUPT_H
#include <stdbool.h>

void th_interrupt_raise(void);
bool th_interrupt_take(void);       /* true once per raise */
bool th_interrupt_is_pending(void); /* the flag stays set; also true once this thread is late */
/* The work of this thread must end within so many seconds: the time limit of a point of a study.
 * 0: no limit. */
void th_interrupt_set_limit(double seconds);
bool th_interrupt_is_late(void);
/* For tests: the n-th poll from now on, by take or is_pending and from any thread, finds the flag
 * set. 0: none does. Returns how many polls were still to come. */
int th_interrupt_at_look(int n);

#endif
