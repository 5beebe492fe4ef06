/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_run.c - see study_run.h.
 *   th_study_run: lock -> workers, ranks -> { take -> give -> record -> wait }* until no point
 *   waits and no worker is busy
 * Only this thread accesses the file. Results are recorded in transactions; if the process ends,
 * points that were distributed and not recorded still wait. */
#include <config.h>
#include "tcl/study/study_run.h"
#include "tcl/tcl_session.h"
#include <string.h>
#include "base/alloc.h"
#include "report/interrupt.h"
#include "report/session/progress.h"
#include "tcl/study/study_workers.h"
#include "tcl/study/study_ranks.h"

enum {
    POLL_MS = 50,      /* between polls of Ctrl-C and the clock */
    RANKS_POLL_MS = 2, /* between polls of ranks */
    RECORD_MS = 50     /* between two commits while points are at work */
};

typedef struct {
    th_session *session;
    th_store *store;
    th_study_workers *workers;
    th_study_ranks *ranks;
    const th_study_options *options;
    th_progress progress;
    int64_t counts[TH_N_POINT_STATES]; /* as they stand in the file */
    int64_t last, given, recorded;     /* point that was given out last; how many in this run */
    th_outcome *taken;                 /* and not recorded yet */
    size_t n_taken, capacity;
    double recorded_s; /* since the start: the last commit */
    bool is_empty, was_interrupted;
    th_error *err;
} study_run;

/* ---- giving out ---- */

static int n_busy(const study_run *r)
{
    return th_study_workers_busy(r->workers) + th_study_ranks_busy(r->ranks);
}

/* 1; 0: all are busy; -1: memory is out. */
static int give(study_run *r, int64_t number, int64_t cell)
{
    if (th_study_workers_submit(r->workers, number, cell))
        return 1;
    int given = th_study_ranks_submit(r->ranks, number, cell);
    return given < 0 ? th_error_no_memory(r->err) : given;
}

static int give_points(study_run *r)
{
    while (!r->is_empty && !r->was_interrupted && r->given < r->options->limit &&
           n_busy(r) < r->options->threads + th_study_ranks_n(r->ranks)) {
        int64_t number, cell;
        int found = th_store_next_waiting(r->store, r->last, &number, &cell, r->err);
        r->is_empty = found == 0;
        int given = found > 0 ? give(r, number, cell) : found;
        if (given <= 0)
            return given;
        r->last = number;
        r->given++;
    }
    return 0;
}

/* ---- recording ---- */

/* 1; 0: nothing has come; -1: memory is out. */
static int take(study_run *r, th_outcome *o)
{
    if (th_study_workers_take(r->workers, o))
        return 1;
    int taken = th_study_ranks_take(r->ranks, o);
    return taken < 0 ? th_error_no_memory(r->err) : taken;
}

static int take_points(study_run *r)
{
    int taken = 0;
    do {
        if (th_grow(&r->taken, &r->capacity, r->n_taken + 1, sizeof *r->taken) != 0)
            return th_error_no_memory(r->err);
        taken = take(r, &r->taken[r->n_taken]);
        r->n_taken += taken > 0;
    } while (taken > 0);
    return taken;
}

static void clear_taken(study_run *r)
{
    for (size_t i = 0; i < r->n_taken; i++)
        th_outcome_clear(&r->taken[i]);
    r->n_taken = 0;
}

static int record(study_run *r, th_outcome *o)
{
    if (o->was_stopped)
        return 0;
    if (o->point.mapping)
        o->point.mapping = o->mapping; /* which has moved */
    if (th_store_record(r->store, &o->point, r->err) != 0)
        return -1;
    r->counts[TH_POINT_WAITING]--;
    r->counts[o->point.state]++;
    r->recorded++;
    return 0;
}

/* All that was taken, in one transaction. */
static int record_points(study_run *r)
{
    if (r->n_taken == 0)
        return 0;
    int failed = th_store_begin(r->store, r->err);
    for (size_t i = 0; i < r->n_taken && !failed; i++)
        failed = record(r, &r->taken[i]);
    if (!failed)
        failed = th_store_commit(r->store, r->err);
    clear_taken(r);
    r->recorded_s = th_progress_elapsed_s(&r->progress);
    return failed;
}

/* A commit takes as long as the disk does, and those who have the next points need not wait for
 * it. */
static bool is_time_to_record(const study_run *r)
{
    return n_busy(r) == 0 ||
           th_progress_elapsed_s(&r->progress) - r->recorded_s >= RECORD_MS * 1e-3;
}

/* ---- the run ---- */

static void show_progress(study_run *r)
{
    double elapsed = th_progress_elapsed_s(&r->progress);
    double rate = elapsed > 0 ? (double)r->recorded / elapsed : 0;
    int64_t waiting = r->counts[TH_POINT_WAITING], all = 0;
    int64_t left =
        r->options->limit - r->recorded < waiting ? r->options->limit - r->recorded : waiting;
    for (int i = 0; i < TH_N_POINT_STATES; i++)
        all += r->counts[i];
    if (rate > 0)
        th_progress_show(&r->progress,
                         "study: %lld of %lld points, %lld failed, %.1f/s, %.0f s left",
                         (long long)(all - waiting), (long long)all,
                         (long long)r->counts[TH_POINT_FAILED], rate, (double)left / rate);
    else
        th_progress_show(&r->progress, "study: %lld of %lld points, %lld failed",
                         (long long)(all - waiting), (long long)all,
                         (long long)r->counts[TH_POINT_FAILED]);
}

/* The flag of Ctrl-C is not cleared here: the runs of all points poll it until they have ended. */
static void poll(study_run *r)
{
    if (!r->was_interrupted && (th_interrupt_is_pending() ||
                                Tcl_Canceled(th_tcl_of(r->session)->interp, 0) == TCL_ERROR)) {
        r->was_interrupted = true;
        th_study_workers_stop(r->workers);
    }
    if (th_progress_is_due(&r->progress))
        show_progress(r);
}

static int run_points(study_run *r)
{
    for (;;) {
        if (take_points(r) != 0 || give_points(r) != 0 ||
            (is_time_to_record(r) && record_points(r) != 0))
            return -1;
        if (n_busy(r) == 0 && r->n_taken == 0)
            return 0;
        th_study_workers_wait(r->workers, th_study_ranks_n(r->ranks) > 0 ? RANKS_POLL_MS : POLL_MS);
        poll(r);
    }
}

/* Ranks cannot be stopped, and their late answers must not be taken for others. */
static void wait_for_ranks(study_run *r)
{
    th_outcome o;
    while (th_study_ranks_busy(r->ranks) > 0) {
        if (th_study_ranks_take(r->ranks, &o) > 0)
            th_outcome_clear(&o);
        th_study_workers_wait(r->workers, RANKS_POLL_MS);
    }
}

/* No more threads than points; the remaining ones go to searches. */
static int start(study_run *r, const th_study *study)
{
    int64_t waiting = r->counts[TH_POINT_WAITING];
    int64_t wanted = waiting < r->options->limit ? waiting : r->options->limit;
    int n = wanted < r->options->threads ? (int)wanted : r->options->threads;
    const th_point_setting setting = {
        .seconds = r->options->seconds,
        .auto_path = Tcl_GetVar2(th_tcl_of(r->session)->interp, "auto_path", NULL, TCL_GLOBAL_ONLY),
        .is_safe = r->options->is_safe};
    r->progress = th_progress_start(r->session->is_quiet);
    r->ranks = th_study_ranks_new(th_tcl_of(r->session)->mailbox, study, &setting);
    if (!r->ranks)
        return th_error_no_memory(r->err);
    r->workers = th_study_workers_new(study, n, r->options->threads / n, &setting, r->err);
    return r->workers ? 0 : -1;
}

static int check_version(const th_study *study, th_error *err)
{
    if (strcmp(study->version, PACKAGE_VERSION) == 0)
        return 0;
    return th_error_set(err, "STUDY-0063",
                        "the study is one of tharsis %s, whose results cannot be mixed with those "
                        "of %s: finish it there, or make a new one",
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
    int failed = start(&r, th_store_study(t));
    if (!failed)
        failed = run_points(&r);
    if (r.workers)
        wait_for_ranks(&r);
    clear_taken(&r);
    th_free(r.taken);
    th_study_workers_free(r.workers);
    th_study_ranks_free(r.ranks);
    th_progress_end(&r.progress);
    if (r.was_interrupted)
        th_interrupt_take();
    *end = r.counts[TH_POINT_WAITING] == 0 ? TH_STUDY_DONE
           : r.was_interrupted             ? TH_STUDY_INTERRUPTED
                                           : TH_STUDY_LIMIT;
    return failed;
}
