/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_collective.c - ring all-reduce of 1 GiB under fluid on a ring (many: a torus) of npu_v1,
 * every message simulated, one process per number of ranks; CPU seconds, and the peak of resident
 * memory. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sim/machine/machine.h"
#include "tests/bench/bench.h"
#include "topology/generate/generate.h"
#include "topology/files/system_read.h"

static double peak_mb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss * 1024e-6;
}

static void stop_at(const th_error *e)
{
    fprintf(stderr, "bench: Error %s: %s\n", e->id, e->text);
    exit(1);
}

/* A ring; of many ranks a torus, since routes half way round would be too long. */
static th_system *system_of_ranks(int n)
{
    enum { RING_MAX = 8192, WIDTH = 256 };
    th_error e = {0};
    bool is_ring = n <= RING_MAX;
    th_system *prototype = th_system_read("topology/systems/npu_v1.cfg", &e);
    th_topology_options o = {.dims = {is_ring ? n : WIDTH, n / WIDTH},
                             .n_dims = is_ring ? 1 : 2,
                             .bits_per_s = {INT64_C(400000000000)},
                             .latency_ps = {500000}};
    if (!prototype)
        stop_at(&e);
    th_system *s = th_topology_create("bench", th_topology_find(is_ring ? "ring" : "torus"), &o,
                                      prototype, &e);
    if (!s)
        stop_at(&e);
    th_system_free(prototype);
    return s;
}

static th_program *all_reduce_program(int n)
{
    th_error e = {0};
    th_program *p = th_program_new(&e);
    th_collective c = {.kind = TH_ALL_REDUCE,
                       .algorithm = th_algorithm_find("ring"),
                       .n_ranks = n,
                       .bytes = INT64_C(1) << 30,
                       .chunks = 1};
    c.rank_node = th_alloc_array((size_t)n, sizeof *c.rank_node);
    for (int32_t i = 0; c.rank_node && i < n; i++)
        c.rank_node[i] = i;
    int32_t number = p && c.rank_node ? th_program_add_collective(p, &c, &e) : -1;
    th_task t = {
        .kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .collective = number, .layer = -1};
    if (number < 0 || th_program_add(p, &t, &e) < 0 || th_program_finish(p, &e))
        stop_at(&e);
    th_free(c.rank_node);
    return p;
}

/* The system of n ranks stands, with a machine; then the all-reduce runs if it is not too long. */
static void measure(int n)
{
    enum { RUNS_MAX = 4096 };
    th_error e = {0};
    double start = th_bench_cpu_seconds();
    th_system *s = system_of_ranks(n);
    th_compute_cost_cache *w = th_compute_cost_cache_new(s, &e);
    th_program *p = all_reduce_program(n);
    th_machine *m = w ? th_machine_new(s, w, NULL, &e) : NULL;
    if (!m || th_machine_load(m, p, &e))
        stop_at(&e);
    printf("%7d %9.3f %9.1f", n, th_bench_cpu_seconds() - start, peak_mb());
    start = th_bench_cpu_seconds();
    if (n <= RUNS_MAX) {
        if (th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE)
            stop_at(&e);
        double seconds = th_bench_cpu_seconds() - start;
        int64_t messages = (th_machine_events(m) - 2) / 2;
        printf(" %10" PRId64 " %9.3f %9.1f %9.1f %12.6f", messages, seconds,
               seconds / (double)messages * 1e9, peak_mb(), (double)th_machine_now(m) * 1e-9);
    }
    printf("\n");
    th_machine_free(m);
    th_program_free(p);
    th_compute_cost_cache_free(w);
    th_system_free(s);
}

/* A process of its own, so that its peak is its own. */
static void measure_apart(int n)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure(n);
        fflush(stdout);
        _exit(0);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        exit(1);
}

void th_bench_collective(char **arguments, int n)
{
    static const int ranks[] = {64, 256, 1024, 4096, 65536};
    printf(
        "ring all-reduce of 1 GiB, fluid; CPU s and peak MB when all stands, and after the run\n");
    printf("%7s %9s %9s %10s %9s %9s %9s %12s\n", "ranks", "s", "MB", "messages", "s", "ns/msg",
           "MB", "ms");
    for (int i = 0; i < n; i++)
        measure_apart(atoi(arguments[i]));
    for (size_t i = 0; n == 0 && i < sizeof ranks / sizeof *ranks; i++)
        measure_apart(ranks[i]);
}
