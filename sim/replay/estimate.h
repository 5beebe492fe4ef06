/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimate.h - the time of a collective, without simulating how its messages share links.
 *   new -> th_collective_estimate* -> free */
#ifndef TH_SIM_REPLAY_ESTIMATE_H
#define TH_SIM_REPLAY_ESTIMATE_H
#include "sim/collective/collective.h"

typedef struct th_estimator th_estimator;

/* *s must outlive it. shares: messages share links; otherwise each has its route for itself. NULL:
 * memory is out. */
th_estimator *th_estimator_new(const th_system *s, bool shares);
void th_estimator_free(th_estimator *e); /* accepts NULL */

/* Where an estimate ends early. */
typedef struct th_estimate_limits {
    double bound_ps;  /* when the time exceeds it */
    int64_t messages; /* when there are more of them */
    int64_t ports;    /* when more than that send */
    /* NULL, or what is chained with the ends and the routes of all messages, their nodes and media
     * numbered in the order in which they appear; sizes are not. */
    uint64_t *digest;
    bool (*is_interrupted)(void); /* polled; NULL: never */
} th_estimate_limits;

typedef enum {
    TH_ESTIMATE_DONE,
    TH_ESTIMATE_LATE,  /* the bound is exceeded */
    TH_ESTIMATE_LARGE, /* messages or ports are exceeded */
    TH_ESTIMATE_FAILED /* *err says why */
} th_estimate_outcome;

/* Of an estimate that ended early: so far. */
typedef struct th_collective_estimated {
    double ps; /* when the last message arrives */
    int64_t messages;
} th_collective_estimated;

/* Every port sends its next message as soon as what it waits for has arrived. A message takes its
 * latency and overhead, plus the time until each medium of its route has carried what was sent
 * before, and all bytes that are sent together with it. Exact without shared media, where messages
 * that share media start and end together, and where one waits for the other. */
th_estimate_outcome th_collective_estimate(th_estimator *e, const th_collective_schedule *cs,
                                           const th_estimate_limits *limits,
                                           th_collective_estimated *out, th_error *err);

#endif
