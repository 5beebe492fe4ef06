/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fault_intervals.h - from when to when properties of links and accelerators were not those of the
 * system in the present run: its property events in pairs. */
#ifndef TH_SESSION_FAULT_INTERVALS_H
#define TH_SESSION_FAULT_INTERVALS_H
#include "session/property_events.h"

typedef struct th_fault_interval {
    th_property_event event; /* that began it */
    th_time from, to;        /* from < to <= the end of the run so far */
    bool is_over;            /* false: it lasts at that end */
    int32_t place;           /* among the events of the session */
} th_fault_interval;

/* All of a run, by their beginnings, then property and object; and their places in this list object
 * by object: those of a medium m are by_object[first[m] .. first[m + 1]), of accelerator a those of
 * m = n_media + a. */
typedef struct th_fault_intervals {
    th_fault_interval *all;
    int n;
    int32_t *first, *by_object;
} th_fault_intervals;

/* Up to `end`, where the run stands. 0, or -1: memory is out, with nothing to clear. */
int th_fault_intervals_find(const th_session *s, th_time end, th_fault_intervals *out);
void th_fault_intervals_clear(th_fault_intervals *f);
/* "down" "degraded" "avoided" (by routes) "dead" "slow" "fast" "jitter" */
const char *th_fault_name(const th_property_event *e);

#endif
