/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if.h - repeats the run on systems that each differ in one property.
 *   th_what_ifs_add* -> th_what_ifs_run -> read all[i] -> th_what_ifs_clear
 * The run of the session is not touched. */
#ifndef TH_REPORT_WHAT_IF_WHAT_IF_H
#define TH_REPORT_WHAT_IF_WHAT_IF_H
#include "report/session/session.h"

typedef enum {
    TH_WHAT_IF_BANDWIDTH,      /* of links; links that share a medium change together */
    TH_WHAT_IF_CLOCK,          /* of accelerators: array and vector unit */
    TH_WHAT_IF_DRAM_BANDWIDTH, /* of accelerators */
    TH_WHAT_IF_LATENCY,        /* of links: less instead of more */
    TH_WHAT_IF_DRAM_LATENCY,   /* of accelerators: likewise */
    TH_WHAT_IF_MEMORY,         /* capacity of their DRAM: matters only with a new search */
    TH_N_WHAT_IF_PROPERTIES
} th_what_if_property;
extern const char *const th_what_if_names[TH_N_WHAT_IF_PROPERTIES + 1]; /* ends in NULL */
bool th_what_if_is_of_links(th_what_if_property what);

typedef struct th_what_if {
    int32_t what;     /* th_what_if_property */
    int32_t *objects; /* links, or accelerators, that change together */
    int n;
    /* filled by run */
    bool is_unused; /* the unchanged run puts nothing on any of them */
    th_time end_ps;
    double throughput_per_s; /* samples */
} th_what_if;

typedef struct th_what_ifs {
    double by; /* 0.1: 10 % more bandwidth, clock, memory; 10 % less latency; above -1, below 1 for
                  latencies */
    /* > 0: each system, and the unchanged one, gets its own search of this number of evaluations,
     * from the mapping of the session; 0: the mapping stays */
    int64_t remap;
    th_what_if baseline; /* n 0 */
    th_what_if *all;
    int n;
    size_t capacity;
    bool *used_links, *used_accels; /* of the unchanged run, with the session's system */
} th_what_ifs;

/* The system with this change. NULL on failure. by: as in th_what_ifs. */
th_system *th_what_if_system(const th_system *s, const th_what_if *w, double by, th_error *err);
/* A system that owns and has finished what this one refers to: nodes, media, links, designs,
 * explicit routes. NULL on failure. */
th_system *th_what_if_rebuild(const th_system *s, th_error *err);

/* What the session simulates, on a changed system, at time 0; m: the mapping, of a mapped workload.
 * NULL on failure. */
th_simulation *th_what_if_load(const th_session *s, const th_system *system, const th_mapping *m,
                               const th_run_options *o, th_error *err);

/* Adds a change of these n objects, which are copied. 0, or -1: memory is out. */
int th_what_ifs_add(th_what_ifs *w, th_what_if_property what, const int32_t *objects, int n,
                    th_error *err);
/* Can the property change? Not if it is 0 or unlimited, or a link is dead. */
bool th_what_if_applies(const th_system *s, th_what_if_property what, int32_t object);
/* Whether the designs of these accelerators are used by no others. Then the clock changes as in a
 * system file, and tiles are chosen anew. Otherwise it changes in the machine, which a search does
 * not see. */
bool th_what_if_is_of_designs(const th_system *s, const int32_t *accels, int n);
/* Runs all of them and the unchanged run from time 0 to the end, on the threads of the session,
 * with the injected faults. Results do not depend on the number of threads. 0; or -1, with
 * BASE-0008 after Ctrl-C. */
int th_what_ifs_run(th_session *s, th_what_ifs *w, th_error *err);
void th_what_ifs_clear(th_what_ifs *w);

#endif
