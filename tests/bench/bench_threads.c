/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_threads.c - what more threads buy, and what keeps them from buying more.
 * The part of a search that one thread does alone (seeds, offspring, bookkeeping) is measured as
 * the CPU time of the calling thread outside th_pool_evaluate and th_pool_run_tasks: a pool of its
 * own type stands between. That and the CPU time of the whole process bound the speed-up (Amdahl),
 * however busy the machine is. Besides: how many bytes a mapping and its fitness are, and what
 * making and reading them takes, for docs/scaling.md. */
#include <config.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "mapper/pool/worker.h"
#include "mapper/search/search.h"
#include "tests/bench/bench.h"

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- a pool of threads with a clock ----------------------------------------------------------- */

typedef struct {
    th_pool pool;
    th_pool *threads;
} timed_pool;

static struct {
    double in_pool_s; /* CPU of the calling thread */
    double wall_s;
    int64_t n_batches, n_mappings;
} clocked;

static const th_pool_type timed;

static th_pool *create(const th_problem *problem, int threads, th_error *err)
{
    timed_pool *p = th_alloc_zero(1, sizeof *p);
    p->pool.type = &timed;
    p->threads = th_pool_new(NULL, problem, threads, err);
    if (!p->threads)
        th_bench_stop_at(err);
    return &p->pool;
}

static void destroy(th_pool *pool)
{
    th_pool_free(((timed_pool *)pool)->threads);
    th_free(pool);
}

static int evaluate(th_pool *pool, th_mapping *const *mappings, int n, double bound,
                    th_fitness *fitness, th_error *err)
{
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    int failed = th_pool_evaluate(((timed_pool *)pool)->threads, mappings, n, bound, fitness, err);
    clocked.in_pool_s += seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    clocked.wall_s += seconds(CLOCK_MONOTONIC) - wall;
    clocked.n_batches++;
    clocked.n_mappings += n;
    return failed;
}

static th_evaluator *evaluator(th_pool *pool)
{
    return th_pool_evaluator(((timed_pool *)pool)->threads);
}

static int warm(th_pool *pool, th_pool_task *task, void *state, int n, th_error *err)
{
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    int failed = th_pool_run_tasks(((timed_pool *)pool)->threads, task, state, n, err);
    clocked.in_pool_s += seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    clocked.wall_s += seconds(CLOCK_MONOTONIC) - wall;
    return failed;
}

static th_segment_counts segments(th_pool *pool)
{
    return th_pool_segments(((timed_pool *)pool)->threads);
}

static const th_pool_type timed = {"timed", create, destroy, evaluate, evaluator, warm, segments};

/* --- searches --------------------------------------------------------------------------------- */

static th_search *run(const th_problem *p, const char *name, int threads, int64_t evaluations)
{
    th_error e = {0};
    th_search_options o = th_search_defaults;
    o.evaluations = evaluations;
    o.threads = threads;
    o.pool = &timed;
    clocked.in_pool_s = clocked.wall_s = 0;
    clocked.n_batches = clocked.n_mappings = 0;
    double wall = seconds(CLOCK_MONOTONIC), cpu = th_bench_cpu_seconds(),
           own = seconds(CLOCK_THREAD_CPUTIME_ID);
    th_search *s = th_search_new(th_search_find(name), p, &o, &e);
    while (s && !s->done)
        if (th_search_iterate(s, &e))
            break;
    if (e.id[0])
        th_bench_stop_at(&e);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = th_bench_cpu_seconds() - cpu;
    own = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
    double alone = own - clocked.in_pool_s;
    printf("%-10s %2d thread(s) %7.2f s wall %7.2f s CPU, %6.3f s of it alone (%4.1f %%): at most "
           "%4.2f x on 2, %5.2f x on 16 cores; %.1f mappings a batch; best %.0f\n",
           name, threads, wall, cpu, alone, 100 * alone / cpu, cpu / (alone + (cpu - alone) / 2),
           cpu / (alone + (cpu - alone) / 16),
           (double)clocked.n_mappings / (double)clocked.n_batches, s->best_fitness.value);
    return s;
}

/* --- messages --------------------------------------------------------------------------------- */

static void measure_messages(const th_problem *p, th_mapping *m)
{
    enum { TIMES = 20000 };
    const th_serializer_limits limits = {p->system->n_accels, p->system->n_designs,
                                         p->workload->n_layers};
    th_serializer problem = TH_SERIALIZER_INIT, chunk = TH_SERIALIZER_INIT;
    th_worker_write_problem(&problem, p, NULL);
    double start = th_bench_cpu_seconds();
    for (int i = 0; i < TIMES; i++) {
        th_serializer_clear(&chunk);
        chunk = (th_serializer)TH_SERIALIZER_INIT;
        th_worker_write_chunk(&chunk, &m, 1, INFINITY);
    }
    double made = (th_bench_cpu_seconds() - start) / TIMES;
    start = th_bench_cpu_seconds();
    for (int i = 0; i < TIMES; i++) {
        th_serializer in = th_serializer_reader(chunk.out.text + 9, chunk.out.length - 9);
        th_mapping_free(th_serializer_read_mapping(&in, &limits));
    }
    double read = (th_bench_cpu_seconds() - start) / TIMES;
    printf("%-10s %zu bytes of problem; a chunk of one mapping %zu bytes, made in %.1f us, read in "
           "%.1f us\n",
           p->workload->name, problem.out.length, chunk.out.length, made * 1e6, read * 1e6);
    th_serializer_clear(&problem);
    th_serializer_clear(&chunk);
}

void th_bench_threads(const th_system *s, const th_workload *w, int64_t evaluations)
{
    static const char *const names[] = {"random", "two_level"};
    const th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    for (int i = 0; i < 2; i++) {
        th_search *one = run(&p, names[i], 1, evaluations),
                  *two = run(&p, names[i], 2, evaluations);
        if (!th_mapping_equal(one->best, two->best))
            printf("%s: two threads found another mapping than one\n", names[i]);
        if (i == 1)
            measure_messages(&p, one->best);
        th_search_free(one);
        th_search_free(two);
    }
}
