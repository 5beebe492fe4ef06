/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_scale.c - what large systems take to stand: system created and finished, a machine made and
 * loaded with a transfer from every accelerator to the one halfway round, and run.
 * Every case is a process of its own, so that its peak memory is its own. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/machine.h"
#include "tests/bench/bench.h"
#include "topology/generate.h"
#include "topology/system_read.h"

typedef struct {
    const char *title, *type;
    int dims[TH_MAX_DIMS], n_dims;
} scale_case;

static void stop_at(const th_error *e)
{
    fprintf(stderr, "bench: Error %s: %s\n", e->id, e->text);
    exit(1);
}

static th_system *create(const scale_case *c)
{
    th_error e = {0};
    th_topology_options o = {.n_dims = c->n_dims,
                             .bits_per_s = {INT64_C(100000000000)},
                             .latency_ps = {500000},
                             .n_bandwidths = 1,
                             .n_latencies = 1};
    for (int d = 0; d < c->n_dims; d++)
        o.dims[d] = c->dims[d];
    th_system *prototype = th_system_read("topology/systems/npu_v1.cfg", &e);
    th_system *s = prototype
                       ? th_topology_create("scale", th_topology_find(c->type), &o, prototype, &e)
                       : NULL;
    if (!s)
        stop_at(&e);
    th_system_free(prototype);
    return s;
}

static th_program *halfway_round(const th_system *s)
{
    enum { BYTES = 1 << 20 };
    th_error e = {0};
    th_program *p = th_program_new(&e);
    for (int32_t a = 0; p && a < s->n_accels; a++) {
        int32_t peer = (a + s->n_accels / 2) % s->n_accels;
        th_task t = {.kind = TH_TASK_TRANSFER,
                     .node = s->accel_node[a],
                     .peer = s->accel_node[peer],
                     .bytes = BYTES,
                     .layer = -1};
        if (th_program_add(p, &t, &e) < 0)
            stop_at(&e);
    }
    if (!p || th_program_finish(p, &e))
        stop_at(&e);
    return p;
}

/* In a process of its own. */
static void stand(const scale_case *c)
{
    th_error e = {0};
    double start = th_bench_cpu_seconds();
    th_system *s = create(c);
    double created = th_bench_cpu_seconds();
    th_machine *m = th_machine_new(s, NULL, NULL, &e);
    th_program *p = halfway_round(s);
    if (!m || th_machine_load(m, p, &e))
        stop_at(&e);
    double ready = th_bench_cpu_seconds();
    struct rusage standing, after;
    getrusage(RUSAGE_SELF, &standing);
    if (th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE)
        stop_at(&e);
    double done = th_bench_cpu_seconds();
    getrusage(RUSAGE_SELF, &after);
    printf("%-20s %7d %8d %9.2f %9.2f %9.1f %9.2f %9.1f\n", c->title, s->n_accels, s->n_links,
           created - start, ready - start, (double)standing.ru_maxrss / 1024, done - ready,
           (double)after.ru_maxrss / 1024);
    fflush(stdout);
    _exit(0);
}

void th_bench_scale(void)
{
    static const scale_case cases[] = {
        {"torus {64 64}", "torus", {64, 64}, 2},   {"torus {16 16 16}", "torus", {16, 16, 16}, 3},
        {"hypercube 12", "hypercube", {12}, 1},    {"fattree {16 3}", "fattree", {16, 3}, 2},
        {"ring 4096", "ring", {4096}, 1},          {"torus {64 32 32}", "torus", {64, 32, 32}, 3},
        {"fattree {16 4}", "fattree", {16, 4}, 2},
    };
    printf(
        "what large systems take: CPU s until the system is finished, until a machine is loaded\n"
        "with a transfer from each accelerator halfway round; MiB then; CPU s of the run; MiB\n");
    printf("%-20s %7s %8s %9s %9s %9s %9s %9s\n", "system", "accels", "links", "finished", "loaded",
           "MiB", "run", "MiB");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fflush(stdout);
        pid_t child = fork();
        int status = 1;
        if (child == 0)
            stand(&cases[i]);
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
            printf("%-20s failed\n", cases[i].title);
    }
}
