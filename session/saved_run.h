/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved_run.h - the figures of a run under a name, kept after the run is dropped.
 *   th_saved_run_of (session/objects/figures.h) -> add -> (find | number)* -> clear */
#ifndef TH_SESSION_SAVED_RUN_H
#define TH_SESSION_SAVED_RUN_H
#include "session/session.h"

/* Adds the run, which is the session's then, replacing one of the same name; NULL: memory was out
 * when it was made. 0, or -1 without the run. */
int th_saved_run_add(th_session *s, th_saved_run *run, th_error *err);
th_saved_run *th_saved_run_find(th_session *s, const char *name, th_error *err); /* NULL: unknown */
/* Its place among the saved runs. */
int th_saved_run_number(const th_session *s, const th_saved_run *run);
void th_saved_run_free(th_saved_run *run); /* accepts NULL */
void th_saved_runs_clear(th_session *s);

#endif
