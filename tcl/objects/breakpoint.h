/* SPDX-License-Identifier: GPL-3.0-or-later */
/* breakpoint.h - stops a run, or runs a script in it: at a time, at an event, or when a condition
 * becomes true.
 *   add -> (next -> hit | seen)* -> delete; reset when a run starts */
#ifndef TH_TCL_OBJECTS_BREAKPOINT_H
#define TH_TCL_OBJECTS_BREAKPOINT_H
#include "tcl/objects/condition.h"
#include "tcl/tcl_session.h"

/* What -on can name. */
typedef enum {
    TH_ON_TASK_START, /* computes, hosts and collectives */
    TH_ON_TASK_END,
    TH_ON_TRANSFER_START,
    TH_ON_TRANSFER_END,
    TH_ON_STALL,
    TH_ON_BUFFER_FULL,
    TH_N_ON
} th_on;
const char *th_on_name(int i); /* NULL after the last */

struct th_breakpoint {
    char *name;
    int64_t number;     /* never used again */
    th_time at_ps;      /* -1: none */
    int on;             /* th_on; -1: none */
    th_object *of;      /* objects that -on is about, by class and index */
    int n_of;           /* 0: everything */
    th_condition *when; /* NULL: none */
    char *text;         /* the condition as it was given */
    char *script;       /* NULL: none */
    bool is_once, goes_on, is_disabled;
    bool is_passed; /* its time has passed in the present run */
    bool was_true;  /* its condition was true at the last test */
    int64_t hits;
};

void th_breakpoints_clear(th_session *s);
/* Copies name, text and script; takes over of and when. 0, or -1: the session is unchanged, and of
 * and when are freed. */
int th_breakpoint_add(th_session *s, const th_breakpoint *b, th_error *err);
th_breakpoint *th_breakpoint_find(th_session *s, const char *name);
void th_breakpoint_delete(th_session *s, th_breakpoint *b);
/* Deletes breakpoints on objects that are about to be deleted: on any objects, or only on layers
 * and tasks. */
void th_breakpoints_drop_bound(th_session *s, bool any);

/* Times after the current simulated time are ahead again, and the values of conditions are read
 * anew. */
void th_breakpoints_reset(th_session *s);
/* The breakpoint of the earliest time ahead, the oldest among equals; NULL: none. */
th_breakpoint *th_breakpoint_next(th_session *s);
/* The run has reached b->at_ps: runs the script of b. *stops: the run ends here, by b. 0, or -1
 * with the Tcl error where the script failed. */
int th_breakpoint_hit(th_session *s, th_breakpoint *b, bool *stops, th_stopped_by *by);
/* The same for all breakpoints that wait for the events that were recorded. */
int th_breakpoints_handle_records(th_session *s, bool *stops, th_stopped_by *by, th_error *err);

/* Attaches the observers that the open trace and the breakpoints need to the present machine, if
 * there is one: called when either changes, or a machine is made. 0 or -1. */
int th_probes_update(th_session *s, th_error *err);

#endif
