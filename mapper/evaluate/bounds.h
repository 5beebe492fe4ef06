/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds.h - lower bounds on the makespan of a workload on a system.
 *   find -> explain* -> clear
 * Each holds for every mapping that can be written (any sets, designs, splits of B K C H W R S and
 * rotations; uneven cuts and chunks are cases of their own), not only for those of some search;
 * docs/models/bounds.md has the proofs. */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_H
#define TH_MAPPER_EVALUATE_BOUNDS_H
#include "mapper/evaluate/evaluate.h"

typedef enum {
    TH_LIMIT_COMPUTE, /* all accelerators computing together */
    TH_LIMIT_MEMORY,  /* all their DRAMs */
    TH_LIMIT_CUT,     /* links between hosts and accelerators */
    TH_LIMIT_PATH,    /* layers that follow each other */
    TH_N_LIMITS
} th_limit;
const char *th_limit_name(th_limit l); /* compute memory cut "critical path" */

/* Why a bound does not cover a layer, or holds for some mappings only. */
typedef enum {
    TH_UNKNOWN_NONE,
    TH_UNKNOWN_NO_ACCELERATOR,      /* no accelerator can run it */
    TH_UNKNOWN_SCRIPT_NOT_CALLABLE, /* the procedure of a script design cannot be called */
    TH_UNKNOWN_SCRIPT_FAILED,       /* it failed, or would be called for too many shards */
    TH_UNKNOWN_NO_PEAK_RATE,        /* shards may have any size, and the design has no peak rate */
    /* the same; the bound holds for mappings whose shards on that design are those of even cuts,
     * or of the mapping of the scope */
    TH_UNKNOWN_PARTIAL,
    TH_UNKNOWN_SHARD_SIZE,      /* (critical path) shards may have any size: one may take no time */
    TH_UNKNOWN_NETWORK,         /* (cut) the network model has no links */
    TH_UNKNOWN_SERIAL_TRANSFERS /* (cut) accelerators transfer data themselves, and may keep it */
} th_unknown_reason;

/* A bound that does not cover a layer, or not all mappings. */
typedef struct th_unknown_bound {
    th_limit limit;
    int32_t layer;  /* -1: of none in particular */
    int32_t design; /* that is the reason; -1: none is */
    th_unknown_reason why;
} th_unknown_bound;

typedef struct th_bounds {
    th_time makespan_ps[TH_N_LIMITS]; /* of all inputs of the stream; 0: unknown */
    th_time interval_ps[TH_N_LIMITS]; /* makespan per input; the steady state is no faster */
    char why[TH_N_LIMITS][160];       /* what limits it */
    th_limit largest;
    th_unknown_bound *unknown; /* by limit, then layer */
    int n_unknown;
} th_bounds;

/* Which mappings: those whose sets cut evenly; also those with shares, for which the bounds are
 * weaker; those that searches make, which have no shares where all accelerators are of one kind. */
typedef enum { TH_CUTS_EVEN, TH_CUTS_ANY, TH_CUTS_OF_SEARCHES } th_cuts;

/* The mappings and the run that bounds hold for. The default, all 0: mappings whose sets cut
 * evenly, without chunks, on the system as it is. */
typedef struct th_bounds_scope {
    th_cuts cuts;
    int chunks; /* most of a shard; 0: as 1, there are none */
    /* For designs without a peak rate where shards may have any size: take the shards to be those
     * of even cuts, or of this mapping (TH_UNKNOWN_PARTIAL). NULL: such a design has no bound. */
    const th_mapping *mapping;
    /* What property events of a run change (sim/machine/property_event.h): the greatest value at
     * any time of the run, relative to the system's. NULL: nothing. */
    const double *clock;          /* by accelerator */
    const double *bandwidth;      /* by medium */
    bool (*is_interrupted)(void); /* asked before every layer; NULL: never */
} th_bounds_scope;

/* 0, or -1: memory is out, a design block is wrong, or the procedure of a script design was
 * interrupted, or is_interrupted says so.
 * Call it in the thread of the problem's scripts, which it calls. */
int th_bounds_find(const th_problem *p, const th_bounds_scope *scope, th_bounds *out,
                   th_error *err);
void th_bounds_clear(th_bounds *b);
/* The cuts of a mapping, and the most chunks that its shards are computed in. */
th_cuts th_bounds_cuts_of(const th_mapping *m);
int th_bounds_chunks_of(const th_mapping *m);
/* The reason in words. */
const char *th_bounds_explain(const th_unknown_bound *g, const th_system *s, char *out,
                              size_t size);
/* Do they hold for some mappings alone (TH_UNKNOWN_PARTIAL)? */
bool th_bounds_are_partial(const th_bounds *b);

/* The largest bound, as a value of the problem's objective; 0: there is none for that objective. */
double th_bounds_value(const th_bounds *b, const th_problem *p);
/* Is a value no more than the bound, up to rounding of doubles? Then it is optimal. */
bool th_bounds_met(double value, double bound);

#endif
