/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_routes.c - what routes take: random graphs under shortest and ecmp, where each destination
 * costs one search, and a torus and a fat tree, whose routings search nothing.
 * Every case is a process of its own, so that its peak memory is its own. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/bench/bench.h"
#include "topology/generate/generate.h"
#include "topology/routing/route.h"
#include "topology/files/system_read.h"

enum { CABLES_PER_NODE = 4, SEED = 1 };

typedef struct {
    const char *title;
    const char *type; /* generator; NULL: a random graph of dims[0] nodes */
    int dims[TH_MAX_DIMS], n_dims;
    const char *routing; /* NULL: the natural one */
    int n_routes;
} routes_case;

/* A ring, so that all are connected, and further cables between random nodes. */
static th_system *random_graph(int n, const th_system *prototype)
{
    th_error e = {0};
    char name[16];
    gsl_rng *r = th_random_stream(SEED, "bench_routes", 0);
    th_system *s = th_system_new("random", &e);
    for (int i = 0; s && r && i < n; i++) {
        snprintf(name, sizeof name, "%d", i);
        if (th_system_add_node(s, name, TH_NODE_ACCEL, 0, &e) < 0 ||
            th_system_copy_accel(s, i, prototype, 0, &e) < 0)
            th_bench_stop_at(&e);
    }
    for (int i = 0; s && r && i < CABLES_PER_NODE * n; i++) {
        int a = i % n, b = i < n ? (i + 1) % n : (int)th_random_below(r, (uint64_t)n);
        if (a != b && th_system_add_cable(
                          s, a, b, th_cable_symmetric(INT64_C(100000000000), 500000, true), &e) < 0)
            th_bench_stop_at(&e);
    }
    gsl_rng_free(r);
    return s;
}

static th_system *generated(const routes_case *c, const th_system *prototype)
{
    th_error e = {0};
    th_topology_options o = {.n_dims = c->n_dims,
                             .bits_per_s = {INT64_C(100000000000)},
                             .latency_ps = {500000},
                             .n_bandwidths = 1,
                             .n_latencies = 1};
    for (int d = 0; d < c->n_dims; d++)
        o.dims[d] = c->dims[d];
    th_system *s = th_topology_create("routes", th_topology_find(c->type), &o, prototype, &e);
    if (!s)
        th_bench_stop_at(&e);
    return s;
}

static th_system *create(const routes_case *c)
{
    th_error e = {0};
    th_system *prototype = th_bench_system("npu_v1");
    th_system *s = c->type ? generated(c, prototype) : random_graph(c->dims[0], prototype);
    th_system_free(prototype);
    if (c->type)
        return s;
    s->routing = c->routing ? th_routing_find(c->routing) : NULL;
    if (th_system_finish(s, &e))
        th_bench_stop_at(&e);
    return s;
}

/* Links of n routes between random accelerators. */
static long walk(const th_system *s, int n)
{
    int links[TH_ROUTE_MAX];
    long sum = 0;
    gsl_rng *r = th_random_stream(SEED, "bench_pairs", 0);
    for (int i = 0; r && i < n; i++) {
        int from = s->accel_node[th_random_below(r, (uint64_t)s->n_accels)];
        int to = s->accel_node[th_random_below(r, (uint64_t)s->n_accels)];
        int hops = th_route(s, from, to, links);
        if (hops < 0)
            exit(1);
        sum += hops;
    }
    gsl_rng_free(r);
    return sum;
}

/* In a process of its own. */
static void measure(const routes_case *c)
{
    struct rusage use;
    double start = th_bench_cpu_seconds();
    th_system *s = create(c);
    double finished = th_bench_cpu_seconds();
    long hops = walk(s, c->n_routes);
    double cold = th_bench_cpu_seconds();
    walk(s, c->n_routes);
    double warm = th_bench_cpu_seconds();
    getrusage(RUSAGE_SELF, &use);
    printf("%-24s %7d %8d %9.2f %8d %6.1f %9.3f %9.3f %9.1f\n", c->title, s->n_accels, s->n_links,
           finished - start, c->n_routes, (double)hops / c->n_routes, cold - finished, warm - cold,
           (double)use.ru_maxrss / 1024);
    fflush(stdout);
    _exit(0);
}

void th_bench_routes(void)
{
    static const routes_case cases[] = {
        {"random 4096, shortest", NULL, {4096}, 1, "shortest", 10000},
        {"random 4096, ecmp", NULL, {4096}, 1, "ecmp", 10000},
        {"random 65536, shortest", NULL, {65536}, 1, "shortest", 1000},
        {"torus {64 64}", "torus", {64, 64}, 2, NULL, 1000000},
        {"torus {64 32 32}", "torus", {64, 32, 32}, 3, NULL, 1000000},
        {"fattree {16 4}", "fattree", {16, 4}, 2, NULL, 1000000},
    };
    printf("what routes take: CPU s until the system is finished, of a number of routes between "
           "random\n"
           "accelerators, and of the same again; MiB at the end; mean links per route\n");
    printf("%-24s %7s %8s %9s %8s %6s %9s %9s %9s\n", "system", "accels", "links", "finished",
           "routes", "links", "first", "again", "MiB");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fflush(stdout);
        pid_t child = fork();
        int status = 1;
        if (child == 0)
            measure(&cases[i]);
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
            printf("%-24s failed\n", cases[i].title);
    }
}
