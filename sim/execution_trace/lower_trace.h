/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_trace.h - an execution trace as a program. Task i is node i, rank by rank and by id in
 * a rank; rank r runs on accelerator r.
 *
 * As traffic of its own (th_lower_trace): computations take their time on the accelerators,
 * messages and collectives share the links, a host's nodes and accesses to memory are delays.
 * A collective is one task of all its ranks, which begins when the last of them is there; the
 * nodes of its ranks end with it. The k-th send of a key (ends, tag, size) meets the k-th
 * receive of it, and the k-th collective of a group on one rank the k-th on the others, both
 * by id. What meets nothing is blocked.
 *
 * As ASTRA-sim replays it (th_lower_trace_replay): each node starts and ends when it does
 * there. */
#ifndef TH_SIM_EXECUTION_TRACE_LOWER_TRACE_H
#define TH_SIM_EXECUTION_TRACE_LOWER_TRACE_H
#include "sim/network/astra/trace_replay.h"
#include "sim/network/network.h"
#include "sim/program/program.h"

typedef struct th_lower_trace_options {
    const th_trace *trace;
    const th_system *system;
    th_roofline_choice roofline;
    bool (*is_interrupted)(void); /* NULL: never */
} th_lower_trace_options;

/* Adds to an empty program. 0 or -1. */
int th_lower_trace(const th_lower_trace_options *o, th_program *out, th_error *err);
/* On a network that replays traces. Also fills ranks, one for each of the trace. 0 or -1. */
int th_lower_trace_replay(const th_lower_trace_options *o, const th_network_type *network,
                          th_program *out, th_astra_rank_times *ranks, th_error *err);

#endif
