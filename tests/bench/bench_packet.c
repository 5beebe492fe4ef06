/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_packet.c - the packet network on an 8 x 8 mesh: mean latency against load, beside
 * BookSim2's; cycles per CPU second. The loads at which it saturates are
 * tests/unit/sim/program/test_traffic. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/unit/mesh_load.h"
#include "topology/files/system_read.h"

enum { BOOKSIM_CYCLES_PER_S = 1260, WARM_CYCLES = 3000, MEASURED_CYCLES = 6000 };

/* One load, from an empty network. Returns CPU seconds of the replay. */
static double run_load(const th_system *s, mesh_run *run)
{
    th_error e = {"", ""};
    th_compute_cost_cache *w = th_compute_cost_cache_new(s, &e);
    double seconds = 0;
    if (!w || mesh_replay(run, s, w, th_bench_cpu_seconds, &seconds, &e))
        th_bench_stop_at(&e);
    th_compute_cost_cache_free(w);
    return seconds;
}

static mesh_run new_run(const mesh_case *k, double load)
{
    return (mesh_run){.is = k,
                      .load = load,
                      .warm_cycles = WARM_CYCLES,
                      .measured_cycles = MEASURED_CYCLES,
                      .seed = 1};
}

static void print_loads(const th_system *s)
{
    printf("8 x 8 mesh, uniform, packets of one flit: load as BookSim2 counts it, latency of "
           "messages to others\n");
    printf("%8s %10s %10s %8s %12s %14s\n", "load", "BookSim2", "ours", "diff %", "cycles/CPU s",
           "M hops/CPU s");
    for (int i = 0; i < MESH_N_LOADS; i++) {
        mesh_run run = new_run(&mesh_cases[0], mesh_load_to_others(mesh_booksim[i].load));
        double seconds = run_load(s, &run);
        double cycles = 2 * WARM_CYCLES + MEASURED_CYCLES;
        double booksim = mesh_latency_to_others(mesh_booksim[i].latency);
        printf("%8.2f %10.2f %10.2f %+8.1f %12.0f %14.2f\n", mesh_booksim[i].load, booksim,
               run.latency_cycles, 100 * (run.latency_cycles / booksim - 1), cycles / seconds,
               (double)run.n_packets * 16 / 3 / seconds * 1e-6);
        if (i == MESH_N_LOADS - 1)
            printf("at %.2f: %.1f times BookSim2's %d cycles per CPU second\n", run.load,
                   cycles / seconds / BOOKSIM_CYCLES_PER_S, BOOKSIM_CYCLES_PER_S);
    }
}

void th_bench_packet(void)
{
    th_error e = {"", ""};
    th_system *prototype = th_bench_system("ring8");
    th_system *s = prototype ? mesh_system(prototype, &mesh_cases[0], &e) : NULL;
    if (!s)
        th_bench_stop_at(&e);
    print_loads(s);
    th_system_free(s);
    th_system_free(prototype);
}
