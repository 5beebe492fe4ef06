/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool_threads.c - evaluates batches on the threads of one machine.
 *
 *   new -> evaluate* -> free.  Worker 0 is the calling thread; the others sleep between batches.
 * Each takes the next mapping that nobody has, with an evaluator of its own; what it finds depends
 * on the mapping and the bound alone, so results do not depend on who takes what. */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "mapper/pool.h"

typedef struct {
    th_pool *pool;
    th_evaluator *evaluator;
    pthread_t thread;
    bool runs;
} worker;

struct th_pool {
    worker *workers;
    int n_workers;
    pthread_mutex_t lock;
    pthread_cond_t start, end;
    int64_t batch; /* number of the batch at hand; workers wait for the next */
    int busy;
    bool quit;
    /* the batch */
    th_mapping *const *mappings;
    int n;
    th_time bound, *fitness;
    atomic_int next;
    int failed_at; /* lowest index that failed; n: none */
    th_error error;
};

static void note_failure(th_pool *p, int i, const th_error *e)
{
    pthread_mutex_lock(&p->lock);
    if (i < p->failed_at) {
        p->failed_at = i;
        p->error = *e;
    }
    pthread_mutex_unlock(&p->lock);
}

static void work_on_batch(worker *w)
{
    th_pool *p = w->pool;
    for (int i = atomic_fetch_add(&p->next, 1); i < p->n; i = atomic_fetch_add(&p->next, 1)) {
        th_error e = {0};
        if (th_evaluator_run(w->evaluator, p->mappings[i], p->bound, &p->fitness[i], &e))
            note_failure(p, i, &e);
    }
}

static void *run_worker(void *argument)
{
    worker *w = argument;
    th_pool *p = w->pool;
    int64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->batch == seen && !p->quit)
            pthread_cond_wait(&p->start, &p->lock);
        if (p->quit)
            break;
        seen = p->batch;
        pthread_mutex_unlock(&p->lock);
        work_on_batch(w);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0)
            pthread_cond_signal(&p->end);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

th_pool *th_pool_new(const th_problem *problem, int threads, th_error *err)
{
    th_pool *p = th_alloc_zero(1, sizeof *p);
    worker *workers = th_alloc_zero((size_t)threads, sizeof *workers);
    if (!p || !workers) {
        th_error_no_memory(err);
        th_free(p);
        th_free(workers);
        return NULL;
    }
    p->workers = workers;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->start, NULL);
    pthread_cond_init(&p->end, NULL);
    for (int i = 0; i < threads; i++) {
        worker *w = &workers[p->n_workers++];
        w->pool = p;
        w->evaluator = th_evaluator_new(problem, err);
        w->runs = i > 0 && w->evaluator && pthread_create(&w->thread, NULL, run_worker, w) == 0;
        if (w->evaluator && (i == 0 || w->runs))
            continue;
        if (w->evaluator)
            th_error_set(err, "MAP-0023", "thread %d of %d cannot be started", i + 1, threads);
        th_pool_free(p);
        return NULL;
    }
    return p;
}

void th_pool_free(th_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_workers; i++) {
        if (p->workers[i].runs)
            pthread_join(p->workers[i].thread, NULL);
        th_evaluator_free(p->workers[i].evaluator);
    }
    pthread_cond_destroy(&p->end);
    pthread_cond_destroy(&p->start);
    pthread_mutex_destroy(&p->lock);
    th_free(p->workers);
    th_free(p);
}

int th_pool_evaluate(th_pool *p, th_mapping *const *mappings, int n, th_time bound,
                     th_time *fitness, th_error *err)
{
    pthread_mutex_lock(&p->lock);
    p->mappings = mappings;
    p->n = p->failed_at = n;
    p->bound = bound;
    p->fitness = fitness;
    atomic_store(&p->next, 0);
    p->busy = p->n_workers - 1;
    p->batch++;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    work_on_batch(&p->workers[0]);
    pthread_mutex_lock(&p->lock);
    while (p->busy > 0)
        pthread_cond_wait(&p->end, &p->lock);
    pthread_mutex_unlock(&p->lock);
    if (p->failed_at == n)
        return 0;
    return th_error_set(err, p->error.id, "%s", p->error.text);
}

th_evaluator *th_pool_evaluator(th_pool *p)
{
    return p->workers[0].evaluator;
}
