/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_run.h - runs the waiting points of a study and records their results. */
#ifndef TH_TCL_STUDY_STUDY_RUN_H
#define TH_TCL_STUDY_STUDY_RUN_H
#include "study/store.h"
#include "tcl/tcl_session.h"

typedef struct th_study_options {
    int threads;
    int64_t limit;   /* of points */
    int64_t seconds; /* per point; 0: no limit */
    bool retries;    /* also failed points */
    bool is_safe;    /* scripts run in safe interpreters */
} th_study_options;

typedef enum { TH_STUDY_DONE, TH_STUDY_LIMIT, TH_STUDY_INTERRUPTED } th_study_end;

/* Every result is in the file as soon as it is there. 0, or -1: what is recorded by then stays. */
int th_study_run(th_session *s, th_store *t, const th_study_options *o, th_study_end *end,
                 th_error *err);

#endif
