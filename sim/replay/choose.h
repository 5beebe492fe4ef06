/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choose.h - `auto`: the algorithm and the chunks of a collective that leaves them open, by
 * simulation. */
#ifndef TH_SIM_REPLAY_CHOOSE_H
#define TH_SIM_REPLAY_CHOOSE_H
#include "sim/machine/machine.h"

/* On what it is simulated: that of the machine which is going to run it. All outlive the choice. */
typedef struct th_choice_world {
    const th_system *system;
    const th_compute_cost_cache *costs;
    const th_machine_options *options;
} th_choice_world;

/* Does it leave anything open: no algorithm, or chunks 0? */
static inline bool th_collective_is_open(const th_collective *c)
{
    return !c->algorithm || c->chunks == 0;
}

/* Sets *algorithm and *chunks to those with which *c ends first when it runs alone; equal times:
 * the first in the table, the fewest chunks. Depends on its arguments only. 0, or -1 with why none
 * can. */
int th_collective_choose(const th_choice_world *w, const th_collective *c,
                         const th_algorithm **algorithm, int32_t *chunks, th_error *err);

#endif
