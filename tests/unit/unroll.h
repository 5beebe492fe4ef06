/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unroll.h - a collective as plain transfers with dependencies: what its replay is held against. It
 * ends when the collective does, to the picosecond. */
#ifndef TH_TESTS_UNIT_UNROLL_H
#define TH_TESTS_UNIT_UNROLL_H
#include "sim/program/program.h"

typedef struct unrolled_tasks {
    int32_t begin, end; /* host tasks: before all of it, after all of it */
    int32_t n_messages;
} unrolled_tasks;

/* Adds the tasks of *x to p, which is not finished yet: O(messages), at most 2^24.
 * Refused where who waits takes some messages of several senders, whichever come first, or where
 * threads share a port to send at: that depends on times. 0, or -1 and p is good for nothing but to
 * be cleared. */
int unroll(const th_collective_schedule *x, th_program *p, unrolled_tasks *out, th_error *err);

#endif
