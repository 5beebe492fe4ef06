/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program_options.h - options of the commands that add a task to a hand-built program.
 *   th_timing_parse -> th_call_add_task -> th_free(timing.after) */
#ifndef TH_TCL_PROGRAM_OPTIONS_H
#define TH_TCL_PROGRAM_OPTIONS_H
#include "tcl/command.h"
#include "tcl/tcl_session.h"

#define TH_AFTER_OPTION                                                                            \
    {                                                                                              \
        "-after", TH_OPTION_OBJECT, "TASKS",                                                       \
            "Starts when all of these have ended: {task/0 task/3}.",                               \
            .most = TH_MANY, .classes = TH_BIT(TH_CLASS_TASK)                                      \
    }

/* Rows of an option table, starting at index first. */
enum { TH_TIMING_AT, TH_TIMING_AFTER, TH_TIMING_DELAY };
#define TH_TIMING_OPTIONS(first)                                                                   \
    [(first) +                                                                                     \
        TH_TIMING_AT] = {"-at", TH_OPTION_TIME, "TIME", "Starts no earlier than this time (0)."},  \
        [(first) + TH_TIMING_AFTER] = TH_AFTER_OPTION,                                             \
        [(first) +                                                                                 \
            TH_TIMING_DELAY] = {"-delay", TH_OPTION_TIME, "TIME",                                  \
                                "Overhead of every message, before its first byte goes (0)."}

/* Adds the task, with these options, to the session's program, which must be open, and returns
 * task/N. 0 or -1. */
int th_call_add_task(th_call *c, int first, th_hand_built_task *t);

#endif
