/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_workers.h - threads that do the points of a study, each point in an interpreter of its own.
 *   new -> (submit | wait | take)* -> stop? -> free
 * One thread submits and takes; results arrive in any order. */
#ifndef TH_TCL_STUDY_STUDY_WORKERS_H
#define TH_TCL_STUDY_STUDY_WORKERS_H
#include "tcl/study/study_point.h"

typedef struct th_study_workers th_study_workers;

/* n threads; the search of each may use threads_each threads. NULL: error in err. */
th_study_workers *th_study_workers_new(const th_study *study, int n, int threads_each,
                                       const th_point_setting *setting, th_error *err);
/* False: all are busy. */
bool th_study_workers_submit(th_study_workers *c, int64_t number, int64_t cell);
/* A finished point; the caller clears *out. False: none. */
bool th_study_workers_take(th_study_workers *c, th_outcome *out);
int th_study_workers_busy(th_study_workers *c); /* points submitted and not taken */
/* Waits for a finished point, at most this number of ms. */
void th_study_workers_wait(th_study_workers *c, int ms);
/* Cancels scripts; runs end between two events. Unfinished points have was_stopped. */
void th_study_workers_stop(th_study_workers *c);
void th_study_workers_free(th_study_workers *c); /* stops; waits for all of them; accepts NULL */

#endif
