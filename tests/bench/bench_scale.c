/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_scale.c - what one replay takes where one set spans all accelerators, from 8 to 64 of them:
 * its flows grow with their square, and so do hops, times the length of routes. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
    th_system *prototype = th_bench_system("npu_v1");
    th_system *s = prototype
                       ? th_topology_create("scale", th_topology_find(c->type), &o, prototype, &e)
                       : NULL;
    if (!s)
        th_bench_stop_at(&e);
    th_system_free(prototype);
    return s;
}

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
        th_bench_stop_at(&e);
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
            th_bench_stop_at(&e);
        double lowered = th_bench_cpu_seconds();
        if (th_machine_load(machine, p, &e) ||
            th_machine_run_until(machine, TH_TIME_MAX, &e) != TH_STOP_DONE)
            th_bench_stop_at(&e);
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
        th_bench_stop_at(&e);
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

void th_bench_scale(void)
{
    static const scale_case cases[] = {{"torus {4 2}", "torus", {4, 2}, 2, true},
                                       {"torus {4 4}", "torus", {4, 4}, 2, true},
                                       {"torus {8 4}", "torus", {8, 4}, 2, true},
                                       {"torus {8 8}", "torus", {8, 8}, 2, true}};
    th_error e = {0};
    th_workload *w = th_workload_read("workloads/models/resnet101.cfg", BATCH, &e);
    if (!w)
        th_bench_stop_at(&e);
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
