/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_workers.h - threads that do the points of a study; each point in an interpreter of its own.
 *   new -> (give | wait | take)* -> stop? -> free
 * One thread gives and takes; results come in whatever order. */
#ifndef TH_TCL_STUDY_STUDY_WORKERS_H
#define TH_TCL_STUDY_STUDY_WORKERS_H
#include "tcl/study/study_point.h"

typedef struct th_study_workers th_study_workers;

/* n threads, whose searches have so many threads each; seconds for each point, 0: no limit. NULL:
 * err says why. */
th_study_workers *th_study_workers_new(const th_study *study, int n, int threads_each,
                                       int64_t seconds, const char *auto_path, th_error *err);
/* False: nobody is idle. */
bool th_study_workers_submit(th_study_workers *c, int64_t number, int64_t cell);
/* A point that somebody is through with; *out is the caller's to clear. False: there is none. */
bool th_study_workers_take(th_study_workers *c, th_outcome *out);
int th_study_workers_busy(th_study_workers *c); /* points given and not taken */
/* Until there is something to take, or so many ms. */
void th_study_workers_wait(th_study_workers *c, int ms);
/* Scripts are cancelled, runs end between two events. What is not done then was_stopped. */
void th_study_workers_stop(th_study_workers *c);
void th_study_workers_free(th_study_workers *c); /* stops; waits for all of them; accepts NULL */

#endif
