/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include "mapper/pool/pool.h"
#include "mapper/search/initial/initial_mapping.h"
#include "tests/unit/pool_help.h"
#include "tests/unit/tap.h"

#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define KEEPS_THREADS 1 /* which has its own pthread_create */
#endif
#elif defined __SANITIZE_THREAD__
#define KEEPS_THREADS 1
#endif

#ifndef KEEPS_THREADS
/* The system's pthread_create, until threads have run out. */
static int threads_left = 1000000;

typedef int thread_creator(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    thread_creator *create;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    if (threads_left-- <= 0)
        return EAGAIN;
    return create(thread, attributes, run, argument);
}
#endif

enum { MAPPINGS = 60 };

static th_system *sys;
static th_workload *net;
static th_problem problem;
static th_mapping *mappings[MAPPINGS];

static void make_mappings(void)
{
    auto_rng *r = th_random_stream(9, "pool", 0);
    for (int i = 0; i < MAPPINGS; i++)
        mappings[i] = random_mapping_on(r, i % 3 ? "0213" : "01 23", net);
}

/* Against one evaluator; batches of all sizes, with and without a bound. */
TEST(results_do_not_depend_on_threads)
{
    static const int threads[] = {1, 2, 3, 7};
    th_fitness expected[MAPPINGS], got[MAPPINGS];
    th_evaluator *e = th_evaluator_new(&problem, NULL);
    for (int i = 0; i < MAPPINGS; i++)
        CU_ASSERT_EQUAL(th_evaluator_run(e, mappings[i], INFINITY, &expected[i], NULL), 0);
    th_evaluator_free(e);
    for (int t = 0; t < 4; t++) {
        auto_pool *p = th_pool_new(NULL, &problem, threads[t], NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(p);
        for (int n = 0; n <= MAPPINGS; n += 1 + n / 4) {
            double bound = n % 2 ? expected[0].value : INFINITY;
            memset(got, 0, sizeof got);
            CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, n, bound, got, NULL), 0);
            for (int i = 0; i < n; i++)
                CU_ASSERT_TRUE(expected[i].value > bound ? got[i].fit == TH_FIT_STOPPED
                                                         : got[i].value == expected[i].value);
            for (int i = 0; i < n; i++)
                CU_ASSERT_TRUE(bound < INFINITY || got[i].work == expected[i].work);
            for (int i = n; i < MAPPINGS; i++)
                CU_ASSERT_EQUAL(got[i].value, 0);
        }
        CU_ASSERT_PTR_NOT_NULL(th_pool_evaluator(p));
    }
}

static th_segment_counts counts_of(th_pool *p)
{
    return th_evaluator_segments(th_pool_evaluator(p));
}

/* What one thread has met is known to all, so no more is replayed than by one alone; and what is
 * counted does not depend on their number. */
TEST(threads_share_caches)
{
    th_fitness fitness[MAPPINGS];
    th_segment_counts alone = {0};
    for (int t = 1; t <= 8; t++) {
        auto_pool *p = th_pool_new(NULL, &problem, t, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(p);
        CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, MAPPINGS, INFINITY, fitness, NULL), 0);
        th_segment_counts cold = counts_of(p);
        CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, MAPPINGS, INFINITY, fitness, NULL), 0);
        th_segment_counts warm = counts_of(p);
        CU_ASSERT_TRUE(cold.replayed > MAPPINGS / 2 && cold.lookups > cold.replayed);
        CU_ASSERT_EQUAL(warm.replayed, cold.replayed);
        CU_ASSERT_EQUAL(warm.lookups, 2 * cold.lookups);
        CU_ASSERT_EQUAL(warm.evaluations, 2 * MAPPINGS);
        alone = t == 1 ? cold : alone;
        CU_ASSERT_EQUAL(memcmp(&cold, &alone, sizeof cold), 0);
    }
}

/* Whole replays share plans, compute costs and ends of computes. */
TEST(whole_replays_share_too)
{
    th_fitness expected[MAPPINGS], got[MAPPINGS];
    th_problem p = problem;
    p.stream.n_inputs = 2;
    int32_t costs = 0;
    for (int t = 1; t <= 4; t += 3) {
        auto_pool *pool = th_pool_new(NULL, &p, t, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
        CU_ASSERT_EQUAL(
            th_pool_evaluate(pool, mappings, MAPPINGS, INFINITY, t == 1 ? expected : got, NULL), 0);
        th_plans *plans = th_lower_plans(th_evaluator_lower(th_pool_evaluator(pool)));
        CU_ASSERT_EQUAL(th_plans_are_shared(plans), t > 1);
        if (t == 1)
            costs = th_compute_cost_count(th_plans_costs(plans));
        CU_ASSERT_EQUAL(th_compute_cost_count(th_plans_costs(plans)), costs);
    }
    for (int i = 0; i < MAPPINGS; i++)
        CU_ASSERT_EQUAL(got[i].value, expected[i].value);
}

/* --- warming ---------------------------------------------------------------------------------- */

typedef struct {
    atomic_int done[MAPPINGS];
    int fails_at;
} errand;

static int run_errand(void *state, th_evaluator *e, int i)
{
    errand *x = state;
    atomic_fetch_add(&x->done[i], 1);
    CU_ASSERT_TRUE(th_evaluator_problem(e)->system == sys);
    return i == x->fails_at ? -1 : 0;
}

TEST(each_item_is_warmed_once)
{
    for (int threads = 1; threads <= 5; threads++) {
        auto_pool *p = th_pool_new(NULL, &problem, threads, NULL);
        errand x = {.fails_at = -1};
        th_error e = {"", ""};
        int wrong = 0;
        CU_ASSERT_EQUAL(th_pool_run_tasks(p, run_errand, &x, 0, &e), 0);
        CU_ASSERT_EQUAL(th_pool_run_tasks(p, run_errand, &x, MAPPINGS - 1, &e), 0);
        for (int i = 0; i < MAPPINGS; i++)
            wrong += x.done[i] != (threads > 1 && i < MAPPINGS - 1);
        CU_ASSERT_EQUAL(wrong, 0);
        x.fails_at = 7;
        CU_ASSERT_EQUAL(th_pool_run_tasks(p, run_errand, &x, MAPPINGS, &e), threads > 1 ? -1 : 0);
        TAP_ASSERT_TEXT(e.id, threads > 1 ? "BASE-0001" : "");
    }
}

typedef struct {
    int fails_at;
    atomic_int begun;
} stopper;

static int run_until(void *state, th_evaluator *e, int i)
{
    stopper *x = state;
    (void)e;
    atomic_fetch_add(&x->begun, 1);
    return i == x->fails_at;
}

/* Once one has failed, no others are begun; those before it are done. */
TEST(a_task_that_fails_is_the_last)
{
    auto_pool *p = th_pool_new(NULL, &problem, 2, NULL);
    stopper x = {.fails_at = 5};
    CU_ASSERT_EQUAL(th_pool_run_tasks(p, run_until, &x, 100000, NULL), 0);
    CU_ASSERT_TRUE(atomic_load(&x.begun) >= 6 && atomic_load(&x.begun) < 100000);
}

/* Small batches, one after another, so that workers fall asleep and wake up all the time. */
TEST(many_batches)
{
    auto_pool *p = th_pool_new(NULL, &problem, 4, NULL);
    th_fitness first, t;
    CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, 1, INFINITY, &first, NULL), 0);
    int wrong = 0;
    for (int i = 0; i < 3000; i++) {
        t.value = 0;
        wrong +=
            th_pool_evaluate(p, mappings, 1, INFINITY, &t, NULL) != 0 || t.value != first.value;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TEST(a_failure_is_told_and_the_pool_lives_on)
{
    auto_pool *p = th_pool_new(NULL, &problem, 1, NULL);
    th_error e = {"", ""};
    th_fitness fitness[MAPPINGS];
    th_alloc_fail_at(10);
    CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, MAPPINGS, INFINITY, fitness, &e), -1);
    th_alloc_fail_at(0);
    TAP_ASSERT_TEXT(e.id, "BASE-0001");
    CU_ASSERT_EQUAL(th_pool_evaluate(p, mappings, MAPPINGS, INFINITY, fitness, NULL), 0);
}

TEST(threads_that_do_not_start_are_told)
{
#ifndef KEEPS_THREADS
    int64_t live = th_alloc_live();
    th_error e = {"", ""};
    threads_left = 2;
    CU_ASSERT_PTR_NULL(th_pool_new(NULL, &problem, 5, &e));
    threads_left = 1000000;
    TAP_ASSERT_ERROR(e, "MAP-0023", "thread 4 of 5 cannot be started");
    CU_ASSERT_EQUAL(th_alloc_live(), live);
#endif
    th_pool_free(NULL);
}

static void make_all(void)
{
    sys = ring_of_four();
    net = three_layers();
    problem = (th_problem){.system = sys, .workload = net, .stream = th_stream_single};
    make_mappings();
}

TAP_MAIN_WITH("pool", make_all)
