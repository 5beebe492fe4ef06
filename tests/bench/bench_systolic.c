/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_systolic.c - a network on one 128 x 128 weight-stationary array, every tile an event.
 *
 * Nothing is warm: the designs plan every layer, the pipelines run tile by tile with their stalls,
 * and the machine replays the program expanded. Asked: less than 50 ms and 50 MB in all for
 * ResNet-18. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "mapper/search/search.h"
#include "sim/machine/machine.h"
#include "tests/bench/bench.h"
#include "tests/unit/stepping.h"

static double peak_megabytes(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_maxrss * 1024e-6; /* Linux counts KiB */
}

/* Every layer on the first design of the one accelerator. */
static th_mapping *map_whole(const th_problem *p)
{
    th_error e = {0};
    th_search_options o = th_search_defaults;
    th_search *s = th_search_new(th_search_find("uniform"), p, &o, &e);
    while (s && !s->done)
        if (th_search_iterate(s, &e))
            th_bench_stop_at(&e);
    th_mapping *m = s ? th_mapping_copy(s->best) : NULL;
    if (!m)
        th_bench_stop_at(&e);
    th_search_free(s);
    return m;
}

void th_bench_systolic(const th_system *system, const th_workload *w)
{
    th_error e = {0};
    th_problem p = {.system = system, .workload = w, .stream = th_stream_single};
    th_mapping *mapping = map_whole(&p);
    double start = th_bench_cpu_seconds();
    th_lower *lower = th_lower_new(system, w, &e);
    th_program *program = lower ? th_program_new(&e) : NULL;
    if (!program || th_lower_program(lower, mapping, &p.stream, program, &e))
        th_bench_stop_at(&e);
    double planned = th_bench_cpu_seconds();
    th_machine *m = th_machine_new(system, th_lower_costs(lower), NULL, &e);
    th_observer stepping = {.type = &stepping_type};
    if (!m || th_machine_observe(m, &stepping, &e) || th_machine_load(m, program, &e) ||
        th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE)
        th_bench_stop_at(&e);
    double done = th_bench_cpu_seconds();
    printf("%-10s on %s: %.4f ms simulated, %.1f ms of CPU (%.1f to plan and lower, %.1f to replay "
           "every tile),\n    %.1f MB at the peak of the process\n",
           w->name, system->name, (double)th_machine_now(m) * 1e-9, (done - start) * 1e3,
           (planned - start) * 1e3, (done - planned) * 1e3, peak_megabytes());
    th_machine_free(m);
    th_program_free(program);
    th_lower_free(lower);
    th_mapping_free(mapping);
}
