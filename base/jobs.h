/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.h - runs independent pieces of work on several threads. */
#ifndef TH_BASE_JOBS_H
#define TH_BASE_JOBS_H
#include "base/error.h"

/* Does piece i, and touches nothing that another piece does. 0 or -1. */
typedef int th_job(void *state, int i, th_error *err);

/* job(state, i) for all i < n, the lowest first, on n_threads threads (0: as many as the machine
 * has processors), of which the caller's is one. 0; or -1 with the error of the lowest i that
 * failed, and those that had not begun are left undone. leave: what the other threads do at their
 * end; NULL: nothing. */
int th_jobs_run(th_job *job, void (*leave)(void *state), void *state, int n, int threads,
                th_error *err);

#endif
