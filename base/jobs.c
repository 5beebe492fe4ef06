/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.c - threads that each take the next piece of work.
 *   run: start the others -> take pieces until there is none -> join
 * If a thread cannot be started, the others do its work. Signals stay with the caller's thread. */
#include <config.h>

#include "base/jobs.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

typedef struct {
    th_job *job;
    void (*leave)(void *state);
    void *state;
    int n;
    atomic_int next;
    atomic_bool failed;
    pthread_mutex_t lock;
    int failed_at; /* lowest; n: none */
    th_error error;
} board;

static void note_failure(board *b, int i, const th_error *e)
{
    pthread_mutex_lock(&b->lock);
    if (i < b->failed_at) {
        b->failed_at = i;
        b->error = *e;
    }
    atomic_store(&b->failed, true);
    pthread_mutex_unlock(&b->lock);
}

static void work(board *b)
{
    while (!atomic_load(&b->failed)) {
        th_error e = {"", ""};
        int i = atomic_fetch_add(&b->next, 1);
        if (i >= b->n)
            break;
        if (b->job(b->state, i, &e))
            note_failure(b, i, &e);
    }
}

static void *run_thread(void *argument)
{
    board *b = argument;
    work(b);
    if (b->leave)
        b->leave(b->state);
    return NULL;
}

static int threads_for(int asked, int n)
{
    long there = asked > 0 ? asked : sysconf(_SC_NPROCESSORS_ONLN);
    int threads = there < 1 ? 1 : there > THREADS_MAX ? THREADS_MAX : (int)there;
    return threads < n ? threads : n;
}

/* The number that was started, all signals blocked in them. */
static int start(board *b, pthread_t *thread, int n)
{
    sigset_t all, before;
    int started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < n && pthread_create(&thread[started], NULL, run_thread, b) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int th_jobs_run(th_job *job, void (*leave)(void *state), void *state, int n, int threads,
                th_error *err)
{
    pthread_t thread[THREADS_MAX];
    board b = {.job = job, .leave = leave, .state = state, .n = n, .failed_at = n};
    pthread_mutex_init(&b.lock, NULL);
    int started = start(&b, thread, threads_for(threads, n) - 1);
    work(&b);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&b.lock);
    if (b.failed_at < n && err)
        *err = b.error;
    return b.failed_at < n ? -1 : 0;
}
