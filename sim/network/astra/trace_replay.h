/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_replay.h - an execution trace as ASTRA-sim replays it on its analytical networks, in whole
 * nanoseconds: when each node is issued and done, and when each rank finishes
 * (docs/models/astra.md has the rules and their sources). */
#ifndef TH_SIM_NETWORK_ASTRA_TRACE_REPLAY_H
#define TH_SIM_NETWORK_ASTRA_TRACE_REPLAY_H
#include "topology/system.h"
#include "workloads/trace/trace.h"

typedef enum {
    TH_ROOFLINE_OF_SYSTEM, /* as system.json says */
    TH_ROOFLINE_OFF,
    TH_ROOFLINE_ON
} th_roofline_choice;

typedef struct th_astra_replay_options {
    const th_trace *trace;
    const th_system *system; /* of ASTRA-sim's files */
    th_roofline_choice roofline;
    bool (*is_interrupted)(void); /* NULL: never */
} th_astra_replay_options;

typedef struct th_astra_node_times {
    int64_t issue_ns, done_ns; /* -1: never */
} th_astra_node_times;

typedef struct th_astra_rank_times {
    int64_t finish_ns;   /* -1: the rank never finishes */
    uint64_t exposed_ns; /* finish minus the durations of its nodes, modulo 2^64 */
} th_astra_rank_times;

typedef struct th_astra_replay {
    th_astra_node_times *nodes; /* all ranks, one after the other */
    th_astra_rank_times *ranks;
    int64_t n_events;
} th_astra_replay;

/* is_aware: of congestion. 0, or -1 and *out is empty. */
int th_astra_replay_run(const th_astra_replay_options *o, bool is_aware, th_astra_replay *out,
                        th_error *err);
void th_astra_replay_clear(th_astra_replay *r);

/* How long a collective of all accelerators takes, by one rank that stands for all. bytes as
 * ASTRA-sim counts them: an all-gather's are the shard of one rank, those of the others the whole
 * vector. *ns is at most TH_ASTRA_FOREVER_NS (astra_message.h). 0 or -1. */
int th_astra_collective_ns(const th_system *system, bool is_aware, th_trace_collective kind,
                           int64_t bytes, int64_t *ns, th_error *err);

#endif
