/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool_threads.c - evaluates batches on the threads of one machine.
 *
 *   new -> (evaluate | run_tasks)* -> free
 *   both: (trim -> all workers take items until none is left, one fails or the caches are full)*
 *
 * Worker 0 is the calling thread; the others sleep between batches. Each takes the next
 * unevaluated mapping, with an evaluator of its own. The fitness depends on the mapping and the
 * bound alone, so results do not depend on which worker took it. Evaluators share their caches.
 * Items are taken in their order, so the lowest that fails does not depend on the workers
 * either. */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/files/open_file.h"
#include "mapper/pool/pool.h"

struct thread_pool;

typedef struct worker {
    struct thread_pool *pool;
    th_evaluator *evaluator;
    pthread_t thread;
    bool runs;
} worker;

/* The mappings that are evaluated now. */
typedef struct {
    th_mapping *const *mappings;
    double bound;
    th_fitness *fitness;
    int failed_at; /* lowest index that failed; the batch's size: none */
    th_error error;
} batch;

typedef struct thread_pool {
    th_pool pool;
    worker *workers;
    int n_workers;
    pthread_mutex_t lock;
    pthread_cond_t start, end;
    int64_t round; /* number of wake-ups; workers wait for the next */
    int busy;
    bool quit;
    th_script_memo *scripts;
    const th_file_policy *files; /* of the thread that made the pool; the others take it over */
    batch batch;
    /* items 0 .. n - 1, and the function to run on each: 0, or it failed */
    int (*do_item)(worker *w, int i);
    int n;
    atomic_int next;
    atomic_bool has_failed;
    /* items that fill caches */
    th_pool_task *task;
    void *task_state;
} thread_pool;

enum { FIRST = 0 }; /* the worker that is the calling thread; the others share its caches */

static void note_failure(thread_pool *p, int i, const th_error *e)
{
    pthread_mutex_lock(&p->lock);
    if (i < p->batch.failed_at) {
        p->batch.failed_at = i;
        p->batch.error = *e;
    }
    pthread_mutex_unlock(&p->lock);
}

static int evaluate_item(worker *w, int i)
{
    thread_pool *p = w->pool;
    th_error e = {0};
    int failed = th_evaluator_run(w->evaluator, p->batch.mappings[i], p->batch.bound,
                                  &p->batch.fitness[i], &e);
    if (failed)
        note_failure(p, i, &e);
    return failed;
}

static int task_item(worker *w, int i)
{
    thread_pool *p = w->pool;
    th_error e;
    int failed = p->task(p->task_state, w->evaluator, i);
    if (failed < 0) {
        th_error_no_memory(&e);
        note_failure(p, i, &e);
    }
    return failed;
}

static void work_on_round(worker *w)
{
    thread_pool *p = w->pool;
    while (!th_evaluator_is_full(w->evaluator) && !atomic_load(&p->has_failed)) {
        int i = atomic_fetch_add(&p->next, 1);
        if (i >= p->n)
            break;
        if (p->do_item(w, i))
            atomic_store(&p->has_failed, true);
    }
}

static void *run_worker(void *argument)
{
    worker *w = argument;
    thread_pool *p = w->pool;
    int64_t last_round = 0;
    th_file_policy_set(p->files);
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->round == last_round && !p->quit)
            pthread_cond_wait(&p->start, &p->lock);
        if (p->quit)
            break;
        last_round = p->round;
        pthread_mutex_unlock(&p->lock);
        work_on_round(w);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0)
            pthread_cond_signal(&p->end);
    }
    pthread_mutex_unlock(&p->lock);
    th_script_memo_leave(p->scripts);
    return NULL;
}

static void destroy(th_pool *pool);

static th_pool *create(const th_problem *problem, int threads, th_error *err)
{
    thread_pool *p = th_alloc_zero(1, sizeof *p);
    worker *workers = th_alloc_zero((size_t)threads, sizeof *workers);
    if (!p || !workers) {
        th_error_no_memory(err);
        th_free(p);
        th_free(workers);
        return NULL;
    }
    p->pool.type = &th_pool_threads;
    p->workers = workers;
    p->scripts = problem->scripts;
    p->files = th_file_policy_now();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->start, NULL);
    pthread_cond_init(&p->end, NULL);
    for (int i = 0; i < threads; i++) {
        worker *w = &workers[p->n_workers++];
        w->pool = p;
        w->evaluator = i == FIRST ? th_evaluator_new(problem, err)
                                  : th_evaluator_share(workers[FIRST].evaluator, err);
        w->runs = i > 0 && w->evaluator && pthread_create(&w->thread, NULL, run_worker, w) == 0;
        if (w->evaluator && (i == 0 || w->runs))
            continue;
        if (w->evaluator)
            th_error_set(err, "MAP-0023", "thread %d of %d cannot be started", i + 1, threads);
        destroy(&p->pool);
        return NULL;
    }
    return &p->pool;
}

static void destroy(th_pool *pool)
{
    thread_pool *p = (thread_pool *)pool;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    for (int i = p->n_workers - 1; i >= FIRST; i--) {
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

/* Wakes all workers and waits until no item is left. */
static void run_workers(thread_pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->busy = p->n_workers - 1;
    p->round++;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    work_on_round(&p->workers[FIRST]);
    pthread_mutex_lock(&p->lock);
    while (p->busy > 0)
        pthread_cond_wait(&p->end, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void do_all(thread_pool *p, int (*do_item)(worker *w, int i), int n)
{
    p->do_item = do_item;
    p->n = p->batch.failed_at = n;
    atomic_store(&p->next, 0);
    atomic_store(&p->has_failed, false);
    do {
        th_evaluator_trim(p->workers[FIRST].evaluator);
        run_workers(p);
    } while (atomic_load(&p->next) < n && !atomic_load(&p->has_failed));
}

static int evaluate(th_pool *pool, th_mapping *const *mappings, int n, double bound,
                    th_fitness *fitness, th_error *err)
{
    thread_pool *p = (thread_pool *)pool;
    p->batch.mappings = mappings;
    p->batch.bound = bound;
    p->batch.fitness = fitness;
    do_all(p, evaluate_item, n);
    if (p->batch.failed_at == n)
        return 0;
    return th_error_set(err, p->batch.error.id, "%s", p->batch.error.text);
}

static int run_tasks(th_pool *pool, th_pool_task *task, void *state, int n, th_error *err)
{
    thread_pool *p = (thread_pool *)pool;
    if (p->n_workers == 1)
        return 0;
    p->task = task;
    p->task_state = state;
    do_all(p, task_item, n);
    return p->batch.failed_at == n ? 0 : th_error_no_memory(err);
}

static th_evaluator *evaluator(th_pool *pool)
{
    return ((thread_pool *)pool)->workers[FIRST].evaluator;
}

static th_segment_counts segments(th_pool *pool)
{
    return th_evaluator_segments(((thread_pool *)pool)->workers[FIRST].evaluator);
}

const th_pool_type th_pool_threads = {"threads", create,    destroy, evaluate,
                                      evaluator, run_tasks, segments};
