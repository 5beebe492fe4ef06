/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.h - what a run gave: times, where they went, bytes. */
#ifndef TH_SIM_PROGRAM_RESULT_H
#define TH_SIM_PROGRAM_RESULT_H
#include <stdbool.h>
#include "base/error.h"
#include "base/units.h"
#include "sim/pipeline/pipeline.h"
#include "sim/program/program.h"

/* Joules, by what took them; see docs/models/energy.md. */
typedef struct th_energy {
    double mac_j, vector_j, buffer_j, dram_j, static_j, link_j;
} th_energy;

/* Of one accelerator; did.busy + all of did.stall + idle = elapsed. */
typedef struct th_accel_result {
    th_pipeline_stats did;
    th_time idle_ps;
    int64_t sent_bytes, received_bytes; /* over the network */
    int32_t n_tasks;
    th_energy energy; /* links are nobody's */
} th_accel_result;

typedef struct th_link_result {
    int64_t bytes;
    th_time busy_ps;
    th_time flow_ps;    /* integral of the number of flows over time */
    int32_t most_flows; /* at once */
} th_link_result;

/* Of one layer of the workload, over all inputs. A layer is under way while any task of it runs,
 * transfers of its inputs too; did.busy + all of did.stall + idle = n_accels * active. What stands
 * after "of tasks that have ended" leaves out the tasks that still run. */
typedef struct th_layer_result {
    int32_t n_accels;           /* that compute for it, in the whole program */
    int32_t n_tasks;            /* computed */
    int32_t n_open;             /* tasks of any kind that have not ended */
    th_time start_ps, end_ps;   /* of its first task, of its last one so far; -1: none */
    th_time active_ps, idle_ps; /* under way; of its accelerators meanwhile without a task of it */
    th_pipeline_stats did;
    /* of tasks that have ended */
    int64_t macs, array_cycles;               /* cycles: of all arrays together */
    int64_t vector_operations, vector_cycles; /* of the units beside the arrays */
    th_accesses accesses;
    /* Sums of what the tasks take at least: the units (MACs at the array's peak, where the design
     * knows it, else its cycles), the DRAM at its bandwidth, each engine's port. */
    double compute_s, memory_s, port_s[TH_N_ENGINES];
    double peak_s;       /* MACs at the peak; INFINITY: a design does not know its peak */
    th_energy energy;    /* static: while its accelerators have a task of it */
    const char *variant; /* static text: how the design ran it; NULL: as always */
} th_layer_result;

typedef enum {
    TH_BOUND_NONE, /* nothing was done */
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
    th_layer_result *layers; /* where the machine was asked for them (per_layer), else none */
    int32_t n_layers;        /* up to the last one that the program has a task of */
    th_time *input_end_ps;
    int32_t wave;        /* as the program has it */
    int32_t n_inputs;    /* when each input of the stream was through; -1 not yet */
    int64_t moved_bytes; /* of transfers and messages that have arrived */
    int64_t n_events, n_expanded;
    bool has_energy;  /* the system says what something costs */
    th_energy energy; /* of all accelerators and links */
} th_result;

void th_result_clear(th_result *r);
/* The tasks that have begun, by their starts, those of one instant by their numbers: (*order)[*n],
 * owned by the caller (th_free). 0, or -1: memory is out. */
int th_tasks_by_start(const th_result *r, int32_t **order, int32_t *n);
/* Of the n inputs of a stream, how many of the last ones are looked at for the steady state: n -
 * n/2, but whole waves where inputs are under way together and so may end together, and all of a
 * stream whose half is no wave. */
int32_t th_throughput_counted(int32_t n, int32_t wave);
/* Inputs of the stream, each a whole batch, per second in the steady state: c / (t_N - t_{N-c}),
 * c = th_throughput_counted, t_0 = 0. Samples per second are th_workload_samples times that. */
double th_result_throughput(const th_result *r);
double th_energy_sum(const th_energy *e);
void th_energy_add(th_energy *sum, const th_energy *e);
double th_result_energy_j(const th_result *r); /* of the whole run; 0 where nothing is known */
/* Mean over links that carried anything of busy / elapsed. */
double th_result_link_utilization(const th_result *r);
double th_result_accel_utilization(const th_result *r); /* mean busy / elapsed */

/* Of one layer. What its accelerators were occupied with longest: the units, the DRAM at its
 * bandwidth, the port of an engine, or nothing (idle). */
th_bound th_layer_bound(const th_layer_result *l);
const char *th_bound_name(th_bound b); /* "compute", "memory", "input port" ... */
/* The least time that its accelerators need together if the work is even and nothing but the units'
 * peak and the DRAM's bandwidth counts (Williams et al., CACM 2009): max(compute, memory) /
 * n_accels, in seconds. */
double th_layer_roofline_s(const th_layer_result *l);
/* How many times as long as that it was under way; 0: it has done nothing. */
double th_layer_roofline_distance(const th_layer_result *l);
/* MACs of those that the arrays could have done while it was under way, 0 .. 1; -1: it has none, or
 * the peak is unknown. */
double th_layer_utilization(const th_layer_result *l);

#endif
