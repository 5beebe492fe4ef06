/* SPDX-License-Identifier: GPL-3.0-or-later */
/* two_slot.h - the end of a two-slot pipeline as a product of max-plus matrices. */
#ifndef TH_SIM_DESIGN_TWO_SLOT_H
#define TH_SIM_DESIGN_TWO_SLOT_H
#include <stdbool.h>
#include <stdint.h>

enum { TH_NEST_LOOPS = 4 };

/* Cycles of one step; store: of the tile that it ends. */
typedef struct th_two_slot_step {
    double load_input, load_weight, compute, store;
} th_two_slot_step;

/* Iterations of nested loops, outermost first. The steps of the innermost loop belong to one output
 * tile. step: of the iteration that is the first (last) one of the loops in a mask, bit 1 << place.
 */
typedef struct th_two_slot_nest {
    int32_t count[TH_NEST_LOOPS];
    th_two_slot_step (*step)(const void *context, unsigned first, unsigned last);
    const void *context;
} th_two_slot_nest;

/* Cycles until the last byte is stored, where the memory is faster than the ports. */
double th_two_slot_cycles(const th_two_slot_nest *n);

#endif
