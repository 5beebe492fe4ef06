/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if_jobs.c - see what_if_jobs.h. */
#include <config.h>
#include "report/what_if/what_if_jobs.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "report/interrupt.h"
#include "report/session/progress.h"

typedef struct {
    const th_what_if_jobs *jobs;
    th_progress progress;
    pthread_t own_thread; /* the interpreter's, which alone shows progress */
    atomic_int n_done;
} batch;

static void show_progress(batch *b)
{
    const int n = b->jobs->n, n_done = atomic_fetch_add(&b->n_done, 1) + 1;
    if (pthread_equal(pthread_self(), b->own_thread) && th_progress_is_due(&b->progress))
        th_progress_show(&b->progress, "%s: %d of %d runs, %.0f s left", b->jobs->name, n_done, n,
                         th_progress_elapsed_s(&b->progress) / n_done * (n - n_done));
}

static int run_one(void *state, int i, th_error *err)
{
    batch *b = state;
    if (th_interrupt_is_pending())
        return th_error_interrupted(err, "not every run has begun");
    int failed = b->jobs->job(b->jobs->state, i, err);
    show_progress(b);
    return failed;
}

static bool has_script_designs(const th_system *s)
{
    for (int d = 0; d < s->n_designs; d++)
        if (strcmp(s->designs[d].type, "script") == 0)
            return true;
    return false;
}

int th_what_if_jobs_run(const th_session *s, const th_what_if_jobs *jobs, th_error *err)
{
    batch b = {jobs, th_progress_start(s->is_quiet), pthread_self(), 0};
    int failed =
        th_jobs_run(run_one, &b, jobs->n, has_script_designs(s->system) ? 1 : s->threads, err);
    th_progress_end(&b.progress);
    return failed;
}
