/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool_threads.c - evaluates batches on the threads of one machine.
 *
 *   new -> (evaluate | run_tasks)* -> free
 *   evaluate: round -> (call the scripts that were needed -> round of the mappings that needed
 *     them)*
 *   round: (trim -> all workers take items until none is left or the caches are full)*
 *
 * Worker 0 is the calling thread; the others sleep between batches. Each takes the next
 * unevaluated mapping, with an evaluator of its own. The fitness depends on the mapping and the
 * bound alone, so results do not depend on which worker took it. Evaluators share their caches.
 * Procedures of script designs are called between rounds, by the calling thread. Which calls a
 * round needs depends on the mappings alone, so the calls do not depend on the number of threads
 * either. */
#include <config.h>

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/open_file.h"
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

/* Batch indices: those evaluated in this round, and those that need another one. */
typedef struct {
    int *todo, *unfinished, n_unfinished;
    size_t todo_capacity, unfinished_capacity;
} rounds;

typedef struct thread_pool {
    th_pool pool;
    worker *workers;
    int n_workers;
    pthread_mutex_t lock;
    pthread_cond_t start, end;
    int64_t round; /* number of the current round; workers wait for the next */
    int busy;
    bool quit;
    th_script_memo *scripts;
    const th_file_policy *files; /* of the thread that made the pool; the others take it over */
    batch batch;
    /* the round: items 0 .. n - 1, and the function to run on each */
    void (*do_item)(worker *w, int j);
    int n;
    atomic_int next;
    rounds rounds;
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

static void note_unfinished(thread_pool *p, int i)
{
    pthread_mutex_lock(&p->lock);
    p->rounds.unfinished[p->rounds.n_unfinished++] = i;
    pthread_mutex_unlock(&p->lock);
}

static void evaluate_item(worker *w, int j)
{
    thread_pool *p = w->pool;
    th_error e = {0};
    int i = p->rounds.todo[j];
    int status = th_evaluator_run(w->evaluator, p->batch.mappings[i], p->batch.bound,
                                  &p->batch.fitness[i], &e);
    if (status > 0)
        note_unfinished(p, i);
    else if (status < 0)
        note_failure(p, i, &e);
}

static void task_item(worker *w, int j)
{
    thread_pool *p = w->pool;
    th_error e;
    if (p->task(p->task_state, w->evaluator, j)) {
        th_error_no_memory(&e);
        note_failure(p, j, &e);
    }
}

static void work_on_round(worker *w)
{
    thread_pool *p = w->pool;
    while (!th_evaluator_is_full(w->evaluator)) {
        int j = atomic_fetch_add(&p->next, 1);
        if (j >= p->n)
            break;
        p->do_item(w, j);
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
    th_free(p->rounds.todo);
    th_free(p->rounds.unfinished);
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

static void do_round(thread_pool *p)
{
    p->rounds.n_unfinished = 0;
    atomic_store(&p->next, 0);
    do {
        th_evaluator_trim(p->workers[FIRST].evaluator);
        run_workers(p);
    } while (atomic_load(&p->next) < p->n);
}

static void requeue(thread_pool *p)
{
    int *todo = p->rounds.unfinished;
    size_t capacity = p->rounds.unfinished_capacity;
    p->rounds.unfinished = p->rounds.todo;
    p->rounds.unfinished_capacity = p->rounds.todo_capacity;
    p->rounds.todo = todo;
    p->rounds.todo_capacity = capacity;
    p->n = p->rounds.n_unfinished;
}

/* A script that fails ends the batch after the round in which the mappings that need it fail:
 * their errors name the layer. */
static void do_rounds(thread_pool *p)
{
    int last = p->n - 1, failed = 0;
    th_script_memo_defer(p->scripts, true);
    do_round(p);
    while (!failed && p->rounds.n_unfinished > 0) {
        th_error reason = {"", ""};
        failed = th_script_memo_fill(p->scripts, &reason);
        requeue(p);
        do_round(p);
        if (failed)
            note_failure(p, last, &reason); /* unless a mapping has failed */
    }
    th_script_memo_defer(p->scripts, false);
}

static int evaluate(th_pool *pool, th_mapping *const *mappings, int n, double bound,
                    th_fitness *fitness, th_error *err)
{
    thread_pool *p = (thread_pool *)pool;
    if (th_grow(&p->rounds.todo, &p->rounds.todo_capacity, (size_t)n, sizeof *p->rounds.todo) ||
        th_grow(&p->rounds.unfinished, &p->rounds.unfinished_capacity, (size_t)n,
                sizeof *p->rounds.unfinished))
        return th_error_no_memory(err);
    p->do_item = evaluate_item;
    p->batch.mappings = mappings;
    p->n = p->batch.failed_at = n;
    p->batch.bound = bound;
    p->batch.fitness = fitness;
    for (int i = 0; i < n; i++)
        p->rounds.todo[i] = i;
    do_rounds(p);
    if (p->batch.failed_at == n)
        return 0;
    return th_error_set(err, p->batch.error.id, "%s", p->batch.error.text);
}

static bool has_scripts(const thread_pool *p)
{
    return th_compute_cost_uses_scripts(
        th_lower_costs(th_evaluator_lower(p->workers[FIRST].evaluator)));
}

static int run_tasks(th_pool *pool, th_pool_task *task, void *state, int n, th_error *err)
{
    thread_pool *p = (thread_pool *)pool;
    if (p->n_workers == 1 || has_scripts(p))
        return 0;
    p->do_item = task_item;
    p->task = task;
    p->task_state = state;
    p->n = p->batch.failed_at = n;
    do_round(p);
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
