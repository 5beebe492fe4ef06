/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_point.h - one point of a study: its script, in an interpreter and a session of its own, and
 * its metrics.
 *   begin_thread once per thread -> (evaluate -> outcome_clear)*
 * A point leaves no state in the process, so no result depends on which points were run before it,
 * or where. */
#ifndef TH_TCL_STUDY_STUDY_POINT_H
#define TH_TCL_STUDY_STUDY_POINT_H
#include "study/store.h"
#include "tcl/tcl_session.h"

typedef struct th_outcome {
    th_study_point point; /* its texts are stored below */
    char *error;
    char mapping[20]; /* point.mapping is this or NULL; set again after a move */
    char *texts[TH_STUDY_METRICS_MAX];
    bool was_stopped; /* it is no result */
} th_outcome;

/* The supervisor of a point: between begin and end it may cancel the interpreter. */
typedef struct th_point_timer {
    bool (*begin)(void *state, Tcl_Interp *interp); /* false: stop at once */
    bool (*end)(void *state);                       /* true: it was stopped */
    void *state;
} th_point_timer;

/* How the scripts of all points of a study run. */
typedef struct th_point_setting {
    int64_t seconds;       /* wall time after which a point fails; 0: no limit */
    const char *auto_path; /* where packages are; NULL: the default */
    bool is_safe;          /* in safe interpreters, which open no files (safe_interp.h) */
} th_point_setting;

typedef struct th_point_job {
    const th_study *study;
    int64_t number, cell;
    int threads; /* of the searches of the script */
    th_point_setting setting;
    th_point_timer timer; /* .begin NULL: none */
} th_point_job;

/* Discards what scripts print in this thread from here on. */
void th_points_begin_thread(void);
/* Every failure is part of the outcome. */
void th_point_evaluate(const th_point_job *job, th_outcome *out);
void th_outcome_clear(th_outcome *out);

/* An interpreter with the commands of Tharsis at hand, but without exit and cd; a safe one opens
 * no files either. NULL: err says why. */
Tcl_Interp *th_point_interp(bool is_safe, th_error *err);

#endif
