/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fault_times.h - when the faults of one object begin and end, as property events.
 *   add* -> read -> clear
 * A pattern is one fault; a flapping one, faulty for the first duty x period of every period; a
 * renewal process, in which the time from a repair to the next fault is drawn; or a list of
 * times. */
#ifndef TH_TCL_RELIABILITY_FAULT_TIMES_H
#define TH_TCL_RELIABILITY_FAULT_TIMES_H
#include <stddef.h>
#include "base/error.h"
#include "sim/machine/property_event.h"

enum { TH_FAULT_EVENTS_MAX = 1 << 20 };

typedef struct th_fault_pattern {
    th_time from;          /* no fault begins before it */
    th_time until;         /* no fault begins at or after it */
    th_time length;        /* of a fault; TH_TIME_MAX: for good */
    th_time period;        /* flapping; 0: not */
    double duty;           /* 0 .. 1, both excluded */
    double mtbf_s, shape;  /* random: failure_law.h; mtbf_s 0: not */
    uint64_t seed, index;  /* of the draws; index: of the object */
    const double *times_s; /* a list, ascending; NULL: none */
    int64_t n_times;
} th_fault_pattern;

typedef struct th_fault_events {
    th_property_event *all;
    size_t n, capacity;
} th_fault_events;

/* Adds the events of the faults of one object: fault, whose time is filled, and right after it its
 * repair, with the factor back. 0, or -1: memory is out, or there are too many. */
int th_fault_events_add(th_fault_events *out, const th_fault_pattern *p,
                        const th_property_event *fault, double back, th_error *err);
/* For the faults of a link from event number first on: routes avoid the link from each beginning
 * plus delay to the end. 0 or -1. */
int th_fault_events_reroute(th_fault_events *out, size_t first, th_time delay, th_error *err);
void th_fault_events_clear(th_fault_events *e);

#endif
