/* SPDX-License-Identifier: GPL-3.0-or-later */
/* property_events.h - the changes by set_property and inject_fault in the current run, with the
 * position of the run at each.
 *   add* -> (again, when a run restarts | replay, of a checkpoint | forget, when it is dropped)* ->
 *   drop
 * A fault belongs to the session until its system is dropped: it happens again in every run.
 * Changes by set_property end with the run.
 * While a hand-built program grows, which drops its run each time, changes are kept without one:
 * the run is due, and is made when something looks at it. */
#ifndef TH_SESSION_PROPERTY_EVENTS_H
#define TH_SESSION_PROPERTY_EVENTS_H
#include "session/session.h"

/* A position in a run: after a number of program events, or, if is_time_complete, after all events
 * of time now. */
typedef struct th_run_position {
    int64_t events;
    th_time now;
    bool is_time_complete;
} th_run_position;
th_run_position th_run_position_of(const th_simulation *sim);
/* Runs up to this position. 0, or -1: it failed, or was interrupted. */
int th_run_to_position(th_simulation *sim, th_run_position p, th_error *err);

typedef struct th_applied_event {
    th_property_event event;
    th_run_position applied_at; /* the position of the run at the command */
    bool is_fault;
} th_applied_event;

/* Call before changes are made: there is a run, or one is due. *now: its time. 0 or -1. */
int th_property_events_begin(th_session *s, th_time *now, th_error *err);
/* What a property is once all faults of the object have ended. */
double th_property_events_without_faults(const th_session *s, const th_property_event *of);
/* Applies n changes to the present run, or the one that is due, and records them. 0, or -1: nothing
 * was changed, but if memory ran out between two of them, the run is lost. */
int th_property_events_add(th_session *s, const th_property_event *c, size_t n, bool is_fault,
                           th_error *err);
/* Do routes change in the run, round links that are down? */
bool th_property_events_reroute(const th_session *s);
/* The run is dropped: faults are kept for the next one, all other events are forgotten. */
void th_property_events_discard(th_session *s);
/* A run at time 0: faults will happen again; discard forgets all other events then, but of a run
 * that is due, which has them. 0 or -1. */
int th_property_events_reapply(th_session *s, th_simulation *sim, th_error *err);
/* Continues sim, a copy of the present run from time 0, through time t, with the same events;
 * *next: how many of them were applied, 0 at first. 0, or -1: it failed, or was interrupted. */
int th_property_events_replay(const th_session *s, th_simulation *sim, size_t *next, th_time t,
                              th_error *err);
/* The same up to the very position of the present run. */
int th_property_events_catch_up(const th_session *s, th_simulation *sim, th_error *err);
/* Runs sim, of any program from time 0, through time t, with the same events at the same times. 0,
 * or -1: it failed, or was interrupted. */
int th_property_events_repeat(const th_session *s, th_simulation *sim, th_time t, th_error *err);
/* The greatest factors at any time of the present run: clocks by accelerator, bandwidths by
 * medium. */
void th_property_events_maximum(const th_session *s, double *clock, double *bandwidth);
void th_property_events_clear(th_session *s);

#endif
