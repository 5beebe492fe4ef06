/* SPDX-License-Identifier: GPL-3.0-or-later */
/* time_breakdown.h - the parts of the duration of a task. */
#ifndef TH_SIM_ANALYSIS_TIME_BREAKDOWN_H
#define TH_SIM_ANALYSIS_TIME_BREAKDOWN_H
#include "sim/program/result.h"
#include "sim/design/compute_cost.h"

typedef enum {
    TH_PART_ARRAY,      /* compute: the array or the vector unit computes */
    TH_PART_MEMORY,     /* compute: it waits for DRAM and ports, as without contention */
    TH_PART_LATENCY,    /* transfer: overhead of its first byte, and latencies of its links */
    TH_PART_LINK,       /* transfer: its bytes at the bandwidth of its slowest link */
    TH_PART_CONTENTION, /* compute, transfer: the rest */
    TH_PART_FAULTS,     /* transfer: links that are down or degraded, and detours round them */
    TH_PART_SLOWDOWN,   /* compute: a lower clock than the system's, and jitter */
    TH_PART_HOST,       /* all of a host task */
    TH_PART_COLLECTIVE, /* all of a collective */
    TH_N_PARTS
} th_time_part;
/* "array" "memory" "latency" "link" "contention" "faults" "slowdown" "host" "collective" */
const char *th_time_part_name(int part);

/* A run and its inputs; costs: of the program. */
typedef struct th_run_view {
    const th_system *system;
    const th_compute_cost_cache *costs;
    const th_program *program;
    const th_result *result;
} th_run_view;

/* The parts, in ps, of a task that has ended; they add up to end - start. Contention is the cost of
 * other users of its links or DRAM and of packets. 0, or -1: no route, or memory is out. */
int th_time_breakdown(const th_run_view *run, int32_t task, th_time part[TH_N_PARTS],
                      th_error *err);

#endif
