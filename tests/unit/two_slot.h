/* SPDX-License-Identifier: GPL-3.0-or-later */
/* two_slot.h - the end time of a two-slot pipeline as a product of max-plus matrices. */
#ifndef TH_TESTS_UNIT_TWO_SLOT_H
#define TH_TESTS_UNIT_TWO_SLOT_H
#include <stdbool.h>
#include <stdint.h>

enum { TH_NEST_LOOPS = 4 };

/* Cycles of one step; store is that of the tile that the step ends. */
typedef struct two_slot_step {
    double load_input, load_weight, compute, store;
} two_slot_step;

/* Iterations of nested loops, outermost first. The steps of the innermost loop add to one output
 * tile. step() returns the step of an iteration; first and last are masks (1 << place) of the loops
 * that are in their first or last iteration. */
typedef struct two_slot_nest {
    int32_t count[TH_NEST_LOOPS];
    two_slot_step (*step)(const void *context, unsigned first, unsigned last);
    const void *context;
} two_slot_nest;

/* Cycles until the last byte is stored, if the memory is faster than the ports. */
double two_slot_cycles(const two_slot_nest *n);

#endif
