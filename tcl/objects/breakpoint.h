/* SPDX-License-Identifier: GPL-3.0-or-later */
/* breakpoint.h - where a run stops or runs a script: at an instant, at what happens, or when a
 * condition becomes true.
 *   add -> (next -> hit | seen)* -> delete. reset when a run begins anew. */
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
    int64_t number;     /* nobody else's, ever */
    th_time at_ps;      /* -1: none */
    int on;             /* th_on; -1: none */
    th_object *of;      /* by class and index; what -on is about */
    int n_of;           /* 0: everything */
    th_condition *when; /* NULL: none */
    char *text;         /* the condition as it was given */
    char *script;       /* NULL: none */
    bool is_once, goes_on, is_disabled;
    bool is_passed; /* its instant, in the present run */
    bool was_true;  /* its condition, when it was looked at last */
    int64_t hits;
};

void th_breakpoints_clear(th_session *s);
/* Copies name, text and script; takes of and when. 0 or -1: then the session is unchanged, and of
 * and when are freed. */
int th_breakpoint_add(th_session *s, const th_breakpoint *b, th_error *err);
th_breakpoint *th_breakpoint_find(th_session *s, const char *name);
void th_breakpoint_delete(th_session *s, th_breakpoint *b);
/* Those on objects that are about to go: on any, or only on layers and tasks. */
void th_breakpoints_drop_bound(th_session *s, bool any);

/* All that lie after the present run's now are ahead again, and conditions are what they are now.
 */
void th_breakpoints_reset(th_session *s);
/* The earliest instant that is ahead, the first made among equals; NULL: none. */
th_breakpoint *th_breakpoint_next(th_session *s);
/* The run is at or just after b->at_ps: runs its script. *stops: the run ends here, and stopped_by
 * (of size) holds b's name. 0, or -1 with Tcl's error when the script failed. */
int th_breakpoint_hit(th_session *s, th_breakpoint *b, bool *stops, char *stopped_by, size_t size);
/* The event recorder has recorded something: likewise for all that were waiting for it. */
int th_breakpoints_handle_records(th_session *s, bool *stops, char *stopped_by, size_t size,
                                  th_error *err);

/* What the machine is to note for all of them: bits of th_record_kind. Where links matter, named
 * (by link) says which; false: all do. */
unsigned th_breakpoints_kinds(const th_session *s, bool *named, bool *only_named);

#endif
