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

/* Which mappings: those whose sets cut evenly; those with shares too, of which less is known; those that
 * searches make, which have no shares where all accelerators are alike. */
typedef enum { TH_CUTS_EVEN, TH_CUTS_ANY, TH_CUTS_OF_SEARCHES } th_cuts;

/* 0, or -1: memory is out, or a design block is wrong. */
int th_bounds_find(const th_problem *p, th_cuts cuts, th_bounds *out, th_error *err);
/* Those of a mapping at hand. */
th_cuts th_bounds_cuts_of(const th_mapping *m);

/* By layer: how long a pass goes on at least after the end of any task of it, in ps. Of even cuts. 0 or
 * -1. */
int th_bounds_tails(const th_problem *p, double *tail, th_error *err);

/* The largest, as a value of the problem's objective: 0 where no bound on that is proven. */
double th_bounds_value(const th_bounds *b, const th_problem *p);
/* Is a value no more than the bound, but for the rounding of doubles? Then nothing is better. */
bool th_bounds_met(double value, double bound);

#endif
