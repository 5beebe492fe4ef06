/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.h - the results of a run: times and their components, and bytes. */
#ifndef TH_SIM_PROGRAM_RESULT_H
#define TH_SIM_PROGRAM_RESULT_H
#include <stdbool.h>
#include "base/error.h"
#include "base/units.h"
#include "sim/pipeline/pipeline.h"
#include "sim/program/program.h"

/* Energy in joules, by component; see docs/models/energy.md. */
typedef struct th_energy {
    double mac_j, vector_j, buffer_j, dram_j, static_j, link_j;
} th_energy;

/* The results of one accelerator; stats.busy + all of stats.stall + idle = elapsed. */
typedef struct th_accel_result {
    th_pipeline_stats stats;
    th_time idle_ps;
    int64_t sent_bytes, received_bytes; /* over the network */
    int32_t n_tasks;
    th_energy energy; /* links belong to the run, not to an accelerator */
} th_accel_result;

typedef struct th_link_result {
    int64_t bytes;
    th_time busy_ps;
    th_time flow_ps;    /* integral of the number of flows over time */
    int32_t peak_flows; /* maximum at one time */
} th_link_result;

/* The results of one layer of the workload, over all inputs. A layer is active while any of its
 * tasks runs, including transfers of its inputs; stats.busy + all of stats.stall + idle = n_accels
 * * active. The fields after "of tasks that have ended" exclude running tasks. */
typedef struct th_layer_result {
    int32_t n_accels;         /* accelerators that compute for it in the whole program */
    int32_t n_tasks;          /* compute tasks */
    int32_t n_open;           /* tasks of any kind that have not ended */
    th_time start_ps, end_ps; /* start of its first task, end of its last one so far; -1: none */
    /* time while active; time of its accelerators without a task of it while it is active */
    th_time active_ps, idle_ps;
    th_pipeline_stats stats;
    /* of tasks that have ended */
    int64_t macs, array_cycles;               /* cycles: of all arrays together */
    int64_t vector_operations, vector_cycles; /* of the vector units */
    th_accesses accesses;
    /* Sums of lower bounds of the times of tasks: in the units (MACs at the peak of the array, or
     * its cycles if the peak is unknown), in the DRAM at its bandwidth, and in the port of each
     * engine. */
    double compute_s, memory_s, port_s[TH_N_ENGINES];
    double peak_s;       /* MACs at the peak; INFINITY: the peak of a design is unknown */
    th_energy energy;    /* static energy: while its accelerators run a task of it */
    const char *variant; /* static text: how the design ran it; NULL: there is only one way */
} th_layer_result;

typedef enum {
    TH_BOUND_NONE, /* there was no work */
    TH_BOUND_COMPUTE,
    TH_BOUND_MEMORY,
    TH_BOUND_INPUT_PORT,
    TH_BOUND_WEIGHT_PORT,
    TH_BOUND_PARTIAL_PORT,
    TH_BOUND_OUTPUT_PORT,
    TH_BOUND_WAITING
} th_bound;

typedef struct th_task_result {
    th_time start_ps, end_ps; /* -1: not yet */
    th_time ready_ps;         /* when its last predecessor ended */
    /* the task whose end allowed the start: a predecessor, or the previous task on the accelerator;
     * -1: none */
    int32_t cause;
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
    /* By task: of a compute, what a lower clock and jitter have added to its time; of a transfer,
     * what it has lost to faults of links (sim/network/fluid/fault_loss.c); NULL: no property has
     * changed. */
    th_time *fault_ps;
    th_layer_result *layers; /* if the machine was created with per_layer, else none */
    int32_t n_layers;        /* up to the last layer with a task in the program */
    th_time *input_end_ps;
    int32_t wave;        /* th_program.wave */
    int32_t n_inputs;    /* end of each input of the stream; -1: not yet */
    int64_t moved_bytes; /* of transfers and messages that have arrived */
    int64_t n_events, n_expanded;
    bool has_energy;  /* the system has energies */
    th_energy energy; /* of all accelerators and links */
} th_result;

void th_result_clear(th_result *r);
/* The tasks that have started, by start, then by number: (*order)[*n], owned by the caller
 * (th_free). 0, or -1: memory is out. */
int th_tasks_by_start(const th_result *r, int32_t **order, int32_t *n);
/* The number of inputs, at the end of a stream of n, over which the steady state is measured: n -
 * n/2, rounded down to whole waves if several inputs are in flight and may end together; n if that
 * is 0. */
int32_t th_throughput_counted(int32_t n, int32_t wave);
/* Inputs of the stream, each a whole batch, per second in the steady state: c / (t_N - t_{N-c}),
 * c = th_throughput_counted, t_0 = 0. Samples per second are th_workload_samples times that. */
double th_result_throughput(const th_result *r);
double th_energy_sum(const th_energy *e);
void th_energy_add(th_energy *sum, const th_energy *e);
double th_result_energy_j(const th_result *r); /* of the whole run; 0 if unknown */
/* The mean of busy / elapsed over the links that carried anything. */
double th_result_link_utilization(const th_result *r);
double th_result_accel_utilization(const th_result *r); /* mean busy / elapsed */

/* The resource that limited the layer: the units, the DRAM at its bandwidth, the port of an engine,
 * or nothing (idle), whichever was occupied longest. */
th_bound th_layer_bound(const th_layer_result *l);
const char *th_bound_name(th_bound b); /* "compute", "memory", "input port" ... */
/* The least time of the layer on its accelerators for evenly distributed work limited by the peak
 * of the units and the bandwidth of the DRAM only (Williams et al., CACM 2009): max(compute,
 * memory) / n_accels, in seconds. */
double th_layer_roofline_s(const th_layer_result *l);
/* The active time over that least time; 0: there was no work. */
double th_layer_roofline_distance(const th_layer_result *l);
/* MACs over the MACs that the arrays can do in the active time, 0 .. 1; -1: it has none, or the
 * peak is unknown. */
double th_layer_utilization(const th_layer_result *l);

#endif
