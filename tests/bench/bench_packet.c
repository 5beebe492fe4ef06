/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_packet.c - the packet network on an 8 x 8 mesh: mean latency against load, beside
 * BookSim2's; where it saturates; cycles per CPU second at 0.45 flits per node and cycle. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/unit/mesh_load.h"
#include "topology/system_read.h"

enum { BOOKSIM_CYCLES_PER_S = 1260, WARM_CYCLES = 3000, MEASURED_CYCLES = 6000 };

static void stop_at(const th_error *e)
{
    fprintf(stderr, "bench: Error %s: %s\n", e->id, e->text);
    exit(1);
}

/* One load, from an empty network. Returns CPU seconds of the replay. */
static double run_load(const th_system *s, mesh_run *run)
{
    th_error e = {"", ""};
    th_works *w = th_works_new(s, &e);
    th_program *p = th_program_new(&e);
    th_machine_options o = mesh_machine();
    th_machine *m = th_machine_new(s, w, &o, &e);
    th_result r;
    if (!w || !p || !m || mesh_fill(run, s, p, &e))
        stop_at(&e);
    double start = th_bench_cpu_seconds();
    if (th_machine_load(m, p, &e) || th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE)
        stop_at(&e);
    double seconds = th_bench_cpu_seconds() - start;
    if (th_machine_result(m, &r, &e))
        stop_at(&e);
    mesh_measure(run, p, &r);
    th_result_clear(&r);
    th_machine_free(m);
    th_program_free(p);
    th_works_free(w);
    return seconds;
}

static mesh_run new_run(double load)
{
    return (mesh_run){
        .load = load, .warm_cycles = WARM_CYCLES, .measured_cycles = MEASURED_CYCLES, .seed = 1};
}

static void print_loads(const th_system *s)
{
    printf("8 x 8 mesh, dimension order, uniform, packets of one flit, 8 channels of 8 flits\n");
    printf("%8s %10s %10s %8s %12s %14s\n", "load", "BookSim2", "ours", "diff %", "cycles/CPU s",
           "M hops/CPU s");
    for (int i = 0; i < MESH_N_LOADS; i++) {
        mesh_run run = new_run(mesh_booksim[i].load);
        double seconds = run_load(s, &run);
        double cycles = 2 * WARM_CYCLES + MEASURED_CYCLES;
        printf("%8.2f %10.2f %10.2f %+8.1f %12.0f %14.2f\n", run.load, mesh_booksim[i].latency,
               run.latency_cycles, 100 * (run.latency_cycles / mesh_booksim[i].latency - 1),
               cycles / seconds, (double)run.n_packets * 16 / 3 / seconds * 1e-6);
        if (i == MESH_N_LOADS - 1)
            printf("at %.2f: %.1f times BookSim2's %d cycles per CPU second\n", run.load,
                   cycles / seconds / BOOKSIM_CYCLES_PER_S, BOOKSIM_CYCLES_PER_S);
    }
}

/* The load at which the mean latency is three times that at none, by halving. */
static void print_saturation(const th_system *s)
{
    const double three_times = 3 * mesh_booksim[0].latency;
    double low = 0.4, high = 0.6;
    for (int i = 0; i < 6; i++) {
        mesh_run run = new_run((low + high) / 2);
        run_load(s, &run);
        if (run.latency_cycles < three_times)
            low = run.load;
        else
            high = run.load;
    }
    printf("three times the latency at no load: %.3f flits per node and cycle\n", (low + high) / 2);
}

void th_bench_packet(void)
{
    th_error e = {"", ""};
    th_system *prototype = th_system_read("topology/systems/ring8.cfg", &e);
    th_system *s = prototype ? mesh_system(prototype, &e) : NULL;
    if (!s)
        stop_at(&e);
    print_loads(s);
    print_saturation(s);
    th_system_free(s);
    th_system_free(prototype);
}
