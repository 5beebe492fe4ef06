/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_workers.c - see study_workers.h.
 * A worker waits for a point, does it, and waits again. One lock guards all shared data. Other
 * threads may cancel the interpreter of a point only while the point runs. */
#include <config.h>
#include "tcl/study/study_workers.h"
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include "base/alloc.h"

typedef enum { IDLE, GIVEN, DONE } member_state;

typedef struct {
    th_study_workers *owner;
    Tcl_ThreadId thread;
    member_state state;
    int64_t number, cell;
    th_outcome outcome;
    Tcl_Interp *interp; /* of the running point; NULL: none */
} worker;

struct th_study_workers {
    pthread_mutex_t lock;
    pthread_cond_t given, done; /* signals after these events */
    bool is_stopping, is_over;
    const th_study *study;
    int threads_each;
    th_point_setting setting;
    char *auto_path; /* of it */
    worker *workers;
    int n, n_started, n_busy;
};

/* ---- one worker ---- */

static bool begin_point(void *state, Tcl_Interp *interp)
{
    worker *m = state;
    pthread_mutex_lock(&m->owner->lock);
    bool may = !m->owner->is_stopping;
    m->interp = may ? interp : NULL;
    pthread_mutex_unlock(&m->owner->lock);
    return may;
}

static bool end_point(void *state)
{
    worker *m = state;
    pthread_mutex_lock(&m->owner->lock);
    m->interp = NULL;
    bool was_stopped = m->owner->is_stopping;
    pthread_mutex_unlock(&m->owner->lock);
    return was_stopped;
}

/* False: there are no more points. */
static bool wait_for_point(worker *m)
{
    pthread_mutex_lock(&m->owner->lock);
    while (m->state != GIVEN && !m->owner->is_over)
        pthread_cond_wait(&m->owner->given, &m->owner->lock);
    bool has_point = m->state == GIVEN;
    pthread_mutex_unlock(&m->owner->lock);
    return has_point;
}

static void do_point(worker *m)
{
    const th_study_workers *c = m->owner;
    th_outcome outcome;
    th_point_evaluate(&(th_point_job){.study = c->study,
                                      .number = m->number,
                                      .cell = m->cell,
                                      .threads = c->threads_each,
                                      .setting = c->setting,
                                      .timer = {begin_point, end_point, m}},
                      &outcome);
    pthread_mutex_lock(&m->owner->lock);
    m->outcome = outcome;
    m->state = DONE;
    pthread_cond_signal(&m->owner->done);
    pthread_mutex_unlock(&m->owner->lock);
}

static Tcl_ThreadCreateType work(ClientData data)
{
    worker *m = data;
    th_points_begin_thread();
    while (wait_for_point(m))
        do_point(m);
    Tcl_FinalizeThread();
    TCL_THREAD_CREATE_RETURN;
}

/* ---- all workers ---- */

static int start_workers(th_study_workers *c, th_error *err)
{
    for (; c->n_started < c->n; c->n_started++) {
        worker *m = &c->workers[c->n_started];
        m->owner = c;
        if (Tcl_CreateThread(&m->thread, work, m, TCL_THREAD_STACK_DEFAULT, TCL_THREAD_JOINABLE) !=
            TCL_OK)
            return th_error_set(
                err, "STUDY-0046",
                "a thread cannot be started: this Tcl has none, or there are too many");
    }
    return 0;
}

th_study_workers *th_study_workers_new(const th_study *study, int n, int threads_each,
                                       const th_point_setting *setting, th_error *err)
{
    th_study_workers *c = th_alloc_zero(1, sizeof *c);
    if (!c) {
        th_error_no_memory(err);
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->given, NULL);
    pthread_cond_init(&c->done, NULL);
    c->study = study;
    c->threads_each = threads_each;
    c->auto_path = setting->auto_path ? th_alloc_string(setting->auto_path) : NULL;
    c->setting = *setting;
    c->setting.auto_path = c->auto_path;
    c->n = n;
    c->workers = th_alloc_zero((size_t)n, sizeof *c->workers);
    if (!c->workers || (setting->auto_path && !c->auto_path))
        th_error_no_memory(err);
    else if (start_workers(c, err) == 0)
        return c;
    th_study_workers_free(c);
    return NULL;
}

void th_study_workers_free(th_study_workers *c)
{
    if (!c)
        return;
    th_study_workers_stop(c);
    pthread_mutex_lock(&c->lock);
    c->is_over = true;
    pthread_cond_broadcast(&c->given);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->n_started; i++) {
        int unused;
        Tcl_JoinThread(c->workers[i].thread, &unused);
        th_outcome_clear(&c->workers[i].outcome);
    }
    pthread_cond_destroy(&c->done);
    pthread_cond_destroy(&c->given);
    pthread_mutex_destroy(&c->lock);
    th_free(c->workers);
    th_free(c->auto_path);
    th_free(c);
}

bool th_study_workers_submit(th_study_workers *c, int64_t number, int64_t cell)
{
    bool is_given = false;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->n && !is_given; i++) {
        worker *m = &c->workers[i];
        if (m->state != IDLE)
            continue;
        m->number = number;
        m->cell = cell;
        m->state = GIVEN;
        c->n_busy++;
        is_given = true;
    }
    pthread_cond_broadcast(&c->given);
    pthread_mutex_unlock(&c->lock);
    return is_given;
}

bool th_study_workers_take(th_study_workers *c, th_outcome *out)
{
    bool is_taken = false;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->n && !is_taken; i++) {
        worker *m = &c->workers[i];
        if (m->state != DONE)
            continue;
        *out = m->outcome;
        m->outcome = (th_outcome){0};
        m->state = IDLE;
        c->n_busy--;
        is_taken = true;
    }
    pthread_mutex_unlock(&c->lock);
    return is_taken;
}

int th_study_workers_busy(th_study_workers *c)
{
    return c->n_busy; /* only the submitting thread changes it */
}

static bool has_done(const th_study_workers *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->workers[i].state == DONE)
            return true;
    return false;
}

void th_study_workers_wait(th_study_workers *c, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&c->lock);
    while (!has_done(c) && pthread_cond_timedwait(&c->done, &c->lock, &until) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&c->lock);
}

void th_study_workers_stop(th_study_workers *c)
{
    pthread_mutex_lock(&c->lock);
    c->is_stopping = true;
    for (int i = 0; i < c->n; i++)
        if (c->workers[i].interp)
            Tcl_CancelEval(c->workers[i].interp, NULL, NULL, TCL_CANCEL_UNWIND);
    pthread_mutex_unlock(&c->lock);
}
