/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_crash.h - which points of a study were at work when the process crashed.
 *   guard -> (enter -> leave)* in any thread -> unguard; another process: read -> count* -> clear |
 *   forget
 * A signal that says that the process has gone wrong (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT)
 * leaves the number of the point in a file beside that of the study, and takes its course. One that
 * is sent to end the process, SIGKILL above all, leaves nothing: a point is not to blame for it. */
#ifndef TH_TCL_STUDY_STUDY_CRASH_H
#define TH_TCL_STUDY_STUDY_CRASH_H
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum { TH_CRASHES_MAX = 2 }; /* at one point; then it has failed */

/* From now on crashes are noted for the study in this file. One study at a time in a process. */
void th_crash_guard(const char *study_path);
void th_crash_unguard(void);
/* This thread works on a point, or no longer. */
void th_crash_enter(int64_t number);
void th_crash_leave(void);

/* Points at which processes crashed, one entry for each crash. */
typedef struct th_crashes {
    int64_t *points;
    size_t n, capacity;
} th_crashes;
int th_crashes_read(th_crashes *c, const char *study_path,
                    th_error *err); /* 0 or -1: memory is out */
int th_crashes_count(const th_crashes *c, int64_t number);
void th_crashes_clear(th_crashes *c);
/* There were none. */
void th_crashes_forget(const char *study_path);

#endif
