/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_large.c - the default search, and others, on 64 accelerators and 100 layers or more.
 *
 *   torus  an 8 x 8 torus of the FPGAs of f1_16xlarge with the design "tiled" alone, cables as
 *          there
 *   f1     eight groups of eight of them, adaptive: cables within a group, the host between groups
 *   chain  100 convolutions in a row; any other network is that of workloads/models */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/strbuf.h"
#include "mapper/search/search.h"
#include "tests/bench/bench.h"
#include "topology/files/system_read.h"
#include "workloads/workload_read.h"

enum { GROUPS = 8, MEMBERS = 8 };

#define TILED                                                                                      \
    "{ name = \"tiled\"; type = \"tiled\"; clock = \"200MHz\"; tile_k = 64; tile_c = 7; "          \
    "tile_h = 7; tile_w = 14; input_port = 40; weight_port = 40; output_port = 40; slots = 2; "    \
    "clip = true; }"
#define OTHERS                                                                                     \
    "{ name = \"systolic_vec\"; type = \"systolic_vec\"; clock = \"200MHz\"; rows = 11; cols = "   \
    "13; "                                                                                         \
    "vec = 8; overlap = true; input_port = 40; weight_port = 40; output_port = 40; slots = 2; }, " \
    "{ name = \"winograd\"; type = \"winograd\"; clock = \"200MHz\"; m = 4; r = 3; pn = 2; pm = "  \
    "8; "                                                                                          \
    "weight_buffer = \"64KiB\"; input_port = 40; weight_port = 40; output_port = 40; slots = 2; }"
#define MEMORY                                                                                     \
    "dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; latency = \"100ns\"; burst = \"64B\"; " \
    "}; "                                                                                          \
    "vector = { clock = \"200MHz\"; elements_per_cycle = 64; }; "

static void stop_at(const th_error *e)
{
    fprintf(stderr, "bench: Error %s: %s\n", e->id, e->text);
    exit(1);
}

/* --- what is mapped --------------------------------------------------------------------------- */

static th_system *system_of(th_strbuf *text)
{
    th_error e = {0};
    th_system *s = th_system_read_text(text->text, "bench", &e);
    if (!s)
        stop_at(&e);
    th_strbuf_clear(text);
    return s;
}

static th_system *make_torus(void)
{
    th_strbuf t = TH_STRBUF_INIT;
    th_strbuf_printf(&t,
                     "name = \"torus\"; designs = ( " TILED " ); accelerators = ( { " MEMORY
                     "designs = [\"tiled\"]; } ); topology = { type = \"torus\"; dims = [8, 8]; "
                     "bandwidth = \"8Gbps\"; latency = \"1us\"; duplex = \"full\"; "
                     "host = { bandwidth = \"2Gbps\"; latency = \"1us\"; }; };");
    return system_of(&t);
}

static void print_names(th_strbuf *t, int first, int n)
{
    for (int i = first; i < first + n; i++)
        th_strbuf_printf(t, "%s\"%d\"", i > first ? ", " : "", i);
}

static th_system *make_f1(void)
{
    th_strbuf t = TH_STRBUF_INIT;
    th_strbuf_printf(&t,
                     "name = \"f1_8x8\"; designs = ( " TILED ", " OTHERS " ); accelerators = ( ");
    for (int g = 0; g < GROUPS; g++) {
        th_strbuf_printf(&t, "%s{ names = [", g > 0 ? ", " : "");
        print_names(&t, g * MEMBERS, MEMBERS);
        th_strbuf_printf(
            &t, "]; group = %d; " MEMORY "designs = [\"tiled\", \"systolic_vec\", \"winograd\"]; }",
            g);
    }
    th_strbuf_printf(&t, " ); hosts = ( \"host\" ); links = ( ");
    for (int g = 0; g < GROUPS; g++) {
        th_strbuf_printf(&t, "{ all_pairs = [");
        print_names(&t, g * MEMBERS, MEMBERS);
        th_strbuf_printf(&t, "]; bandwidth = \"8Gbps\"; latency = \"1us\"; duplex = \"full\"; }, ");
    }
    th_strbuf_printf(&t, "{ center = \"host\"; leaves = [");
    print_names(&t, 0, GROUPS * MEMBERS);
    th_strbuf_printf(&t, "]; bandwidth = \"2Gbps\"; latency = \"1us\"; duplex = \"full\"; } );");
    return system_of(&t);
}

/* Four stages of 25, each of half the size and twice the channels. */
static th_workload *make_chain(int32_t batch)
{
    enum { LAYERS = 100, STAGE = 25, CHANNELS = 64 };
    th_strbuf t = TH_STRBUF_INIT;
    th_error e = {0};
    th_strbuf_printf(&t,
                     "name = \"chain\"; batch = 1; element_bytes = 2; input = { channels = %d; "
                     "height = 56; width = 56; }; layers = ( ",
                     CHANNELS);
    for (int l = 0; l < LAYERS; l++)
        th_strbuf_printf(
            &t,
            "%s{ name = \"c%d\"; type = \"conv\"; outputs = %d; kernel = 3; stride = %d; "
            "padding = 1; }",
            l > 0 ? ", " : "", l, CHANNELS << l / STAGE, l > 0 && l % STAGE == 0 ? 2 : 1);
    th_strbuf_printf(&t, " );");
    th_workload *w = th_workload_read_text(t.text, "chain", batch, &e);
    if (!w)
        stop_at(&e);
    th_strbuf_clear(&t);
    return w;
}

static th_workload *make_workload(const char *name, int32_t batch)
{
    char path[200];
    th_error e = {0};
    if (strcmp(name, "chain") == 0)
        return make_chain(batch);
    snprintf(path, sizeof path, "workloads/models/%s.cfg", name);
    th_workload *w = th_workload_read(path, batch, &e);
    if (!w)
        stop_at(&e);
    return w;
}

/* --- searches --------------------------------------------------------------------------------- */

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* On two threads. */
static void run_search(const th_problem *p, const char *name)
{
    th_error e = {0};
    th_search_options o = th_search_defaults;
    o.threads = 2;
    double cpu = th_bench_cpu_seconds(), wall = wall_seconds();
    th_search *s = th_search_new(th_search_find(name), p, &o, &e);
    while (s && !s->done && th_search_iterate(s, &e) == 0)
        ;
    if (!s || !s->done)
        stop_at(&e);
    printf("%-24s %9.4f %7lld %7lld %8.1f %8.1f\n", name, s->best_fitness.value * 1e-9,
           (long long)s->n_evaluations, (long long)s->best_found_at, th_bench_cpu_seconds() - cpu,
           wall_seconds() - wall);
    fflush(stdout);
    th_search_free(s);
}

static void run_all(const char *system, const char *network, int32_t batch, char **search, int n)
{
    th_system *s = strcmp(system, "torus") == 0 ? make_torus() : make_f1();
    th_workload *w = make_workload(network, batch);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    printf("%s, %s (%d layers), batch %d\n%-24s %9s %7s %7s %8s %8s\n", system, network,
           w->n_layers, (int)batch, "search", "best, ms", "evals", "at", "CPU s", "wall s");
    for (int i = 0; n == 0 && th_search_types[i]; i++)
        if (i == 0 || th_search_types[i]->is_baseline)
            run_search(&p, th_search_types[i]->name);
    for (int i = 0; i < n; i++)
        run_search(&p, search[i]);
    th_workload_free(w);
    th_system_free(s);
}

void th_bench_large(char **argument, int n)
{
    static const char *const systems[] = {"torus", "f1"};
    if (n >= 3)
        run_all(argument[0], argument[1], (int32_t)strtol(argument[2], NULL, 10), argument + 3,
                n - 3);
    for (size_t i = 0; n < 3 && i < sizeof systems / sizeof *systems; i++)
        for (int32_t batch = 1; batch <= 8; batch *= 8)
            run_all(systems[i], n > 0 ? argument[0] : "resnet101", batch, NULL, 0);
}
