/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.h - what a run gave: times, where they went, bytes. */
#ifndef TH_SIM_RESULT_H
#define TH_SIM_RESULT_H
#include <stdbool.h>
#include "base/error.h"
#include "base/units.h"
#include "sim/pipeline.h"
#include "sim/program.h"

/* Of one accelerator; did.busy + all of did.stall + idle = elapsed. */
typedef struct th_accel_result {
    th_pipeline_stats did;
    th_time idle_ps;
    int64_t sent_bytes, received_bytes;          /* over the network */
    int32_t n_tasks;
} th_accel_result;

typedef struct th_link_result {
    int64_t bytes;
    th_time busy_ps;
    th_time flow_ps;    /* integral of the number of flows over time */
    int32_t most_flows; /* at once */
} th_link_result;

typedef struct th_task_result {
    th_time start_ps, end_ps; /* -1: not yet */
    th_time ready_ps;         /* when its last predecessor ended */
    int32_t cause; /* the task whose end let it start: predecessor or the one before it on the
                                    accelerator; -1: none */
} th_task_result;

typedef struct th_result {
    th_time elapsed_ps; /* makespan when the run is done */
    bool is_done;
    th_accel_result *accels;
    int n_accels;
    th_link_result *links;
    int n_links;
    th_task_result *tasks;
    int32_t n_tasks;
    th_time *input_end_ps;
    int32_t wave;     /* as the program has it */
    int32_t n_inputs; /* when each input of the stream was through; -1 not yet */
    int64_t moved_bytes; /* of transfers and messages that have arrived */
    int64_t n_events, n_unfolded;
} th_result;

void th_result_clear(th_result *r);
/* Of the n inputs of a stream, how many of the last ones are looked at for the steady state: n -
 * n/2, but whole waves where inputs are under way together and so may end together, and all of a
 * stream whose half is no wave. */
int32_t th_throughput_counted(int32_t n, int32_t wave);
/* Inputs per second in the steady state: c / (t_N - t_{N-c}), c = th_throughput_counted, t_0 =
 * 0. */
double th_result_throughput(const th_result *r);
/* Mean over links that carried anything of busy / elapsed. */
double th_result_link_utilization(const th_result *r);
double th_result_accel_utilization(const th_result *r); /* mean busy / elapsed */

#endif
