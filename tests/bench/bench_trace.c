/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_trace.c - what a trace costs: half a million transfers among eight accelerators, and a
 * mapped network, untraced and traced with all signals, in each format. CPU seconds, the files
 * written to the folder for temporary files and removed. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/machine/machine.h"
#include "sim/trace/trace.h"
#include "sim/program/traffic.h"
#include "tests/bench/bench.h"
#include "topology/files/system_read.h"

enum { N_EVENTS = 1000000 };

static void stop_at(const th_error *e)
{
    fprintf(stderr, "bench: Error %s: %s\n", e->id, e->text);
    exit(1);
}

/* Messages of 64 KiB at half of what the links carry: about N_EVENTS / 2 of them. */
static th_program *make_program(const th_system *s)
{
    th_error e = {0};
    const double bytes_per_s = 5e9;
    th_traffic_options o = {.process = TH_TRAFFIC_POISSON,
                            .bytes_per_s = bytes_per_s,
                            .message_bytes = 65536,
                            .seed = 1};
    o.duration_ps = (th_time)(N_EVENTS / 2.0 / s->n_accels * (double)o.message_bytes / bytes_per_s *
                              (double)TH_PS_PER_S);
    th_program *p = th_program_new(&e);
    if (!p || th_traffic_add(p, s, &o, &e) < 0 || th_program_finish(p, &e))
        stop_at(&e);
    return p;
}

/* CPU seconds; type NULL: untraced. *size: of the file. */
static double run(const th_system *s, const th_compute_cost_cache *w, const th_program *p,
                  const th_trace_type *type, int64_t *events, off_t *size)
{
    th_error e = {0};
    char path[] = "/tmp/tharsis_bench_XXXXXX";
    close(mkstemp(path));
    unlink(path); /* files that are there already are written to the disk when they are closed
                     (ext4) */
    th_machine *m = th_machine_new(s, w, NULL, &e);
    th_trace *t = type ? th_trace_open(path, type, NULL, s, NULL, &e) : NULL;
    if (!m || (type && !t) || th_machine_load(m, p, &e) ||
        th_machine_observe(m, t ? th_trace_observer(t) : NULL, &e))
        stop_at(&e);
    double start = th_bench_cpu_seconds();
    if (th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE || th_trace_close(t, &e))
        stop_at(&e);
    double seconds = th_bench_cpu_seconds() - start;
    struct stat status = {0};
    stat(path, &status);
    *size = status.st_size;
    *events = th_machine_events(m);
    th_machine_free(m);
    unlink(path);
    return seconds;
}

/* The least of some rounds, one run of each in a round: what else the machine does only adds. */
void th_bench_trace(const char *format)
{
    enum { ROUNDS = 5, FORMATS = 8 };
    th_error e = {0};
    int64_t events = 0;
    double plain = INFINITY, traced[FORMATS];
    off_t size[FORMATS] = {0}, none;
    th_system *s = th_system_read("topology/systems/ring8.cfg", &e);
    th_compute_cost_cache *w = s ? th_compute_cost_cache_new(s, &e) : NULL;
    if (!w)
        stop_at(&e);
    th_program *p = make_program(s);
    for (int i = 0; i < FORMATS; i++)
        traced[i] = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        plain = fmin(plain, run(s, w, p, NULL, &events, &none));
        for (int i = 0; th_trace_types[i]; i++)
            if (!format || strcmp(format, th_trace_type_name(th_trace_types[i])) == 0)
                traced[i] = fmin(traced[i], run(s, w, p, th_trace_types[i], &events, &size[i]));
    }
    printf("trace of %" PRId64 " events with all signals, CPU seconds, least of %d\n", events,
           (int)ROUNDS);
    printf("%-10s %8.3f\n", "untraced", plain);
    for (int i = 0; th_trace_types[i]; i++)
        if (traced[i] < INFINITY)
            printf("%-10s %8.3f  x %.2f  %8.1f MB\n", th_trace_type_name(th_trace_types[i]),
                   traced[i], traced[i] / plain, (double)size[i] * 1e-6);
    th_program_free(p);
    th_compute_cost_cache_free(w);
    th_system_free(s);
}
