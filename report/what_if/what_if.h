/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if.h - the run once more on systems that differ in one property each.
 *   th_what_ifs_add* -> th_what_ifs_run -> read all[i] -> th_what_ifs_clear
 * The session's own run is never touched. */
#ifndef TH_REPORT_WHAT_IF_WHAT_IF_H
#define TH_REPORT_WHAT_IF_WHAT_IF_H
#include "report/session/session.h"

typedef enum {
    TH_WHAT_IF_BANDWIDTH,      /* of links; of all that share a medium, as they have it together */
    TH_WHAT_IF_CLOCK,          /* of accelerators: array and vector unit */
    TH_WHAT_IF_DRAM_BANDWIDTH, /* of accelerators */
    TH_WHAT_IF_LATENCY,        /* of links: less instead of more */
    TH_WHAT_IF_DRAM_LATENCY,   /* of accelerators: likewise */
    TH_WHAT_IF_MEMORY,         /* capacity of their DRAM: says nothing while the mapping stays */
    TH_N_WHAT_IF_PROPERTIES
} th_what_if_property;
extern const char *const th_what_if_names[TH_N_WHAT_IF_PROPERTIES + 1]; /* ends in NULL */
bool th_what_if_is_of_links(th_what_if_property what);

typedef struct th_what_if {
    int32_t what;     /* th_what_if_property */
    int32_t *objects; /* links, or accelerators, that have it together */
    int n;
    /* filled by run */
    th_time end_ps;
    double throughput_per_s; /* samples */
} th_what_if;

typedef struct th_what_ifs {
    double by; /* 0.1: 10 % more bandwidth, clock, memory; 10 % less latency; above -1, below 1 for
                  latencies */
    /* > 0: before each run, and before that as it is, a search of so many evaluations that starts
     * from the session's mapping; 0: that mapping stays */
    int64_t remap;
    th_what_if baseline; /* n 0 */
    th_what_if *all;
    int n;
    size_t capacity;
} th_what_ifs;

/* Of these objects (n of them, copied). 0, or -1: memory is out. */
int th_what_ifs_add(th_what_ifs *w, th_what_if_property what, const int32_t *objects, int n,
                    th_error *err);
/* Is there something to change? Not where a value is 0 or without limit, or a link is dead. */
bool th_what_if_applies(const th_system *s, th_what_if_property what, int32_t object);
/* Clocks of these accelerators are clocks of designs that nobody else has: they change as in a
 * system file, and tiles are chosen anew. Otherwise they change in the machine, which no search
 * sees. */
bool th_what_if_is_of_designs(const th_system *s, const int32_t *accels, int n);
/* Replays all of them, and the run as it is, from time 0 to the end, on the session's threads;
 * faults that were injected happen in all of them. What comes out does not depend on the number of
 * threads. 0; or -1, with BASE-0008 where Ctrl-C was pressed. */
int th_what_ifs_run(th_session *s, th_what_ifs *w, th_error *err);
void th_what_ifs_clear(th_what_ifs *w);

#endif
