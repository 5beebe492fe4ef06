/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_network.c - random flows of 1 to 100 MB, all at t = 0, on a torus under fluid: CPU seconds,
 * makespan, and how they grow; the same flows under SimGrid where simgrid_flows has been built.
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

static void stop_at(const th_error *e)
{
    fprintf(stderr, "bench: Error %s: %s\n", e->id, e->text);
    exit(1);
}

static th_system *torus(int k)
{
    th_error e = {0};
    th_system *prototype = th_system_read("topology/systems/npu_v1.cfg", &e);
    th_topology_options o = {
        .dims = {k, k}, .n_dims = 2, .bits_per_s = {LINK_BITS_PER_S}, .latency_ps = {0}};
    th_system *s = prototype
                       ? th_topology_create("bench", th_topology_find("torus"), &o, prototype, &e)
                       : NULL;
    if (!s)
        stop_at(&e);
    th_system_free(prototype);
    return s;
}

static th_message *random_flows(const th_system *s, int n)
{
    gsl_rng *r = th_random_stream(1, "bench flows", 0);
    th_message *m = th_alloc_array((size_t)n, sizeof *m);
    uint64_t nodes = (uint64_t)s->n_accels;
    for (int i = 0; m && i < n; i++) {
        int src = (int)th_random_below(r, nodes), dst = (int)th_random_below(r, nodes - 1);
        int64_t bytes =
            LEAST_BYTES + (int64_t)th_random_below(r, (uint64_t)(MOST_BYTES - LEAST_BYTES + 1));
        m[i] = (th_message){s->accel_node[src], s->accel_node[dst < src ? dst : dst + 1], bytes, 0};
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
        stop_at(&err);
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
        fprintf(file, "flow %" PRId64, m[i].bytes);
        for (int h = 0; h < hops; h++)
            fprintf(file, " %d", route[h]);
        fprintf(file, "\n");
    }
    th_free(route);
    return file && route ? fclose(file) : -1;
}

/* False: the peer is not there. */
static bool run_peer(const th_system *s, const th_message *m, int n, double *seconds,
                     double *makespan)
{
    char name[] = "/tmp/tharsis_flows_XXXXXX", command[400];
    const char *peer = getenv("SIMGRID_FLOWS");
    int fd = peer && *peer && access(peer, X_OK) == 0 ? mkstemp(name) : -1;
    if (fd < 0)
        return false;
    close(fd);
    snprintf(command, sizeof command, "'%s' '%s' 2>/dev/null", peer, name);
    FILE *out = write_flows(s, m, n, name) == 0 ? popen(command, "r") : NULL;
    bool ok = out && fscanf(out, "%lf %lf", seconds, makespan) == 2;
    if (out)
        pclose(out);
    unlink(name);
    return ok;
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

static double measure(int k, int n, bool with_peer)
{
    th_system *s = torus(k);
    th_message *m = random_flows(s, n);
    th_time end;
    double seconds = median_seconds(s, m, n, &end), peer, peer_end;
    double makespan = (double)end * 1e-12;
    printf("%3d x %-3d %7d %10.4f %14.9f", k, k, n, seconds, makespan);
    if (with_peer && run_peer(s, m, n, &peer, &peer_end))
        printf(" %10.3f %9.1f %12.1e", peer, peer / seconds, fabs(peer_end / makespan - 1));
    printf("\n");
    fflush(stdout);
    th_free(m);
    th_system_free(s);
    return seconds;
}

void th_bench_network(char **arguments, int n)
{
    static const int flows[] = {1000, 2000, 4000, 10000};
    enum { LAST = sizeof flows / sizeof *flows - 1 };
    bool with_peer = n > 0 && arguments[0][0] == 'p';
    double first = 0, last = 0;
    printf("random flows of 1 to 100 MB at t = 0 on a torus, fluid; CPU s, makespan s; SimGrid, "
           "CM02\n");
    printf("%9s %7s %10s %14s %10s %9s %12s\n", "torus", "flows", "s", "makespan", "SimGrid s",
           "ratio", "deviation");
    for (int i = 0; i <= LAST; i++) {
        last = measure(16, flows[i], with_peer && (flows[i] <= 4000 || n > 1));
        first = i == 0 ? last : first;
    }
    printf("growth from %d to %d flows: n^%.2f\n", flows[0], flows[LAST],
           log(last / first) / log((double)flows[LAST] / flows[0]));
    measure(32, flows[LAST], with_peer && n > 1);
}
