/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_run.c - see study_run.h.
 *   th_study_run: lock -> crew -> { give -> wait -> record }* until nothing waits and nobody is busy
 * This thread alone touches the file. A point is recorded in the transaction that takes its result; one that was
 * given out and not recorded when the process ends, however, still waits. */
#include <config.h>
#include "tcl/study_run.h"
#include <string.h>
#include "tcl/interrupt.h"
#include "tcl/progress.h"
#include "tcl/study_crew.h"

enum { GLANCE_MS = 50 }; /* between two looks at Ctrl-C and the clock */

typedef struct {
    th_session *session;
    th_store *store;
    th_crew *crew;
    const th_study_options *options;
    th_progress progress;
    int64_t counts[TH_N_POINT_STATES]; /* as they stand in the file */
    int64_t last, given, recorded; /* point that was given out last; how many in this run */
    bool is_empty, was_interrupted;
    th_error *err;
} study_run;

/* ---- giving out ---- */

static int give_points(study_run *r)
{
    while (!r->is_empty && !r->was_interrupted && r->given < r->options->limit &&
           th_crew_busy(r->crew) < r->options->threads) {
        int64_t number, cell;
        int found = th_store_next_waiting(r->store, r->last, &number, &cell, r->err);
        if (found < 0)
            return -1;
        r->is_empty = found == 0;
        if (found == 0 || !th_crew_give(r->crew, number, cell))
            return 0;
        r->last = number;
        r->given++;
    }
    return 0;
}

/* ---- recording ---- */

static int record(study_run *r, const th_outcome *o)
{
    if (o->was_stopped)
        return 0;
    if (th_store_record(r->store, &o->point, r->err) != 0)
        return -1;
    r->counts[TH_POINT_WAITING]--;
    r->counts[o->point.state]++;
    r->recorded++;
    return 0;
}

/* All that has come, in one transaction. */
static int record_points(study_run *r)
{
    th_outcome o;
    int rc = 0;
    bool has_begun = false;
    while (rc == 0 && th_crew_take(r->crew, &o)) {
        if (!has_begun)
            rc = th_store_begin(r->store, r->err);
        has_begun = true;
        if (rc == 0)
            rc = record(r, &o);
        th_outcome_clear(&o);
    }
    return rc == 0 && has_begun ? th_store_commit(r->store, r->err) : rc;
}

/* ---- the whole ---- */

static void show_progress(study_run *r)
{
    double elapsed = th_progress_elapsed_s(&r->progress);
    double rate = elapsed > 0 ? (double)r->recorded / elapsed : 0;
    int64_t waiting = r->counts[TH_POINT_WAITING], all = 0;
    int64_t left = r->options->limit - r->recorded < waiting ? r->options->limit - r->recorded : waiting;
    for (int i = 0; i < TH_N_POINT_STATES; i++)
        all += r->counts[i];
    if (rate > 0)
        th_progress_show(&r->progress, "study: %lld of %lld points, %lld failed, %.1f/s, %.0f s left",
                         (long long)(all - waiting), (long long)all,
                         (long long)r->counts[TH_POINT_FAILED], rate, (double)left / rate);
    else
        th_progress_show(&r->progress, "study: %lld of %lld points, %lld failed",
                         (long long)(all - waiting), (long long)all,
                         (long long)r->counts[TH_POINT_FAILED]);
}

/* Ctrl-C is only looked at: runs of the points look at it too, until they have all ended. */
static void look_around(study_run *r)
{
    if (!r->was_interrupted && (th_interrupt_is_pending() ||
                                Tcl_Canceled(r->session->interp, 0) == TCL_ERROR)) {
        r->was_interrupted = true;
        th_crew_stop(r->crew);
    }
    if (th_progress_is_due(&r->progress))
        show_progress(r);
}

static int run_points(study_run *r)
{
    for (;;) {
        if (give_points(r) != 0)
            return -1;
        if (th_crew_busy(r->crew) == 0)
            return 0;
        th_crew_wait(r->crew, GLANCE_MS);
        look_around(r);
        if (record_points(r) != 0)
            return -1;
    }
}

/* Threads that would find nothing to do are not started; the searches of the others have them. */
static int start(study_run *r, const th_study *study)
{
    int64_t waiting = r->counts[TH_POINT_WAITING];
    int64_t wanted = waiting < r->options->limit ? waiting : r->options->limit;
    int n = wanted < r->options->threads ? (int)wanted : r->options->threads;
    const char *auto_path =
        Tcl_GetVar2(r->session->interp, "auto_path", NULL, TCL_GLOBAL_ONLY);
    r->progress = th_progress_start(r->session->is_quiet);
    r->crew = th_crew_new(study, n, r->options->threads / n, auto_path, r->err);
    return r->crew != NULL ? 0 : -1;
}

static int check_version(const th_study *study, th_error *err)
{
    if (strcmp(study->version, PACKAGE_VERSION) == 0)
        return 0;
    return th_error_set(err, "STUDY-0063",
                        "the study is one of tharsis %s, whose results would stand beside those of "
                        "%s: finish it there, or make a new one",
                        study->version, PACKAGE_VERSION);
}

int th_study_run(th_session *s, th_store *t, const th_study_options *o, th_study_end *end,
                 th_error *err)
{
    study_run r = {.session = s, .store = t, .options = o, .err = err};
    if (check_version(th_store_study(t), err) != 0 || th_store_lock(t, err) != 0 ||
        (o->retries && th_store_retry_failed(t, err) != 0) ||
        th_store_counts(t, r.counts, err) != 0)
        return -1;
    *end = TH_STUDY_DONE;
    if (r.counts[TH_POINT_WAITING] == 0)
        return 0;
    int rc = start(&r, th_store_study(t));
    if (rc == 0)
        rc = run_points(&r);
    th_crew_free(r.crew);
    th_progress_end(&r.progress);
    if (r.was_interrupted)
        th_interrupt_take();
    *end = r.counts[TH_POINT_WAITING] == 0 ? TH_STUDY_DONE
           : r.was_interrupted            ? TH_STUDY_INTERRUPTED
                                          : TH_STUDY_LIMIT;
    return rc;
}
