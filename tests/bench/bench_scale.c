/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_scale.c - what large systems take to stand: system created and finished, a machine made and
 * loaded with a transfer from every accelerator to the one halfway round, and run.
 * Every case is a process of its own, so that its peak memory is its own.
 * And what one replay takes where one set spans all accelerators, from 8 to 64 of them: its flows
 * grow with their square, and so do hops, times the length of routes. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mapper/lower/lower.h"
#include "mapper/strategies.h"
#include "sim/machine/machine.h"
#include "tests/bench/bench.h"
#include "topology/generate/generate.h"
#include "topology/routing/route.h"
#include "topology/files/system_read.h"
#include "workloads/workload_read.h"

typedef struct {
    const char *title, *type;
    int dims[TH_MAX_DIMS], n_dims;
    bool with_host;
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
                             .n_latencies = 1,
                             .with_host = c->with_host,
                             .host_latency_ps = -1};
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

/* --- one replay ------------------------------------------------------------------------------- */

enum { BATCH = 8 };

/* All layers on all accelerators: images ways over the images, the rest over channels. */
static th_mapping *spread(const th_system *s, const th_workload *w, int images)
{
    const int32_t n = s->n_accels;
    th_error e = {0};
    th_mapping *m = th_mapping_new(1, &n, w->n_layers);
    for (int32_t a = 0; m && a < n; a++)
        m->sets[0].accels[a] = a;
    for (int l = 0; m && l < w->n_layers; l++) {
        m->strategy[l] = th_strategy_single;
        m->strategy[l].split[TH_DIM_B] = (uint8_t)images;
        m->strategy[l].split[TH_DIM_K] = (uint8_t)(n / images);
        th_strategy_repair(&m->strategy[l], &w->layers[l], BATCH, n);
    }
    if (!m || !th_mapping_follow(m, w, BATCH) || th_mapping_check(m, s, w, &e))
        stop_at(&e);
    return m;
}

static void count_hops(const th_system *s, const th_program *p, int64_t *flows, int64_t *hops)
{
    static int link[TH_ROUTE_MAX];
    *flows = *hops = 0;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        if (p->tasks[t].kind != TH_TASK_TRANSFER)
            continue;
        ++*flows;
        *hops += th_route(s, p->tasks[t].node, p->tasks[t].peer, link);
    }
}

/* Least CPU seconds of a few lowerings, and of as many replays, the memos warm. */
static void time_replays(const th_system *s, th_lower *lower, const th_mapping *m, th_program *p,
                         double *lowering, double *replay)
{
    enum { RUNS = 5 };
    th_error e = {0};
    th_machine *machine = th_machine_new(s, th_lower_costs(lower), NULL, &e);
    *lowering = *replay = INFINITY;
    for (int i = 0; i <= RUNS; i++) {
        double start = th_bench_cpu_seconds();
        if (!machine || th_lower_program(lower, m, &th_stream_single, p, &e))
            stop_at(&e);
        double lowered = th_bench_cpu_seconds();
        if (th_machine_load(machine, p, &e) ||
            th_machine_run_until(machine, TH_TIME_MAX, &e) != TH_STOP_DONE)
            stop_at(&e);
        double done = th_bench_cpu_seconds();
        *lowering = fmin(*lowering, lowered - start);
        *replay = i > 0 ? fmin(*replay, done - lowered) : *replay;
    }
    th_machine_free(machine);
}

static void bench_replay(const scale_case *c, const th_workload *w, int images)
{
    th_error e = {0};
    th_system *s = create(c);
    th_mapping *m = spread(s, w, images);
    th_lower *lower = th_lower_new(s, w, &e);
    th_program *p = th_program_new(&e);
    double lowering, replay;
    int64_t flows, hops;
    if (!lower || !p)
        stop_at(&e);
    time_replays(s, lower, m, p, &lowering, &replay);
    count_hops(s, p, &flows, &hops);
    printf("%-12s B%d K%-4d %8d %8" PRId64 " %8" PRId64 " %9.1f %9.1f %8.0f %8.0f %8.0f\n",
           c->title, images, s->n_accels / images, (int)p->n_tasks, flows, hops, lowering * 1e3,
           replay * 1e3, lowering * 1e9 / p->n_tasks, replay * 1e9 / p->n_tasks,
           replay * 1e9 / (double)(p->n_tasks + hops));
    fflush(stdout);
    th_program_free(p);
    th_lower_free(lower);
    th_mapping_free(m);
    th_system_free(s);
}

static void bench_replays(void)
{
    static const scale_case cases[] = {{"torus {4 2}", "torus", {4, 2}, 2, true},
                                       {"torus {4 4}", "torus", {4, 4}, 2, true},
                                       {"torus {8 4}", "torus", {8, 4}, 2, true},
                                       {"torus {8 8}", "torus", {8, 8}, 2, true}};
    th_error e = {0};
    th_workload *w = th_workload_read("workloads/models/resnet101.cfg", BATCH, &e);
    if (!w)
        stop_at(&e);
    printf(
        "ResNet-101, %d images, one set over all accelerators: CPU ms to lower and to replay, ns "
        "per task\nof both, ns of the replay per task or hop of a flow\n",
        BATCH);
    printf("%-12s %-8s %8s %8s %8s %9s %9s %8s %8s %8s\n", "system", "split", "tasks", "flows",
           "hops", "lower", "replay", "lower/t", "replay/t", "per t+h");
    for (int images = 1; images <= BATCH; images *= BATCH)
        for (size_t i = images == 1 ? 0 : 1; i < sizeof cases / sizeof *cases; i++)
            bench_replay(&cases[i], w, images);
    th_workload_free(w);
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
    bench_replays();
}
