/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if.h - systems that differ from one in a property of some links or accelerators. */
#ifndef TH_SESSION_WHAT_IF_WHAT_IF_H
#define TH_SESSION_WHAT_IF_WHAT_IF_H
#include "topology/system.h"

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

/* These links, or accelerators, change together. */
typedef struct th_what_if {
    th_what_if_property what;
    double by; /* 0.1: 10 % more bandwidth, clock, memory; 10 % less latency; above -1, below 1 for
                  latencies */
    const int32_t *objects;
    int n;
} th_what_if;

/* The system with this change. NULL on failure. */
th_system *th_what_if_system(const th_system *s, const th_what_if *w, th_error *err);
/* Takes a changed th_system_copy (NULL: none; failed: its change has failed), finishes it and gives
 * it back; rebuild: both without a change. NULL on failure. */
th_system *th_what_if_finish(th_system *made, int failed, th_error *err);
th_system *th_what_if_rebuild(const th_system *s, th_error *err);

/* Can the property change? Not if it is 0 or unlimited, or a link is dead. */
bool th_what_if_applies(const th_system *s, th_what_if_property what, int32_t object);
/* Whether the designs of these accelerators are used by no others. Then the clock changes as in a
 * system file, and tiles are chosen anew. Otherwise it changes in the machine, which a search does
 * not see. */
bool th_what_if_is_of_designs(const th_system *s, const int32_t *accels, int n);
bool th_what_if_has(const int32_t *objects, int n, int32_t object);

#endif
