/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_workers.h - threads that do the points of a study; each point in an interpreter of its own.
 *   new -> (give | wait | take)* -> stop? -> free
 * One thread gives and takes; results come in whatever order. */
#ifndef TH_TCL_STUDY_STUDY_WORKERS_H
#define TH_TCL_STUDY_STUDY_WORKERS_H
#include "tcl/study/study_point.h"

typedef struct th_crew th_crew;

/* n threads, whose searches have so many threads each; seconds for each point, 0: no limit. NULL:
 * err says why. */
th_crew *th_crew_new(const th_study *study, int n, int threads_each, int64_t seconds,
                     const char *auto_path, th_error *err);
/* False: nobody is idle. */
bool th_crew_give(th_crew *c, int64_t number, int64_t cell);
/* A point that somebody is through with; *out is the caller's to clear. False: there is none. */
bool th_crew_take(th_crew *c, th_outcome *out);
int th_crew_busy(th_crew *c); /* points given and not taken */
/* Until there is something to take, or so many ms. */
void th_crew_wait(th_crew *c, int ms);
/* Scripts are cancelled, runs end between two events. What is not done then was_stopped. */
void th_crew_stop(th_crew *c);
void th_crew_free(th_crew *c); /* stops; waits for all of them; accepts NULL */

#endif
