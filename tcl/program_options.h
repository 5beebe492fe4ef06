/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program_options.h - options of the commands that add a task to a hand-built program.
 *   th_timing_parse -> th_call_add_task -> th_free(timing.after) */
#ifndef TH_TCL_PROGRAM_OPTIONS_H
#define TH_TCL_PROGRAM_OPTIONS_H
#include "tcl/command.h"
#include "tcl/tcl_session.h"

/* Rows of an option table, starting at index first. */
enum { TH_TIMING_AT, TH_TIMING_AFTER, TH_TIMING_DELAY };
#define TH_TIMING_OPTIONS(first)                                                                   \
    [(first) +                                                                                     \
        TH_TIMING_AT] = {"-at", TH_OPTION_TIME, "TIME", "Starts no earlier than this time (0)."},  \
        [(first) + TH_TIMING_AFTER] = {"-after", TH_OPTION_TEXT, "TASKS",                          \
                                       "Starts when all of these have ended: {task/0 task/3}."},   \
        [(first) +                                                                                 \
            TH_TIMING_DELAY] = {"-delay", TH_OPTION_TIME, "TIME",                                  \
                                "Overhead of every message, before its first byte goes (0)."}

typedef struct th_timing {
    th_time at_ps, delay_ps;
    int32_t *after; /* the caller's to free */
    int32_t n_after;
} th_timing;

/* Reads these options. 0, or -1 and nothing to free. */
int th_timing_parse(th_call *c, int first, th_timing *out);

/* Is the size within the limit of programs? 0 or -1. */
int th_size_check(th_call *c, const char *option, int64_t bytes);

/* Adds the task to the session's program, which must be open, and returns task/N. 0 or -1. */
int th_call_add_task(th_call *c, const th_hand_built_task *t);

#endif
