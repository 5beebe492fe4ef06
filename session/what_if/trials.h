/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trials.h - tries changed systems: what the session simulates runs on each of them.
 *   th_change_system: one of them;  th_trials_run -> read the results of each
 * The session is not touched. */
#ifndef TH_SESSION_WHAT_IF_TRIALS_H
#define TH_SESSION_WHAT_IF_TRIALS_H
#include "session/what_if/advice_system.h"
#include "session/what_if/what_if.h"
#include "session/what_if/what_if_map.h"

typedef enum {
    TH_CHANGE_NOTHING,
    TH_CHANGE_PROPERTY,
    TH_CHANGE_MORE,    /* accelerators like what.objects[0] */
    TH_CHANGE_DESIGN,  /* a design more, or in the place of their only one, of what.objects */
    TH_CHANGE_TOPOLOGY /* the cables of th_fabric_of in another order */
} th_change_kind;

typedef struct th_system_change {
    th_change_kind kind;
    th_what_if what;
    int design;
    const th_topology_type *type;
    int dims[TH_MAX_DIMS], n_dims;
    int64_t bits_per_s;            /* of each cable of the other topology */
    struct th_system_change *also; /* NULL, or what changes as well, by the numbers of before */
} th_system_change;

/* NULL: it cannot be made, and err says why. Of TH_CHANGE_NOTHING a copy. */
th_system *th_change_system(const th_system *s, const th_system_change *c, th_error *err);

typedef struct th_trial {
    th_system_change change; /* its objects are the caller's */
    /* filled by run */
    th_error failure; /* id "": there is a result */
    bool is_unused;   /* the first trial puts nothing on any of the objects */
    th_time end_ps;
    double throughput_per_s; /* samples */
    th_metrics metrics;      /* of the search */
    int limit;               /* the largest part of the critical path (th_time_part) */
    double limit_share;
} th_trial;

typedef struct th_trials {
    th_trial *all; /* the first changes nothing */
    int n;
    th_remap remap; /* evaluations > 0: each gets its own search; 0: the mapping stays */
    /* A purchase has no injected faults, and a limit; only the first one must have a mapping. Else
     * the run is repeated with its faults, and each must come to its end. */
    bool are_purchases;
} th_trials;

/* Runs all of them from time 0 to the end on the threads of the session. Results do not depend on
 * their number. 0; or -1, with BASE-0008 after Ctrl-C. */
int th_trials_run(th_session *s, th_trials *t, th_error *err);

/* What the session simulates, on a changed system, at time 0; m: the mapping, of a mapped workload.
 * NULL on failure. */
th_simulation *th_what_if_load(const th_session *s, const th_system *system, const th_mapping *m,
                               const th_run_options *o, th_error *err);

#endif
