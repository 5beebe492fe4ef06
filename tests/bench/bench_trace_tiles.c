/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_trace_tiles.c - what a trace of a mapped network costs, by what is traced and in which
 * format: ResNet-34 spread by `uniform` over f1_16xlarge, a stream of inputs. CPU seconds, least of
 * REPEATS runs: of the program, and of the system, which writes the file to the folder for
 * temporary files. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mapper/lower/lower.h"
#include "mapper/search/search.h"
#include "sim/machine/machine.h"
#include "sim/trace/trace.h"
#include "tests/bench/bench.h"
#include "topology/files/system_read.h"
#include "workloads/workload_read.h"

enum { REPEATS = 5 };

static void stop_at(const th_error *e)
{
    fprintf(stderr, "bench: Error %s: %s\n", e->id, e->text);
    exit(1);
}

typedef enum { TRACE_TASKS, TRACE_TILES, TRACE_ALL } traced_signals;

/* A row of the table for each format, or for vcd alone. */
typedef struct {
    const char *title;
    traced_signals signals;
    th_time resolution_ps;
    int from_percent, to_percent; /* of the run */
    bool is_vcd;
} traced_case;

static const traced_case cases[] = {
    {"tasks, links, buffers", TRACE_TASKS, 0, 0, 100, false},
    {"tiles, none of the run", TRACE_TILES, 0, 200, 300, false},
    {"tiles, 1 % of the run", TRACE_TILES, 0, 40, 41, false},
    {"tiles", TRACE_TILES, 0, 0, 100, false},
    {"tiles, 1 us", TRACE_TILES, 1000000, 0, 100, true},
    {"tiles, 10 us", TRACE_TILES, 10000000, 0, 100, true},
    {"all", TRACE_ALL, 0, 0, 100, false},
};

typedef struct {
    const th_system *system;
    const th_workload *workload;
    const th_compute_cost_cache *costs;
    const th_program *program;
} mapped;

typedef struct {
    double seconds, system_seconds;
    th_time end;
    off_t size; /* of the file */
} figures;

static void add_signals(th_trace *t, const th_system *s, traced_signals what)
{
    unsigned tasks = th_signals_of(TH_TRACED_ACCEL, false),
             all = th_signals_of(TH_TRACED_ACCEL, true);
    if (what == TRACE_TASKS)
        return; /* the default */
    for (int i = 0; i < s->n_accels; i++)
        th_trace_add(t, TH_TRACED_ACCEL, i, what == TRACE_ALL ? all : all & ~tasks);
    if (what == TRACE_TILES)
        return;
    for (int i = 0; i < s->n_links; i++)
        th_trace_add(t, TH_TRACED_LINK, i, th_signals_of(TH_TRACED_LINK, true));
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].kind == TH_NODE_HOST)
            th_trace_add(t, TH_TRACED_NODE, i, th_signals_of(TH_TRACED_NODE, true));
}

static double seconds_of(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

/* Sets *start to what has been used, and returns what has been used since it was. */
static figures used_since(struct rusage *start)
{
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    figures f = {.seconds = seconds_of(&now.ru_utime) - seconds_of(&start->ru_utime),
                 .system_seconds = seconds_of(&now.ru_stime) - seconds_of(&start->ru_stime)};
    *start = now;
    return f;
}

/* c NULL: untraced; end: of the run, where it is known. */
static figures run_once(const mapped *x, const traced_case *c, const th_trace_type *type,
                        th_time end)
{
    th_error e = {0};
    char path[] = "/tmp/tharsis_bench_XXXXXX";
    th_trace *t = NULL;
    th_machine *m = th_machine_new(x->system, x->costs, NULL, &e);
    if (!m || th_machine_load(m, x->program, &e))
        stop_at(&e);
    if (c) {
        th_trace_options o = {c->resolution_ps, end / 100 * c->from_percent,
                              end / 100 * c->to_percent};
        if (c->to_percent == 100)
            o.until_ps = TH_TIME_MAX;
        close(mkstemp(path));
        t = th_trace_open(path, type, &o, x->system, x->workload, &e);
        if (!t)
            stop_at(&e);
        add_signals(t, x->system, c->signals);
    }
    if (th_machine_observe(m, t ? th_trace_observer(t) : NULL, &e))
        stop_at(&e);
    struct rusage start = {0};
    used_since(&start);
    if (th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE || th_trace_close(t, &e))
        stop_at(&e);
    figures f = used_since(&start);
    f.end = th_machine_now(m);
    th_machine_free(m);
    if (c) {
        struct stat status = {0};
        stat(path, &status);
        f.size = status.st_size;
        unlink(path);
    }
    return f;
}

static void take_least(figures *least, figures f)
{
    if (f.end != least->end || f.size != least->size) {
        fprintf(stderr, "bench: two runs differ\n");
        exit(1);
    }
    if (f.seconds < least->seconds)
        least->seconds = f.seconds;
    if (f.system_seconds < least->system_seconds)
        least->system_seconds = f.system_seconds;
}

/* In turns with untraced runs, for other programs come and go. */
static void measure_case(const mapped *x, const traced_case *c, const th_trace_type *type)
{
    figures plain = run_once(x, NULL, NULL, 0), traced = run_once(x, c, type, plain.end);
    for (int i = 1; i < REPEATS; i++) {
        take_least(&plain, run_once(x, NULL, NULL, 0));
        take_least(&traced, run_once(x, c, type, plain.end));
    }
    printf("%-24s %-10s %8.3f %8.3f  x %5.2f %8.3f  %8.2f MB%s\n", c->title,
           th_trace_type_name(type), plain.seconds, traced.seconds, traced.seconds / plain.seconds,
           traced.system_seconds, (double)traced.size * 1e-6,
           traced.end == plain.end ? "" : "  ANOTHER END");
    fflush(stdout);
}

static bool is_wanted(const traced_case *c, const th_trace_type *type, const char *title,
                      const char *format)
{
    if (c->is_vcd && type != th_trace_find("vcd"))
        return false;
    return (!title || strcmp(c->title, title) == 0) && (!format || type == th_trace_find(format));
}

static void measure(const mapped *x, const char *title, const char *format)
{
    printf("%-24s %-10s %8s %8s  %7s %8s\n", "", "", "untraced", "traced", "times", "system");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; th_trace_types[k]; k++)
            if (is_wanted(&cases[i], th_trace_types[k], title, format))
                measure_case(x, &cases[i], th_trace_types[k]);
}

static th_search *map(const th_problem *p)
{
    th_error e = {0};
    th_search *s = th_search_new(th_search_find("uniform"), p, &th_search_defaults, &e);
    while (s && !s->done && th_search_iterate(s, &e) == 0)
        ;
    if (!s || !s->done)
        stop_at(&e);
    return s;
}

void th_bench_trace_tiles(int32_t inputs, const char *title, const char *format)
{
    th_error e = {0};
    th_system *s = th_system_read("topology/systems/f1_16xlarge.cfg", &e);
    th_workload *w = s ? th_workload_read("workloads/models/resnet34.cfg", 1, &e) : NULL;
    if (!w)
        stop_at(&e);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_search *mapping = map(&p);
    th_stream stream = {.n_inputs = inputs, .micro_batches = 1};
    th_lower *lower = th_lower_new(s, w, &e);
    th_program *program = lower ? th_program_new(&e) : NULL;
    if (!program || th_lower_program(lower, mapping->best, &stream, program, &e))
        stop_at(&e);
    printf("resnet34 by uniform on f1_16xlarge, %d inputs, %d tasks: CPU seconds\n", (int)inputs,
           (int)program->n_tasks);
    measure(&(mapped){s, w, th_lower_costs(lower), program}, title, format);
    th_program_free(program);
    th_lower_free(lower);
    th_search_free(mapping);
    th_workload_free(w);
    th_system_free(s);
}
