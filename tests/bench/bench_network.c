/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_network.c - random flows of 1 to 100 MB on tori and fat trees under fluid, at once or one
 * after another: CPU seconds, makespan, and how they grow; the same flows under SimGrid where
 * simgrid_flows has been built.
 *
 * Routes are walked by th_route and given to the peer as lists of links, so both solve the same. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/random.h"
#include "sim/network/network.h"
#include "tests/bench/bench.h"
#include "topology/generate/generate.h"
#include "topology/routing/route.h"
#include "topology/files/system_read.h"

static const int64_t LINK_BITS_PER_S = INT64_C(8000000000), LEAST_BYTES = 1000000,
                     MOST_BYTES = 100000000;

static th_system *create_system(const char *topology, int x, int y)
{
    th_error e = {0};
    th_system *prototype = th_bench_system("npu_v1");
    th_topology_options o = {
        .dims = {x, y}, .n_dims = 2, .bits_per_s = {LINK_BITS_PER_S}, .latency_ps = {0}};
    th_system *s = prototype
                       ? th_topology_create("bench", th_topology_find(topology), &o, prototype, &e)
                       : NULL;
    if (!s)
        th_bench_stop_at(&e);
    th_system_free(prototype);
    return s;
}

/* They start one after another, apart_ps from each other. */
static th_message *random_flows(const th_system *s, int n, th_time apart_ps)
{
    gsl_rng *r = th_random_stream(1, "bench flows", 0);
    th_message *m = th_alloc_array((size_t)n, sizeof *m);
    uint64_t nodes = (uint64_t)s->n_accels;
    for (int i = 0; m && i < n; i++) {
        int src = (int)th_random_below(r, nodes), dst = (int)th_random_below(r, nodes - 1);
        int64_t bytes =
            LEAST_BYTES + (int64_t)th_random_below(r, (uint64_t)(MOST_BYTES - LEAST_BYTES + 1));
        m[i] = (th_message){s->accel_node[src], s->accel_node[dst < src ? dst : dst + 1], bytes,
                            apart_ps * i};
    }
    gsl_rng_free(r);
    if (!m)
        exit(1);
    return m;
}

/* CPU seconds of the run, starts and routes included. */
static double run_flows(const th_system *s, const th_message *m, int n, th_time *makespan)
{
    static const th_network_options options;
    th_error err = {0};
    const th_network_type *fluid = th_network_find("fluid");
    th_network *net = fluid->create(s, &options, &err);
    th_events *q = th_events_new();
    if (!net || !q)
        th_bench_stop_at(&err);
    fluid->reset(net);
    th_event e;
    th_time now = 0;
    int n_ended = 0, failed = 0;
    double start = th_bench_cpu_seconds();
    for (int i = 0; i < n; i++)
        failed |= fluid->start(net, q, 0, i, &m[i]);
    for (bool any = true; any && !failed; now = any ? e.time : now) {
        while (th_events_peek(q, &e) && e.time == now) {
            th_events_pop(q, &e);
            n_ended += fluid->event(net, q, now, &e);
        }
        failed |= fluid->settle(net, q, now);
        any = th_events_peek(q, &e);
    }
    double seconds = th_bench_cpu_seconds() - start;
    *makespan = now;
    if (failed || n_ended != n)
        exit(1);
    th_events_free(q);
    fluid->destroy(net);
    return seconds;
}

static int write_flows(const th_system *s, const th_message *m, int n, const char *name)
{
    FILE *file = fopen(name, "w");
    int *route = th_alloc_array(TH_ROUTE_MAX, sizeof *route);
    for (int l = 0; file && l < s->n_links; l++)
        fprintf(file, "link %.17g\n", (double)s->media[s->links[l].medium].bits_per_s / 8);
    for (int i = 0; file && route && i < n; i++) {
        int hops = th_route(s, m[i].src, m[i].dst, route);
        fprintf(file, "flow %" PRId64 " %.12f", m[i].bytes, (double)m[i].delay_ps * 1e-12);
        for (int h = 0; h < hops; h++)
            fprintf(file, " %d", route[h]);
        fprintf(file, "\n");
    }
    th_free(route);
    return file && route ? fclose(file) : -1;
}

/* CPU seconds of the peer with this value of network/optim; a negative number: it is not there. */
static double run_peer(const char *flows, const char *optim, double *makespan)
{
    char command[400];
    double seconds = -1;
    snprintf(command, sizeof command, "'%s' '%s' %s 2>/dev/null", getenv("SIMGRID_FLOWS"), flows,
             optim);
    FILE *out = popen(command, "r");
    if (out && fscanf(out, "%lf %lf", &seconds, makespan) != 2)
        seconds = -1;
    if (out)
        pclose(out);
    return seconds;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* CPU seconds, the median of several runs: a single one of a tenth of a second may be disturbed. */
static double median_seconds(const th_system *s, const th_message *m, int n, th_time *end)
{
    enum { RUNS = 5 };
    double seconds[RUNS];
    for (int i = 0; i < RUNS; i++)
        seconds[i] = run_flows(s, m, n, end);
    qsort(seconds, RUNS, sizeof *seconds, by_size);
    return seconds[RUNS / 2];
}

/* --- cases ------------------------------------------------------------------------------------ */

/* apart_us: between starts. */
typedef struct {
    const char *topology;
    int x, y, n_flows, apart_us;
} network_case;

/* How many times as long the peer takes, at its default and at its own fastest option. */
static void compare(const th_system *s, const th_message *m, int n, double seconds, double makespan,
                    double *log_sum)
{
    char name[] = "/tmp/tharsis_flows_XXXXXX";
    const char *peer = getenv("SIMGRID_FLOWS");
    int fd = peer && *peer && access(peer, X_OK) == 0 ? mkstemp(name) : -1;
    if (fd < 0)
        return;
    close(fd);
    double end = 0, lazy = -1, full = -1;
    if (write_flows(s, m, n, name) == 0) {
        lazy = run_peer(name, "Lazy", &end);
        full = run_peer(name, "Full", &end);
    }
    unlink(name);
    printf(" %9.3f %9.3f %7.0f %7.0f %10.1e", lazy, full, lazy / seconds, full / seconds,
           fabs(end / makespan - 1));
    *log_sum += log((lazy < full ? lazy : full) / seconds);
}

static double measure(const network_case *c, bool with_peer, double *log_sum)
{
    th_system *s = create_system(c->topology, c->x, c->y);
    th_message *m = random_flows(s, c->n_flows, (th_time)c->apart_us * 1000000);
    th_time end;
    double seconds = median_seconds(s, m, c->n_flows, &end), makespan = (double)end * 1e-12;
    printf("%-8s %3d %2d %6d %6d %9.4f %13.9f", c->topology, c->x, c->y, c->n_flows, c->apart_us,
           seconds, makespan);
    if (with_peer)
        compare(s, m, c->n_flows, seconds, makespan, log_sum);
    printf("\n");
    fflush(stdout);
    th_free(m);
    th_system_free(s);
    return seconds;
}

void th_bench_network(char **arguments, int n)
{
    static const network_case cases[] = {
        {"torus", 16, 16, 1000, 0},  {"torus", 16, 16, 2000, 0},  {"torus", 16, 16, 4000, 0},
        {"torus", 16, 16, 4000, 50}, {"fattree", 4, 2, 1000, 0},  {"fattree", 8, 2, 2000, 0},
        {"fattree", 4, 4, 2000, 0},  {"fattree", 4, 4, 2000, 50},
    };
    enum { N_CASES = sizeof cases / sizeof *cases };
    bool with_peer = n > 0 && arguments[0][0] == 'p';
    double log_sum = 0, ignored = 0, seconds[N_CASES];
    printf("random flows of 1 to 100 MB, fluid; CPU s, makespan s; SimGrid, CM02, network/optim "
           "Lazy and Full\n%-15s %6s %6s %9s %13s %9s %9s %7s %7s %10s\n",
           "topology", "flows", "us", "s", "makespan", "Lazy s", "Full s", "ratio", "ratio",
           "deviation");
    for (int i = 0; i < N_CASES; i++)
        seconds[i] = measure(&cases[i], with_peer, &log_sum);
    if (with_peer)
        printf("geometric mean of the lower ratios: %.0f\n", exp(log_sum / N_CASES));
    const network_case many = {"torus", 16, 16, 10000, 0}, large = {"torus", 32, 32, 10000, 0};
    double last = measure(&many, with_peer && n > 1, &ignored);
    printf("growth from %d to %d flows on the torus: n^%.2f\n", cases[0].n_flows, many.n_flows,
           log(last / seconds[0]) / log((double)many.n_flows / cases[0].n_flows));
    measure(&large, with_peer && n > 1, &ignored);
}
