/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice.h - what a purchase would gain: systems with one thing more or another one, each mapped
 * anew with the same budget, ranked by gain per cost.
 *   th_advice_list -> th_advice_run -> th_advice_rank -> read all[i] -> th_advice_clear
 * The session is not touched. */
#ifndef TH_REPORT_WHAT_IF_ADVICE_H
#define TH_REPORT_WHAT_IF_ADVICE_H
#include "report/what_if/what_if_map.h"

typedef enum {
    TH_ADVICE_ACCELERATOR,    /* one more of a kind, or as many as its topology needs */
    TH_ADVICE_BANDWIDTH,      /* twice that of links with equal properties */
    TH_ADVICE_DRAM_BANDWIDTH, /* twice that of a kind of accelerators */
    TH_ADVICE_CLOCK,
    TH_ADVICE_MEMORY,
    TH_ADVICE_DESIGN,   /* another design for a kind of accelerators */
    TH_ADVICE_TOPOLOGY, /* the same cables, or the same bandwidth in all, in another order */
    TH_N_ADVICE
} th_advice_kind;
extern const char *const th_advice_names[TH_N_ADVICE + 1]; /* ends in NULL */

typedef struct th_advice_item {
    th_advice_kind kind; /* not of the baseline */
    char *what;          /* "accel/new like accel/3" */
    bool has_cost;
    double cost;       /* less than 0: it is cheaper than what it replaces */
    th_system *system; /* NULL: that of the session */
    /* filled by run */
    th_error failure; /* id "": there is a mapping */
    th_metrics metrics;
    double throughput_per_s; /* samples */
    int limit;               /* the largest part of the critical path (th_time_part) */
    double limit_share;
    /* filled by rank: of lateness where the baseline is late, else of the objective */
    double gain;
} th_advice_item;

typedef struct th_advice_request {
    bool wants[TH_N_ADVICE];
    double cost[TH_N_ADVICE]; /* of a change of one accelerator: clock, memory ...; < 0: unknown */
    th_remap remap;
} th_advice_request;

typedef struct th_advice {
    th_advice_request request;
    th_goal goal;
    th_advice_item baseline;
    th_advice_item *all; /* ranked: the best first */
    int n;
    size_t capacity;
} th_advice;

/* All changes of the requested kinds that the session's system allows. 0 or -1. */
int th_advice_list(const th_session *s, th_advice *a, th_error *err);
/* Maps and runs them and the unchanged system on the threads of the session; no result depends on
 * their number. 0; or -1, with BASE-0008 after Ctrl-C. */
int th_advice_run(th_session *s, th_advice *a, th_error *err);
/* First what costs nothing and gains, or saves and loses nothing, then by gain per cost, then those
 * of unknown cost by gain; what gains nothing, and what cannot be mapped, last. Equal ones keep
 * their order. */
void th_advice_rank(th_advice *a);
bool th_advice_has_gain_per_cost(const th_advice_item *i);
void th_advice_clear(th_advice *a);

#endif
