/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench.h - what the benchmarks share. Each prints its figures and returns. */
#ifndef TH_TESTS_BENCH_BENCH_H
#define TH_TESTS_BENCH_BENCH_H

#include "sim/pipeline/schedule.h"
#include "topology/system.h"
#include "workloads/workload.h"

double th_bench_cpu_seconds(void); /* of this process */

/* Says what is wrong, and ends the program. */
_Noreturn void th_bench_stop_at(const th_error *e);
/* What is shipped, by name; read from the source tree. */
th_system *th_bench_system(const char *name);
th_workload *th_bench_workload(const char *name);

/* One of a square kernel, in 16 bits, padded to that size. */
th_shard th_bench_conv(int32_t b, int32_t k, int32_t c, int32_t h, int32_t w, int32_t kernel);

void th_bench_events(void);                                       /* bench_events.c */
void th_bench_lookup(const th_system *s);                         /* bench_lookup.c */
void th_bench_operators(void);                                    /* bench_operators.c */
void th_bench_routes(void);                                       /* bench_routes.c */
void th_bench_systolic(const th_system *s, const th_workload *w); /* bench_systolic.c */
void th_bench_threads(const th_system *s, const th_workload *w, int64_t evaluations);
void th_bench_tiling(void); /* bench_tiling.c */
void th_bench_packet(void); /* bench_packet.c */
/* arguments: "peer" to run SimGrid too, where $SIMGRID_FLOWS is the program; a second one: also
 * with 10,000 flows, which takes minutes. */
void th_bench_network(char **arguments, int n); /* bench_network.c */

#endif
