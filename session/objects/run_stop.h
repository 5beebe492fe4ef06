/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_stop.h - where and why a run has stopped, in words. */
#ifndef TH_SESSION_OBJECTS_RUN_STOP_H
#define TH_SESSION_OBJECTS_RUN_STOP_H
#include "sim/observe/step_probe.h"
#include "session/objects/objects.h"

typedef enum {
    TH_END_DONE,
    TH_END_UNTIL,
    TH_END_BREAKPOINT,
    TH_END_INTERRUPTED,
    TH_END_STOPPED,
    TH_END_FAILED
} th_run_end;

/* The breakpoint that stopped a run. */
typedef struct th_stopped_by {
    char name[128], why[256]; /* its condition, event or time */
    bool has_object;
    th_object object; /* that the event or condition was about */
} th_stopped_by;

typedef struct th_run_stop {
    bool is_known; /* false: the present run has not stopped yet */
    th_run_end end;
    th_stopped_by by;
    int64_t steps; /* of step; 0: run */
    th_step_unit unit;
    th_happened last; /* the last step, by step alone */
} th_run_stop;

/* One line, without its end: "20us: until; last task/3 starts (conv1: host -> 1) at 19us". */
void th_run_stop_describe(th_session *s, const th_run_stop *stop, th_strbuf *out);

#endif
