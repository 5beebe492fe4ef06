/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_flows.h - the flows over a link: transfers, and messages of collectives, by pair of nodes.
 *   collect -> clear */
#ifndef TH_SESSION_LINK_FLOWS_H
#define TH_SESSION_LINK_FLOWS_H
#include "session/simulation.h"

/* A transfer, or all messages of a collective between two nodes. */
typedef struct th_link_flow {
    int32_t task, from, to;
    int64_t messages, bytes;
} th_link_flow;

typedef struct th_link_flows {
    th_link_flow *flows; /* in the order of their tasks, then of their first messages */
    size_t n, capacity;
} th_link_flows;

/* Flows of started tasks whose route uses the link. 0, or -1 and nothing to clear. */
int th_link_flows_collect(th_link_flows *f, const th_system *s, const th_simulation *sim,
                          const th_result *r, int link, th_error *err);
void th_link_flows_clear(th_link_flows *f);

/* Adds the bytes that started tasks send to bytes[from * n_nodes + to]. 0 or -1. */
int th_traffic_collect(int64_t *bytes, const th_system *s, const th_simulation *sim,
                       const th_result *r, th_error *err);

/* Adds the bytes that started tasks of each job send over each link to bytes[job * n_links + link];
 * those of no job to row n_jobs. 0 or -1. */
int th_link_bytes_by_job(int64_t *bytes, const th_system *s, const th_simulation *sim,
                         const th_result *r, th_error *err);

/* Sets is_taken[link] for the links that messages of a collective use; other entries stay. 0 or -1.
 * A collective whose algorithm is not chosen yet uses none. */
int th_collective_links(const th_collective *c, const th_system *s, bool *is_taken, th_error *err);

#endif
