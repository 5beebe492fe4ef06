/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds.h - what no mapping can beat: lower bounds on the makespan of a workload on a system.
 * Each is proven for every mapping that can be written down (any sets, designs, splits of B K C H W
 * R S and rotations; uneven cuts are a case of their own), not for those of some search; docs/models/bounds.md has the proofs. */
#ifndef TH_MAPPER_BOUNDS_H
#define TH_MAPPER_BOUNDS_H
#include "mapper/evaluate.h"

typedef enum {
    TH_LIMIT_COMPUTE, /* all accelerators at work together */
    TH_LIMIT_MEMORY,  /* all their DRAMs */
    TH_LIMIT_CUT,     /* links between hosts and accelerators */
    TH_LIMIT_PATH,    /* layers that follow each other */
    TH_N_LIMITS
} th_limit;
const char *th_limit_name(th_limit l); /* compute memory cut "critical path" */

typedef struct th_bounds {
    th_time makespan_ps[TH_N_LIMITS]; /* of all inputs of the stream; 0: nothing is known */
    th_time interval_ps[TH_N_LIMITS]; /* makespan per input; a stream's long run is no quicker */
    char why[TH_N_LIMITS][160];       /* what limits it */
    th_limit largest;
} th_bounds;

/* Of all mappings whose sets cut evenly, or (any_cuts) of those with shares too, of which less is known. 0,
 * or -1: memory is out, or a design block is wrong. */
int th_bounds_find(const th_problem *p, bool any_cuts, th_bounds *out, th_error *err);

/* The largest, as a value of the problem's objective: 0 where no bound on that is proven. */
double th_bounds_value(const th_bounds *b, const th_problem *p);

#endif
