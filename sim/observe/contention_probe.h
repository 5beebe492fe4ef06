/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention_probe.h - an observer that tells when links are shared, by how many flows, and what
 * flows between some pairs of nodes lose by it.
 *   init -> (watch_link | watch_pair)* -> th_machine_observe -> the run -> finish -> clear
 * A link is shared while two flows or more are on it. A flow loses what it takes longer than its
 * delay + the latencies of its route + bytes / the smallest bandwidth. */
#ifndef TH_SIM_OBSERVE_CONTENTION_PROBE_H
#define TH_SIM_OBSERVE_CONTENTION_PROBE_H
#include "base/map.h"
#include "sim/program/observer.h"
#include "topology/system.h"

enum { TH_PROBE_WINDOWS_MAX = 64 };

typedef struct th_probe_window {
    double flow_ps;     /* integral of the number of flows over the window */
    int32_t peak_flows; /* at once, even for no time between two events */
} th_probe_window;

typedef struct th_watched_link {
    int32_t link;
    int32_t flows, peak_flows;
    th_time since;                    /* flows has not changed since then */
    th_time shared_since;             /* of the present interval; -1: it is not shared */
    th_time shared_ps;                /* sum of all intervals */
    th_time longest_from, longest_to; /* the longest interval; both 0: none */
} th_watched_link;

typedef struct th_watched_pair {
    int32_t from, to;
    int64_t n_flows; /* that have ended */
    th_time lost_ps; /* by all of them */
} th_watched_pair;

typedef struct th_contention_probe {
    th_observer observer; /* first: notify functions cast it */
    const th_system *system;
    const th_program *program;
    th_time window_ps; /* length of each, > 0 */
    int32_t n_windows;
    int32_t *place; /* by link: in links; -1: not watched */
    th_watched_link *links;
    th_probe_window *windows; /* [n_links * n_windows]; flows after the last are not counted */
    size_t n_links, links_capacity, windows_capacity;
    th_map *pair_places;
    th_watched_pair *pairs;
    size_t n_pairs, pairs_capacity;
    th_time *started; /* by number of a task or flow */
    size_t started_capacity;
    bool failed; /* memory is out */
} th_contention_probe;

/* Windows that cover [0, end]: n of them, or fewer where end is shorter than n ps. 0, or -1: memory
 * is out; clear in either case. */
int th_contention_probe_init(th_contention_probe *p, const th_system *s, const th_program *program,
                             th_time end, int32_t n);
/* Each twice is watched once. 0 or -1. */
int th_contention_probe_watch_link(th_contention_probe *p, int link);
int th_contention_probe_watch_pair(th_contention_probe *p, int32_t from, int32_t to);
/* The windows of a watched link. */
const th_probe_window *th_contention_probe_windows(const th_contention_probe *p, int link);
const th_watched_pair *th_contention_probe_pair(const th_contention_probe *p, int32_t from,
                                                int32_t to);
/* The run has come to end. 0, or -1: memory was out. */
int th_contention_probe_finish(th_contention_probe *p, th_time end);
void th_contention_probe_clear(th_contention_probe *p);

#endif
