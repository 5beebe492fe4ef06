/* SPDX-License-Identifier: GPL-3.0-or-later */
/* property_event.h - changes of properties during a run: the bandwidth of a link, the frequency and
 * the jitter of an accelerator.
 *
 *   load -> (th_machine_add_property_event | run)*; load again drops all property events
 * A property event takes effect before all other events of its time. The bandwidth of a link is
 * that of its medium, so both directions of a half-duplex link change; transfers in flight continue
 * at the new rates, and stop at 0. While routes avoid a medium, transfers take a detour
 * (sim/network/detour.h), those in flight with what they have not carried yet; where there is none
 * they keep their route. A frequency applies to the whole accelerator, array and vector
 * unit, for tasks that start later; a running task keeps its frequency. At 0 the accelerator has
 * failed: its running task never ends and none starts, but its memory still serves transfers.
 * A fault begins and ends; while several of a property and an object last, the strictest is in
 * force, and after the last one what was set before. To set a property ends its faults.
 * Jitter: a task that starts later and would take the time t takes t (1 + s x), where s is the mean
 * share and x is drawn from the exponential law of mean 1 for the seed and the number of the task
 * alone. The accelerator is occupied meanwhile, and leaves its DRAM to others. */
#ifndef TH_SIM_MACHINE_PROPERTY_EVENT_H
#define TH_SIM_MACHINE_PROPERTY_EVENT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/units.h"

typedef enum {
    TH_PROPERTY_BANDWIDTH,
    TH_PROPERTY_FREQUENCY,
    TH_PROPERTY_ROUTE,  /* of a link: factor 0, routes avoid its medium; 1: they may take it */
    TH_PROPERTY_JITTER, /* of an accelerator: the factor is s, 0: none */
    TH_PROPERTY_KINDS
} th_property_kind;

static inline bool th_property_is_of_link(int32_t kind)
{
    return kind == TH_PROPERTY_BANDWIDTH || kind == TH_PROPERTY_ROUTE;
}

typedef enum {
    TH_PROPERTY_SET,
    TH_PROPERTY_FAULT, /* a fault begins */
    TH_PROPERTY_REPAIR /* the fault ends that was added right before it; the factor is what was set
                          when it was planned, for lists */
} th_property_role;

typedef struct th_property_event {
    th_time at;     /* not before now */
    int32_t kind;   /* th_property_kind */
    int32_t object; /* link, or accelerator */
    int32_t role;   /* th_property_role */
    double factor;  /* of the value in the system; 0: failed */
    uint64_t seed;  /* of jitter */
} th_property_event;

/* Of what the system says. */
static inline double th_property_unchanged(int32_t kind)
{
    return kind == TH_PROPERTY_JITTER ? 0 : 1;
}

enum { TH_FACTOR_MAX = 1000 };

#endif
