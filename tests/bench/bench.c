/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench.c - figures of docs/benchmarks.md that no command tells: `make bench`. The others are
 * scripts in this folder.
 *
 *   bench fitness [MODEL ...]    speed of one fitness evaluation on f1_16xlarge, caches filled
 *   bench segments [MODEL ...]   the same by segments, and of mappings that a search generates
 *   bench events                 event queues under the hold model
 *   bench network [peer [all]]   fluid network, random flows on tori and fat trees; with SimGrid,
 *                                also 10,000
 *   bench packet                 packet network: latency on a mesh, against BookSim2
 *   bench systolic [NETWORK]     a network on a 128 x 128 array, every tile an event
 *   bench routes                 what routes take, on random graphs and large systems
 *   bench threads [EVALUATIONS]  what a second thread buys, ResNet-101 on f1_16xlarge
 *   bench tiling                 the search for tiles and loop orders
 *   bench operators              what predictions of operators of language models take
 *   bench lookup                 finding a layer shard in the cache of compute costs
 * Run from the source tree. CPU seconds of the process; compare ratios, not absolute figures. */
#include <config.h>
#include <math.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mapper/search/variation/variation.h"
#include "mapper/search/search.h"
#include "tests/bench/bench.h"
#include "tests/unit/stepping.h"
#include "topology/files/system_read.h"
#include "workloads/workload_read.h"

static const char *const networks[] = {"alexnet", "vgg16", "resnet34", "resnet101", "wrn50_2"};
enum { N_NETWORKS = sizeof networks / sizeof *networks };

double th_bench_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void th_bench_stop_at(const th_error *e)
{
    fprintf(stderr, "bench: Error %s: %s\n", e->id, e->text);
    exit(1);
}

th_system *th_bench_system(const char *name)
{
    char path[200];
    th_error e = {0};
    snprintf(path, sizeof path, "topology/systems/%s.cfg", name);
    th_system *s = th_system_read(path, &e);
    if (!s)
        th_bench_stop_at(&e);
    return s;
}

th_workload *th_bench_workload(const char *name)
{
    char path[200];
    th_error e = {0};
    snprintf(path, sizeof path, "workloads/models/%s.cfg", name);
    th_workload *w = th_workload_read(path, 1, &e);
    if (!w)
        th_bench_stop_at(&e);
    return w;
}

th_shard th_bench_conv(int32_t b, int32_t k, int32_t c, int32_t h, int32_t w, int32_t kernel)
{
    return (th_shard){.kind = TH_LAYER_CONV,
                      .dim = {b, k, c, h, w, kernel, kernel},
                      .groups = 1,
                      .in_h = h + kernel - 1,
                      .in_w = w + kernel - 1,
                      .stride_h = 1,
                      .stride_w = 1,
                      .dilation_h = 1,
                      .dilation_w = 1,
                      .up_h = 1,
                      .up_w = 1,
                      .precision = {TH_FP16, TH_FP16, TH_FP16},
                      .density_ppm = {1000000, 1000000, 1000000},
                      .n_operands = 1};
}

/* --- searches --------------------------------------------------------------------------------- */

static th_search *search(const th_problem *p, const char *name, int64_t evaluations, bool inside)
{
    th_error e = {0};
    th_search_options o = th_search_defaults;
    o.evaluations = evaluations;
    o.sets_inside_groups = inside;
    th_search *s = th_search_new(th_search_find(name), p, &o, &e);
    if (!s)
        th_bench_stop_at(&e);
    while (!s->done)
        if (th_search_iterate(s, &e))
            th_bench_stop_at(&e);
    return s;
}

/* --- fitness ---------------------------------------------------------------------------------- */

/* By segments, or of the whole program. */
static th_fitness evaluated(th_evaluator *ev, const th_mapping *m, bool is_whole)
{
    th_error e = {0};
    th_fitness fitness;
    if (is_whole ? th_evaluator_run_without_link(ev, m, -1, &fitness, NULL, &e)
                 : th_evaluator_run(ev, m, INFINITY, &fitness, &e))
        th_bench_stop_at(&e);
    return fitness;
}

/* CPU seconds of one evaluation, the caches filled. */
static double evaluation_seconds(const th_problem *p, const th_mapping *m, bool is_whole)
{
    enum { RUNS = 400, RUNS_BY_SEGMENTS = 40000 };
    const int runs = is_whole ? RUNS : RUNS_BY_SEGMENTS;
    th_error e = {0};
    th_evaluator *ev = th_evaluator_new(p, &e);
    if (!ev)
        th_bench_stop_at(&e);
    evaluated(ev, m, is_whole);
    double start = th_bench_cpu_seconds();
    for (int i = 0; i < runs; i++)
        evaluated(ev, m, is_whole);
    double seconds = (th_bench_cpu_seconds() - start) / runs;
    th_evaluator_free(ev);
    return seconds;
}

enum { CHILDREN = 2000 };

/* Mappings as a genetic search makes them of its best: a layer, a run of layers, or all of one
 * shape changed. */
static void make_child(th_search *s, th_mapping **child)
{
    th_error e = {0};
    th_variation b = {0};
    if (th_variation_init(&b, s, "bench", &e))
        th_bench_stop_at(&e);
    for (int i = 0; i < CHILDREN; i++) {
        child[i] = NULL;
        while (!child[i])
            if (th_variation_sharding(&b, s->best, NULL, &child[i], &e))
                th_bench_stop_at(&e);
    }
    th_variation_clear(&b);
}

typedef struct {
    double per_second, sum; /* evaluations per CPU second; of all values */
    th_segment_counts counts;
} stream_figures;

/* All children in turn, on an evaluator that has met but their parent. */
static stream_figures evaluate_children(const th_problem *p, const th_mapping *parent,
                                        th_mapping *const *child, bool is_whole)
{
    th_error e = {0};
    stream_figures f = {0};
    th_evaluator *ev = th_evaluator_new(p, &e);
    if (!ev)
        th_bench_stop_at(&e);
    evaluated(ev, parent, is_whole);
    double start = th_bench_cpu_seconds();
    for (int i = 0; i < CHILDREN; i++) {
        th_fitness fitness = evaluated(ev, child[i], is_whole);
        f.sum += fitness.fit == TH_FIT ? fitness.value : 0;
    }
    f.per_second = CHILDREN / (th_bench_cpu_seconds() - start);
    f.counts = th_evaluator_segments(ev);
    th_evaluator_free(ev);
    return f;
}

static void bench_segments_of(const th_system *system, const char *network)
{
    static th_mapping *child[CHILDREN];
    th_workload *w = th_bench_workload(network);
    th_problem p = {.system = system, .workload = w, .stream = th_stream_single};
    th_search *s = search(&p, "two_level", 1000, false);
    double filled = evaluation_seconds(&p, s->best, false),
           all = evaluation_seconds(&p, s->best, true);
    make_child(s, child);
    stream_figures f = evaluate_children(&p, s->best, child, false),
                   g = evaluate_children(&p, s->best, child, true);
    printf("%-10s %8.0f %9.0f %6.0f %8.0f %9.0f %6.1f %8.1f  %s\n", network, 1 / all, 1 / filled,
           all / filled, g.per_second, f.per_second, f.per_second / g.per_second,
           100.0 * (double)(f.counts.lookups - f.counts.replayed) / (double)f.counts.lookups,
           f.sum == g.sum ? "equal" : "DIFFERENT");
    for (int i = 0; i < CHILDREN; i++)
        th_mapping_free(child[i]);
    th_search_free(s);
    th_workload_free(w);
}

static void bench_segments(char **network, int n)
{
    th_system *system = th_bench_system("f1_16xlarge");
    printf("evaluations per CPU second, whole replays against segments: the mapping that two_level "
           "finds\n(1000 evaluations, seed 1) again and again, and %d children of it in turn\n",
           CHILDREN);
    printf("%-10s %8s %9s %6s %8s %9s %6s %8s  %s\n", "network", "whole", "segments", "times",
           "whole", "segments", "times", "known %", "values");
    for (int i = 0; i < (n > 0 ? n : N_NETWORKS); i++)
        bench_segments_of(system, n > 0 ? network[i] : networks[i]);
    th_system_free(system);
}

/* CPU seconds of one replay with these options on a machine of its own, empty caches. */
static double replay_seconds(const th_problem *p, th_lower *lower, const th_program *program,
                             bool is_stepped, th_time *end, int64_t *events)
{
    th_error e = {0};
    th_observer stepping = {.type = &stepping_type};
    th_machine *m = th_machine_new(p->system, th_lower_costs(lower), NULL, &e);
    double start = th_bench_cpu_seconds();
    if (!m || th_machine_observe(m, is_stepped ? &stepping : NULL, &e) ||
        th_machine_load(m, program, &e) || th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE)
        th_bench_stop_at(&e);
    double seconds = th_bench_cpu_seconds() - start;
    *end = th_machine_now(m);
    *events = th_machine_events(m);
    th_machine_free(m);
    return seconds;
}

/* Mappings have up to five times as many events as others of the same network. */
static const struct {
    const char *title, *search;
    bool inside;
} mapped_by[] = {
    {"greedy", "greedy", false},
    {"uniform", "uniform", false},
    {"two_level, inside", "two_level", true},
    {"two_level", "two_level", false},
};

static void bench_mapping(const th_problem *p, const char *title, const th_mapping *m)
{
    th_error e = {0};
    double filled = evaluation_seconds(p, m, true);
    th_lower *lower = th_lower_new(p->system, p->workload, &e);
    th_program *program = lower ? th_program_new(&e) : NULL;
    if (!program || th_lower_program(lower, m, &p->stream, program, &e))
        th_bench_stop_at(&e);
    th_time collapsed, expanded;
    int64_t events;
    double cold = replay_seconds(p, lower, program, false, &collapsed, &events);
    double slow = replay_seconds(p, lower, program, true, &expanded, &events);
    printf("%-10s %-18s %9.4f %7d %8" PRId64 " %9.0f %10.1f %9.1f  %s\n", p->workload->name, title,
           (double)collapsed * 1e-9, (int)program->n_tasks, events, 1 / filled,
           (double)events / filled * 1e-6, slow / cold,
           collapsed == expanded ? "equal" : "DIFFERENT");
    th_program_free(program);
    th_lower_free(lower);
}

static void bench_fitness_of(const th_system *system, const char *network)
{
    th_workload *w = th_bench_workload(network);
    th_problem p = {.system = system, .workload = w, .stream = th_stream_single};
    for (size_t i = 0; i < sizeof mapped_by / sizeof *mapped_by; i++) {
        th_search *s = search(&p, mapped_by[i].search, 1000, mapped_by[i].inside);
        bench_mapping(&p, mapped_by[i].title, s->best);
        th_search_free(s);
    }
    th_workload_free(w);
}

static void bench_fitness(char **network, int n)
{
    th_system *system = th_bench_system("f1_16xlarge");
    printf("one evaluation of the mapping that a search finds (two_level: 1000 evaluations, seed "
           "1; inside: sets\n"
           "inside a group)\n");
    printf("%-10s %-18s %9s %7s %8s %9s %10s %9s  %s\n", "network", "mapped by", "ms", "tasks",
           "events", "eval/s", "Mevents/s", "expanded", "times");
    for (int i = 0; i < (n > 0 ? n : N_NETWORKS); i++)
        bench_fitness_of(system, n > 0 ? network[i] : networks[i]);
    printf(
        "eval/s: per CPU second, caches filled; expanded: CPU time of the replay with every tile "
        "event,\nover the collapsed replay with empty caches\n");
    th_system_free(system);
}

/* ---- the command line ---- */

static int64_t number_of(char **args, int n, int place, int64_t usual)
{
    return n > place ? strtoll(args[place], NULL, 10) : usual;
}

static void bench_threads(char **args, int n)
{
    th_system *system = th_bench_system("f1_16xlarge");
    th_workload *w = th_bench_workload("resnet101");
    th_bench_threads(system, w, number_of(args, n, 0, 4000));
    th_workload_free(w);
    th_system_free(system);
}

static void lookup(void)
{
    th_system *s = th_bench_system("f1_16xlarge");
    th_bench_lookup(s);
    th_system_free(s);
}

static void bench_systolic(char **args, int n)
{
    th_system *system = th_bench_system("ws128");
    th_workload *w = th_bench_workload(n > 0 ? args[0] : "resnet18");
    th_bench_systolic(system, w);
    th_workload_free(w);
    th_system_free(system);
}

/* One of the two: with its words, or without any. */
static const struct {
    const char *name, *words;
    void (*run)(char **args, int n);
    void (*plain)(void);
} benches[] = {
    {"fitness", "[NETWORK ...]", .run = bench_fitness},
    {"segments", "[NETWORK ...]", .run = bench_segments},
    {"events", "", .plain = th_bench_events},
    {"lookup", "", .plain = lookup},
    {"operators", "", .plain = th_bench_operators},
    {"systolic", "[NETWORK]", .run = bench_systolic},
    {"tiling", "", .plain = th_bench_tiling},
    {"routes", "", .plain = th_bench_routes},
    {"packet", "", .plain = th_bench_packet},
    {"network", "[peer [all]]", .run = th_bench_network},
    {"threads", "[EVALUATIONS]", .run = bench_threads},
};

static int usage(void)
{
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
        fprintf(stderr, "%s bench %s%s%s\n", i == 0 ? "usage:" : "      ", benches[i].name,
                *benches[i].words != '\0' ? " " : "", benches[i].words);
    return 2;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    size_t i = 0, n = sizeof benches / sizeof *benches;
    while (i < n && strcmp(what, benches[i].name) != 0)
        i++;
    if (i == n)
        return usage();
    if (benches[i].run)
        benches[i].run(argv + 2, argc - 2);
    else
        benches[i].plain();
    return 0;
}
