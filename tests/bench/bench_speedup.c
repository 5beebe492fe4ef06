/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_speedup.c - how much faster a search is on two threads, beside what two cores give at all.
 *
 * In turns: the search on one thread; on two; and two processes side by side with a search of one
 * thread each, which share nothing but the machine. Cores that share caches, memory and heat are
 * not worth two of one that has them to itself, and other programs come and go: so the sums of all
 * rounds are compared, and what threads reach of what processes do. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mapper/search/search.h"
#include "tests/bench/bench.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void search_on(const th_problem *p, const char *name, int64_t evaluations, int threads)
{
    th_error e = {0};
    th_search_options o = th_search_defaults;
    o.evaluations = evaluations;
    o.threads = threads;
    const th_search_type *type = th_search_find(name);
    th_search *s = type ? th_search_new(type, p, &o, &e) : NULL;
    while (s && !s->done && th_search_iterate(s, &e) == 0)
        ;
    if (!s || !s->done) {
        fprintf(stderr, "bench: %s\n", type ? e.text : "there is no such search");
        exit(1);
    }
    th_search_free(s);
}

static double seconds_of(const th_problem *p, const char *name, int64_t evaluations, int threads)
{
    double start = now();
    search_on(p, name, evaluations, threads);
    return now() - start;
}

static double seconds_side_by_side(const th_problem *p, const char *name, int64_t evaluations)
{
    double start = now();
    int status;
    fflush(stdout);
    pid_t other = fork();
    search_on(p, name, evaluations, 1);
    if (other == 0)
        _exit(0);
    if (other < 0 || waitpid(other, &status, 0) != other || status != 0) {
        fprintf(stderr, "bench: the other process failed\n");
        exit(1);
    }
    return now() - start;
}

void th_bench_speedup(const th_system *s, const th_workload *w, const char *name,
                      int64_t evaluations, int rounds)
{
    const th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    double one = 0, two = 0, both = 0;
    printf("%s of %s on %s, %lld evaluations: seconds by the clock\n", name, w->name, s->name,
           (long long)evaluations);
    printf("%8s %10s %11s %13s %8s %10s\n", "round", "one thread", "two threads", "two processes",
           "threads", "processes");
    for (int i = 1; i <= rounds; i++) {
        double a = seconds_of(&p, name, evaluations, 1), b = seconds_of(&p, name, evaluations, 2),
               c = seconds_side_by_side(&p, name, evaluations);
        printf("%8d %10.2f %11.2f %13.2f  x %5.2f    x %5.2f\n", i, a, b, c, a / b, 2 * a / c);
        one += a;
        two += b;
        both += c;
    }
    printf("%8s %10.2f %11.2f %13.2f  x %5.2f    x %5.2f   threads reach %.0f %% of what processes "
           "do\n",
           "sum", one, two, both, one / two, 2 * one / both, 50 * both / two);
}
