/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_call.h - one call of run or step: moves the machine, serves breakpoints, timers, Ctrl-C and
 * the progress line.
 *   begin -> (to | events) -> finish */
#ifndef TH_TCL_COMMANDS_RUN_CALL_H
#define TH_TCL_COMMANDS_RUN_CALL_H
#include "session/progress.h"
#include "tcl/command.h"
#include "session/objects/run_stop.h"
#include "tcl/tcl_session.h"

typedef struct th_run_call {
    th_call *call;
    th_session *session;
    th_simulation *sim;
    th_step_probe *probe; /* counts steps; NULL: run */
    int64_t steps;        /* that were asked for */
    bool is_lenient;      /* what of a trace does not come to its end is a warning */
    /* private */
    th_progress progress;
    double timers_served_s; /* by th_clock_s */
    th_stopped_by by;
} th_run_call;

void th_run_begin(th_run_call *d);
/* All events up to and including time until, TH_TIME_MAX: all there are; or until the probe has
 * counted its steps. */
th_run_end th_run_to(th_run_call *d, th_time until);
/* n program events, one by one; a breakpoint is noticed after the event that passed it. */
th_run_end th_run_events(th_run_call *d, int64_t n);
/* Returns from the command with the reason of the stop, which a person at the prompt also sees in
 * words. 0 or -1. */
int th_run_finish(th_run_call *d, th_run_end end);

#endif
