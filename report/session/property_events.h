/* SPDX-License-Identifier: GPL-3.0-or-later */
/* property_events.h - what set_property and inject_fault have changed in the present run, and where
 * it stood then. add* -> (again, when a run begins anew | replay, of a checkpoint | forget, when it
 * goes)* -> drop A fault belongs to the session until its system goes: it happens again in every
 * run. What set_property has set ends with the run. */
#ifndef TH_REPORT_SESSION_PROPERTY_EVENTS_H
#define TH_REPORT_SESSION_PROPERTY_EVENTS_H
#include "report/session/session.h"

/* Where a run stands: after so many program events, or, whole, after all of an instant. */
typedef struct th_position {
    int64_t events;
    th_time now;
    bool is_whole;
} th_position;
th_position th_position_of(const th_simulation *sim);
/* Runs on to there. 0, or -1: it failed, or was interrupted. */
int th_position_reach(th_simulation *sim, th_position p, th_error *err);

typedef struct th_applied_event {
    th_property_event event;
    th_position applied_at; /* where the run stood when the command was given */
    bool is_fault;
} th_applied_event;

/* Changes the present run n times, and remembers it. 0, or -1: nothing was changed. */
int th_property_events_add(th_session *s, const th_property_event *c, size_t n, bool is_fault,
                           th_error *err);
/* There is no run any more: faults are to happen in the next one, all else is forgotten. */
void th_property_events_discard(th_session *s);
/* The run is at time 0: faults are to happen again, all else is forgotten. 0 or -1. */
int th_property_events_reapply(th_session *s, th_simulation *sim, th_error *err);
/* sim, a run of the same from time 0 on, goes on up to and including time t, with what has changed
 * the present run until then; *next: how many of these changes it has seen, 0 at first. 0, or -1:
 * it failed, or was interrupted. */
int th_property_events_replay(const th_session *s, th_simulation *sim, size_t *next, th_time t,
                              th_error *err);
/* What holds at most at any time of the present run, of what the system says: clocks by
 * accelerator, bandwidths by medium. */
void th_property_events_maximum(const th_session *s, double *clock, double *bandwidth);
void th_property_events_clear(th_session *s);

#endif
