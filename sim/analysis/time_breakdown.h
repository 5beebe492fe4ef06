/* SPDX-License-Identifier: GPL-3.0-or-later */
/* time_breakdown.h - what the duration of a task is made of. */
#ifndef TH_SIM_ANALYSIS_TIME_BREAKDOWN_H
#define TH_SIM_ANALYSIS_TIME_BREAKDOWN_H
#include "sim/program/result.h"
#include "sim/design/compute_cost.h"

typedef enum {
    TH_PART_ARRAY,  /* compute: the array or the vector unit at work */
    TH_PART_MEMORY, /* compute: waiting for its DRAM and ports, as it does with nobody else there */
    TH_PART_LATENCY,    /* transfer: overhead of its first byte, and latencies of its links */
    TH_PART_LINK,       /* transfer: its bytes at the bandwidth of its slowest link */
    TH_PART_CONTENTION, /* compute, transfer: what it took beyond that */
    TH_PART_HOST,       /* what a host does */
    TH_PART_COLLECTIVE, /* all of a collective */
    TH_N_PARTS
} th_time_part;
const char *th_time_part_name(
    int part); /* "array" "memory" "latency" "link" "contention" "host" "collective" */

/* Of a task that has ended: ps of each part, which add up to end - start. Held up is what others on
 * its links or DRAM cost, what packets add, and a clock that was slowed down; weights that were
 * loaded ahead shorten the wait for memory. costs: of the program. 0, or -1: memory is out.
 */
int th_task_parts(const th_system *s, const th_compute_cost_cache *costs, const th_program *p,
                  const th_result *r, int32_t task, th_time part[TH_N_PARTS], th_error *err);

#endif
