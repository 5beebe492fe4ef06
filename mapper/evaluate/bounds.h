/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds.h - what no mapping can beat: lower bounds on the makespan of a workload on a system.
 *   find -> explain* -> clear
 * Each is proven for every mapping that can be written down (any sets, designs, splits of B K C H W
 * R S and rotations; uneven cuts are a case of their own), not for those of some search;
 * docs/models/bounds.md has the proofs. */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_H
#define TH_MAPPER_EVALUATE_BOUNDS_H
#include "mapper/evaluate/evaluate.h"

typedef enum {
    TH_LIMIT_COMPUTE, /* all accelerators at work together */
    TH_LIMIT_MEMORY,  /* all their DRAMs */
    TH_LIMIT_CUT,     /* links between hosts and accelerators */
    TH_LIMIT_PATH,    /* layers that follow each other */
    TH_N_LIMITS
} th_limit;
const char *th_limit_name(th_limit l); /* compute memory cut "critical path" */

/* Why a bound says nothing of a layer, or holds for some mappings alone. */
typedef enum {
    TH_UNKNOWN_NONE,
    TH_UNKNOWN_NO_ACCELERATOR,      /* no accelerator can run it */
    TH_UNKNOWN_SCRIPT_NOT_CALLABLE, /* the procedure of a script design cannot be asked */
    TH_UNKNOWN_SCRIPT_FAILED,       /* it failed, or would be asked about too many shards */
    TH_UNKNOWN_NO_PEAK_RATE, /* shards may have any size, and the design has no rate that none
                                exceeds */
    /* the same; the bound holds for mappings whose shards on that design are those of even cuts, or
     * of the mapping of the scope */
    TH_UNKNOWN_PARTIAL,
    TH_UNKNOWN_SHARD_SIZE,      /* (critical path) shards may have any size: one may take no time */
    TH_UNKNOWN_NETWORK,         /* (cut) the network follows no links */
    TH_UNKNOWN_SERIAL_TRANSFERS /* (cut) accelerators move data themselves, and may keep it */
} th_unknown_reason;

/* A limit that says nothing, or not of all mappings. */
typedef struct th_unknown_bound {
    th_limit limit;
    int32_t layer;  /* -1: of none in particular */
    int32_t design; /* that is the reason; -1: none is */
    th_unknown_reason why;
} th_unknown_bound;

typedef struct th_bounds {
    th_time makespan_ps[TH_N_LIMITS]; /* of all inputs of the stream; 0: nothing is known */
    th_time interval_ps[TH_N_LIMITS]; /* makespan per input; a stream's long run is no quicker */
    char why[TH_N_LIMITS][160];       /* what limits it */
    th_limit largest;
    th_unknown_bound *unknown; /* by limit, then layer */
    int n_unknown;
} th_bounds;

/* Which mappings: those whose sets cut evenly; those with shares too, of which less is known; those
 * that searches make, which have no shares where all accelerators are alike. */
typedef enum { TH_CUTS_EVEN, TH_CUTS_ANY, TH_CUTS_OF_SEARCHES } th_cuts;

/* What bounds are to hold for. The default, all 0: mappings whose sets cut evenly, on the system
 * as it is. */
typedef struct th_bounds_scope {
    th_cuts cuts;
    /* Where shards may have any size, and a design has no rate that none exceeds: take its
     * shards to be those of even cuts, or of this mapping (TH_UNKNOWN_PARTIAL). NULL: then nothing
     * is known of such a design. */
    const th_mapping *mapping;
    /* What a run has changed (sim/machine/property_event.h): the most that holds at any time of it,
     * of what the system says. NULL: nothing. */
    const double *clock;     /* by accelerator */
    const double *bandwidth; /* by medium */
} th_bounds_scope;

/* 0, or -1: memory is out, a design block is wrong, or the procedure of a script design was
 * interrupted. In the thread of the problem's scripts, which are asked. */
int th_bounds_find(const th_problem *p, const th_bounds_scope *scope, th_bounds *out,
                   th_error *err);
void th_bounds_clear(th_bounds *b);
/* Those of a mapping at hand. */
th_cuts th_bounds_cuts_of(const th_mapping *m);
/* The reason in words. */
const char *th_bounds_explain(const th_unknown_bound *g, const th_system *s, char *out,
                              size_t size);
/* Do they hold for some mappings alone (TH_UNKNOWN_PARTIAL)? */
bool th_bounds_are_partial(const th_bounds *b);

/* By layer: how long a pass goes on at least after the end of any task of it, in ps. Of even cuts.
 * 0 or -1. */
int th_bounds_tails(const th_problem *p, double *tail, th_error *err);

/* The largest, as a value of the problem's objective: 0 where no bound on that is proven. */
double th_bounds_value(const th_bounds *b, const th_problem *p);
/* Is a value no more than the bound, but for the rounding of doubles? Then nothing is better. */
bool th_bounds_met(double value, double bound);

#endif
