/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if_jobs.h - runs what is changed in a system on the session's threads. */
#ifndef TH_REPORT_WHAT_IF_WHAT_IF_JOBS_H
#define TH_REPORT_WHAT_IF_WHAT_IF_JOBS_H
#include "predictor/model/jobs.h"
#include "report/session/session.h"

typedef struct th_what_if_jobs {
    const char *name; /* what the progress line begins with */
    th_job *job;
    void *state;
    int n;
} th_what_if_jobs;
/* As th_jobs_run, with a line of progress and an end at Ctrl-C (BASE-0008); on one thread where a
 * design is a script, whose procedure runs in the thread of the interpreter. */
int th_what_if_jobs_run(const th_session *s, const th_what_if_jobs *jobs, th_error *err);
#endif
