/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_flows.h - what has gone over a link: the transfers, and what collectives sent, by pair of
 * nodes.
 *   collect -> clear */
#ifndef TH_REPORT_SESSION_LINK_FLOWS_H
#define TH_REPORT_SESSION_LINK_FLOWS_H
#include "report/session/simulation.h"

/* A transfer, or all messages of a collective between two nodes. */
typedef struct th_link_flow {
    int32_t task, from, to;
    int64_t messages, bytes;
} th_link_flow;

typedef struct th_link_flows {
    th_link_flow *flows; /* in the order of their tasks, then of their first messages */
    size_t n, capacity;
} th_link_flows;

/* The flows of tasks that have started and whose route takes the link. 0, or -1 and nothing to
 * clear. */
int th_link_flows_collect(th_link_flows *f, const th_system *s, const th_simulation *sim,
                          const th_result *r, int link, th_error *err);
void th_link_flows_clear(th_link_flows *f);

/* Adds what tasks that have started send from node to node to bytes[from * n_nodes + to]. 0 or -1.
 */
int th_traffic_collect(int64_t *bytes, const th_system *s, const th_simulation *sim,
                       const th_result *r, th_error *err);

/* Which links of the system the messages of a collective take: is_taken[link] becomes true, and the
 * others stay as they were. 0 or -1. One whose algorithm is still open takes none. */
int th_collective_links(const th_collective *c, const th_system *s, bool *is_taken, th_error *err);

#endif
