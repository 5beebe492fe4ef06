/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unroll.h - a collective as plain transfers with dependencies, for those who want to look at every
 * message: it ends when the collective does, to the picosecond. */
#ifndef TH_SIM_COLLECTIVE_UNROLL_H
#define TH_SIM_COLLECTIVE_UNROLL_H
#include "sim/program.h"

typedef struct th_unrolled {
    int32_t begin, end; /* host tasks: before all of it, after all of it */
    int32_t n_messages;
} th_unrolled;

/* Adds the tasks of *x to p, which is not finished yet: O(messages), at most 2^24.
 * Refused where who waits takes
 * some messages of several senders, whichever come first, or where lanes share a port to send at:
 * that depends on times. 0, or -1 and p is good for nothing but to be cleared. */
int th_unroll(const th_expansion *x, th_program *p, th_unrolled *out, th_error *err);

#endif
